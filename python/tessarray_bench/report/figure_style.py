"""How figures look: a colour and a marker for each system, the same in every figure.

Markers, and hatches of bars, tell apart what a greyscale print does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessarray.display.palette import MARKERS, PRINTED
from tessarray.display.pictures import save
from tessarray_bench.results import AGAIN, Results

HATCHES = ("", "////", "....")

# Places in the palette that do not depend on which systems a run had: those that full runs have, have a colour each.
KNOWN = (
    *("tessarray", "zarr-python-fused", "zarrs", "tensorstore", "blosc2", "h5py", "zarr-python", "tiledb"),
    *("netcdf4", "tessarray-pack", "atlas", "stacked", "acquire-zarr", "icechunk", "tessarray-collection"),
    *("tessarray-appender", "h5py-tuned", "ome-zarr", "xarray-dask-zarr", "xarray-dask-netcdf"),
)


@dataclass(frozen=True)
class Look:
    """How a system looks in every figure."""

    title: str
    colour: str
    marker: str
    hatch: str


def looks(results: Results) -> dict[str, Look]:
    """The look of every system of these results; systems that are not known follow in alphabetical order."""
    names = [name for name in results.systems if not name.endswith(AGAIN)]
    places = {name: i for i, name in enumerate((*KNOWN, *sorted(set(names) - set(KNOWN))))}
    return {name: look(results.title(name), places[name]) for name in names}


def look(title: str, place: int) -> Look:
    """The look of the system at a place of the palette: colours that come again have other markers and a hatch."""
    n = len(PRINTED)
    again = place // n
    return Look(title, PRINTED[place % n], MARKERS[(place + 3 * again) % n], HATCHES[min(again, 2)])


def save_figure(figure: Any, folder: Path, name: str) -> list[Path]:
    """The figure as PNG and as SVG."""
    plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
    return [save(figure, folder / f"{plain}.{suffix}") for suffix in ("png", "svg")]


def legend(figure: Any, shown: Iterable[Look], columns: int = 5, *, points: bool = False) -> None:
    """One legend below all panels."""
    from matplotlib.lines import Line2D

    handles = [
        Line2D(
            [], [], color=each.colour, marker=each.marker, linestyle="" if points else "-", label=each.title
        )
        for each in shown
    ]
    if handles:
        figure.legend(handles=handles, loc="outside lower center", ncols=columns)
