"""Transactions of a pack."""

from __future__ import annotations

import threading
import weakref
from typing import Any

from tessarray._native import PackCore, PackStore, TransactionCore
from tessarray.arrays import Array
from tessarray.creation import create_array, create_group
from tessarray.errors import NotFoundError
from tessarray.groups import Group
from tessarray.opening import open as open_node
from tessarray.opening import open_group
from tessarray.with_block import WithBlock

__all__ = ["Transaction"]

LOCK = "transaction"


class Transaction(WithBlock):
    """Changes that nobody else sees until they are committed. Made by `Pack.transaction`, for a `with` block.

    Arrays and groups that are opened or created in it are those of `tessarray`; they can be used until it ends.

    >>> import tessarray
    >>> pack = tessarray.create_pack(tessarray.MemoryStore())
    >>> with pack.transaction("make") as tx:
    ...     a = tx.create_array("a", shape=4, dtype="int64")
    ...     a[1:3] = [5, 6]
    >>> with pack.transaction("grow") as tx:
    ...     shape = tx["a"].append([7])
    >>> tx.version, pack["a"][...].tolist()
    (2, [0, 5, 6, 0, 7])
    """

    def __init__(self, pack: PackCore, message: str, serialize: bool) -> None:
        self._turn = _Turn(pack) if serialize else None
        if self._turn is not None:
            # Also where nobody ends the transaction, others must not wait for ever.
            weakref.finalize(self, self._turn.end)
        self._core: TransactionCore = pack.begin()
        self.message = message
        self.version: int | None = None
        self.store = PackStore(self._core)

    @property
    def base(self) -> int:
        """The number of the version it is on top of."""
        return self._core.base

    @property
    def root(self) -> Group:
        """The root group, made where there is none."""
        return open_group(self.store, mode="a")

    def create_array(self, name: str, **arguments: Any) -> Array:
        """Create an array, and the groups on the way; arguments are those of `tessarray.create_array`."""
        return create_array(self.store, name=name, **arguments)

    def create_group(self, name: str, **arguments: Any) -> Group:
        """Create a group, and the groups on the way; arguments are those of `tessarray.create_group`."""
        return create_group(self.store, path=name, **arguments)

    def __getitem__(self, path: str) -> Any:
        return open_node(self.store, path=path, mode="r+")

    def __delitem__(self, path: str) -> None:
        del open_group(self.store, mode="r+")[path]

    def __contains__(self, path: object) -> bool:
        try:
            return isinstance(path, str) and self[path] is not None
        except NotFoundError:
            return False

    def zarr_store(self) -> Any:
        """The transaction as a store of zarr-python, to write to with zarr and xarray."""
        from tessarray.zarr_store import ZarrStore

        return ZarrStore(self.store)

    def commit(self) -> int | None:
        """Make the changes a version and return its number; `None` where there are none. The `with` block does this."""
        try:
            self.version = self._core.commit(self.message)
        finally:
            self._done()
        return self.version

    def abandon(self) -> None:
        """Give the changes up."""
        try:
            self._core.abandon()
        finally:
            self._done()

    def _done(self) -> None:
        if self._turn is not None:
            self._turn.end()

    def _end(self, failed: bool) -> None:
        if failed:
            self.abandon()
        else:
            self.commit()

    def __repr__(self) -> str:
        return f"<Transaction {self.message!r} on {self.store.describe()}>"


class _Turn:
    """The right to be the only writer who takes turns: a lock of the pack, held by a thread until the end."""

    def __init__(self, pack: PackCore) -> None:
        self._ended = threading.Event()
        began = threading.Event()
        self._failure: BaseException | None = None

        def hold() -> None:
            def act() -> None:
                began.set()
                self._ended.wait()

            try:
                pack.exclusive(LOCK, act)
            except BaseException as failure:
                self._failure = failure
            finally:
                began.set()

        self._thread = threading.Thread(target=hold, name="tessarray-turn", daemon=True)
        self._thread.start()
        began.wait()
        if self._failure is not None:
            raise self._failure

    def end(self) -> None:
        self._ended.set()
        self._thread.join()
