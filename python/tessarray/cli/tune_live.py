"""The live view of a search: what it is at, the budget, and the best layout so far. On stderr, terminals only."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tessarray.display.units import time_text

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from tessarray.tuner.events import Event, Listener

PLAIN_EVERY = 10.0  # seconds between lines if there is no terminal


@contextmanager
def live(shown: bool) -> Iterator[Listener | None]:
    """A listener that draws; without a terminal, one that says a line now and then."""
    from rich.console import Console
    from rich.live import Live

    err = Console(stderr=True, highlight=False)
    if not shown:
        yield None
        return
    if not err.is_terminal:
        yield _Lines(err)
        return
    view = Live(console=err, refresh_per_second=8, transient=True)
    with view:
        yield lambda event: view.update(picture(event))


class _Lines:
    """Says each stage as it begins."""

    def __init__(self, console: Console) -> None:
        self.console, self.stage, self.said = console, "", 0.0

    def __call__(self, event: Event) -> None:
        if event.stage != self.stage or event.spent - self.said > PLAIN_EVERY:
            self.stage, self.said = event.stage, event.spent
            best = f"; best so far {event.best}" if event.best else ""
            self.console.print(
                f"{event.spent:5.1f} s of {event.budget:g}  {event.stage}: {event.text}{best}", markup=False
            )


def picture(event: Event) -> RenderableType:
    """One frame: a bar of the budget, the stages, and the best."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table
    from rich.text import Text

    from tessarray.tuner.events import STAGES

    stages = Text()
    at = STAGES.index(event.stage) if event.stage in STAGES else 0
    for number, name in enumerate(STAGES):
        style = "dim" if number > at else "bold" if number == at else "green"
        stages.append(f"{name}  ", style=style)
    head = Table.grid(padding=(0, 2))
    head.add_row(
        Text(f"{event.spent:.0f} s of {event.budget:g}"),
        ProgressBar(total=event.budget, completed=min(event.spent, event.budget), width=40),
    )
    best = Text("nothing measured yet", style="dim")
    if event.best is not None:
        took = "" if event.seconds is None else f"  {time_text(event.seconds)} an access"
        best = Text.assemble(("best so far  ", "dim"), (event.best, "bold"), took)
    return Group(head, stages, Text(event.text, style="dim", no_wrap=True, overflow="ellipsis"), best)
