"""Drawing: elements as text, scales with readable ticks, axes. Texts and attributes are escaped here, nowhere else."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tessarray.tuner.wording import digits, unit_of

__all__ = ["Chart", "Markup", "Scale", "element", "linear", "logarithmic", "spread", "text"]


class Markup(str):
    """Text that is markup already. Anything else that comes into an element is escaped."""

    __slots__ = ()


Child = str | Iterable[str] | Iterable[Iterable[str]]


def element(name: str, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """An element. `class_` is `class`, `text_anchor` is `text-anchor`; `None` and `False` leave an attribute out."""
    given = "".join(
        f' {_name(key)}="{html.escape(_plain(value).translate(CONTROL), quote=True)}"'
        if value is not True
        else f" {_name(key)}"
        for key, value in attributes.items()
        if value is not None and value is not False
    )
    inside = "".join(_markup(child) for child in _flat(children))
    return Markup(f"<{name}{given}>{inside}</{name}>" if inside or name not in VOID else f"<{name}{given}>")


# What a browser shows nothing of, or refuses; lines and tabs stay.
CONTROL = {
    code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if code not in (9, 10)
}
VOID = frozenset({"br", "hr", "meta", "link"})


def _name(key: str) -> str:
    return key.rstrip("_").replace("_", "-") if key != "viewBox" else key


def _plain(value: str | float | bool) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def _flat(children: Iterable[Child]) -> Iterable[str]:
    for child in children:
        if isinstance(child, str):
            yield child
        else:
            yield from _flat(child)


def _markup(child: str) -> str:
    return child if isinstance(child, Markup) else html.escape(child.translate(CONTROL), quote=False)


def text(x: float, y: float, said: str, anchor: str = "start", class_: str | None = None) -> Markup:
    """A text in a drawing."""
    return element("text", said, x=float(x), y=float(y), text_anchor=anchor, class_=class_)


@dataclass(frozen=True)
class Scale:
    """From values to places: `log` or linear, between `low` and `high`; `kind` says in which units ticks are."""

    low: float
    high: float
    start: float
    end: float
    log: bool
    ticks: tuple[float, ...]
    kind: str
    name: str

    def __call__(self, value: float) -> float:
        """The place of a value; values beyond the ends of the scale lie at them."""
        held = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(held / self.low) / math.log(self.high / self.low)
        else:
            share = (held - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    def tick_text(self, tick: float) -> str:
        """A tick's label."""
        if tick == 0:
            return "0"
        factor, name = unit_of(self.kind, tick if self.log else max(self.ticks))
        return f"{_short(tick / factor)}{'' if name in ('', '×') else ' '}{name}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else digits(value).rstrip("0").rstrip(".")


def linear(
    values: Iterable[float], start: float, end: float, kind: str, name: str, top: float | None = None
) -> Scale:
    """A scale from zero, to a little above the largest value, or to `top`."""
    high = top if top is not None else max((v for v in values if math.isfinite(v)), default=1.0) * 1.05 or 1.0
    step = _step(high, abs(end - start) / 90)
    if kind == "count":
        step = max(step, 1.0)
    ticks = tuple(i * step for i in range(int(high / step + 1e-9) + 1))
    return Scale(0.0, high, start, end, False, ticks, kind, name)


def _step(extent: float, room: float) -> float:
    """A readable step that cuts an extent into about `room` parts, two to six of them."""
    rough = extent / max(2.0, min(6.0, room))
    power = 10.0 ** math.floor(math.log10(rough))
    return next(power * k for k in (1, 2, 2.5, 5, 10) if power * k >= rough * 0.999)


def logarithmic(values: Iterable[float], start: float, end: float, kind: str, name: str) -> Scale:
    """A logarithmic scale over the values above zero, with some air at both ends."""
    positive = [value for value in values if value > 0 and math.isfinite(value)] or [1.0]
    least, most = min(positive), max(positive)
    air = max(1.15, (most / least) ** 0.06)
    low, high = least / air, most * air
    room = max(2.0, abs(end - start) / 70)
    decades = math.log10(high / low)
    steps = (1, 2, 5) if decades * 3 <= room else (1, 3) if decades * 2 <= room else (1,)
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    every = 1 if len(steps) > 1 else max(1, math.ceil(decades / room))
    ticks = [k * 10.0**p for p in powers if p % every == 0 for k in steps]
    kept = [tick for tick in ticks if low <= tick <= high]
    if len(kept) < 3 and high / low < 20:
        # Little more than a decade, or less: steps as on a linear scale.
        step = _step(high - low, abs(end - start) / 80)
        kept = [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]
    if len(kept) < 2:
        kept = [low, math.sqrt(low * high), high]
    return Scale(low, high, start, end, True, tuple(kept), kind, name)


