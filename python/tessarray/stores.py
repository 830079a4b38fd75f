"""Stores: where the named byte strings of arrays and groups live.

Every function that takes a store takes any of

- a path, as `str` or `os.PathLike`: a local directory, one zip file where it ends in `.zip`, or a pack and a path in
  it, as `ocean.pack/cast-1`;
- `"file:///path"`, and `"memory://"` for a new store in memory;
- one of the stores below;
- any mapping from `str` to `bytes`: a `dict`, an fsspec mapper (`fsspec.get_mapper(...)`);
- a `LocalStore`, `MemoryStore` or `ZipStore` of zarr-python.

>>> store = MemoryStore()
>>> store.put("greeting", b"hello")
>>> store.get("greeting", offset=1, length=3), store.get("nothing")
(b'ell', None)
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, MutableMapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tessarray._native import (
    FaultStore,
    LocalStore,
    MappingStore,
    MemoryStore,
    PackCore,
    PackStore,
    PrefixStore,
    ReadOnlyStore,
    RecordStore,
    Store,
    ThrottleStore,
    ZipStore,
)
from tessarray.errors import InvalidArgumentError, InvalidTypeError, NotFoundError, PickleError

__all__ = [
    "FaultStore",
    "LocalStore",
    "MappingStore",
    "MemoryStore",
    "PrefixStore",
    "ReadOnlyStore",
    "RecordStore",
    "Store",
    "StoreLike",
    "ThrottleStore",
    "ZipStore",
    "store_of",
]

StoreLike = str | os.PathLike[str] | Store | MutableMapping[str, bytes] | Mapping[str, bytes] | Any


def store_of(store: StoreLike, mode: str = "a", storage_options: Mapping[str, Any] | None = None) -> Store:
    """The store that a path, an address, a mapping or a store of zarr-python means.

    `mode` `"r"` gives one that refuses changes. Local paths take the `storage_options` of `LocalStore`; a zip is
    opened with `mode`, and is in place only once its store is closed.

    >>> store_of("memory://")
    <MemoryStore memory>
    """
    if storage_options and not isinstance(store, str | os.PathLike):
        raise InvalidArgumentError("storage_options: only a path takes options; a store has its own")
    if isinstance(store, Store):
        return _guard(store, mode)
    if isinstance(store, str | os.PathLike):
        return _at(os.fspath(store), mode, dict(storage_options or {}))
    if type(store).__module__.partition(".")[0] == "zarr":
        return _of_zarr(store, mode)
    if isinstance(store, Mapping) or (hasattr(store, "__getitem__") and hasattr(store, "keys")):
        return MappingStore(store, read_only=mode == "r")
    raise InvalidTypeError(
        f"store: expected a path, an address, a mapping or a store, found {type(store).__name__}"
    )


def _guard(store: Store, mode: str) -> Store:
    return ReadOnlyStore(store) if mode == "r" and not store.read_only else store


def _at(path: str, mode: str, options: dict[str, Any]) -> Store:
    if path.startswith("memory://"):
        return MemoryStore()
    path = local_path(path)
    if path.endswith(".zip") and not Path(path).is_dir():
        if options:
            raise InvalidArgumentError(f"storage_options: a zip takes none, found {sorted(options)}")
        return ZipStore(path, mode)
    pack = pack_of(path)
    if pack is not None:
        return _in_pack(*pack, mode, options)
    if os.path.isfile(path):  # noqa: PTH113 - plain strings
        raise InvalidArgumentError(
            f"{path}: is a file, and no store; `tessarray convert` makes one of other formats"
        )
    try:
        return LocalStore(path, read_only=mode == "r", **options)
    except TypeError as error:
        raise InvalidArgumentError(f"storage_options: {error}") from None


# An address that has gone through `pathlib`, which makes one slash of two.
COLLAPSED = re.compile(r"(file|memory|s3|gs|gcs|az|abfs|abfss|https?|ftp|hf):/(?!/)")


# Paths that only GDAL takes for files: in archives, on servers.
VIRTUAL = re.compile(r"/vsi[a-z0-9_]+/")


def local_path(address: str) -> str:
    """The path that a text means: of a file address (`file:///data/x.zarr`), or with `~` for the home folder.

    Slashes at its end say nothing. Raises `InvalidArgumentError` for addresses of other kinds, which are no paths.
    """
    # Every opening by path comes through here, and almost every path says nothing but itself.
    if ":" not in address and not address.startswith(("~", "/vsi")) and not address.endswith(("/", os.sep)):
        return address
    return _without_slash(_local_path(address))


def _without_slash(path: str) -> str:
    return path.rstrip("/" if os.sep == "/" else "/" + os.sep) or path[:1]


def _local_path(address: str) -> str:
    virtual = VIRTUAL.match(address)
    if virtual and not os.path.exists(virtual[0]):  # noqa: PTH110 - a folder may be named like that
        raise InvalidArgumentError(
            f"{address}: paths of GDAL ({virtual[0]}...) are not supported: give the file itself, or in Python an "
            "fsspec mapper"
        )
    joined = COLLAPSED.match(address)
    if joined and not os.path.exists(address):  # noqa: PTH110 - a folder may be named like that
        address = f"{joined[1]}://{'/' if joined[1] == 'file' else ''}{address[joined.end() :]}"
    scheme, separator, _ = address.partition("://")
    if not separator:
        return os.path.expanduser(address)  # noqa: PTH111 - keeps the text as it is
    if scheme == "file":
        return unquote(urlsplit(address).path)
    raise InvalidArgumentError(f"{address}: {scheme}:// is not supported yet: {instead_of(address)}")


def instead_of(address: str) -> str:
    """What to do about an address that is no path."""
    return (
        f"in Python, hand over a store in its place: fsspec.get_mapper({address!r}), which goes through obstore after "
        f"obstore.fsspec.register({address.partition('://')[0]!r}); commands take local files and folders"
    )


# The file that makes a folder a pack.
PACK_MARK = "format.json"


def pack_of(path: str | os.PathLike[str]) -> tuple[str, str] | None:
    """The directory of a pack and the path in it; `None` where the path is not in one."""
    # Every opening by path comes through here: plain strings, and one or two looks at the disk.
    given = os.path.expanduser(os.fspath(path)).rstrip(os.sep) or os.sep  # noqa: PTH111
    folder = given
    while True:
        if os.path.isfile(os.path.join(folder, PACK_MARK)) and os.path.isdir(  # noqa: PTH112, PTH113, PTH118
            os.path.join(folder, "commits")  # noqa: PTH118
        ):
            return folder or ".", given[len(folder) :].replace(os.sep, "/").strip("/")
        above = os.path.dirname(folder)  # noqa: PTH120
        if above == folder or (folder != given and os.path.exists(folder)):  # noqa: PTH110
            return None
        folder = above


def local_pack(folder: str, durable: bool = True) -> PackCore:
    """The pack in a directory. What is only a hint is never synced."""
    return PackCore(LocalStore(folder, durable=durable), False, LocalStore(folder))


def _in_pack(folder: str, inner: str, mode: str, options: dict[str, Any]) -> Store:
    durable = options.pop("durable", True)
    if options:
        raise InvalidArgumentError(f"storage_options: a pack takes durable, found {sorted(options)}")
    core = local_pack(folder, durable)
    # To read, one version is held on to, so that all that is read fits together.
    store = PackStore(core.version() if mode == "r" else core, folder)
    return PrefixStore(store, inner) if inner else store


def _of_zarr(store: Any, mode: str) -> Store:
    """A store object of zarr-python by what it stands for, not through its asynchronous interface."""
    mode = "r" if getattr(store, "read_only", False) else mode
    match type(store).__name__:
        case "LocalStore":
            return LocalStore(store.root, read_only=mode == "r")
        case "ZipStore":
            return ZipStore(store.path, "r" if mode == "r" else "a")
        case "MemoryStore":
            return MappingStore(_ZarrMemory(store._store_dict), read_only=mode == "r")
        case "StorePath":
            inner = _of_zarr(store.store, mode)
            return PrefixStore(inner, store.path) if store.path else inner
        case name:
            raise InvalidTypeError(
                f"store: zarr-python's {name} is not taken; pass its path, or a mapping from str to bytes"
            )


class _ZarrMemory(MutableMapping[str, bytes]):
    """The values of zarr-python's MemoryStore, which are buffers of its own, as bytes."""

    def __init__(self, buffers: MutableMapping[str, Any]) -> None:
        self._buffers = buffers

    def __getitem__(self, key: str) -> bytes:
        value: bytes = self._buffers[key].to_bytes()
        return value

    def __setitem__(self, key: str, value: bytes) -> None:
        from zarr.core.buffer.cpu import Buffer

        self._buffers[key] = Buffer.from_bytes(value)

    def __delitem__(self, key: str) -> None:
        del self._buffers[key]

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._buffers))

    def __len__(self) -> int:
        return len(self._buffers)


