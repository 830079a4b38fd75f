"""Query classes into selections: seeded random places, the same for every system."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from tessarray_bench.model import Layout, Query

Selection = tuple[slice | int, ...]

WORDS = ("chunks", "inner chunks", "points")


class QueryError(ValueError):
    """A selection template that cannot be read; the text names it."""


def parse(template: str, shape: tuple[int, ...]) -> list[str | int | None]:
    """One entry an axis: a name for a random index, a length for a run at a random place, None for all of it."""
    inner = template.strip().removeprefix("[").removesuffix("]")
    parts = [part.strip() for part in inner.split(",")] if inner.strip() else []
    if len(parts) != len(shape):
        raise QueryError(f"query {template!r}: expected {len(shape)} axes, found {len(parts)}")
    found: list[str | int | None] = []
    for axis, (part, extent) in enumerate(zip(parts, shape, strict=True)):
        if part == ":":
            found.append(None)
        elif part.startswith(":") and part[1:].isdecimal() and int(part[1:]) > 0:
            found.append(min(int(part[1:]), extent))
        elif part.isidentifier():
            found.append(part)
        else:
            raise QueryError(
                f"query {template!r}: axis {axis}: expected a name, `:` or `:n` with n >= 1, found {part!r}"
            )
    return found


def selections(
    query: Query, shape: tuple[int, ...], layout: Layout | None, seed: list[int]
) -> Iterator[Selection]:
    """The selections of one query class, `query.count` of them (for `chunks`: every chunk, in random order)."""
    rng = np.random.default_rng(seed)
    if query.selection in WORDS:
        yield from _chunks(query, shape, layout, rng)
        return
    template = parse(query.selection, shape)
    for _ in range(query.count):
        yield tuple(_place(entry, extent, rng) for entry, extent in zip(template, shape, strict=True))


def _place(entry: str | int | None, extent: int, rng: np.random.Generator) -> slice | int:
    if entry is None:
        return slice(0, extent)
    if isinstance(entry, str):
        return int(rng.integers(extent))
    start = int(rng.integers(extent - entry + 1))
    return slice(start, start + entry)


def _chunks(
    query: Query, shape: tuple[int, ...], layout: Layout | None, rng: np.random.Generator
) -> Iterator[Selection]:
    if layout is None:
        raise QueryError(f"query {query.selection!r} needs a layout")
    cut = layout.chunks if query.selection == "inner chunks" else layout.outer
    counts = [math.ceil(extent / size) for extent, size in zip(shape, cut, strict=True)]
    total = math.prod(counts)
    picked = rng.permutation(total) if query.selection == "chunks" else rng.integers(0, total, query.count)
    for number in picked:
        at = np.unravel_index(int(number), counts)
        yield tuple(
            slice(int(i) * size, min((int(i) + 1) * size, extent))
            for i, size, extent in zip(at, cut, shape, strict=True)
        )


def points(query: Query, shape: tuple[int, ...], seed: list[int]) -> tuple[np.ndarray, ...]:
    """`query.count` random coordinates, one index array an axis."""
    rng = np.random.default_rng(seed)
    return tuple(rng.integers(0, extent, query.count) for extent in shape)


def size(selection: Selection) -> int:
    """How many elements a selection has."""
    return math.prod(part.stop - part.start for part in selection if isinstance(part, slice))


def batches(items: Iterator[Selection], length: int) -> Iterator[list[Selection]]:
    """The items in lists of a length; the last one may be shorter."""
    while batch := list(itertools.islice(items, length)):
        yield batch
