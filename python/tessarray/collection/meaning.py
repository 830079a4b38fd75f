"""Times and texts of the CF conventions: numbers since a date as moments, letters as texts."""

from __future__ import annotations

import json

import numpy as np

from tessarray._native import FoundCore
from tessarray.collection.reading import NDArray
from tessarray.collection.times import Scale, of_units
from tessarray.errors import InvalidArgumentError, InvalidTypeError

# Microseconds that `datetime64[us]` holds, but for the margin of a double.
LIMIT = 9.2e18


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
    given = json.loads(attributes or "{}")
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
        found = np.char.decode(values, "utf-8")
    except UnicodeDecodeError:
        found = np.char.decode(values, "latin-1")
    return np.char.rstrip(found)
