"""A selection as one index for all arrays of a variable, or one for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tessarray._native import FoundCore
from tessarray.collection.clipping import clipped
from tessarray.errors import SelectionError

Selection = Any


class Keys:
    """The indices of a selection.

    letters: the arrays have a last axis of letters. A selection is one of the texts, and takes them whole.
    """

    def __init__(self, found: FoundCore, letters: bool) -> None:
        self._found, self._letters = found, letters
        self._dims = [list(one[1] or ())[:-1] if letters else list(one[1] or ()) for one in found.kinds]
        self._shapes = [one[:-1] if letters else one for one in found.shapes]

    def of(self, selection: Selection, clip: bool) -> tuple[list[Any], bool]:
        """The indices, and whether there is one for each array."""
        if selection is None:
            return [...], False
        if clip or callable(selection):
            return self._each(selection, clip), True
        if isinstance(selection, Mapping):
            kind = self._found.columns()[0]
            keys = {
                number: self._whole(_by_name(selection, self._dims[number], self._found.names[0]))
                for number in np.unique(kind).tolist()
            }
            if len(keys) == 1:
                return list(keys.values()), False
            return [keys[number] for number in kind.tolist()], True
        return [self._whole(selection)], False

    def _each(self, selection: Selection, clip: bool) -> list[Any]:
        names, (kind, shape, _, _) = self._found.names, self._found.columns()
        dims = {name: self._dims[number] for name, number in zip(names, kind.tolist(), strict=True)}

        def placed(name: str, shape: tuple[int, ...]) -> Any:
            key = selection(name, shape) if callable(selection) else selection
            return _by_name(key, dims[name], name) if isinstance(key, Mapping) else key

        take = clipped(placed) if clip else placed
        return [
            self._whole(take(name, self._shapes[one]))
            for name, one in zip(names, shape.tolist(), strict=True)
        ]

    def _whole(self, key: Any) -> Any:
        """The index of the stored array: all letters of the texts that are selected."""
        if not self._letters:
            return key
        items = key if isinstance(key, tuple) else (key,)
        rank = len(self._shapes[0])
        axes = sum(_axes(item) for item in items)
        if axes > rank:
            raise SelectionError(
                f"{axes} axes were indexed, texts of letters have {rank}: decode=False gives the letters"
            )
        return (*items, slice(None)) if any(item is ... for item in items) else items


def _axes(item: Any) -> int:
    """How many axes a part of an index takes."""
    if item is None or item is ...:
        return 0
    if isinstance(item, slice):
        return 1
    given = np.asarray(item)
    return given.ndim if given.dtype == bool else 1


def _by_name(selection: Mapping[str, Any], dims: list[str | None], where: str) -> tuple[Any, ...]:
    for name in selection:
        if name not in dims:
            raise SelectionError(f"{where}: no dimension {name!r}; there are {dims}")
    return tuple(selection.get(name, slice(None)) if name else slice(None) for name in dims)
