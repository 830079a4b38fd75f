"""Pictures of a layout: the array, one shard, one inner chunk, and each query class with the chunks that it touches.

An array of one dimension is a bar, of two a rectangle, of more a box in isometric view of its last three axes. Extents
are drawn compressed, so that a long axis leaves room for a short one, but along each axis everything is to scale; what
is too thin to be seen is drawn thicker.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from tessarray.tuner.expected import expected_chunks
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.report.svg import Markup, element, text
from tessarray.tuner.result import Row, TuneResult
from tessarray.tuner.wording import byte_text, count_text, printable, queries_of, sizes

__all__ = ["Box", "figures", "picture"]

WIDTH, HEIGHT = 340, 270
BAR_HEIGHT = 84  # of the picture of an array of one dimension
SPACE = 46  # for the axes' names
LETTER = 6.3  # how wide a letter of them is
LONGEST_NAME = 18
THINNEST = 0.02
COMPRESSED = 0.4  # the power that lengths are drawn with
SHORTEST = 0.22
MOST_LINES = 48  # of a chunk grid that is drawn
COS, SIN = math.cos(math.pi / 6), 0.5

Extents = tuple[int, ...]
Part = tuple[float, float]  # of an axis, from 0 to 1


@dataclass(frozen=True)
class Box:
    """Something to draw: its part of each axis, and the class that says how."""

    parts: tuple[Part, ...]
    class_: str

    @classmethod
    def of(cls, ranges: Sequence[tuple[int, int]], shape: Extents, class_: str) -> Box:
        """From elements, cut at the array's edge and thick enough to be seen."""
        parts = []
        for (start, stop), extent in zip(ranges, shape, strict=True):
            low, high = max(start, 0) / extent, min(stop, extent) / extent
            if high - low < THINNEST:
                low = min(max((low + high - THINNEST) / 2, 0.0), 1 - THINNEST)
                high = low + THINNEST
            parts.append((low, high))
        return cls(tuple(parts), class_)


def figures(result: TuneResult) -> list[Markup]:
    """One figure a layout: the proposal, and what there is now (or the first default) beside it."""
    rows = [result.best, *(row for row in result.rows[1:] if row.label != "candidate")][:2]
    return [_figure(result, row, number) for number, row in enumerate(rows)]


def _figure(result: TuneResult, row: Row, number: int) -> Markup:
    classes = queries_of(result)
    layout = row.layout
    views = [_view(result, layout, None, "what is stored, what is read", number)]
    views += [_view(result, layout, one, _said(one, row, result), number) for one in classes]
    title = element("h3", f"{row.label}: ", element("span", layout.text(), class_="soft"))
    return element("figure", title, element("div", views, class_="pictures"))


def _said(one: QueryClass, row: Row, result: TuneResult) -> str:
    """What a class touches, in words."""
    chunks = expected_chunks(one.extents, result.shape, row.layout.chunks)
    said = f"{count_text(chunks)} chunk{'s' if chunks != 1 else ''}"
    if one.name in row.requests and one.name in row.fetched:
        said += f", {count_text(row.requests[one.name])} requests, {byte_text(row.fetched[one.name])} fetched"
    return said


