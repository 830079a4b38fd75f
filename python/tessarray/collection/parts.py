"""Elements of the arrays of one variable, one after the other, and the shapes of the arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tessarray._native import FoundCore
from tessarray.collection.decoding import Packing
from tessarray.dtypes import element
from tessarray.errors import InvalidTypeError

NDArray = npt.NDArray[Any]


@dataclass
class Parts:
    """What was read: elements one after the other, and the shapes."""

    flat: NDArray
    shapes: list[tuple[int, ...]]
    which: npt.NDArray[np.int64]
    dims: tuple[str | None, ...] | None
    fill: Any

    @property
    def shape_of_each(self) -> npt.NDArray[np.int64]:
        """`[n, rank]`."""
        table = np.array(self.shapes, np.int64).reshape(len(self.shapes), -1)
        return table[self.which]


def kind_facts(kinds: list[Any]) -> tuple[tuple[str | None, ...] | None, Any]:
    """The names of the dimensions, where all agree, and the fill value of the first."""
    names = {None if one[1] is None else tuple(one[1]) for one in kinds}
    dtype, _, fill, _ = kinds[0]
    value = element(fill, "", dtype) if dtype.kind not in "OTV" and len(fill) == dtype.itemsize else ""
    return (names.pop() if len(names) == 1 else None), value


def distinct(parts: Parts) -> Parts:
    """Shapes that are equal have one number: two selections may give one shape."""
    if len(set(parts.shapes)) == len(parts.shapes):
        return parts
    numbers = {shape: number for number, shape in enumerate(dict.fromkeys(parts.shapes))}
    renamed = np.array([numbers[shape] for shape in parts.shapes], np.int64)
    return Parts(parts.flat, list(numbers), renamed[parts.which], parts.dims, parts.fill)


def decode_parts(
    found: FoundCore,
    keys: list[Any],
    each: bool,
    kind: NDArray,
    attributes: NDArray,
    packing: list[Packing | None],
    out: NDArray | None,
) -> Parts:
    """Arrays of several dtypes, or packed ones: read by groups that agree, and put into their places."""
    kinds = found.kinds
    dtype = _result_type(found, kinds, kind, attributes, packing)
    groups: dict[tuple[int, int], list[int]] = {}
    for member, (number, text) in enumerate(zip(kind.tolist(), attributes.tolist(), strict=True)):
        group = (number, text if packing and packing[text] is not None else -1)
        groups.setdefault(group, []).append(member)
    read = []
    shapes: list[tuple[int, ...]] = []
    which = np.empty(len(found), np.int64)
    for (_, text), members in groups.items():
        own = [keys[member] for member in members] if each else keys
        flat, part_shapes, part_which = found.read(own, each, members, None)
        unpack = packing[text] if text >= 0 else None
        read.append((members, unpack.decode(flat) if unpack is not None else flat))
        which[members] = part_which + len(shapes)
        shapes += part_shapes
    sizes = np.array([int(np.prod(shape, dtype=np.int64)) for shape in shapes], np.int64)[which]
    stops = np.cumsum(sizes)
    result = np.empty(int(stops[-1]), dtype) if out is None else out
    if result.dtype != dtype or result.size != int(stops[-1]):
        raise InvalidTypeError(
            f"out: expected {stops[-1]} elements of {dtype}, found {result.size} of {result.dtype}"
        )
    for members, flat in read:
        begin = 0
        for member in members:
            size = int(sizes[member])
            stop = int(stops[member])
            result[stop - size : stop] = flat[begin : begin + size]
            begin += size
    dims, fill = kind_facts(kinds)
    return distinct(Parts(result, shapes, which, dims, fill))


def _result_type(
    found: FoundCore, kinds: list[Any], kind: NDArray, attributes: NDArray, packing: list[Packing | None]
) -> np.dtype[Any]:
    """The dtype that holds all."""
    pairs = set(zip(kind.tolist(), attributes.tolist(), strict=True))
    dtypes = {
        Packing.dtype(kinds[number][0]) if packing and packing[text] is not None else kinds[number][0]
        for number, text in pairs
    }
    try:
        merged: np.dtype[Any] = np.result_type(*dtypes)
    except TypeError:
        merged = np.dtype(object)
    if (merged.kind == "O" and len(dtypes) > 1) or len({dtype.kind in "SUTO" for dtype in dtypes}) > 1:
        listed = ", ".join(sorted(str(dtype) for dtype in dtypes))
        raise InvalidTypeError(
            f"the datasets store this variable as {listed}, which no dtype holds: read them by groups of names"
        )
    return merged
