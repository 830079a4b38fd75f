"""Random hyperplanes along every axis: the case for double partitioning."""

from __future__ import annotations

from tessarray_bench.model import Codec, Data, Layout, Query, Workload
from tessarray_bench.suites.scaling import clipped, inner, scaled

# Name: shape, what is stored, what is read.
ARRAYS = {
    "2d": ((8000, 8000), (4000, 100), (500, 25)),
    "3d": ((800, 600, 300), (200, 100, 80), (20, 100, 10)),
    "4d": ((400, 80, 100, 50), (100, 40, 10, 50), (30, 5, 2, 10)),
}
PLANES = 100


def workloads(scale: float) -> list[Workload]:
    """The workloads of this suite at a scale of its sizes; 1 is what is published."""
    found = []
    for kind in ("ramp", "smooth"):
        for name, (full, chunks, blocks) in ARRAYS.items():
            shape = scaled(full, scale, blocks)
            shards = clipped(chunks, shape)
            found.append(
                Workload(
                    id=f"planes/{name}/{kind}",
                    suite="planes",
                    kind="array",
                    data=Data(kind, shape, "f8"),
                    layout=Layout(inner(blocks, shards), shards, Codec()),
                    queries=tuple(_plane(axis, len(shape), scale) for axis in range(len(shape))),
                )
            )
    return found


def _plane(axis: int, ndim: int, scale: float) -> Query:
    parts = ["i" if other == axis else ":" for other in range(ndim)]
    return Query(f"axis {axis}", f"[{', '.join(parts)}]", PLANES if scale >= 0.1 else 20)
