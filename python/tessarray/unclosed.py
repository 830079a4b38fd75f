"""Writers that hold data which are not stored: none of them is dropped in silence."""

from __future__ import annotations

import atexit
import os
import warnings
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["Unclosed"]

_open: weakref.WeakSet[Unclosed] = weakref.WeakSet()


class Unclosed:
    """What has to be closed, and is when it is collected or the interpreter ends, with a `ResourceWarning`."""

    _closed = True
    _process = 0
    # Whether a wait for another writer was ended by Ctrl-C: nobody is made to wait for the same once more.
    _interrupted = False

    def close(self) -> None:
        """Store everything; sets `_closed` where that was done."""
        raise NotImplementedError

    def _watch(self) -> None:
        """To be called once there is something to close."""
        self._closed, self._process = False, os.getpid()
        _open.add(self)

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Around a call that may wait for another writer."""
        try:
            yield
            self._interrupted = False
        except KeyboardInterrupt:
            self._interrupted = True
            raise

    def _close_late(self, when: str) -> None:
        # What a forked child has is the parent's.
        if self._closed or self._process != os.getpid():
            return
        if self._interrupted:
            self._give_up()
            return
        warnings.warn(
            f"{self!r} was not closed: {when}; close it, or use `with`",
            ResourceWarning,
            stacklevel=3,
            source=self,
        )
        self.close()

    def _give_up(self) -> None:
        """Take no more, store no more, and say so: for who was interrupted while it waited for another writer."""
        self._closed = True
        message = f"{self!r}: storing was interrupted; what is pending is lost"
        warnings.warn(message, ResourceWarning, stacklevel=4, source=self)

    def __del__(self) -> None:
        self._close_late("its data are stored as it is collected")


@atexit.register
def _close_all() -> None:
    for writer in list(_open):
        writer._close_late("its data are stored as the interpreter ends")
