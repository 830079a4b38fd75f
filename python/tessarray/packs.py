"""Packs: a transactional home for any hierarchy of arrays and groups.

>>> import numpy as np, tempfile, tessarray
>>> folder = tempfile.TemporaryDirectory()
>>> pack = tessarray.create_pack(f"{folder.name}/ocean.pack")
>>> with pack.transaction("first casts") as tx:
...     temperature = tx.create_array("cast-1/temperature", data=np.array([14.5, 9.25, 4.0]))
...     tx["cast-1"].attrs["ship"] = "Meteor"
>>> pack["cast-1/temperature"][:2].tolist(), pack.version
([14.5, 9.25], 1)

All of a transaction becomes a version at once, or nothing of it. A version never changes: readers see one, whatever
is written meanwhile. Arrays and groups in a pack are those of `tessarray`, and `tessarray.open("x.pack/group/array")`
opens them; written to outside a transaction, each call is one of its own.
"""

from __future__ import annotations

import datetime
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy.typing as npt

from tessarray import moments, pack_lookup
from tessarray._native import LocalStore, PackCore, PackStore, PackVersionCore, Store
from tessarray.arrays import Array
from tessarray.durations import seconds
from tessarray.errors import (
    ConflictError,
    InvalidArgumentError,
    NotFoundError,
    ReadOnlyError,
)
from tessarray.groups import Group
from tessarray.opening import open as open_node
from tessarray.opening import open_group
from tessarray.pack_lookup import VersionLike
from tessarray.pack_reports import (
    Damage,
    Difference,
    Expired,
    Leftovers,
    PackVersion,
    Repaired,
    damage_of,
    version_of,
)
from tessarray.sessions import Session
from tessarray.stores import StoreLike, local_pack, local_path, store_of
from tessarray.transactions import Transaction

if TYPE_CHECKING:
    from tessarray.appending import Appender
    from tessarray.maintenance import CopyReport

__all__ = ["Pack", "create_pack", "open_pack"]

ATTEMPTS = 1000


def create_pack(store: StoreLike, *, durable: bool = True, session: Session | None = None) -> Pack:
    """Make a pack: in a local directory, or in any store.

    durable: sync files before a commit and the folder after it, so that a commit that returned survives a loss of
    power. Without it a commit survives the death of the process, and a loss of power may take the last ones, or leave
    files that `check` reports.

    Raises `ExistsError` where there is one.

    >>> import tessarray
    >>> tessarray.create_pack(tessarray.MemoryStore()).version
    0
    """
    return Pack._make(store, True, durable, None, session)


def open_pack(
    store: StoreLike,
    version: VersionLike | None = None,
    *,
    durable: bool = True,
    session: Session | None = None,
) -> Pack:
    """Open a pack at its latest version, or for ever at the one given: a number, a tag, or a moment.

    A moment is a `datetime`, or a text such as `"2026-11-21T14:00"` in UTC: the version that was the latest then.
    Raises `NotFoundError` where there is no pack, or no such version. Costs the reading of one or two small files.

    >>> import tessarray
    >>> store = tessarray.MemoryStore()
    >>> pack = tessarray.create_pack(store)
    >>> with pack.transaction("one") as tx:
    ...     a = tx.create_array("a", data=[1, 2, 3])
    >>> tessarray.open_pack(store)["a"][...].tolist(), list(tessarray.open_pack(store, version=0))
    ([1, 2, 3], [])
    """
    return Pack._make(store, False, durable, version, session)


