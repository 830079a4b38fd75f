"""One self-contained HTML page of a result: the proposal, every layout, charts, metadata, and how to read it all.

    write(result, "report.html")

Charts are drawn by the page's script (`tessarray.display`); their figures stand in tables too.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path

from tessarray.display import page
from tessarray.display.markup import Markup, element, printable
from tessarray.display.units import NONE, byte_text, count_text, digits, extents_text, rate_text, time_text
from tessarray.tuner import report_charts as charts
from tessarray.tuner.expected import expected_chunks
from tessarray.tuner.result import Estimate, Row, TuneResult
from tessarray.tuner.result_text import (
    asked_text,
    commands,
    estimate_parts,
    estimate_text,
    item_size,
    queries_of,
    query_names,
    source_text,
    titles,
    type_name,
)

__all__ = ["build", "write"]

TABLE = (
    "Bold: the best of a column. Below a time: its interval, then the requests and bytes of one selection."
)
READING = {
    "A figure": "With its 95 % interval. A ~ marks what the model predicted and nobody measured. 1 kB is 1000 bytes.",
    "An access": "One selection of a query class, classes drawn as often as their weights say: the weighted mean of "
    "their times.",
    "Requests and bytes": "What one selection asks of the store, and what it gets. Bytes beyond the values asked for "
    "are the price of whole chunks.",
    "Nothing beats it": "No other layout here is at least as good in reading, writing and size, and better in one.",
    "Writes": "Bytes of values per second: encoding and storing whole objects.",
    "Defaults": "The automatic chunk shapes of zarr-python, h5py and netCDF-C with the codec that each uses, "
    "stored as Zarr and read by Tessarray: what is compared is the layout, not the library.",
}


def write(result: TuneResult, path: str | os.PathLike[str]) -> Path:
    """Write the page, in place of one that is there; it is whole or not there."""
    return page.write(path, build(result))


def build(result: TuneResult) -> str:
    """The page as text."""
    sections = list(_sections(result))
    links = [element("a", name, href=f"#{key}") for key, name, _, _ in sections]
    body = [
        element(
            "section", element("h2", head, id=f"{key}-title"), content, id=key, aria_labelledby=f"{key}-title",
            tabindex="-1",
        )
        for key, _, head, content in sections
    ]  # fmt: skip
    return page.build(
        title=f"Layout for {source_text(result)}",
        subtitle=_subtitle(result),
        nav=Markup("".join(links)),
        body=Markup("".join(body)),
        skip=("proposal", "Skip to the proposal"),
        style=(resources.files("tessarray.tuner") / "report.css").read_text(encoding="utf-8"),
        charts=True,
    )


def _sections(result: TuneResult) -> Iterator[tuple[str, str, str, list[Markup]]]:
    """What there is to show: key, name of the link, heading, content."""
    told = [
        element("div", element("p", head, class_="soft"), _command(text))
        for head, text in commands(result).items()
    ]
    yield "proposal", "Proposal", "Proposal", [_card(result), element("div", told, class_="two")]
    yield "layouts", "Layouts", "Layouts", [_scrolled("Layouts", _layouts(result)), _soft(TABLE)]
    yield "pareto", "Pareto", "Time against size", [charts.pareto(result)]
    if touched := list(_touched(result)):
        heads = ("Query", "Layout", "Chunks touched", "Requests", "Fetched", "Values asked for")
        yield "shapes", "Shapes", "Chunks and queries", [_scrolled("Shapes", _table(heads, touched, 2))]
    if result.codecs:
        rows = [
            (one.codec, f"{digits(one.ratio)}×", rate_text(one.encode), rate_text(one.decode))
            for one in sorted(result.codecs, key=lambda one: -one.ratio)
        ]
        figures = _folded("Figures", _table(("Codec", "Ratio", "Encodes", "Decodes"), rows))
        yield "codecs", "Codecs", "Codecs: ratio against speed", [charts.codecs(result), figures]
    drawn, table = [charts.memory(result)], []
    if result.scaling:
        drawn.insert(0, charts.efficiency(result))
        counts = [
            (f"{one.workers}", time_text(one.seconds), f"{digits(one.speedup)}×", f"{one.efficiency:.0%}")
            for one in result.scaling
        ]
        table = [_folded("Figures", _table(("Workers", "An access", "Speed-up", "Efficiency"), counts))]
    yield "workers", "Workers", "Workers and memory", [element("div", drawn, class_="two"), *table]
    if (compared := charts.predictions(result)) is not None:
        yield "model", "Model", "The model against measurement", [compared]
    yield "settings", "Settings", "Metadata and settings", _settings(result)
    entries = [[element("dt", name), element("dd", said)] for name, said in READING.items()]
    yield "reading", "Reading", "How to read this page", [element("dl", entries, class_="prose reading")]


def _subtitle(result: TuneResult) -> str:
    """The array, what was asked, and where it ran, in a line."""
    budget, store = result.request.get("budget"), result.request.get("store")
    machine = result.calibration.get("machine")
    parts = [
        f"{extents_text(result.shape)} {type_name(result)}",
        byte_text(_nbytes(result)),
        f"objective {result.objective}",
        f"budget {budget if isinstance(budget, str) else f'{budget} s'}" if budget else None,
        f"store {store}" if store else None,
        f"{result.searched} layouts searched in {time_text(result.seconds)}",
        f"{result.workers} worker{'s' if result.workers != 1 else ''}",
        machine if isinstance(machine, str) else None,
    ]
    return printable(" · ".join(part for part in parts if part))


def _nbytes(result: TuneResult) -> int:
    return math.prod(result.shape) * item_size(result)


def _card(result: TuneResult) -> Markup:
    """The proposal: its cuts and codec, its figures, and why it won."""
    best, layout = result.best, result.best.layout
    facts: dict[str, str | None] = {
        "Chunks, what is read at once": extents_text(layout.chunks),
        "Shards, what is stored at once": extents_text(layout.shards) if layout.shards else None,
        "Codec": layout.codec + (", checksums" if layout.checksum else ", no checksums"),
        "Lossy filters": ", ".join(layout.filters) or None,
        "An access": estimate_text("seconds", best.read),
        "Writes": estimate_text("rate", best.write),
        "Size": f"{byte_text(best.stored)} of {byte_text(_nbytes(result))} of values",
        "Objects": count_text(best.files),
        "Memory above input or output": byte_text(best.memory),
        "Workers": count_text(result.workers),
    }
    pairs = [[element("dt", name), element("dd", said)] for name, said in facts.items() if said is not None]
    lists = [
        [element("h3", head), element("ul", [element("li", printable(line)) for line in lines])]
        for head, lines in (("Why", result.why), ("Notes", result.notes))
        if lines
    ]
    warned = element("p", "The run was interrupted: this is the best so far.", class_="warned")
    return element(
        "div",
        warned if result.interrupted else "",
        element("p", layout.text(), class_="proposal"),
        element("div", element("dl", pairs, class_="facts"), element("div", lists), class_="two"),
        class_="card",
    )


def _layouts(result: TuneResult) -> Markup:
    """Every row with everything that is known of it; the smallest time of each class and the smallest size are bold."""
    names = query_names(result)
    heads = ["", "Layout", "An access", *map(printable, names), "Writes", "Size", "Files", "Memory"]
    front, smallest = result.front, min(row.stored for row in result.rows)
    fastest = min(result.rows, key=lambda row: row.read.value)
    quickest = max(result.rows, key=lambda row: row.write.value)
    best_of = {
        name: min(
            (row for row in result.rows if name in row.queries), key=lambda row: row.queries[name].value
        )
        for name in names
    }
    body = []
    for label, row in zip(titles(result.rows), result.rows, strict=True):
        said = ["nothing beats it"] if any(row is one for one in front) else []
        said += [] if row.read.measured else ["predicted"]
        cells = [
            element("th", label, element("span", ", ".join(said), class_="range"), scope="row"),
            element("td", row.layout.text(), class_="layout"),
            _estimate("seconds", row.read, row is fastest),
            *(
                _estimate("seconds", row.queries.get(name), row is best_of[name], asked_text(row, name))
                for name in names
            ),
            _estimate("rate", row.write, row is quickest),
            _figure(byte_text(row.stored), row.stored == smallest),
            _figure(count_text(row.files)),
            _figure(byte_text(row.memory)),
        ]
        body.append(element("tr", cells, class_="chosen" if row.label == "proposal" else None))
    return element("table", _head(heads, 2), element("tbody", body), class_="results")


def _estimate(kind: str, one: Estimate | None, best: bool = False, below: str | None = None) -> Markup:
    if one is None:
        return _figure(NONE)
    text, interval = estimate_parts(kind, one)
    return _figure(text, best, *(part for part in (interval, below) if part))


def _figure(said: str, best: bool = False, *below: str) -> Markup:
    head = element("span", said, class_="figure best" if best else "figure")
    return element("td", head, [element("span", part, class_="range") for part in below], class_="num")


def _touched(result: TuneResult) -> Iterator[tuple[str, ...]]:
    """What each query class touches, in the proposal and in what there is now (or the first default) beside it."""
    rows: list[Row] = [result.best, *(row for row in result.rows[1:] if row.label != "candidate")][:2]
    for one in queries_of(result):
        for row in rows:
            asked = math.prod(one.extents) * item_size(result)
            yield (
                f"{one.name} {one.text}",
                f"{row.label}: {row.layout.text()}",
                count_text(expected_chunks(one.extents, result.shape, row.layout.chunks)),
                count_text(row.requests.get(one.name, math.nan)),
                byte_text(row.fetched.get(one.name, math.nan)),
                byte_text(asked),
            )


def _settings(result: TuneResult) -> list[Markup]:
    """The exact Zarr metadata, what was asked, and what the machine and the store were measured to be, folded."""
    documents: dict[str, Mapping[str, object]] = {
        "zarr.json of the proposal": result.best.layout.metadata(
            result.shape, result.dtype, dimension_names=result.dims
        ),
        "What was asked": result.request,
        "Calibration of the store and the machine": result.calibration,
    }
    return [
        _folded(head, element("pre", json.dumps(dict(one), indent=2, ensure_ascii=False, default=str)))
        for head, one in documents.items()
        if one
    ]


def _folded(head: str, content: Markup) -> Markup:
    return element("details", element("summary", head), content)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]], left: int = 1) -> Markup:
    body = [
        element(
            "tr", [element("td", cell, class_="num" if i >= left else None) for i, cell in enumerate(row)]
        )
        for row in rows
    ]
    return element("table", _head(heads, left), element("tbody", body), class_="list")


def _head(heads: Sequence[str], left: int) -> Markup:
    cells = [
        element("th", name, class_="num" if i >= left else None, scope="col") for i, name in enumerate(heads)
    ]
    return element("thead", element("tr", cells))


def _scrolled(label: str, table: Markup) -> Markup:
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)


def _command(text: str) -> Markup:
    return element("div", element("code", text), class_="command")


def _soft(said: str) -> Markup:
    return element("p", said, class_="soft prose")