def require_existing(store: StoreLike, mode: str) -> None:
    """For reading: a local path with nothing at it is reported as such."""
    if mode in ("r", "r+") and isinstance(store, str | os.PathLike):
        path = os.fspath(store)
        if not path.startswith("memory://"):
            path = local_path(path)
        if "://" not in path and not os.path.exists(path) and pack_of(path) is None:  # noqa: PTH110
            raise NotFoundError(f"{path}: nothing there", path=path)


def _local(
    cls: type[LocalStore], root: str, durable: bool, follow_links: bool, read_only: bool
) -> LocalStore:
    """Rebuilds a LocalStore from a pickle."""
    return cls(root, durable=durable, follow_links=follow_links, read_only=read_only)


def _mapping(cls: type[MappingStore], mapping: MutableMapping[str, bytes], read_only: bool) -> MappingStore:
    """Rebuilds a MappingStore from a pickle."""
    return cls(mapping, read_only=read_only)


def _identity(store: Store) -> tuple[Any, ...]:
    """What two handles of the same keys have in common: their class and what a pickle makes them again from.

    A store that is only in this process is the same as itself, and a mapping as itself or as an equal fsspec mapper.
    """
    kind = type(store)
    if isinstance(store, MappingStore):
        mapping: Any = store.mapping
        place = (getattr(mapping, "fs", None), getattr(mapping, "root", None))
        return (kind, store.read_only, *(place if None not in place else (id(mapping),)))
    if kind.__reduce__ is object.__reduce__:
        return (kind, id(store))
    try:
        made_from = store.__reduce__()[1]
    except PickleError:
        return (kind, id(store))
    return (kind, made_from)


