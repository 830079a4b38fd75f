"""Where a user points: a store, or an array or a group in it, as `cube.zarr:wind/u` or `cube.zarr/wind/u`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tessarray.conversion.errors import SourceNotFoundError
from tessarray.stores import local_path, pack_of

ROOT_MARKS = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")


def split(address: str) -> tuple[str, str]:
    """The path of the store and the path in it ("" for its root).

    A part that exists on disk is never cut at a colon, so `C:\\data\\cube.zarr:t2m` works. Raises
    `SourceNotFoundError` if no store is found on the way.
    """
    address = local_path(address)
    given = Path(address)
    if given.exists():
        return _climb(given)
    head, colon, inner = address.rpartition(":")
    if colon and Path(head).exists():
        store, above = _climb(Path(head))
        return store, "/".join(part for part in (above, inner.strip("/")) if part)
    pack = pack_of(given)
    if pack is not None:
        return pack
    for parent in given.parents:
        if parent.is_file() and parent.suffix.lower() == ".zip":
            return str(parent), given.relative_to(parent).as_posix()
        if parent.is_dir() and _is_node(parent):
            store, above = _climb(parent)
            inner = given.relative_to(parent).as_posix()
            raise SourceNotFoundError(f"{store}: no array or group named '{f'{above}/{inner}'.strip('/')}'")
    raise SourceNotFoundError(f"{address}: no such store")


def _is_node(path: Path) -> bool:
    return any((path / mark).is_file() for mark in ROOT_MARKS)


def _climb(path: Path) -> tuple[str, str]:
    """The highest node above `path` that is joined to it by nodes: the store; and the way down from it."""
    if path.is_file():
        return str(path), ""
    top = path
    while top.parent != top and _is_node(top.parent) and _is_node(top):
        top = top.parent
    inner = path.relative_to(top).as_posix()
    return str(top), "" if inner == "." else inner


def open_node(address: str) -> Any:
    """The array or group at an address, for reading."""
    import tessarray

    store, inner = split(address)
    return tessarray.open(store, path=inner, mode="r") if inner else tessarray.open(store, mode="r")


def open_array(address: str) -> Any:
    """The array at an address; the only array of a group stands for the group. Raises `SourceNotFoundError` else."""
    node = open_node(address)
    if hasattr(node, "shape"):
        return node
    arrays = [(name, child) for name, child in node.look() if hasattr(child, "shape")]
    if len(arrays) == 1:
        return arrays[0][1]
    names = ", ".join(sorted(name for name, _ in arrays)[:12]) or "none"
    raise SourceNotFoundError(
        f"{address}: is a group; name one of its arrays as {address}:NAME (there are: {names})"
    )
