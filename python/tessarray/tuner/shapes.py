"""Which chunk and shard shapes are worth thinking about: an enumeration that the cost model prunes.

Along an axis: every power of two, the axis in 1 to 16 equal parts, and the lengths that queries take. Shards are grown
from chunks to a few sizes, evenly or first along the axes that queries take whole (`space.py`).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence

import numpy as np

from tessarray.tuner.queries import QueryClass

__all__ = ["SHARD_BYTES", "chunk_shapes", "ladder"]

Extents = tuple[int, ...]
SMALLEST_CHUNK = 2 << 10
LARGEST_CHUNK = 64 << 20
MOST_SHAPES = 3000
SHARD_BYTES = (1 << 20, 8 << 20, 32 << 20, 128 << 20, 512 << 20)


def ladder(extent: int, lengths: Iterable[int] = (), coarse: bool = False) -> list[int]:
    """The chunk lengths tried along one axis, ascending."""
    found = {extent}
    step = 2 if coarse else 1
    found.update(2**power for power in range(0, extent.bit_length(), step) if 2**power < extent)
    found.update(-(-extent // parts) for parts in ((2, 4, 8) if coarse else (2, 3, 4, 5, 6, 8, 10, 16)))
    for length in lengths:
        found.update(size for size in (length, 2 * length) if 1 <= size <= extent)
    return sorted(found)


def chunk_shapes(
    shape: Extents,
    itemsize: int,
    classes: Sequence[QueryClass],
    rng: np.random.Generator,
    most: int = MOST_SHAPES,
    largest: int = LARGEST_CHUNK,
) -> list[Extents]:
    """Chunk shapes of 2 KiB to `largest` bytes (or the whole array), at most `most`: a seeded choice of them beyond."""
    total = math.prod(shape) * itemsize
    low, high = min(SMALLEST_CHUNK, total), max(min(largest, total), itemsize)
    for coarse in (False, True):
        axes = [
            ladder(n, {one.extents[axis] for one in classes if one.axes[axis].kind == "run"}, coarse)
            for axis, n in enumerate(shape)
        ]
        if math.prod(map(len, axes)) <= 200_000:
            break
    grid = np.array(list(itertools.islice(itertools.product(*axes), 400_000)), dtype=np.int64)
    sizes = grid.prod(axis=1) * itemsize
    kept = grid[(sizes >= low) & (sizes <= high)]
    if not len(kept):
        kept = grid[np.abs(sizes - low).argsort()[:1]]
    if len(kept) > most:
        kept = kept[np.sort(rng.choice(len(kept), most, replace=False))]
    return [tuple(int(n) for n in row) for row in kept]
