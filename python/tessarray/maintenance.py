"""Looking after stores: copy, check, repair, consolidate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tessarray import _native
from tessarray.arrays import Array
from tessarray.errors import ExistsError, InvalidArgumentError, TessarrayError
from tessarray.findings import Finding
from tessarray.groups import Group
from tessarray.opening import open as tessarray_open
from tessarray.opening import open_group
from tessarray.sessions import Session
from tessarray.stores import LocalStore, Store, StoreLike, ZipStore, require_existing, store_of

__all__ = ["CopyReport", "check", "consolidate_metadata", "copy_store", "repair"]


@dataclass(frozen=True)
class CopyReport:
    """What a copy did."""

    copied: int
    skipped: int
    bytes_copied: int


def copy_store(
    source: StoreLike,
    dest: StoreLike,
    *,
    source_path: str = "",
    dest_path: str = "",
    if_exists: Literal["raise", "replace", "skip"] = "raise",
    progress: Callable[[int, int], None] | None = None,
) -> CopyReport:
    """Copy every value below a path as it is, byte by byte: nothing is decoded.

    Metadata documents are copied last, so a reader of `dest` sees no array whose chunks are not there yet.
    `progress` is called with the bytes done and the bytes in all.

    >>> import numpy as np, tessarray
    >>> a, b = tessarray.MemoryStore(), tessarray.MemoryStore()
    >>> tessarray.save_array(a, np.arange(3))
    >>> tessarray.copy_store(a, b).copied
    2
    >>> tessarray.load(b).tolist()
    [0, 1, 2]
    """
    if if_exists not in ("raise", "replace", "skip"):
        raise InvalidArgumentError(f"if_exists: expected 'raise', 'replace' or 'skip', found {if_exists!r}")
    require_existing(source, "r")
    given = dest
    source, dest = store_of(source, "r"), store_of(dest, "a")
    prefix, target = source_path.strip("/"), dest_path.strip("/")
    entries = sorted(source.list(prefix), key=lambda entry: (_is_document(entry[0]), entry[0]))
    total, done, copied, skipped = sum(size for _, size in entries), 0, 0, 0
    present = {key for key, _ in dest.list(target)}
    for key, size in entries:
        relative = key.removeprefix(f"{prefix}/") if prefix else key
        to = f"{target}/{relative}" if target else relative
        if to in present and if_exists == "raise":
            raise ExistsError(
                f"{to}: already in {dest.describe()}; pass if_exists to skip or replace", key=to
            )
        if to in present and if_exists == "skip":
            skipped += 1
        elif (value := source.get(key)) is not None:
            dest.put(to, value)
            copied += 1
        done += size
        if progress is not None:
            progress(done, total)
    if isinstance(dest, ZipStore) and dest is not given:
        dest.close()
    return CopyReport(copied, skipped, done)


def _is_document(key: str) -> bool:
    return key.rpartition("/")[2] in ("zarr.json", ".zarray", ".zgroup", ".zattrs", ".zmetadata")


def check(
    store: StoreLike,
    *,
    path: str = "",
    deep: bool = False,
    missing: bool = False,
    session: Session | None = None,
) -> list[Finding]:
    """Look for damage in every array and group below a path. An empty list is good news.

    Reads metadata, shard indexes and sizes; `deep` also decodes every chunk. Changes nothing.

    missing: a finding per array of which not all chunks (shards) are stored, and how many. Zarr reads such a chunk as
    the fill value, so that only you know whether it was ever written: an array that is filled later, or that leaves
    empty chunks out, has some. Costs a listing per array.

    >>> import numpy as np, tessarray
    >>> store = tessarray.MemoryStore()
    >>> tessarray.save_array(store, np.arange(3))
    >>> store.put("c/0", store.get("c/0")[:-1])
    >>> [finding.key for finding in tessarray.check(store, deep=True)]
    ['c/0']
    """
    require_existing(store, "r")
    opened = store_of(store, "r")
    found = [Finding(**finding) for finding in _native.check_store(opened, path.strip("/"), deep, session)]
    left = opened.leftovers(path.strip("/")) if isinstance(opened, LocalStore) else []
    absent = _missing(opened, path.strip("/"), session) if missing else []
    return found + _leftovers(opened, left) + _duplicates(opened, path) + absent


def _missing(store: Store, path: str, session: Session | None) -> list[Finding]:
    """Arrays of which not all chunks are stored; one whose metadata are damaged is a finding of another kind."""
    try:
        node = tessarray_open(store, path=path, mode="r", session=session)
    except TessarrayError:
        return []
    arrays = (
        [node] if isinstance(node, Array) else [one for _, one in node.look(None) if isinstance(one, Array)]
    )
    found = []
    for array in arrays:
        stored, expected = array.nobjects_stored(), array.nobjects
        if stored < expected:
            message = f"{expected - stored} of {expected} chunks are not stored: they read as the fill value"
            found.append(Finding("missing", array.path, None, message))
    return found


def repair(
    store: StoreLike,
    *,
    path: str = "",
    apply: bool = False,
    deep: bool = False,
    session: Session | None = None,
) -> list[Finding]:
    """Remove what killed writers left behind, and say what else is wrong. Without `apply`, only say it.

    Removed are the harmless findings of `check`: temporary files, and chunks outside an array's grid. Data are never
    changed: a damaged chunk stays, and in the answer, for whoever can compute or copy it again. Returns what was found
    (with `apply`: removed or, where it is damage, left).

    Writers may be at work, in other processes, too, if the store locks updates, as folders, packs and memory do: an
    append is waited for, and the array's shape is read again while it is kept out. On other stores (an object
    store by its mapping) appends from other processes must have ended, as `append` itself asks.

    >>> import numpy as np, tessarray
    >>> store = tessarray.MemoryStore()
    >>> tessarray.save_array(store, np.arange(3))
    >>> store.put("c/7", b"a crashed append left this")
    >>> [finding.kind for finding in tessarray.repair(store, apply=True)], tessarray.check(store)
    (['out-of-bounds'], [])
    """
    require_existing(store, "r+")
    opened: Store = store_of(store, "r+")
    if not apply:
        return check(opened, path=path, deep=deep, session=session)
    at = path.strip("/")
    found = [Finding(**finding) for finding in _native.repair_store(opened, at, deep, session)]
    removed = opened.leftovers(at, remove=True) if isinstance(opened, LocalStore) else []
    return found + _leftovers(opened, removed)


def _leftovers(store: Store, files: list[tuple[Path, int]]) -> list[Finding]:
    if not isinstance(store, LocalStore):
        return []
    root = Path(store.root)
    message = "temporary file of a writer that was killed or is at work; {} bytes"
    return [
        Finding("leftover", file.relative_to(root).as_posix(), None, message.format(size))
        for file, size in files
    ]


def _duplicates(store: Store, path: str) -> list[Finding]:
    if not isinstance(store, ZipStore):
        return []
    message = (
        "the zip file has more than one value of this name: the last one counts, but not to every program"
    )
    below = path.strip("/")
    return [
        Finding("leftover", name, None, message)
        for name in store.duplicates()
        if not below or name.startswith(below + "/")
    ]


def consolidate_metadata(
    store: StoreLike,
    *,
    path: str | None = None,
    zarr_format: Literal[2, 3] | None = None,
    session: Session | None = None,
) -> Group:
    """Copy the metadata of everything below a group into its own document, so that opening reads one object.

    Arrays that change their shape or attributes later make the copy stale: consolidate again. A group of another
    format than `zarr_format`, where it is given, is an error.
    """
    group = open_group(store, path=path, mode="r+", session=session)
    if zarr_format not in (None, group.zarr_format):
        raise InvalidArgumentError(
            f"zarr_format: expected {zarr_format}, found a group of format {group.zarr_format}",
            path=group.path,
        )
    return group.consolidate_metadata()
