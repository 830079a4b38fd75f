"""What is said of each cause: the verdict, the evidence for it, and the cure."""

from __future__ import annotations

import math

from tessarray.display.units import byte_text, digits, extents_text, rate_text, time_text
from tessarray.tuner.explain.causes import INSTANT, MEMORY, Candidate, Cause
from tessarray.tuner.explain.counting import Counts
from tessarray.tuner.explain.result import Diagnosis
from tessarray.tuner.explain.stages import FASTER, Measured, Trial
from tessarray.tuner.layout import Layout

__all__ = ["described"]

Said = tuple[str, tuple[str, ...], str]  # verdict, evidence, cure


def described(one: Candidate, measured: Measured, counts: Counts, codecs: str) -> Diagnosis:
    """A cause with its verdict, evidence and cure."""
    verdict, evidence, cure = _said(one.cause, measured, counts, codecs)
    base = measured.first if one.cause is Cause.COLD_STORE else measured.warm
    layout = None if one.cause in (Cause.NOTHING, Cause.COLD_STORE) else one.layout
    if layout is not None and one.cause is not Cause.SLOW_CODEC:
        cure = f"{cure}: {_cut(layout)}"
    effect = _effect(one, counts, base)
    return Diagnosis(one.cause, verdict, evidence, cure, effect, one.saved, layout, one.after)


def _cut(layout: Layout) -> str:
    shards = f" in shards {extents_text(layout.shards)}" if layout.shards else ", no shards"
    return f"chunks {extents_text(layout.chunks)}{shards}"


def _effect(one: Candidate, counts: Counts, base: float) -> str:
    if one.cause is Cause.NOTHING:
        return "no change of layout is expected to halve the time"
    now, then = counts.now, one.after
    changes = []
    if then is not None:
        pairs = {
            "chunks": (f"{now.chunks:,}", f"{then.chunks:,}"),
            "requests": (f"{now.requests:,}", f"{then.requests:,}"),
            "decoded": (byte_text(now.decoded), byte_text(then.decoded)),
        }
        changes = [
            f"{name} {before} -> {after}" for name, (before, after) in pairs.items() if before != after
        ]
    counted = f" ({', '.join(changes)})" if changes else ""
    factor = digits(base / max(one.seconds, 1e-9))
    return f"about {factor} times faster: {time_text(base)} -> {time_text(one.seconds)}{counted}"


def _trial(trial: Trial | None, changed: str) -> str:
    if trial is None:
        return "no other coding was tried"
    return f"from memory, the read takes {time_text(trial.before)} as stored, and {time_text(trial.after)} {changed}"


def _said(cause: Cause, measured: Measured, counts: Counts, codecs: str) -> Said:
    now, then, stages = counts.now, counts.aligned, measured.stages
    chunks, box = extents_text(counts.layout.chunks), counts.box

    def share(part: float) -> str:
        return f"{part / max(measured.warm, 1e-12):.0%}"

    match cause:
        case Cause.WRONG_ORDER:
            return (
                "The chunks are stored in Fortran order, and read in C order: each element is put in its place alone.",
                (
                    f"assembly takes {share(stages.assembly)} of the time",
                    _trial(measured.in_c_order, "with the same chunks in C order"),
                ),
                'Store the chunks in C order (`order="C"`), or transpose the array',
            )
        case Cause.TINY_SHARDS:
            inside = math.prod(counts.layout.shards or ()) // max(math.prod(counts.layout.chunks), 1)
            return (
                f"The shards hold {inside} chunk{'s' if inside > 1 else ''} each: a shard costs an index, and saves no "
                "object.",
                (
                    f"{now.objects:,} shards of {byte_text(inside * counts.chunk_bytes)} are touched, with "
                    f"{measured.requests:,} requests",
                    f"a shard costs {time_text(measured.warm / max(now.objects, 1))} on average",
                ),
                "Make the shards hold many chunks",
            )
        case Cause.UNALIGNED:
            return (
                f"The selection straddles chunks: it touches {now.chunks:,}, and {then.chunks:,} would hold it.",
                (
                    f"{digits(counts.amplification)} bytes are decoded per byte used; begun at a chunk it would be "
                    f"{digits(counts.aligned_amplification)}",
                    f"it begins at {tuple(start for start, _ in box)}, chunks are {chunks}",
                ),
                f"Read at multiples of {chunks}, or use smaller chunks, which straddling costs less",
            )
        case Cause.TOO_MANY_REQUESTS:
            return (
                f"The store is asked {measured.requests:,} times, and takes {time_text(measured.latency)} for each.",
                (
                    f"I/O takes {share(stages.io)} of the time",
                    f"{byte_text(measured.fetched)} in all, "
                    f"{byte_text(measured.fetched // max(measured.requests, 1))} per request",
                ),
                "Put chunks that are read together into one shard, so that one request fetches many",
            )
        case Cause.TOO_SMALL_CHUNKS:
            return (
                f"The chunks are too small: {now.chunks:,} of {byte_text(counts.chunk_bytes)} each, and each has "
                "its price whatever is in it.",
                (
                    f"a chunk costs {time_text(measured.warm / max(now.chunks, 1))}; copying its values would take "
                    f"{time_text(counts.chunk_bytes / MEMORY)}",
                    f"{digits(counts.amplification)} bytes are decoded per byte used, so larger chunks are no loss",
                ),
                "Make the chunks larger",
            )
        case Cause.BAD_CHUNK_SHAPE:
            return (
                f"The chunks lie across the selection: {digits(counts.amplification)} bytes are decoded per "
                "byte that is used.",
                (
                    f"the selection has the extents {extents_text(counts.extents)}, chunks {chunks}",
                    f"{now.chunks:,} chunks are touched, {byte_text(now.decoded)} decoded, {byte_text(now.used)} used",
                ),
                "Use chunks of the shape of the selection",
            )
        case Cause.SLOW_CODEC:
            fast = measured.with_fast_codec
            size = digits(counts.ratio / fast.ratio if fast else 1.0)
            return (
                f"The codec is slow: decoding ({codecs}) takes {share(stages.decode)} of the time.",
                (
                    f"it gives {rate_text(now.decoded / max(stages.decode, 1e-9))} of values",
                    _trial(fast, f"with {FASTER}, whose chunks are {size} times as large"),
                ),
                f"Code it with {FASTER}, or with a lower level",
            )
        case Cause.COLD_STORE:
            return (
                f"The store was cold: the first read took {time_text(measured.first)}, later ones "
                f"{time_text(measured.warm)}.",
                (
                    f"the first spent {time_text(measured.first_in_store)} in the store, later ones "
                    f"{time_text(measured.warm_in_store)}, added over threads",
                    "what is read is in a cache now, of the operating system's or of the store's",
                ),
                "Read it once ahead of time, keep it on a faster disk, or fetch less: the layout is not to blame",
            )
        case Cause.NOTHING:
            most = max(stages.named(), key=lambda stage: stage[1])
            speed = f"gives {rate_text(now.used / max(measured.warm, 1e-9))} of values"
            return (
                f"Nothing is wrong: the read takes {time_text(measured.warm)} and "
                f"{speed if measured.warm >= INSTANT else 'costs what any read costs'}.",
                (
                    f"{digits(counts.amplification)} bytes are decoded per byte used",
                    f"most of the time, {share(most[1])}, is {most[0]}",
                ),
                "Leave it as it is",
            )
