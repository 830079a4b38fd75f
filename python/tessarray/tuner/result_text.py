"""A result in words: what rows are called, figures with their intervals, metadata in short, commands."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

import numpy as np

from tessarray.display.markup import printable
from tessarray.display.units import byte_text, count_text, digits, unit_of
from tessarray.tuner.errors import TuneError
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass, parse_queries
from tessarray.tuner.result import Estimate, Row, TuneResult

__all__ = [
    "asked_text",
    "commands",
    "estimate_parts",
    "estimate_text",
    "item_size",
    "metadata_lines",
    "queries_of",
    "query_names",
    "source_text",
    "titles",
    "type_name",
]


def estimate_parts(kind: str, one: Estimate) -> tuple[str, str]:
    """`5.30 ms` and `4.88–5.72`, its interval in the same unit, or nothing; a prediction begins with `~`."""
    factor, name = unit_of(kind, one.value)
    text = f"{'' if one.measured else '~'}{digits(one.value / factor)} {name}"
    return text, "" if one.low == one.high else f"{digits(one.low / factor)}–{digits(one.high / factor)}"


def estimate_text(kind: str, one: Estimate) -> str:
    """`5.30 ms (4.88–5.72)`."""
    text, interval = estimate_parts(kind, one)
    return f"{text} ({interval})" if interval else text


def asked_text(row: Row, name: str) -> str | None:
    """What one selection of a class asks the store for: `3 req, 400 kB`; None if it is not known."""
    if name not in row.requests or name not in row.fetched:
        return None
    return f"{count_text(row.requests[name])} req, {byte_text(row.fetched[name])}"


def source_text(result: TuneResult) -> str:
    """What was tuned."""
    return printable(f"{result.source}:{result.variable}" if result.variable else result.source)


def titles(rows: Sequence[Row]) -> list[str]:
    """What to call rows: their labels, numbered if a label comes more than once."""
    labels = [row.label for row in rows]
    seen: dict[str, int] = {}
    found = []
    for label in labels:
        seen[label] = seen.get(label, 0) + 1
        found.append(f"{label} {seen[label]}" if labels.count(label) > 1 else label)
    return found


def query_names(result: TuneResult) -> list[str]:
    """The names of the query classes, in the order of the proposal; those that only other rows have follow."""
    return list(dict.fromkeys(name for row in result.rows for name in row.queries))


def type_name(result: TuneResult) -> str:
    """The data type as people write it: `float32`, not `<f4`."""
    try:
        return np.dtype(result.dtype).name
    except TypeError:
        return result.dtype


def item_size(result: TuneResult) -> int:
    """Bytes of an element; of types that NumPy does not know by name, 2 for bfloat16 and 1 for small ones."""
    try:
        return np.dtype(result.dtype).itemsize
    except TypeError:
        return 1 if result.dtype.startswith(("int", "uint", "float")) else 2


def queries_of(result: TuneResult) -> tuple[QueryClass, ...]:
    """The query classes that were asked for; none if they were recorded, or are not in the result."""
    given: Any = result.request.get("queries") or result.request.get("access")
    if not given:
        return ()
    try:
        return parse_queries(given, result.shape, result.dims)
    except TuneError:
        return ()


def commands(result: TuneResult, file: str = "layout.json") -> dict[str, str]:
    """The commands that write the data in the proposed layout, and that measure a saved result again."""
    source = "SRC" if result.source.startswith("<") else shlex.quote(result.source)
    return {
        "Write the data in this layout": f"tessarray convert {source} DST --layout {file}",
        "Measure again": f"tessarray tune rerun {file}",
    }


def metadata_lines(layout: Layout, result: TuneResult) -> list[str]:
    """The exact metadata, short: chunk grid, codecs."""
    document = layout.metadata(result.shape, result.dtype, dimension_names=result.dims)
    grid = document["chunk_grid"]["configuration"]["chunk_shape"]
    return [f"chunk_grid  regular {grid}", *_codec_lines(document["codecs"], "codecs      ")]


def _codec_lines(codecs: Sequence[dict[str, Any]], head: str) -> list[str]:
    lines = []
    for codec in codecs:
        settings = dict(codec.get("configuration", {}))
        inner = settings.pop("codecs", None)
        index = settings.pop("index_codecs", None)
        told = ", ".join(f"{name}={value}" for name, value in settings.items())
        lines.append(f"{head}{codec['name']}{f' ({told})' if told else ''}")
        head = " " * len(head)
        if inner is not None:
            lines += _codec_lines(inner, f"{head}  inner  ")
        if index is not None:
            lines += _codec_lines(index, f"{head}  index  ")
    return lines
