"""The parts of the page that are words and tables: what was asked, the proposal, every layout, metadata, commands."""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence

from tessarray.tuner.report.svg import Markup, element
from tessarray.tuner.result import Estimate, Row, TuneResult
from tessarray.tuner.wording import (
    byte_text,
    count_text,
    currency_of,
    digits,
    item_size,
    money_text,
    printable,
    query_names,
    rate_text,
    rerun_command,
    seconds_text,
    sizes,
    titles,
    type_name,
    unit_of,
)

__all__ = ["asked", "card", "commands", "metadata", "subtitle", "table", "title"]


def title(result: TuneResult) -> str:
    """What was tuned."""
    return printable(f"{result.source}:{result.variable}" if result.variable else result.source)


def subtitle(result: TuneResult) -> str:
    """The array, what was asked, and where it ran, in a line."""
    budget, store = result.request.get("budget"), result.request.get("store")
    parts = [
        f"{sizes(result.shape)} {type_name(result)}",
        byte_text(_nbytes(result)),
        f"objective {result.objective}",
        f"budget {budget if isinstance(budget, str) else f'{budget} s'}" if budget else None,
        f"store {store}" if store else None,
        f"{result.searched} layouts searched in {seconds_text(result.seconds)}",
        f"{result.workers} worker{'s' if result.workers != 1 else ''}",
        *_machine(result),
    ]
    return printable(" · ".join(part for part in parts if part))


def _machine(result: TuneResult) -> list[str]:
    """What the calibration says of the machine, as a text or as a mapping of texts and numbers."""
    found = [result.calibration.get(key) for key in ("processor", "machine", "system")]
    flat = [value for one in found for value in (one.values() if isinstance(one, Mapping) else [one])]
    return [str(value) for value in flat if isinstance(value, str | int)]


def _nbytes(result: TuneResult) -> int:
    return math.prod(result.shape) * item_size(result)


def card(result: TuneResult) -> Markup:
    """The proposal: its cuts and codec, its figures, and why it won."""
    best, layout = result.best, result.best.layout
    facts: dict[str, str] = {"Chunks, what is read at once": sizes(layout.chunks)}
    if layout.shards:
        facts["Shards, what is stored at once"] = sizes(layout.shards)
    facts["Codec"] = layout.codec + (", checksums" if layout.checksum else ", no checksums")
    if layout.filters:
        facts["Lossy filters"] = ", ".join(layout.filters)
    facts |= {
        "An access": _said("seconds", best.read),
        "Writes": _said("rate", best.write),
        "Size": f"{byte_text(best.stored)} of {byte_text(_nbytes(result))} of values",
        "Objects": count_text(best.files),
        "Memory above input or output": byte_text(best.memory),
        "Workers": count_text(result.workers),
    }
    if best.money is not None:
        facts["A month"] = money_text(best.money, currency_of(result))
    parts: list[Markup] = []
    if result.interrupted:
        parts.append(element("p", "The run was interrupted: this is the best so far.", class_="warned"))
    parts.append(element("p", layout.text(), class_="proposal"))
    why = element("ul", [element("li", printable(line)) for line in result.why]) if result.why else Markup("")
    notes = (
        element("ul", [element("li", printable(line)) for line in result.notes])
        if result.notes
        else Markup("")
    )
    left = element("div", definitions(facts))
    right = element(
        "div",
        [element("h3", "Why"), why] if result.why else [],
        [element("h3", "Notes"), notes] if result.notes else [],
    )
    parts.append(element("div", left, right, class_="two"))
    return element("div", parts, class_="card")


def definitions(facts: Mapping[str, str]) -> Markup:
    """Names and what they are."""
    return element(
        "dl", [[element("dt", name), element("dd", value)] for name, value in facts.items()], class_="facts"
    )


def _said(kind: str, one: Estimate) -> str:
    factor, unit = unit_of(kind, one.value)
    text = f"{'' if one.measured else '~'}{digits(one.value / factor)} {unit}"
    return text if one.low == one.high else f"{text} ({digits(one.low / factor)}–{digits(one.high / factor)})"


