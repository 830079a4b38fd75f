"""Fabricated results of a tuning run, for the tests of what is made of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tessarray.tuner.layout import Layout
from tessarray.tuner.result import CodecFigures, Estimate, Row, TuneResult, WorkerFigures

SHAPE = (365, 180, 360)
QUERIES = {"map": ["[t, :, :]", 0.5], "series": ["[:, y, x]", 0.4], "box": ["[:30, :64, :64]", 0.1]}


def about(value: float, spread: float = 0.08) -> Estimate:
    return Estimate(value, value * (1 - spread), value * (1 + spread))


def row(
    label: str, layout: Layout, scale: float = 1.0, shape: tuple[int, ...] = SHAPE, **changes: Any
) -> Row:
    """A row whose figures are `scale` times those of the proposal."""
    names = changes.pop("names", tuple(QUERIES))
    found = Row(
        label,
        layout,
        queries={name: about(0.004 * scale * (i + 1)) for i, name in enumerate(names)},
        read=about(0.0053 * scale),
        write=about(8e8 / scale),
        stored=int(40e6 * (1 + scale / 10)),
        files=layout.files(shape),
        requests={name: 3.0 * scale * (i + 1) for i, name in enumerate(names)},
        fetched={name: 4e5 * scale * (i + 1) for i, name in enumerate(names)},
        memory=int(4e6),
    )
    return replace(found, **changes)


def result(**changes: Any) -> TuneResult:
    """A run over a cube of 365 x 180 x 360 with everything in it."""
    guessed = Estimate.predicted(0.059)
    rows = (
        row("proposal", Layout((28, 45, 60), (364, 180, 120), "blosc:zstd:3:shuffle")),
        row("current", Layout((1, 180, 360), None, "zstd:3"), 5.0),
        row("zarr-python auto", Layout((46, 45, 45), None, "zstd:0", False), 3.3),
        row("netCDF-C default", Layout((183, 90, 180), None, "blosc:zlib:4:shuffle", False), 9.0, read=guessed),
        row("candidate", Layout((14, 90, 90), None, "pcodec:8"), 1.4, write=about(9.9e8), stored=20_000_000),
    )  # fmt: skip
    found = TuneResult(
        source="cube.nc",
        variable="t2m",
        shape=SHAPE,
        dtype="float32",
        dims=("time", "lat", "lon"),
        objective="read",
        rows=rows,
        why=("reads 5.0 times as fast as the current layout (4.1 to 5.9)", "one request a map, not 12"),
        workers=2,
        request={"queries": QUERIES, "objective": "read", "budget": 60, "store": "local"},
        seconds=58.3,
        codecs=(
            CodecFigures("none", 1.0, 8e9, 9e9),
            CodecFigures("zstd:3", 2.1, 3e8, 9e8),
            CodecFigures("blosc:zstd:3:shuffle", 3.1, 5e8, 2.1e9),
            CodecFigures("pcodec:8", 4.4, 9e7, 1.4e9),
        ),
        scaling=(
            WorkerFigures(1, 0.0100, 1.0, 1.0),
            WorkerFigures(2, 0.0053, 1.89, 0.94),
            WorkerFigures(4, 0.0041, 2.4, 0.61),
        ),
        calibration={"store": {"first_byte": 21e-6, "bandwidth": 1.9e9}, "machine": "a machine"},
        searched=412,
        predictions=(
            {"query": "map", "layout": "a", "predicted": 0.004, "measured": 0.0043},
            {"query": "series", "layout": "a", "predicted": 0.009, "measured": 0.007},
            {"query": "map", "layout": "b", "predicted": 0.05, "measured": 0.061},
        ),
        notes=("one candidate was dropped: it needs 5 GB",),
    )
    return replace(found, **changes)
