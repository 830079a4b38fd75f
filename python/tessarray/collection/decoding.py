"""Stored values as what they mean: fill values are NaN, packed ones unpacked, each dataset by its own attributes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tessarray._native import FoundCore
from tessarray.conversion.attributes import decode_fill
from tessarray.errors import InvalidArgumentError

NDArray = npt.NDArray[Any]
# Integers up to this have a double each.
EXACT = 1 << 53
# Attributes of which one is there where stored values are not what they mean.
NAMES = ("scale_factor", "add_offset", "_FillValue", "missing_value")


@dataclass(frozen=True)
class Packing:
    """The CF conventions' `scale_factor`, `add_offset`, `_FillValue` and `missing_value` of an array."""

    scale: float
    offset: float
    missing: tuple[Any, ...]

    @classmethod
    def of(cls, attributes: str, dtype: np.dtype[Any]) -> Packing | None:
        """From attributes as JSON; `None` where stored values are what they mean."""
        if not any(name in attributes for name in NAMES):
            return None
        found = json.loads(attributes)
        if dtype.kind not in "iuf":
            return None
        scale, offset = (
            _number(found.get(name), default) for name, default in (("scale_factor", 1), ("add_offset", 0))
        )
        missing = missing_values(found, dtype)
        if scale == 1 and offset == 0 and not missing:
            return None
        return cls(scale, offset, missing)

    def decode(self, stored: NDArray) -> NDArray:
        """Of one array, or of several with this packing."""
        dtype = self.dtype(stored.dtype)
        if stored.dtype.kind in "iu" and stored.itemsize == 8:
            self._require_exact(stored)
        values = stored.astype(dtype)
        if self.scale != 1:
            values *= dtype.type(self.scale)
        if self.offset != 0:
            values += dtype.type(self.offset)
        for missing in self.missing:
            with np.errstate(all="ignore"):
                values[stored == np.asarray(missing).astype(stored.dtype)] = np.nan
        return values

    def _require_exact(self, stored: NDArray) -> None:
        """Raise `InvalidArgumentError` where an integer has no double of its own."""
        large = stored > EXACT
        if stored.dtype.kind == "i":
            large |= stored < -EXACT
        for missing in self.missing:
            large &= stored != np.asarray(missing).astype(stored.dtype)
        if large.any():
            raise InvalidArgumentError(
                f"decode: {stored[large][0]} has no exact floating-point number, and an integer has none for "
                "missing values; read it with decode=False"
            )

    @staticmethod
    def dtype(stored: np.dtype[Any]) -> np.dtype[Any]:
        """Of decoded values: single precision holds all integers of up to 16 bits."""
        single = (stored.kind == "f" and stored.itemsize <= 4) or (
            stored.kind in "iu" and stored.itemsize <= 2
        )
        return np.dtype(np.float32 if single else np.float64)

    def number(self, stored: float | None) -> float | None:
        """One decoded number, in double precision."""
        return None if stored is None else stored * self.scale + self.offset


def packings(found: FoundCore) -> list[Packing | None]:
    """Of each text of attributes that arrays have, by the dtype of those arrays."""
    kinds, texts = found.kinds, found.attributes
    kind, _, attributes, _ = found.columns()
    # Arrays that share a text of attributes are of one kind.
    owner = np.zeros(len(texts), np.int64)
    owner[attributes] = kind
    return [Packing.of(text, kinds[number][0]) for text, number in zip(texts, owner.tolist(), strict=True)]


def missing_values(attributes: Mapping[str, Any], dtype: np.dtype[Any]) -> tuple[Any, ...]:
    """What stands for no value: `_FillValue` and `missing_value`, without those that this dtype cannot hold."""
    found: list[Any] = []
    if attributes.get("_FillValue") is not None:
        found.append(decode_fill(attributes["_FillValue"], dtype))
    if attributes.get("missing_value") is not None:
        found += np.atleast_1d(np.asarray(attributes["missing_value"])).tolist()
    return tuple(one for one in found if isinstance(one, int | float | np.number) and _holds(dtype, one))


def _holds(dtype: np.dtype[Any], value: Any) -> bool:
    if dtype.kind not in "iu":
        return True
    limits = np.iinfo(dtype)
    return bool(np.isfinite(value)) and value == int(value) and int(limits.min) <= value <= int(limits.max)


def missing_bytes(attributes: Mapping[str, Any], dtype: np.dtype[Any]) -> bytes | None:
    """The same as stored elements one after the other, as the statistics take them."""
    if dtype.kind not in "iuf":
        return None
    with np.errstate(all="ignore"):
        found = b"".join(np.asarray(one).astype(dtype).tobytes() for one in missing_values(attributes, dtype))
    return found or None


def _number(value: Any, default: float) -> float:
    found = np.atleast_1d(np.asarray(default if value is None else value, dtype=float))
    return float(found[0])
