"""The same work with 1, 2, 4, ... workers, on as many cores: speed-up and efficiency."""

from __future__ import annotations

import os

from tessarray_bench.model import Codec, Data, Layout, Query, Workload
from tessarray_bench.suites.scaling import clipped, inner, scaled

SHAPE, SHARD, INNER = (256, 1024, 1024), (128, 256, 256), (32, 32, 32)


def workloads(scale: float) -> list[Workload]:
    """The workloads of this suite at a scale of its sizes; 1 is what is published."""
    shape = scaled(SHAPE, scale, INNER)
    shards = clipped(SHARD, shape)
    return [
        Workload(
            id=f"parallel/workers-{workers}",
            suite="parallel",
            kind="array",
            data=Data("camera", shape, "u2"),
            layout=Layout(inner(INNER, shards), shards, Codec()),
            queries=(Query("read all", "[:, :, :]", 3), Query("100 cubes", "[:32, :32, :32]", 100)),
            workers=workers,
        )
        for workers in counts(_cores())
    ]


def counts(cores: int) -> list[int]:
    """1, 2, 4, ... and the number of cores."""
    return sorted({2**n for n in range(cores.bit_length()) if 2**n <= cores} | {cores})


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
