"""Figures for papers, as PNG and SVG: bars of each suite, lines over what a suite varies, codecs' speed against size.

    paths = draw(load("results.json"), Path("figures"))

Bars and lines are medians with their 95 % intervals; the shorter, the faster. A system that failed keeps its place on
the axis, with the word for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tessarray.display.pictures import new_figure, style
from tessarray.display.units import time_text, unit_of
from tessarray_bench.grid import Grid, Line, grids
from tessarray_bench.report.figure_lines import draw_codecs, draw_lines
from tessarray_bench.report.figure_style import Look, looks, save_figure
from tessarray_bench.results import Results

ACROSS = 4  # panels side by side
DOWN = 4  # and below each other, before the next page


def draw(results: Results, folder: Path) -> list[Path]:
    """Draw everything there is data for into `folder`, which is made; the paths of the figures."""
    folder.mkdir(parents=True, exist_ok=True)
    look = looks(results)
    several = len(results.groups) > 1
    paths: list[Path] = []
    with style():
        for grid in grids(results):
            name = f"{grid.file}-{grid.suite}" if several else grid.suite
            for page, figure in enumerate(bar_pages(grid, look), 1):
                paths += save_figure(figure, folder, f"{name}-bars-{page}")
            for axis, figure in draw_lines(results, grid, look):
                paths += save_figure(figure, folder, f"{name}-{axis}")
            for step, figure in draw_codecs(results, grid, look):
                paths += save_figure(figure, folder, f"{name}-pareto-{step}")
    return paths


def bar_pages(grid: Grid, look: dict[str, Look]) -> list[Any]:
    """Panels, one a workload and step, in rows of ACROSS; a workload begins a row."""
    rows: list[list[Line]] = []
    for workload in grid.workloads():
        own = [line for line in grid.lines if line.workload == workload]
        rows += [own[i : i + ACROSS] for i in range(0, len(own), ACROSS)]
    return [bars(grid, rows[i : i + DOWN], look) for i in range(0, len(rows), DOWN)]


def bars(grid: Grid, rows: Sequence[Sequence[Line]], look: dict[str, Look]) -> Any:
    """A figure with a row of panels for each of `rows`, a panel a line."""
    across = max(len(row) for row in rows)
    tall = 0.6 + 0.17 * len(grid.every)
    figure = new_figure(1.6 + 2.0 * across, 0.3 + tall * len(rows))
    axes = figure.subplots(len(rows), across, squeeze=False, sharey=True)
    for row, panels in zip(rows, axes, strict=True):
        for line, panel in zip(row, panels, strict=False):
            bar_panel(panel, grid, line, look)
        for panel in panels[len(row) :]:
            panel.set_visible(False)
        panels[0].set_title(f"{row[0].workload}\n{row[0].step}", loc="left")
    figure.suptitle(
        f"{grid.suite}: time, median with 95 % interval; noise floor {grid.floor.factor:.3f}", fontsize=9
    )
    return figure


def bar_panel(panel: Any, grid: Grid, line: Line, look: dict[str, Look]) -> None:
    """One bar a system, the first on top; a time beside each, a word where there is none."""
    marks = grid.marks(line)
    known = [
        cell.interval.high if cell.interval else cell.median or 0.0
        for s in marks
        if (cell := grid.cell(line, s))
    ]
    factor, unit = unit_of("seconds", max(known, default=1.0))
    top = max(known, default=1.0) / factor
    for place, system in enumerate(grid.every):
        failure = grid.failure(line, system)
        cell = grid.cell(line, system)
        if failure is not None:
            panel.text(0, place, f" {failure.word}", va="center", fontsize=7, color="#b00000")
        elif cell is not None and cell.median is not None:
            value = cell.median / factor
            drawn = look[system]
            panel.barh(
                place,
                value,
                color=drawn.colour,
                hatch=drawn.hatch,
                edgecolor="white",
                height=0.8,
                linewidth=0,
            )
            end = value
            if cell.interval is not None:
                low, high = cell.interval.low / factor, cell.interval.high / factor
                panel.errorbar(
                    value, place, xerr=[[value - low], [high - value]], color="#222222", lw=0.8, capsize=1.5
                )
                end = high
            weight = "bold" if marks.get(system) else "normal"
            told = f"{time_text(cell.median)}{'*' if marks.get(system) == 'fastest' else ''}"
            panel.text(end + 0.02 * top, place, told, va="center", fontsize=6.5, weight=weight)
    panel.set_yticks(range(len(grid.every)), [look[system].title for system in grid.every])
    panel.set_ylim(len(grid.every) - 0.4, -0.6)
    panel.set_xlim(0, 1.35 * top)
    panel.grid(visible=False, axis="y")
    panel.set_title(line.step, loc="left")
    panel.set_xlabel(unit, labelpad=1)
