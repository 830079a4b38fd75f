"""Figures in words, the same on the terminal, in charts and on the page: three digits, 1 kB is 1000 B."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tessarray.display.markup import printable
from tessarray.display.units import (
    byte_text,
    count_text,
    digits,
    rate_text,
    unit_of,
)
from tessarray.display.units import extents_text as sizes
from tessarray.display.units import time_text as seconds_text
from tessarray.tuner.errors import TuneError
from tessarray.tuner.layout import Layout
from tessarray.tuner.prices import parse_prices
from tessarray.tuner.queries import QueryClass, parse_queries
from tessarray.tuner.result import Estimate, Row, TuneResult

__all__ = [
    "byte_text",
    "count_text",
    "currency_of",
    "digits",
    "estimate_text",
    "item_size",
    "metadata_lines",
    "money_text",
    "printable",
    "queries_of",
    "query_names",
    "rate_text",
    "rerun_command",
    "seconds_text",
    "sizes",
    "titles",
    "type_name",
    "unit_of",
]

SYMBOLS = {"USD": "$", "EUR": "€", "GBP": "£"}


def estimate_text(kind: str, one: Estimate) -> str:
    """`5.30 ms (4.88–5.72)`; a figure of the model's begins with `~`."""
    unit = unit_of(kind, one.value)
    text = f"{'' if one.measured else '~'}{digits(one.value / unit[0])} {unit[1]}"
    if one.low == one.high:
        return text
    return f"{text} ({digits(one.low / unit[0])}–{digits(one.high / unit[0])})"


def money_text(value: float | None, currency: str) -> str:
    """Money a month: `$1.23`, `0.034 CHF`; a dash where the store has no prices."""
    if value is None:
        return "–"
    amount = f"{value:,.2f}" if value >= 0.995 or value == 0 else digits(value)
    symbol = SYMBOLS.get(currency)
    return f"{symbol}{amount}" if symbol else f"{amount} {currency}".strip()


def currency_of(result: TuneResult) -> str:
    """The currency of a result's money: that of the prices asked for."""
    given = result.request.get("prices")
    try:
        return parse_prices(given).currency if isinstance(given, str) else ""
    except TuneError:
        return ""


def titles(rows: Sequence[Row]) -> list[str]:
    """What to call rows: their labels, numbered where a label comes more than once."""
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
    """The query classes that were asked for; none where they were recorded, or are not in the result."""
    given: Any = result.request.get("queries") or result.request.get("access")
    if not given:
        return ()
    try:
        return parse_queries(given, result.shape, result.dims)
    except TuneError:
        return ()


def rerun_command(file: str = "layout.json") -> str:
    """The command that measures a saved result again."""
    return f"tessarray tune rerun {file}"


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
