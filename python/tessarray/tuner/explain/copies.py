"""Copies of the chunks that a selection touches, in memory: the same bytes, and the same values in other codings.

The source is only read. Regions are whole chunks, cut at the end of the array, so that a copy needs no more than it
is asked for.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import tessarray
from tessarray import _native
from tessarray.arrays import Array
from tessarray.tuner.explain.axis_selection import AxisSelection

__all__ = ["keys", "recoded", "reopened", "same_bytes", "stored_sizes"]

STREAMS = 16  # values fetched at once: a store far away answers each in its own time


def reopened(array: Any, store: Any) -> Array:
    """The array on another store, without a look at it. Caches of the array are not taken over."""
    return Array(_native.array_from_documents(store, array.path, array._documents()), store)


def keys(array: Any, selected: AxisSelection) -> list[str]:
    """The keys of the stored objects that a selection touches, whether they are there or not."""
    unit = array.shards or array.chunks
    along = [selected.along(axis, extent) for axis, extent in enumerate(unit)]
    metadata = array.metadata
    if array.zarr_format == 2:
        name, separator = "v2", metadata.get("dimension_separator") or "."
    else:
        encoding = metadata.get("chunk_key_encoding") or {}
        name = encoding.get("name", "default")
        separator = (encoding.get("configuration") or {}).get("separator", "/" if name == "default" else ".")
    before = f"{array.path}/" if array.path else ""

    def key(place: Sequence[int]) -> str:
        inner = separator.join(map(str, place))
        if name == "default":
            return f"{before}c{separator}{inner}" if place else f"{before}c"
        return f"{before}{inner or '0'}"

    return [key(place) for place in itertools.product(*along)]


def stored_sizes(store: Any, names: Sequence[str]) -> tuple[list[str], int]:
    """Those of some keys that are there, and the bytes of their values."""
    with ThreadPoolExecutor(STREAMS) as pool:
        sizes = list(pool.map(store.size, names))
    there = [(name, size) for name, size in zip(names, sizes, strict=True) if size is not None]
    return [name for name, _ in there], sum(size for _, size in there)


def same_bytes(array: Any, names: Sequence[str]) -> Array:
    """The array in memory with these objects as they are stored."""
    memory = tessarray.MemoryStore()

    def fetch(name: str) -> None:
        value = array.store.get(name)
        if value is not None:
            memory.put(name, value)

    with ThreadPoolExecutor(STREAMS) as pool:
        list(pool.map(fetch, names))
    return reopened(array, memory)


def recoded(
    array: Any,
    selected: AxisSelection,
    source: Any,
    order: str | None,
    compressors: Any,
    serializer: Any = "auto",
) -> Array | None:
    """An array in memory of the same chunks, unsharded, with other compressors and, given "C", in that order; the
    touched chunks hold what `source` has there, nothing if that is None. Gives `None` if the type of the elements
    knows no such coding.
    """
    turns = [codec for codec in array.filters if codec["name"] == "transpose"]
    try:
        copy = tessarray.create_array(
            tessarray.MemoryStore(),
            shape=array.shape,
            dtype=array.dtype,
            chunks=array.chunks,
            filters=None if order == "C" or not turns else turns,
            serializer=serializer,
            compressors=compressors,
            fill_value=array.fill_value,
        )
    except (TypeError, ValueError, tessarray.TessarrayError):
        return None
    if source is not None:
        for region in regions(selected, array.chunks, array.shape):
            copy[region] = source[region]
    return copy


def regions(
    selected: AxisSelection, chunks: Sequence[int], shape: Sequence[int]
) -> Iterator[tuple[slice, ...]]:
    """The touched chunks as boxes: neighbours along an axis together."""
    runs = []
    for axis, (chunk, extent) in enumerate(zip(chunks, shape, strict=True)):
        spans: list[list[int]] = []
        for number in selected.along(axis, chunk):
            if spans and spans[-1][1] == number:
                spans[-1][1] = number + 1
            else:
                spans.append([number, number + 1])
        runs.append([slice(start * chunk, min(stop * chunk, extent)) for start, stop in spans])
    yield from itertools.product(*runs)
