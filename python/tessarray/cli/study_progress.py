"""What a study is at, on stderr: one line that changes on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tessarray.tuner.events import Event

__all__ = ["Progress"]

QUIET = 10.0  # seconds between lines if stderr is no terminal


class Progress:
    """A listener of `Event`s, and a context manager that clears up behind itself."""

    def __init__(self) -> None:
        self._status: Any = None
        self._last = time.monotonic()

    def __enter__(self) -> Progress:
        if sys.stderr.isatty():
            from rich.console import Console

            self._status = Console(stderr=True, highlight=False).status("")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()

    def __call__(self, event: Event) -> None:
        """Show an event of the study: a status line on a terminal, else a line now and then."""

        from rich.text import Text

        line = f"{event.stage}: {event.text} ({event.spent:.0f} of {event.budget:.0f} s)"
        if self._status is not None:
            self._status.update(Text(line))
        elif time.monotonic() - self._last >= QUIET:
            self._last = time.monotonic()
            print(f"tessarray: {line}", file=sys.stderr)
