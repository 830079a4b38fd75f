"""The picture: the map, the series and the box as they were read, and the times as bars."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from tessarray.conversion.model import ArraySpec
from tessarray.demo.choice import Query
from tessarray.demo.race import Times
from tessarray.display.palette import INK, PRINTED, SOFT
from tessarray.display.pictures import FAINT, new_figure, save, style, unit_axis
from tessarray.display.units import time_text

COLOURS = {"Tessarray": PRINTED[2], "netCDF4": PRINTED[1], "zarr-python": PRINTED[0]}


def unpacked(values: npt.NDArray[Any], spec: ArraySpec) -> npt.NDArray[np.float64]:
    """Raw values as float64, with CF scale, offset and fill value applied; missing ones are NaN."""
    out = values.astype(np.float64)
    for name in ("_FillValue", "missing_value"):
        fill = np.asarray(spec.attrs.get(name, np.nan))
        if fill.dtype.kind in "iuf" and fill.size == 1:
            out[values == fill.reshape(-1)[0]] = np.nan
    return out * _number(spec, "scale_factor", 1.0) + _number(spec, "add_offset", 0.0)


def _number(spec: ArraySpec, name: str, default: float) -> float:
    value = np.asarray(spec.attrs.get(name, default))
    return float(value.reshape(-1)[0]) if value.dtype.kind in "iuf" and value.size else default


def draw(
    path: Path, spec: ArraySpec, queries: list[Query], answers: Mapping[str, npt.NDArray[Any]],
    axes_values: Mapping[str, npt.NDArray[Any]], times: list[Times],
) -> None:  # fmt: skip
    """Write a PNG of 2000 x 1300 pixels or so. `axes_values` are coordinates by dimension name, where there are any."""
    with style(font_size=10, axes_titlesize=11, axes_titleweight="bold", axes_grid=False):
        figure = new_figure(12.5, 8.2)
        grid = figure.add_gridspec(3, 3, height_ratios=[1.5, 0.9, 0.85])
        label = _label(spec)
        _map(
            figure,
            figure.add_subplot(grid[0, :2]),
            spec,
            queries[0],
            unpacked(answers["map"], spec),
            axes_values,
            label,
        )
        _box(figure, figure.add_subplot(grid[0, 2]), spec, unpacked(answers["box"], spec), axes_values)
        _series(
            figure.add_subplot(grid[1, :]),
            spec,
            queries[1],
            unpacked(answers["series"], spec),
            axes_values,
            label,
        )
        for column, query in enumerate(queries):
            _bars(
                figure.add_subplot(grid[2, column]), query, [t for t in times if t.query.name == query.name]
            )
        title = f"{spec.attrs.get('long_name', spec.path or 'array')}, {' × '.join(map(str, spec.shape))} {spec.dtype}"
        figure.suptitle(str(title), x=0.01, ha="left", fontsize=15, fontweight="bold")
        save(figure, path)


def _label(spec: ArraySpec) -> str:
    units = spec.attrs.get("units", "")
    return f"{spec.path.rpartition('/')[2] or 'value'}{f' ({units})' if units else ''}"


def _coordinates(spec: ArraySpec, axis: int, axes_values: Mapping[str, Any]) -> tuple[npt.NDArray[Any], str]:
    name = spec.dims[axis] if spec.dims else f"axis {axis}"
    values = axes_values.get(name)
    if values is None or values.shape != (spec.shape[axis],):
        return np.arange(spec.shape[axis]), f"{name} (index)"
    return values, name


def _limits(values: npt.NDArray[Any]) -> dict[str, float]:
    """Colour limits without the outermost two percent."""
    finite = values[np.isfinite(values)]
    if not finite.size:
        return {}
    low, high = np.percentile(finite, [1, 99])
    return {"vmin": float(low), "vmax": float(high) if high > low else float(low) + 1}


def _map(
    figure: Any, axes: Any, spec: ArraySpec, query: Query, values: npt.NDArray[Any], axes_values: Mapping[str, Any],
    label: str,
) -> None:  # fmt: skip
    (y, y_name), (x, x_name) = (_coordinates(spec, axis, axes_values) for axis in (-2, -1))
    y, x = y[query.index[-2]], x[query.index[-1]]
    if _is_regular(x) and _is_regular(y):
        edges = (*_edges(x), *_edges(y))
        image = axes.imshow(
            values, extent=edges, aspect="auto", origin="lower", cmap="Spectral_r", **_limits(values)
        )
        axes.set_xlim(sorted(edges[:2]))
        # Coordinates grow upwards, as on maps; rows of a picture that has none are counted from its top.
        axes.set_ylim(sorted(edges[2:], reverse=y_name.endswith("(index)")))
    else:
        image = axes.imshow(values, aspect="auto", cmap="Spectral_r", **_limits(values))
        x_name, y_name = f"{x_name} (index)", f"{y_name} (index)"
    axes.set(xlabel=x_name, ylabel=y_name, title="Map at one step")
    figure.colorbar(image, ax=axes, label=label, shrink=0.9, pad=0.01)


def _is_regular(values: npt.NDArray[Any]) -> bool:
    steps = np.diff(values.astype(np.float64))
    return values.size > 1 and bool(np.all(np.isfinite(steps))) and bool(np.ptp(steps) < 0.01 * abs(steps[0]))


def _edges(values: npt.NDArray[Any]) -> tuple[float, float]:
    half = (float(values[1]) - float(values[0])) / 2
    return float(values[0]) - half, float(values[-1]) + half


def _box(
    figure: Any, axes: Any, spec: ArraySpec, values: npt.NDArray[Any], axes_values: Mapping[str, npt.NDArray[Any]]
) -> None:  # fmt: skip
    # The same way up as the map.
    y, name = _coordinates(spec, -2, axes_values)
    origin = "upper" if name.endswith("(index)") or y[-1] < y[0] else "lower"
    plane = values.reshape(-1, *values.shape[-2:])[values.size // values.shape[-1] // values.shape[-2] // 2]
    image = axes.imshow(plane, aspect="auto", origin=origin, cmap="Spectral_r", **_limits(plane))
    axes.set(title=f"Box of {' × '.join(map(str, values.shape))}, its middle", xticks=[], yticks=[])
    figure.colorbar(image, ax=axes, shrink=0.9, pad=0.02)


def _series(
    axes: Any,
    spec: ArraySpec,
    query: Query,
    values: npt.NDArray[Any],
    axes_values: Mapping[str, Any],
    label: str,
) -> None:
    axis = next(at for at, part in enumerate(query.index) if isinstance(part, slice))
    x, name = _coordinates(spec, axis, axes_values)
    axes.plot(x, values, color=COLOURS["Tessarray"], linewidth=0.9, marker="o" if values.size < 40 else None)
    axes.margins(x=0.005)
    axes.grid(axis="y", color=FAINT)
    axes.set(xlabel=name, ylabel=label, title="Series at one point")


def _bars(axes: Any, query: Query, times: list[Times]) -> None:
    names = [t.system.name for t in times]
    medians = [t.median for t in times]
    lows = [t.median - min(t.seconds) for t in times]
    highs = [max(t.seconds) - t.median for t in times]
    places = np.arange(len(names))
    # Bars begin at zero; where one system takes far longer, its bar simply is far longer.
    axes.barh(places, medians, color=[COLOURS.get(name, SOFT) for name in names], height=0.66)
    axes.errorbar(medians, places, xerr=[lows, highs], fmt="none", ecolor=INK, elinewidth=0.8, capsize=2)
    longest = max(m + h for m, h in zip(medians, highs, strict=True))
    for place, median, high in zip(places, medians, highs, strict=True):
        axes.text(median + high + longest * 0.02, place, time_text(median), va="center", fontsize=9)
    axes.set(yticks=places, yticklabels=names, xlim=(0, longest * 1.3))
    axes.set_title(f"{query.name.capitalize()}: open and read")
    axes.locator_params(axis="x", nbins=4)
    unit_axis(axes.xaxis, "seconds")
    axes.invert_yaxis()
    axes.tick_params(axis="y", length=0)
