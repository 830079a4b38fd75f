"""What a selection touches in a layout: pure counting, no I/O and no clock.

Along one axis, a run of q elements at a random place in n touches on average (q - 1) / c + 1 chunks of c if chunks
divide the axis and every offset is as likely; `expected_touched` is exact at the edges as well. Along several axes the
counts multiply, since places along axes are independent.

Within a shard, inner chunks lie in C order of the shard's grid, so the chunks of a box form runs of neighbours. The
executor reads a run as one request, joins runs that are no more than `hole` bytes apart, and asks for at most `limit`
bytes at once (`Merging`, with the engine's values).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import Box

__all__ = ["LOCAL", "REMOTE", "Merging", "Touch", "expected_chunks", "expected_touched", "touch", "touched"]

Extents = tuple[int, ...]
INDEX_ENTRY = 16  # bytes of a chunk in a shard's index: offset and length
INDEX_CHECK = 4  # and the checksum behind them
CUTS_KEPT = 1 << 14  # codecs and rankings ask for the same cuts again
MIN_BLOCKS = 0.7  # a chunk of which more blocks than this are needed is decoded whole


@dataclass(frozen=True)
class Merging:
    """How the executor joins byte ranges: `hole` bytes that are read for nothing at most, `limit` bytes a request."""

    hole: int
    limit: int


LOCAL = Merging(4 << 10, 256 << 10)
REMOTE = Merging(256 << 10, 8 << 20)


@dataclass(frozen=True)
class Touch:
    """What one selection costs in counts. Bytes: `fetched` come out of the store, `decoded` are of values that codecs
    give, `used` are of values that were asked for. `segments` are contiguous pieces that are copied to the result.
    """

    objects: int
    chunks: int
    requests: int
    fetched: int
    decoded: int
    used: int
    segments: int


def touched(start: int, stop: int, part: int) -> int:
    """How many parts the range [start, stop) touches along an axis."""
    return (stop - 1) // part - start // part + 1 if stop > start else 0


def expected_touched(length: int, extent: int, part: int) -> float:
    """The mean of `touched` over all places of a run of `length` in an axis of `extent`; exact."""
    places = extent - length + 1
    if places <= 1:
        return float(touched(0, length, part))
    last = _sum_of_quotients(extent, part) - _sum_of_quotients(length - 1, part)
    first = _sum_of_quotients(places, part)
    return (last - first) / places + 1


def _sum_of_quotients(count: int, part: int) -> int:
    """The sum of i // part over 0 <= i < count."""
    full, rest = divmod(count, part)
    return part * full * (full - 1) // 2 + full * rest


def expected_chunks(extents: Extents, shape: Extents, part: Extents) -> float:
    """The mean number of parts (chunks, or shards) that a box of `extents` at a random place touches."""
    return math.prod(expected_touched(q, n, c) for q, n, c in zip(extents, shape, part, strict=True))


def touch(
    box: Box,
    layout: Layout,
    itemsize: int,
    ratio: float = 1.0,
    merging: Merging = LOCAL,
    block: int | None = None,
) -> Touch:
    """What reading a box costs. `ratio` is raw over stored bytes of a chunk; `block`: bytes of a codec block, if the
    codec can decode one alone. Chunks that hang over the array's end count as they are stored: whole.
    """
    chunks = layout.chunks
    counts = [touched(a, b, c) for (a, b), c in zip(box, chunks, strict=True)]
    nchunks = math.prod(counts)
    raw = math.prod(chunks) * itemsize
    encoded = max(raw / max(ratio, 1e-9), 1.0)
    used = math.prod(b - a for a, b in box) * itemsize
    overlap = tuple(max((b - a) / max(n, 1), 1.0) for (a, b), n in zip(box, counts, strict=True))
    share = block_share(chunks, overlap, itemsize, block)
    segments = _segments(box, chunks, counts)
    if layout.shards is None:
        fetched = nchunks * encoded
        return Touch(nchunks, nchunks, nchunks, int(fetched), int(nchunks * raw * share), used, segments)
    objects = 0
    requests = fetched = 0.0
    grid = tuple(s // c for s, c in zip(layout.shards, chunks, strict=True))
    for taken, times in _shards(box, layout.shards, chunks):
        runs, span = _runs(taken, grid, encoded, merging.hole)
        fits = max(math.floor(merging.limit / encoded), 1) * encoded
        objects += times
        requests += times * (1 + runs * max(math.ceil(span / fits - 1e-9), 1))
        fetched += times * (runs * span + math.prod(grid) * INDEX_ENTRY + INDEX_CHECK)
    return Touch(objects, nchunks, int(requests), int(fetched), int(nchunks * raw * share), used, segments)


@functools.lru_cache(maxsize=CUTS_KEPT)
def _shards(box: Box, shards: Extents, chunks: Extents) -> tuple[tuple[Extents, int], ...]:
    """How many inner chunks along each axis the box takes of a shard, with how many shards are taken so."""
    axes: list[Counter[int]] = []
    for (start, stop), shard, chunk in zip(box, shards, chunks, strict=True):
        first, last = start // shard, (stop - 1) // shard
        found: Counter[int] = Counter()
        for edge in {first, last}:
            low, high = max(start, edge * shard), min(stop, (edge + 1) * shard)
            found[touched(low, high, chunk)] += 1
        if last - first > 1:
            found[shard // chunk] += last - first - 1
        axes.append(found)
    return tuple(
        (tuple(taken for taken, _ in combination), math.prod(times for _, times in combination))
        for combination in itertools.product(*(axis.items() for axis in axes))
    )


def _runs(taken: Sequence[float], grid: Extents, encoded: float, hole: float) -> tuple[float, float]:
    """Runs of bytes that a box of `taken` of a shard's `grid` chunks is read as, and the bytes of each."""
    runs: float = 1
    span = stride = encoded
    for count, size in zip(reversed(taken), reversed(grid), strict=True):
        if count > 1:
            if runs == 1 and stride - span <= hole:
                span += (count - 1) * stride
            else:
                runs *= count
        stride *= size
    return runs, span


def block_share(chunks: Extents, overlap: Sequence[float], itemsize: int, block: int | None) -> float:
    """The share of a chunk that is decoded for an overlap of these extents: whole codec blocks; 1 without such."""
    raw = math.prod(chunks) * itemsize
    if not block or block >= raw:
        return 1.0
    # Elements of a chunk lie as chunks of a shard do; a hole within a block costs nothing.
    runs, span = _runs(overlap, chunks, float(itemsize), block)
    blocks = math.ceil(raw / block)
    share = min(runs * ((span - itemsize) / block + 1), blocks) / blocks
    return share if share < MIN_BLOCKS else 1.0


def _segments(box: Box, chunks: Extents, counts: Sequence[int]) -> int:
    """Contiguous pieces: rows of the last axis, joined if an axis is whole in the chunk and in the result."""
    extents = [b - a for a, b in box]
    axis = len(extents) - 1
    while axis > 0 and counts[axis] == 1 and chunks[axis] == extents[axis]:
        axis -= 1
    if axis < 0:
        return 1
    return math.prod(extents[:axis]) * counts[axis]
