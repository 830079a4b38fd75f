"""Racing: trials are read in turns, in an order drawn anew each round, so that a busy moment hits all alike.

A trial that is behind the leader beyond doubt (a paired, one-sided Wilcoxon test over rounds) drops out; the race ends
when one is left, or time is up.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tessarray.tuner.board import seconds_of_trial
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.result import Estimate
from tessarray.tuner.trial import Trial

__all__ = ["LEAST_ROUNDS", "class_estimate", "race", "round_cost"]

LEAST_ROUNDS = 5
MOST_ROUNDS = 60
DOUBT = 0.05
DRAWS = 400


def class_estimate(trial: Trial, query: QueryClass, seed: int = 0) -> Estimate | None:
    """Mean over selections of the median time of each, with a bootstrap interval; None where nothing was timed."""
    times = [values for (name, _), values in trial.times.items() if name == query.name and values]
    if not times:
        return None
    value = float(np.mean([np.median(values) for values in times]))
    rng = np.random.default_rng(seed)
    # Selections are drawn anew, and the repeats within each.
    medians = np.array([np.median(rng.choice(values, (DRAWS, len(values))), axis=1) for values in times])
    picked = rng.integers(0, len(times), (DRAWS, len(times)))
    drawn = medians[picked, np.arange(DRAWS)[:, None]].mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(value, min(float(low), value), max(float(high), value))


def round_cost(trial: Trial, classes: Sequence[QueryClass], turn: int, draws: dict[str, int]) -> float:
    """Time one selection of every class once; the weighted sum in seconds."""
    return sum(one.weight * trial.time(one, turn % draws[one.name]) for one in classes)


def race(
    trials: Sequence[Trial],
    classes: Sequence[QueryClass],
    seconds: float,
    rng: np.random.Generator,
    progress: Callable[[Trial, int], None] | None = None,
    value: Callable[[Trial], float] | None = None,
) -> dict[int, list[float]]:
    """Time all trials in turns for about `seconds`; returns the weighted sum of every round, by `id(trial)`.

    `value` says what the times of a trial are worth; left out, its seconds an access, as a mean over places.
    """
    worth = value or partial(seconds_of_trial, classes=classes)
    draws = {one.name: min(trial.draws[one.name] for trial in trials) for one in classes}
    rounds: dict[int, list[float]] = {id(trial): [] for trial in trials}
    running = list(trials)
    started = time.perf_counter()
    for turn in range(MOST_ROUNDS):
        for place in rng.permutation(len(running)):
            trial = running[int(place)]
            rounds[id(trial)].append(round_cost(trial, classes, turn, draws))
            if time.perf_counter() - started > seconds and turn:
                return rounds
        if progress is not None:
            progress(min(running, key=worth), turn)
        if turn + 1 >= LEAST_ROUNDS:
            running = _left(running, rounds, worth)
            if len(running) == 1 and turn + 1 >= 2 * LEAST_ROUNDS:
                break
    return rounds


def _left(
    running: Sequence[Trial], rounds: dict[int, list[float]], worth: Callable[[Trial], float]
) -> list[Trial]:
    """Those that may still be the best. Worth differs from seconds by size and speed of writing, which are fixed."""
    leader = min(running, key=worth)
    best = np.array(rounds[id(leader)])
    median = float(np.median(best))
    left = []
    for one in running:
        times = np.array(rounds[id(one)])
        # What the objective adds to the seconds of one, as a factor: then rounds compare as the objective does.
        factor = worth(one) / worth(leader) * median / float(np.median(times))
        if one is leader or not behind(times * max(factor, 1e-9), best):
            left.append(one)
    return left


def behind(times: np.ndarray, best: np.ndarray) -> bool:
    """Whether paired times are longer than the leader's beyond doubt."""
    from scipy.stats import wilcoxon

    paired = min(len(times), len(best))
    times, best = times[:paired], best[:paired]
    if paired < LEAST_ROUNDS or bool((times == best).all()):
        return False
    return float(wilcoxon(times, best, alternative="greater").pvalue) < DOUBT and bool(
        np.median(times) > np.median(best)
    )
