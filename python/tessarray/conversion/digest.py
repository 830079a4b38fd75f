"""Digests of blocks of values: what tells a block that is stored whole from one that was lost or torn.

A digest is a CRC-32, which meets damage of storage and is no defence against an adversary.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from tessarray.conversion.model import NDArray


def digest(values: NDArray, dtype: np.dtype[Any]) -> int:
    """The CRC-32 of values, taken as `dtype` in C order; of texts and bytes of any length, with their lengths.

    Cost: one pass over the bytes (GB/s), without the GIL; values that are not as stored are copied first.
    """
    if dtype.kind in "TO":
        found = 0
        for item in np.asarray(values).reshape(-1).tolist():
            raw = item if isinstance(item, bytes) else str(item).encode("utf-8", "surrogatepass")
            found = zlib.crc32(b"%d:%b" % (len(raw), raw), found)
        return found
    if values.dtype != dtype:
        values = values.astype(dtype)
    return zlib.crc32(np.ascontiguousarray(values).reshape(-1).view(np.uint8))
