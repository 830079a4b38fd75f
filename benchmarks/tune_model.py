"""The cost model against what happens: counts that must agree exactly, and times that were predicted beforehand."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from tune_state import State

import tessarray
from tessarray import stores
from tessarray.tuner.expected import expected_chunks, touch
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import Box, selection_of

__all__ = ["BAND", "REMOTE", "chart", "check_counts", "errors", "pairs"]

REMOTE = "s3-like(ttfb=30ms,bw=200MB/s)"
CASES_REMOTE = ("cube", "camera", "classes", "COADS")
BAND = 0.3
LAYOUTS = 200
BOXES = 3


def errors(found: Sequence[Sequence[float]]) -> list[float]:
    """Relative errors of predicted times, as factors above 1 in either direction, less 1."""
    return [max(said / took, took / said) - 1 for said, took in found]


def within(found: Sequence[Sequence[float]]) -> float:
    """The median of |predicted / measured - 1|."""
    return float(np.median([abs(said / took - 1) for said, took in found]))


def pairs(state: State) -> dict[str, list[Sequence[float]]]:
    """(predicted, measured) of all reads, by kind of store."""
    local = [pair for one in state.part("proposals").values() for pair in one["predictions"]]
    remote = [pair for one in state.part("remote").values() for pair in one["predictions"]]
    return {name: found for name, found in (("local", local), (REMOTE, remote)) if found}


def check_counts(seed: int = 0, layouts: int = LAYOUTS) -> dict[str, int]:
    """Random arrays, layouts and boxes: chunks and objects by brute force and as a recording store counts them."""
    rng = np.random.default_rng(seed)
    found = dict.fromkeys(
        ("boxes", "chunks_exact", "objects_exact", "means", "means_exact", "ranges", "ranges_exact"), 0
    )
    for _ in range(layouts):
        shape, layout = drawn(rng)
        store = tessarray.MemoryStore()
        layout.create(store, shape, "u2")[...] = rng.integers(1, 60000, shape, dtype="u2")
        for _ in range(BOXES):
            ends = [sorted(int(v) for v in rng.choice(n + 1, 2, replace=False)) for n in shape]
            box: Box = tuple((a, b) for a, b in ends)
            said = touch(box, layout, 2, 1.0)
            found["boxes"] += 1
            found["chunks_exact"] += said.chunks == brute(box, layout.chunks)
            read = recorded(store, box)
            stored = layout.shards is not None or read == said.objects
            found["objects_exact"] += stored and said.objects == brute(box, layout.unit)
            found["ranges"] += 1
            found["ranges_exact"] += read == said.requests
        extents = tuple(int(rng.integers(1, n + 1)) for n in shape)
        found["means"] += 1
        found["means_exact"] += math.isclose(
            expected_chunks(extents, shape, layout.chunks), mean_of(extents, shape, layout.chunks), rel_tol=1e-12
        )  # fmt: skip
    return found


def drawn(rng: np.random.Generator) -> tuple[tuple[int, ...], Layout]:
    """A shape and a layout without compression, half of them with shards."""
    dimensions = int(rng.integers(1, 5))
    shape = tuple(int(n) for n in rng.integers(2, {1: 5000, 2: 200, 3: 40, 4: 16}[dimensions], dimensions))
    chunks = tuple(int(rng.integers(max(n // 12, 1), n + 1)) for n in shape)
    shards = None
    if rng.random() < 0.5:
        grid = [-(-n // c) for n, c in zip(shape, chunks, strict=True)]
        counts = [int(rng.integers(1, g + 1)) for g in grid]
        if math.prod(counts) > 1:
            shards = tuple(c * k for c, k in zip(chunks, counts, strict=True))
    return shape, Layout(chunks, shards, "none", checksum=False)


def brute(box: Box, part: tuple[int, ...]) -> int:
    """Parts that hold an element of a box: by looking at every index along every axis."""
    return math.prod(len({i // p for i in range(a, b)}) for (a, b), p in zip(box, part, strict=True))


def mean_of(extents: tuple[int, ...], shape: tuple[int, ...], part: tuple[int, ...]) -> float:
    """The mean number of parts over every place of a box."""
    axes = [
        [len(set(range(start // p, (start + q - 1) // p + 1))) for start in range(n - q + 1)]
        for q, n, p in zip(extents, shape, part, strict=True)
    ]
    return math.prod(sum(axis) / len(axis) for axis in axes)


def recorded(store: Any, box: Box) -> int:
    """Byte ranges that the engine asks of a store for a box, in an array that was just opened."""
    counted = stores.RecordStore(store)
    array = tessarray.open_array(counted, mode="r", session=tessarray.Session(threads=1))
    counted.reset()
    array[selection_of(box)]
    return int(counted.counts()["read"]["ranges"])


def chart(state: State, path: Path, most: int = 700) -> None:
    """Predicted against measured times of both stores, with the band of 30 %."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    found = pairs(state)
    if not found:
        return
    figure, axes = pyplot.subplots(figsize=(5.2, 4.6), dpi=100)
    both = np.array(list(itertools.chain(*found.values()))) * 1e3
    low, high = both.min() * 0.7, both.max() * 1.4
    line = np.geomspace(low, high, 50)
    axes.fill_between(
        line, line * (1 - BAND), line * (1 + BAND), color="0.88", label="within 30 %", linewidth=0
    )
    axes.plot(line, line, color="0.55", linewidth=0.8)
    rng = np.random.default_rng(0)
    for (name, values), colour in zip(found.items(), ("#2563a8", "#c2571a"), strict=False):
        times = np.array(values) * 1e3
        shown = times[np.sort(rng.permutation(len(times))[:most])]
        label = f"{name.partition('(')[0]}: {len(times)} reads, median error {within(values):.0%}"
        axes.scatter(shown[:, 1], shown[:, 0], s=5, color=colour, alpha=0.45, linewidth=0, label=label)
    axes.set(xscale="log", yscale="log", xlim=(low, high), ylim=(low, high))
    axes.set_xlabel("measured, ms a read")
    axes.set_ylabel("predicted, ms a read")
    axes.legend(loc="upper left", fontsize=8, frameon=False, markerscale=2)
    axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Software": None})
    pyplot.close(figure)
