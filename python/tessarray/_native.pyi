"""The compiled engine. Use the names that `tessarray` exports; those here may change."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, TypedDict, TypeVar, final

import numpy as np
import numpy.typing as npt

from tessarray.errors import TessarrayError

__version__: str
_T = TypeVar("_T")

class FindingFields(TypedDict):
    kind: str
    key: str
    chunk: tuple[int, ...] | None
    message: str

class Count(TypedDict):
    calls: int
    ranges: int
    runs: int
    bytes_read: int
    bytes_written: int
    errors: int
    seconds: float

@final
class Session:
    """Worker threads, registered codecs and caches that calls share.

    threads: workers; as `TESSARRAY_THREADS` says or one a core where left out. They start when first needed, and
    again in a forked process. verify: `"always"` if every read of arrays that are opened with this session, those of
    packs and collections included, verifies the checksums of the chunks that it touches; `"first"` if a chunk of 16 KiB
    or more is verified when a handle first reads it, and again after every write of it.
    """

    def __new__(cls, threads: int | None = None, *, verify: Literal["first", "always"] = "first") -> Self: ...
    @property
    def threads(self) -> int: ...
    @property
    def verify(self) -> Literal["first", "always"]: ...
    def codecs(self) -> list[str]: ...
    def register_codec(self, name: str, cls: Any) -> None: ...

def default_session() -> Session: ...

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

@final
class AccessLog:
    """A log of accesses that is on from its making until `end`; see `tessarray.record`."""

    def __new__(cls, path: str | os.PathLike[str]) -> Self: ...
    def end(self) -> None: ...
    @property
    def path(self) -> Path: ...
    @property
    def lines(self) -> int: ...
    @property
    def lost(self) -> int: ...

@final
class Node:
    """An array or a group that the engine has opened."""

    @property
    def is_array(self) -> bool: ...
    @property
    def path(self) -> str: ...
    @property
    def options(self) -> tuple[bool, bool, bool]:
        """Whether every read verifies, empty chunks are stored, missing chunks are read."""
    def configured(self, options: tuple[bool, bool, bool]) -> Node: ...

@final
class Indexer:
    """Selects elements of an array in another way than `a[...]` does: `oindex`, `vindex`, `blocks`."""

    def __getitem__(self, key: Any) -> npt.NDArray[Any]: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def read(self, selection: Any, /, *, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """The selection, read into `out` where it is given; `out` has the dtype and shape of the result."""

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

@final
class ChunkStream:
    """Iterates over `(region, values)`; see `Array.chunk_stream`. Also a context manager that stops it."""

    def __iter__(self) -> Iterator[tuple[tuple[slice, ...], npt.NDArray[Any]]]: ...
    def __next__(self) -> tuple[tuple[slice, ...], npt.NDArray[Any]]: ...
    def __len__(self) -> int: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

class ArrayCore:
    """The engine's side of an array; see `tessarray.Array`."""

    def __new__(cls, node: Node, store: Store) -> Self: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def __len__(self) -> int: ...
    def read(self, selection: Any = None, /, *, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Read a selection as `a[selection]` does, into `out` where it is given; the whole array where left out.

        `out` has the dtype and shape of the result and any strides; it is written in place, with no copy between.
        """

    def write(self, selection: Any, value: Any, /) -> None:
        """The same as `a[selection] = value`."""

    def append(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """Add elements at the end of an axis, and return the new shape.

        Other axes of `data` have the array's lengths. Data are stored first and the shape last: a reader never sees
        elements that were not written. Appends of several processes come one after the other.
        """

    def _resize(self, shape: tuple[int, ...]) -> None: ...
    def refresh(self) -> None:
        """Read the metadata again: what other processes appended becomes visible."""

    @property
    def oindex(self) -> Indexer:
        """Orthogonal indexing: each axis on its own, by integers, slices, integer arrays and masks."""

    @property
    def vindex(self) -> Indexer:
        """Single elements, by one integer array an axis (broadcast together) or a mask of the array's shape."""

    @property
    def blocks(self) -> Indexer:
        """Whole chunks (shards, where there are shards), by their place in the grid."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def data_type(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory, uncompressed."""

    @property
    def chunks(self) -> tuple[int, ...]:
        """What is read at a time: the inner chunk, where there are shards.

        Raises `UnequalChunksError`, a `NotImplementedError`, where chunks have unequal lengths (a rectilinear grid).
        """

    @property
    def shards(self) -> tuple[int, ...] | None:
        """What is stored as one object, where that is more than a chunk. Raises as `chunks` does."""

    @property
    def chunk_grid(self) -> Literal["regular", "rectilinear"]:
        """The kind of the grid of stored chunks (of shards, where there are any)."""

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths along each axis of the chunks that are read on their own, clipped at the array's end."""

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths along each axis of what is stored as one object, clipped at the array's end."""

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """Chunks along each axis (inner chunks, where sharded)."""

    @property
    def path(self) -> str: ...
    @property
    def store(self) -> Store: ...
    @property
    def zarr_format(self) -> Literal[2, 3]: ...
    @property
    def dimension_names(self) -> tuple[str | None, ...] | None: ...
    @property
    def nobjects(self) -> int:
        """Chunk (or shard) objects in the grid."""

    def nobjects_stored(self) -> int:
        """Chunk (or shard) objects in the store; costs a listing."""

    def nbytes_stored(self) -> int:
        """Bytes the array takes in its store; costs a listing."""

    def _fill_bytes(self) -> bytes: ...
    def _attributes(self) -> dict[str, Any]: ...
    def _set_attributes(self, attributes: Mapping[str, Any]) -> None: ...
    def _codecs(self) -> list[dict[str, Any]]: ...
    def _documents(self) -> list[bytes]: ...
    def _check(self, deep: bool) -> list[FindingFields]: ...
    @property
    def _options(self) -> tuple[bool, bool, bool]: ...

class PackCore:
    """The engine's side of a pack; see `tessarray.Pack`."""

    def __new__(
        cls,
        store: Store,
        create: bool = False,
        hints: Store | None = None,
        session: Session | None = None,
    ) -> Self: ...
    def latest(self) -> int: ...
    def version(self, number: int | None = None) -> PackVersionCore: ...
    def version_at(self, time: str) -> int: ...
    def versions(self) -> list[dict[str, Any]]: ...
    def begin(self) -> TransactionCore: ...
    def exclusive(self, name: str, act: Callable[[], _T]) -> _T: ...
    def tag(self, name: str, version: int) -> None: ...
    def untag(self, name: str) -> bool: ...
    def tags(self) -> list[tuple[str, int]]: ...
    def tagged(self, name: str) -> int | None: ...
    def diff(self, before: int, after: int) -> list[tuple[str, str, int]]: ...
    def rollback(self, version: int, message: str) -> int: ...
    def compact(
        self, message: str, progress: Callable[[int, int], None] | None = None
    ) -> tuple[int, int, int, int]: ...
    def expire(self, versions: int, retention: float, dry: bool) -> tuple[list[int], int, int]: ...
    def leftovers(self) -> tuple[int, int]: ...
    def check(
        self, deep: bool, progress: Callable[[int, int], None] | None = None
    ) -> list[tuple[str, int | None, str | None, str, list[int]]]: ...
    def repair(
        self, apply: bool, progress: Callable[[int, int], None] | None = None
    ) -> tuple[list[tuple[str, int | None, str | None, str, list[int]]], int | None, int]: ...

class PackVersionCore:
    """The engine's side of a version of a pack."""

    @property
    def number(self) -> int: ...
    def commit(self) -> dict[str, Any]: ...
    def catalogue(self) -> bytes: ...

class TransactionCore:
    """The engine's side of a transaction of a pack."""

    @property
    def base(self) -> int: ...
    def commit(self, message: str) -> int | None: ...
    def abandon(self) -> None: ...

class PackStore(Store):
    """The keys of the Zarr hierarchy in a pack, in one of its versions, or in a transaction."""

    def __new__(
        cls, source: PackCore | PackVersionCore | TransactionCore, address: str | None = None
    ) -> Self: ...
    @property
    def version(self) -> int | None: ...

class GroupCore:
    """The engine's side of a group; see `tessarray.Group`."""

    def __new__(cls, node: Node, store: Store) -> Self: ...
    @property
    def store(self) -> Store: ...
    @property
    def path(self) -> str: ...
    @property
    def zarr_format(self) -> Literal[2, 3]: ...
    def refresh(self) -> None:
        """Read the metadata again."""

    def _attributes(self) -> dict[str, Any]: ...
    def _set_attributes(self, attributes: Mapping[str, Any]) -> None: ...
    def _documents(self) -> list[bytes]: ...
    def _consolidate(self) -> None: ...
    def _is_consolidated(self) -> bool: ...
    def _look_directly(self) -> None: ...
    def _look(self) -> list[tuple[str, Node | TessarrayError]]: ...
    def _look_below(self) -> list[tuple[str, Node | TessarrayError]]: ...
    def _get(self, path: str) -> Node | None: ...
    def _create_group(
        self, path: str, attributes: Mapping[str, Any] | None = None, overwrite: bool = False
    ) -> Node: ...
    def _create_array(self, path: str, arguments: Mapping[str, Any], overwrite: bool) -> Node: ...
    def _delete(self, path: str) -> bool: ...
    def _node(self) -> Node: ...
    @property
    def _options(self) -> tuple[bool, bool, bool]: ...

def create_array(
    store: Store, path: str, arguments: Mapping[str, Any], overwrite: bool, session: Session | None = None
) -> Node: ...
def create_group(
    store: Store,
    path: str,
    zarr_format: int,
    attributes: Mapping[str, Any] | None,
    overwrite: bool,
    session: Session | None = None,
) -> Node: ...
def open_node(store: Store, path: str, kind: str | None = None, session: Session | None = None) -> Node: ...
def array_from_documents(
    store: Store, path: str, documents: list[bytes], session: Session | None = None
) -> Node: ...
def chunk_stream(
    array: ArrayCore, selection: Any, ordered: bool, prefetch: int | None, by_shard: bool
) -> ChunkStream: ...
def check_store(
    store: Store, path: str, deep: bool, session: Session | None = None
) -> list[FindingFields]: ...
def repair_store(
    store: Store, path: str, deep: bool, session: Session | None = None
) -> list[FindingFields]: ...
def codecs_from_text(text: str) -> list[dict[str, Any]]: ...
def numpy_dtype(dtype: Any) -> np.dtype[Any]: ...
def parse_json(document: bytes) -> Any: ...

@final
class CollectionCore:
    """The engine's side of a collection, at one version."""

    def __new__(cls, version: PackVersionCore, session: Session | None = None) -> Self: ...
    @property
    def version(self) -> int: ...
    def names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __contains__(self, name: str) -> bool: ...
    def variables(self) -> list[tuple[str, int]]: ...
    def find(self, variable: str, names: Sequence[str] | None = None) -> FoundCore: ...
    def value(self, node: str, name: str) -> bytes | None: ...
    def dataset_attributes(self) -> list[str]: ...
    def letter_dimensions(self) -> list[str]: ...
    def statistics(
        self, found: FoundCore
    ) -> list[tuple[int, int, Any, Any, float | None, list[str] | None] | None]: ...

@final
class FoundCore:
    """The arrays of one variable of a collection."""

    def __len__(self) -> int: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def missing(self) -> Sequence[int]: ...
    @property
    def shapes(self) -> list[tuple[int, ...]]: ...
    @property
    def attributes(self) -> list[str]: ...
    @property
    def kinds(self) -> list[tuple[np.dtype[Any], list[str | None] | None, bytes, list[int]]]: ...
    def columns(self) -> list[npt.NDArray[np.int64]]: ...
    def read(
        self,
        keys: Sequence[Any],
        each: bool,
        members: Sequence[int] | None = None,
        out: npt.NDArray[Any] | None = None,
    ) -> tuple[npt.NDArray[Any], list[tuple[int, ...]], npt.NDArray[np.int64]]: ...

@final
class KindCore:
    """What arrays have in common that differ in shape and attributes only."""

    def __new__(cls, arguments: dict[str, Any], session: Session | None = None) -> Self: ...

def add_dataset(
    transaction: TransactionCore,
    name: str,
    attributes: Mapping[str, Any] | None,
    groups: Sequence[tuple[str, Mapping[str, Any]]],
    variables: Sequence[tuple[str, KindCore, Any, Any, bytes | None, list[str] | None]],
    session: Session | None = None,
) -> None: ...
def describe_array(
    transaction: TransactionCore,
    path: str,
    missing: bytes | None = None,
    texts: list[str] | None = None,
    session: Session | None = None,
) -> bool: ...
