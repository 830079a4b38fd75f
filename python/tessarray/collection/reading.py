"""Reading one variable of many datasets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from tessarray._native import CollectionCore, FoundCore
from tessarray.collection.clipping import CURE
from tessarray.collection.decoding import packings
from tessarray.collection.keys import Keys, Selection
from tessarray.collection.meaning import STORED, Meaning
from tessarray.collection.names import listed, unknown
from tessarray.collection.parts import NDArray, Parts, decode_parts, distinct, kind_facts
from tessarray.collection.ragged import RaggedArray
from tessarray.errors import InvalidArgumentError, InvalidTypeError, NotFoundError, SelectionError

Missing = Literal["error", "skip", "fill"]
# "numbers": unpacked, while times stay numbers and letters are letters.
Decode = bool | Literal["numbers"]

# Names in the message of an error.
NAMED = 5


def read(
    core: CollectionCore,
    variable: str,
    names: str | Sequence[str] | None,
    selection: Selection,
    missing: Missing,
    decode: Decode,
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
    meaning = Meaning.of(core, found) if decode is True else STORED
    try:
        parts = read_parts(found, selection, bool(decode), None if meaning.changes else out, clip, meaning)
    except SelectionError as error:
        if clip or "reaches beyond axis" not in str(error):
            raise
        raise SelectionError(f"{error}; {CURE}", path=error.path) from error
    if out is not None and meaning.changes:
        meaning.copy(parts, out, len(found))
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


def read_parts(
    found: FoundCore,
    selection: Selection,
    decode: bool,
    out: NDArray | None,
    clip: bool = False,
    meaning: Meaning = STORED,
) -> Parts:
    """What was found, as elements one after the other."""
    kinds = found.kinds
    kind, _, attributes, _ = found.columns()
    ranks = {len(one) for one in found.shapes}
    if len(ranks) > 1:
        raise SelectionError(
            f"the arrays are of different ranks ({sorted(ranks)}): read them by groups of names"
        )
    keys, each = Keys(found, meaning.letters).of(selection, clip)
    dtypes = {one[0] for one in kinds}
    packing = packings(found) if decode else []
    target = None if out is None else _flat_out(out)
    if len(dtypes) > 1 or any(packing):
        return meaning.decoded(decode_parts(found, keys, each, kind, attributes, packing, target))
    flat, shapes, which = found.read(keys, each, None, target)
    if out is not None and len(set(shapes)) > 1:
        raise InvalidArgumentError("out: the arrays are of different shapes, which is a ragged array")
    if out is not None and out.shape != (len(found), *shapes[0]):
        raise InvalidArgumentError(f"out: expected shape {(len(found), *shapes[0])}, found {out.shape}")
    dims, fill = kind_facts(kinds)
    return meaning.decoded(distinct(Parts(flat, shapes, which, dims, fill)))


def _flat_out(out: NDArray) -> NDArray:
    if not isinstance(out, np.ndarray):
        raise InvalidTypeError(f"out: expected an array, found {type(out).__name__}")
    if not out.flags.c_contiguous:
        raise InvalidArgumentError("out: expected an array in C order")
    return out.reshape(-1)


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
