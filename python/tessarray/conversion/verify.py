"""Comparison of what is stored with the source: bit for bit, so NaN equals the same NaN and 0.0 is not -0.0."""

from __future__ import annotations

from typing import Any

import numpy as np

from tessarray.conversion.errors import VerificationError
from tessarray.conversion.model import NDArray, Region


def differing(expected: NDArray, actual: NDArray, dtype: np.dtype[Any]) -> NDArray | None:
    """Where two arrays of a shape differ as values of `dtype`: a boolean array, or None if nowhere."""
    if dtype.kind in "TUSO":
        unequal = np.asarray(np.asarray(expected).astype(dtype) != np.asarray(actual).astype(dtype))
    else:
        bits = (
            np.dtype(f"u{dtype.itemsize}")
            if dtype.itemsize in (1, 2, 4, 8)
            else np.dtype(f"V{dtype.itemsize}")
        )
        left = np.ascontiguousarray(_native(expected, dtype)).view(bits)
        right = np.ascontiguousarray(_native(actual, dtype)).view(bits)
        unequal = np.asarray(left != right)
    unequal = unequal.reshape(np.shape(expected))
    return unequal if unequal.any() else None


def _native(values: NDArray, dtype: np.dtype[Any]) -> NDArray:
    if values.dtype.kind in "mM" and dtype.kind in "iu":
        return values.view(values.dtype.str[0] + "i8").astype(dtype, copy=False)
    return values.astype(dtype, copy=False)


def _plain(value: Any) -> str:
    """A value as one would write it: numbers without their type, text in quotes."""
    if isinstance(value, np.str_ | np.bytes_):
        value = value.item()
    return repr(value) if isinstance(value, str | bytes) else str(value)


def compare(path: str, region: Region, expected: NDArray, actual: NDArray, dtype: np.dtype[Any]) -> None:
    """Raise `VerificationError` naming the first coordinates where a block differs, with both values."""
    if expected.shape != actual.shape:
        raise VerificationError(f"array '{path}': expected a block of {expected.shape}, found {actual.shape}")
    unequal = differing(expected, actual, dtype)
    if unequal is None:
        return
    first = tuple(int(at) for at in np.argwhere(unequal)[0]) if unequal.ndim else ()
    place = tuple(part.start + at for part, at in zip(region, first, strict=True))
    raise VerificationError(
        f"array '{path}' at {place}: expected {_plain(expected[first])}, found {_plain(actual[first])} "
        f"({int(unequal.sum())} values of this block differ)"
    )
