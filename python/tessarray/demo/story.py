"""The demonstration from beginning to end."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion import convert
from tessarray.conversion.blocks import regions
from tessarray.conversion.errors import OptionError
from tessarray.conversion.model import ArraySpec, ConversionReport, Source
from tessarray.conversion.sources import open_source
from tessarray.demo.choice import Query, largest, queries, text
from tessarray.demo.picture import draw
from tessarray.demo.race import Times, agree, race
from tessarray.demo.report import layouts, table, verdicts
from tessarray.demo.systems import System, netcdf_on, tessarray_on, zarr_python_on
from tessarray.demo.weather import make_cube
from tessarray.display.units import byte_text, time_text

WRITE_BYTES = 64 << 20


def tell(file: Path | None, out: Path, size: str, as_json: bool) -> None:
    """Do every step, saying what it does; `as_json` prints the results as one document instead."""
    from rich.console import Console

    console = Console(highlight=False, quiet=as_json, soft_wrap=True)
    out.mkdir(parents=True, exist_ok=True)
    path = file if file is not None else _made(out, size, console)
    store = out / f"{path.name.split('.')[0]}.zarr"
    if store.resolve() == path.resolve():
        raise OptionError(f"{path}: is where the demonstration would put its own store; pass another --out")
    console.print(
        f"\n[bold]1. Convert[/] {path} ({byte_text(_size(path))}) to {store}, and verify every value"
    )
    report = convert(path, store, overwrite=True, verify=True, progress=not as_json and console.is_terminal)
    console.print(f"   {_sentence(report)}")
    source = open_source(path)
    try:
        spec = largest(source)
        asked = queries(spec)
        console.print(f"\n[bold]2. Slice[/] {spec.path or 'the array'}: {spec.dtype} {spec.shape}")
        systems = _systems(path, source, spec, store, out)
        answers = _answers(systems[0], asked, console)
        agree(systems, asked)
        console.print(f"   the same values from {', '.join(system.name for system in systems)}")
        console.print(
            "\n[bold]3. Compare[/]: open the file, read the slice, close; repeats interleaved, warm page cache\n"
        )
        times = race(systems, asked)
        axes_values = _axes(source, spec)
    finally:
        source.close()
    console.print(table(times, asked), soft_wrap=False)
    for line in [*layouts(times), "", *verdicts(times, asked)]:
        console.print(f"   {line}".rstrip(), markup=False)
    draw(out / "demo.png", spec, asked, answers, axes_values, times)
    found = _document(path, report, spec, asked, times)
    (out / "demo.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    if as_json:
        print(json.dumps(found))
    console.print(f"\nPicture: [bold]{out / 'demo.png'}[/]   numbers: {out / 'demo.json'}   store: {store}")
    console.print(f"Next: tessarray info {store}", markup=False)


def _made(out: Path, size: str, console: Any) -> Path:
    path = out / f"weather-{size}.nc"
    if not path.exists():
        started = time.perf_counter()
        console.print(f"[bold]0. Make[/] a weather-like netCDF-4 cube: {path}")
        make_cube(path, size)
        console.print(f"   {time_text(time.perf_counter() - started)}")
    return path


def _size(path: Path) -> int:
    return (
        path.stat().st_size
        if path.is_file()
        else sum(p.stat().st_size for p in path.rglob("*") if p.is_file())
    )


def _sentence(report: ConversionReport) -> str:
    return (
        f"{report.arrays} arrays, {byte_text(report.bytes)} of values in {byte_text(report.stored)}, "
        f"{time_text(report.seconds)} with verification, [green]every value equal[/]"
    )


def _systems(path: Path, source: Source, spec: ArraySpec, store: Path, out: Path) -> list[System]:
    """Tessarray, netCDF4 where the file is netCDF or HDF5, and zarr-python where it is installed."""
    found: list[System | None] = [tessarray_on(store, spec.path)]
    if source.kind.startswith(("NETCDF", "HDF5")):
        found.append(netcdf_on(path, spec))

    def values() -> Iterator[Any]:
        # Slabs along the first axis, aligned to nothing in particular but never the whole array at once.
        slab = max(WRITE_BYTES * spec.shape[0] // max(spec.nbytes, 1), 1)
        for region in regions(spec.shape, (slab, *spec.shape[1:])):
            with source.lock:
                yield region, source.read(spec.path, region)

    found.append(zarr_python_on(out / "zarr-python.zarr", spec, values))
    return [system for system in found if system is not None]


def _answers(system: System, asked: list[Query], console: Any) -> dict[str, Any]:
    answers = {}
    for query in asked:
        started = time.perf_counter()
        with system.open() as read:
            answers[query.name] = read(query.index)
        took = time_text(time.perf_counter() - started)
        shape = " × ".join(map(str, answers[query.name].shape))
        console.print(f"   {query.name:<7}{text(query.index)}: {shape} values in {took}", markup=False)
    return answers


def _axes(source: Source, spec: ArraySpec) -> dict[str, Any]:
    """The one-dimensional coordinate arrays beside the array, by dimension name."""
    parent = spec.path.rpartition("/")[0]
    found = {}
    for other in source.arrays():
        name = other.path.rpartition("/")[2]
        beside = other.path.rpartition("/")[0] == parent
        if beside and spec.dims and name in spec.dims and other.dims == (name,) and other.dtype.kind in "iuf":
            with source.lock:
                found[name] = np.asarray(source.read(other.path, (slice(0, other.shape[0]),)))
    return found


def _document(
    path: Path, report: ConversionReport, spec: ArraySpec, asked: list[Query], times: list[Times]
) -> Any:
    return {
        "input": str(path),
        "conversion": asdict(report),
        "array": {"path": spec.path, "shape": list(spec.shape), "dtype": str(spec.dtype)},
        "queries": {query.name: text(query.index) for query in asked},
        "times": [
            {"system": t.system.name, "layout": t.system.layout, "stored": t.system.stored, "query": t.query.name,
             "median_s": t.median, "seconds": list(t.seconds)}
            for t in times
        ],
    }  # fmt: skip
