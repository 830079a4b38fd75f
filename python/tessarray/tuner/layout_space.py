"""The space of layouts: an index into the ladder of each axis, a way to make shards, and a codec.

Along an axis: every power of two, the axis in 1 to 16 equal parts, and the lengths that queries take. Shards are grown
from chunks to a few sizes, evenly or first along the axes that queries take whole. The cost model prunes what is here.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from tessarray.conversion.layout import even, grow
from tessarray.tuner.constraints import Constraints
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass

__all__ = ["LARGEST_CHUNK", "SMALLEST_CHUNK", "LayoutSpace", "Sharding", "ladder"]

Extents = tuple[int, ...]
Sharding = tuple[
    int, bool
]  # bytes, and whether axes that queries take whole are covered first; (0, False): none
SMALLEST_CHUNK = 2 << 10  # bytes of values
LARGEST_CHUNK = 64 << 20
MOST_SHAPES = 3000  # that the rough count looks at
MOST_GRID = 200_000  # shapes that are enumerated
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


@dataclass(frozen=True)
class LayoutSpace:
    """All layouts that a run may propose. `codecs` are those that survived the probe."""

    shape: Extents
    itemsize: int
    classes: tuple[QueryClass, ...]
    codecs: tuple[str, ...]
    limits: Constraints
    workers: int
    ratios: Mapping[str, float] = field(default_factory=dict)  # of codecs, as probed

    def _axis_ladders(self, coarse: bool = False) -> list[list[int]]:
        return [
            ladder(
                extent, {one.extents[axis] for one in self.classes if one.axes[axis].kind == "run"}, coarse
            )
            for axis, extent in enumerate(self.shape)
        ]

    @cached_property
    def _ladders(self) -> list[list[int]]:
        return self._axis_ladders()

    def ladder(self, axis: int) -> list[int]:
        """The chunk lengths along an axis."""
        return self._ladders[axis]

    def chunk_shapes(self, rng: np.random.Generator) -> list[Extents]:
        """Chunks of 2 KiB to 64 MiB, or to the largest object allowed: a seeded choice of them if they are many.

        Of an array with many axes every other step of the ladders is taken.
        """
        axes = self._ladders
        if math.prod(map(len, axes)) > MOST_GRID:
            axes = self._axis_ladders(coarse=True)
        total = math.prod(self.shape) * self.itemsize
        low = min(SMALLEST_CHUNK, total)
        high = max(min(self.limits.max_shard, LARGEST_CHUNK, total), self.itemsize)
        grid = np.array(list(itertools.islice(itertools.product(*axes), 2 * MOST_GRID)), dtype=np.int64)
        sizes = grid.prod(axis=1) * self.itemsize
        kept = grid[(sizes >= low) & (sizes <= high)]
        if not len(kept):
            kept = grid[np.abs(sizes - low).argsort()[:1]]
        if len(kept) > MOST_SHAPES:
            kept = kept[np.sort(rng.choice(len(kept), MOST_SHAPES, replace=False))]
        shapes = (tuple(int(n) for n in row) for row in kept)
        return [one for one in shapes if self.fits_ladder(one)]

    @cached_property
    def shardings(self) -> list[Sharding]:
        """Ways to make shards, none of them the first."""
        sizes = [one for one in SHARD_BYTES if one < self.limits.max_shard] + [self.limits.max_shard]
        return [(0, False), *((size, first) for size in sizes for first in (False, True))]

    def layout(self, chunks: Extents, sharding: Sharding, codec: str) -> Layout:
        """The layout of these choices; no shards if a shard would be one chunk."""
        shards = self.shard(chunks, *sharding) if sharding[0] else None
        return Layout(chunks, shards, codec, filters=self.limits.filters)

    def shard(self, chunks: Extents, size: int, whole_first: bool) -> Extents | None:
        """Whole chunks up to `size` bytes, evened out so that the last one along an axis is not almost empty."""
        grid = tuple(-(-n // c) for n, c in zip(self.shape, chunks, strict=True))
        limit = list(grid)
        axis, length = self.limits.append_axis, self.limits.append_length
        if axis is not None:
            most = length if length is not None else max(self.shape[axis] // 8, 1)
            limit[axis] = max(min(limit[axis], most // chunks[axis]), 1)
        first = [
            one for one, n in enumerate(self.shape)
            if whole_first and any(query.extents[one] * 2 > n for query in self.classes)
        ]  # fmt: skip
        room = max(size // (math.prod(chunks) * self.itemsize), 1)
        covered = grow((1,) * len(grid), tuple(limit), room, first)
        counts = tuple(
            count if at == axis else even(g, count)
            for at, (g, count) in enumerate(zip(grid, grow(covered, tuple(limit), room), strict=True))
        )
        if math.prod(counts) == 1:
            return None
        return tuple(c * k for c, k in zip(chunks, counts, strict=True))

    def allowed(self, layout: Layout) -> bool:
        """Whether a layout keeps the limits."""
        ratio = max(self.ratios.get(layout.codec, 1.0), 1.0)
        return self.limits.problem(layout, self.shape, self.itemsize, self.workers, ratio) is None

    def variants(self, chunks: Extents, codecs: Sequence[str]) -> Iterator[Layout]:
        """Every layout with these chunks."""
        layouts = (self.layout(chunks, sharding, codec) for sharding in self.shardings for codec in codecs)
        yield from (one for one in dict.fromkeys(layouts) if self.allowed(one))

    def drawn(self, rng: np.random.Generator) -> Layout:
        """A layout, every choice drawn evenly; it may break limits."""
        chunks = tuple(int(rng.choice(self.ladder(axis))) for axis in range(len(self.shape)))
        sharding = self.shardings[int(rng.integers(len(self.shardings)))]
        return self.layout(chunks, sharding, str(rng.choice(self.codecs)))

    def neighbours(self, layout: Layout) -> Iterator[Layout]:
        """Layouts that differ in one choice: a step along an axis, a step from one axis to another, which keeps the
        size, the sharding, the codec. None of a layout that is not in the space.
        """
        if not self.fits_ladder(layout.chunks) or layout.codec not in self.codecs:
            return
        here = [self.ladder(axis).index(length) for axis, length in enumerate(layout.chunks)]
        steps: list[dict[int, int]] = [{axis: step} for axis in range(len(here)) for step in (-1, 1)]
        steps += [{one: 1, other: -1} for one, other in itertools.permutations(range(len(here)), 2)]
        sharding = self._sharding_of(layout)
        for step in steps:
            at = [index + step.get(axis, 0) for axis, index in enumerate(here)]
            if all(0 <= index < len(self.ladder(axis)) for axis, index in enumerate(at)):
                chunks = tuple(self.ladder(axis)[index] for axis, index in enumerate(at))
                yield self.layout(chunks, sharding, layout.codec)
        yield from (self.layout(layout.chunks, other, layout.codec) for other in self.shardings)
        yield from (self.layout(layout.chunks, sharding, codec) for codec in self.codecs)

    def _sharding_of(self, layout: Layout) -> Sharding:
        """The first way to make shards that gives those of a layout; none for shards from elsewhere."""
        ways = (one for one in self.shardings if self.layout(layout.chunks, one, layout.codec) == layout)
        return next(ways, (0, False))

    def fits_ladder(self, chunks: Extents) -> bool:
        """Whether chunks are in the space."""
        return all(length in self.ladder(axis) for axis, length in enumerate(chunks))
