"""One matrix under three chunk shapes: what is a row band, a column band or a box worth?"""

from __future__ import annotations

from tessarray_bench.model import Codec, Data, Layout, Query, Workload
from tessarray_bench.suites.scaling import clipped, scaled

SHAPE = (10000, 10000)
CHUNKS = ((10, 10000), (100, 1000), (1000, 100))


def workloads(scale: float) -> list[Workload]:
    """The workloads of this suite at a scale of its sizes; 1 is what is published."""
    shape = scaled(SHAPE, scale, (100, 100))
    # The chunks shrink as the matrix does: their shape against its shape is the question.
    shrunk = [
        tuple(max(size * extent // 10000, 1) for size, extent in zip(c, shape, strict=True)) for c in CHUNKS
    ]
    return [
        _workload(shape, clipped(chunks, shape), named, scale)
        for chunks, named in zip(shrunk, CHUNKS, strict=True)
    ]


def _workload(
    shape: tuple[int, ...], chunks: tuple[int, ...], named: tuple[int, ...], scale: float
) -> Workload:
    times = 20 if scale >= 0.1 else 5
    height, width = chunks
    queries = (
        Query("row band", "[:100, :]", times),
        Query("column band", "[:, :100]", times),
        Query("box", "[:100, :100]", 5 * times),
        *(
            Query(f"{n * n} chunks" if n > 1 else "1 chunk", f"[:{n * height}, :{n * width}]", times)
            for n in (1, 2, 4)
        ),
    )
    return Workload(
        id=f"chunk-shape/{named[0]}x{named[1]}",
        suite="chunk-shape",
        kind="array",
        data=Data("smooth", shape, "f8"),
        layout=Layout(chunks, None, Codec.parse("zstd:3")),
        queries=queries,
    )
