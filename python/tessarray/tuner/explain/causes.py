"""The causes that a slow read can have, each with what its cure would save.

Each test gives the seconds that are left after its cure, from the stages as they were measured and from how the counts
(requests, bytes, chunks) change in the cured layout. Where nothing would halve the time, nothing is wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from tessarray.tuner.expected import Touch
from tessarray.tuner.explain import cures
from tessarray.tuner.explain.counting import FAR, Counts
from tessarray.tuner.explain.stages import FASTER, Measured
from tessarray.tuner.layout import Layout

__all__ = ["Candidate", "Cause", "diagnose"]

WORTH = 0.5  # share of the time that a cure saves, from which on it is worth its while
CLOSE = 0.3  # of the speed-up of the best cure: of those that come so close, the most specific one is named
MEMORY = 2e9  # bytes a second at which values come into the result, at best

SMALL_CHUNK = 32 << 10
MANY = 16
TINY = 4  # chunks in a shard
COLD = 3.0
COLD_SECONDS = 5e-3
INSTANT = 100e-6  # seconds of a read that nobody waits for


class Cause(Enum):
    """Why a read is slow."""

    WRONG_ORDER = "wrong order"
    TINY_SHARDS = "tiny shards"
    UNALIGNED = "unaligned selection"
    TOO_MANY_REQUESTS = "too many requests"
    TOO_SMALL_CHUNKS = "too small chunks"
    BAD_CHUNK_SHAPE = "bad chunk shape"
    SLOW_CODEC = "slow codec"
    COLD_STORE = "cold store"
    NOTHING = "nothing wrong"


@dataclass(frozen=True)
class Candidate:
    """A cause, the seconds of a read after its cure, and the layout and counts that these come from."""

    cause: Cause
    saved: float  # share of the time
    seconds: float
    layout: Layout | None = None
    after: Touch | None = None


@dataclass(frozen=True)
class _Parts:
    """The stages with I/O split in what requests take and what bytes take."""

    requests: float
    bytes: float
    decode: float
    assembly: float
    rest: float

    @property
    def total(self) -> float:
        return self.requests + self.bytes + self.decode + self.assembly + self.rest


def diagnose(measured: Measured, counts: Counts) -> tuple[Candidate, tuple[Candidate, ...]]:
    """The cause, and all that were looked at, by what their cures save."""
    found = sorted(_candidates(measured, counts), key=lambda one: -one.saved)
    worth = [one for one in found if one.saved >= WORTH and one.cause is not Cause.COLD_STORE]
    if worth:
        best = worth[0].saved
        order_of = list(Cause)
        close = [one for one in worth if _factor(one.saved) >= CLOSE * _factor(best)]
        return min(close, key=lambda one: order_of.index(one.cause)), tuple(found)
    cold = [one for one in found if one.cause is Cause.COLD_STORE]
    if cold:
        return cold[0], tuple(found)
    return Candidate(Cause.NOTHING, 0.0, measured.warm), tuple(found)


def _factor(saved: float) -> float:
    return 1 / max(1 - saved, 1e-3)


def _candidates(measured: Measured, counts: Counts) -> Iterator[Candidate]:
    parts = _split(measured)
    longer = measured.first - measured.warm
    slow = measured.first > COLD * measured.warm and longer > max(COLD_SECONDS, COLD * measured.noise)
    if slow and measured.first_in_store > COLD * measured.warm_in_store:
        yield Candidate(Cause.COLD_STORE, 1 - measured.warm / measured.first, measured.warm)
    if measured.warm < INSTANT or not measured.objects:
        return
    yield from _order(measured)
    yield from _shards(parts, counts)
    yield from _alignment(parts, counts)
    yield from _requests(measured, parts, counts)
    yield from _small(measured, parts, counts)
    yield from _shape(parts, counts)
    yield from _codec(measured, parts, counts)


def _split(measured: Measured) -> _Parts:
    stages = measured.stages
    asking = measured.requests * measured.latency
    carrying = measured.fetched / measured.bandwidth
    share = asking / (asking + carrying) if asking + carrying > 0 else 0.0
    return _Parts(stages.io * share, stages.io * (1 - share), stages.decode, stages.assembly, stages.rest)


def _after(parts: _Parts, now: Touch, then: Touch) -> float:
    """Seconds if the counts become `then`. Never faster than copying what is used."""
    chunks = min(then.chunks / max(now.chunks, 1), 1.0)
    copying = min(now.used / MEMORY, parts.assembly)
    seconds = (
        parts.requests * then.requests / max(now.requests, 1)
        + parts.bytes * then.fetched / max(now.fetched, 1)
        + parts.decode * then.decoded / max(now.decoded, 1)
        + copying
        + (parts.assembly - copying + parts.rest) * chunks
    )
    return max(seconds, now.used / MEMORY)


def _saving(
    cause: Cause, parts: _Parts, seconds: float, layout: Layout | None, after: Touch | None
) -> Candidate:
    return Candidate(cause, max(1 - seconds / max(parts.total, 1e-12), 0.0), seconds, layout, after)


def _order(measured: Measured) -> Iterator[Candidate]:
    if measured.in_c_order is not None:
        trial = measured.in_c_order
        left = min(trial.after / max(trial.before, 1e-12), 1.0)
        stages = measured.stages
        seconds = stages.io + (stages.total - stages.io) * left
        yield Candidate(Cause.WRONG_ORDER, 1 - seconds / max(stages.total, 1e-12), seconds)


def _shards(parts: _Parts, counts: Counts) -> Iterator[Candidate]:
    layout = counts.layout
    if layout.shards is None or counts.now.objects < MANY or counts.aligned_amplification > 2 * TINY:
        return
    inside = 1
    for shard, chunk in zip(layout.shards, layout.chunks, strict=True):
        inside *= shard // chunk
    if inside > TINY:
        return
    better = cures.bigger_shards(counts)
    chunks = cures.bigger_chunks(counts) if counts.chunk_bytes < SMALL_CHUNK else better
    then = counts.of(better)
    seconds = _scaled(parts, counts, then, then.objects / counts.now.objects, small=chunks is not better)
    yield _saving(Cause.TINY_SHARDS, parts, seconds, better, then)


def _scaled(parts: _Parts, counts: Counts, then: Touch, share: float, small: bool) -> float:
    """Seconds if what each object or chunk costs, whatever is in it, is paid for this share of them."""
    per_one = parts.rest + (parts.decode + parts.assembly if small else 0.0)
    other = 0.0 if small else parts.decode + parts.assembly
    asking = parts.requests * then.requests / max(counts.now.requests, 1)
    return max(asking + parts.bytes + other + per_one * min(share, 1.0), counts.now.used / MEMORY)


def _alignment(parts: _Parts, counts: Counts) -> Iterator[Candidate]:
    now, then = counts.now, counts.aligned
    if then.chunks > 0.6 * now.chunks or counts.aligned_amplification > 4:
        return
    better = cures.smaller_chunks(counts)
    yield _saving(Cause.UNALIGNED, parts, _after(parts, now, then), better, then)


def _requests(measured: Measured, parts: _Parts, counts: Counts) -> Iterator[Candidate]:
    if measured.latency < FAR / 2 or measured.requests < MANY or counts.aligned_amplification > 8:
        return
    better = cures.bigger_shards(counts)
    then = counts.of(better)
    # The index first and then the chunks: two requests one after the other, at least.
    seconds = max(_after(parts, counts.now, then), 2 * measured.latency)
    yield _saving(Cause.TOO_MANY_REQUESTS, parts, seconds, better, then)


def _small(measured: Measured, parts: _Parts, counts: Counts) -> Iterator[Candidate]:
    if counts.chunk_bytes >= SMALL_CHUNK or counts.now.chunks < MANY or counts.aligned_amplification > 8:
        return
    better = cures.bigger_chunks(counts)
    then = counts.of(better)
    share = then.chunks / counts.now.chunks
    seconds = _scaled(parts, counts, then, share, small=True)
    if measured.latency > FAR / 2:
        seconds += parts.requests * (1 - then.requests / max(counts.now.requests, 1))
    yield _saving(Cause.TOO_SMALL_CHUNKS, parts, seconds, better, then)


def _shape(parts: _Parts, counts: Counts) -> Iterator[Candidate]:
    if counts.aligned_amplification < 4:
        return
    better = cures.fitting_chunks(counts)
    then = counts.of(better)
    yield _saving(Cause.BAD_CHUNK_SHAPE, parts, _after(parts, counts.now, then), better, then)


def _codec(measured: Measured, parts: _Parts, counts: Counts) -> Iterator[Candidate]:
    trial = measured.with_fast_codec
    if trial is None:
        return
    left = min(max(trial.after - trial.floor, 0.0) / max(trial.before - trial.floor, 1e-12), 1.0)
    grown = max(counts.ratio / max(trial.ratio, 1e-9), 1.0)
    seconds = parts.total - parts.decode * (1 - left) + parts.bytes * (grown - 1)
    seconds = max(seconds, counts.now.used / MEMORY)
    layout = Layout(counts.layout.chunks, counts.layout.shards, FASTER)
    yield _saving(Cause.SLOW_CODEC, parts, seconds, layout, None)
