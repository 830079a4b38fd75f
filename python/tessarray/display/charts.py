"""Charts of a page: what is drawn, in plain values. `charts.js` draws it with the vendored library.

    chart = Chart("Time against size", Axis("bytes", "size", log=True), Axis("seconds", "time", log=True), series)
    body = figure(chart, "Lower and further left is better.")

Each point says what it is when it is pointed at or reached by the keyboard. Without JavaScript there is no chart, so
its figures stand in a table, too.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, Literal

from tessarray.display import palette
from tessarray.display.markup import Markup, element, json_text
from tessarray.display.units import UNITS

__all__ = ["Axis", "Band", "Chart", "Guide", "Point", "Series", "figure", "legend"]

Shape = Literal["circle", "square", "triangle", "diamond", "down", "cross", "pentagon", "star"]


@dataclass(frozen=True)
class Axis:
    """An axis: the kind of its figures (a key of `units.UNITS`), its name, whether it is logarithmic.

    low, high: its ends; found from the points if not given, with zero as the lower end of a linear axis. names: labels
    of an axis that has no numbers; points then lie at 0, 1, 2 and so on.
    """

    kind: str
    name: str
    log: bool = False
    low: float | None = None
    high: float | None = None
    names: Sequence[str] | None = None

    def __post_init__(self) -> None:
        if self.kind not in UNITS:
            raise ValueError(f"axis: expected a kind of {', '.join(UNITS)}, found {self.kind!r}")


@dataclass(frozen=True)
class Point:
    """A point: its place, what it says (`tip`), the interval of its y (`low`, `high`) and of its x (`left`, `right`).

    label: a text beside it, bold if `strong`. hollow: an outline. dots: small marks at these values of x.
    """

    x: float
    y: float
    tip: str
    low: float | None = None
    high: float | None = None
    left: float | None = None
    right: float | None = None
    label: str = ""
    strong: bool = False
    hollow: bool = False
    colour: str | None = None
    shape: Shape | None = None
    dots: Sequence[float] = ()


@dataclass(frozen=True)
class Series:
    """Points that belong together: their name, colour (a CSS colour) and shape; `line` joins them, `bar` adds bars.

    faint: drawn behind the others, half transparent.
    """

    name: str
    points: Sequence[Point]
    colour: str = palette.series(0)
    shape: Shape = "circle"
    line: bool = False
    bar: bool = False
    faint: bool = False


@dataclass(frozen=True)
class Guide:
    """A line to compare with, through places (x, y); dashed unless `solid`."""

    places: Sequence[tuple[float, float]]
    solid: bool = False


@dataclass(frozen=True)
class Band:
    """A part of the x axis to compare with: from `low` to `high`, with a text above it."""

    low: float
    high: float
    text: str = ""


@dataclass(frozen=True)
class Chart:
    """A chart. `label` describes it in words; `height` and `widest` are CSS pixels, else it is as wide as the page."""

    label: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    guides: Sequence[Guide] = ()
    bands: Sequence[Band] = ()
    height: int = 400
    widest: int | None = None

    def to_json(self) -> dict[str, Any]:
        """What `charts.js` draws: without points that are not finite; on logarithmic axes it leaves out zero, too."""
        series = [
            replace(one, points=[at for at in one.points if math.isfinite(at.x) and math.isfinite(at.y)])
            for one in self.series
        ]
        found: dict[str, Any] = _plain(replace(self, series=series))
        return found


def figure(chart: Chart, *below: Markup | str) -> Markup:
    """A chart with what stands below it; `page.build(charts=True)` draws it."""
    text = json.dumps(chart.to_json(), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    spec = element("script", json_text(text), type="application/json")
    width = f"max-width:{chart.widest}px" if chart.widest else None
    drawing = element("div", spec, class_="chart", style=f"height:{chart.height}px;{width or ''}".rstrip(";"))
    said = [one if isinstance(one, Markup) else element("p", one, class_="soft prose") for one in below]
    return element("figure", drawing, said)


def legend(names: Sequence[str], first: int = 0) -> Markup:
    """Names with the colours of series, from number `first` on."""
    spans = [
        element("span", element("i", class_="swatch", style=f"background:{palette.series(first + i)}"), name)
        for i, name in enumerate(names)
    ]
    return element("p", spans, class_="legend")


def _plain(value: Any) -> Any:
    """JSON of dataclasses, short: what is not given is left out."""
    if is_dataclass(value):
        pairs = ((one.name, getattr(value, one.name)) for one in fields(value))
        # A zero is a figure, and equal to False: what is left out is told by identity.
        return {
            name: _plain(own)
            for name, own in pairs
            if own is not None and own is not False and own not in ("", ())
        }
    if isinstance(value, str | bool | int) or value is None:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Sequence):
        return [_plain(one) for one in value]
    return float(value)
