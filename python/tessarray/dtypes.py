"""Data types: what NumPy calls them and what Zarr does.

| NumPy | Zarr v3 |
|---|---|
| `bool`, `int8`...`uint64`, `float16`...`float64`, `complex64`, `complex128` | the same names |
| `ml_dtypes.bfloat16` (or the text `"bfloat16"`) | `bfloat16` |
| `ml_dtypes.int4`, `float8_e4m3fn`, ... (numbers of 8 bits and fewer, or their names) | the same names |
| `datetime64[ns]`, `timedelta64[10s]`, ... | `numpy.datetime64`, `numpy.timedelta64` |
| `S5`, `U5` | `null_terminated_bytes`, `fixed_length_utf32` |
| `V5` (or `"r40"`) | `r40` |
| `StringDType()`, `str`, `"string"` | `string` |
| objects that are `bytes`; written as `bytes` or `"variable_length_bytes"` | `variable_length_bytes` |
| structured types, packed | `structured` |

In memory elements are always in the machine's byte order; a dtype of the other order sets the order they are stored in.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tessarray._native import numpy_dtype

__all__ = ["element", "numpy_dtype", "stored_endian"]


def stored_endian(dtype: object) -> str | None:
    """`"big"` or `"little"` where the dtype asks for the byte order that is not the machine's, else `None`.

    >>> stored_endian(">i4"), stored_endian("int16")
    ('big', None)
    """
    try:
        order = np.dtype(dtype).byteorder  # type: ignore[call-overload]
    except TypeError:
        return None
    return {">": "big", "<": "little"}.get(order) if order in "<>" else None


def element(value: bytes, data_type: str, dtype: np.dtype[Any]) -> Any:
    """One element from its bytes in memory: a NumPy scalar, or `str` or `bytes` of any length.

    >>> element(bytes([7, 0]), "uint16", np.dtype("uint16"))
    np.uint16(7)
    """
    if data_type == "string":
        return value.decode()
    if data_type == "variable_length_bytes":
        return value
    return np.frombuffer(value, dtype)[0]


def of_data(data: npt.ArrayLike) -> Any:
    """The dtype to store an array-like with; objects are taken for strings or byte strings where all of them are."""
    array = np.asanyarray(data)
    if array.dtype.kind == "U" and not isinstance(data, np.ndarray):
        return "string"
    if array.dtype.kind != "O":
        return getattr(data, "dtype", array.dtype) if isinstance(data, np.ndarray) else array.dtype
    if all(isinstance(item, str) for item in array.flat):
        return "string"
    if all(isinstance(item, bytes) for item in array.flat):
        return "variable_length_bytes"
    return array.dtype
