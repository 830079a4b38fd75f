"""`tessarray.explain`."""

from __future__ import annotations

import math
import re
import shlex
from pathlib import Path
from typing import Any

from tessarray.errors import InvalidArgumentError, InvalidTypeError
from tessarray.stores import pack_of
from tessarray.summary import codec_text
from tessarray.tuner.errors import UntunableError
from tessarray.tuner.explain.axis_selection import AxisSelection, select
from tessarray.tuner.explain.causes import Cause, diagnose
from tessarray.tuner.explain.counting import FAR, Counts, count
from tessarray.tuner.explain.result import Explanation
from tessarray.tuner.explain.stages import Measured, measure
from tessarray.tuner.explain.verdicts import described

__all__ = ["LIMIT", "explain"]

LIMIT = 128 << 20
MOST_OBJECTS = 4096
MOST_CHUNKS = 1 << 17


def explain(array: Any, selection: Any = ..., *, limit: int = LIMIT) -> Explanation:
    """Say why reading a selection of a Tessarray array takes as long as it does, and what would make it faster.

    The read is made and timed: the first time as it is found, then some times more, beside copies in memory of what it
    touches, which tell what is I/O, what decoding and what assembly. The chunks, requests and bytes are counted. Of the
    causes that another layout would cure, or that lie in the store, the one whose cure saves most is named; if
    nothing saves half of the time, nothing is wrong. The array is only read.

    array: of any store. selection: whole numbers, slices, `...`, lists and masks of one axis (as `oindex` takes them).
    limit: most bytes of values in the chunks that are touched; of a larger selection, or one of more than 4,096
    objects, a part is explained, and `part` says which. Needs about four times `limit` of memory,
    and the time of some ten reads.

    Raises `SelectionError` for a selection that does not fit, `UntunableError` for one that holds nothing.

    >>> import numpy as np, tessarray
    >>> a = tessarray.create_array({}, data=np.zeros((400, 300, 300), "f4"), chunks=(1, 300, 300), compressors="zstd:3")
    >>> found = tessarray.explain(a, np.s_[:, 7, 9])
    >>> found.chunks, found.decode_amplification
    (400, 90000.0)
    """
    if not hasattr(array, "chunk_grid") or not hasattr(array, "_documents"):
        raise InvalidTypeError(
            f"explain: expected a Tessarray array, found {type(array).__name__}; open_array gives one"
        )
    if array.chunk_grid != "regular":
        raise UntunableError(
            "explain: expected chunks of one shape, found a rectilinear chunk grid, whose chunks have unequal lengths"
        )
    if limit < 1:
        raise InvalidArgumentError(f"limit: expected bytes, at least 1, found {limit}")
    asked = select(selection, array.shape)
    if asked.elements == 0:
        raise UntunableError(
            f"explain: the selection {asked.text()} of shape {tuple(array.shape)} holds nothing"
        )
    selected = _bounded(asked, array, limit)
    measured, memory = measure(array, selected, limit)
    counts = count(array, selected, measured, memory)
    chosen, considered = diagnose(measured, counts)
    codecs = codec_text(array.compressors)
    return Explanation(
        store=array.store.describe(),
        array=array.path,
        shape=tuple(array.shape),
        dtype=array.data_type,
        dims=array.dimension_names,
        layout=counts.layout,
        codecs=codecs,
        selection=asked.text(),
        part=None if selected == asked else selected.text(),
        chunks=counts.now.chunks,
        objects=measured.objects,
        objects_touched=counts.now.objects,
        block=counts.block,
        blocks=max(round(counts.now.decoded / counts.block), 1) if counts.block else None,
        requests=measured.requests,
        fetched=measured.fetched,
        decoded=counts.now.decoded,
        used=counts.now.used,
        latency=measured.latency,
        bandwidth=measured.bandwidth,
        first=measured.first,
        warm=measured.warm,
        stages=measured.stages,
        diagnosis=described(chosen, measured, counts, codecs),
        considered={one.cause.value: round(one.saved, 3) for one in considered},
        command="" if chosen.cause in (Cause.NOTHING, Cause.COLD_STORE) else _command(array, asked, measured),
        notes=tuple(_notes(array, measured, counts, asked, selected)),
    )


def _bounded(selected: AxisSelection, array: Any, limit: int) -> AxisSelection:
    """The part of a selection whose objects, and whose chunks, are few enough and hold at most `limit` bytes; at least
    one chunk."""
    unit = array.shards or array.chunks
    few = _first(selected, unit, min(limit // _size(unit, array), MOST_OBJECTS))
    return _first(few, array.chunks, min(limit // _size(array.chunks, array), MOST_CHUNKS))


def _size(unit: tuple[int, ...], array: Any) -> int:
    return max(math.prod(unit) * int(array.itemsize), 1)


def _first(selected: AxisSelection, unit: tuple[int, ...], most: int) -> AxisSelection:
    """The part that touches at most so many of these units: the longest axis is halved until it does."""
    while True:
        touched = [len(selected.along(axis, extent)) for axis, extent in enumerate(unit)]
        longest = max(range(len(unit)), key=lambda axis: touched[axis], default=0)
        if not unit or math.prod(touched) <= most or touched[longest] == 1:
            return selected
        selected = selected.first(longest, unit[longest], touched[longest] // 2)


def _command(array: Any, asked: AxisSelection, measured: Measured) -> str:
    """What proves the cure, with this read alone: a command, or a call if the store is none of this machine's."""
    template = asked.template(array.dimension_names)
    place = re.sub(r" \(version \d+\)", "", array.store.describe())  # of a pack
    far = f"s3-like(ttfb={measured.latency * 1e3:.0f}ms,bw={max(measured.bandwidth / 1e6, 1):.0f}MB/s)"
    if not Path(place).exists() and pack_of(place) is None:
        more = f", store={far!r}" if measured.latency > FAR else ""
        return f'tessarray.tune(array, queries={{"slow": "{template}"}}{more})'
    address = place + (f":{array.path}" if array.path else "")
    words = ["tessarray", "tune", address, "--access", f"slow: {template}"]
    return shlex.join(words + (["--store", far] if measured.latency > FAR else []))


def _notes(
    array: Any, measured: Measured, counts: Counts, asked: AxisSelection, selected: AxisSelection
) -> list[str]:
    notes: list[str] = []
    if measured.objects < counts.now.objects:
        notes.append(
            f"{counts.now.objects - measured.objects:,} of the {counts.now.objects:,} objects touched are not stored: "
            "their elements are the fill value"
        )
    if not measured.uncompressed:
        notes.append("a chunk is too large to be tried uncompressed: assembly is a part of decode")
    if not selected.is_box:
        notes.append("steps and lists are counted by the chunks they touch, and cured as the box around them")
    if selected is not asked and selected != asked:
        notes.append("the rest of the selection is expected to behave as the part that was read")
    return notes
