"""Stores."""

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypedDict

from tessarray._native._pack import PackCore, PackVersionCore, TransactionCore

class Count(TypedDict):
    calls: int
    ranges: int
    runs: int
    bytes_read: int
    bytes_written: int
    errors: int
    seconds: float

class Store:
    """A flat space of named byte strings; the base of all stores. Every put is atomic."""

    def get(self, key: str, offset: int | None = None, length: int | None = None) -> bytes | None:
        """The value of a key, or `length` bytes from `offset`, or the last `length`; `None` where it is absent."""

    def put(self, key: str, value: bytes, create: bool = False) -> None:
        """Store a value; with `create` only where the key is absent, else `ExistsError`."""

    def delete(self, key: str) -> bool:
        """Remove a value; `False` where there was none."""

    def delete_prefix(self, path: str) -> None:
        """Remove everything below a path."""

    def size(self, key: str) -> int | None:
        """Bytes of a value; `None` where the key is absent."""

    def list(self, path: str = "") -> list[tuple[str, int]]:
        """Keys and sizes in bytes of everything below a path, sorted."""

    def list_dir(self, path: str = "") -> Sequence[str]:
        """Names directly below a path, sorted: of values, and of what further values lie below."""

    @property
    def read_only(self) -> bool: ...
    def describe(self) -> str: ...
    def __contains__(self, key: str) -> bool: ...

class LocalStore(Store):
    """A local directory, made by the first write.

    durable: fsync each file and its directory. follow_links: allow symbolic links out of the root.
    """

    def __new__(
        cls,
        root: str | os.PathLike[str],
        *,
        durable: bool = False,
        follow_links: bool = False,
        read_only: bool = False,
    ) -> Self: ...
    @property
    def root(self) -> Path: ...
    def leftovers(self, path: str = "", remove: bool = False) -> list[tuple[Path, int]]:
        """Temporary files that killed writers left, with their bytes; removed with `remove`."""

    def sync(self, path: str = "") -> None:
        """Make everything below a path survive a loss of power, whoever wrote it: one fsync per file and folder."""

class MemoryStore(Store):
    """Memory of this process. Cannot be pickled."""

    def __new__(cls) -> Self: ...

class ZipStore(Store):
    """One zip file. `mode` `r` reads; `w`, `w-`, `a` and `r+` write a new file that `close` moves into place."""

    def __new__(
        cls, path: str | os.PathLike[str], mode: Literal["r", "r+", "a", "w", "w-", "x"] | str = "r"
    ) -> Self: ...
    @property
    def path(self) -> Path: ...
    @property
    def mode(self) -> str: ...
    def duplicates(self) -> list[str]:
        """Names that the file has more than once, sorted: the last value of each counts, and the others are dead."""

    def close(self) -> None:
        """Move what was written into place; from here on the store only reads."""

    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class MappingStore(Store):
    """Any mapping from `str` to `bytes`. Values are read and written whole, with the interpreter lock."""

    def __new__(cls, mapping: Any, *, read_only: bool = False) -> Self: ...
    @property
    def mapping(self) -> Any: ...

class RecordStore(Store):
    """Counts the calls of a store, their bytes and time."""

    def __new__(cls, store: Store) -> Self: ...
    @property
    def store(self) -> Store: ...
    def counts(self) -> dict[str, Count]:
        """Counts by kind of call (`read`, `put`, `update`, ...), and their sum under `total`."""

    def reset(self) -> None: ...

class ThrottleStore(Store):
    """Makes a store as slow as a network. first_byte: seconds; bandwidth: bytes a second."""

    def __new__(
        cls, store: Store, *, first_byte: float = 0.02, bandwidth: int = 100_000_000, concurrency: int = 16
    ) -> Self: ...
    @property
    def store(self) -> Store: ...

class FaultStore(Store):
    """Fails calls of a store on purpose, for tests."""

    def __new__(cls, store: Store) -> Self: ...
    @property
    def store(self) -> Store: ...
    def fail(
        self,
        k: int,
        *,
        when: Literal["call", "from", "range"] = "call",
        effect: Literal["fail", "lost", "torn"] = "fail",
        kept: int = 0,
    ) -> None:
        """Fail the k-th call from now (from 0), it and all later ones, or the k-th range read."""

    def clear(self) -> None:
        """Fail no more, and count from zero."""

    @property
    def calls(self) -> int: ...
    @property
    def ranges(self) -> int: ...

class PrefixStore(Store):
    """What is below a path of a store."""

    def __new__(cls, store: Store, path: str) -> Self: ...
    @property
    def store(self) -> Store: ...

class ReadOnlyStore(Store):
    """A store that refuses changes."""

    def __new__(cls, store: Store) -> Self: ...
    @property
    def store(self) -> Store: ...

class PackStore(Store):
    """The keys of the Zarr hierarchy in a pack, in one of its versions, or in a transaction."""

    def __new__(
        cls, source: PackCore | PackVersionCore | TransactionCore, address: str | None = None
    ) -> Self: ...
    @property
    def version(self) -> int | None: ...
