"""Reads over HTTP from a file server on loopback that waits 0, 10 or 50 ms before the first byte of each answer."""

from __future__ import annotations

from tessarray_bench.model import Codec, Data, Layout, Query, Workload
from tessarray_bench.suites.scaling import clipped, inner, scaled

SHAPE, SHARD, INNER = (128, 1024, 1024), (64, 512, 512), (16, 64, 64)
LATENCIES = (0.0, 0.010, 0.050)


def workloads(scale: float) -> list[Workload]:
    """The workloads of this suite at a scale of its sizes; 1 is what is published."""
    shape = scaled(SHAPE, scale, INNER)
    shards = clipped(SHARD, shape)
    return [
        Workload(
            id=f"remote/{latency * 1000:g}-ms",
            suite="remote",
            kind="array",
            data=Data("camera", shape, "u2"),
            layout=Layout(inner(INNER, shards), shards, Codec()),
            queries=(
                Query("one element", "[i, j, k]", 20),
                Query("box", "[:16, :64, :64]", 20),
                Query("plane", "[i, :, :]", 5),
                Query("read all", "[:, :, :]"),
            ),
            options={"latency": latency},
        )
        for latency in LATENCIES
    ]
