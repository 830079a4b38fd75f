"""The values of a fleet, or of a file of small arrays: the same for everyone, from (seed, dataset, variable).

A large fleet repeats its first datasets, so that all of its values fit into memory before a timer starts.

To make the values takes longer than to write them. A run makes them once, in a file (`save`); a process that was told
of the file (`use`) takes them from there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

from tessarray_bench.data import KINDS
from tessarray_bench.model import Fleet, Variable

Array = np.ndarray[Any, np.dtype[Any]]

# Bytes of distinct values that are held at most: 279 datasets of the gridded fleet, all of every other one up to 10^4.
DISTINCT_BYTES = 2 << 30
_RAGGED = 0x7A66ED  # a stream of the lengths, apart from that of the values
_ALIGNED = 64  # bytes: where in the file the values of an array begin

_given: dict[Fleet, Array] = {}  # the bytes of the files that this process was told of


def names(fleet: Fleet) -> list[str]:
    """The names of the datasets (or of the small arrays), in the order in which they are written."""
    digits = max(len(str(fleet.count - 1)), 4)
    return [f"d{index:0{digits}}" for index in range(fleet.count)]


def distinct(fleet: Fleet) -> int:
    """How many datasets differ: dataset `i` has the values of dataset `i % distinct`."""
    size = sum(math.prod(v.shape) * np.dtype(v.dtype).itemsize for v in fleet.variables)
    return min(fleet.count, max(DISTINCT_BYTES // max(size, 1), 1))


def shape(fleet: Fleet, index: int, variable: Variable) -> tuple[int, ...]:
    """The shape of a variable in one dataset: ragged ones have half to all of the rows of axis 0."""
    if not fleet.ragged:
        return variable.shape
    share = np.random.default_rng([fleet.seed, _RAGGED, index % distinct(fleet)]).uniform(0.5, 1)
    return (math.ceil(share * variable.shape[0]), *variable.shape[1:])


def values(fleet: Fleet, index: int, number: int) -> Array:
    """The values of variable `number` in dataset `index`."""
    if fleet not in _given:
        return _make(fleet, index, number)
    variable, place = fleet.variables[number], _place(fleet, index, number)
    dims = shape(fleet, index, variable)
    nbytes = math.prod(dims) * np.dtype(variable.dtype).itemsize
    return _given[fleet][place : place + nbytes].view(variable.dtype).reshape(dims)


def _make(fleet: Fleet, index: int, number: int) -> Array:
    variable = fleet.variables[number]
    rng = np.random.default_rng([fleet.seed, index % distinct(fleet), number])
    made = KINDS[fleet.kind](shape(fleet, index, variable), 0, np.dtype(variable.dtype), rng)
    return np.require(made, requirements=["C", "W"])


def _place(fleet: Fleet, index: int, number: int) -> int:
    """Where in the file an array begins, in bytes."""
    return _places(fleet)[index % distinct(fleet) * len(fleet.variables) + number]


@lru_cache(maxsize=1)
def _places(fleet: Fleet) -> list[int]:
    sizes = (
        math.prod(shape(fleet, index, variable)) * np.dtype(variable.dtype).itemsize
        for index in range(distinct(fleet))
        for variable in fleet.variables
    )
    return list(accumulate((-(-size // _ALIGNED) * _ALIGNED for size in sizes), initial=0))


def save(fleet: Fleet, path: Path) -> Path:
    """All distinct values in one file, which is made on the first call."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".partial")
        with partial.open("wb") as out:
            for index in range(distinct(fleet)):
                for number in range(len(fleet.variables)):
                    out.seek(_place(fleet, index, number))
                    out.write(_make(fleet, index, number).data)
        partial.replace(path)
    return path


def use(fleet: Fleet, path: Path | str | None, mapped: bool) -> None:
    """Take the values from the file of `save`: mapped, so that they cost this process no memory, or read into memory
    of its own. None: they are made."""
    if path is not None:
        _given[fleet] = np.memmap(path, np.uint8, "r") if mapped else np.fromfile(path, np.uint8)


def dataset(fleet: Fleet, index: int) -> dict[str, Array]:
    """The variables of one dataset, by name."""
    return {variable.name: values(fleet, index, number) for number, variable in enumerate(fleet.variables)}


def datasets(fleet: Fleet) -> list[tuple[str, dict[str, Array]]]:
    """All of a fleet, in memory."""
    held = [dataset(fleet, index) for index in range(distinct(fleet))]
    return [(name, held[index % len(held)]) for index, name in enumerate(names(fleet))]


@lru_cache(maxsize=1)
def _column(fleet: Fleet, number: int) -> list[Array]:
    return [values(fleet, index, number) for index in range(distinct(fleet))]


def column(fleet: Fleet, number: int) -> Iterator[Array]:
    """One variable of every dataset, in order. The values of the last variable asked for are kept."""
    held = _column(fleet, number)
    return (held[index % len(held)] for index in range(fleet.count))


def forget() -> None:
    """Give back the memory of `column`."""
    _column.cache_clear()


def corner(array: Array, share: float) -> Array:
    """Of every axis the first `ceil(share * length)` elements, as a view."""
    return array[tuple(slice(0, math.ceil(share * length)) for length in array.shape)]


def checksum(array: Any) -> int:
    """A sum over the bits of all values, the same in any memory order. Reads every value, at the speed of memory."""
    array = np.asarray(array)
    if array.dtype.kind not in "fiub":
        return hash(array.tobytes())
    bits = array.view(f"u{array.dtype.itemsize}")
    return int(bits.sum(dtype=bits.dtype))