class Pack:
    """A pack. Made by `create_pack` and `open_pack`; safe to use from many threads.

    A mapping from paths to arrays and groups of its version: the latest, unless it was opened at one.
    """

    def __init__(self, core: PackCore, store: Store, address: str | None, pinned: int | None) -> None:
        self._core = core
        self._address = address
        self._pinned = pinned
        self.store = store

    @classmethod
    def _make(
        cls,
        given: StoreLike,
        create: bool,
        durable: bool,
        version: VersionLike | None,
        session: Session | None,
    ) -> Pack:
        hints: Store | None = None
        address: str | None = None
        if isinstance(given, str | os.PathLike) and not os.fspath(given).startswith("memory://"):
            path = local_path(os.fspath(given))
            store: Store = LocalStore(path, durable=durable)
            hints = LocalStore(path)
            address = str(hints.root)
        else:
            store = store_of(given)
        core = PackCore(store, create, hints, session)
        pack = cls(core, store, address, None)
        return pack if version is None else cls(core, store, address, pack._number(version))

    def _number(self, version: VersionLike | None) -> int | None:
        """The number that a version, a tag or a moment stands for."""
        if version is None:
            return self._pinned
        return pack_lookup.number_of(self._core, version, self.store.describe())

    # What is in it.

    @property
    def version(self) -> int:
        """The number of the version it shows: the latest, unless it was opened at one."""
        return self._core.latest() if self._pinned is None else self._pinned

    @property
    def path(self) -> str | None:
        """The directory it is in; `None` for other stores."""
        return self._address

    def _view(self, version: VersionLike | None = None) -> PackStore:
        return PackStore(self._core.version(self._number(version)), self._address)

    def at(self, version: VersionLike) -> Pack:
        """The same pack, for ever at one version."""
        return Pack(self._core, self.store, self._address, self._number(version))

    @property
    def root(self) -> Group:
        """The root group of the version, to read."""
        return open_group(self._view(), mode="r")

    def __getitem__(self, path: str) -> Array | Group:
        return open_node(self._view(), path=path, mode="r")

    def __contains__(self, path: object) -> bool:
        try:
            return isinstance(path, str) and self[path] is not None
        except NotFoundError:
            return False

    def __iter__(self) -> Any:
        try:
            return iter(self.root)
        except NotFoundError:
            return iter(())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    # Changing it.

    def transaction(self, message: str = "", *, serialize: bool = False) -> Transaction:
        """Begin a transaction: used in a `with` block, it is committed at the end of it, or given up on an exception.

        Writers that change different things commit side by side. Where another one has committed a change to the same
        chunk, metadata or parent group, the commit raises `ConflictError` and nothing of it takes place; with
        `serialize` writers that say so wait for each other from the beginning of the block, in all processes of the
        machine.
        """
        self._writable("begin a transaction")
        return Transaction(self._core, message, serialize)

    def append(self, path: str, values: npt.ArrayLike, axis: int = 0, message: str | None = None) -> int:
        """Append to an array in a transaction of its own, and return the version. Writers who append at the same time
        all succeed, one after the other.
        """
        return self._retry(message or f"append to {path}", lambda tx: tx[path].append(values, axis=axis))

    def _retry(self, message: str, change: Callable[[Transaction], Any]) -> int:
        self._writable("append")
        for attempt in range(ATTEMPTS):
            transaction = self.transaction(message, serialize=attempt > 2)
            try:
                with transaction:
                    change(transaction)
            except ConflictError:
                if attempt == ATTEMPTS - 1:
                    raise
                continue
            return self.version if transaction.version is None else transaction.version
        raise AssertionError("the last attempt returns or raises")

    def appender(
        self,
        names: str | Sequence[str],
        axis: int = 0,
        *,
        flush: str | float | datetime.timedelta | int = "1s",
        max_bytes: int = 64 << 20,
        message: str = "append",
    ) -> Appender:
        """A writer of small records, which are gathered and committed together.

        flush: how often (`"1s"`, `"200ms"`, a `timedelta`, seconds as a float), or after how many rows (an int).
        max_bytes: with so much gathered, `append` commits before it returns. See `Appender`.
        """
        from tessarray.appending import Appender

        self._writable("append")
        return Appender(self, names, axis, flush, max_bytes, message)

    def _writable(self, what: str) -> None:
        if self._pinned is not None:
            raise ReadOnlyError(f"{self.store.describe()}: opened at version {self._pinned}, cannot {what}")

    # Its history.

    def versions(self) -> list[PackVersion]:
        """The versions that are there, oldest first."""
        return [version_of(commit) for commit in self._core.versions()]

    def tag(self, name: str, version: VersionLike | None = None) -> None:
        """Name a version, by default the latest. Tagged versions are not expired.

        A name is given once, and is no number and no date: those are versions already.
        """
        if moments.looks_like(name):
            raise InvalidArgumentError(f"tag: {name!r} is the number or the date of a version, not a name")
        number = self._number(version)
        self._core.tag(name, self.version if number is None else number)

    def untag(self, name: str) -> bool:
        """Take a name away; `False` where there was none."""
        return self._core.untag(name)

    def tags(self) -> dict[str, int]:
        """Names of versions."""
        return dict(self._core.tags())

    def diff(self, before: VersionLike, after: VersionLike | None = None) -> list[Difference]:
        """The arrays and groups that differ between two versions; the second is the latest where it is left out."""
        first, second = self._number(before), self._number(after)
        assert first is not None
        return [
            Difference(*one) for one in self._core.diff(first, self.version if second is None else second)
        ]

    def rollback(self, version: VersionLike, message: str | None = None) -> int:
        """Make a new version with the content of an earlier one. Nothing is removed."""
        self._writable("roll back")
        number = self._number(version)
        assert number is not None
        return self._core.rollback(number, message or f"rollback to version {number}")

    # Looking after it.

    def compact(
        self, message: str = "compact", progress: Callable[[int, int], None] | None = None
    ) -> PackVersion:
        """Store everything anew, each variable in one run and nothing that is dead, as a new version.

        The old bytes go when `expire` removes the versions that need them. `progress` is told the chunks done and all.
        """
        self._writable("compact")
        number = self._core.compact(message, progress)[0]
        return version_of(self._core.version(number).commit())

    def expire(
        self,
        keep: int = 1,
        retention: str | float | datetime.timedelta = "1d",
        dry_run: bool = False,
    ) -> Expired:
        """Remove old versions, and the files that only they needed.

        Kept are the `keep` latest versions, those that are tagged, and all that began within the `retention`, which
        should be longer than any reader holds a version, and than any transaction takes: it fails with `ConflictError`.
        Where files of killed writers are removed, there is a new version with the same content.
        """
        self._writable("expire versions")
        versions, files, nbytes = self._core.expire(keep, seconds(retention, "retention"), dry_run)
        return Expired(tuple(versions), files, nbytes)

    def check(self, deep: bool = False, progress: Callable[[int, int], None] | None = None) -> list[Damage]:
        """Look for damage in commits, catalogue, segments and tags. Empty is good news.

        With `deep` every chunk that any version shows is read, each stored chunk once.
        """
        return [damage_of(*one) for one in self._core.check(deep, progress)]

    def leftovers(self) -> Leftovers:
        """What writers who were killed an hour ago or longer left half written.

        `expire` and `repair(apply=True)` remove it. What a writer is at work on is never among it.
        """
        return Leftovers(*self._core.leftovers())

    def repair(self, apply: bool = False, progress: Callable[[int, int], None] | None = None) -> Repaired:
        """Make a version without what is damaged, so that the rest can be used. Without `apply` only say what is lost.

        Chunks that are lost read as the fill value, which is why this is not done by itself.
        """
        self._writable("repair")
        damage, version, lost = self._core.repair(apply, progress)
        return Repaired(tuple(damage_of(*one) for one in damage), version, lost)

    def export(
        self,
        dest: StoreLike,
        version: VersionLike | None = None,
        *,
        path: str = "",
        if_exists: Literal["raise", "replace", "skip"] = "raise",
        progress: Callable[[int, int], None] | None = None,
    ) -> CopyReport:
        """Copy a version, or what is below a path of it, to a plain Zarr store. Nothing is decoded."""
        from tessarray.maintenance import copy_store

        return copy_store(self._view(version), dest, source_path=path, if_exists=if_exists, progress=progress)

    def catalogue_parquet(self, version: VersionLike | None = None) -> bytes:
        """The catalogue of a version as one Parquet file; its columns are described in `spec/pack.md`."""
        return self._core.version(self._number(version)).catalogue()

    def catalogue(
        self, sql: str, version: VersionLike | None = None
    ) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Run a query over the catalogue of a version, a table called `catalogue`: names of columns, and rows.

        Needs duckdb. One row a document (`kind` is `array` or `group`) with `node`, `shape`, `dtype`, `codecs` and
        `attributes` as text, and one or more a chunk list: `chunk`, `segment`, `offset`, `length`.
        """
        return pack_lookup.query(self.catalogue_parquet(version), sql)

    def zarr_store(self, version: VersionLike | None = None) -> Any:
        """The version as a store of zarr-python, for zarr, xarray and dask, read-only. Needs zarr-python.

        A transaction has one to write to: `tx.zarr_store()`.
        """
        from tessarray.zarr_store import ZarrStore

        return ZarrStore(self._view(version))

    def __repr__(self) -> str:
        return f"<Pack {self.store.describe()} at version {self.version}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_pack, (self._address or self.store, self._pinned))


def _pack(store: StoreLike, version: int | None) -> Pack:
    """Opens a pack again, from a pickle."""
    return open_pack(store, version)


def _store(address: str, version: int | None) -> PackStore:
    """Opens a pack's store again, from a pickle."""
    core = local_pack(address)
    source: PackCore | PackVersionCore = core if version is None else core.version(version)
    return PackStore(source, address)
