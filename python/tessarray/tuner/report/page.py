"""One self-contained page from a result: everything on it is drawn here, as HTML and SVG, and works without JavaScript.

    write(result, "report.html")

A script of a few lines adds what points say in a box of the page's own, buttons to copy a command, and a choice of
light or dark. The page loads nothing from anywhere, and its policy forbids it to.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from tessarray.tuner.report import charts, parts, pictures, words
from tessarray.tuner.report.svg import Markup, element
from tessarray.tuner.result import TuneResult
from tessarray.tuner.wording import queries_of

__all__ = ["build", "write"]


def write(result: TuneResult, path: str | os.PathLike[str]) -> Path:
    """Write the page, in place of one that is there; it is whole or not there."""
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    partial.write_text(build(result), encoding="utf-8")
    partial.replace(target)
    return target


def build(result: TuneResult) -> str:
    """The page as text."""
    files = resources.files("tessarray.tuner.report")
    sections = list(_sections(result))
    filling = {
        "<!--title-->": element("title", f"Layout for {parts.title(result)}"),
        "<!--heading-->": element("h1", f"Layout for {parts.title(result)}"),
        "<!--subtitle-->": element("p", parts.subtitle(result), id="subtitle"),
        "<!--nav-->": "".join(element("a", one.name, href=f"#{one.key}") for one in sections),
        "<!--sections-->": "".join(one.markup() for one in sections),
        "/*{css}*/": (files / "page.css").read_text(encoding="utf-8"),
        "/*{script}*/": (files / "page.js").read_text(encoding="utf-8").replace("</", "<\\/"),
    }
    pieces = [(files / "template.html").read_text(encoding="utf-8")]
    # Marks are looked for in what the template has, never in what was filled in.
    for mark, content in filling.items():
        at = next(i for i, piece in enumerate(pieces) if i % 2 == 0 and mark in piece)
        before, _, after = pieces[at].partition(mark)
        pieces[at : at + 1] = [before, content, after]
    return "".join(pieces)


@dataclass(frozen=True)
class _Section:
    key: str
    name: str
    head: str
    body: list[Markup]

    def markup(self) -> Markup:
        """The section with its heading."""
        title = f"{self.key}-title"
        head = element("h2", self.head, id=title)
        return element("section", head, self.body, id=self.key, aria_labelledby=title, tabindex="-1")


def _sections(result: TuneResult) -> Iterator[_Section]:
    """What there is to show."""
    commands = element("div", parts.commands(result), class_="two")
    yield _Section("proposal", "Proposal", "Proposal", [parts.card(result), commands])
    scroll = {"class_": "scroll table", "tabindex": "0", "role": "region", "aria_label": "Layouts"}
    yield _Section(
        "layouts", "Layouts", "Layouts", [element("div", parts.table(result), **scroll), _soft(words.TABLE)]
    )
    drawn = _figure(charts.pareto(result), words.PARETO, _ramp())
    yield _Section("pareto", "Pareto", "Time against size", [drawn])
    yield _Section("shapes", "Shapes", "Chunks and queries", [*pictures.figures(result), _shapes_key(result)])
    codecs = charts.codecs(result)
    if codecs is not None:
        figure = _figure(codecs, words.CODECS, _legend(("decoding", "encoding")))
        table = element("details", element("summary", "Figures"), parts.codec_table(result))
        yield _Section("codecs", "Codecs", "Codecs: ratio against speed", [figure, table])
    efficiency = charts.efficiency(result)
    figures = [] if efficiency is None else [_figure(efficiency, words.EFFICIENCY)]
    figures.append(_figure(charts.memory(result), words.MEMORY))
    yield _Section("workers", "Workers", "Workers and memory", [element("div", figures, class_="two")])
    compared = charts.predictions(result)
    if compared is not None:
        chart, said, names = compared
        figure = _figure(chart, f"{said} {words.MODEL}", _legend(names))
        yield _Section("model", "Model", "The model against measurement", [figure])
    settings = [parts.metadata(result), *parts.asked(result)]
    yield _Section("settings", "Settings", "Metadata and settings", settings)
    yield _Section("reading", "Reading", "How to read this page", [_reading()])


def _figure(drawing: Markup, *below: str) -> Markup:
    said = [one if isinstance(one, Markup) else _soft(one) for one in below]
    return element("figure", element("div", drawing, class_="scroll"), said)


def _soft(said: str) -> Markup:
    return element("p", said, class_="soft prose")


def _legend(names: Sequence[str]) -> Markup:
    swatches = [
        element("i", class_="swatch", style=f"background:{charts.colour(i)}") for i in range(len(names))
    ]
    pairs = zip(swatches, names, strict=True)
    return element("p", [element("span", swatch, name) for swatch, name in pairs], class_="legend")


def _ramp() -> Markup:
    """What the colours of the Pareto chart mean."""
    return element("p", "writes slowly", element("i", class_="ramp"), "writes fast", class_="legend")


def _shapes_key(result: TuneResult) -> Markup:
    names = {"a chunk, decoded at once": "chunk"}
    if any(row.layout.shards for row in result.rows[:2]):
        names |= {"a shard, stored as one object": "shard"}
    if queries_of(result):
        names |= {"the chunks that a query touches": "touched", "what the query asks for": "asked"}
    swatches = [element("span", element("i", class_=f"swatch {look}"), name) for name, look in names.items()]
    return element("div", element("p", swatches, class_="legend"), _soft(words.SHAPES))


def _reading() -> Markup:
    entries = [[element("dt", name), element("dd", said)] for name, said in words.READING.items()]
    return element("dl", entries, class_="prose reading")