def overlap(store: Store, path: str, other: Store, other_path: str) -> bool:
    """Whether one place is the other or is in it, so that replacing one removes something of the other."""
    (base, first), (other_base, second) = _place(store, path), _place(other, other_path)
    shared = min(len(first), len(second))
    return base == other_base and first[:shared] == second[:shared]


def _place(store: Store, path: str) -> tuple[Any, tuple[str, ...]]:
    """What holds the keys of a store, and the path in it, whatever stores are around it."""
    parts = tuple(part for part in path.split("/") if part)
    if isinstance(store, PrefixStore):
        return _place(store.store, f"{store.__reduce__()[1][1]}/{path}")
    if isinstance(store, ReadOnlyStore | RecordStore | ThrottleStore | FaultStore):
        return _place(store.store, path)
    if isinstance(store, LocalStore):
        return "local", (*Path(store.root).resolve().parts, *parts)
    if isinstance(store, ZipStore):
        return ("zip", Path(store.path).resolve()), parts
    if isinstance(store, MappingStore):
        mapping: Any = store.mapping
        if isinstance(mapping, _ZarrMemory):
            mapping = mapping._buffers
        if hasattr(mapping, "fs") and hasattr(mapping, "root"):
            return ("fsspec", mapping.fs), (*(part for part in mapping.root.split("/") if part), *parts)
        return ("mapping", id(mapping)), parts
    return store, parts
