"""The charts of a result's page: time against size, codecs, workers, memory, the model against what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median
from typing import Literal

from tessarray.display import palette
from tessarray.display.charts import Axis, Chart, Guide, Point, Series, figure, legend
from tessarray.display.markup import Markup, element, printable
from tessarray.display.units import byte_text, digits, rate_text, time_text
from tessarray.tuner.constraints import memory_of
from tessarray.tuner.result import CodecFigures, Row, TuneResult
from tessarray.tuner.result_text import estimate_text, item_size, titles

__all__ = ["codecs", "efficiency", "memory", "pareto", "predictions"]

Shape = Literal["circle", "square", "triangle", "diamond", "star"]
SHAPE_OF: dict[str, Shape] = {"proposal": "star", "current": "square", "candidate": "circle"}
CLASS_SHAPES: tuple[Shape, ...] = ("circle", "square", "diamond", "triangle")
MODEL_ERROR = 0.3
PARETO = (
    "Lower and further left is better. The star is the proposal, the square what there is now, diamonds are defaults, "
    "circles other candidates; hollow ones are predicted. The line joins those that nothing beats in time and size."
)
CODECS = "On real blocks of the array, on one thread. Further right and higher is better; the chosen codec is bold."
EFFICIENCY = (
    "100 %: n workers are n times as fast as one. The star is the number proposed; labels are speed-ups."
)
MEMORY = "By the formula, above the values: a worker that reads holds a chunk, one that writes a stored object too."
MODEL = "On the line the model was right; the dashed lines are 30 % off."


def pareto(result: TuneResult) -> Markup:
    """Seconds of an access against the bytes stored."""
    named = zip(titles(result.rows), result.rows, strict=True)
    # Candidates first, so that what has a name lies on top.
    ordered = sorted(named, key=lambda one: (one[1].label != "candidate", one[1].label == "proposal"))
    series = [_layout(title, row) for title, row in ordered]
    best: list[Row] = []
    for row in sorted(result.front, key=lambda one: one.stored):
        if row.stored > 0 and row.read.value > 0 and (not best or row.read.value < best[-1].read.value):
            best.append(row)
    steps: list[tuple[float, float]] = []
    for row in best:
        if steps:
            steps.append((row.stored, steps[-1][1]))
        steps.append((row.stored, row.read.value))
    x = Axis("bytes", "size of the array", log=True)
    y = Axis("seconds", "time of an access", log=True)
    label = "Time of an access against the size of the array, one point per layout"
    return figure(Chart(label, x, y, series, guides=[Guide(steps)] if len(steps) > 1 else []), PARETO)


def _layout(title: str, row: Row) -> Series:
    tip = (
        f"{title}: {row.layout.text()}\n{estimate_text('seconds', row.read)} an access, {byte_text(row.stored)}, "
        f"writes {estimate_text('rate', row.write)}"
    )
    candidate, proposal = row.label == "candidate", row.label == "proposal"
    label = "" if candidate else title
    point = Point(
        row.stored, row.read.value, tip, low=row.read.low, high=row.read.high, label=label, strong=proposal,
        hollow=not row.read.measured,
    )  # fmt: skip
    colour = palette.series(1 if proposal else 10 if candidate else 0)
    return Series(title, [point], colour, SHAPE_OF.get(row.label, "diamond"), faint=candidate)


def codecs(result: TuneResult) -> Markup:
    """Ratio against the speed of encoding and decoding, on one thread."""
    chosen = result.best.layout.codec

    def points(speed: str, named: bool) -> list[Point]:
        return [
            Point(
                one.ratio, getattr(one, speed),
                f"{one.codec}: {digits(one.ratio)}×, encodes {rate_text(one.encode)}, decodes {rate_text(one.decode)}",
                label=one.codec if named and (one.codec == chosen or _stands_out(one, result.codecs)) else "",
                strong=one.codec == chosen,
            )
            for one in result.codecs
        ]  # fmt: skip

    series = [
        Series("decoding", points("decode", True), palette.series(0)),
        Series("encoding", points("encode", False), palette.series(1), "square"),
    ]
    x = Axis("ratio", "ratio: bytes of values over bytes stored")
    y = Axis("rate", "bytes of values per second on one thread", log=True)
    label = "Ratio of codecs against the speed of encoding and of decoding"
    return figure(Chart(label, x, y, series), CODECS, legend(("decoding", "encoding")))


def _stands_out(one: CodecFigures, every: Sequence[CodecFigures]) -> bool:
    """Whether no codec is better in ratio and in decoding."""
    return not any(
        other is not one and other.ratio >= one.ratio and other.decode >= one.decode for other in every
    )


def efficiency(result: TuneResult) -> Markup:
    """Speed-up over workers: what was measured, and what twice the workers being twice as fast would be."""
    points = [
        Point(
            one.workers, one.efficiency,
            f"{one.workers} workers: {time_text(one.seconds)} an access, {digits(one.speedup)} times as fast as one, "
            f"efficiency {one.efficiency:.0%}",
            label=f"{digits(one.speedup)}×",
            shape="star" if one.workers == result.workers else None,
            colour=palette.series(1) if one.workers == result.workers else None,
        )
        for one in sorted(result.scaling, key=lambda one: one.workers)
    ]  # fmt: skip
    most = max(one.workers for one in result.scaling)
    chart = Chart(
        "Efficiency against the number of workers",
        Axis("count", "workers", low=0, high=most * 1.08),
        Axis("share", "efficiency: speed-up over workers", low=0),
        [Series("efficiency", points, line=True)],
        guides=[Guide([(0, 1), (most * 1.08, 1)])],
        widest=760,
    )
    return figure(chart, EFFICIENCY)


def memory(result: TuneResult) -> Markup:
    """Bytes above input or output against workers, by the formula, for reading and for writing the proposal."""
    layout, itemsize = result.best.layout, item_size(result)
    most = max([result.workers * 2, 4, *(one.workers for one in result.scaling)])
    counts = sorted({1, *(one.workers for one in result.scaling), result.workers, most})
    ratio = math.prod(result.shape) * itemsize / max(result.best.stored, 1)
    series = []
    for number, (name, work) in enumerate((("writing", "write"), ("reading", "read"))):
        values = [memory_of(layout, itemsize, n, ratio, work) for n in counts]  # type: ignore[arg-type] # a `Work`
        points = [
            Point(
                n, value, f"{name} with {n} worker{'s' if n != 1 else ''}: {byte_text(value)}",
                label=name if n == most else "",
            )
            for n, value in zip(counts, values, strict=True)
        ]  # fmt: skip
        series.append(Series(name, points, palette.series(number), CLASS_SHAPES[number], line=True))
    chart = Chart(
        "Memory against the number of workers, for reading and writing",
        Axis("count", "workers", low=0, high=most * 1.08),
        Axis("bytes", "memory above input or output", log=True),
        series,
        widest=760,
    )
    return figure(chart, MEMORY)


def predictions(result: TuneResult) -> Markup | None:
    """What the model said against what was measured; None if nothing was compared."""
    found = [
        (printable(str(one["query"])), str(one["layout"]), float(one["predicted"]), float(one["measured"]))
        for one in result.predictions
        if {"query", "layout", "predicted", "measured"} <= set(one)
    ]
    found = [one for one in found if one[2] > 0 and one[3] > 0 and math.isfinite(one[2] * one[3])]
    if not found:
        return None
    names = list(dict.fromkeys(query for query, *_ in found))
    series = [
        Series(
            name,
            [
                Point(
                    took, said,
                    printable(f"{query}, {layout}: predicted {time_text(said)}, measured {time_text(took)} "
                              f"({said / took - 1:+.0%})"),
                )
                for query, layout, said, took in found
                if query == name
            ],
            palette.series(number),
            CLASS_SHAPES[number % len(CLASS_SHAPES)],
        )
        for number, name in enumerate(names)
    ]  # fmt: skip
    low, high = min(min(one[2:]) for one in found), max(max(one[2:]) for one in found)
    guides = [
        Guide([(low, low * factor), (high, high * factor)], solid=factor == 1)
        for factor in (1.0, 1 + MODEL_ERROR, 1 - MODEL_ERROR)
    ]
    x, y = (Axis("seconds", f"{name}", log=True) for name in ("measured", "predicted by the model"))
    errors = [abs(said / took - 1) for _, _, said, took in found]
    within = sum(error <= MODEL_ERROR for error in errors) / len(errors)
    words = f"Median error {median(errors):.0%} over {len(found)} reads; {within:.0%} of them within 30 %. {MODEL}"
    chart = Chart(
        "Time that the model predicted against time that was measured", x, y, series, guides, widest=760
    )
    return figure(chart, element("p", words, class_="soft prose"), legend(names))
