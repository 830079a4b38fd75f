"""What the engine is measured on: the workloads, and the rows of the table that are read off them, with their bars.

A bar is the best rival's time over ours; see `engine_bars.py`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from tessarray_bench.model import Codec, Data, Layout, Query, Workload
from tessarray_bench.suites import planes
from tessarray_bench.suites.scaling import clipped, inner, scaled

PLAIN = "tessarray"
STREAM = "tessarray-appender"  # single frames, through the streaming writer
OURS = (PLAIN, STREAM)
# Doubly partitioned: shards of inner chunks, or Blosc2's chunks of blocks.
DOUBLE = ("tensorstore", "zarrs", "zarr-python-fused", "blosc2", "icechunk")
RIVALS = (*DOUBLE, "h5py", "tiledb")
STREAMERS = (*RIVALS, "acquire-zarr")

IMAGE = (256, 1024, 1024)
SHARD, CHUNK = (128, 256, 256), (32, 32, 32)
PLANES = 20  # of an axis, in each repeat
SMALL = 100  # elements, and rows, in each repeat


@dataclass(frozen=True)
class Bar:
    """A row: which figure of which step, who else counts, and what the best of them has to take over ours."""

    name: str
    workload: str
    step: str
    least: float
    stretch: float | None = None
    figure: str = "wall"  # or "p50", "p99": of the calls of a step
    rivals: tuple[str, ...] = RIVALS
    ours: str = PLAIN
    whole: bool = (
        False  # all of the data, in one or in large calls: memory, processor time and the limit count
    )


def workloads(scale: float) -> list[Workload]:
    """Everything that is measured with rivals, at a scale; 1 is what the bars are for."""
    frame = scaled((1080, 1920), scale, (4, 4))
    found = [
        _array("write-random", "random", "u1", (320, *frame), (64, 540, 1920)),
        _array("write-image", "camera", "u2", (192, *frame), (64, 540, 960)),
        _append("append-random", "random", "u1", (512, *frame), (64, 540, 1920), 64),
        _append("append-image", "camera", "u2", (256, *frame), (16, 540, 960), 16),
        _append("single-image", "camera", "u2", (128, *frame), (16, 540, 960), 1),
        _append("single-random", "random", "u1", (128, *frame), (16, 540, 960), 1),
    ]
    shape = scaled(IMAGE, scale, CHUNK)
    shards = clipped(SHARD, shape)
    cuts = {
        "sharded": Layout(inner(CHUNK, shards), shards, Codec()),
        "chunked": Layout(clipped((128, 128, 128), shape), None, Codec()),
    }
    queries = (
        Query("read all", "[:, :, :]", 2),
        Query("100 cubes", "[:32, :32, :32]", 100),
        Query("element", "[i, j, k]", SMALL),
        Query("row of 100", "[i, j, :100]", SMALL),
        Query("points", "points", 10_000),
    )
    for name, layout in cuts.items():
        whole = Workload(name, "engine", "array", Data("camera", shape, "u2"), None, layout, queries)
        found += [whole, replace(whole, id=f"{name}-fortran", queries=(), options={"order": "F"})]
    for workload in planes.workloads(scale):
        _, name, kind = workload.id.split("/")
        if kind == "ramp":
            axes = tuple(replace(query, count=min(query.count, PLANES)) for query in workload.queries)
            found.append(replace(workload, id=f"planes-{name}", suite="engine", queries=axes))
    return found


def scaling(scale: float) -> list[Workload]:
    """The sharded array with 1, 2, 4, ... 16 workers on as many cores, as far as there are any: ours alone."""
    (whole,) = (w for w in workloads(scale) if w.id == "sharded")
    counts = [n for n in (1, 2, 4, 8, 16) if n <= len(os.sched_getaffinity(0))]
    reads = whole.queries[:1]
    return [replace(whole, id=f"workers-{n}", queries=reads, workers=n) for n in counts]


def _array(name: str, kind: str, dtype: str, shape: tuple[int, ...], chunks: tuple[int, ...]) -> Workload:
    layout = Layout(clipped(chunks, shape), None, Codec())
    return Workload(name, "engine", "array", Data(kind, shape, dtype), None, layout)


def _append(
    name: str, kind: str, dtype: str, shape: tuple[int, ...], chunks: tuple[int, ...], frames: int
) -> Workload:
    layout = Layout(clipped(chunks, shape), None, Codec())
    options = {"frames": frames}
    return Workload(name, "engine", "append", Data(kind, shape, dtype), None, layout, options=options)


def bars() -> list[Bar]:
    """The rows, in the order of the table."""
    found = [
        Bar("write-random", "write-random", "write", 1.5, 2.2, whole=True),
        Bar("write-image", "write-image", "write", 1.3, 1.7, whole=True),
        Bar("append-random, 64 frames a call", "append-random", "append", 1.5, 2.2, whole=True),
        Bar("append-image, 16 frames a call", "append-image", "append", 1.3, 1.6, whole=True),
    ]
    for name in ("single-image", "single-random"):
        for ours, least in ((STREAM, 2.0), (PLAIN, 2.0)):
            how = "streamed" if ours == STREAM else "append"
            for figure, what in (("p50", "p50"), ("p99", "p99"), ("wall", "all of them")):
                text = f"{name}, one frame a call ({how}): {what}"
                found.append(Bar(text, name, "append", least, None, figure, STREAMERS, ours))
    found += [
        Bar("sharded: write", "sharded", "write", 1.8, 2.5, whole=True),
        Bar("sharded: read all", "sharded", "read all", 1.8, 2.5, whole=True),
        Bar("sharded: 100 cubes", "sharded", "100 cubes", 2.5, 5),
        Bar("chunked: write", "chunked", "write", 1.15, 1.4, whole=True),
        Bar("chunked: read all", "chunked", "read all", 1.2, 1.5, whole=True),
        Bar("chunked: 100 cubes", "chunked", "100 cubes", 3, 6),
        Bar("Fortran order, sharded: write", "sharded-fortran", "write", 1.5, whole=True),
        Bar("Fortran order, chunked: write", "chunked-fortran", "write", 1.5, whole=True),
    ]
    for dimensions, stretch in ((2, 4), (3, 3), (4, 3)):
        name = f"planes-{dimensions}d"
        for axis in range(dimensions):
            found.append(Bar(f"{name}: axis {axis}", name, f"axis {axis}", 1.5, stretch, "p50"))
        found.append(Bar(f"{name}: write", name, "write", 1.2, rivals=DOUBLE, whole=True))
    for name in ("sharded", "chunked"):
        found += [
            Bar(f"one element, {name}", name, "element", 2, 5, "p50"),
            Bar(f"one row of 100, {name}", name, "row of 100", 2, 5, "p50"),
            Bar(f"10,000 points, {name}", name, "points", 5),
            Bar(f"open and one element, {name}", name, "open + element", 2, 5, "p50"),
        ]
    return found
