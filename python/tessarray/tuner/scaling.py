"""How a layout's reads go faster with more workers, and how many of them pay."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

import tessarray
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.result import WorkerFigures
from tessarray.tuner.trial import Trial

__all__ = ["choose_workers", "measure_workers", "worker_counts"]

WORTH = 1.05  # a larger number of workers is proposed if it is this much faster
ROUNDS = 9


def worker_counts(most: int) -> list[int]:
    """1, 2, 4 ... and `most`."""
    found = [1]
    while found[-1] * 2 < most:
        found.append(found[-1] * 2)
    return found + ([most] if most > 1 else [])


def measure_workers(
    trial: Trial, classes: Sequence[QueryClass], most: int, seconds: float
) -> tuple[list[WorkerFigures], int]:
    """Seconds of the weighted access for each number of workers, in turns, and the number to propose."""
    counts = worker_counts(most)
    store = trial.store
    arrays: dict[int, Any] = {
        count: tessarray.open_array(store, mode="r", session=tessarray.Session(threads=count))
        for count in counts
    }
    times: dict[int, list[float]] = {count: [] for count in counts}
    started = time.perf_counter()
    for turn in range(ROUNDS + 1):
        for count in counts:
            spent = 0.0
            for one in classes:
                box, factor = trial.part(one.name, turn % trial.draws[one.name])
                selection = one.selection(box)
                before = time.perf_counter()
                arrays[count][selection]
                spent += one.weight * factor * (time.perf_counter() - before)
            if turn:  # the first round warms up
                times[count].append(spent)
        if turn >= 3 and time.perf_counter() - started > seconds:
            break
    medians = {count: float(np.median(values)) for count, values in times.items()}
    figures = [
        WorkerFigures(count, medians[count], medians[1] / medians[count], medians[1] / medians[count] / count)
        for count in counts
    ]
    return figures, choose_workers(figures)


def choose_workers(figures: Sequence[WorkerFigures]) -> int:
    """The fewest workers that no larger number beats by more than `WORTH`."""
    for one in figures:
        if all(one.seconds <= other.seconds * WORTH for other in figures if other.workers > one.workers):
            return one.workers
    return figures[-1].workers
