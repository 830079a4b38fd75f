"""Arguments for an array that may be there already: unknown ones are refused, and those that it contradicts."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any

import numpy as np

from tessarray.array_arguments import shape_of
from tessarray.arrays import Array
from tessarray.creation import create_array, create_group
from tessarray.dtypes import numpy_dtype, of_data
from tessarray.errors import InvalidArgumentError, InvalidTypeError

__all__ = ["require_known", "require_same"]


@cache
def _known(groups: bool) -> frozenset[str]:
    # What the callers take themselves, and hand on by names of their own.
    own = {"store", "name", "session", "storage_options"}
    both = {*inspect.signature(create_array).parameters}
    if groups:
        both |= {*inspect.signature(create_group).parameters} - {"path"}
    return frozenset(both - own)


def require_known(function: str, names: Iterable[str], groups: bool = False) -> None:
    """Raise `InvalidTypeError` for an argument that neither creating nor opening knows.

    groups: whether the function makes groups, too.
    """
    known = _known(groups)
    for name in names:
        if name not in known:
            close = get_close_matches(name, known, 1)
            hint = f"; did you mean {close[0]!r}?" if close else ""
            raise InvalidTypeError(f"{function}: unexpected keyword argument {name!r}{hint}")


def require_same(array: Array, arguments: Mapping[str, Any]) -> None:
    """Raise `InvalidArgumentError` if an array that is there has another shape or dtype than was asked for."""
    data = arguments.get("data")
    shape = arguments.get("shape")
    if shape is None and data is not None:
        shape = np.shape(data)
    if shape is not None and shape_of(shape, "shape") != array.shape:
        raise _contradiction(array, "shape", array.shape, shape_of(shape, "shape"))
    dtype = arguments.get("dtype")
    if dtype is None and data is not None:
        dtype = of_data(data)
    if dtype is None:
        return
    asked = np.dtype(numpy_dtype(dtype)).newbyteorder("=")
    if asked != array.dtype.newbyteorder("="):
        raise _contradiction(array, "dtype", array.dtype, asked)


def _contradiction(array: Array, what: str, found: object, asked: object) -> InvalidArgumentError:
    at = f"array {array.path!r}" if array.path else "the array"
    return InvalidArgumentError(
        f"{what}: {array.store.describe()}: {at} is there with {what} {found}, and {asked} was asked for; "
        "mode='w' replaces it",
        path=array.path,
    )
