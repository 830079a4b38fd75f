"""Medians, their intervals, and when two systems are called equal. Few repeats are the rule here: five, not fifty.

**Interval of a median.** Up to `EXACT` values: order statistics. The interval from the j-th smallest to the j-th
largest value holds the true median with a probability that follows from coin flips alone, whatever the distribution;
the narrowest with at least 95 % is taken. Five values have none: their whole range holds it with 93.75 %, four's with
87.5 %, three's with 75 %, two's with 50 %, and `Interval.level` says so. A percentile bootstrap gives that same range
for five values, and for seven an interval that calls itself 95 % and holds the median in 87 % of cases: so it is used
for more than `EXACT` values only. One value has no interval.

**Interval of a ratio of medians.** Percentile bootstrap, seeded. Runs are interleaved, so a busy moment hits the same
repeat of all systems: where both systems have a repeat its two values are drawn together, and repeats that only one of
them has are left out (with fewer than two in common, all are drawn apart). For lognormal times it holds the true ratio
in 93 to 95 % of cases at five repeats, and in 95 to 98 % at seven and more (`tests/python/test_bench_statistics.py`).

**Noise floor.** See `noise_floor`. Ratios here are of times: below 1 is faster.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key", bound=Hashable)
Verdict = Literal["faster", "slower", "equal"]

LEVEL = 0.95
EXACT = 20  # values up to which a median's interval is made of order statistics
DRAWS = 4000
SHORTEST = 1e-9  # seconds: what a clock cannot tell from 0, so that every ratio is finite

# Student's t, two-sided 95 %, for 1 .. 19 degrees of freedom.
STUDENT = (
    *(12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262),
    *(2.228, 2.201, 2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093),
)


class Interval(NamedTuple):
    """`level` is the share of cases in which such an interval holds the true value; `method` how it was made."""

    low: float
    high: float
    level: float = LEVEL
    method: str = "bootstrap"

    def covers(self, value: float) -> bool:
        """Whether a value lies within."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Ratio:
    """The median of one system over that of another. `pairs` is 0 where their values were drawn apart."""

    value: float
    interval: Interval | None
    pairs: int = 0


@dataclass(frozen=True)
class NoiseFloor:
    """Results within [1 / factor, factor] of each other are equal. Pooled over `cells` cells; 0: not measured."""

    factor: float
    cells: int

    def __str__(self) -> str:
        if not self.cells:
            return "not measured"
        return f"a factor of {self.factor:.3f} (a system against itself in {self.cells} cells)"


def median(values: Sequence[float]) -> float:
    """The middle value, or the mean of the two in the middle."""
    return float(np.median(np.asarray(values, float)))


def median_interval(values: Sequence[float], seed: int = 0) -> Interval | None:
    """The 95 % interval of the median, or the widest there is of so few values; None for fewer than two."""
    ordered = np.sort(np.asarray(values, float))
    n = len(ordered)
    if n < 2:
        return None
    if n > EXACT:
        (drawn,) = draws((n,), seed)
        low, high = ends(np.median(ordered[drawn], axis=1))
        return Interval(low, high)
    rank, level = order_rank(n)
    return Interval(float(ordered[rank]), float(ordered[n - 1 - rank]), level, "order statistics")


@lru_cache(maxsize=64)
def order_rank(n: int) -> tuple[int, float]:
    """How many values to leave out at each end, and with what probability the median lies between the others."""
    rank, level = 0, 1 - 2 / 2**n
    for tried in range(1, (n - 1) // 2 + 1):
        held = 1 - 2 * sum(math.comb(n, k) for k in range(tried + 1)) / 2**n
        if held < LEVEL:
            break
        rank, level = tried, held
    return rank, level


def ratio(mine: Sequence[float], theirs: Sequence[float], *, paired: bool = False, seed: int = 0) -> Ratio:
    """median(mine) / median(theirs), with its interval (None where one side has fewer than two values).

    `paired`: the i-th values of both come from the same repeat.
    """
    a = np.maximum(np.asarray(mine, float), SHORTEST)
    b = np.maximum(np.asarray(theirs, float), SHORTEST)
    if paired and len(a) != len(b):
        raise ValueError(f"pairs need as many values on both sides: {len(a)} and {len(b)} were given")
    value = float(np.median(a) / np.median(b))
    fewer = min(len(a), len(b))
    if fewer < 2:
        return Ratio(value, None)
    chosen = draws((len(a),) if paired else (len(a), len(b)), seed)
    low, high = ends(np.median(a[chosen[0]], axis=1) / np.median(b[chosen[-1]], axis=1))
    # With two to five values the ends are, as good as always, extremes of what was seen: their level is the range's.
    interval = Interval(low, high, min(LEVEL, 1 - 2 / 2**fewer))
    return Ratio(value, interval, len(a) if paired else 0)


def ratio_by_repeat(mine: Mapping[Key, float], theirs: Mapping[Key, float], seed: int = 0) -> Ratio:
    """`ratio` of values by repeat: paired where at least two repeats are in both, apart otherwise."""
    common = [repeat for repeat in mine if repeat in theirs]
    if len(common) >= 2:
        return ratio([mine[r] for r in common], [theirs[r] for r in common], paired=True, seed=seed)
    return ratio(list(mine.values()), list(theirs.values()), seed=seed)


def noise_floor(ratios: Sequence[float]) -> NoiseFloor:
    """The floor from the ratios of medians of `X (again)` to `X`, one a cell.

    The logarithms of the ratios are pooled over all cells of a run: they scatter about 0, as both sides are the same
    system. From 20 cells on the floor is what 95 % of them stay below in size, which one wild cell does not move. For
    fewer it is Student's t times their root mean square (about 0, so as many degrees of freedom as cells): the fewer
    the cells, the wider. Short steps scatter more than long ones; their own intervals say so, cell by cell.
    """
    logs = np.abs(np.log(np.asarray(ratios, float)))
    if not len(logs):
        return NoiseFloor(1.0, 0)
    if len(logs) > len(STUDENT):
        size = float(np.quantile(logs, LEVEL, method="higher"))
    else:
        size = STUDENT[len(logs) - 1] * float(np.sqrt(np.mean(logs**2)))
    return NoiseFloor(math.exp(min(size, 20.0)), len(logs))


def verdict(ratio: float, interval: Interval | None, floor: float) -> Verdict:
    """What may be said of a ratio of times: `equal` if its interval covers 1, or if it lies within the noise floor.

    Without an interval (one repeat) the floor decides alone; with no floor either (1.0), nothing is told apart.
    """
    if interval.covers(1.0) if interval is not None else floor <= 1.0:
        return "equal"
    if 1 / floor <= ratio <= floor:
        return "equal"
    return "faster" if ratio < 1 else "slower"


def geometric_mean(ratios: Sequence[float]) -> float:
    """The mean of ratios."""
    return float(np.exp(np.mean(np.log(np.asarray(ratios, float)))))


@lru_cache(maxsize=64)
def draws(sizes: tuple[int, ...], seed: int) -> tuple[NDArray[np.intp], ...]:
    """For each size, `DRAWS` rows of as many random indices with replacement; the same for the same seed."""
    rng = np.random.default_rng([seed, *sizes])
    return tuple(rng.integers(0, n, (DRAWS, n)) for n in sizes)


def ends(drawn: NDArray[np.float64]) -> tuple[float, float]:
    """The ends of the interval that holds the level's share of what was drawn."""
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(drawn, [tail, 1 - tail], method="inverted_cdf")
    return float(low), float(high)
