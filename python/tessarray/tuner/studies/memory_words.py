"""What measured peaks of memory mean, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tessarray.tuner.studies.model import Table
from tessarray.tuner.wording import byte_text, digits

__all__ = ["memory_meaning"]

SLACK = 2e6  # bytes of stacks and of the allocator, below which a ratio says nothing


def memory_meaning(table: Table, threads: int) -> tuple[str, ...]:
    """Two to four sentences from the table of the study."""
    rows: list[dict[str, Any]] = table.records()
    found = [_largest(rows)]
    found += _fit(rows)
    found += _workers(rows)
    found += _chunks(rows)
    return tuple(found[:4])


def _largest(rows: Sequence[dict[str, Any]]) -> str:
    told = []
    for work in ("read", "write", "change"):
        mine = [row for row in rows if row["work"] == work]
        if mine:
            worst = max(mine, key=lambda row: row["peak"])
            told.append(
                f"a {work} {byte_text(worst['peak'])} ({worst['chunks']}, {worst['workers']} workers)"
            )
    return f"At most, above the values: {'; '.join(told)}."


def _fit(rows: Sequence[dict[str, Any]]) -> list[str]:
    """How far the formula can be trusted."""
    large = [row for row in rows if row["formula"] > SLACK]
    if not large:
        return [
            "All peaks are within what stacks and the allocator take: memory is no concern with such chunks."
        ]
    over = [row for row in large if row["peak"] > row["formula"] + SLACK]
    ratios = [row["peak / formula"] for row in large]
    middle = digits(float(np.median(ratios)))
    text = f"Peaks are {middle} times the formula in the middle, {digits(max(ratios))} at most"
    if over:
        worst = max(over, key=lambda row: row["peak / formula"])
        return [
            f"{text}: {len(over)} of {len(large)} lie above it, worst a {worst['work']} of {worst['chunks']}."
        ]
    return [f"{text}, so it can be planned with."]


def _workers(rows: Sequence[dict[str, Any]]) -> list[str]:
    """What a worker more costs."""
    counts = sorted({row["workers"] for row in rows})
    if len(counts) < 2:
        return []
    steps = []
    for one in rows:
        if one["workers"] != counts[-1] or one["formula"] < SLACK:
            continue
        alone = next(
            (
                row
                for row in rows
                if row["workers"] == 1 and (row["chunks"], row["work"]) == (one["chunks"], one["work"])
            ),
            None,
        )
        if alone is not None and alone["peak"] > SLACK:
            steps.append(one["peak"] / alone["peak"])
    if not steps:
        return []
    return [
        f"{counts[-1]} workers hold {digits(float(np.median(steps)))} times as much as one: every worker has a chunk "
        "of its own."
    ]


def _chunks(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Shards cost writes, chunks cost reads."""
    shards = [row for row in rows if row["object"] > row["chunk"]]
    reads = [row["peak"] for row in shards if row["work"] == "read"]
    writes = [row["peak"] for row in shards if row["work"] == "write"]
    if not reads or not writes or max(writes) <= max(reads):
        return []
    return [
        f"With shards a read holds inner chunks only (at most {byte_text(max(reads))}), a write whole shards as they "
        f"are encoded ({byte_text(max(writes))}): a shard costs memory where data are written."
    ]
