"""Which part runs when: repeats outermost within a workload, systems in a new seeded order in each.

Interleaved, a slow minute of the machine hits every system; shuffled, nobody is always the first or the last.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tessarray_bench.model import Workload

AGAIN = " (again)"


@dataclass(frozen=True)
class Turn:
    """One system's go at one repeat of one workload. `label` is its name, or `X (again)` for the noise floor."""

    workload: Workload
    system: str
    label: str
    repeat: int


def turns(
    workloads: Sequence[Workload], systems: Sequence[str], baseline: str | None, repeats: int, seed: int
) -> Iterator[Turn]:
    """Every run of every system, repeat by repeat, in a new random order in each; the baseline runs twice."""
    for workload in workloads:
        labels = [(name, name) for name in systems]
        if baseline is not None and baseline in systems:
            labels.append((baseline, baseline + AGAIN))
        for repeat in range(int(workload.options.get("repeats", repeats))):
            order = list(labels)
            random.Random(f"{seed}/{workload.id}/{repeat}").shuffle(order)
            for system, label in order:
                yield Turn(workload, system, label, repeat)


def spread(given: Sequence[Turn], seed: int) -> list[Turn]:
    """The same turns for a run that may be cut short: one system after another, in a seeded order, each through all
    workloads but shifted, so that every workload has several systems early."""
    labels = list(dict.fromkeys(turn.label for turn in given))
    random.Random(seed).shuffle(labels)
    workloads = list(dict.fromkeys(turn.workload.id for turn in given))
    by_place: dict[tuple[str, str], list[Turn]] = {}
    for turn in given:
        by_place.setdefault((turn.workload.id, turn.label), []).append(turn)
    rounds = max(len(labels), len(workloads))
    order = [
        (workload, labels[(place + shift) % rounds])
        for shift in range(rounds)
        for place, workload in enumerate(workloads)
        if (place + shift) % rounds < len(labels)
    ]
    return [turn for key in order for turn in by_place.get(key, [])]
