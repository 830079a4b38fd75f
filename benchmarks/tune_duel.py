"""The proposal against other layouts, interleaved, on places that neither was chosen by; and the arithmetic of regret.

Every layout is stored anew and read at the same places, one after the other in an order drawn anew each round. The
best of the exhaustive search is chosen by the first half of the rounds and its time taken from the second, so that it
does not win by its luck; the proposal's time is of the second half as well.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from tune_grid import Field

import tessarray
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.trial import Trial

DRAWS = 8
LARGE_DRAWS = 3  # where the array is larger than WHOLE_BYTES
REPEATS = 6  # rounds a place, where time allows
LEAST = 2
WHOLE_BYTES = 300 << 20  # arrays up to this are written whole for their size


@dataclass
class Duel:
    """Times by layout, class and place, in the order of the rounds."""

    layouts: Sequence[Layout]
    weights: Mapping[str, float]
    times: list[dict[tuple[str, int], list[float]]]

    def seconds(self, number: int, half: int | None = None) -> float:
        """Weighted seconds of an access of a layout: the mean over places of the median; of one half of the rounds."""
        total = 0.0
        for name, weight in self.weights.items():
            places = [
                np.median(halved(values, half))
                for (query, _), values in self.times[number].items()
                if query == name
            ]
            total += weight * float(np.mean(places))
        return total


def halved(values: Sequence[float], half: int | None) -> Sequence[float]:
    """All values, the first half (0) or the second (1); one value is both halves."""
    middle = len(values) // 2
    if half is None or not middle:
        return values
    return values[:middle] if half == 0 else values[middle:]


def regret(ours: float, best: float) -> float:
    """How much longer ours takes than the best: 0.1 is a tenth; below 0 where ours is faster."""
    return ours / best - 1


def geometric_mean(values: Sequence[float]) -> float:
    """Of ratios."""
    return math.exp(float(np.mean(np.log(values))))


def summary(regrets: Sequence[float]) -> tuple[float, float]:
    """The median and the worst, where a proposal that beats the exhaustive search counts as no regret."""
    kept = [max(one, 0.0) for one in regrets]
    return float(np.median(kept)), max(kept)


def duel(
    field: Field, layouts: Sequence[Layout], weights: Mapping[str, float], seconds: float, repeats: int = REPEATS,
    most: int = DRAWS,
) -> Duel:  # fmt: skip
    """Read all layouts in turns for about `seconds`, at `most` places a class; each place at least `LEAST` times."""
    classes = [one for one in field.classes if one.name in weights]
    trials = [Trial(layout, field.ground) for layout in layouts]
    try:
        most = min(most, LARGE_DRAWS) if field.values.nbytes > WHOLE_BYTES else most
        draws = {one.name: most for one in classes}
        for trial in trials:
            plan = trial.plan(most)
            draws = {name: min(count, plan[name]) for name, count in draws.items()}
        for trial in trials:
            trial.prepare(draws)
        cost = sum(round_of(trial, classes, 0, draws) for trial in trials)
        places = max(min(max(draws.values()), int(seconds / max(cost * 2 * LEAST, 1e-9))), 1)
        draws = {name: min(count, places) for name, count in draws.items()}
        rounds = places * max(min(repeats, int(seconds / max(cost * places, 1e-9))), 2 * LEAST)
        for trial in trials:
            for turn in range(places):
                round_of(trial, classes, turn, draws)
            trial.times.clear()
        rng = np.random.default_rng(field.seed)
        for turn in range(rounds):
            for place in rng.permutation(len(trials)):
                round_of(trials[int(place)], classes, turn, draws)
        return Duel(layouts, weights, [dict(trial.times) for trial in trials])
    finally:
        for trial in trials:
            trial.close()


def round_of(trial: Trial, classes: Sequence[QueryClass], turn: int, draws: Mapping[str, int]) -> float:
    """Read one place of every class; the seconds that it took, checks apart."""
    return sum(trial.time(one, turn % draws[one.name]) for one in classes)


def against_best(
    field: Field, ours: Layout, others: Sequence[Layout], weights: Mapping[str, float], seconds: float
) -> dict[str, Any]:
    """The proposal and the leaders of the exhaustive search, raced: which is best, both times, and the regret."""
    layouts = [ours, *(one for one in others if one != ours)]
    found = duel(field, layouts, weights, seconds)
    # The proposal counts as the best found only where the search found it as well.
    searched = [number for number, one in enumerate(layouts) if one in others]
    best = min(searched, key=lambda number: found.seconds(number, 0))
    return {
        "best": layouts[best].document(),
        "best_seconds": found.seconds(best, 1),
        "seconds": found.seconds(0, 1),
        "regret": regret(found.seconds(0, 1), found.seconds(best, 1)),
        "raced": len(layouts),
        "classes": {
            name: [Duel(layouts, {name: 1.0}, found.times).seconds(number, 1) for number in (0, best)]
            for name in weights
        },
    }


def stored_size(field: Field, layout: Layout) -> tuple[float, bool]:
    """Bytes of the array in a layout, and whether it was written whole (else estimated from what a trial writes)."""
    if field.values.nbytes <= WHOLE_BYTES:
        array = layout.create(tessarray.MemoryStore(), field.values.shape, field.values.dtype)
        started = time.perf_counter()
        array[...] = field.values
        assert time.perf_counter() >= started
        return float(array.nbytes_stored()), True
    trial = Trial(layout, field.ground)
    trial.prepare(trial.plan(2))
    ratio = trial.ratio
    trial.close()
    return field.values.nbytes / ratio, False
