"""The exhaustive search that a proposal is held against: every layout of a grid, stored and read for real.

The grid has nothing of the tuner's cost model: chunk lengths that are a few times apart along every axis, two ways to
make shards (or none), and the fastest codec that survived the probe. Around the best that were measured for each load
all neighbours in the full space (one step of the ladder along one axis, every way to make shards, every codec) are
measured too, until none is better or the time is up. The loads of a case share their query classes, so a layout is read
once for all of them. Each layout is given what the tuner gives one: four selections a class, read twice each.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tune_cases import Case

import tessarray
from tessarray.tuner import probe
from tessarray.tuner.baselines import ZARR, defaults
from tessarray.tuner.constraints import Constraints
from tessarray.tuner.layout import Layout
from tessarray.tuner.layout_space import LARGEST_CHUNK, SMALLEST_CHUNK, LayoutSpace
from tessarray.tuner.queries import QueryClass, parse_queries
from tessarray.tuner.sampling import SAMPLE_BYTES, take
from tessarray.tuner.search import PROBE_SLACK
from tessarray.tuner.source import open_subject
from tessarray.tuner.target import Scratch
from tessarray.tuner.trial import WRITE_BYTES, Ground, Trial

SELECTIONS = 4
REPEATS = 2
FACTORS = (1.5, 2.0, 2.5, 3.0, 3.5, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 12.0, 16.0, 20.0, 30.0)
LEADERS = 3
SIZE_LIMIT = 1.1
DEAREST = (
    3.0  # seconds that storing one selection a class may take: beyond it are layouts of millions of chunks
)


@dataclass
class Measured:
    """A layout with the mean seconds of each class, and the bytes that the whole array would take in it."""

    layout: Layout
    seconds: dict[str, float]
    stored: float

    def weighted(self, weights: Mapping[str, float]) -> float:
        """Seconds of an access of a load."""
        return sum(weight * self.seconds[name] for name, weight in weights.items())

    def document(self) -> dict[str, Any]:
        """As it stands in the file of results."""
        return {"layout": self.layout.document(), "seconds": self.seconds, "stored": self.stored}

    @classmethod
    def of(cls, document: Mapping[str, Any]) -> Measured:
        """The opposite."""
        return cls(Layout.from_document(document["layout"]), dict(document["seconds"]), document["stored"])


@dataclass
class Field:
    """One case laid out for measuring. `limits` are the tuner's defaults, with those of the case."""

    case: Case
    values: np.ndarray
    scratch: Scratch
    seed: int
    threads: int = field(default_factory=lambda: tessarray.default_session().threads)
    write_bytes: int = WRITE_BYTES
    trial_seconds: float = math.inf
    ground: Ground = field(init=False)
    classes: tuple[QueryClass, ...] = field(init=False)
    limits: Constraints = field(init=False)

    def __post_init__(self) -> None:
        shape = self.values.shape
        self.classes = parse_queries(self.case.classes(shape), shape)
        given = self.case.limits
        self.limits = Constraints(
            append_axis=given.get("append_axis"), append_length=given.get("append_length")
        )
        with_source = open_subject(self.values)
        sample = take(with_source, min(SAMPLE_BYTES, self.limits.memory // 8))
        with_source.close()
        rng = np.random.default_rng(self.seed)
        boxes = {one.name: one.draw(rng, 2 * SELECTIONS) for one in self.classes}
        self.ground = Ground(
            shape, self.values.dtype, sample, self.scratch, self.classes, boxes, self.threads,
            write_bytes=self.write_bytes, trial_seconds=self.trial_seconds,
        )  # fmt: skip

    def space(self, codecs: Sequence[str]) -> LayoutSpace:
        """All layouts that the tuner may propose for the case."""
        return LayoutSpace(
            self.values.shape, self.values.dtype.itemsize, self.classes, tuple(codecs), self.limits, self.threads
        )  # fmt: skip

    def most_stored(self) -> float:
        """Bytes that a layout may take: a tenth more than zarr-python's automatic one."""
        auto = defaults(self.values.shape, self.values.dtype)[ZARR]
        found = measured(self, auto, reads=False)
        assert found is not None
        return found.stored * SIZE_LIMIT

    def codecs(self, most_stored: float, count: int) -> list[str]:
        """Codecs that survive a probe with time enough."""
        wanted = probe.readable(probe.CODECS, probe.DEFAULT_READERS)
        auto = defaults(self.values.shape, self.values.dtype)[ZARR].codec
        figures = probe.probe(self.ground.sample, [auto, *wanted], 6.0)
        self.ground.encode = {one.codec: one.encode for one in figures}
        # Ratios on blocks are compared with that of zarr-python's codec on the same blocks, or with the limit itself.
        by_codec = {one.codec: one.ratio for one in figures}
        smallest = min(self.values.nbytes / most_stored, by_codec.get(auto, 1.0) / SIZE_LIMIT) * PROBE_SLACK
        figures = [one for one in figures if one.codec in wanted]
        return [one.codec for one in probe.survivors(figures, "read", count, smallest)]


def measured(field: Field, layout: Layout, reads: bool = True) -> Measured | None:
    """A layout stored and read as the tuner does it; None where storing it would take too long."""
    trial = Trial(layout, field.ground)
    draws = trial.plan(SELECTIONS)
    if trial.store_seconds(draws) > DEAREST:
        draws = dict.fromkeys(draws, 1)
        if trial.store_seconds(draws) > DEAREST:
            return None
    try:
        trial.prepare(draws)
        seconds = {}
        for one in field.classes if reads else ():
            times = [min(trial.time(one, n) for _ in range(REPEATS)) for n in range(draws[one.name])]
            seconds[one.name] = float(np.mean(times))
        return Measured(layout, seconds, field.values.nbytes / trial.ratio)
    finally:
        trial.close()


def thinned(space: LayoutSpace, most: int) -> list[tuple[int, ...]]:
    """Chunk shapes with lengths a factor apart: the smallest factor that gives at most `most`."""
    found: list[tuple[int, ...]] = []
    for factor in FACTORS:
        axes = [apart(lengths(space, axis), factor) for axis in range(len(space.shape))]
        if math.prod(map(len, axes)) > 1_000_000:
            continue
        found = [chunks for chunks in itertools.product(*axes) if sensible(space, chunks)]
        if len(found) <= most:
            break
    return found[:most]


def lengths(space: LayoutSpace, axis: int) -> list[int]:
    """The ladder of an axis; of one that grows, what divides an append."""
    length = space.limits.append_length if axis == space.limits.append_axis else None
    return [one for one in space.ladder(axis) if length is None or length % one == 0]


def apart(lengths: Sequence[int], factor: float) -> list[int]:
    """Some of an ascending ladder, from its end down, each at most 1/factor of the last that was taken."""
    found = [lengths[-1]]
    for length in reversed(lengths):
        if length * factor <= found[-1]:
            found.append(length)
    return found[::-1]


def sensible(space: LayoutSpace, chunks: tuple[int, ...]) -> bool:
    """Whether chunks have a size that the tuner thinks about."""
    total = math.prod(space.shape) * space.itemsize
    size = math.prod(chunks) * space.itemsize
    return min(SMALLEST_CHUNK, total) <= size <= LARGEST_CHUNK


def coarse(space: LayoutSpace, codecs: Sequence[str], most: int) -> Iterator[Layout]:
    """The grid: thinned shapes, without shards and with some of 8 and of 128 MB, in the codec that decodes fastest."""
    shardings = [one for one in space.shardings if one in ((0, False), (8 << 20, False), (128 << 20, True))]
    shapes = thinned(space, max(most // max(len(shardings), 1), 1))
    for chunks in shapes:
        seen = set()
        for sharding in shardings:
            layout = space.layout(chunks, sharding, codecs[0])
            if layout not in seen and space.allowed(layout):
                seen.add(layout)
                yield layout


def exhaustive(
    field: Field, most: int, seconds: float, codecs: Sequence[str], most_stored: float,
    seeds: Sequence[Layout] = (),
) -> list[Measured]:  # fmt: skip
    """Measure the grid, then around the best for each load. seeds: layouts to measure before, the best of an earlier
    search.
    """
    space = field.space(codecs)
    found: dict[Layout, Measured] = {}
    tried: set[Layout] = set()
    started = time.perf_counter()

    def out_of_time() -> bool:
        return time.perf_counter() - started > seconds

    def take(layout: Layout) -> bool:
        if layout in tried or not space.allowed(layout):
            return False
        tried.add(layout)
        one = measured(field, layout)
        if one is not None:
            found[layout] = one
        return True

    for layout in seeds:
        take(layout)
    order = list(coarse(space, codecs, most))
    for number in np.random.default_rng(field.seed).permutation(len(order)):
        if out_of_time():
            break
        take(order[int(number)])
    fresh = True
    while fresh and not out_of_time():
        fresh = False
        for weights in field.case.loads.values():
            for one in leaders(list(found.values()), weights, most_stored, LEADERS):
                for layout in space.neighbours(one.layout):
                    fresh = (not out_of_time() and take(layout)) or fresh
    return list(found.values())


def leaders(
    found: Sequence[Measured], weights: Mapping[str, float], most_stored: float, count: int
) -> list[Measured]:
    """The fastest for a load that keep the size limit; the smallest where none does."""
    allowed = [one for one in found if one.stored <= most_stored * 1.001]
    allowed = allowed or sorted(found, key=lambda one: one.stored)[:1]
    return sorted(allowed, key=lambda one: one.weighted(weights))[:count]
