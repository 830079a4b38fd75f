"""Reading one variable of many datasets."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tessarray._native import CollectionCore, FoundCore
from tessarray.collection.clipping import CURE, clipped
from tessarray.collection.decoding import decode_parts, packings
from tessarray.collection.names import listed, unknown
from tessarray.collection.ragged import RaggedArray
from tessarray.dtypes import element
from tessarray.errors import InvalidArgumentError, InvalidTypeError, NotFoundError, SelectionError

NDArray = npt.NDArray[Any]
Missing = Literal["error", "skip", "fill"]
Selection = Any

# Names in the message of an error.
NAMED = 5


def read(
    core: CollectionCore,
    variable: str,
    names: str | Sequence[str] | None,
    selection: Selection,
    missing: Missing,
    decode: bool,
    out: NDArray | None,
    clip: bool = False,
) -> NDArray | RaggedArray:
    """See `Collection.read`."""
    if not isinstance(variable, str):
        raise InvalidTypeError(
            f"read: expected the name of one variable, found {type(variable).__name__}: read_many reads several"
        )
    if missing not in ("error", "skip", "fill"):
        raise InvalidArgumentError(f"missing: expected 'error', 'skip' or 'fill', found {missing!r}")
    asked, found = find(core, variable, names, missing)
    if not len(found):
        # Only where datasets may lack the variable; a variable that none has is an error in any case.
        return RaggedArray([], np.empty(0), np.empty((0, 1), np.int64))
    try:
        parts = read_parts(found, selection, decode, out, clip)
    except SelectionError as error:
        if clip or "reaches beyond axis" not in str(error):
            raise
        raise SelectionError(f"{error}; {CURE}", path=error.path) from error
    absent = [asked[place] for place in found.missing] if missing == "fill" else []
    even = len(parts.shapes) == 1
    if not absent:
        if not even:
            return RaggedArray(found.names, parts.flat, parts.shape_of_each, parts.dims)
        return parts.flat.reshape((len(found), *parts.shapes[0])) if out is None else out
    if out is not None:
        raise InvalidArgumentError("out: datasets without the variable are filled in a new array")
    return _with_absent(asked, found, parts, even)


def find(
    core: CollectionCore, variable: str, names: str | Sequence[str] | None, missing: Missing
) -> tuple[list[str], FoundCore]:
    """The arrays of a variable, and the names that were asked for."""
    if names is None:
        found = core.find(variable)
        asked = found.names
        if len(found) < len(core) and missing != "skip":
            asked = core.names()
            found = core.find(variable, asked)
    else:
        asked = listed(names)
        found = core.find(variable, asked)
    if found.missing:
        lacking = [asked[place] for place in found.missing]
        for name in lacking if names is not None else ():
            if name not in core:
                raise unknown("dataset", name, core.names(), "the collection")
        if missing == "error" and len(found):
            some = ", ".join(repr(name) for name in lacking[:NAMED])
            more = f" and {len(lacking) - NAMED} more" if len(lacking) > NAMED else ""
            raise NotFoundError(
                f"{len(lacking)} of {len(asked)} datasets have no variable {variable!r}: {some}{more}; "
                "missing='skip' leaves them out, missing='fill' fills them",
                path=f"{lacking[0]}/{variable}",
            )
    if not len(found) and (missing == "error" or variable not in dict(core.variables())):
        if not asked and names is not None:
            return asked, found
        raise unknown("variable", variable, (name for name, _ in core.variables()), "the collection")
    return asked, found


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


def read_parts(
    found: FoundCore, selection: Selection, decode: bool, out: NDArray | None, clip: bool = False
) -> Parts:
    """What was found, as elements one after the other."""
    kinds = found.kinds
    kind, shape, attributes, _ = found.columns()
    ranks = {len(one) for one in found.shapes}
    if len(ranks) > 1:
        raise SelectionError(
            f"the arrays are of different ranks ({sorted(ranks)}): read them by groups of names"
        )
    keys, each = _keys(found, kinds, kind, shape, selection, clip)
    dtypes = {one[0] for one in kinds}
    packing = packings(found) if decode else []
    target = None if out is None else _flat_out(out)
    if len(dtypes) == 1 and not any(packing):
        flat, shapes, which = found.read(keys, each, None, target)
        if out is not None and len(set(shapes)) > 1:
            raise InvalidArgumentError("out: the arrays are of different shapes, which is a ragged array")
        if out is not None and out.shape != (len(found), *shapes[0]):
            raise InvalidArgumentError(f"out: expected shape {(len(found), *shapes[0])}, found {out.shape}")
        dims, fill = _kind_facts(kinds)
        return _distinct(Parts(flat, shapes, which, dims, fill))
    return decode_parts(found, keys, each, kind, attributes, packing, target)


def _flat_out(out: NDArray) -> NDArray:
    if not isinstance(out, np.ndarray):
        raise InvalidTypeError(f"out: expected an array, found {type(out).__name__}")
    if not out.flags.c_contiguous:
        raise InvalidArgumentError("out: expected an array in C order")
    return out.reshape(-1)


def _kind_facts(kinds: list[Any]) -> tuple[tuple[str | None, ...] | None, Any]:
    """The names of the dimensions, where all agree, and the fill value of the first."""
    names = {None if one[1] is None else tuple(one[1]) for one in kinds}
    dtype, _, fill, _ = kinds[0]
    value = element(fill, "", dtype) if dtype.kind not in "OTV" and len(fill) == dtype.itemsize else ""
    return (names.pop() if len(names) == 1 else None), value


def _distinct(parts: Parts) -> Parts:
    """Shapes that are equal have one number: two selections may give one shape."""
    if len(set(parts.shapes)) == len(parts.shapes):
        return parts
    numbers = {shape: number for number, shape in enumerate(dict.fromkeys(parts.shapes))}
    renamed = np.array([numbers[shape] for shape in parts.shapes], np.int64)
    return Parts(parts.flat, list(numbers), renamed[parts.which], parts.dims, parts.fill)


def _keys(
    found: FoundCore, kinds: list[Any], kind: NDArray, shape: NDArray, selection: Selection, clip: bool
) -> tuple[list[Any], bool]:
    """One index for all arrays, or one for each."""
    if selection is None:
        return [...], False
    if clip:
        selection = _clipped(found, kinds, kind, selection)
    if isinstance(selection, Mapping):
        keys = {
            number: _by_name(selection, kinds[number][1], found.names[0])
            for number in np.unique(kind).tolist()
        }
        if len(keys) == 1:
            return list(keys.values()), False
        return [keys[number] for number in kind.tolist()], True
    if callable(selection):
        return _called(found, kinds, kind, shape, selection), True
    return [selection], False


def _clipped(
    found: FoundCore, kinds: list[Any], kind: NDArray, selection: Selection
) -> Callable[[str, tuple[int, ...]], Any]:
    """The selection for each array, by place, cut to it."""
    dims = {name: kinds[number][1] for name, number in zip(found.names, kind.tolist(), strict=True)}

    def placed(name: str, shape: tuple[int, ...]) -> Any:
        key = selection(name, shape) if callable(selection) else selection
        return _by_name(key, dims[name], name) if isinstance(key, Mapping) else key

    return clipped(placed)


def _by_name(selection: Mapping[str, Any], dims: list[str | None] | None, where: str) -> tuple[Any, ...]:
    known = dims or []
    for name in selection:
        if name not in known:
            raise SelectionError(f"{where}: no dimension {name!r}; there are {known}")
    return tuple(selection.get(name, slice(None)) if name else slice(None) for name in known)


def _called(
    found: FoundCore,
    kinds: list[Any],
    kind: NDArray,
    shape: NDArray,
    selection: Callable[[str, tuple[int, ...]], Any],
) -> list[Any]:
    shapes = found.shapes
    keys = []
    for name, number, one in zip(found.names, kind.tolist(), shape.tolist(), strict=True):
        key = selection(name, shapes[one])
        keys.append(_by_name(key, kinds[number][1], name) if isinstance(key, Mapping) else key)
    return keys


def _with_absent(asked: list[str], found: FoundCore, parts: Parts, even: bool) -> NDArray | RaggedArray:
    """Datasets without the variable: filled where the others are equal, empty where they are ragged."""
    places = found.columns()[3]
    if even:
        shape = parts.shapes[0]
        dtype = parts.flat.dtype
        fill = np.nan if dtype.kind in "fc" else parts.fill
        if dtype.kind in "mM":
            fill = np.array("NaT", dtype)[()]
        filled = np.full((len(asked), *shape), fill, dtype)
        filled[places] = parts.flat.reshape((len(found), *shape))
        return filled
    shapes = np.zeros((len(asked), parts.shape_of_each.shape[1]), np.int64)
    shapes[places] = parts.shape_of_each
    return RaggedArray(asked, parts.flat, shapes, parts.dims)
