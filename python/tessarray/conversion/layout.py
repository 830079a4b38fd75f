"""Layouts of converted arrays: which chunks and shards, when the user does not say.

The rule, in NumPy terms. An inner chunk holds up to 256 KiB: starting from one element, the shortest axis doubles (the
last one at a tie) until the next doubling would not fit, so that chunks are about as long along every axis and a slice
in any direction costs about the same. A shard holds up to 64 MiB and grows in whole chunks, first to cover what the
source reads at once, then its shortest axis. Both are evened out, so that the last one is not almost empty. An array
of up to 1 MiB is one chunk without shards.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tessarray.conversion.errors import OptionError
from tessarray.conversion.model import ArraySpec

CHUNK_BYTES = 256 << 10
SHARD_BYTES = 64 << 20
SINGLE_CHUNK_BYTES = 1 << 20

Extents = tuple[int, ...]
Choice = str | int | Sequence[int] | Mapping[str, int] | None


@dataclass(frozen=True)
class Layout:
    """Chunks (what is read) and shards (what is stored; None if a chunk is stored by itself).

    coding: `filters`, `serializer` and `compressors` for `create_array`, where a layout file says what they are; None
    leaves it to the conversion's own `compressors`.
    """

    chunks: Extents
    shards: Extents | None
    coding: Mapping[str, Any] | None = None

    @property
    def unit(self) -> Extents:
        """What one stored object holds."""
        return self.shards or self.chunks


def grow(start: Extents, limit: Extents, room: int, axes: Sequence[int] | None = None) -> Extents:
    """Double the shortest axis of `start` (of `axes`; the last at a tie) up to `limit`, within `room` elements."""
    extents = list(start)
    open_axes = [
        axis for axis in (range(len(start)) if axes is None else axes) if extents[axis] < limit[axis]
    ]
    while open_axes:
        axis = min(open_axes, key=lambda i: (extents[i], -i))
        grown = min(extents[axis] * 2, limit[axis])
        if math.prod(extents) // max(extents[axis], 1) * grown > room:
            open_axes.remove(axis)
            continue
        extents[axis] = grown
        if grown == limit[axis]:
            open_axes.remove(axis)
    return tuple(extents)


def even(extent: int, part: int) -> int:
    """The smallest part that cuts `extent` into as many pieces as `part` does."""
    return math.ceil(extent / math.ceil(extent / part)) if extent else 1


def auto_chunks(spec: ArraySpec) -> Extents:
    """The inner chunk of the rule above."""
    limit = tuple(max(extent, 1) for extent in spec.shape)
    if spec.nbytes <= SINGLE_CHUNK_BYTES:
        return limit
    chunk = grow((1,) * len(limit), limit, CHUNK_BYTES // spec.itemsize)
    return tuple(even(extent, part) for extent, part in zip(limit, chunk, strict=True))


def auto_shards(spec: ArraySpec, chunks: Extents, room_bytes: int) -> Extents | None:
    """The shard of the rule above: whole chunks, up to `room_bytes`; None where one chunk is enough."""
    counts = tuple(max(math.ceil(n / c), 1) for n, c in zip(spec.shape, chunks, strict=True))
    room = max(room_bytes // (math.prod(chunks) * spec.itemsize), 1)
    if math.prod(counts) == 1 or room == 1:
        return None
    natural = spec.chunk or (1,) * len(chunks)
    cover = tuple(min(math.ceil(s / c), n) for s, c, n in zip(natural, chunks, counts, strict=True))
    grown = grow(grow((1,) * len(chunks), cover, room), counts, room)
    return tuple(c * even(n, g) for c, n, g in zip(chunks, counts, grown, strict=True))


def _explicit(choice: Choice, spec: ArraySpec, auto: Extents, what: str) -> Extents | None:
    """The extents a user asked for, or None if they say nothing about this array."""
    if isinstance(choice, int):
        choice = (choice,) * len(spec.shape)
    if isinstance(choice, Mapping):
        names = spec.dims or ()
        if not any(name in choice for name in names):
            return None
        extents = tuple(choice.get(name, part) for name, part in zip(names, auto, strict=True))
    elif isinstance(choice, str) or choice is None or len(choice) != len(spec.shape):
        return None
    else:
        extents = tuple(int(part) for part in choice)
    if any(part < 1 and part != -1 for part in extents):
        raise OptionError(
            f"{what} of '{spec.path}': expected extents of 1 or more (-1: the whole axis), found {extents}"
        )
    return tuple(n if part == -1 else part for part, n in zip(extents, map(_whole, spec.shape), strict=True))


def check_choices(source: str, specs: Sequence[ArraySpec], chunks: Choice, shards: Choice) -> None:
    """Refuse chunks and shards that fit no array, and names that no dimension has. Raises `OptionError`."""
    for what, choice, words in (("chunks", chunks, ("auto", "source")), ("shards", shards, ("auto", "none"))):
        if isinstance(choice, str):
            if choice not in words:
                raise OptionError(f"{what}: expected {words[0]}, {words[1]} or extents, found '{choice}'")
        elif isinstance(choice, Mapping):
            known = sorted({name for spec in specs for name in spec.dims or ()})
            unknown = [str(name) for name in choice if name not in known]
            if unknown:
                there = (
                    f"there are {', '.join(known)}" if known else "its dimensions have no names: give extents"
                )
                raise OptionError(f"{what}: {source} has no dimension '{unknown[0]}'; {there}")
        elif choice is not None and not isinstance(choice, int):
            ranks = {len(spec.shape) for spec in specs}
            if specs and len(choice) not in ranks:
                arrays = ", ".join(_shown(spec) for spec in specs[:10]) + (", ..." if len(specs) > 10 else "")
                raise OptionError(
                    f"{what}: {tuple(choice)} fits no array of {source}: expected {_any_of(ranks)} extents, found "
                    f"{len(choice)}; there are {arrays}"
                )


def _any_of(ranks: set[int]) -> str:
    return " or ".join(str(rank) for rank in sorted(ranks))


def _shown(spec: ArraySpec) -> str:
    """An array with its dimensions: `wind (time=7, y=13)`."""
    names = spec.dims or ("",) * len(spec.shape)
    extents = ", ".join(f"{name}={n}" if name else str(n) for name, n in zip(names, spec.shape, strict=True))
    return f"{spec.path} ({extents})".strip()


def _whole(extent: int) -> int:
    return max(extent, 1)


def choose(spec: ArraySpec, chunks: Choice, shards: Choice, memory: int, sharding: bool = True) -> Layout:
    """The layout of one array.

    `chunks` and `shards` are "auto", extents (used for arrays of as many dimensions), or a mapping of dimension names
    to extents; `chunks` may be "source" (as the source has them) and `shards` None or "none". `memory` in bytes bounds
    a shard to an eighth. Raises `OptionError` where shards are no multiples of chunks.
    """
    limit = tuple(_whole(extent) for extent in spec.shape)
    automatic = auto_chunks(spec)
    inner = _explicit(chunks, spec, automatic, "chunks")
    if inner is None:
        inner = spec.chunk if chunks == "source" and spec.chunk else automatic
    inner = tuple(min(part, extent) for part, extent in zip(inner, limit, strict=True))
    if not sharding or shards is None or shards == "none" or not spec.shape:
        return Layout(inner, None)
    outer = auto_shards(spec, inner, min(SHARD_BYTES, memory // 8))
    asked = _explicit(shards, spec, outer or inner, "shards")
    if asked is None:
        small = spec.nbytes <= SINGLE_CHUNK_BYTES
        return Layout(inner, None if small else outer)
    if any(s % c for s, c in zip(asked, inner, strict=True)):
        if not isinstance(chunks, str):
            rounded = tuple(math.ceil(s / c) * c for s, c in zip(asked, inner, strict=True))
            raise OptionError(
                f"shards of '{spec.path}': expected multiples of the chunks {inner}, found {asked}; try {rounded}"
            )
        inner = tuple(_divisor(s, c) for s, c in zip(asked, inner, strict=True))
    return Layout(inner, asked)


def _divisor(whole: int, about: int) -> int:
    """The largest divisor of `whole` that is no more than `about`."""
    return next(part for part in range(min(about, whole), 0, -1) if whole % part == 0)