@dataclass(frozen=True)
class Chart:
    """A drawing with two axes. Places are those of `x` and `y`."""

    width: int
    height: int
    x: Scale
    y: Scale
    label: str

    def markup(self, *marks: str | Iterable[str]) -> Markup:
        """The drawing: the axes, then the marks in order. What `label` says is its description."""
        box = f"0 0 {self.width} {self.height}"
        return element(
            "svg", self._below(), self._left(), *marks, viewBox=box, class_="chart", role="img", aria_label=self.label,
            style=f"max-width:{self.width}px",
        )  # fmt: skip

    def _below(self) -> Markup:
        top, bottom = sorted((self.y.start, self.y.end))
        parts = []
        for tick in self.x.ticks:
            at = self.x(tick)
            parts.append(element("line", x1=at, x2=at, y1=top, y2=bottom, class_="grid"))
            parts.append(text(at, bottom + 17, self.x.tick_text(tick), "middle", "tick"))
        middle = (self.x.start + self.x.end) / 2
        return element("g", parts, text(middle, bottom + 38, self.x.name, "middle", "name"))

    def _left(self) -> Markup:
        left, right = sorted((self.x.start, self.x.end))
        parts = []
        for tick in self.y.ticks:
            at = self.y(tick)
            parts.append(element("line", x1=left, x2=right, y1=at, y2=at, class_="grid"))
            parts.append(text(left - 7, at + 4, self.y.tick_text(tick), "end", "tick"))
        return element("g", parts, text(2, 13, self.y.name, "start", "name"))

    def cross(self, x: Sequence[float] | None, y: Sequence[float] | None, at: tuple[float, float]) -> Markup:
        """Whiskers of a point: from low to high along an axis that has an interval."""
        px, py = self.x(at[0]), self.y(at[1])
        d = ""
        if y is not None and y[0] < y[1]:
            low, high = self.y(y[0]), self.y(y[1])
            d += f"M{px - 3:.1f} {low:.1f}h6M{px:.1f} {low:.1f}V{high:.1f}M{px - 3:.1f} {high:.1f}h6"
        if x is not None and x[0] < x[1]:
            low, high = self.x(x[0]), self.x(x[1])
            d += f"M{low:.1f} {py - 3:.1f}v6M{low:.1f} {py:.1f}H{high:.1f}M{high:.1f} {py - 3:.1f}v6"
        return element("path", d=d, class_="whisker") if d else Markup("")

    def mark(
        self,
        at: tuple[float, float],
        shape: str,
        tip: str,
        colour: str,
        class_: str = "mark",
        hollow: bool = False,
    ) -> Markup:
        """A point with what it says when pointed at or reached by the keyboard."""
        style = f"fill:var(--paper);stroke:{colour};stroke-width:1.8" if hollow else f"fill:{colour}"
        place = f"translate({self.x(at[0]):.1f},{self.y(at[1]):.1f})"
        inside = (
            element("title", tip),
            element("circle", r="11", class_="hit"),
            element("path", d=SHAPES[shape], style=style),
        )
        return element("g", inside, class_=class_, transform=place, tabindex="0", role="img", aria_label=tip)


# About 10 across, around (0, 0).
SHAPES = {
    "star": "M0-8L2.2-2.9L7.6-2.5L3.5 1.1L4.8 6.5L0 3.6L-4.8 6.5L-3.5 1.1L-7.6-2.5L-2.2-2.9Z",
    "square": "M-4.6-4.6H4.6V4.6H-4.6Z",
    "diamond": "M0-6.4L5.2 0L0 6.4L-5.2 0Z",
    "triangle": "M0-5.8L5.6 4.3H-5.6Z",
    "circle": "M0-4.6A4.6 4.6 0 1 1 0 4.6A4.6 4.6 0 1 1 0-4.6Z",
}


def spread(places: Sequence[float], gap: float, low: float, high: float) -> list[float]:
    """The places moved apart until none is nearer to the next than `gap`, in their order; within `low` and `high`."""
    order = sorted(range(len(places)), key=lambda i: places[i])
    moved = list(places)
    for k, i in enumerate(order):
        moved[i] = max(places[i], moved[order[k - 1]] + gap if k else low)
    for k in reversed(range(len(order))):
        limit = high if k == len(order) - 1 else moved[order[k + 1]] - gap
        moved[order[k]] = min(moved[order[k]], limit)
    return moved
