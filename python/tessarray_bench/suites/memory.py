"""Peak memory against the size of the data: three sizes, so that a constant can be told from a multiple."""

from __future__ import annotations

from tessarray_bench.model import Codec, Data, Layout, Query, Workload
from tessarray_bench.suites.scaling import clipped, inner, scaled

FRAME, SHARD, INNER = (1024, 1024), (64, 512, 512), (32, 64, 64)


def workloads(scale: float) -> list[Workload]:
    """The workloads of this suite at a scale of its sizes; 1 is what is published."""
    frame = scaled(FRAME, scale, (64, 64))
    found = []
    for frames in (64, 128, 256):
        shape = (frames, *frame)
        shards = clipped(SHARD, shape)
        found.append(
            Workload(
                id=f"memory/{frames}-frames",
                suite="memory",
                kind="array",
                data=Data("camera", shape, "u2"),
                layout=Layout(inner(INNER, shards), shards, Codec()),
                queries=(Query("read all", "[:, :, :]"),),
            )
        )
    return found
