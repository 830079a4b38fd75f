"""Appending frames in the background."""

from types import TracebackType
from typing import Self, final

import numpy.typing as npt

from tessarray._native._array import ArrayCore

@final
class ArrayAppender:
    """Gathers frames and appends them to an array in whole rows of chunks, in the background; see `Array.appender`.

    Safe to use from many threads. A context manager that closes it.
    """

    def __new__(cls, array: ArrayCore, axis: int, max_bytes: int) -> Self: ...
    def append(self, values: npt.ArrayLike) -> None:
        """Take a frame (without the axis), or several along it; the memory is yours again when this returns.

        Waits only where `max_bytes` are gathered and not yet stored. Raises what went wrong with frames that were taken
        before, where something did, and takes nothing then; the next call tries to store those again.
        """

    @property
    def taken(self) -> int:
        """Rows that were taken in all."""

    @property
    def pending(self) -> int:
        """Rows that were taken and are not stored yet."""

    def flush(self) -> None:
        """Store everything that was taken; readers see it when this returns. Where it fails, everything is kept.

        Chunks that are not full by then are written again later, with the frames that follow.
        """

    def close(self) -> None:
        """Flush, and take no more. May be called again, also after it failed."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
