"""Charts of a result for papers and notebooks, with matplotlib (an optional package)."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tessarray.display import pictures
from tessarray.tuner.result import Row, TuneResult
from tessarray.tuner.result_text import source_text, titles

__all__ = ["pareto"]

MARKERS = {"proposal": "*", "current": "s", "candidate": "o"}
SIZES = {"proposal": 140, "candidate": 26}


def pareto(result: TuneResult, path: str | os.PathLike[str] | None = None) -> Any:
    """Seconds of an access against bytes stored, with 95 % intervals, coloured by the speed of writing.

    The star is the proposal, the square the current layout, diamonds are the defaults of libraries, small circles other
    candidates; hollow ones are predicted, not measured. The dashed line joins what nothing beats in time and size. The
    matplotlib figure is returned, and written to `path` if one is given (its suffix says as what).

    Raises `MissingPackageError` without matplotlib.
    """
    with pictures.style():
        figure = pictures.new_figure(7.2, 4.4)
        _draw(figure, result)
        if path is not None:
            pictures.save(figure, path)
    return figure


def _draw(figure: Any, result: TuneResult) -> None:
    from matplotlib.colors import LogNorm

    panel = figure.add_subplot()
    rows = [
        (title, row) for title, row in zip(titles(result.rows), result.rows, strict=True) if _drawable(row)
    ]
    rates = [row.write.value for _, row in rows if row.write.value > 0] or [1.0]
    norm = LogNorm(min(rates), max(*rates, min(rates) * 1.01))
    _front(panel, [row for row in result.front if _drawable(row)])
    points = None
    for title, row in rows:
        points = _point(panel, row, norm)
        if row.label != "candidate":
            weight = "bold" if row.label == "proposal" else "normal"
            place = (row.stored, row.read.value)
            panel.annotate(title, place, xytext=(7, 5), textcoords="offset points", weight=weight)
    panel.set(xscale="log", yscale="log", xlabel="size of the array", ylabel="time of an access")
    panel.set_title(f"{source_text(result)}, objective {result.objective}")
    pictures.unit_axis(panel.xaxis, "bytes")
    pictures.unit_axis(panel.yaxis, "seconds")
    if points is not None:
        bar = figure.colorbar(points, ax=panel, label="writes")
        pictures.unit_axis(bar.ax.yaxis, "rate")


def _drawable(row: Row) -> bool:
    return row.stored > 0 and row.read.value > 0


def _point(panel: Any, row: Row, norm: Any) -> Any:
    x, y = row.stored, row.read.value
    reach = [[max(y - row.read.low, 0)], [max(row.read.high - y, 0)]]
    panel.errorbar(x, y, yerr=reach, fmt="none", ecolor="#555555", elinewidth=0.8, capsize=2, zorder=2)
    drawn = panel.scatter(
        [x], [y], c=[max(row.write.value, norm.vmin)], norm=norm, cmap="viridis",
        marker=MARKERS.get(row.label, "D"), s=SIZES.get(row.label, 42),
        alpha=0.8 if row.label == "candidate" else 1.0, zorder=3,
    )  # fmt: skip
    if not row.read.measured:
        drawn.set_facecolor("none")
        drawn.set_edgecolor("#555555")
    return drawn


def _front(panel: Any, front: Sequence[Row]) -> None:
    """Steps through what nothing beats in time and size."""
    best: list[Row] = []
    for row in sorted(front, key=lambda one: one.stored):
        if not best or row.read.value < best[-1].read.value:
            best.append(row)
    if len(best) > 1:
        xs, ys = [row.stored for row in best], [row.read.value for row in best]
        panel.step(xs, ys, where="post", color="#888888", linestyle="--", linewidth=0.9, zorder=1)
