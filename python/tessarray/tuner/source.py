"""The array to be tuned, and the sample of it that stands for the whole. The source is only ever read.

An array that fits is its own sample. Of a larger one, pieces at evenly spread places along every axis are put together
to one block of real values (a mosaic); where a race needs values at other places, the block is repeated. Shapes,
positions and counts in a race are those of the whole array, so only what values look like is sampled.
"""

from __future__ import annotations

import itertools
import math
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tessarray
from tessarray.conversion.errors import FormatError, SourceNotFoundError
from tessarray.conversion.model import ArraySpec, Source
from tessarray.tuner.errors import UntunableError
from tessarray.tuner.layout import Layout, layout_of
from tessarray.tuner.queries import Box

__all__ = ["Sample", "Subject", "open_subject", "pieces_along", "sample_extents", "split_variable"]

NDArray = npt.NDArray[Any]
SAMPLE_BYTES = 256 << 20
SMALLEST_SAMPLE = 4 << 20
FIRST_READ = 4 << 20
PIECES = 3
TUNABLE = "biufcmM"
IN_MEMORY = "array in memory"


@dataclass(frozen=True)
class Subject:
    """One array of a source: what it is, how to read it, and the layout it has now (None where that is no Zarr)."""

    label: str
    variable: str
    spec: ArraySpec
    source: Source
    current: Layout | None
    array: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the variable, in elements."""
        return self.spec.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values in memory."""
        return self.spec.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.spec.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return self.spec.nbytes

    def read(self, box: Box) -> NDArray:
        """The values of a box."""
        with self.source.lock:
            return self.source.read(self.spec.path, tuple(slice(a, b) for a, b in box))

    def close(self) -> None:
        """Give the file back."""
        self.source.close()


def split_variable(given: str) -> tuple[str, str | None]:
    """`fields.nc:t2m` as path and variable. What exists as it stands is never cut."""
    head, colon, name = given.rpartition(":")
    if Path(given).expanduser().exists() or not colon or name.startswith("//") or len(head) < 2:
        return given, None
    return head, name.strip("/") or None


def open_subject(src: Any, variable: str | None = None) -> Subject:
    """The array at `SRC[:variable]`, or of an open array, dataset, or mapping.

    Raises `SourceNotFoundError` and `FormatError` as `convert` does, `UntunableError` where there is nothing to tune.
    """
    array = None
    if isinstance(src, str | os.PathLike):
        path, named = split_variable(os.fspath(src))
        variable = variable or named
        source = _open_path(path)
        label = path
    else:
        source = _open_object(src)
        label = IN_MEMORY if source.label == "<mapping>" else source.label
        array = src if isinstance(src, tessarray.Array) else None
    try:
        spec = _chosen(source, label, variable)
        _refuse(spec, label)
    except Exception:
        source.close()
        raise
    array = array if array is not None else getattr(source, "_arrays", {}).get(spec.path)
    current = layout_of(array) if isinstance(array, tessarray.Array) else None
    return Subject(label, spec.path, spec, source, current, array)


def _open_path(path: str) -> Source:
    from tessarray.conversion.sources import open_source
    from tessarray.stores import pack_of

    if "://" not in path and (pack := pack_of(Path(path).expanduser())) is not None:
        from tessarray.conversion.sources.zarr import GroupSource

        store, inner = pack
        return GroupSource(path, tessarray.open(store, path=inner or None, mode="r"))
    return open_source(path)


def _open_object(src: Any) -> Source:
    from tessarray.conversion.sources import open_source

    kind = type(src)
    if kind.__module__.partition(".")[0] == "xarray" and kind.__name__ == "DataArray":
        src = src.to_dataset(name=src.name or "values")
    elif hasattr(src, "shape") and hasattr(src, "dtype") and not isinstance(src, tessarray.Array):
        src = {"array": src}
    return open_source(src)


def _chosen(source: Source, label: str, variable: str | None) -> ArraySpec:
    arrays = list(source.arrays())
    names = ", ".join(sorted(spec.path for spec in arrays)[:20]) or "none"
    if variable is not None:
        found = [spec for spec in arrays if spec.path == variable.strip("/")]
        if found:
            return found[0]
        raise SourceNotFoundError(f"{label}: no array is named '{variable}'; there are: {names}")
    if len(arrays) == 1:
        return arrays[0]
    if not arrays:
        raise FormatError(f"{label}: there is no array in it")
    deepest = max(len(spec.shape) for spec in arrays)
    fields = [spec for spec in arrays if len(spec.shape) == deepest]
    if len(fields) == 1 and deepest > 1:
        return fields[0]
    raise SourceNotFoundError(f"{label}: holds several arrays; name one as {label}:NAME (there are: {names})")


def _refuse(spec: ArraySpec, label: str) -> None:
    at = f"{label}:{spec.path}" if spec.path else label
    if spec.dtype.kind not in TUNABLE:
        raise UntunableError(
            f"{at}: expected numbers, found values of type {spec.dtype}; text has no layout to measure: "
            f"name a numeric variable"
        )
    if not spec.shape:
        raise UntunableError(f"{at}: is a single value; a layout needs at least one dimension")
    if math.prod(spec.shape) == 0:
        raise UntunableError(
            f"{at}: has no elements (shape {spec.shape}); tune it once it holds data, or tune an array like it"
        )


class Sample:
    """Real values of a subject. `whole`: they are the array itself. `block(box)` gives values for any place."""

    def __init__(self, values: NDArray, shape: tuple[int, ...], seconds: float = 0.0) -> None:
        self.values = values
        self.shape = shape
        self.whole = values.shape == shape
        self.seconds = seconds

    @classmethod
    def take(cls, subject: Subject, limit: int = SAMPLE_BYTES, seconds: float = 10.0) -> Sample:
        """Read a sample of at most `limit` bytes in about `seconds`; less where the source is slow."""
        started = time.perf_counter()
        limit = max(min(limit, subject.nbytes), subject.itemsize)
        if subject.nbytes > SMALLEST_SAMPLE:
            rate = _rate(subject)
            limit = min(limit, max(int(rate * seconds), SMALLEST_SAMPLE))
        extents = sample_extents(subject.shape, max(limit // subject.itemsize, 1))
        axes = [pieces_along(n, length) for n, length in zip(subject.shape, extents, strict=True)]
        values = np.empty(extents, subject.dtype)
        for places in itertools.product(*axes):
            box = tuple((start, start + length) for start, _, length in places)
            into = tuple(slice(at, at + length) for _, at, length in places)
            values[into] = subject.read(box)
        return cls(values, subject.shape, time.perf_counter() - started)

    def block(self, box: Box) -> NDArray:
        """Values for a box of the whole array: a view where the sample has them in one piece, else a new array."""
        axes = [list(_wrapped(a, b, n)) for (a, b), n in zip(box, self.values.shape, strict=True)]
        if all(len(axis) == 1 for axis in axes):
            return self.values[tuple(axis[0][0] for axis in axes)]
        out = np.empty([b - a for a, b in box], self.values.dtype)
        for parts in itertools.product(*axes):
            out[tuple(into for _, into in parts)] = self.values[tuple(at for at, _ in parts)]
        return out


def _rate(subject: Subject) -> float:
    """Bytes a second of a first read, in the pieces that the source reads at no waste."""
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
    return read.nbytes / max(time.perf_counter() - started, 1e-6)


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
