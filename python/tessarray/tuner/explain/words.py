"""Verdicts, evidence and cures in words."""

from __future__ import annotations

import math

from tessarray.conversion.size import format_size
from tessarray.tuner.explain.causes import INSTANT, MEMORY, Candidate, Cause
from tessarray.tuner.explain.counting import Counts
from tessarray.tuner.explain.result import Diagnosis
from tessarray.tuner.explain.stages import FASTER, Measured, Trial
from tessarray.tuner.layout import Layout

__all__ = ["described", "seconds"]


def seconds(time: float) -> str:
    """A time as people read it."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if time >= size:
            return f"{time / size:.3g} {unit}"
    return f"{time * 1e9:.0f} ns" if time > 0 else "0 s"


def described(one: Candidate, measured: Measured, counts: Counts, codecs: str) -> Diagnosis:
    """A cause with its verdict, evidence and cure."""
    verdict, evidence, cure = _WORDS[one.cause](measured, counts, codecs)
    base = measured.first if one.cause is Cause.COLD_STORE else measured.warm
    effect = _effect(one, counts, base)
    layout = None if one.cause in (Cause.NOTHING, Cause.COLD_STORE) else one.layout
    if layout is not None and one.cause is not Cause.SLOW_CODEC:
        cure = f"{cure}: {_cut(layout)}"
    return Diagnosis(one.cause, verdict, tuple(evidence), cure, effect, one.saved, layout, one.after)


def _cut(layout: Layout) -> str:
    cut = f"chunks {_sizes(layout.chunks)}"
    return f"{cut} in shards {_sizes(layout.shards)}" if layout.shards else f"{cut}, no shards"


def _sizes(extents: tuple[int, ...]) -> str:
    return "×".join(map(str, extents))


def _effect(one: Candidate, counts: Counts, base: float) -> str:
    if one.cause is Cause.NOTHING:
        return "no change of layout is expected to halve the time"
    now = counts.now
    changes = []
    if one.after is not None:
        for name, before, after in (
            ("chunks", now.chunks, one.after.chunks),
            ("requests", now.requests, one.after.requests),
        ):
            if before != after:
                changes.append(f"{name} {before:,} -> {after:,}")
        if now.decoded != one.after.decoded:
            changes.append(f"decoded {format_size(now.decoded)} -> {format_size(one.after.decoded)}")
    factor = base / max(one.seconds, 1e-9)
    counted = f" ({', '.join(changes)})" if changes else ""
    return f"about {factor:.1f} times faster: {seconds(base)} -> {seconds(one.seconds)}{counted}"


def _trial(trial: Trial | None, as_is: str, changed: str) -> str:
    if trial is None:
        return "no other coding was tried"
    return (
        f"from memory, the read takes {seconds(trial.before)} {as_is}, and {seconds(trial.after)} {changed}"
    )


def _share(part: float, whole: float) -> str:
    return f"{part / max(whole, 1e-12):.0%}"


def _order(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    return (
        "The chunks are stored in Fortran order, and are read in C order: each element is put in its place alone.",
        [
            f"assembly takes {_share(measured.stages.assembly, measured.warm)} of the time",
            _trial(measured.in_c_order, "as stored", "with the same chunks in C order"),
        ],
        'Store the chunks in C order (`order="C"`), or transpose the array',
    )


def _shards(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    layout = counts.layout
    inside = math.prod(layout.shards or ()) // max(math.prod(layout.chunks), 1)
    return (
        f"The shards hold {inside} chunk{'s' if inside > 1 else ''} each: a shard costs an index, and saves no object.",
        [
            f"{counts.now.objects:,} shards of {format_size(inside * counts.chunk_bytes)} are touched, with "
            f"{measured.requests:,} requests",
            f"a shard costs {seconds(measured.warm / max(counts.now.objects, 1))} on average",
        ],
        "Make the shards hold many chunks",
    )


def _alignment(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    now, then = counts.now, counts.aligned
    return (
        f"The selection straddles chunks: it touches {now.chunks:,} where {then.chunks:,} would hold it.",
        [
            f"{counts.amplification:.1f} bytes are decoded for a byte used; begun at a chunk it would be "
            f"{counts.aligned_amplification:.1f}",
            f"it begins at {tuple(start for start, _ in counts.box)}, chunks are {_sizes(counts.layout.chunks)}",
        ],
        f"Read at multiples of {_sizes(counts.layout.chunks)}, or use smaller chunks, which straddling costs less",
    )


def _requests(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    return (
        f"The store is asked {measured.requests:,} times, and takes {seconds(measured.latency)} for each.",
        [
            f"I/O takes {_share(measured.stages.io, measured.warm)} of the time",
            f"{format_size(measured.fetched)} in all, "
            f"{format_size(measured.fetched / max(measured.requests, 1))} a request",
        ],
        "Put chunks that are read together into one shard, so that one request fetches many",
    )


def _small(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    return (
        f"The chunks are too small: {counts.now.chunks:,} of {format_size(counts.chunk_bytes)} each, and each has its "
        "price whatever is in it.",
        [
            f"a chunk costs {seconds(measured.warm / max(counts.now.chunks, 1))}; copying its values would take "
            f"{seconds(counts.chunk_bytes / MEMORY)}",
            f"{counts.amplification:.1f} bytes are decoded for a byte used, so larger chunks are no loss",
        ],
        "Make the chunks larger",
    )


def _shape(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    return (
        f"The chunks lie across the selection: {counts.amplification:,.0f} bytes are decoded for a byte that is used.",
        [
            f"the selection has the extents {_sizes(counts.extents)}, chunks {_sizes(counts.layout.chunks)}",
            f"{counts.now.chunks:,} chunks are touched, {format_size(counts.now.decoded)} decoded, "
            f"{format_size(counts.now.used)} used",
        ],
        "Use chunks of the shape of the selection",
    )


def _codec(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    rate = counts.now.decoded / max(measured.stages.decode, 1e-9)
    fast = measured.with_fast_codec
    size = counts.ratio / fast.ratio if fast else 1.0
    return (
        f"The codec is slow: decoding ({codecs}) takes {_share(measured.stages.decode, measured.warm)} of the time.",
        [
            f"it gives {format_size(rate)}/s of values",
            _trial(fast, "as coded", f"with {FASTER}, whose chunks are {size:.2f} times as large"),
        ],
        f"Code it with {FASTER}, or with a lower level",
    )


def _cold(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    return (
        f"The store was cold: the first read took {seconds(measured.first)}, later ones {seconds(measured.warm)}.",
        [
            f"the first spent {seconds(measured.first_in_store)} in the store, later ones "
            f"{seconds(measured.warm_in_store)}, added over threads",
            "what is read is in a cache now, of the operating system's or of the store's",
        ],
        "Read it once ahead of time, keep it on a faster disk, or fetch less: the layout is not to blame",
    )


def _nothing(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    rate = counts.now.used / max(measured.warm, 1e-9)
    stages = measured.stages
    parts = {
        "I/O": stages.io,
        "decoding": stages.decode,
        "assembly": stages.assembly,
        "planning": stages.rest,
    }
    most = max(parts, key=lambda name: parts[name])
    speed = (
        f"gives {format_size(rate)}/s of values" if measured.warm >= INSTANT else "costs what any read costs"
    )
    return (
        f"Nothing is wrong: the read takes {seconds(measured.warm)} and {speed}.",
        [
            f"{counts.amplification:,.1f} bytes are decoded for a byte used",
            f"most of the time, {_share(parts[most], measured.warm)}, is {most}",
        ],
        "Leave it as it is",
    )


_WORDS = {
    Cause.WRONG_ORDER: _order,
    Cause.TINY_SHARDS: _shards,
    Cause.UNALIGNED: _alignment,
    Cause.TOO_MANY_REQUESTS: _requests,
    Cause.TOO_SMALL_CHUNKS: _small,
    Cause.BAD_CHUNK_SHAPE: _shape,
    Cause.SLOW_CODEC: _codec,
    Cause.COLD_STORE: _cold,
    Cause.NOTHING: _nothing,
}
