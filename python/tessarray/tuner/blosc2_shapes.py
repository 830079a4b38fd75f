"""The chunk and block that Blosc2 chooses (python-blosc2 4.14): cuts of the array that fit the processor's caches.

1. A block has the bytes that fit the second cache beside three other operands (or four times the first cache, where the
   second is large); its axes are filled from the last one, preferring divisors of the array's.
2. A chunk has a quarter of the third cache, in whole blocks, filled in the same way, but never below the block.
"""

from __future__ import annotations

import math
import platform
from dataclasses import dataclass
from pathlib import Path

__all__ = ["Caches", "blosc2_shapes"]

KIB, MIB = 1 << 10, 1 << 20
LEAST_CHUNK_BYTES = 4 * MIB
MOST_CHUNK_BYTES = 2**31 - 1 - 32
OPERANDS = 4
UNITS = {"K": KIB, "M": MIB, "G": 1 << 30}

Extents = tuple[int, ...]


@dataclass(frozen=True)
class Caches:
    """Bytes of the first (data), second and third cache, as Blosc2 takes them where it cannot find out."""

    first: int = 32 * KIB
    second: int = 256 * KIB
    third: int = 1024 * KIB

    @classmethod
    def here(cls) -> Caches:
        """This machine's, as Linux tells them; the defaults on other systems."""
        known = {name: _linux_cache(index) for name, index in (("first", 0), ("second", 2), ("third", 3))}
        return cls(**{name: size for name, size in known.items() if size})


def _linux_cache(index: int) -> int | None:
    try:
        text = Path(f"/sys/devices/system/cpu/cpu0/cache/index{index}/size").read_text().strip()
        return int(text[:-1]) * UNITS[text[-1]]
    except (OSError, ValueError, KeyError, IndexError):
        return None


def blosc2_shapes(
    shape: Extents, itemsize: int, caches: Caches | None = None, machine: str | None = None
) -> tuple[Extents, Extents]:
    """(chunk, block) of an array; the chunk is rounded up to whole blocks, as Blosc2 pads it when it stores it.

    `machine` is the architecture as `platform.machine()` names it.
    """
    caches = caches or Caches.here()
    least = caches.first
    if (machine or platform.machine()) == "x86_64":
        least = caches.first * 4 if caches.second >= 2 * MIB else caches.second // OPERANDS
    nbytes = max(32 * KIB, least, itemsize)
    block = _filled(nbytes // itemsize, shape)
    nbytes = math.prod(block) * itemsize
    target = _chunk_bytes(nbytes, caches)
    chunk = _filled(target // nbytes * nbytes // itemsize, shape, block)
    return tuple(-(-c // b) * b for c, b in zip(chunk, block, strict=True)), block


def _chunk_bytes(block: int, caches: Caches) -> int:
    nbytes = block * 32 if block * 32 < 64 * MIB else block
    if caches.third > caches.second:
        nbytes = caches.third
    nbytes //= OPERANDS
    if caches.second > nbytes:
        nbytes = max(caches.second // OPERANDS, nbytes)
    return max(min(max(nbytes, LEAST_CHUNK_BYTES), MOST_CHUNK_BYTES), block)


def _filled(room: int, shape: Extents, least: Extents | None = None) -> Extents:
    """Extents of about `room` elements: the last axis first, whole if it fits, else a divisor that is not far off."""
    parts = [1] * len(shape)
    for axis in reversed(range(len(shape))):
        if room <= 1:
            break
        extent = shape[axis]
        part = extent if extent <= room else _about(extent, max(room, least[axis] if least else 1))
        parts[axis] = part
        room //= part
    return tuple(parts)


def _about(extent: int, part: int) -> int:
    """The largest divisor of `extent` up to `part` that is more than half of it; `part` where there is none."""
    return next((one for one in range(part, part // 2, -1) if extent % one == 0), part)
