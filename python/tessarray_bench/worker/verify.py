"""Are the values right? Compared bit by bit in slabs, so that the comparison needs little memory of its own."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

SLAB_BYTES = 16 << 20


class WrongAnswer(Exception):  # noqa: N818 - an answer, though not the right one
    """What was read differs from what was written; the text says where, what was expected and what was found."""


def in_memory(found: Any, where: str) -> None:
    """Raise `WrongAnswer` for an answer that has yet to be read or computed: a memory map, or a lazy array."""
    if not isinstance(found, (np.ndarray, np.generic, str, bytes, int, float)):
        raise WrongAnswer(f"{where}: expected values in memory (a NumPy array), found {type(found).__name__}")
    base: Any = found
    while isinstance(base, (np.ndarray, memoryview)):
        base = base.obj if isinstance(base, memoryview) else base.base
    if isinstance(base, mmap.mmap):
        raise WrongAnswer(f"{where}: expected values in memory, found a view of a memory map")


def same(found: Any, expected: np.ndarray[Any, Any], where: str) -> None:
    """Raise `WrongAnswer` unless both have the same shape and the same values, NaNs and signs of zero included."""
    found = np.asarray(found)
    if found.shape != expected.shape:
        raise WrongAnswer(f"{where}: expected shape {expected.shape}, found {found.shape}")
    if expected.dtype.kind in "TU" or expected.dtype == object:
        _same_strings(found, expected, where)
        return
    if found.dtype.newbyteorder("=") != expected.dtype.newbyteorder("="):
        raise WrongAnswer(f"{where}: expected {expected.dtype}, found {found.dtype}")
    if expected.ndim == 0:
        found, expected = found.reshape(1), expected.reshape(1)
    rows = max(SLAB_BYTES // max(expected[:1].nbytes, 1), 1)
    for start in range(0, expected.shape[0], rows):
        ours, theirs = expected[start : start + rows], found[start : start + rows]
        equal = _bits(ours) == _bits(theirs)
        if not equal.all():
            at = tuple(int(i) for i in np.argwhere(~equal)[0])
            place = (at[0] + start, *at[1:])
            wrong = int(equal.size - np.count_nonzero(equal))
            raise WrongAnswer(
                f"{where}{list(place)}: expected {ours[at]}, found {theirs[at]} ({wrong} wrong in this slab)"
            )


def _bits(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The values as integers of their size, so that NaN equals NaN."""
    native = values.astype(values.dtype.newbyteorder("="), copy=False)
    if native.dtype.kind in "fmM" and native.dtype.itemsize in (2, 4, 8):
        return np.ascontiguousarray(native).view(f"u{native.dtype.itemsize}")
    return native


def _same_strings(found: np.ndarray[Any, Any], expected: np.ndarray[Any, Any], where: str) -> None:
    for place in np.ndindex(expected.shape):
        value = found[place]
        text = value.decode() if isinstance(value, bytes) else str(value)
        if text != str(expected[place]):
            raise WrongAnswer(f"{where}{list(place)}: expected {expected[place]!r}, found {text!r}")
