"""Verdicts, evidence and cures in words."""

from __future__ import annotations

import math

from tessarray.display.units import byte_text, extents_text, rate_text, time_text
from tessarray.tuner.explain.causes import INSTANT, MEMORY, Candidate, Cause
from tessarray.tuner.explain.counting import Counts
from tessarray.tuner.explain.result import Diagnosis
from tessarray.tuner.explain.stages import FASTER, Measured, Trial
from tessarray.tuner.layout import Layout

__all__ = ["described"]


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
    cut = f"chunks {extents_text(layout.chunks)}"
    return f"{cut} in shards {extents_text(layout.shards)}" if layout.shards else f"{cut}, no shards"


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
            changes.append(f"decoded {byte_text(now.decoded)} -> {byte_text(one.after.decoded)}")
    factor = base / max(one.seconds, 1e-9)
    counted = f" ({', '.join(changes)})" if changes else ""
    return f"about {factor:.1f} times faster: {time_text(base)} -> {time_text(one.seconds)}{counted}"


def _trial(trial: Trial | None, as_is: str, changed: str) -> str:
    if trial is None:
        return "no other coding was tried"
    return f"from memory, the read takes {time_text(trial.before)} {as_is}, and {time_text(trial.after)} {changed}"


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
            f"{counts.now.objects:,} shards of {byte_text(inside * counts.chunk_bytes)} are touched, with "
            f"{measured.requests:,} requests",
            f"a shard costs {time_text(measured.warm / max(counts.now.objects, 1))} on average",
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
            f"it begins at {tuple(start for start, _ in counts.box)}, chunks are {extents_text(counts.layout.chunks)}",
        ],
        f"Read at multiples of {extents_text(counts.layout.chunks)}, or use smaller chunks, which straddling costs "
        "less",
    )


def _requests(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    return (
        f"The store is asked {measured.requests:,} times, and takes {time_text(measured.latency)} for each.",
        [
            f"I/O takes {_share(measured.stages.io, measured.warm)} of the time",
            f"{byte_text(measured.fetched)} in all, "
            f"{byte_text(measured.fetched / max(measured.requests, 1))} a request",
        ],
        "Put chunks that are read together into one shard, so that one request fetches many",
    )


def _small(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    return (
        f"The chunks are too small: {counts.now.chunks:,} of {byte_text(counts.chunk_bytes)} each, and each has its "
        "price whatever is in it.",
        [
            f"a chunk costs {time_text(measured.warm / max(counts.now.chunks, 1))}; copying its values would take "
            f"{time_text(counts.chunk_bytes / MEMORY)}",
            f"{counts.amplification:.1f} bytes are decoded for a byte used, so larger chunks are no loss",
        ],
        "Make the chunks larger",
    )


def _shape(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    return (
        f"The chunks lie across the selection: {counts.amplification:,.0f} bytes are decoded for a byte that is used.",
        [
            f"the selection has the extents {extents_text(counts.extents)}, "
            f"chunks {extents_text(counts.layout.chunks)}",
            f"{counts.now.chunks:,} chunks are touched, {byte_text(counts.now.decoded)} decoded, "
            f"{byte_text(counts.now.used)} used",
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
            f"it gives {rate_text(rate)} of values",
            _trial(fast, "as coded", f"with {FASTER}, whose chunks are {size:.2f} times as large"),
        ],
        f"Code it with {FASTER}, or with a lower level",
    )


def _cold(measured: Measured, counts: Counts, codecs: str) -> tuple[str, list[str], str]:
    return (
        f"The store was cold: the first read took {time_text(measured.first)}, later ones {time_text(measured.warm)}.",
        [
            f"the first spent {time_text(measured.first_in_store)} in the store, later ones "
            f"{time_text(measured.warm_in_store)}, added over threads",
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
    speed = f"gives {rate_text(rate)} of values" if measured.warm >= INSTANT else "costs what any read costs"
    return (
        f"Nothing is wrong: the read takes {time_text(measured.warm)} and {speed}.",
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
