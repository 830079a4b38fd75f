"""Recording of accesses: which selections a program reads and writes, as a log that `tessarray tune --log` understands.

`with tessarray.record("log.jsonl"): ...` records what happens inside, in every thread, on arrays of any store and in
bulk reads of collections. The environment variable `TESSARRAY_RECORD=log.jsonl` records a whole run, with the
processes it starts. While nothing is recorded, a read costs no measurable time more.

A log has one JSON object a line; `docs/explain.md` says what is in it.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path
from types import TracebackType
from typing import Self

from tessarray._native import AccessLog
from tessarray.errors import InvalidArgumentError

__all__ = ["VARIABLE", "Recording", "record"]

VARIABLE = "TESSARRAY_RECORD"


class Recording:
    """A log of accesses. Made by `record`; its counts are of this process, and stay readable afterwards."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = Path(path)
        self._log: AccessLog | None = None
        self._depth = 0
        self._before = (0, 0)
        self._after: tuple[int, int] = (0, 0)

    @property
    def path(self) -> Path:
        """The file, as it was given."""
        return self._path

    @property
    def active(self) -> bool:
        """Whether it records now."""
        return self._log is not None

    @property
    def lines(self) -> int:
        """Accesses that were appended since it began."""
        return self._counts()[0] - self._before[0]

    @property
    def lost(self) -> int:
        """Accesses that could not be written, as where the disk was full."""
        return self._counts()[1] - self._before[1]

    def _counts(self) -> tuple[int, int]:
        return (self._log.lines, self._log.lost) if self._log is not None else self._after

    def start(self) -> Self:
        """Begin to record, until `stop` was called as often. Raises what `record` raises."""
        if self._log is None:
            self._log = AccessLog(self._path)
            self._before = (self._log.lines, self._log.lost)
        self._depth += 1
        return self

    def stop(self) -> None:
        """Record no more; nothing where it does not record."""
        if self._log is None:
            return
        self._depth -= 1
        if self._depth == 0:
            self._after = self._counts()
            self._log.end()
            self._log = None

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<Recording {self._path}: {self.lines} lines{'' if self.active else ', stopped'}>"


def record(path: str | os.PathLike[str]) -> Recording:
    """Record the accesses to arrays inside a `with` block into a log, one JSON object a line.

    Reads, writes, appends and streams over chunks are recorded, of every thread, with the selection as a box, its
    elements, bytes and seconds; a bulk read of a collection is a line for each shape. The file is appended to, by any
    number of processes at once; a process that is forked inside the block goes on recording. Blocks nest: each has
    what happened in it, and a file that two blocks share has every access once.

    An access never fails for its record: what cannot be written is a `RuntimeWarning` once, and counted in `lost`. A
    recorded access takes about 4 microseconds longer. Entering the block raises `OSError` where the file cannot be
    opened, and `InvalidArgumentError` where it is something else than a log.

    >>> import tempfile, tessarray
    >>> a = tessarray.create_array({}, shape=(100, 50), dtype="float32")
    >>> with tessarray.record(tempfile.mkdtemp() + "/log.jsonl") as log:
    ...     first, column = a[0], a[:, 7]
    >>> log.lines
    2
    """
    if not isinstance(path, str | os.PathLike):
        raise InvalidArgumentError(f"record: expected the path of a file, found {type(path).__name__}")
    return Recording(path)


def record_as_asked() -> Recording | None:
    """Record for as long as the process lives where `TESSARRAY_RECORD` names a file; a file that cannot be used is
    a warning, so that it stops no program."""
    path = os.environ.get(VARIABLE)
    if not path:
        return None
    try:
        return Recording(path).start()
    except (OSError, InvalidArgumentError) as error:
        warnings.warn(f"{VARIABLE}: nothing is recorded: {error}", RuntimeWarning, stacklevel=3)
        return None
