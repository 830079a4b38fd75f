"""Times and texts of the CF conventions: numbers since a date as moments, letters as texts."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np

from tessarray._native import CollectionCore, FoundCore
from tessarray.collection.parts import NDArray, Parts, distinct
from tessarray.collection.times import Scale, of_units
from tessarray.errors import InvalidArgumentError, InvalidTypeError

# Microseconds that `datetime64[us]` holds, but for the margin of a double.
LIMIT = 9.2e18


@dataclass(frozen=True)
class Meaning:
    """What the elements of a variable's arrays stand for beside numbers.

    scale: of each array of times. texts: bytes are texts. letters: those along the last axis make one text.
    """

    scale: list[Scale] | None = None
    texts: bool = False
    letters: bool = False

    @classmethod
    def of(cls, core: CollectionCore, found: FoundCore) -> Meaning:
        """Of the arrays that were found.

        Letters (`|S1`) are one text along a dimension that only letters of the collection have, as xarray has it:
        `PLATFORM_NUMBER(N_PROF, STRING8)`. Those of `TEMP_QC(N_PROF, N_LEVELS)` are one flag a level.
        """
        dtypes = {one[0] for one in found.kinds}
        if all(dtype.kind == "S" for dtype in dtypes):
            return cls(texts=True, letters=along_letters(core, found))
        return cls(scale=scales(found))

    @property
    def changes(self) -> bool:
        """Whether decoded elements are others than those that are read."""
        return self.texts or self.scale is not None

    def decoded(self, parts: Parts) -> Parts:
        """Elements that were read, as what they mean."""
        if self.scale is not None:
            sizes = parts.shape_of_each.prod(axis=1)
            return replace(parts, flat=moments(parts.flat, self.scale, sizes))
        if not self.texts:
            return parts
        if not self.letters:
            return replace(parts, flat=texts(parts.flat), fill="")
        lengths = parts.shape_of_each
        flat = joined(parts.flat, lengths[:, -1], lengths[:, :-1].prod(axis=1))
        shapes = [one[:-1] for one in parts.shapes]
        dims = parts.dims[:-1] if parts.dims else parts.dims
        return distinct(Parts(flat, shapes, parts.which, dims, ""))

    def copy(self, parts: Parts, out: NDArray, count: int) -> None:
        """Put decoded elements of `count` equal arrays into the caller's.

        Raises `InvalidArgumentError` for another shape, `InvalidTypeError` for a dtype that does not hold them.
        """
        shape = (count, *parts.shapes[0])
        if len(parts.shapes) > 1:
            raise InvalidArgumentError("out: the arrays are of different shapes, which is a ragged array")
        if not isinstance(out, np.ndarray) or not np.can_cast(parts.flat.dtype, out.dtype, "safe"):
            found = out.dtype if isinstance(out, np.ndarray) else type(out).__name__
            raise InvalidTypeError(f"out: expected an array of {parts.flat.dtype}, found {found}")
        if out.shape != shape:
            raise InvalidArgumentError(f"out: expected shape {shape}, found {out.shape}")
        out[...] = parts.flat.reshape(shape)


STORED = Meaning()


def along_letters(core: CollectionCore, found: FoundCore) -> bool:
    """Whether the last dimension is one that only letters of the collection have."""
    if any(one[0] != "S1" for one in found.kinds):
        return False
    last = {one[1][-1] if one[1] else None for one in found.kinds}
    return None not in last and last <= set(core.letter_dimensions())


def scales(found: FoundCore) -> list[Scale] | None:
    """The scale of each array of numbers since a date; `None` where they are no times, or of another calendar.

    Raises `InvalidTypeError` where only some of the arrays are times.
    """
    if any(one[0].kind not in "iuf" for one in found.kinds):
        return None
    each = [_scale(text) for text in found.attributes]
    used = [each[number] for number in found.columns()[2].tolist()]
    known = [one for one in used if one is not None and not one.why]
    if not known:
        return None
    if len(known) < len(used):
        name = next(name for name, one in zip(found.names, used, strict=True) if one is None or one.why)
        raise InvalidTypeError(
            f"decode: {name!r} stores numbers where others store times; decode=False gives the numbers of all"
        )
    return known


def _scale(attributes: str) -> Scale | None:
    if " since " not in attributes:
        return None
    given = json.loads(attributes)
    units, calendar = given.get("units"), given.get("calendar", "standard")
    if not isinstance(units, str) or not isinstance(calendar, str):
        return None
    return of_units(units, calendar.lower())


def moments(values: NDArray, scale: list[Scale], sizes: NDArray) -> NDArray:
    """Decoded numbers of many arrays, one after the other, as `datetime64[us]`; NaN is `NaT`.

    scale, sizes: of each array. Raises `InvalidArgumentError` for a number beyond the years that this dtype holds.
    """
    zero = np.repeat(np.array([float(one.zero) for one in scale]), sizes)
    unit = np.repeat(np.array([float(one.one) for one in scale]), sizes)
    numbers = values.astype(np.float64)
    known = ~np.isnan(numbers)
    # A double holds microseconds to about 285 years from the zero of the scale; the zero itself is added exactly.
    since = np.where(known, numbers * unit, 0.0)
    beyond = np.abs(since) + np.abs(zero) > LIMIT
    if beyond.any():
        raise InvalidArgumentError(
            f"decode: {values[beyond][0]} is no time that datetime64[us] holds; read it with decode=False"
        )
    found = np.rint(zero).astype(np.int64) + np.rint(since).astype(np.int64)
    result = found.astype("datetime64[us]")
    result[~known] = np.datetime64("NaT", "us")
    return result


def joined(letters: NDArray, lengths: NDArray, counts: NDArray) -> NDArray:
    """Letters (`|S1`) of many arrays as texts, without blanks and zeros at their ends.

    lengths: letters of a text, counts: texts, of each array.
    """
    longest = int(lengths.max(initial=0))
    if not longest:
        return np.full(int(counts.sum()), "", "U1")
    if (lengths == longest).all():
        table = letters.reshape(-1, longest)
    else:
        each = np.repeat(lengths, counts)
        table = np.full((int(counts.sum()), longest), b"", "S1")
        table[np.arange(longest) < each[:, None]] = letters
    return texts(np.ascontiguousarray(table).view(f"S{longest}").reshape(-1))


def texts(values: NDArray) -> NDArray:
    """Bytes as texts in UTF-8, or else in Latin-1, without blanks at the end."""
    try:
        # ASCII, which most are: without a call for each element.
        return np.char.rstrip(values.astype(f"U{max(values.dtype.itemsize, 1)}"))
    except UnicodeDecodeError:
        pass
    try:
        found = np.char.decode(values, "utf-8")
    except UnicodeDecodeError:
        found = np.char.decode(values, "latin-1")
    return np.char.rstrip(found)
