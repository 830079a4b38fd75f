"""The sample of an array that stands for the whole, read in one pass that reads no stored chunk twice.

An array that fits is its own sample. Of a larger one, pieces at evenly spread places along every axis (every axis cut
alike, three pieces along each, which is fair to every chunk shape) are put together to one block of real values; what
needs values at other places repeats the block. Shapes, positions and counts are those of the whole array elsewhere, so
only what values look like is sampled. Pieces that lie in the same chunks are read together, and of long pieces whole
slabs, of which parts are kept.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Sequence

import numpy as np

from tessarray.tuner.queries import Box
from tessarray.tuner.source import NDArray, Subject

__all__ = ["SAMPLE_BYTES", "Sample", "groups", "take"]

SAMPLE_BYTES = 256 << 20
PIECES = 3  # along an axis
ROOM = 64 << 20  # bytes read at once, as long as a chunk fits
SMALLEST = 24 << 20  # of what is less, values repeat so soon that codecs see it; then the budget comes second
SMALLEST_SLOW = 4 << 20  # the same of a source whose chunks are not known, or too large to be read alone
FIRST_READ = 4 << 20  # of such a source, to see how fast it is

Piece = tuple[int, int, int]  # start in the array, start in the sample, length


class Sample:
    """Real values of a subject. `whole`: they are the array itself. `block(box)` gives values for any place."""

    def __init__(self, values: NDArray, shape: tuple[int, ...], seconds: float = 0.0) -> None:
        self.values = values
        self.shape = shape
        self.whole = values.shape == shape
        self.seconds = seconds

    def block(self, box: Box) -> NDArray:
        """Values for a box of the whole array: a view if the sample has them in one piece, else a new array."""
        axes = [list(_wrapped(a, b, n)) for (a, b), n in zip(box, self.values.shape, strict=True)]
        if all(len(axis) == 1 for axis in axes):
            return self.values[tuple(axis[0][0] for axis in axes)]
        out = np.empty([b - a for a, b in box], self.values.dtype)
        for parts in itertools.product(*axes):
            out[tuple(into for _, into in parts)] = self.values[tuple(at for at, _ in parts)]
        return out


def take(subject: Subject, limit: int = SAMPLE_BYTES, seconds: float = 10.0) -> Sample:
    """A sample of at most `limit` bytes, read in about `seconds`: less of a slow source."""
    started = time.perf_counter()
    limit = max(min(limit, subject.nbytes), subject.itemsize)
    natural = subject.spec.chunk or (1,) * len(subject.shape)
    unit = tuple(min(max(c, 1), n) for c, n in zip(natural, subject.shape, strict=True))
    chunked = subject.spec.chunk is not None and math.prod(unit) * subject.itemsize <= 4 * ROOM
    if not chunked:
        unit = (1,) * len(unit)
    if subject.nbytes > SMALLEST_SLOW:
        limit = _affordable(subject, limit, seconds, unit) if chunked else _rated(subject, limit, seconds)
    axes = _axes(subject, limit, unit)
    values = np.empty([sum(length for group in axis for *_, length in group) for axis in axes], subject.dtype)
    # A chunk that is too large to be read alone is not read once more for each step.
    steps = _stepped(axes, unit, subject.itemsize) if chunked or subject.spec.chunk is None else axes
    for chosen in itertools.product(*steps):
        _copy(subject, chosen, values)
    return Sample(values, subject.shape, time.perf_counter() - started)


def _axes(subject: Subject, limit: int, unit: Sequence[int]) -> list[list[list[Piece]]]:
    extents = sample_extents(subject.shape, max(limit // subject.itemsize, 1))
    return [groups(n, e, u) for n, e, u in zip(subject.shape, extents, unit, strict=True)]


def _affordable(subject: Subject, limit: int, seconds: float, unit: tuple[int, ...]) -> int:
    """The bytes of a sample whose chunks are read in time, by the time that one takes."""
    once = math.inf
    for place in (0.3, 0.6, 0.8):  # the first read may open and warm things up
        starts = [int(place * max(n // u - 1, 0)) * u for n, u in zip(subject.shape, unit, strict=True)]
        before = time.perf_counter()
        subject.read(tuple((start, start + u) for start, u in zip(starts, unit, strict=True)))
        once = min(once, max(time.perf_counter() - before, 1e-6))
    while limit > SMALLEST:
        touched = (
            sum(_touched(group, u) for group in axis)
            for axis, u in zip(_axes(subject, limit, unit), unit, strict=True)
        )
        if math.prod(touched) * once <= seconds:
            break
        limit //= 2
    return limit


def _rated(subject: Subject, limit: int, seconds: float) -> int:
    """The same by the bytes a second of a first read, in the pieces that the source reads at no waste."""
    natural = subject.spec.chunk or (1,) * len(subject.shape)
    extents = [min(n, max(c, 1)) for n, c in zip(subject.shape, natural, strict=True)]
    for axis in range(len(extents)):
        size = math.prod(extents) * subject.itemsize
        if size < FIRST_READ:
            extents[axis] = min(subject.shape[axis], extents[axis] * max(FIRST_READ // size, 1))
    # A natural chunk may be the whole array; then a part of it says less, but the budget is kept.
    while math.prod(extents) * subject.itemsize > 8 * FIRST_READ:
        longest = extents.index(max(extents))
        extents[longest] = max(extents[longest] // 2, 1)
    started = time.perf_counter()
    read = subject.read(tuple((0, n) for n in extents))
    rate = read.nbytes / max(time.perf_counter() - started, 1e-6)
    return min(limit, max(int(rate * seconds), SMALLEST_SLOW))


def sample_extents(shape: tuple[int, ...], elements: int) -> tuple[int, ...]:
    """The sample's extents: every axis cut by the same factor, short axes kept whole."""
    total = math.prod(shape)
    if total <= elements:
        return shape
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if math.prod(_cut(n, middle) for n in shape) > elements:
            high = middle
        else:
            low = middle
    return tuple(_cut(n, low) for n in shape)


def _cut(extent: int, factor: float) -> int:
    return max(min(extent, 16), int(extent * factor))


def pieces_along(extent: int, length: int) -> list[tuple[int, int, int]]:
    """(start in the array, start in the sample, length) of the pieces along one axis, at evenly spread places."""
    if length >= extent:
        return [(0, 0, extent)]
    count = PIECES if length >= 32 * PIECES else 1
    lengths = [length // count + (i < length % count) for i in range(count)]
    found, at = [], 0
    for i, size in enumerate(lengths):
        start = int((extent - size) * ((i + 0.5) / count))
        found.append((start, at, size))
        at += size
    return found


def _wrapped(start: int, stop: int, period: int) -> Iterator[tuple[slice, slice]]:
    """The parts of a range that repeats every `period`: (in the sample, in the result)."""
    at = start
    while at < stop:
        low = at % period
        size = min(period - low, stop - at)
        yield slice(low, low + size), slice(at - start, at - start + size)
        at += size


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
        found[axis] = [[part] for group in axes[axis] for part in _slices(group[0], step)]
        sizes[axis] = min(step, size)
    return found


def _slices(piece: Piece, step: int) -> list[Piece]:
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
