"""An explanation as text."""

from __future__ import annotations

from collections.abc import Iterator

from tessarray.display.units import byte_text, digits, extents_text, time_text
from tessarray.tuner.explain.result import Explanation

__all__ = ["text"]

BAR = 30  # characters


def text(one: Explanation) -> str:
    """All of it, for people."""
    lines = [f"{name:<12}{value}" for name, value in _facts(one)]
    whole = max(one.stages.total, 1e-12)
    for name, time in one.stages.named():
        bar = "█" * round(BAR * time / whole)
        lines.append(f"  {name:<10}{time_text(time):>9} {time / whole:>4.0%} {bar}")
    found = one.diagnosis
    lines += ["", f"{found.cause.value.upper()}. {found.verdict}"]
    lines += [f"  - {evidence}" for evidence in found.evidence]
    lines += [f"Cure: {found.cure}.", f"Expected: {found.effect}."]
    if one.command:
        lines.append(f"To prove it: {one.command}")
    return "\n".join([*lines, *(f"Note: {note}" for note in one.notes)])


def _facts(one: Explanation) -> Iterator[tuple[str, str]]:
    """What was found, as pairs of a name and a value."""
    shards = one.layout.shards
    cut = extents_text(one.layout.chunks) + (f" in shards {extents_text(shards)}" if shards else "")
    kind, used = "shards" if shards else "chunks", byte_text(one.used)
    yield "array", f"{one.array or '/'} {one.shape} {one.dtype} in {one.store}"
    yield "selection", one.selection + (f", of which {one.part} was read" if one.part else "")
    yield "layout", f"chunks {cut}, {one.codecs}"
    yield "touched", f"{one.chunks:,} chunks; {one.objects:,} of {one.objects_touched:,} {kind} are stored"
    if one.block and one.blocks is not None:
        yield "blocks", f"about {one.blocks:,} codec blocks of {byte_text(one.block)}"
    yield "requests", f"{one.requests:,}; one takes {time_text(one.latency)}"
    for name, nbytes, times in (
        ("fetched", one.fetched, one.fetch_amplification),
        ("decoded", one.decoded, one.decode_amplification),
    ):
        yield name, f"{byte_text(nbytes)} for {used} used ({digits(times)} bytes per byte)"
    yield "first read", time_text(one.first)
    yield "then", f"{time_text(one.warm)}, of which"
