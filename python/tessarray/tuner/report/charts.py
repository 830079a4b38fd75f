"""The charts of a result: time against size, codecs, workers, memory, and the model against what was measured."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import median

from tessarray.tuner.constraints import memory_of
from tessarray.tuner.report.svg import Chart, Markup, element, linear, logarithmic, spread, text
from tessarray.tuner.result import CodecFigures, Row, TuneResult
from tessarray.tuner.wording import (
    byte_text,
    digits,
    estimate_text,
    item_size,
    printable,
    rate_text,
    seconds_text,
    titles,
)

__all__ = ["codecs", "efficiency", "memory", "pareto", "predictions"]

WIDTH, HEIGHT = 760, 400
WIDER = 240  # of the charts that have many labels
LEFT, RIGHT, TOP, BOTTOM = 78, 740, 28, 346
SHAPE_OF = {"proposal": "star", "current": "square", "candidate": "circle"}
COLOURS = 14
MODEL_ERROR = 0.3


def colour(number: int) -> str:
    """A colour of the palette, light or dark as the page is."""
    return f"var(--c{number % COLOURS})"


def speed_colour(rate: float, rates: Sequence[float]) -> str:
    """Slow writing is orange, fast is blue, in equal steps of the logarithm."""
    low, high = min(rates), max(rates)
    share = 1.0 if high <= low or low <= 0 else math.log(rate / low) / math.log(high / low)
    return f"color-mix(in oklab, var(--c0) {round(share * 100)}%, var(--c1))"


def pareto(result: TuneResult) -> Markup:
    """Seconds of an access against the bytes stored; the colour is the speed of writing."""
    rows = [row for row in result.rows if row.stored > 0 and row.read.value > 0]
    if not rows:
        return element("p", "No layout has both a time and a size.", class_="soft")
    right = RIGHT + WIDER
    x = logarithmic([row.stored for row in rows], LEFT, right, "bytes", "size of the array, logarithmic")
    bounds = [value for row in rows for value in (row.read.value, row.read.low, row.read.high)]
    y = logarithmic(bounds, BOTTOM, TOP, "seconds", "time of an access, logarithmic")
    chart = Chart(
        WIDTH + WIDER, HEIGHT, x, y, "Time of an access against the size of the array, one point a layout"
    )
    rates = [row.write.value for row in rows]
    named = list(zip(titles(result.rows), result.rows, strict=True))
    front = sorted(result.front, key=lambda row: row.stored)
    marks: list[Markup] = [_front(chart, front)] if len(front) > 1 else []
    # Candidates first, so that what has a name lies on top.
    for title, row in sorted(named, key=lambda one: one[1].label == "proposal"):
        if not any(row is one for one in rows):
            continue
        at = (row.stored, row.read.value)
        tip = (
            f"{title}: {row.layout.text()}\n{estimate_text('seconds', row.read)} an access, {byte_text(row.stored)}, "
            f"writes {estimate_text('rate', row.write)}"
        )
        inside = (
            chart.cross(None, (row.read.low, row.read.high), at),
            chart.mark(
                at,
                SHAPE_OF.get(row.label, "diamond"),
                tip,
                speed_colour(row.write.value, rates),
                hollow=not row.read.measured,
            ),
        )
        marks.append(element("g", inside, class_="behind" if row.label == "candidate" else None))
    return chart.markup(
        *marks, _labels(chart, [(title, row) for title, row in named if row.label != "candidate"])
    )


def _front(chart: Chart, rows: Sequence[Row]) -> Markup:
    """A line of steps through the layouts that nothing beats in time and size (writing aside)."""
    best: list[Row] = []
    for row in rows:
        if row.stored > 0 and row.read.value > 0 and (not best or row.read.value < best[-1].read.value):
            best.append(row)
    if len(best) < 2:
        return Markup("")
    d = f"M{chart.x(best[0].stored):.1f} {chart.y.end:.1f}"
    for row in best:
        d += f"H{chart.x(row.stored):.1f}V{chart.y(row.read.value):.1f}"
    return element("path", d=f"{d}H{chart.x.end:.1f}", class_="front")


def _labels(chart: Chart, named: Sequence[tuple[str, Row]]) -> list[Markup]:
    places = [chart.y(row.read.value) + 4 for _, row in named]
    found = []
    for (title, row), y in zip(named, spread(places, 15, TOP + 8, BOTTOM - 4), strict=True):
        x = chart.x(row.stored)
        end = x > chart.x.end - 150
        weight = "label halo strong" if row.label == "proposal" else "label halo"
        found.append(text(x - 13 if end else x + 13, y, title, "end" if end else "start", weight))
    return found


def codecs(result: TuneResult) -> Markup | None:
    """Ratio against the speed of encoding and decoding, on one thread; None where no codec was probed."""
    found = [one for one in result.codecs if one.ratio > 0 and one.encode > 0 and one.decode > 0]
    if not found:
        return None
    x = linear(
        [one.ratio for one in found], LEFT, RIGHT + WIDER, "ratio", "ratio: bytes of values over bytes stored"
    )
    speeds = [speed for one in found for speed in (one.encode, one.decode)]
    y = logarithmic(speeds, BOTTOM, TOP, "rate", "bytes of values a second on one thread, logarithmic")
    chart = Chart(
        WIDTH + WIDER, HEIGHT, x, y, "Ratio of codecs against the speed of encoding and of decoding"
    )
    chosen = result.best.layout.codec
    marks: list[Markup] = []
    for one in found:
        tip = f"{one.codec}: {digits(one.ratio)}×, encodes {rate_text(one.encode)}, decodes {rate_text(one.decode)}"
        place = chart.x(one.ratio)
        marks.append(
            element("line", x1=place, x2=place, y1=chart.y(one.encode), y2=chart.y(one.decode), class_="link")
        )
        marks.append(chart.mark((one.ratio, one.decode), "circle", tip, colour(0)))
        marks.append(chart.mark((one.ratio, one.encode), "square", tip, colour(1)))
    named = [one for one in found if one.codec == chosen or _stands_out(one, found)]
    places = spread([chart.y(one.decode) - 9 for one in named], 14, TOP + 8, BOTTOM - 4)
    for one, y_place in zip(named, places, strict=True):
        end = chart.x(one.ratio) > chart.x.end - 170
        at = chart.x(one.ratio) + (-9 if end else 9)
        label = "label halo strong" if one.codec == chosen else "label halo"
        marks.append(text(at, y_place, one.codec, "end" if end else "start", label))
    return chart.markup(*marks)


def _stands_out(one: CodecFigures, every: Sequence[CodecFigures]) -> bool:
    """Whether no codec is better in ratio and in decoding."""
    return not any(
        other is not one and other.ratio >= one.ratio and other.decode >= one.decode for other in every
    )


def efficiency(result: TuneResult) -> Markup | None:
    """Speed-up over workers: what was measured, and what twice the workers being twice as fast would be."""
    found = [one for one in result.scaling if one.workers > 0]
    if not found:
        return None
    most = max(one.workers for one in found)
    x = linear([], LEFT, RIGHT, "count", "workers", top=most * 1.08)
    top = 1.15 * max(1.0, *(one.efficiency for one in found))
    y = linear([], BOTTOM, TOP, "share", "efficiency: speed-up over workers", top=top)
    chart = Chart(WIDTH, HEIGHT, x, y, "Efficiency against the number of workers")
    ordered = sorted(found, key=lambda one: one.workers)
    line = "M" + "L".join(f"{chart.x(one.workers):.1f} {chart.y(one.efficiency):.1f}" for one in ordered)
    ideal = element("line", x1=chart.x(0), x2=chart.x.end, y1=chart.y(1), y2=chart.y(1), class_="front")
    marks = [ideal, element("path", d=line, class_="series", style=f"stroke:{colour(0)}")]
    for one in ordered:
        tip = (
            f"{one.workers} workers: {seconds_text(one.seconds)} an access, {digits(one.speedup)} times as fast as "
            f"one, efficiency {one.efficiency:.0%}"
        )
        chosen = one.workers == result.workers
        shape = "star" if chosen else "circle"
        marks.append(chart.mark((one.workers, one.efficiency), shape, tip, colour(1 if chosen else 0)))
        end = chart.x(one.workers) > RIGHT - 40
        place = (chart.x(one.workers) + (-9 if end else 9), chart.y(one.efficiency) - 8)
        marks.append(text(*place, f"{digits(one.speedup)}×", "end" if end else "start", "label halo"))
    return chart.markup(*marks)


def memory(result: TuneResult) -> Markup:
    """Bytes above input or output against workers, by the formula, for reading and for writing the proposal."""
    layout, itemsize = result.best.layout, item_size(result)
    most = max([result.workers * 2, 4, *(one.workers for one in result.scaling)])
    counts = sorted({1, *(one.workers for one in result.scaling), result.workers, most})
    ratio = math.prod(result.shape) * itemsize / max(result.best.stored, 1)
    lines = {
        "writing": [(n, memory_of(layout, itemsize, n, ratio)) for n in counts],
        "reading": [(n, memory_of(layout, itemsize, n, ratio, "read")) for n in counts],
    }
    x = linear([], LEFT, RIGHT, "count", "workers", top=most * 1.08)
    values = [value for line in lines.values() for _, value in line]
    y = logarithmic(values, BOTTOM, TOP, "bytes", "memory above input or output, logarithmic")
    chart = Chart(WIDTH, HEIGHT, x, y, "Memory against the number of workers, for reading and writing")
    marks = []
    for number, (name, line) in enumerate(lines.items()):
        d = "M" + "L".join(f"{chart.x(n):.1f} {chart.y(value):.1f}" for n, value in line)
        marks.append(element("path", d=d, class_="series", style=f"stroke:{colour(number)}"))
        for n, value in line:
            tip = f"{name} with {n} worker{'s' if n != 1 else ''}: {byte_text(value)}"
            marks.append(chart.mark((n, value), "circle" if number else "square", tip, colour(number)))
    ends = [chart.y(line[-1][1]) - 8 for line in lines.values()]
    for (name, _), place in zip(lines.items(), spread(ends, 16, TOP + 8, BOTTOM - 6), strict=True):
        marks.append(text(chart.x(most) - 10, place, name, "end", "label halo"))
    return chart.markup(*marks)


def predictions(result: TuneResult) -> tuple[Markup, str, list[str]] | None:
    """What the model said against what was measured, the median error in words, and the classes in the order of their
    colours; None where nothing was compared.
    """
    found = [
        (str(one["query"]), str(one["layout"]), float(one["predicted"]), float(one["measured"]))
        for one in result.predictions
        if {"query", "layout", "predicted", "measured"} <= set(one)
    ]
    found = [one for one in found if one[2] > 0 and one[3] > 0 and math.isfinite(one[2] * one[3])]
    if not found:
        return None
    both = [value for one in found for value in one[2:]]
    x = logarithmic(both, LEFT, RIGHT, "seconds", "measured, logarithmic")
    y = logarithmic(both, BOTTOM, TOP, "seconds", "predicted by the model, logarithmic")
    chart = Chart(WIDTH, HEIGHT, x, y, "Time that the model predicted against time that was measured")
    low, high = x.low, x.high

    def line(factor: float, class_: str) -> Markup:
        start, end = max(low, low / factor), min(high, high / factor)
        d = f"M{chart.x(start):.1f} {chart.y(start * factor):.1f}L{chart.x(end):.1f} {chart.y(end * factor):.1f}"
        return element("path", d=d, class_=class_)

    marks = [line(1, "axis"), line(1 + MODEL_ERROR, "front"), line(1 - MODEL_ERROR, "front")]
    names = list(dict.fromkeys(query for query, *_ in found))
    for query, layout, said, took in found:
        figures = f"predicted {seconds_text(said)}, measured {seconds_text(took)} ({said / took - 1:+.0%})"
        tip = f"{query}, {layout}: {figures}"
        shape = ("circle", "square", "diamond", "triangle")[names.index(query) % 4]
        marks.append(chart.mark((took, said), shape, printable(tip), colour(names.index(query)), "mark thin"))
    error = median(abs(said / took - 1) for _, _, said, took in found)
    within = sum(abs(said / took - 1) <= MODEL_ERROR for _, _, said, took in found)
    words = (
        f"Median error {error:.0%} over {len(found)} reads; {within / len(found):.0%} of them within 30 %."
    )
    return chart.markup(*marks), words, [printable(name) for name in names]
