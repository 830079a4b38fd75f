"""A study on the terminal: its tables, then what they mean."""

from __future__ import annotations

import io
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from tessarray.display.markup import printable
from tessarray.display.units import NONE, UNITS, count_text, digits, extents_text, figure, time_text, unit_of
from tessarray.tuner.result import Estimate
from tessarray.tuner.studies.model import Cell, Column, Study, Table

__all__ = ["as_text", "cell_text", "render"]

WIDTH = 160
LEFT = ("text", "mark")
KEY = "ranges are 95 % intervals; ~ is predicted or counted, not measured; 1 kB is 1000 B"


def render(study: Study) -> RenderableType:
    """All of a study."""
    where = f"{study.source}:{study.variable}" if study.variable else study.source
    about = f"{printable(where)}  {extents_text(study.shape)} {study.dtype}, {time_text(study.seconds)}"
    head = Text.assemble((study.title, "bold"), f"\n{about}")
    parts: list[RenderableType] = [head]
    parts += [_table(table) for table in study.tables]
    parts += [
        _lines(name, lines)
        for name, lines in (("What it means", study.meaning), ("Notes", study.notes))
        if lines
    ]
    parts.append(Text(f"\n{KEY}", style="dim"))
    return Group(*parts)


def as_text(study: Study, width: int = WIDTH) -> str:
    """The same as plain text of at most `width` columns."""
    out = io.StringIO()
    Console(file=out, width=width, color_system=None, highlight=False).print(render(study))
    return "\n".join(line.rstrip() for line in out.getvalue().splitlines())


def _table(table: Table) -> RenderableType:
    found = RichTable(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for column in table.columns:
        heading: Any = Text(column.name)
        found.add_column(heading, justify="left" if column.kind in LEFT else "right", overflow="fold")
    shown = [table.rows[number] for number in table.brief] or table.rows
    for row in shown:
        cells = zip(row, table.columns, strict=True)
        found.add_row(*(Text(cell_text(cell, column)) for cell, column in cells))
    parts: list[RenderableType] = [Text(f"\n{table.title}", style="bold"), found]
    if len(shown) < len(table.rows):
        parts.append(Text(f"and {len(table.rows) - len(shown)} more rows, which --json has", style="dim"))
    return Group(*parts)


def _lines(head: str, lines: tuple[str, ...]) -> RenderableType:
    return Group(Text(f"\n{head}", style="bold"), *(Text(f"  {printable(line)}") for line in lines))


def cell_text(cell: Cell, column: Column) -> str:
    """A cell as people read it."""
    if cell is None:
        return NONE
    if isinstance(cell, str):
        return printable(cell)
    if column.kind == "mark":
        return "yes" if cell else ""
    if not isinstance(cell, Estimate):
        return _figure(float(cell), column.kind)
    text = ("" if cell.measured else "~") + _figure(cell.value, column.kind)
    if cell.low == cell.high or not cell.measured:
        return text
    factor = unit_of(column.kind, cell.value)[0] if column.kind in UNITS else 1.0
    return f"{text} ({digits(cell.low / factor)}–{digits(cell.high / factor)})"


def _figure(value: float, kind: str) -> str:
    if kind == "bits":
        return f"{value:.2f}"
    return count_text(value) if kind == "count" else figure(kind, value)
