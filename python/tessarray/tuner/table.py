"""A result on the terminal: what each layout takes, why the proposal won, its metadata, and what to do next.

Two tables, so that they fit a terminal: times of each query class, with the requests and bytes that one selection asks
the store for; then what a layout costs besides. Intervals are 95 %; a `~` marks what the model predicted and nobody
measured; `*` marks layouts that no other beats in reading, writing and size at once.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from typing import Any

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from tessarray.display.markup import printable
from tessarray.display.units import byte_text, count_text, extents_text, time_text
from tessarray.tuner.result import Estimate, Row, TuneResult
from tessarray.tuner.result_text import (
    asked_text,
    commands,
    estimate_parts,
    metadata_lines,
    query_names,
    source_text,
    titles,
    type_name,
)

__all__ = ["render", "show"]

MOST_CANDIDATES = 5
KEY = (
    "* nothing beats it in reading, writing and size at once; ~ by the model, not measured; ranges are 95 % intervals; "
    "1 kB is 1000 B"
)


def show(
    result: TuneResult, console: Console | None = None, *, saved: str | None = None, every: bool = False
) -> None:
    """Print a result. `saved` is the layout file it was written to, `every` shows all candidates."""
    if console is None:
        console = Console(highlight=False)
    console.print(render(result, saved=saved, every=every))


def render(result: TuneResult, *, saved: str | None = None, every: bool = False) -> RenderableType:
    """What `show` prints."""
    shown, left_out = _shown(result, every)
    parts: list[RenderableType | None] = [_heading(result), _times(result, shown), _costs(shown)]
    if left_out:
        parts.append(Text(f"and {left_out} more candidates, slower or larger than these", style="dim"))
    parts += [_lines("Why", result.why), _lines("Notes", result.notes)]
    parts += [_lines("Zarr metadata", metadata_lines(result.best.layout, result))]
    parts += [_lines("Next", _next(result, saved))]
    parts.append(Text(KEY, style="dim"))
    return Group(*(part for part in parts if part is not None))


def _shown(result: TuneResult, every: bool) -> tuple[list[tuple[str, Row]], int]:
    """The rows to show with their titles: all but candidates, and those of them that nothing beats."""
    named = list(zip(titles(result.rows), result.rows, strict=True))
    if every:
        return named, 0
    best = [row for row in result.front if row.label == "candidate"][:MOST_CANDIDATES]
    kept = [
        (title, row) for title, row in named if row.label != "candidate" or any(row is one for one in best)
    ]
    return kept, len(named) - len(kept)


def _heading(result: TuneResult) -> RenderableType:
    facts = [
        f"{extents_text(result.shape)} {type_name(result)}",
        f"objective {result.objective}",
        f"{result.searched} layouts searched in {time_text(result.seconds)}",
        f"{result.workers} worker{'s' if result.workers != 1 else ''}",
    ]
    found = Text.assemble((source_text(result), "bold"), "  ", (", ".join(facts), "dim"))
    if result.interrupted:
        found.append("\nInterrupted: this is the best so far.", style="yellow")
    return Padding(found, (0, 0, 1, 0))


def _times(result: TuneResult, rows: Sequence[tuple[str, Row]]) -> Table:
    """Seconds of an access and of each class; below a class what one selection asks the store for."""
    names = query_names(result)
    table = _table(["", "layout", "an access", *map(printable, names)], left=2)
    front = result.front
    for title, row in rows:
        mark = "*" if any(row is one for one in front) else ""
        table.add_row(
            Text(f"{title}{mark}", style=_style(row)),
            Text(row.layout.text(), style=_style(row)),
            _estimate("seconds", row.read, _style(row)),
            *(
                _estimate("seconds", row.queries.get(name), _style(row), asked_text(row, name))
                for name in names
            ),
        )
    return table


def _costs(rows: Sequence[tuple[str, Row]]) -> Table:
    table = _table(["", "writes", "size", "files", "memory"], left=1)
    for title, row in rows:
        cells = [byte_text(row.stored), count_text(row.files), byte_text(row.memory)]
        table.add_row(
            Text(title, style=_style(row)),
            _estimate("rate", row.write, _style(row)),
            *(Text(cell, style=_style(row)) for cell in cells),
        )
    return table


def _table(heads: Sequence[str], left: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1))
    for number, head in enumerate(heads):
        plain: Any = Text(head)
        table.add_column(plain, justify="left" if number < left else "right", overflow="fold")
    return table


def _style(row: Row) -> str:
    return "bold green" if row.label == "proposal" else ""


def _estimate(kind: str, one: Estimate | None, style: str, below: str | None = None) -> Text:
    """The figure, below it its interval, and what else is said."""
    if one is None:
        return Text("–")
    figure, interval = estimate_parts(kind, one)
    text = Text(figure, style=style)
    if interval:
        text.append(f"\n{interval}", style="not bold dim")
    if below:
        text.append(f"\n{below}", style="not bold dim")
    return text


def _lines(head: str, lines: Sequence[str]) -> RenderableType | None:
    if not lines:
        return None
    return Text.assemble((f"{head}\n", "bold"), "".join(f"  {printable(line)}\n" for line in lines))


def _next(result: TuneResult, saved: str | None) -> list[str]:
    if saved is None:
        return ["--out layout.json keeps this result: to write the data in this layout, and to measure again"]
    return list(commands(result, shlex.quote(saved)).values())
