"""The selection that is explained, as what is taken of each axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tessarray.errors import SelectionError
from tessarray.tuner.queries import Box

__all__ = ["AxisSelection", "select"]

Part = range | np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True)
class AxisSelection:
    """Of each axis: the indices, in the order in which they are read, and whether the result lacks the axis."""

    shape: tuple[int, ...]
    parts: tuple[Part, ...]
    drops: tuple[bool, ...]

    @property
    def elements(self) -> int:
        """How many elements are read."""
        return int(np.prod([len(part) for part in self.parts], dtype=object))

    @property
    def box(self) -> Box:
        """The smallest box around it; empty axes have (0, 0)."""
        return tuple((min(part), max(part) + 1) if len(part) else (0, 0) for part in self.parts)

    @property
    def is_box(self) -> bool:
        """Whether it is all of its box."""
        return all(
            len(part) == stop - start for part, (start, stop) in zip(self.parts, self.box, strict=True)
        )

    def read(self, array: Any) -> Any:
        """Read it of an array of this shape."""
        if all(isinstance(part, range) for part in self.parts):
            return array[self.index()]
        return array.oindex[self.index()]

    def index(self) -> tuple[Any, ...]:
        """What to index with."""
        return tuple(self._index(number) for number in range(len(self.parts)))

    def _index(self, number: int) -> Any:
        part = self.parts[number]
        if not isinstance(part, range):
            return part
        if self.drops[number]:
            return part.start
        stop: int | None = part.stop
        if part.step < 0 and part.stop < 0:
            stop = None
        return slice(part.start, stop, part.step)

    def text(self) -> str:
        """As it stands between brackets."""
        return f"[{', '.join(self._text(number) for number in range(len(self.parts)))}]"

    def _text(self, number: int) -> str:
        part = self.parts[number]
        if not isinstance(part, range):
            some = ", ".join(str(index) for index in part[:4])
            return f"[{some}{', ...' if len(part) > 4 else ''}]"
        if self.drops[number]:
            return str(part.start)
        if part == range(self.shape[number]):
            return ":"
        found: slice = self._index(number)
        step = f":{found.step}" if found.step not in (None, 1) else ""
        return f"{found.start}:{'' if found.stop is None else found.stop}{step}"

    def template(self, dims: Sequence[str | None] | None) -> str:
        """As a query class: names for indices, runs at any place."""
        letters = "ijklmnopqr"
        entries = []
        for number, (part, (start, stop)) in enumerate(zip(self.parts, self.box, strict=True)):
            if self.drops[number]:
                name = (dims[number] if dims else None) or letters[number % len(letters)]
                entries.append(name if name.isidentifier() else letters[number % len(letters)])
            else:
                entries.append(
                    ":" if len(part) and stop - start == self.shape[number] else f":{stop - start}"
                )
        return f"[{', '.join(entries)}]"

    def along(self, axis: int, chunk: int) -> list[int]:
        """Numbers of the chunks that are touched along an axis."""
        part = self.parts[axis]
        if not len(part):
            return []
        if isinstance(part, range) and abs(part.step) <= chunk:
            return list(range(min(part) // chunk, max(part) // chunk + 1))
        found: list[int] = np.unique(np.asarray(part, np.int64) // chunk).tolist()
        return found

    def first(self, axis: int, chunk: int, count: int) -> AxisSelection:
        """What lies in the first `count` chunks of those that an axis touches."""
        keep = set(self.along(axis, chunk)[:count])
        part = self.parts[axis]
        if isinstance(part, range):
            upwards = part if part.step > 0 else part[::-1]
            inside = _until(upwards, (max(keep) + 1) * chunk)
            new: Part = inside if part.step > 0 else inside[::-1]
        else:
            new = part[np.isin(part // chunk, list(keep))]
        parts = (*self.parts[:axis], new, *self.parts[axis + 1 :])
        return AxisSelection(self.shape, parts, self.drops)


def _until(part: range, stop: int) -> range:
    """The indices of an upward range that lie below a bound."""
    return part[: max(-(-(stop - part.start) // part.step), 0)]


def select(selection: Any, shape: Sequence[int]) -> AxisSelection:
    """A selection of whole numbers, slices, `...`, and lists of indices or masks that each take one axis (`oindex`).

    Raises `SelectionError` for others and for what does not fit.
    """
    extents = tuple(int(n) for n in shape)
    given = selection if isinstance(selection, tuple) else (selection,)
    given = tuple(one for one in given if one is not None)
    dots = [number for number, one in enumerate(given) if one is ...]
    if len(dots) > 1:
        raise SelectionError("an index can only have a single ellipsis ('...')")
    missing = len(extents) - (len(given) - len(dots))
    if missing < 0:
        raise SelectionError(
            f"too many indices: the array has {len(extents)} dimensions, {len(given) - len(dots)} were indexed"
        )
    at = dots[0] if dots else len(given)
    full = (*given[:at], *[slice(None)] * missing, *given[at + len(dots) :])
    found = list(_axes(full, extents))
    return AxisSelection(extents, tuple(part for part, _ in found), tuple(drop for _, drop in found))


def _axes(given: tuple[Any, ...], shape: tuple[int, ...]) -> Iterator[tuple[Part, bool]]:
    for axis, (one, extent) in enumerate(zip(given, shape, strict=True)):
        if isinstance(one, slice):
            yield range(extent)[one], False
            continue
        values = np.asarray(one)
        if values.dtype == bool and values.shape == (extent,):
            yield np.flatnonzero(values), False
        elif (values.dtype.kind in "iu" or values.size == 0) and values.ndim <= 1:
            indices = values.astype(np.int64)
            indices = np.where(indices < 0, indices + extent, indices)
            if bool(((indices < 0) | (indices >= extent)).any()):
                wrong = values[(values < -extent) | (values >= extent)].flat[0]
                raise SelectionError(f"index {wrong} is out of bounds for axis {axis} with size {extent}")
            yield (range(int(indices), int(indices) + 1), True) if indices.ndim == 0 else (indices, False)
        else:
            raise SelectionError(
                f"axis {axis}: expected a whole number, a slice, or a list or mask of one axis, found "
                f"{type(one).__name__} of shape {values.shape} and dtype {values.dtype}"
            )
