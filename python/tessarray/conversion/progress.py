"""Progress on the terminal: a bar with rate and remaining time, for whoever wants one."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from tessarray.conversion.model import Progress

Listener = Callable[[Progress], Any]


class Reporter:
    """Adds up what threads report and passes it on, one call at a time."""

    def __init__(self, listener: Listener | None) -> None:
        self._listener = listener
        self._lock = threading.Lock()
        self._state = Progress("copy", 0, 0, "")

    def start(self, phase: str, total: int, done: int = 0) -> None:
        """Begin a phase of `total` bytes of which `done` are there."""
        with self._lock:
            self._tell(Progress(phase, done, total, ""))

    def advance(self, nbytes: int, array: str) -> None:
        """Report finished bytes of an array."""
        with self._lock:
            state = self._state
            self._tell(Progress(state.phase, state.done + nbytes, state.total, array))

    def remaining(self) -> int:
        """Bytes of the phase that are not done."""
        return self._state.total - self._state.done

    def _tell(self, state: Progress) -> None:
        self._state = state
        if self._listener is not None:
            self._listener(state)


class Bar:
    """A rich progress bar on stderr; a listener."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )
        from rich.progress import Progress as RichProgress

        self._bar = RichProgress(
            TextColumn("[bold]{task.description:<7}"),
            BarColumn(bar_width=None),
            DownloadColumn(binary_units=True),
            TransferSpeedColumn(),
            TimeRemainingColumn(),
            TextColumn("[dim]{task.fields[array]}"),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._tasks: dict[str, Any] = {}

    def __enter__(self) -> Bar:
        self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.stop()

    def __call__(self, state: Progress) -> None:
        """Move the bar of this phase, which begins with its first call."""
        if state.phase not in self._tasks:
            self._tasks[state.phase] = self._bar.add_task(state.phase, total=state.total, array="")
        self._bar.update(self._tasks[state.phase], completed=state.done, total=state.total, array=state.array)
