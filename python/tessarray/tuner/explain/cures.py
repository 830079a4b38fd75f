"""Layouts that would cure a read, made from the selection. `tessarray tune` weighs them against other reads."""

from __future__ import annotations

import math
from dataclasses import replace

from tessarray.tuner.explain.counting import Counts
from tessarray.tuner.layout import Layout

__all__ = ["bigger_chunks", "bigger_shards", "fitting_chunks", "smaller_chunks"]

SMALLEST = 64 << 10  # bytes of values of a chunk that is proposed
GOOD = 1 << 20
LARGEST = 4 << 20
SHARD = 64 << 20


def fitting_chunks(counts: Counts) -> Layout:
    """Chunks of the shape of the selection, of about as many bytes as they have now, or as few as are reasonable."""
    wanted = min(max(counts.chunk_bytes, SMALLEST), LARGEST)
    chunks = _within(counts.extents, counts.shape, wanted // counts.itemsize)
    return _sharded(counts, chunks)


def smaller_chunks(counts: Counts) -> Layout:
    """Half the chunk along each axis at which the selection straddles, so that less is read beside it."""
    chunks = tuple(
        max(-(-chunk // 4), 1) if stop - start > 1 and start // chunk != (stop - 1) // chunk else chunk
        for (start, stop), chunk in zip(counts.box, counts.layout.chunks, strict=True)
    )
    return _sharded(counts, chunks)


def bigger_chunks(counts: Counts) -> Layout:
    """Chunks of about a MiB that grow along the selection first."""
    chunks = _grown(counts.layout.chunks, counts.extents, counts.shape, GOOD // counts.itemsize)
    return replace(_sharded(counts, chunks), shards=None)


def bigger_shards(counts: Counts) -> Layout:
    """The chunks as they are, in shards that hold the selection, or 64 MiB of it."""
    chunks = counts.layout.chunks
    grid = [-(-n // c) for n, c in zip(counts.shape, chunks, strict=True)]
    touched = [(stop - 1) // c - start // c + 1 for (start, stop), c in zip(counts.box, chunks, strict=True)]
    most = max(SHARD // max(counts.chunk_bytes, 1), 1)
    many = _grown((1,) * len(chunks), tuple(touched), tuple(grid), most)
    return replace(counts.layout, shards=tuple(m * c for m, c in zip(many, chunks, strict=True)))


def _sharded(counts: Counts, chunks: tuple[int, ...]) -> Layout:
    """In shards like those there are now, rounded up to whole chunks; or, if chunks become many, in new ones."""
    layout = replace(counts.layout, chunks=chunks, shards=None)
    unit = counts.layout.shards or counts.layout.chunks
    if counts.layout.shards is None and math.prod(chunks) * counts.itemsize >= GOOD // 2:
        return layout
    shards = tuple(-(-max(u, c) // c) * c for u, c in zip(unit, chunks, strict=True))
    return layout if shards == chunks else replace(layout, shards=shards)


def _within(extents: tuple[int, ...], shape: tuple[int, ...], elements: int) -> tuple[int, ...]:
    """A shape of about so many elements: that of the extents, cut along its longest axes, or grown from the last on."""
    chunks = [max(q, 1) for q in extents]
    while math.prod(chunks) > elements and max(chunks) > 1:
        longest = max(range(len(chunks)), key=lambda axis: chunks[axis])
        chunks[longest] = -(-chunks[longest] // 2)
    return _grown(tuple(chunks), extents, shape, min(elements, max(math.prod(chunks), 1)))


def _grown(
    chunks: tuple[int, ...], extents: tuple[int, ...], shape: tuple[int, ...], elements: int
) -> tuple[int, ...]:
    """Doubled up to so many elements: within the extents first, then within the shape, from the last axis on."""
    found = list(chunks)
    for bounds in (extents, shape):
        for axis in reversed(range(len(found))):
            while found[axis] < bounds[axis] and math.prod(found) * 2 <= elements:
                found[axis] = min(found[axis] * 2, bounds[axis])
    return tuple(found)
