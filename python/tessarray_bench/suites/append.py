"""Frames appended to a growing array: in blocks, one by one, and at an offered rate."""

from __future__ import annotations

from typing import Any

from tessarray_bench.model import Codec, Data, Layout, Workload
from tessarray_bench.suites.scaling import clipped, scaled
from tessarray_bench.suites.write import FRAME

BLOCK = 64
RATES = (100, 400)


def workloads(scale: float) -> list[Workload]:
    """The workloads of this suite at a scale of its sizes; 1 is what is published."""
    frame = scaled(FRAME, scale, (4, 4))
    count = 320 if scale >= 0.1 else 128
    found = []
    for kind in ("random", "camera"):
        blocks: dict[str, Any] = {"frames": BLOCK}
        found.append(_workload(f"append/64-frames/{kind}", kind, (count, *frame), (64, 540, 1920), blocks))
        single = (128 if scale >= 0.1 else 48, *frame)
        found.append(_workload(f"append/1-frame/{kind}", kind, single, (16, 540, 960), {"frames": 1}))
    for rate in RATES:
        offered: dict[str, Any] = {"frames": 1, "rate": rate, "queue": 8}
        found.append(_workload(f"append/offered-{rate}/camera", "camera", single, (16, 540, 960), offered))
    return found


def _workload(
    id: str, kind: str, shape: tuple[int, ...], chunks: tuple[int, ...], options: dict[str, Any]
) -> Workload:
    layout = Layout(clipped(chunks, shape), None, Codec())
    return Workload(
        id=id, suite="append", kind="append", data=Data(kind, shape, "u1"), layout=layout, options=options
    )
