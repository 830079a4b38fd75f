"""The space of layouts as Optuna sees it: an index into the ladder of each axis, a way to make shards, and a codec."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tessarray.conversion.layout import even, grow
from tessarray.tuner.constraints import Constraints
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.shapes import SHARD_BYTES, ladder

__all__ = ["Space"]

Extents = tuple[int, ...]


@dataclass(frozen=True)
class Space:
    """All layouts that a run may propose. `codecs` are those that survived the probe."""

    shape: Extents
    itemsize: int
    classes: tuple[QueryClass, ...]
    codecs: tuple[str, ...]
    limits: Constraints
    workers: int
    checksum: bool = True
    filters: tuple[str, ...] = ()
    ratios: Mapping[str, float] = field(default_factory=dict)  # of codecs, as probed

    @cached_property
    def _ladders(self) -> list[list[int]]:
        runs = [
            {one.extents[axis] for one in self.classes if one.axes[axis].kind == "run"}
            for axis in range(len(self.shape))
        ]
        return [ladder(extent, lengths) for extent, lengths in zip(self.shape, runs, strict=True)]

    def ladder(self, axis: int) -> list[int]:
        """The chunk lengths along an axis."""
        return self._ladders[axis]

    @cached_property
    def shardings(self) -> list[tuple[int, bool]]:
        """Ways to make shards: (bytes, whether axes that queries take whole are covered first); (0, False): none."""
        sizes = [one for one in SHARD_BYTES if one < self.limits.max_shard] + [self.limits.max_shard]
        if not self.limits.sharding:
            return [(0, False)]
        return [(0, False), *((size, first) for size in sizes for first in (False, True))]

    def layout(self, chunks: Extents, sharding: tuple[int, bool], codec: str) -> Layout:
        """The layout of these choices; no shards where a shard would be one chunk."""
        shards = self.shard(chunks, *sharding) if sharding[0] else None
        return Layout(chunks, shards, codec, self.checksum, self.filters)

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

    def variants(self, chunks: Extents, codecs: Sequence[str]) -> Iterator[tuple[Layout, dict[str, Any]]]:
        """Every layout with these chunks, with Optuna's parameters of it."""
        base = {f"chunk{axis}": self.ladder(axis).index(length) for axis, length in enumerate(chunks)}
        seen = set()
        for number, sharding in enumerate(self.shardings):
            for codec in codecs:
                layout = self.layout(chunks, sharding, codec)
                if layout not in seen and self.allowed(layout):
                    seen.add(layout)
                    yield layout, base | {"sharding": number, "codec": codec}

    def neighbours(self, layout: Layout) -> Iterator[dict[str, Any]]:
        """Optuna's parameters of layouts that differ in one choice: a step along an axis, the sharding, the codec."""
        if not self.fits_ladder(layout.chunks) or layout.codec not in self.codecs:
            return
        at = {f"chunk{axis}": self.ladder(axis).index(length) for axis, length in enumerate(layout.chunks)}
        shardings = [
            number
            for number, sharding in enumerate(self.shardings)
            if self.layout(layout.chunks, sharding, layout.codec) == layout
        ]
        rest: dict[str, Any] = {"sharding": shardings[0] if shardings else 0, "codec": layout.codec}
        here: dict[str, Any] = at | rest
        for axis in range(len(self.shape)):
            for step in (-1, 1):
                if 0 <= here[f"chunk{axis}"] + step < len(self.ladder(axis)):
                    yield here | {f"chunk{axis}": here[f"chunk{axis}"] + step}
        # What one axis loses another may gain: the same size, another shape.
        for one, other in itertools.permutations(range(len(self.shape)), 2):
            moved = here | {
                f"chunk{one}": here[f"chunk{one}"] + 1,
                f"chunk{other}": here[f"chunk{other}"] - 1,
            }
            if moved[f"chunk{one}"] < len(self.ladder(one)) and moved[f"chunk{other}"] >= 0:
                yield moved
        yield from (here | {"sharding": number} for number in range(len(self.shardings)))
        yield from (here | {"codec": codec} for codec in self.codecs)

    def from_params(self, params: Mapping[str, Any]) -> Layout:
        """The layout of Optuna's parameters."""
        chunks = tuple(self.ladder(axis)[params[f"chunk{axis}"]] for axis in range(len(self.shape)))
        return self.layout(chunks, self.shardings[params["sharding"]], params["codec"])

    def suggested(self, trial: Any) -> Layout:
        """The layout of an Optuna trial."""
        chunks = []
        for axis in range(len(self.shape)):
            steps = self.ladder(axis)
            chunks.append(steps[trial.suggest_int(f"chunk{axis}", 0, len(steps) - 1)])
        sharding = self.shardings[trial.suggest_int("sharding", 0, len(self.shardings) - 1)]
        codec = trial.suggest_categorical("codec", list(self.codecs))
        return self.layout(tuple(chunks), sharding, codec)

    def fits_ladder(self, chunks: Extents) -> bool:
        """Whether Optuna's parameters can say these chunks."""
        return all(length in self.ladder(axis) for axis, length in enumerate(chunks))
