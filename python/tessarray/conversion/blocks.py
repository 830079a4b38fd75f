"""Blocks: the regions a conversion moves one at a time, each of whole stored units. Pure integer maths.

A block of whole shards is written without reading what is there, so blocks never meet in a shard: they can be written
in any order by any thread, and doing one twice does no harm. That is what resuming relies on.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

from tessarray.conversion.errors import OptionError
from tessarray.conversion.layout import Extents, grow
from tessarray.conversion.model import ArraySpec, Region
from tessarray.display.units import byte_text

# A block in flight: its values, what is gathered of them, and what they are encoded to.
COPIES = 3
# Blocks of small stored units are joined up to this, so that the cost of a call does not count.
JOINED_BYTES = 32 << 20


def block_extents(spec: ArraySpec, unit: Extents, memory: int) -> Extents:
    """The extents of a block: `unit`, grown to cover what the source reads at once, with two blocks within `memory`.

    Raises `OptionError` if one unit alone does not fit.
    """
    counts = tuple(max(math.ceil(n / u), 1) for n, u in zip(spec.shape, unit, strict=True))
    clipped = math.prod(min(n, u) for n, u in zip(spec.shape, unit, strict=True)) * spec.itemsize
    if clipped * COPIES > memory:
        raise OptionError(
            f"array '{spec.path}': a stored unit of {unit} takes {byte_text(clipped * COPIES)} on its way, more than "
            f"the memory limit of {byte_text(memory)}: choose smaller shards or chunks, or more memory"
        )
    one = max(math.prod(unit) * spec.itemsize, 1)
    natural = spec.chunk or (1,) * len(unit)
    cover = tuple(min(math.ceil(s / u), n) for s, u, n in zip(natural, unit, counts, strict=True))
    covered = grow((1,) * len(unit), cover, max(memory // (2 * COPIES) // one, 1))
    joined = _extend(covered, counts, max(min(memory // (2 * COPIES), JOINED_BYTES) // one, 1))
    return tuple(u * k for u, k in zip(unit, joined, strict=True))


def _extend(start: Extents, counts: Extents, room: int) -> Extents:
    """Lengthen from the last axis backwards, which keeps blocks contiguous, while there is room."""
    extents = list(start)
    for axis in reversed(range(len(extents))):
        others = math.prod(extents) // extents[axis]
        extents[axis] = max(extents[axis], min(counts[axis], room // others))
    return tuple(extents)


def regions(shape: Extents, block: Extents) -> Iterator[Region]:
    """The blocks of an array in C order; one empty tuple without dimensions; none if it has no elements."""
    starts = [range(0, extent, part) for extent, part in zip(shape, block, strict=True)]
    for corner in itertools.product(*starts):
        yield tuple(
            slice(start, min(start + part, extent))
            for start, part, extent in zip(corner, block, shape, strict=True)
        )


def region_bytes(region: Region, itemsize: int) -> int:
    """Bytes of a region's values, not encoded."""
    return itemsize * math.prod(int(part.stop) - int(part.start) for part in region)
