"""Pictures with matplotlib, an optional package: one style, axes with units, the same bytes for the same picture.

with style():
    figure = new_figure(7, 4)
    ...
save(figure, "figure.png")
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tessarray.display.palette import INK
from tessarray.display.units import UNITS, digits, unit_of
from tessarray.errors import MissingPackageError

__all__ = ["FAINT", "SUFFIXES", "new_figure", "save", "style", "unit_axis"]

FAINT = "#dddddd"
SUFFIXES = (".png", ".svg", ".pdf")
STYLE: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.labelsize": 9,
    "axes.titlelocation": "left",
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.linewidth": 0.6,
    "lines.linewidth": 1.3,
    "lines.markersize": 4.5,
    "svg.fonttype": "none",
    "svg.hashsalt": "tessarray",
}


@contextmanager
def style(**changes: Any) -> Iterator[None]:
    """Within the block figures are made in this style, with changes: `font_size=11`. Raises `MissingPackageError`."""
    try:
        import matplotlib
    except ImportError as error:
        raise MissingPackageError("plots need matplotlib: pip install matplotlib") from error
    given: Any = STYLE | {name.replace("_", ".", 1): value for name, value in changes.items()}
    with matplotlib.rc_context(given):
        yield


def new_figure(width: float, height: float) -> Any:
    """An empty figure of so many inches, laid out without overlaps, that no window shows."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def save(figure: Any, path: str | os.PathLike[str]) -> Path:
    """Write a figure, as the ending of the name says; the same bytes for the same figure and version of matplotlib."""
    target = Path(path)
    dated = {".png": {"Software": None}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}
    figure.savefig(target, dpi=160, bbox_inches="tight", metadata=dated.get(target.suffix.lower()))
    return target


def unit_axis(axis: Any, kind: str) -> None:
    """Labels of an axis (`panel.xaxis`) in the units of a kind: `5 ms`, `20 MB`. Set its scale before."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    if axis.get_scale() == "log":
        low, high = axis.get_view_interval()
        # Over many decades labels between the powers of ten would lie on each other.
        subs = (1.0, 2.0, 5.0) if high < 1e3 * low else (1.0,)
        axis.set_major_locator(LogLocator(subs=subs, numticks=12))
        axis.set_minor_formatter(NullFormatter())
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(kind, value)))


def _tick(kind: str, value: float) -> str:
    if value == 0:
        return "0"
    factor, name = unit_of(kind, value)
    text = digits(value / factor)
    plain = text.rstrip("0").rstrip(".") if "." in text else text
    return f"{plain}{'' if UNITS[kind][0][1] in ('', '×') else ' '}{name}"
