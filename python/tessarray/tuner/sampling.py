"""A sample that reads each stored chunk of the source once: of slabs whole slabs, of which parts are kept.

The values are those that `Sample.take` would choose (every axis cut alike, three pieces along each), which is fair to
every chunk shape. There each piece is read alone; here pieces that lie in the same chunks are read together.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Sequence

import numpy as np

from tessarray.tuner.queries import Box
from tessarray.tuner.source import Sample, Subject, pieces_along, sample_extents

__all__ = ["groups", "take"]

ROOM = 64 << 20  # bytes read at once, as long as a chunk fits
LEAST = 1 << 20
SMALLEST = 24 << 20  # of what is less, values repeat so soon that codecs see it; then the budget comes second

Piece = tuple[int, int, int]  # start in the array, start in the sample, length


def take(subject: Subject, limit: int, seconds: float) -> Sample:
    """A sample of at most `limit` bytes, read in about `seconds`."""
    limit = min(limit, subject.nbytes)
    natural = subject.spec.chunk
    if natural is None or subject.nbytes <= LEAST:
        return Sample.take(subject, limit, seconds)
    unit = tuple(min(max(c, 1), n) for c, n in zip(natural, subject.shape, strict=True))
    if math.prod(unit) * subject.itemsize > 4 * ROOM:
        return Sample.take(subject, limit, seconds)
    started = time.perf_counter()
    once = math.inf
    for place in (0.3, 0.6, 0.8):  # the first read may open and warm things up
        before = time.perf_counter()
        subject.read(_chunk_at(place, subject.shape, unit))
        once = min(once, max(time.perf_counter() - before, 1e-6))
    while True:
        extents = sample_extents(subject.shape, max(limit // subject.itemsize, 1))
        axes = [groups(n, e, u) for n, e, u in zip(subject.shape, extents, unit, strict=True)]
        touched = [sum(_touched(group, u) for group in axis) for axis, u in zip(axes, unit, strict=True)]
        if math.prod(touched) * once <= seconds or limit <= SMALLEST:
            break
        limit //= 2
    values = np.empty(extents, subject.dtype)
    for chosen in itertools.product(*_stepped(axes, unit, subject.itemsize)):
        _copy(subject, chosen, values)
    return Sample(values, subject.shape, time.perf_counter() - started)


def _chunk_at(place: float, shape: Sequence[int], unit: Sequence[int]) -> Box:
    """A chunk so far along every axis."""
    starts = [int(place * max(n // u - 1, 0)) * u for n, u in zip(shape, unit, strict=True)]
    return tuple((start, start + u) for start, u in zip(starts, unit, strict=True))


def groups(extent: int, length: int, unit: int) -> list[list[Piece]]:
    """The pieces of a sample along an axis; those shorter than a chunk are one group, to be read together."""
    pieces = pieces_along(extent, length)
    return [pieces] if len(pieces) > 1 and pieces[0][2] < unit else [[piece] for piece in pieces]


def _touched(group: Sequence[Piece], unit: int) -> int:
    return (group[-1][0] + group[-1][2] - 1) // unit - group[0][0] // unit + 1


def _stepped(axes: list[list[list[Piece]]], unit: Sequence[int], itemsize: int) -> list[list[list[Piece]]]:
    """Groups of one long piece, cut at chunk boundaries along the first axis that has such, so that a read has room."""
    sizes = [max(group[-1][0] + group[-1][2] - group[0][0] for group in axis) for axis in axes]
    found = list(axes)
    for axis, size in enumerate(sizes):
        total = math.prod(sizes) * itemsize
        if total <= ROOM or any(len(group) > 1 for group in axes[axis]):
            continue
        step = max(int(size * ROOM / total) // unit[axis], 1) * unit[axis]
        found[axis] = [[part] for group in axes[axis] for part in _cut(group[0], step)]
        sizes[axis] = min(step, size)
    return found


def _cut(piece: Piece, step: int) -> list[Piece]:
    start, at, length = piece
    bounds = [start, *range((start // step + 1) * step, start + length, step), start + length]
    return [(a, at + a - start, b - a) for a, b in itertools.pairwise(bounds)]


def _copy(subject: Subject, chosen: Sequence[Sequence[Piece]], values: np.ndarray) -> None:
    """Read one group of every axis, and keep the pieces."""
    low = [group[0][0] for group in chosen]
    read = subject.read(
        tuple((start, group[-1][0] + group[-1][2]) for start, group in zip(low, chosen, strict=True))
    )
    for pieces in itertools.product(*chosen):
        into = tuple(slice(at, at + length) for _, at, length in pieces)
        source = tuple(
            slice(start - first, start - first + length)
            for (start, _, length), first in zip(pieces, low, strict=True)
        )
        values[into] = read[source]
