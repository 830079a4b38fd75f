"""`tune codecs`: ratio and speed each way of every codec, level and shuffle, on real blocks of the array.

Blocks of 1 MiB (of small arrays less) come from spread places. Codecs take turns block by block, on one thread, so that
a busy moment meets all alike; a figure's interval is over the blocks, and every value is compared with what went in.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tessarray
from tessarray.display import palette, pictures
from tessarray.display.units import digits, rate_text
from tessarray.tuner import probe
from tessarray.tuner.errors import ConstraintError, TuneError
from tessarray.tuner.layout import Layout
from tessarray.tuner.source import NDArray
from tessarray.tuner.studies.model import (
    Cell,
    Column,
    Study,
    Table,
    number,
    ratio_estimate,
    whiskers,
)
from tessarray.tuner.studies.runner import Measured, Room, study

__all__ = ["CODECS", "codecs"]

CODECS = (
    *probe.CODECS,
    *("blosc:lz4:1:noshuffle", "blosc:zstd:3:noshuffle", "blosc:zstd:9:shuffle", "blosc:zstd:9:bitshuffle"),
    *("blosc:zlib:4:shuffle", "zstd:0", "zstd:19", "gzip:1", "gzip:6"),
)
USUAL = {"none", "zstd:3", "blosc:lz4:5:shuffle", "gzip:6"}  # shown though others beat them
BLOCKS = 8
SMALLEST = 16 << 10  # bytes of a block of a small array
REPEATS = 3
LONG = 0.1  # seconds of an encoding that is not repeated
WORTH = 1.1  # ratio from which on a codec is an answer to "which is fastest"
COLUMNS = (
    Column("codec"),
    Column("ratio", "ratio", "bytes of values per byte stored"),
    Column("encode", "rate", "bytes of values per second, one thread"),
    Column("decode", "rate", "bytes of values per second, one thread"),
    Column("front", "mark", "no other codec is better in ratio, encode and decode at once"),
    Column("blocks", "count", "how many were measured"),
)
BLOCK = (
    Column("block", "count"),
    Column(
        "as they are", "bits", "entropy: bits per byte that values need if their bytes are taken as they come"
    ),
    Column("shuffled", "bits", "the same of the least random byte of an element"),
    Column("best ratio", "ratio"),
    Column("of codec"),
)


def _draw(figure: Any, found: Study) -> None:
    """Ratio against speed, each way."""
    for at, way in enumerate(("decode", "encode")):
        panel = figure.add_subplot(1, 2, at + 1)
        for row in found.tables[0].records():
            ratio, speed = row["ratio"], row[way]
            place = (number(ratio), number(speed))
            colour = palette.PRINTED[3 if row["front"] else 6]
            bars = {"xerr": whiskers([ratio]), "yerr": whiskers([speed])}
            panel.errorbar(*place, fmt="o", ms=4, color=colour, elinewidth=0.7, **bars)
            if row["front"]:
                panel.annotate(
                    str(row["codec"]), place, xytext=(3, 3), textcoords="offset points", fontsize=6
                )
        panel.set(
            yscale="log", xlabel="ratio", ylabel=f"{way}, one thread", title=f"{way}: orange is not beaten"
        )
        pictures.unit_axis(panel.yaxis, "rate")


@dataclass
class _Seen:
    """What was measured of a codec, by block: bytes and the fastest seconds."""

    raw: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    encode: list[float] = field(default_factory=list)
    decode: list[float] = field(default_factory=list)

    def point(self) -> tuple[float, float, float]:
        """Ratio, and bytes per second each way."""
        raw = sum(self.raw)
        return raw / max(sum(self.stored), 1), raw / sum(self.encode), raw / sum(self.decode)


@study("Codecs", draw=_draw, budget="20s", store="memory")
def codecs(
    room: Room, codecs: Sequence[str] | None = None, readers: Sequence[str] | str | None = None
) -> Measured:
    """Measure codecs on blocks of an array: ratio, encoding and decoding speed, and entropy.

    codecs: short texts ("zstd:3", "blosc:lz4:5:shuffle", "pcodec:8", "none"); a list of some thirty if left out.
    readers: only codecs that all of these libraries decode. Speeds are of one thread in memory: `store` and `threads`
    are as in the other studies and change nothing here.

    Costs the budget (seconds) and a sample of at most 64 MB. Raises `ConstraintError` for a codec or reader that is
    not known, `UntunableError` for arrays with nothing to measure.
    """
    dtype = room.subject.dtype
    named = [name.strip() for name in readers.split(",")] if isinstance(readers, str) else list(readers or ())
    wanted = probe.readable(dict.fromkeys(codecs or CODECS), [name for name in named if name])
    for codec in wanted:
        probe.check(codec, dtype)
    wanted = [codec for codec in wanted if codecs or probe.fits(codec, dtype)]
    if not wanted:
        raise ConstraintError(f"codecs: expected some that {', '.join(named)} decode, found none")
    sample = room.sample(64 << 20)
    size = min(max(sample.values.nbytes // BLOCKS, SMALLEST), probe.BLOCK_BYTES)
    blocks = probe.blocks_of(sample, BLOCKS, size)
    seen = {codec: _Seen() for codec in wanted}
    _measure(room, seen, blocks, room.clock.budget * 0.95)
    room.notes.append(
        f"{len(blocks)} blocks of {blocks[0].nbytes:,} bytes, on one thread, in memory; the fastest of {REPEATS} times"
    )
    fewest = min(len(one.raw) for one in seen.values())
    if fewest < len(blocks):
        room.notes.append(
            f"the budget sufficed for {fewest} of the blocks with every codec: give more --budget"
        )
    now = room.subject.current.codec if room.subject.current else None
    entropies = tuple(_entropies(at, block, seen) for at, block in enumerate(blocks))
    tables = (
        _codec_table(room, seen, now),
        Table("Blocks", BLOCK, entropies),
    )
    return tables, _meaning(tables, now), {"current": now}


def _measure(room: Room, seen: dict[str, _Seen], blocks: Sequence[NDArray], until: float) -> None:
    """Block by block, codecs in an order drawn anew; the first block is measured whatever it takes."""
    session = tessarray.Session(threads=1)
    names = list(seen)
    for at, block in enumerate(blocks):
        for place in room.rng.permutation(len(names)):
            if at and room.clock.spent > until:
                return
            codec = names[int(place)]
            room.say(f"block {at + 1} of {len(blocks)}: {codec}")
            layout = Layout(block.shape, None, codec, checksum=False)
            stored, encode, decode = _times(layout, block, session)
            one = seen[codec]
            one.raw.append(block.nbytes)
            one.stored.append(stored)
            one.encode.append(encode)
            one.decode.append(decode)


def _times(layout: Layout, block: NDArray, session: Any) -> tuple[int, float, float]:
    """Bytes stored, and the fastest seconds to encode and to decode a block. Verified."""
    array = layout.create(tessarray.MemoryStore(), block.shape, block.dtype, session=session)
    out = np.empty_like(block)
    encode = decode = float("inf")
    for _ in range(REPEATS):
        started = time.perf_counter()
        array.write(..., block)
        middle = time.perf_counter()
        array.read(out=out)
        encode = min(encode, middle - started)
        decode = min(decode, time.perf_counter() - middle)
        if encode > LONG:
            break
    if out.tobytes() != block.tobytes():
        raise TuneError(f"codec {layout.codec}: values came back changed")
    return array.nbytes_stored(), max(encode, 1e-9), max(decode, 1e-9)


def _codec_table(room: Room, seen: dict[str, _Seen], now: str | None) -> Table:
    points = {name: one.point() for name, one in seen.items()}
    rows: list[tuple[Cell, ...]] = []
    for name in sorted(seen, key=lambda name: -points[name][0]):
        one, mine = seen[name], points[name]
        beaten = any(
            mine != other and all(a >= b for a, b in zip(other, mine, strict=True))
            for other in points.values()
        )
        figures = (
            ratio_estimate(one.raw, below, room.seed) for below in (one.stored, one.encode, one.decode)
        )
        rows.append((name, *figures, not beaten, len(one.raw)))
    brief = tuple(at for at, row in enumerate(rows) if row[4] or row[0] in (*USUAL, now))
    return Table(
        "Codecs on blocks of the array, by ratio", COLUMNS, tuple(rows), brief if len(rows) > 16 else ()
    )


def _entropies(at: int, block: NDArray, seen: dict[str, _Seen]) -> tuple[Cell, ...]:
    counts = np.bincount(np.ascontiguousarray(block).reshape(-1).view("u1"), minlength=256)
    shares = counts[counts > 0] / counts.sum()
    plain = float(-(shares * np.log2(shares)).sum()) + 0.0
    there = {name: one.raw[at] / max(one.stored[at], 1) for name, one in seen.items() if len(one.raw) > at}
    best = max(there, key=lambda name: there[name], default=None)
    return at + 1, plain, probe.entropy(block) + 0.0, there[best] if best else None, best


def _meaning(tables: Sequence[Table], now: str | None) -> tuple[str, ...]:
    """The smallest, the quickest, what beats the codec that there is, and what shuffling shows."""
    rows: list[dict[str, Any]] = tables[0].records()
    smallest = max(rows, key=lambda row: row["ratio"].value)
    coded = [row for row in rows if row["ratio"].value >= WORTH] or rows
    quick = max(coded, key=lambda row: row["decode"].value)
    found = [
        f"{which}: {row['codec']}, {digits(row['ratio'].value)} times smaller, {rate_text(row['decode'].value)}."
        for which, row in (("Smallest", smallest), ("Fastest to decode", quick))
    ]
    mine = next((row for row in rows if row["codec"] == now), None)
    better = [
        row["codec"]
        for row in rows
        if mine is not None
        and not mine["front"]
        and row["front"]
        and all(row[name].value >= mine[name].value for name in ("ratio", "encode", "decode"))
    ]
    if better:
        found.append(f"The array's own {now} is beaten in all three by {better[0]}.")
    blocks: list[dict[str, Any]] = tables[1].records()
    plain, shuffled = (np.mean([row[name] for row in blocks]) for name in ("as they are", "shuffled"))
    found.append(
        f"Bytes hold {digits(float(plain))} of 8 bits as they come, and {digits(float(shuffled))} in the least random "
        "byte of an element, which is what a shuffle shows a codec."
    )
    return tuple(found)
