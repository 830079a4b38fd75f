"""The streaming writer of arrays, as Python sees it."""

from __future__ import annotations

import threading
import weakref
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tessarray import _native
from tessarray.errors import InvalidArgumentError
from tessarray.unclosed import Unclosed
from tessarray.with_block import WithBlock

if TYPE_CHECKING:
    from tessarray.arrays import Array

__all__ = ["ArrayAppender"]


class ArrayAppender(Unclosed, WithBlock):
    """Gathers frames and appends them to an array in whole rows of chunks, in the background; see `Array.appender`.

    Safe to use from many threads. A context manager that closes it. One that is not closed is closed when it is
    collected or the interpreter ends, with a `ResourceWarning`; if the process is killed, what is pending is lost.

    `len` is the number of rows that were taken, `pending` how many of them are not stored yet.
    """

    def __init__(self, array: Array, axis: int, max_bytes: int, interval: float | None) -> None:
        self._core = _native.ArrayAppender(array, axis, max_bytes)
        self._name = f"{array.name} in {array.store.describe()}"
        self._axis = axis % array.ndim
        self._shape, self._dtype = array.shape, array.dtype
        self._failure: Exception | None = None
        self._ending = threading.Event()
        self._thread: threading.Thread | None = None
        self._watch()
        if interval is not None:
            arguments = (weakref.ref(self), self._ending, interval)
            self._thread = threading.Thread(
                target=_flush_at_intervals, args=arguments, name="tessarray-flush", daemon=True
            )
            self._thread.start()

    def append(self, values: npt.ArrayLike) -> None:
        """Take a frame (without the axis), or several along it; the memory is yours again when this returns.

        Waits only where `max_bytes` are gathered and not yet stored. Raises what went wrong with frames that were taken
        before, where something did, and takes nothing then; the next call tries to store those again. Masked elements
        of a masked array are stored as the array's fill value.
        """
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        try:
            with self._interruptible():
                self._core.append(values)
        except InvalidArgumentError:
            self._check(values)
            raise

    def _check(self, values: Any) -> None:
        found = np.shape(values)
        frame = self._shape[: self._axis] + self._shape[self._axis + 1 :]
        without = found if len(found) == len(frame) else found[: self._axis] + found[self._axis + 1 :]
        if without != frame or len(found) not in (len(frame), len(self._shape)):
            several = ", ".join("n" if at == self._axis else str(n) for at, n in enumerate(self._shape))
            raise InvalidArgumentError(
                f"append: a frame of {self._name} is {frame}, several are ({several}); found {found}",
                expected=str(frame),
                found=str(found),
            ) from None

    @property
    def pending(self) -> int:
        """Rows that were taken and are not stored yet."""
        return self._core.pending

    def __len__(self) -> int:
        return self._core.taken

    def __bool__(self) -> bool:
        return True

    def flush(self) -> None:
        """Store everything that was taken; readers see it when this returns. Where it fails, everything is kept.

        Chunks that are not full by then are written again later, with the frames that follow.
        """
        self._failure = None
        with self._interruptible():
            self._core.flush()

    def close(self) -> None:
        """Flush, and take no more. May be called again, also after it failed."""
        self._failure = None
        with self._interruptible():
            self._core.close()
        self._ending.set()
        self._closed = True

    def _end(self, failed: bool) -> None:
        # Frames that were taken are kept, whatever went wrong after them.
        if self._interrupted:
            self._give_up()
        else:
            self.close()

    def __repr__(self) -> str:
        state = "closed" if self._closed else f"{self.pending} pending"
        return f"<ArrayAppender of {self._name} axis={self._axis}: {len(self)} rows taken, {state}>"

    def __reduce__(self) -> tuple[Any, ...]:
        raise InvalidArgumentError("an appender cannot be pickled: it has frames that are not stored yet")


def _flush_at_intervals(
    appender: weakref.ref[ArrayAppender], ending: threading.Event, interval: float
) -> None:
    """The thread of `flush="1s"`; holds no reference between, so that one that is dropped is collected."""
    while not ending.wait(interval):
        found = appender()
        if found is None or found._closed:
            return
        try:
            if found._failure is None and found.pending:
                found._core.flush()
        except Exception as failure:
            # The next call says it; the rows are kept.
            found._failure = failure
        del found
