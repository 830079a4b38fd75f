"""Figures over what a suite varies: N of fleets, workers, chunk shapes, latency; and codecs, speed against size."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from tessarray.display.pictures import new_figure, unit_axis
from tessarray_bench.grid import Grid, Line
from tessarray_bench.model import Workload
from tessarray_bench.report.figure_style import Look, legend
from tessarray_bench.results import Results


class Axis(NamedTuple):
    """What workloads of a family differ in: `value` of a workload, None where it has none; `drop` forgets it."""

    name: str
    label: str
    value: Callable[[Workload], Any]
    drop: tuple[str, str] | tuple[str]
    categories: bool = False


AXES = (
    Axis("n", "datasets", lambda w: w.fleet.count if w.fleet else None, ("fleet", "count")),
    Axis("workers", "workers", lambda w: w.workers, ("workers",)),
    Axis(
        "chunks", "chunk shape", lambda w: w.layout.chunks if w.layout else None, ("layout", "chunks"), True
    ),
    Axis("latency", "latency / s", lambda w: w.options.get("latency"), ("options", "latency"), True),
)


def draw_lines(results: Results, grid: Grid, look: dict[str, Look]) -> Iterator[tuple[str, Any]]:
    """(name, figure) for each axis along which the grid has workloads that differ in nothing else."""
    for axis in AXES:
        families = families_of(grid, results.workloads, axis)
        panels = [(family, step) for family in families for step in steps_of(grid, family)]
        for page, start in enumerate(range(0, len(panels), 9)):
            held = panels[start : start + 9]
            across = min(3, len(held))
            down = -(-len(held) // across)
            figure = new_figure(3.1 * across, 0.7 + 2.5 * down)
            axes = figure.subplots(down, across, squeeze=False).flat
            for panel in list(axes)[len(held) :]:
                panel.set_visible(False)
            for (family, (process, step)), panel in zip(held, figure.axes, strict=False):
                line_panel(panel, grid, family, process, step, axis, look)
            legend(figure, [look[system] for system in grid.systems])
            yield f"over-{axis.name}" + (f"-{page + 1}" if len(panels) > 9 else ""), figure


def families_of(grid: Grid, workloads: Mapping[str, Workload], axis: Axis) -> list[dict[str, Any]]:
    """Workload -> its value on the axis, of two workloads and more that are alike but for it."""
    found: dict[str, dict[str, Any]] = {}
    for name in grid.workloads():
        value = axis.value(workloads[name])
        if value is not None:
            rest = workloads[name].to_json() | {"id": ""}
            if len(axis.drop) == 1:
                rest.pop(axis.drop[0])
            else:
                rest[axis.drop[0]] = {key: v for key, v in rest[axis.drop[0]].items() if key != axis.drop[1]}
            found.setdefault(json.dumps(rest, sort_keys=True), {})[name] = value
    return [
        dict(sorted(family.items(), key=lambda item: item[1]))
        for family in found.values()
        if len(set(family.values())) > 1
    ]


def steps_of(grid: Grid, family: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The steps, with their processes, of some workloads."""
    return list(dict.fromkeys((line.process, line.step) for line in grid.lines if line.workload in family))


def line_panel(
    panel: Any,
    grid: Grid,
    family: Mapping[str, Any],
    process: str,
    step: str,
    axis: Axis,
    look: dict[str, Look],
) -> None:
    """Time over the axis, a line a system; what failed is named below the axis."""
    places = {name: i if axis.categories else value for i, (name, value) in enumerate(family.items())}
    failures: dict[str, list[str]] = {}
    for system in grid.systems:
        points: list[tuple[float, float, float, float]] = []
        for name, place in places.items():
            line = Line(name, process, step)
            cell = grid.cell(line, system)
            failure = grid.failure(line, system)
            if failure is not None:
                failures.setdefault(f"{look[system].title}: {failure.word}", []).append(text_of(family[name]))
            elif cell is not None and cell.median is not None:
                low, high = (
                    (cell.interval.low, cell.interval.high) if cell.interval else (cell.median, cell.median)
                )
                points.append((place, cell.median, low, high))
        if points:
            x, y, low_ends, high_ends = zip(*points, strict=True)
            panel.fill_between(x, low_ends, high_ends, color=look[system].colour, alpha=0.18, linewidth=0)
            panel.plot(x, y, color=look[system].colour, marker=look[system].marker)
    panel.set_yscale("log")
    if not axis.categories:
        panel.set_xscale("log")
    panel.set_xticks(list(places.values()), [text_of(value) for value in family.values()])
    panel.minorticks_off()
    panel.set_title(f"{common(list(family))}: {step}", loc="left")
    unit_axis(panel.yaxis, "seconds")
    panel.set_ylabel("time")
    told = [f"{what} at {', '.join(where)}" for what, where in failures.items()]
    panel.set_xlabel("\n".join([axis.label, *told]), fontsize=7 if told else None)


