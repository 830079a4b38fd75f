"""Attributes: from NumPy to JSON and back, with `_FillValue` in the form that xarray reads from Zarr v3.

JSON has one kind of number, netCDF has ten. The types of attributes, and which dimensions are unlimited, go into the
group attribute NOTES, which xarray hides as it hides every `_nc...` attribute of a group; it is read when a user goes
back to netCDF.
"""

from __future__ import annotations

import base64
import struct
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

NOTES = "_nc_tessarray"
# What JSON holds as it is.
PLAIN = {str, int, float, bool, type(None)}


def to_json(value: Any) -> Any:
    """An attribute as JSON holds it: NumPy scalars and arrays become numbers and lists, bytes become text."""
    if type(value) in PLAIN:
        return value
    if isinstance(value, np.ndarray):
        return to_json(value.tolist())
    if isinstance(value, np.generic):
        return to_json(value.item())
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape").encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, complex):
        return [value.real, value.imag]
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    if isinstance(value, Mapping):
        return {str(key): to_json(item) for key, item in value.items()}
    return value if isinstance(value, str | int | float) else str(value)


def _double(value: float) -> str:
    return base64.standard_b64encode(struct.pack("<d", float(value))).decode()


def encode_fill(value: Any, dtype: np.dtype[Any]) -> Any:
    """`_FillValue` as xarray writes it beside a Zarr v3 array of this type; None if it does not fit the type."""
    value = np.asarray(value).reshape(-1)[0] if np.size(value) else value
    try:
        if dtype.kind == "f":
            return _double(float(value))
        if dtype.kind == "c":
            return [_double(complex(value).real), _double(complex(value).imag)]
        if dtype.kind == "b":
            return bool(value)
        if dtype.kind in "iu":
            return int(value) if int(value) == value and _fits(int(value), dtype) else None
        # xarray reads no `_FillValue` of other types from Zarr v3: with one, it would refuse the whole dataset.
        return None
    except (TypeError, ValueError, OverflowError):
        return None


def _fits(value: int, dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return int(limits.min) <= value <= int(limits.max)


def decode_fill(value: Any, dtype: np.dtype[Any]) -> Any:
    """The inverse of `encode_fill`: a scalar of the array's type, or the value itself if it is in no known form."""
    try:
        if dtype.kind == "f":
            number = value if isinstance(value, int | float) else _undouble(value)
            return dtype.type(number)
        if dtype.kind == "c" and isinstance(value, list):
            return dtype.type(complex(*(_undouble(part) for part in value)))
        if dtype.kind in "iub":
            return dtype.type(value)
        if dtype.kind == "S" and isinstance(value, str):
            # xarray writes this form, and does not read it. It ends where the element's zeros begin.
            return base64.b64decode(value, validate=True).rstrip(b"\0")
        return value
    except (TypeError, ValueError, struct.error):
        return value


def _undouble(value: Any) -> float:
    return float(struct.unpack("<d", base64.standard_b64decode(value))[0])


def attribute_types(attrs: Mapping[str, Any]) -> dict[str, str]:
    """The NumPy types (`<f4`) of numeric attributes that JSON would not give back."""
    types = {}
    for name, value in attrs.items():
        kind = getattr(value, "dtype", None)
        if (
            name != "_FillValue"
            and kind is not None
            and kind.kind in "iuf"
            and kind not in (np.int64, np.float64)
        ):
            types[name] = kind.newbyteorder("<").str
    return types


def notes_of(
    attrs: Mapping[str, Any], members: Mapping[str, Mapping[str, Any]], unlimited: Iterable[str] = ()
) -> dict[str, Any]:
    """What JSON would forget about a group: types of its attributes and its members', fill values that are texts, and
    which of its dimensions are unlimited. Nothing where there is nothing, or where it is noted already."""
    types = {"": attribute_types(attrs)} | {name: attribute_types(own) for name, own in members.items()}
    notes = {
        "types": {name: found for name, found in types.items() if found},
        "unlimited": list(unlimited),
        "text_fill": [
            name for name, own in members.items() if isinstance(own.get("_FillValue"), str | bytes)
        ],
    }
    kept = {name: value for name, value in notes.items() if value}
    return {NOTES: kept} if kept and NOTES not in attrs else {}


def restore_types(attrs: Mapping[str, Any], types: Mapping[str, str]) -> dict[str, Any]:
    """Attributes with the types that `attribute_types` noted."""
    restored = dict(attrs)
    for name, kind in types.items():
        if name in restored:
            restored[name] = np.asarray(restored[name], dtype=kind)[()]
    return restored
