"""`tune codecs`: ratio and speed each way of every codec, level and shuffle, on real blocks of the array.

Blocks of 1 MiB (of small arrays less) come from spread places. Codecs take turns block by block, on one
thread, so that a busy moment meets all alike; a figure's interval is over the blocks, and every value is compared with
what went in.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tessarray
from tessarray.tuner import probe
from tessarray.tuner.errors import ConstraintError, TuneError
from tessarray.tuner.events import Listener
from tessarray.tuner.layout import Layout
from tessarray.tuner.source import NDArray
from tessarray.tuner.studies.codec_words import codec_meaning
from tessarray.tuner.studies.model import Cell, Column, Study, Table, mean_estimate, ratio_estimate
from tessarray.tuner.studies.setting import Setting, setting

__all__ = ["CODECS", "codecs"]

CODECS = (
    *probe.CODECS,
    *("blosc:lz4:1:noshuffle", "blosc:zstd:3:noshuffle", "blosc:zstd:9:shuffle", "blosc:zstd:9:bitshuffle"),
    *("blosc:zlib:4:shuffle", "zstd:0", "zstd:19", "gzip:1", "gzip:6"),
)
BLOCKS = 8
SMALLEST = 16 << 10  # bytes of a block of a small array
REPEATS = 3
LONG = 0.1  # seconds of an encoding that is not repeated
CHECKSUM = "crc32c"
COLUMNS = (
    Column("codec"),
    Column("ratio", "ratio", "bytes of values for a byte stored"),
    Column("encode", "rate", "bytes of values a second, one thread"),
    Column("decode", "rate", "bytes of values a second, one thread"),
    Column("front", "mark", "no other codec is better in ratio, encode and decode at once"),
    Column("blocks", "count", "how many were measured"),
)
CHECKSUMS = (
    Column("beside"),
    Column("of a write", "share", "time that the checksum adds to encoding"),
    Column("of a read", "share", "time that the checksum adds to decoding"),
)
BLOCK = (
    Column("block", "count"),
    Column("as they are", "bits", "entropy: bits a byte that values need where their bytes are taken as they come"),
    Column("shuffled", "bits", "the same of the least random byte of an element"),
    Column("best ratio", "ratio"),
    Column("of codec"),
)  # fmt: skip


def codecs(
    source: Any,
    *,
    variable: str | None = None,
    codecs: Sequence[str] | None = None,
    readers: Sequence[str] | None = None,
    budget: float | str = 20,
    store: str = "memory",
    scratch: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: Listener | None = None,
) -> Study:
    """Measure codecs on blocks of an array: ratio, encoding and decoding speed, and what a checksum costs.

    codecs: short texts ("zstd:3", "blosc:lz4:5:shuffle", "pcodec:8", "none"); a list of some thirty where left out.
    readers: only codecs that all of these libraries decode. Speeds are of one thread in memory: `store` and `threads`
    are as in the other studies and change nothing here.

    Costs the budget (seconds) and a sample of at most 64 MB. Raises `ConstraintError` for a codec or reader that is
    not known, `UntunableError` for arrays with nothing to measure.
    """
    wanted = list(dict.fromkeys(codecs or CODECS))
    if readers:
        wanted = probe.readable(wanted, readers)
    asked = {"codecs": list(codecs) if codecs else None, "readers": list(readers or ())}
    with setting(
        "codecs", source, variable, budget=budget, store=store, scratch=scratch, seed=seed, threads=threads,
        progress=progress, request=asked,
    ) as room:  # fmt: skip
        for codec in wanted:
            _check(codec, room.subject.dtype)
        wanted = [codec for codec in wanted if codecs or probe._fits(codec, room.subject.dtype)]
        if not wanted:
            raise ConstraintError(f"codecs: expected some that {', '.join(readers or ())} decode, found none")
        sample = room.sample(64 << 20)
        size = min(max(sample.values.nbytes // BLOCKS, SMALLEST), probe.BLOCK_BYTES)
        blocks = probe.blocks_of(sample, BLOCKS, size)
        seen = {codec: _Seen() for codec in wanted}
        beside: dict[str, list[list[float]]] = {}
        _measure(room, seen, blocks, room.clock.budget * 0.85)
        _checksums(room, beside, seen, blocks)
        return _study(room, seen, blocks, beside)


def _check(codec: str, dtype: np.dtype[Any]) -> None:
    """Raises `ConstraintError` for what is no codec of this type of values."""
    try:
        Layout((1,), None, codec, checksum=False).create({}, (1,), dtype)
    except (ValueError, TypeError, tessarray.TessarrayError) as error:
        raise ConstraintError(f"codec '{codec}': {error}") from error


@dataclass
class _Seen:
    """What was measured of a codec, by block: bytes and the fastest seconds."""

    raw: list[int] = field(default_factory=list)
    stored: list[int] = field(default_factory=list)
    encode: list[float] = field(default_factory=list)
    decode: list[float] = field(default_factory=list)


def _measure(room: Setting, seen: dict[str, _Seen], blocks: Sequence[NDArray], until: float) -> None:
    """Block by block, codecs in an order drawn anew; the first block is measured whatever it takes."""
    session = tessarray.Session(threads=1)
    names = list(seen)
    for number, block in enumerate(blocks):
        for place in room.rng.permutation(len(names)):
            codec = names[int(place)]
            if number and room.clock.spent > until:
                return
            room.say(f"block {number + 1} of {len(blocks)}: {codec}")
            one = seen[codec]
            stored, encode, decode = _times(
                Layout(block.shape, None, codec, checksum=False), block, session, REPEATS
            )
            one.raw.append(block.nbytes)
            one.stored.append(stored)
            one.encode.append(encode)
            one.decode.append(decode)


def _times(layout: Layout, block: NDArray, session: Any, repeats: int) -> tuple[int, float, float]:
    """Bytes stored, and the fastest seconds to encode and to decode a block. Verified."""
    array = layout.create(tessarray.MemoryStore(), block.shape, block.dtype, session=session)
    out = np.empty_like(block)
    encode = decode = float("inf")
    for _ in range(repeats):
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


def _checksums(
    room: Setting, beside: dict[str, list[list[float]]], seen: dict[str, _Seen], blocks: Sequence[NDArray]
) -> None:
    """With and without a checksum, in pairs: beside no codec, and beside the fastest that makes values smaller.

    What a checksum takes depends on how many bytes are stored alone, so it is measured on as many bytes without a
    codec: some codecs have a checksum of their own, and would hide it.
    """
    session = tessarray.Session(threads=1)
    smaller = [name for name, one in seen.items() if sum(one.stored) < 0.9 * sum(one.raw)]
    names = ["none", *sorted(smaller, key=lambda name: np.mean(seen[name].decode))[:1]]
    for number, block in enumerate(blocks):
        for name in dict.fromkeys(names):
            if room.clock.until(1.0) == 0 and number > 1:
                return
            room.say(f"checksum beside {name}")
            stored, encode, decode = _times(
                Layout(block.shape, None, name, checksum=False), block, session, 3
            )
            coded = np.full(stored, 1, np.uint8)
            plain, checked = (Layout(coded.shape, None, "none", checksum=c) for c in (False, True))
            _, write, read = _times(plain, coded, session, 3)
            _, more, again = _times(checked, coded, session, 3)
            pairs = beside.setdefault(name, [[], []])
            pairs[0].append((more - write) / encode)
            pairs[1].append((again - read) / decode)


def _study(
    room: Setting, seen: dict[str, _Seen], blocks: Sequence[NDArray], beside: dict[str, list[list[float]]]
) -> Study:  # fmt: skip
    rows: list[tuple[Cell, ...]] = []
    points = {name: _point(one) for name, one in seen.items()}
    for name, one in seen.items():
        front = not any(_beats(other, points[name]) for other in points.values())
        rows.append(
            (
                name,
                ratio_estimate(one.raw, one.stored, room.seed),
                ratio_estimate(one.raw, one.encode, room.seed),
                ratio_estimate(one.raw, one.decode, room.seed),
                front,
                len(one.raw),
            )
        )
    rows.sort(key=lambda row: -points[str(row[0])][0])
    checks: list[tuple[Cell, ...]] = [
        (name, mean_estimate(pairs[0], median=True), mean_estimate(pairs[1], median=True))
        for name, pairs in beside.items()
    ]
    entropies = tuple(_entropies(number, block, seen) for number, block in enumerate(blocks))
    front_rows = tuple(number for number, row in enumerate(rows) if row[4])
    named = {
        "none",
        "zstd:3",
        "blosc:lz4:5:shuffle",
        "gzip:6",
        room.subject.current.codec if room.subject.current else "",
    }
    brief = tuple(number for number, row in enumerate(rows) if number in front_rows or row[0] in named)
    tables = (
        Table(
            "Codecs on blocks of the array, by ratio", COLUMNS, tuple(rows), brief if len(rows) > 16 else ()
        ),
        Table(f"What {CHECKSUM} adds", CHECKSUMS, tuple(checks)),
        Table("Blocks", BLOCK, entropies),
    )
    now = room.subject.current.codec if room.subject.current else None
    size = blocks[0].nbytes
    room.notes.append(
        f"{len(blocks)} blocks of {size:,} bytes, on one thread, in memory; the fastest of {REPEATS} times each"
    )
    fewest = min(len(one.raw) for one in seen.values())
    if fewest < len(blocks):
        room.notes.append(
            f"the budget sufficed for {fewest} of the blocks with every codec: give a larger --budget"
        )
    return room.study("Codecs", tables, codec_meaning(tables, now), {"current": now})


def _point(one: _Seen) -> tuple[float, float, float]:
    raw = sum(one.raw)
    return raw / max(sum(one.stored), 1), raw / sum(one.encode), raw / sum(one.decode)


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a >= b for a, b in zip(one, other, strict=True))


def _entropies(number: int, block: NDArray, seen: dict[str, _Seen]) -> tuple[Cell, ...]:
    counts = np.bincount(np.ascontiguousarray(block).reshape(-1).view("u1"), minlength=256)
    shares = counts[counts > 0] / counts.sum()
    plain = float(-(shares * np.log2(shares)).sum()) + 0.0
    there = {
        name: one.raw[number] / max(one.stored[number], 1)
        for name, one in seen.items()
        if len(one.raw) > number
    }
    best = max(there, key=lambda name: there[name], default=None)
    return number + 1, plain, probe.entropy(block) + 0.0, there[best] if best else None, best
