"""What every command prints with: one console for people, JSON for machines."""

from __future__ import annotations

import base64
import json
import math
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

WIDE = 1000


def console() -> Any:
    """A rich console on stdout. Where no terminal sets a width, tables are as wide as they need: grep finds all."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDE
    return Console(file=sys.stdout, highlight=False, soft_wrap=True, width=width)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Rows under their columns, as plain text; `None` is an empty cell."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False)
    for name in columns:
        table.add_column(name)
    for row in rows:
        table.add_row(*(Text("" if value is None else str(value)) for value in row))
    console().print(table)


def print_json(value: Any) -> None:
    """One JSON document on stdout; values that JSON has not (NaN, bytes, times) become text or null."""
    json.dump(jsonable(value), sys.stdout, ensure_ascii=False, allow_nan=False)
    sys.stdout.write("\n")


def jsonable(value: Any) -> Any:
    """A value as strict JSON can hold it: non-finite numbers as "NaN", "Infinity", "-Infinity", complex as a pair."""
    if hasattr(value, "tolist"):
        kind = getattr(getattr(value, "dtype", None), "kind", "")
        return jsonable(value.astype(str).tolist() if kind in "mM" else value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, complex):
        return [jsonable(value.real), jsonable(value.imag)]
    if isinstance(value, bytes):
        try:
            return value.decode("utf-8")
        except UnicodeDecodeError:
            return base64.standard_b64encode(value).decode()
    if isinstance(value, dict):
        return {str(key): jsonable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [jsonable(item) for item in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)
