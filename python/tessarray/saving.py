"""Whole arrays in and out, in one call each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tessarray.arrays import Array
from tessarray.creation import create_array, create_group
from tessarray.errors import InvalidTypeError
from tessarray.groups import Group
from tessarray.opening import open
from tessarray.stores import StoreLike, ZipStore, store_of

__all__ = ["load", "save", "save_array", "save_group"]


def save_array(store: StoreLike, data: npt.ArrayLike, *, path: str | None = None, **arguments: Any) -> None:
    """Write an array-like as one array, replacing what is there; `arguments` are those of `create_array`.

    >>> import numpy as np, tessarray
    >>> store = tessarray.MemoryStore()
    >>> tessarray.save_array(store, np.eye(2), compressors="zstd:1")
    >>> tessarray.load(store).tolist()
    [[1.0, 0.0], [0.0, 1.0]]
    """
    opened = store_of(store, "a" if path else "w")
    create_array(opened, name=path, data=data, overwrite=True, **arguments)
    _finish(opened, store)


def save_group(
    store: StoreLike, *args: npt.ArrayLike, path: str | None = None, **kwargs: npt.ArrayLike
) -> None:
    """Write several array-likes as the arrays of one group, as `numpy.savez` does: positional ones as `arr_0`, ..."""
    if not args and not kwargs:
        raise InvalidTypeError("expected at least one array")
    opened = store_of(store, "a" if path else "w")
    group = create_group(opened, path=path, overwrite=True)
    for name, data in [*((f"arr_{i}", data) for i, data in enumerate(args)), *kwargs.items()]:
        group.create_array(name, data=data)
    _finish(opened, store)


def save(store: StoreLike, *args: npt.ArrayLike, path: str | None = None, **kwargs: npt.ArrayLike) -> None:
    """Write one array-like as an array, several as a group.

    >>> import numpy as np, tessarray
    >>> store = tessarray.MemoryStore()
    >>> tessarray.save(store, x=np.arange(2), y=np.zeros(3))
    >>> sorted(tessarray.load(store))
    ['x', 'y']
    """
    if len(args) == 1 and not kwargs:
        save_array(store, args[0], path=path)
    else:
        save_group(store, *args, path=path, **kwargs)


def load(store: StoreLike, *, path: str | None = None) -> Any:
    """The values of an array as a NumPy array, or of a group as a dict of its arrays, by path.

    Costs the memory of all of them at once; `open` reads nothing until asked.
    """
    node = open(store, path=path, mode="r")
    if isinstance(node, Array):
        return node.read()
    if not isinstance(node, Group):
        raise InvalidTypeError(f"expected an array or a group, found {type(node).__name__}")
    return {
        name: np.asarray(found) for name, found in node.members(max_depth=None) if isinstance(found, Array)
    }


def _finish(opened: Any, given: StoreLike) -> None:
    """A zip that was opened here is closed here."""
    if isinstance(opened, ZipStore) and opened is not given:
        opened.close()
