"""What of a file the demonstration looks at: its largest numeric array, and three slices of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from tessarray.conversion.model import ArraySpec, Source
from tessarray.demo.errors import DemoError

BOX = 48


@dataclass(frozen=True)
class Query:
    """One slice: a name, what it is in words, and the index as basic NumPy slices and whole numbers."""

    name: str
    words: str
    index: tuple[Any, ...]


def largest(source: Source) -> ArraySpec:
    """The numeric array of two dimensions or more with the most values. Raises `DemoError` if there is none."""
    fitting = [
        spec
        for spec in source.arrays()
        if spec.dtype.kind in "iuf" and sum(extent > 1 for extent in spec.shape) >= 2
    ]
    if not fitting:
        raise DemoError(f"{source.label}: no numeric array of two dimensions or more to slice")
    return max(fitting, key=lambda spec: math.prod(spec.shape))


def queries(spec: ArraySpec) -> list[Query]:
    """A map (the last two axes), a series (the longest of the others, or else the first) and a box in the middle."""
    shape, middle = spec.shape, tuple(extent // 2 for extent in spec.shape)
    names = spec.dims or tuple(f"axis {axis}" for axis in range(len(shape)))
    full = slice(None)
    last_two = len(shape) - 2
    line = max(range(last_two), key=lambda axis: shape[axis]) if last_two else 0
    plane: tuple[Any, ...] = (*middle[:-2], full, full)
    if not last_two:
        # Of an array that is one plane, the map is its middle half.
        plane = tuple(slice(extent // 4, max(3 * extent // 4, extent // 4 + 1)) for extent in shape)
    series = tuple(full if axis == line else at for axis, at in enumerate(middle))
    return [
        Query("map", f"{names[-2]} × {names[-1]}", plane),
        Query("series", f"along {names[line]}", series),
        Query("box", f"{BOX} a side, or all", _box(shape)),
    ]


def _box(shape: tuple[int, ...]) -> tuple[slice, ...]:
    return tuple(slice((n - min(n, BOX)) // 2, (n - min(n, BOX)) // 2 + min(n, BOX)) for n in shape)


def text(index: tuple[Any, ...]) -> str:
    """An index as it is typed: `[480, :, 10:20]`."""
    parts = [
        f"{'' if part.start is None else part.start}:{'' if part.stop is None else part.stop}"
        if isinstance(part, slice)
        else str(part)
        for part in index
    ]
    return f"[{', '.join(parts)}]"
