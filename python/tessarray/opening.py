"""Opening arrays and groups, in the modes of zarr-python:

| mode | there | not there |
|---|---|---|
| `r` | open, refuse changes | `NotFoundError` |
| `r+` | open | `NotFoundError` |
| `a` | open | create |
| `w` | replace | create |
| `w-` | `ExistsError` | create |

Without a mode nothing is created by a mistyped path: `open` and `open_group` are `r+` then (`r` for a store that
refuses changes), unless they are told what to create. In this they differ from zarr-python.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from tessarray import _native
from tessarray._native import Node, Store
from tessarray.arrays import Array
from tessarray.configuring import Verify, configure
from tessarray.creation import create_array, create_group
from tessarray.errors import InvalidArgumentError, InvalidTypeError, NotFoundError
from tessarray.existing import require_known, require_same
from tessarray.groups import Group, node_of
from tessarray.sessions import Session
from tessarray.stores import StoreLike, require_existing, store_of

__all__ = ["Mode", "open", "open_array", "open_consolidated", "open_group"]

Mode = Literal["r", "r+", "a", "w", "w-"]


def _open_store(store: StoreLike, mode: str, storage_options: Mapping[str, Any] | None) -> Store:
    if mode not in ("r", "r+", "a", "w", "w-"):
        raise InvalidArgumentError(f"mode: expected r, r+, a, w or w-, found {mode!r}")
    require_existing(store, mode)
    return store_of(store, mode, storage_options)


def _found(store: Store, path: str, mode: str, kind: str | None, session: Session | None) -> Node | None:
    """What is there; `None` where it is to be created."""
    if mode in ("w", "w-"):
        return None
    try:
        return _native.open_node(store, path, kind, session)
    except NotFoundError:
        if mode == "a" and not store.read_only:
            return None
        raise


def _unless_told(store: StoreLike, told: bool) -> Mode:
    """The mode of a caller who gives none."""
    if isinstance(store, Store) and store.read_only:
        return "r"
    return "a" if told else "r+"


@contextmanager
def _with_hint(hint: bool, what: str) -> Iterator[None]:
    """Says how to create what is not there, to a caller who gave no mode."""
    try:
        yield
    except NotFoundError as error:
        if not hint:
            raise
        raise NotFoundError(f"{error}; to create it: {what}, or mode='a'", path=error.path) from None


def open_array(
    store: StoreLike,
    *,
    path: str | None = None,
    mode: Mode = "a",
    storage_options: Mapping[str, Any] | None = None,
    verify: Verify | None = None,
    config: Any = None,
    write_empty_chunks: bool | None = None,
    session: Session | None = None,
    **arguments: Any,
) -> Array:
    """Open the array at a path, or create it in the modes that do; `arguments` are those of `create_array`.

    A path whose array exists is opened as it is: `arguments` count only where one is created, and `data` are not
    written. If it has another shape or dtype than they say, that is an `InvalidArgumentError` that names both. An
    unknown argument is an `InvalidTypeError` in any case. The metadata are read once; `refresh` rereads them.

    verify: `"always"` if every read is to verify the checksums of all chunks that it touches, whole; `"first"`, as
    where it is left out, if a part of a large chunk that was verified before may be read alone (what that cannot see
    is a change with no write: a bit that turns on the medium, or a writable memory map).
    config: as in zarr-python: `{"read_missing_chunks": False}` makes a chunk (shard) that is not stored a
    `MissingChunkError`, `{"write_empty_chunks": True}` (also an argument of its own) stores chunks that hold
    nothing but the fill value; or zarr-python's `ArrayConfig`. They are of this handle and its pickles, not of what
    is stored.

    >>> import tessarray
    >>> store = tessarray.MemoryStore()
    >>> a = tessarray.open_array(store, mode="w", shape=3, dtype="uint8")
    >>> tessarray.open_array(store, mode="r")[...].tolist()
    [0, 0, 0]
    """
    require_known("open_array", arguments)
    opened = _open_store(store, mode, storage_options)
    at = (path or "").strip("/")
    node = _found(opened, at, mode, "array", session)
    if node is not None:
        array = Array(configure(node, verify, config, write_empty_chunks), opened)
        if arguments:
            require_same(array, arguments)
        return array
    if arguments.get("shape") is None and arguments.get("data") is None:
        if mode == "a":
            raise NotFoundError(
                f"{opened.describe()}: no array at {at!r}; pass shape and dtype to create one", path=at
            )
        raise InvalidTypeError(f"mode {mode!r} creates an array: expected shape and dtype, or data")
    overwrite = arguments.pop("overwrite", False) or mode == "w"
    arguments |= {"verify": verify, "config": config, "write_empty_chunks": write_empty_chunks}
    return create_array(opened, name=at, overwrite=overwrite, session=session, **arguments)


def open_group(
    store: StoreLike,
    *,
    path: str | None = None,
    mode: Mode | None = None,
    zarr_format: Literal[2, 3] | None = None,
    use_consolidated: bool | None = None,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    verify: Verify | None = None,
    config: Any = None,
    session: Session | None = None,
) -> Group:
    """Open the group at a path, or create it in the modes that do.

    use_consolidated: `None` uses consolidated metadata where they are present and a look at each member would be a
    round trip over a network; `True` is an error where there are none; `False` looks at each member.
    verify, config: for the arrays below, as in `open_array`.

    `mode` is `r+` where left out: nothing is created. If `attributes` or a `zarr_format` are given, it is `a`.

    >>> import tessarray
    >>> store = tessarray.MemoryStore()
    >>> tessarray.open_group(store, attributes={"n": 1}).attrs["n"]
    1
    """
    hint = mode is None
    mode = mode or _unless_told(store, attributes is not None or zarr_format is not None)
    at = (path or "").strip("/")
    with _with_hint(hint, "create_group"):
        opened = _open_store(store, mode, storage_options)
        node = _found(opened, at, mode, "group", session)
    if node is not None:
        return consolidated(Group(configure(node, verify, config), opened), use_consolidated)
    if use_consolidated:
        raise NotFoundError(f"{opened.describe()}: no group with consolidated metadata at {at!r}", path=at)
    group = create_group(
        opened,
        path=at,
        zarr_format=zarr_format or 3,
        attributes=attributes,
        overwrite=mode == "w",
        session=session,
    )
    return group.configured(verify, config)


def consolidated(group: Group, wanted: bool | None) -> Group:
    """The group, opened with consolidated metadata, without them, or as there are."""
    if wanted not in (None, True, False):
        raise InvalidArgumentError(f"use_consolidated: expected True, False or None, found {wanted!r}")
    if wanted and not group._is_consolidated():
        raise InvalidArgumentError(
            f"use_consolidated: {group.path or '/'} has no consolidated metadata; `consolidate_metadata` writes them",
            path=group.path,
        )
    if wanted is False:
        group._look_directly()
    return group


def open_consolidated(store: StoreLike, **arguments: Any) -> Group:
    """Open a group that has consolidated metadata, which is an error where it has none; see `open_group`."""
    given: dict[str, Any] = {"mode": "r", "use_consolidated": True} | arguments
    return open_group(store, **given)


def open(
    store: StoreLike,
    *,
    path: str | None = None,
    mode: Mode | None = None,
    storage_options: Mapping[str, Any] | None = None,
    verify: Verify | None = None,
    config: Any = None,
    use_consolidated: bool | None = None,
    session: Session | None = None,
    **arguments: Any,
) -> Array | Group:
    """Open whatever is at a path, array or group.

    `mode` is `r+` where left out, or `r` for a store that refuses changes: nothing is created by a mistyped path. With
    a `shape` or `data` among the `arguments` it is `a`. Where something is created, that is an array with these, else
    a group; an array that is there must have the shape and dtype that they say, and unknown ones are refused, as in
    `open_array`. `use_consolidated` is of groups; see `open_group`. verify, config: as in `open_array`.

    >>> import tessarray
    >>> store = tessarray.MemoryStore()
    >>> tessarray.save_array(store, [1, 2, 3])
    >>> tessarray.open(store).shape
    (3,)
    """
    require_known("open", arguments, groups=True)
    hint = mode is None
    told = arguments.get("shape") is not None or arguments.get("data") is not None
    mode = mode or _unless_told(store, told)
    at = (path or "").strip("/")
    with _with_hint(hint, "create_array, create_group"):
        opened = _open_store(store, mode, storage_options)
        node = _found(opened, at, mode, None, session)
    if node is not None:
        configured = configure(node, verify, config, arguments.get("write_empty_chunks"))
        found = node_of(configured, opened)
        if isinstance(found, Group):
            return consolidated(found, use_consolidated)
        if arguments:
            require_same(found, arguments)
        return found
    arguments |= {"verify": verify, "config": config}
    if told:
        return open_array(opened, path=at, mode="a" if mode == "a" else mode, session=session, **arguments)
    arguments["use_consolidated"] = use_consolidated
    return open_group(opened, path=at, mode=mode, session=session, **arguments)
