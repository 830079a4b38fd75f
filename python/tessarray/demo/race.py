"""The comparison: every answer checked first, then repeats in turn, in a new order each round; medians are reported."""

from __future__ import annotations

import random
import statistics
import time
from dataclasses import dataclass

import numpy as np

from tessarray.demo.choice import Query, text
from tessarray.demo.errors import DemoError
from tessarray.demo.systems import System

ROUNDS = 9
# A round of everything is repeated for about this long, and at least MINIMUM times.
SECONDS = 20.0
MINIMUM = 3


@dataclass(frozen=True)
class Times:
    """The seconds of each repeat of one query by one system, opening included."""

    system: System
    query: Query
    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median in seconds."""
        return statistics.median(self.seconds)


def agree(systems: list[System], queries: list[Query]) -> None:
    """Raise `DemoError` if two systems answer a query differently, bit for bit."""
    for query in queries:
        answers = []
        for system in systems:
            with system.open() as read:
                answers.append(np.ascontiguousarray(read(query.index)))
        for system, answer in zip(systems[1:], answers[1:], strict=True):
            first = answers[0]
            native = answer.astype(first.dtype, copy=False)
            if native.shape != first.shape or native.tobytes() != first.tobytes():
                raise DemoError(
                    f"{query.name} {text(query.index)}: {system.name} and {systems[0].name} answer differently"
                )


def race(systems: list[System], queries: list[Query]) -> list[Times]:
    """Time every query on every system: open the file, read the slice, close. The page cache is warm for all."""
    pairs = [(system, query) for system in systems for query in queries]
    found: dict[int, list[float]] = {at: [] for at in range(len(pairs))}
    order = list(range(len(pairs)))
    shuffle = random.Random(1)
    began = time.perf_counter()
    for turn in range(ROUNDS):
        if turn >= MINIMUM and time.perf_counter() - began > SECONDS:
            break
        shuffle.shuffle(order)
        for at in order:
            system, query = pairs[at]
            start = time.perf_counter()
            with system.open() as read:
                read(query.index)
            found[at].append(time.perf_counter() - start)
    return [Times(system, query, tuple(found[at])) for at, (system, query) in enumerate(pairs)]
