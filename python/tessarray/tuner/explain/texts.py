"""An explanation as text."""

from __future__ import annotations

from tessarray.display.units import byte_text, time_text
from tessarray.tuner.explain.result import Explanation

__all__ = ["facts", "stage_rows", "text"]

BAR = 30


def facts(one: Explanation) -> list[tuple[str, str]]:
    """What was found, as pairs of a name and a value."""
    layout = one.layout
    cut = "×".join(map(str, layout.chunks))
    if layout.shards:
        cut = f"{cut} in shards {'×'.join(map(str, layout.shards))}"
    kind = "shards" if layout.shards else "chunks"
    rows = [
        ("array", f"{one.array or '/'} {one.shape} {one.dtype} in {one.store}"),
        ("selection", one.selection + (f", of which {one.part} was read" if one.part else "")),
        ("layout", f"chunks {cut}, {one.codecs}"),
        ("touched", f"{one.chunks:,} chunks; {one.objects:,} of {one.objects_touched:,} {kind} are stored"),
    ]
    if one.block and one.blocks is not None:
        rows.append(("blocks", f"about {one.blocks:,} codec blocks of {byte_text(one.block)}"))
    rows += [
        ("requests", f"{one.requests:,}; one takes {time_text(one.latency)}"),
        (
            "fetched",
            f"{byte_text(one.fetched)} for {byte_text(one.used)} used ({one.fetch_amplification:.2f} bytes a byte)",
        ),
        (
            "decoded",
            f"{byte_text(one.decoded)} for {byte_text(one.used)} used "
            f"({one.decode_amplification:,.1f} bytes a byte)",
        ),
        ("first read", time_text(one.first)),
        ("then", f"{time_text(one.warm)}, of which"),
    ]
    return rows


def stage_rows(one: Explanation) -> list[tuple[str, float]]:
    """The stages by name, in seconds."""
    stages = one.stages
    return [
        ("I/O", stages.io),
        ("decode", stages.decode),
        ("assembly", stages.assembly),
        ("rest", stages.rest),
    ]


def text(one: Explanation) -> str:
    """All of it, for people."""
    lines = [f"{name:<12}{value}" for name, value in facts(one)]
    whole = max(one.stages.total, 1e-12)
    for name, time in stage_rows(one):
        bar = "█" * round(BAR * time / whole)
        lines.append(f"  {name:<10}{time_text(time):>9} {time / whole:>4.0%} {bar}")
    found = one.diagnosis
    lines += ["", f"{found.cause.value.upper()}. {found.verdict}"]
    lines += [f"  - {evidence}" for evidence in found.evidence]
    lines += [f"Cure: {found.cure}.", f"Expected: {found.effect}."]
    if one.command:
        lines.append(f"To prove it: {one.command}")
    lines += [f"Note: {note}" for note in one.notes]
    return "\n".join(lines)
