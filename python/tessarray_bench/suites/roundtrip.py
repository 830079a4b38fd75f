"""A volume: written, read whole, and read chunk by chunk with 1, 2 and 4 reads at once."""

from __future__ import annotations

from tessarray_bench.model import Codec, Data, Layout, Query, Workload
from tessarray_bench.suites.scaling import clipped, inner, scaled

SHAPE, CHUNK, INNER = (1024, 2048, 2048), (256, 256, 256), (32, 32, 32)


def workloads(scale: float) -> list[Workload]:
    """The workloads of this suite at a scale of its sizes; 1 is what is published."""
    shape = scaled(SHAPE, scale, INNER)
    chunks = clipped(CHUNK, shape)
    layouts = {
        "raw": Layout(chunks, None, Codec.parse("none")),
        "chunks": Layout(chunks, None, Codec()),
        "shards": Layout(inner(INNER, chunks), chunks, Codec()),
    }
    return [_workload(name, shape, layout, scale) for name, layout in layouts.items()]


def _workload(name: str, shape: tuple[int, ...], layout: Layout, scale: float) -> Workload:
    queries = [
        Query("read all", "[:, :, :]"),
        *(
            Query(f"read chunks, {n} at once" if n > 1 else "read chunks", "chunks", at_once=n)
            for n in (1, 2, 4)
        ),
        Query("100 cubes", "[:32, :32, :32]", 100),
    ]
    if layout.shards:
        queries.append(Query("inner chunks", "inner chunks", 200 if scale >= 0.01 else 20))
    return Workload(
        id=f"roundtrip/{name}",
        suite="roundtrip",
        kind="array",
        data=Data("camera", shape, "u2"),
        layout=layout,
        queries=tuple(queries),
    )
