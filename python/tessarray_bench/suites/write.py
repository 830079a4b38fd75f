"""One array of frames per m, written in one go."""

from __future__ import annotations

from tessarray_bench.model import Codec, Data, Layout, Workload
from tessarray_bench.suites.scaling import clipped, scaled

FRAMES, FRAME = 64, (1080, 1920)
CHUNKS = ((64, 540, 1920), (64, 540, 960))


def workloads(scale: float) -> list[Workload]:
    """The workloads of this suite at a scale of its sizes; 1 is what is published."""
    found = []
    for m in (1, 5, 10):
        shape = shape_of(m, scale)
        for kind in ("random", "camera"):
            for chunks in CHUNKS:
                orders = ("C", "F") if chunks == CHUNKS[1] else ("C",)
                found += [_workload(m, shape, kind, chunks, order) for order in orders]
    return found


def shape_of(m: int, scale: float) -> tuple[int, ...]:
    """`64 m` frames; a smaller scale shrinks the frames and keeps their number."""
    return (FRAMES * m, *scaled(FRAME, scale, (4, 4)))


def _workload(m: int, shape: tuple[int, ...], kind: str, chunks: tuple[int, ...], order: str) -> Workload:
    return Workload(
        id=f"write/m{m}/{kind}/{'x'.join(map(str, chunks))}/{order}",
        suite="write",
        kind="array",
        data=Data(kind, shape, "u1"),
        layout=Layout(clipped(chunks, shape), None, Codec()),
        options={"order": order} | ({"heavy": True} if m > 5 else {}),
    )
