"""A streaming writer for packs."""

from __future__ import annotations

import contextlib
import datetime
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tessarray.arrays import Array
from tessarray.durations import seconds
from tessarray.errors import InvalidArgumentError, UnknownOutcomeError, WrongNodeError
from tessarray.unclosed import Unclosed
from tessarray.with_block import WithBlock

if TYPE_CHECKING:
    from tessarray.packs import Pack
    from tessarray.transactions import Transaction

__all__ = ["Appender"]


class Appender(Unclosed, WithBlock):
    """Gathers small records and commits them together. Made by `Pack.appender`, for a `with` block.

    A record is a slab along the axis, or one element of it without the axis; of several arrays, a mapping from their
    names to one each. All arrays grow together, in one version; a reader sees whole records only, in order. What is
    gathered is lost if the process dies before it is committed: at the latest after the interval of `flush`.

    Where a commit fails, as on a full disk, its records are kept: `append` raises what went wrong and takes nothing,
    until a `flush` (of yours, or at the interval) succeeds. Where it cannot be found out whether it took place
    (`UnknownOutcomeError`), the appender ends: look, and go on with a new one.

    Safe to use from many threads. Other writers may append to the same arrays: their records come in between.

    >>> import numpy as np, tessarray
    >>> pack = tessarray.create_pack(tessarray.MemoryStore())
    >>> with pack.transaction("make") as tx:
    ...     a = tx.create_array("temp", shape=(0, 2), chunks=(100, 2), dtype="float64")
    >>> with pack.appender("temp", flush=1000) as writer:
    ...     for i in range(5):
    ...         writer.append([i, i])
    >>> pack["temp"].shape, pack.version
    ((5, 2), 2)
    """

    def __init__(
        self,
        pack: Pack,
        names: str | Sequence[str],
        axis: int,
        flush: str | float | datetime.timedelta | int,
        max_bytes: int,
        message: str,
    ) -> None:
        self._pack = pack
        self._single = isinstance(names, str)
        self._names = [names] if isinstance(names, str) else list(names)
        self._message = message
        self._max_bytes = max_bytes
        self._most_rows: int | None = None
        self._interval: float | None = None
        if isinstance(flush, int) and not isinstance(flush, bool):
            if flush < 1:
                raise InvalidArgumentError(f"flush: expected 1 row or more, found {flush}")
            self._most_rows = flush
        else:
            self._interval = seconds(flush, "flush")
        self._like: dict[str, tuple[tuple[int, ...], np.dtype[Any], int]] = {}
        self._fill: dict[str, Any] = {}
        for name in self._names:
            array = pack[name]
            if not isinstance(array, Array):
                raise WrongNodeError(f"{name!r} is a group, expected an array", path=name)
            if not -array.ndim <= axis < array.ndim:
                raise InvalidArgumentError(f"axis: {name!r} has {array.ndim} dimensions, found axis {axis}")
            self._like[name] = (array.shape, array.dtype, axis % array.ndim)
            self._fill[name] = array.fill_value
        self._lock = threading.Condition()
        # Held while a commit is under way, so that records keep their order.
        self._committing = threading.Lock()
        self._records: dict[str, list[np.ndarray[Any, Any]]] = {name: [] for name in self._names}
        self._rows = 0
        self._bytes = 0
        self._ended = False
        # Why the last commit failed; its records are among those gathered, unless it ended the appender.
        self._failure: BaseException | None = None
        self.version: int | None = None
        self._thread: threading.Thread | None = None
        self._watch()
        if self._interval is not None:
            self._thread = threading.Thread(target=self._run, name="tessarray-appender", daemon=True)
            self._thread.start()

    def append(self, values: npt.ArrayLike | Mapping[str, npt.ArrayLike]) -> None:
        """Take a record. Raises what went wrong with the last commit, if something did, and takes nothing then."""
        if self._single:
            given = {self._names[0]: values}
        elif isinstance(values, Mapping):
            given = dict(values)
        else:
            raise InvalidArgumentError(f"append: expected a mapping with {self._names}, found one array")
        if set(given) != set(self._names):
            raise InvalidArgumentError(f"append: expected values for {self._names}, found {sorted(given)}")
        record = {name: self._slab(name, value) for name, value in given.items()}
        rows = {record[name].shape[self._like[name][2]] for name in self._names}
        if len(rows) != 1:
            lengths = {name: record[name].shape[self._like[name][2]] for name in self._names}
            raise InvalidArgumentError(f"append: expected as many rows for each array, found {lengths}")
        with self._lock:
            if self._failure is not None:
                raise self._failure
            if self._ended:
                raise InvalidArgumentError("append: the appender is closed")
            for name, slab in record.items():
                self._records[name].append(slab)
                self._bytes += slab.nbytes
            self._rows += rows.pop()
            full = self._bytes >= self._max_bytes
            full = full or (self._most_rows is not None and self._rows >= self._most_rows)
        if full:
            # The record is taken, and stays gathered where this fails; the next call raises.
            with contextlib.suppress(Exception):
                self.flush()

    def _slab(self, name: str, values: Any) -> np.ndarray[Any, Any]:
        """A copy, with the axis."""
        shape, dtype, axis = self._like[name]
        if isinstance(values, np.ma.MaskedArray):
            values = values.filled(self._fill[name])
        slab = np.array(values, dtype=dtype)
        if slab.ndim == len(shape) - 1:
            slab = np.expand_dims(slab, axis)
        expected = shape[:axis] + shape[axis + 1 :]
        if slab.ndim != len(shape) or slab.shape[:axis] + slab.shape[axis + 1 :] != expected:
            wanted = ["n" if at == axis else str(length) for at, length in enumerate(shape)]
            raise InvalidArgumentError(
                f"append to {name!r}: expected shape ({', '.join(wanted)}) or one without axis {axis}, "
                f"found {np.shape(values)}"
            )
        return slab

    def flush(self) -> None:
        """Commit what is gathered; where that fails, it stays gathered."""
        with self._committing:
            with self._lock:
                if self._failure is not None and _ends(self._failure):
                    raise self._failure
                records, self._records = self._records, {name: [] for name in self._names}
                rows, self._rows = self._rows, 0
                nbytes, self._bytes = self._bytes, 0
            try:
                if rows:
                    self._commit(records)
            except BaseException as failure:
                with self._lock:
                    self._failure = failure
                    if not _ends(failure):
                        self._records = {name: records[name] + self._records[name] for name in self._names}
                        self._rows += rows
                        self._bytes += nbytes
                raise
            with self._lock:
                self._failure = None

    def _commit(self, records: dict[str, list[np.ndarray[Any, Any]]]) -> None:
        joined = {name: np.concatenate(slabs, axis=self._like[name][2]) for name, slabs in records.items()}

        def change(tx: Transaction) -> None:
            for name, values in joined.items():
                tx[name].append(values, axis=self._like[name][2])

        self.version = self._pack._retry(self._message, change)

    def _run(self) -> None:
        while True:
            with self._lock:
                self._lock.wait_for(lambda: self._ended, timeout=self._interval)
                if self._ended:
                    return
            # The next `append`, `flush` or `close` raises what went wrong.
            with contextlib.suppress(Exception):
                self.flush()
            if self._failure is not None and _ends(self._failure):
                return

    def close(self) -> None:
        """Commit what is gathered, and take no more. Where the commit fails, `close` or `flush` may be called again."""
        with self._lock:
            self._ended = True
            self._lock.notify_all()
        if self._thread is not None:
            self._thread.join()
        self.flush()
        self._closed = True

    def _end(self, failed: bool) -> None:
        # Records that were taken are kept, whatever went wrong after them.
        self.close()


def _ends(failure: BaseException) -> bool:
    """Whether it is not known what became of a commit that failed so: also of one that was interrupted."""
    return isinstance(failure, UnknownOutcomeError) or not isinstance(failure, Exception)