def _view(result: TuneResult, layout: Layout, query: QueryClass | None, said: str, number: int) -> Markup:
    shape = result.shape
    dims = result.dims or tuple(f"axis {axis}" for axis in range(len(shape)))
    boxes: list[tuple[Sequence[tuple[int, int]], str]]
    if query is None:
        # At the corner that the viewer sees.
        boxes = [(_corner(layout.unit, shape), "shard" if layout.shards else "chunk")]
        if layout.shards:
            boxes.append((_corner(layout.chunks, shape), "chunk"))
        head = "layout"
    else:
        asked = [
            _place(axis.start if axis.kind == "fixed" else None, q, n)
            for axis, q, n in zip(query.axes, query.extents, shape, strict=True)
        ]
        touched = [(a // c * c, -(-b // c) * c) for (a, b), c in zip(asked, layout.chunks, strict=True)]
        boxes = [(touched, "touched"), (asked, "asked")]
        head = f"{query.name} {query.text}"
    last = slice(-3, None)
    drawing = picture(
        shape[last],
        [Box.of(ranges[last], shape[last], class_) for ranges, class_ in boxes],
        dims[last],
        layout.chunks[last],
        f"{printable(head)}: {said}",
    )
    below = (
        f"; axes before the last three: {sizes(shape[:-3])} in chunks of {sizes(layout.chunks[:-3])}"
        if len(shape) > 3
        else ""
    )
    return element(
        "div",
        element(
            "p",
            element("strong", printable(head)),
            element("br"),
            element("span", said + below, class_="soft"),
        ),
        drawing,
        class_=f"view k{number}",
    )


def _corner(extents: Extents, shape: Extents) -> list[tuple[int, int]]:
    """A whole part at the corner in front: the end of the axes but the one that is drawn downwards."""
    found = []
    for axis, (part, extent) in enumerate(zip(extents, shape, strict=True)):
        down = axis == len(shape) - 2
        start = 0 if down or len(shape) < 3 else max((extent // part - 1) * part, 0)
        found.append((start, min(start + part, extent)))
    return found


def _place(start: int | None, length: int, extent: int) -> tuple[int, int]:
    """Where a query is drawn: its own place, or past the middle."""
    at = min(round(extent * 0.63), extent - length) if start is None else start
    return at, at + length


def picture(shape: Extents, boxes: Sequence[Box], dims: Sequence[str], chunks: Extents, label: str) -> Markup:
    """One drawing of an array of one to three dimensions."""
    names = [_name(name, extent) for name, extent in zip(dims, shape, strict=True)]
    inside = _isometric(shape, boxes, names) if len(shape) == 3 else _flat(shape, boxes, names, chunks)
    box = f"0 0 {WIDTH} {HEIGHT if len(shape) > 1 else BAR_HEIGHT}"
    said = element("title", label)
    return element("svg", said, inside, viewBox=box, class_="picture", role="img", aria_label=label)


def _name(name: str, extent: int) -> str:
    """`lat: 180`; a long name is cut."""
    plain = printable(name)
    return f"{plain if len(plain) <= LONGEST_NAME else plain[: LONGEST_NAME - 1] + '…'}: {extent:,}"


def _lengths(shape: Extents) -> list[float]:
    most = max(shape)
    return [max((n / most) ** COMPRESSED, SHORTEST) for n in shape]


def _flat(shape: Extents, boxes: Sequence[Box], names: Sequence[str], chunks: Extents) -> list[Markup]:
    """A bar or a rectangle, with the lines of the chunk grid where they are few enough."""
    lengths = _lengths(shape)
    across, down, tall = lengths[-1], lengths[0], HEIGHT
    if len(shape) == 1:
        down, tall = 0.12, BAR_HEIGHT
    scale = min((WIDTH - SPACE) / across, (tall - SPACE) / down)
    width, height = across * scale, down * scale
    left, top = (WIDTH - width + SPACE / 2) / 2, (tall - height + SPACE / 2) / 2
    parts = [element("rect", x=left, y=top, width=width, height=height, class_="array")]
    for step, extent, upright in _grids(shape, chunks):
        for at in range(step, extent, step):
            share = at / extent
            x1, x2 = (left + share * width,) * 2 if upright else (left, left + width)
            y1, y2 = (top, top + height) if upright else (top + share * height,) * 2
            parts.append(element("line", x1=x1, x2=x2, y1=y1, y2=y2, class_="cut"))
    for box in boxes:
        (x1, x2), (y1, y2) = box.parts[-1], box.parts[0] if len(shape) == 2 else (0.0, 1.0)
        size = {"width": (x2 - x1) * width, "height": (y2 - y1) * height}
        parts.append(element("rect", x=left + x1 * width, y=top + y1 * height, class_=box.class_, **size))
    parts.append(text(left + width / 2, top - 8, names[-1], "middle", "tick"))
    if len(shape) == 2:
        x, y = left - 9, top + height / 2
        turned = f"rotate(-90 {x:.1f} {y:.1f})"
        parts.append(
            element("text", names[0], class_="tick", x=x, y=y, text_anchor="middle", transform=turned)
        )
    return parts


def _grids(shape: Extents, chunks: Extents) -> list[tuple[int, int, bool]]:
    """(step, extent, upright) of the cuts along the axes that have few."""
    axes = [(chunks[-1], shape[-1], True)]
    if len(shape) == 2:
        axes.append((chunks[0], shape[0], False))
    return [(step, extent, upright) for step, extent, upright in axes if extent / step <= MOST_LINES]


class _View:
    """Isometric projection: the first axis runs to the lower left, the second down, the third to the lower right."""

    def __init__(self, lengths: Sequence[float], right: float) -> None:
        self.lengths = lengths
        corners = [self._flat(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        xs, ys = [x for x, _ in corners], [y for _, y in corners]
        room = (WIDTH - SPACE / 2 - right, HEIGHT - SPACE)
        self.scale = min(room[0] / (max(xs) - min(xs)), room[1] / (max(ys) - min(ys)))
        self.left = (WIDTH + SPACE / 2 - right) / 2 - self.scale * (max(xs) + min(xs)) / 2
        self.top = HEIGHT / 2 - self.scale * (max(ys) + min(ys)) / 2

    def _flat(self, a: float, b: float, c: float) -> tuple[float, float]:
        first, second, third = (share * length for share, length in zip((a, b, c), self.lengths, strict=True))
        return (third - first) * COS, (third + first) * SIN + second

    def __call__(self, a: float, b: float, c: float) -> tuple[float, float]:
        x, y = self._flat(a, b, c)
        return self.left + x * self.scale, self.top + y * self.scale

    def path(self, points: Sequence[tuple[float, float, float]], close: bool = True) -> str:
        """Points of the array as the path of a shape."""
        return (
            "M" + "L".join("{:.1f} {:.1f}".format(*self(*point)) for point in points) + ("Z" if close else "")
        )


def _isometric(shape: Extents, boxes: Sequence[Box], names: Sequence[str]) -> list[Markup]:
    view = _View(_lengths(shape), right=LETTER * max(len(name) for name in names[1:]) + 12)
    parts = [element("path", d=_behind(view), class_="hidden")]
    for box in boxes:
        parts += [
            element("path", d=view.path(face), class_=f"{box.class_} {side}")
            for side, face in _faces(box.parts)
        ]
    whole = Box(((0.0, 1.0),) * 3, "array")
    parts += [element("path", d=view.path(face), class_="array") for _, face in _faces(whole.parts)]
    # Along the edges of the top, and down on the right.
    places = (
        (view(0.5, 0, 0), (-6, -6), "end"),
        (view(0, 0.5, 1), (7, 4), "start"),
        (view(0, 0, 0.5), (6, -6), "start"),
    )
    for (place, (dx, dy), anchor), name in zip(places, names, strict=True):
        parts.append(text(place[0] + dx, place[1] + dy, name, anchor, "tick"))
    return parts


def _faces(parts: Sequence[Part]) -> list[tuple[str, list[tuple[float, float, float]]]]:
    """The three faces of a box that can be seen: its top, and the two in front."""
    (a0, a1), (b0, b1), (c0, c1) = parts
    return [
        ("top", [(a0, b0, c0), (a1, b0, c0), (a1, b0, c1), (a0, b0, c1)]),
        ("left", [(a1, b0, c0), (a1, b1, c0), (a1, b1, c1), (a1, b0, c1)]),
        ("right", [(a0, b0, c1), (a1, b0, c1), (a1, b1, c1), (a0, b1, c1)]),
    ]


def _behind(view: _View) -> str:
    """The three edges of the array that its own faces hide."""
    corner = (0.0, 1.0, 0.0)
    return "".join(
        view.path([corner, other], close=False)
        for other in ((1.0, 1.0, 0.0), (0.0, 0.0, 0.0), (0.0, 1.0, 1.0))
    )