def draw_codecs(results: Results, grid: Grid, look: dict[str, Look]) -> Iterator[tuple[str, Any]]:
    """(step, figure): speed against stored size, a panel for each kind of data; up and to the right is better."""
    if grid.suite != "codecs":
        return
    data: dict[str, list[Line]] = {}
    for line in grid.lines:
        given = results.workloads[line.workload].data
        if given is not None:
            data.setdefault(f"{given.kind}, {given.dtype}", []).append(line)
    for step in dict.fromkeys(
        line.step for line in grid.lines if line.step not in ("sync", "open", "first read")
    ):
        figure = new_figure(3.6 * len(data), 3.6)
        for (kind, lines), panel in zip(
            data.items(), figure.subplots(1, len(data), squeeze=False)[0], strict=True
        ):
            pareto_panel(panel, results, grid, [line for line in lines if line.step == step], look)
            panel.set_title(f"{kind}: {step}", loc="left")
        legend(figure, [look[system] for system in grid.systems], points=True)
        yield step, figure


def pareto_panel(panel: Any, results: Results, grid: Grid, lines: list[Line], look: dict[str, Look]) -> None:
    """The steps of the front are those that nothing beats in both; their codecs are named."""
    points: list[tuple[float, float, str]] = []
    failures: dict[str, int] = {}
    for line in lines:
        workload = results.workloads[line.workload]
        for system in grid.systems:
            cell, failure = grid.cell(line, system), grid.failure(line, system)
            if failure is not None:
                told = f"{look[system].title}: {failure.word}"
                failures[told] = failures.get(told, 0) + 1
            elif cell is not None and cell.stored and cell.rate:
                points.append(
                    (
                        workload.nbytes / cell.stored,
                        cell.rate * 1e9,
                        str(workload.layout and workload.layout.codec),
                    )
                )
                panel.plot(*points[-1][:2], look[system].marker, color=look[system].colour, alpha=0.85, mew=0)
    front = [p for p in points if not any(q[0] >= p[0] and q[1] >= p[1] and q[:2] != p[:2] for q in points)]
    front.sort()
    panel.plot([p[0] for p in front], [p[1] for p in front], color="#888888", lw=0.8, ls="--", zorder=0)
    for ratio, rate, codec in front:
        panel.annotate(
            codec, (ratio, rate), xytext=(0, 6), textcoords="offset points", fontsize=6.5, ha="center"
        )
    panel.set_yscale("log")
    unit_axis(panel.yaxis, "rate")
    panel.margins(0.18, 0.12)
    below = [f"{what} ({n} of {len(lines)})" for what, n in failures.items()]
    panel.set_xlabel("\n".join(["values' size over stored size", *below]), fontsize=7 if below else None)
    panel.set_ylabel("rate")


def common(names: list[str]) -> str:
    """The parts that all names share: `fleet/profile/100` and `fleet/profile/500` are `fleet/profile`."""
    parts = [name.split("/") for name in names]
    return "/".join(here[0] for here in zip(*parts, strict=False) if len(set(here)) == 1)


def text_of(value: Any) -> str:
    """A place on an axis in words."""
    return " × ".join(str(n) for n in value) if isinstance(value, tuple) else f"{value:g}"
