"""What a selection touches, by counting: as it is, had it been aligned, and in other layouts."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from tessarray.tuner.expected import LOCAL, REMOTE, Merging, Touch, touch
from tessarray.tuner.explain.axis_selection import AxisSelection
from tessarray.tuner.explain.copies import keys, recoded
from tessarray.tuner.explain.stages import Measured
from tessarray.tuner.layout import Layout, layout_of
from tessarray.tuner.queries import Box

__all__ = ["Counts", "count"]

FAR = 1e-3  # seconds of a request from which on a store is far away, and ranges are joined generously
BLOSC = "blosc"


@dataclass(frozen=True)
class Counts:
    """A selection against a layout. `now` is what it touches, `aligned` what it would if it began at a chunk.

    chunk_bytes: values of a chunk; ratio: values over stored bytes; block: bytes of a codec block that is decoded
    alone, None if the codec has none.
    """

    box: Box
    shape: tuple[int, ...]
    layout: Layout
    itemsize: int
    ratio: float
    merging: Merging
    block: int | None
    now: Touch
    aligned: Touch

    @property
    def extents(self) -> tuple[int, ...]:
        """Of the box."""
        return tuple(stop - start for start, stop in self.box)

    @property
    def chunk_bytes(self) -> int:
        """Bytes of the values of one chunk."""
        return math.prod(self.layout.chunks) * self.itemsize

    @property
    def amplification(self) -> float:
        """Bytes decoded for a byte that is used."""
        return self.now.decoded / max(self.now.used, 1)

    @property
    def aligned_amplification(self) -> float:
        """The same, had the selection begun at a chunk."""
        return self.aligned.decoded / max(self.aligned.used, 1)

    def of(self, layout: Layout) -> Touch:
        """What the selection would touch in another layout, at its place."""
        return touch(self.box, layout, self.itemsize, self.ratio, self.merging, self.block)


def count(array: Any, selected: AxisSelection, measured: Measured, memory: Any) -> Counts:
    """Count what a selection touches. The ratio comes from the bytes that were fetched; what is not stored is not
    decoded; `memory` is a copy of the
    objects, to see the size of codec blocks in."""
    codec = array.compressors[0]["name"] if array.compressors else "none"
    layout = layout_of(array) or Layout(
        tuple(array.chunks), tuple(array.shards) if array.shards else None, codec
    )
    box = selected.box
    merging = REMOTE if measured.latency > FAR else LOCAL
    chunks = math.prod(len(selected.along(axis, chunk)) for axis, chunk in enumerate(layout.chunks))
    raw = math.prod(layout.chunks) * array.itemsize
    ratio = max(chunks * raw / measured.fetched, 1.0) if measured.fetched else 1.0
    block = _block(array, selected, memory)
    aligned = _aligned(box, layout.chunks)
    now, then = (touch(place, layout, array.itemsize, ratio, merging, block) for place in (box, aligned))
    used = selected.elements * array.itemsize
    if not selected.is_box:
        # A list or a step touches less than its box, and uses less of it.
        share = chunks / max(now.chunks, 1)
        now = replace(_scaled(now, share), chunks=chunks, used=used)
        then = replace(_scaled(then, share), used=used)
    stored = min(measured.objects / max(now.objects, 1), 1.0)
    now, then = (replace(one, decoded=round(one.decoded * stored)) for one in (now, then))
    return Counts(box, tuple(array.shape), layout, array.itemsize, ratio, merging, block, now, then)


def _scaled(one: Touch, share: float) -> Touch:
    return Touch(
        max(round(one.objects * share), 1),
        max(round(one.chunks * share), 1),
        max(round(one.requests * share), 1),
        round(one.fetched * share),
        round(one.decoded * share),
        one.used,
        one.segments,
    )


def _aligned(box: Box, chunks: tuple[int, ...]) -> Box:
    """The box moved down to where a chunk begins, along each axis."""
    return tuple(
        (start - start % chunk, stop - start % chunk)
        for (start, stop), chunk in zip(box, chunks, strict=True)
    )


def _block(array: Any, selected: AxisSelection, memory: Any) -> int | None:
    """Bytes of a codec block, out of the header of a touched chunk. A shard's chunk is coded again for it."""
    names = [codec["name"] for codec in array.compressors]
    if array.filters or names[:1] != [BLOSC] or any(name != "crc32c" for name in names[1:]):
        return None
    held = memory
    if memory.shards:
        one = selected
        for axis, chunk in enumerate(array.chunks):
            one = one.first(axis, chunk, 1)
        held = recoded(array, one, memory, None, list(array.compressors))
        if held is None:
            return None
        selected = one
    for name in keys(held, selected)[:64]:
        header = held.store.get(name, 0, 16)
        if header is not None and len(header) == 16:
            return int.from_bytes(header[8:12], "little") or None
    return None
