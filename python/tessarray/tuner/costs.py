"""The cost model: seconds of a selection from what it touches, with coefficients fitted on this machine and store.

    t = call + objects·o + requests·r + (chunks·k + fetched·f + segments·s + decoded/D) / p + used·u  [+ network]

D is the codec's decoding speed on one thread (probed), p the workers that can be busy: one a chunk, at most `threads`.
A store behind a network adds its first-byte time for each wave of requests that it takes at once, and the link's time.
Coefficients come from non-negative least squares of relative errors over real reads, held weakly to `PRIOR`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tessarray.tuner.expected import Touch, touch
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import Box, QueryClass
from tessarray.tuner.result import CodecFigures
from tessarray.tuner.target import Target

__all__ = ["CostModel", "block_bytes"]

# call, object, request, chunk (s); fetched, used (s a byte); segment (s); decode (factor on the probed time); network.
PRIOR = (3e-6, 8e-6, 2e-6, 3e-6, 1e-10, 3e-10, 1.5e-9, 1.0, 1.0)
NAMES = ("call", "object", "request", "chunk", "fetched", "used", "segment", "decode", "network")
PRIOR_WEIGHT = 0.045
FITS = 6
# The engine's block sizes: a factor on the L1 cache by level (8 above), and one stream a byte of an element up to 16.
LEVELS = {0: 0.25, 1: 0.5, 2: 1, 3: 2, 4: 4, 5: 4}
MOST_STREAMS = 16
# The slow compressors have twice that, and twice again at level 9.
SLOW, SLOWEST_LEVEL = ("lz4hc", "zlib", "zstd"), 9
# A fast one gets short streams up to level 5, if elements have several bytes.
FAST_LEVEL, STREAM = 5, 8 << 10


def block_bytes(codec: str, itemsize: int, chunk_bytes: int) -> int | None:
    """Bytes of a codec block that can be decoded alone; None if a chunk is decoded whole (the blosc rules)."""
    if not codec.startswith("blosc:"):
        return chunk_bytes if codec != "none" else None
    _, name, level, _ = codec.split(":")
    if name not in SLOW and 1 <= int(level) <= FAST_LEVEL and 1 < itemsize <= MOST_STREAMS:
        return _even(chunk_bytes, STREAM * itemsize, itemsize)
    factor = LEVELS.get(int(level), 8)
    if name in SLOW:
        factor *= 4 if int(level) == SLOWEST_LEVEL else 2
    size = int((32 << 10) * factor)
    if name != "zstd" and itemsize <= MOST_STREAMS:
        size = min(max(min(size, 1 << 18) * itemsize, 1 << 16), 1 << 20)
    return min(size, chunk_bytes)


def _even(chunk_bytes: int, most: int, itemsize: int) -> int:
    """At most `most` bytes, without a rest if a number of blocks does that; whole cache lines a stream rather."""
    fewest = -(-chunk_bytes // most)
    for unit in (64, 1):
        units, rest = divmod(chunk_bytes, itemsize * unit)
        fits = (n for n in range(fewest, 2 * fewest) if not rest and units % n == 0)
        if blocks := next(fits, None):
            return chunk_bytes // blocks
    return min(most, chunk_bytes)


@dataclass
class CostModel:
    """Predicts seconds for layouts of one array on one target. `codecs`: probed figures by name."""

    shape: tuple[int, ...]
    itemsize: int
    target: Target
    threads: int
    codecs: Mapping[str, CodecFigures]
    coefficients: np.ndarray = field(default_factory=lambda: np.array(PRIOR))
    observations: list[tuple[np.ndarray, float]] = field(default_factory=list)

    def figures(self, layout: Layout) -> CodecFigures:
        """The probed figures of a layout's codec; if it was not, of its kin, or of the slowest."""
        found = self.codecs.get(layout.codec)
        if found is None:
            # Time may have ended before a baseline's codec was probed: another level of the same compressor is near.
            named = layout.codec.split(":")[: 2 if layout.codec.startswith("blosc") else 1]
            kin = [one for one in self.codecs.values() if one.codec.split(":")[: len(named)] == named]
            found = min(kin or self.codecs.values(), key=lambda one: one.decode)
        return found

    def touch(self, box: Box, layout: Layout) -> Touch:
        """What a box touches in a layout, with the codec's ratio and blocks."""
        chunk = math.prod(layout.chunks) * self.itemsize
        block = block_bytes(layout.codec, self.itemsize, chunk)
        ratio = self.figures(layout).ratio
        return touch(box, layout, self.itemsize, ratio, self.target.merging, block)

    def features(self, box: Box, layout: Layout) -> np.ndarray:
        """The terms of the model for one read."""
        found = self.touch(box, layout)
        busy = min(self.threads, max(found.chunks, 1))
        decode = found.decoded / self.figures(layout).decode if layout.codec != "none" else 0.0
        return np.array(
            [
                1.0,
                found.objects / (busy if found.objects > 1 else 1),
                found.requests / busy,
                found.chunks / busy,
                found.fetched / busy,
                found.used,
                found.segments / busy,
                decode / busy,
                self.network(found, layout),
            ]
        )

    def network(self, found: Touch, layout: Layout) -> float:
        """Seconds that the target's network takes: waves of first bytes, and the link."""
        target = self.target
        if not target.remote:
            return 0.0
        waves = math.ceil(found.requests / target.concurrency)
        if layout.shards is not None:
            data = found.requests - found.objects
            waves = math.ceil(found.objects / target.concurrency) + math.ceil(data / target.concurrency)
        return waves * target.first_byte + found.fetched / target.bandwidth

    def predict(self, query: QueryClass, boxes: Sequence[Box], layout: Layout) -> float:
        """Mean seconds of a class's selections in a layout."""
        terms = np.mean([self.features(box, layout) for box in boxes], axis=0)
        return float(terms @ self.coefficients)

    def weighted(
        self, classes: Sequence[QueryClass], boxes: Mapping[str, Sequence[Box]], layout: Layout, most: int = 2
    ) -> float:
        """The weighted mean over classes, of `most` selections each."""
        return sum(one.weight * self.predict(one, boxes[one.name][:most], layout) for one in classes)

    def observe(self, box: Box, layout: Layout, seconds: float) -> None:
        """Note a measured read."""
        self.observations.append((self.features(box, layout), seconds))

    def fit(self) -> None:
        """Fit the coefficients to what was observed."""
        from scipy.optimize import nnls

        if not self.observations:
            return
        terms = np.array([features for features, _ in self.observations])
        times = np.array([seconds for _, seconds in self.observations])
        rows = terms / times[:, None] * np.array(PRIOR)
        weight = PRIOR_WEIGHT * math.sqrt(len(times) / len(PRIOR))
        prior = np.eye(len(PRIOR)) * weight
        trust = np.ones(len(times))
        for _ in range(FITS):
            factors, _ = nnls(
                np.vstack([rows * trust[:, None], prior]),
                np.concatenate([trust, np.full(len(PRIOR), weight)]),
            )
            # Reads that a busy machine held up weigh less: relative errors beyond 50 % count by their root.
            error = np.abs(rows @ factors - 1)
            trust = np.where(error > 0.5, np.sqrt(0.5 / np.maximum(error, 1e-9)), 1.0)
        self.coefficients = factors * np.array(PRIOR)

    def described(self) -> dict[str, float]:
        """The coefficients by name, for reports."""
        return {name: float(value) for name, value in zip(NAMES, self.coefficients, strict=True)}
