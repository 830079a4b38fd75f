"""How figures look: a colour and a marker for each system, the same in every figure; fonts that stay readable in print.

Colours are Okabe and Ito's, then Tol's muted ones, which the colour-blind tell apart; markers, and hatches of bars,
tell apart what a greyscale print does not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessarray_bench.results import AGAIN, Results

COLOURS = (
    *("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#555555"),
    *("#882255", "#999933", "#332288", "#44AA99", "#B8860B", "#AA4499", "#661100"),
)
MARKERS = "osD^vPX<>hp*d8"
HATCHES = ("", "////", "....")

# Places in the palette that do not depend on which systems a run had.
KNOWN = (
    *("tessarray", "zarr-python", "tensorstore", "h5py", "netcdf4", "zarr-python+zarrs", "blosc2", "tiledb"),
    *("icechunk", "atlas", "ome-zarr", "acquire-zarr", "xarray-zarr", "xarray-netcdf"),
)

RC: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "tessarray-bench",
}


@dataclass(frozen=True)
class Look:
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
    n = len(COLOURS)
    return Look(title, COLOURS[place % n], MARKERS[place % n], HATCHES[min(place // n, 2)])


def save_figure(figure: Any, folder: Path, name: str) -> list[Path]:
    """The figure as PNG and as SVG; the same bytes for the same figure, but for matplotlib's version."""
    plain = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
    paths = [folder / f"{plain}.{suffix}" for suffix in ("png", "svg")]
    for path, metadata in zip(paths, ({"Software": None}, {"Date": None}), strict=True):
        figure.savefig(path, dpi=160, bbox_inches="tight", metadata=metadata)
    return paths


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
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, frameon=False)
