"""Making and opening collections."""

from __future__ import annotations

import datetime
import os
from typing import Any

from tessarray.collection.collection import Collection
from tessarray.errors import NotFoundError, TessarrayError
from tessarray.opening import open as tessarray_open
from tessarray.packs import create_pack, open_pack
from tessarray.sessions import Session
from tessarray.stores import StoreLike

__all__ = ["create_collection", "open_collection"]


def create_collection(
    store: StoreLike,
    *,
    chunks: Any = "auto",
    compressors: Any = "auto",
    durable: bool = True,
    session: Session | None = None,
) -> Collection:
    """Make a collection: in a local directory, or in any store.

    chunks: of its variables: `"auto"` (one chunk up to 1 MiB), extents, or extents by dimension name.
    compressors: as in `create_array`. Both are of this handle, and hold for what is added with it.
    durable: see `create_pack`.

    Raises `ExistsError` where there is a pack.
    """
    return Collection(create_pack(store, durable=durable, session=session), chunks, compressors, session)


def open_collection(
    store: StoreLike,
    version: int | str | datetime.datetime | None = None,
    *,
    chunks: Any = "auto",
    compressors: Any = "auto",
    durable: bool = True,
    session: Session | None = None,
) -> Collection:
    """Open a collection, or any pack of groups: at its latest version, or for ever at a number, a tag or a moment.

    Costs the reading of one or two small files; what is in it is looked up when it is first asked for.
    """
    try:
        pack = open_pack(store, version, durable=durable, session=session)
    except NotFoundError as error:
        if version is None and _is_zarr(store, session):
            raise NotFoundError(
                f"{store}: no pack, but an array or a group: open it with tessarray.open, or make a collection of it "
                "with build_collection",
                path=str(store),
            ) from error
        raise
    return Collection(pack, chunks, compressors, session)


def _is_zarr(store: StoreLike, session: Session | None) -> bool:
    """Whether there is an array or a group, with a pack or without."""
    if not isinstance(store, str | os.PathLike):
        return False
    try:
        tessarray_open(store, mode="r", session=session)
    except (TessarrayError, OSError):
        return False
    return True


def rebuild(store: StoreLike, version: int, chunks: Any, compressors: Any) -> Collection:
    """Open a collection again, from a pickle."""
    return open_collection(store, version, chunks=chunks, compressors=compressors)
