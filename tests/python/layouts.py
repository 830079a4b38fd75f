"""Hypothesis strategies: layouts (shape, chunks, shards) and selections on them, with NumPy as the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st


@dataclass(frozen=True)
class Layout:
    shape: tuple[int, ...]
    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None
    codec: str | None
    order: str
    zarr_format: int

    def arguments(self) -> dict[str, Any]:
        arguments = {
            "shape": self.shape,
            "chunks": self.chunks,
            "shards": self.shards,
            "order": self.order,
            "zarr_format": self.zarr_format,
        }
        return arguments | ({"compressors": self.codec} if self.codec != "auto" else {})


CODECS = ["auto", None, "zstd:1", "blosc:lz4:5:shuffle", "gzip:1"]


@st.composite
def layouts(draw: Any, min_rank: int = 0, max_rank: int = 4, min_side: int = 0) -> Layout:
    rank = draw(st.integers(min_rank, max_rank))
    sides = {0: 1, 1: 40, 2: 12, 3: 8, 4: 5}[rank]
    shape = tuple(draw(st.integers(min_side, sides)) for _ in range(rank))
    chunks = tuple(draw(st.integers(1, side + 2)) for side in shape)
    zarr_format = draw(st.sampled_from([3, 3, 3, 2]))
    shards = None
    if zarr_format == 3 and rank and draw(st.booleans()):
        shards = tuple(chunk * draw(st.integers(1, 3)) for chunk in chunks)
    codec = draw(st.sampled_from(CODECS))
    return Layout(shape, chunks, shards, codec, draw(st.sampled_from("CF")), zarr_format)


def slices(side: int, steps: Any) -> Any:
    bound = st.none() | st.integers(-side - 3, side + 3)
    return st.builds(slice, bound, bound, steps)


ANY_STEP = st.none() | st.integers(-4, 4).filter(bool)
UP_STEP = st.none() | st.integers(1, 4)


@st.composite
def basic(draw: Any, shape: tuple[int, ...], newaxis: bool = True) -> tuple[Any, ...]:
    """Any basic selection NumPy takes: integers, slices of any step, an ellipsis, new axes; trailing axes left out."""
    parts: list[Any] = []
    for side in shape:
        choices = [slices(side, ANY_STEP)] + ([st.integers(-side, side - 1)] if side else [])
        parts.append(draw(st.one_of(choices)))
    keep = draw(st.integers(0, len(parts)))
    style = draw(st.sampled_from(["full", "leading", "ellipsis"]))
    if style == "leading":
        parts = parts[:keep]
    elif style == "ellipsis":
        after = draw(st.integers(keep, len(parts)))
        parts = [*parts[:keep], Ellipsis, *parts[after:]]
    if newaxis:
        for _ in range(draw(st.integers(0, 2))):
            parts.insert(draw(st.integers(0, len(parts))), None)
    return tuple(parts)


@st.composite
def orthogonal(draw: Any, shape: tuple[int, ...], unique: bool = False) -> tuple[Any, ...]:
    """One integer, slice, integer array or boolean array for each axis."""
    parts: list[Any] = []
    for side in shape:
        choices: list[Any] = [
            slices(side, UP_STEP),
            st.lists(st.booleans(), min_size=side, max_size=side).map(np.array),
        ]
        choices[1] = choices[1].map(lambda mask: mask.astype(bool))
        if side:
            numbers = st.lists(
                st.integers(0 if unique else -side, side - 1), max_size=side + 2, unique=unique
            )
            choices += [
                st.integers(-side, side - 1),
                numbers.map(lambda items: np.array(items, dtype=np.int64)),
            ]
        parts.append(draw(st.one_of(choices)))
    return tuple(parts)


def orthogonal_model(values: np.ndarray, selection: tuple[Any, ...]) -> tuple[Any, tuple[int, ...]]:
    """The np.ix_ form of an orthogonal selection, and the shape with integer axes dropped."""
    lists, shape = [], []
    for part, side in zip(selection, values.shape, strict=True):
        if isinstance(part, (int, np.integer)):
            lists.append(np.array([part]))
            continue
        indices = np.arange(side)[part]
        lists.append(indices)
        shape.append(len(indices))
    return np.ix_(*lists), tuple(shape)


@st.composite
def points(draw: Any, shape: tuple[int, ...], unique: bool = False) -> tuple[Any, ...]:
    """Coordinate arrays for every axis, of shapes that broadcast (none may repeat a point if `unique`)."""
    if unique:
        cells = int(np.prod(shape))
        flat = draw(st.lists(st.integers(0, cells - 1), max_size=min(cells, 12), unique=True))
        return tuple(np.unravel_index(np.array(flat, dtype=np.int64), shape))
    out = draw(st.sampled_from([(3,), (5,), (2, 3), (0,), (1,)]))
    arrays = []
    for side in shape:
        size = int(np.prod(out))
        numbers = draw(st.lists(st.integers(-side, side - 1), min_size=size, max_size=size))
        array = np.array(numbers, dtype=np.int64).reshape(out)
        if size and draw(st.booleans()):
            array = array.reshape(-1)[:1].reshape((1,) * len(out))
        arrays.append(array)
    return tuple(arrays)


@st.composite
def masks(draw: Any, shape: tuple[int, ...]) -> np.ndarray:
    size = int(np.prod(shape))
    return np.array(draw(st.lists(st.booleans(), min_size=size, max_size=size)), dtype=bool).reshape(shape)


@st.composite
def blocks(draw: Any, layout: Layout) -> tuple[Any, ...]:
    """Block numbers, or ranges of them, for each axis."""
    parts: list[Any] = []
    for side, block in zip(layout.shape, layout.shards or layout.chunks, strict=True):
        count = -(-side // block)
        if draw(st.booleans()):
            parts.append(draw(st.integers(-count, count - 1)))
        else:
            start = draw(st.integers(0, count - 1))
            parts.append(slice(start, draw(st.integers(start, count))))
    return tuple(parts)


def block_model(layout: Layout, selection: tuple[Any, ...]) -> tuple[slice, ...]:
    """The region that a selection of blocks covers."""
    region = []
    for part, side, block in zip(selection, layout.shape, layout.shards or layout.chunks, strict=True):
        count = -(-side // block)
        if isinstance(part, slice):
            start, stop, _ = part.indices(count)
        else:
            start = part % count
            stop = start + 1
        region.append(slice(min(start * block, side), min(stop * block, side)))
    return tuple(region)
