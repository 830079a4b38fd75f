"""Codecs on real blocks of the array: ratio, and speed of encoding and decoding on one thread.

Blocks come from evenly spread places of the sample, so that quiet and busy parts both count. An entropy probe first:
if the bytes are as good as random, codecs that look for repeats are not tried, since they could only cost time.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np

import tessarray
from tessarray.conversion.layout import grow
from tessarray.errors import CodecError, TessarrayError
from tessarray.tuner.errors import ConstraintError
from tessarray.tuner.layout import Layout
from tessarray.tuner.result import CodecFigures
from tessarray.tuner.sampling import Sample
from tessarray.tuner.source import NDArray

__all__ = [
    "CODECS",
    "READERS",
    "blocks_of",
    "check",
    "entropy",
    "fits",
    "measure",
    "probe",
    "readable",
    "survivors",
]

BLOCK_BYTES = 1 << 20
BLOCKS = 6
CLEARLY = 1.5  # a codec this much slower, on one block, is not measured further before the rest
ABOUT_AS_FAST = 0.7
RANDOM_BITS = 7.95  # bits a byte above which values count as random
CODECS = (
    "none",
    *(f"blosc:lz4:{level}:{shuffle}" for level in (1, 5, 9) for shuffle in ("shuffle", "bitshuffle")),
    "blosc:lz4:5:noshuffle",
    *(f"blosc:zstd:{level}:{shuffle}" for level in (1, 3, 6) for shuffle in ("shuffle", "bitshuffle")),
    *("zstd:1", "zstd:3", "zstd:9"),
    "pcodec:8",
)
SLOW = (
    "blosc:zstd:9:shuffle",
    "blosc:zstd:9:bitshuffle",
    "zstd:19",
    "gzip:6",
)  # tried if size is what counts
ALWAYS = (
    "none",
    "blosc:lz4:5:shuffle",
    "blosc:lz4:5:bitshuffle",
    "blosc:zstd:3:shuffle",
)  # whatever the time
CORE = {"none", "blosc", "zstd", "gzip"}
# What each library's own installation decodes, checked by the tests of parity.
READERS: dict[str, set[str]] = {
    "tessarray": CORE | {"pcodec"},
    "zarr-python": CORE,
    "tensorstore": CORE,
    "zarrs": CORE | {"pcodec"},
}
DEFAULT_READERS = ("zarr-python", "tensorstore", "zarrs")


def readable(codecs: Iterable[str], readers: Sequence[str]) -> list[str]:
    """The codecs that all readers decode. Raises `ConstraintError` for a reader that is not known."""
    for reader in readers:
        if reader not in READERS:
            raise ConstraintError(f"readers: expected some of {', '.join(READERS)}, found '{reader}'")
    return [
        codec for codec in codecs if all(codec.partition(":")[0] in READERS[reader] for reader in readers)
    ]


def entropy(values: NDArray) -> float:
    """Bits a byte of the values, of the least random byte position: what a shuffle would let a codec see."""
    raw = np.ascontiguousarray(values).reshape(-1).view("u1").reshape(-1, values.dtype.itemsize)
    found = []
    for position in range(raw.shape[1]):
        counts = np.bincount(raw[:, position], minlength=256)
        shares = counts[counts > 0] / raw.shape[0]
        found.append(float(-(shares * np.log2(shares)).sum()))
    return min(found)


def blocks_of(sample: Sample, count: int = BLOCKS, nbytes: int = BLOCK_BYTES) -> list[NDArray]:
    """Contiguous blocks of about `nbytes`, cube-like, at evenly spread places."""
    values = sample.values
    room = max(nbytes // values.dtype.itemsize, 1)
    extents = grow((1,) * values.ndim, values.shape, room)
    found = []
    for i in range(count):
        # A different place along every axis for each block: a Latin square, as far as the axes go.
        corner = [
            int((n - e) * (((i * (2 * axis + 1)) % count) + 0.5) / count)
            for axis, (n, e) in enumerate(zip(values.shape, extents, strict=True))
        ]
        block = values[tuple(slice(at, at + e) for at, e in zip(corner, extents, strict=True))]
        found.append(np.ascontiguousarray(block))
    return found


def measure(codec: str, blocks: Sequence[NDArray], session: Any, repeats: int = 3) -> CodecFigures:
    """One codec on the blocks; the fastest of `repeats` a block, since noise only adds. Every value is verified."""
    raw = stored = 0
    encode = decode = 0.0
    for block in blocks:
        layout = Layout(block.shape, None, codec, checksum=False)
        store = tessarray.MemoryStore()
        array = layout.create(store, block.shape, block.dtype, session=session)
        encode += _fastest(partial(array.write, ..., block), repeats)
        out = np.empty_like(block)
        # Decoding takes little beside encoding, and is what most objectives count.
        decode += _fastest(partial(array.read, out=out), repeats + 2)
        if out.tobytes() != block.tobytes():
            raise CodecError(f"codec {codec}: values came back changed")
        raw += block.nbytes
        stored += array.nbytes_stored()
    return CodecFigures(codec, raw / max(stored, 1), raw / encode, raw / decode)


def _fastest(act: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        started = time.perf_counter()
        act()
        times.append(time.perf_counter() - started)
    return max(min(times), 1e-9)


def probe(
    sample: Sample,
    codecs: Iterable[str],
    seconds: float,
    progress: Callable[[CodecFigures], None] | None = None,
) -> list[CodecFigures]:
    """Figures of each codec within about `seconds`: all on one block first, then on more blocks as far as time goes,
    those that no other clearly beats before the rest. Where time ends in the first turn, later codecs are left out,
    but not the few of `ALWAYS`.
    """
    blocks = blocks_of(sample)
    session = tessarray.Session(threads=1)
    wanted = [codec for codec in codecs if fits(codec, sample.values.dtype)]
    if statistics.median(entropy(block) for block in blocks) > RANDOM_BITS:
        quick = ("none", "blosc:lz4:1:shuffle", "blosc:lz4:5:shuffle")
        wanted = [codec for codec in wanted if codec in quick]
    ends = time.perf_counter() + seconds
    found: dict[str, CodecFigures] = {}
    for codec in wanted:
        if found and codec not in ALWAYS and time.perf_counter() > ends:
            continue
        found[codec] = measure(codec, blocks[:1], session, 1)
        if progress is not None:
            progress(found[codec])
    for first in _promising_first(list(found.values())):
        cost = blocks[0].nbytes * (2 / first.encode + 4 / first.decode)
        count = min(int((ends - time.perf_counter()) / cost), len(blocks))
        if count > 1 or (count and len(blocks) == 1):
            found[first.codec] = measure(first.codec, blocks[:count], session, 2)
            if progress is not None:
                progress(found[first.codec])
    return list(found.values())


def _promising_first(figures: Sequence[CodecFigures]) -> list[CodecFigures]:
    """Those that no other beats by a good part in all three figures, then the rest; the quick ones first in each."""

    def beaten(one: CodecFigures) -> bool:
        return any(
            other.ratio >= one.ratio * 1.05
            and other.encode >= one.encode * CLEARLY
            and other.decode >= one.decode * CLEARLY
            for other in figures
        )

    return sorted(figures, key=lambda one: (beaten(one), -one.encode))


def check(codec: str, dtype: np.dtype[Any]) -> None:
    """Raises `ConstraintError` for what is no codec of this type of values."""
    try:
        Layout((1,), None, codec, checksum=False).create({}, (1,), dtype)
    except (ValueError, TypeError, TessarrayError) as error:
        raise ConstraintError(f"codec '{codec}': {error}") from error


def fits(codec: str, dtype: np.dtype[Any]) -> bool:
    """Whether a codec is worth trying on such values: pcodec codes numbers, and a byte has nothing to shuffle."""
    if codec.startswith("pcodec"):
        return dtype.kind in "iuf" and dtype.itemsize >= 2
    return not (dtype.itemsize == 1 and codec.endswith(":shuffle"))


def survivors(
    figures: Sequence[CodecFigures], objective: str, limit: int = 5, smallest: float = 0.0
) -> list[CodecFigures]:
    """Codecs worth racing: those that no other beats in ratio and in the speed that counts, spread over the front, and
    of those that are about as fast the one that encodes fastest: it costs a search the least.

    `smallest`: codecs of a lower ratio are left out, if any reaches it.
    """
    allowed = [one for one in figures if one.ratio >= smallest] or [max(figures, key=lambda one: one.ratio)]
    front = [one for one in allowed if not any(_beats(other, one, objective) for other in allowed)]
    front.sort(key=lambda one: _speed(one, objective), reverse=True)
    enough = ABOUT_AS_FAST * _speed(front[0], objective)
    cheap = max((one for one in allowed if _speed(one, objective) >= enough), key=lambda one: one.encode)
    if len(front) > limit:
        step = (len(front) - 1) / (limit - 1)
        front = [front[round(i * step)] for i in range(limit)]
    return front if cheap in front else [*front, cheap]


def _speed(one: CodecFigures, objective: str) -> float:
    if objective == "write":
        return one.encode
    if objective == "balanced":
        return math.sqrt(one.encode * one.decode)
    return one.decode


def _beats(one: CodecFigures, other: CodecFigures, objective: str) -> bool:
    mine, theirs = (_speed(one, objective), one.ratio), (_speed(other, objective), other.ratio)
    return mine != theirs and all(a >= b for a, b in zip(mine, theirs, strict=True))