def table(result: TuneResult) -> Markup:
    """Every row with everything that is known of it; the smallest time of each class and the smallest size are bold."""
    names, currency = query_names(result), currency_of(result)
    priced = any(row.money is not None for row in result.rows)
    heads = ["", "Layout", "An access", *map(printable, names), "Writes", "Size", "Files", "Memory"]
    heads += ["A month"] if priced else []
    head = element(
        "tr",
        [element("th", name, class_="num" if i > 1 else None, scope="col") for i, name in enumerate(heads)],
    )
    front = result.front
    body = []
    for label, row in zip(titles(result.rows), result.rows, strict=True):
        on_front = any(row is one for one in front)
        first = element(
            "th",
            label,
            element("br"),
            element("span", _kind(row, on_front), class_="soft small"),
            scope="row",
        )
        cells = [element("td", row.layout.text(), class_="layout")]
        cells.append(_estimate("seconds", row.read, row is _least(result.rows, "read")))
        for name in names:
            low = _least([one for one in result.rows if name in one.queries], name)
            cells.append(_estimate("seconds", row.queries.get(name), row is low, _asked(row, name)))
        cells.append(_estimate("rate", row.write, row is max(result.rows, key=lambda one: one.write.value)))
        cells += [_figure(byte_text(row.stored), row.stored == min(one.stored for one in result.rows))]
        cells += [_figure(count_text(row.files)), _figure(byte_text(row.memory))]
        cells += [_figure(money_text(row.money, currency))] if priced else []
        body.append(element("tr", first, cells, class_="chosen" if row.label == "proposal" else None))
    return element("table", element("thead", head), element("tbody", body), class_="results")


def _kind(row: Row, on_front: bool) -> str:
    said = ["nothing beats it"] if on_front else []
    return ", ".join(said if row.read.measured else [*said, "predicted"])


def _least(rows: Sequence[Row], what: str) -> Row | None:
    """The fastest row of an access, or of a class."""
    return min(rows, key=lambda row: (row.read if what == "read" else row.queries[what]).value, default=None)


def _asked(row: Row, name: str) -> str | None:
    if name not in row.requests or name not in row.fetched:
        return None
    return f"{count_text(row.requests[name])} req, {byte_text(row.fetched[name])}"


def _estimate(kind: str, one: Estimate | None, best: bool = False, below: str | None = None) -> Markup:
    if one is None:
        return _figure("–")
    factor, unit = unit_of(kind, one.value)
    head = f"{'' if one.measured else '~'}{digits(one.value / factor)} {unit}"
    parts = [element("span", head, class_="figure best" if best else "figure")]
    if one.low != one.high:
        parts.append(
            element("span", f"{digits(one.low / factor)}–{digits(one.high / factor)}", class_="range")
        )
    if below:
        parts.append(element("span", below, class_="range"))
    return element("td", parts, class_="num")


def _figure(said: str, best: bool = False) -> Markup:
    return element("td", element("span", said, class_="figure best" if best else "figure"), class_="num")


def metadata(result: TuneResult) -> Markup:
    """The exact Zarr metadata of the proposal, folded."""
    document = result.best.layout.metadata(result.shape, result.dtype, dimension_names=result.dims)
    return _folded("zarr.json of the proposal", json.dumps(document, indent=2, ensure_ascii=False))


def asked(result: TuneResult) -> list[Markup]:
    """What was asked and what the machine and the store were measured to be, folded."""
    parts = [
        _folded("What was asked", json.dumps(dict(result.request), indent=2, ensure_ascii=False, default=str))
    ]
    if result.calibration:
        text = json.dumps(dict(result.calibration), indent=2, ensure_ascii=False, default=str)
        parts.append(_folded("Calibration of the store and the machine", text))
    return parts


def _folded(head: str, text: str) -> Markup:
    return element("details", element("summary", head), element("pre", text))


def commands(result: TuneResult) -> list[Markup]:
    """To write the data in the proposed layout, and to measure again."""
    source = "SRC" if result.source.startswith("<") else shlex.quote(result.source)
    given = {
        "Write the data in this layout": f"tessarray convert {source} DST --layout layout.json",
        "Measure again": rerun_command(),
    }
    return [
        element(
            "div",
            element("p", head, class_="soft"),
            element("div", element("code", command), class_="command"),
        )
        for head, command in given.items()
    ]


def codec_table(result: TuneResult) -> Markup:
    """The figures of the codec chart."""
    heads = ("Codec", "Ratio", "Encodes", "Decodes")
    head = element("tr", [element("th", name, class_="num" if i else None) for i, name in enumerate(heads)])
    ordered = sorted(result.codecs, key=lambda one: -one.ratio)
    body = [
        element(
            "tr",
            element("th", one.codec, scope="row"),
            [
                element("td", said, class_="num")
                for said in (f"{digits(one.ratio)}×", rate_text(one.encode), rate_text(one.decode))
            ],
        )
        for one in ordered
    ]
    return element("table", element("thead", head), element("tbody", body), class_="list")
