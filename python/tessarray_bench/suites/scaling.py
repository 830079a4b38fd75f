"""How arrays shrink with the scale: the shape does, the chunks stay, unless they would be larger than the array."""

from __future__ import annotations

import math


def scaled(shape: tuple[int, ...], scale: float, multiple: tuple[int, ...] | None = None) -> tuple[int, ...]:
    """A shape with about `scale` times as many elements, every axis shrunk alike, at least 4 long and, where it is
    longer than that, a multiple of the given lengths."""
    if scale == 1:
        return shape
    factor = scale ** (1 / len(shape))
    found = []
    for axis, extent in enumerate(shape):
        wanted = max(round(extent * factor), 4)
        unit = multiple[axis] if multiple else 1
        found.append(max(round(wanted / unit), 1) * unit if wanted > unit else wanted)
    return tuple(found)


def clipped(chunks: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Chunks no longer than the array."""
    return tuple(min(size, extent) for size, extent in zip(chunks, shape, strict=True))


def nearest_divisor(size: int, of: int) -> int:
    """The divisor of `of` that is nearest to `size` by ratio."""
    divisors = [n for n in range(1, of + 1) if of % n == 0]
    return min(divisors, key=lambda n: abs(math.log(n / size)))


def inner(blocks: tuple[int, ...], chunks: tuple[int, ...]) -> tuple[int, ...]:
    """Inner chunks for a shard: the nearest divisors, since Zarr's shards hold whole inner chunks only."""
    return tuple(nearest_divisor(min(size, of), of) for size, of in zip(blocks, chunks, strict=True))
