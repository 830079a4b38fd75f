"""Creating arrays and groups."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy.typing as npt

from tessarray import _native
from tessarray.array_arguments import array_arguments
from tessarray.arrays import Array
from tessarray.configuring import Verify, configure
from tessarray.groups import Group
from tessarray.sessions import Session
from tessarray.stores import StoreLike, store_of

__all__ = ["create", "create_array", "create_group"]


def create_array(
    store: StoreLike,
    *,
    name: str | None = None,
    shape: int | Iterable[int] | None = None,
    dtype: Any = None,
    chunks: Any = "auto",
    shards: Any = None,
    filters: Any = "auto",
    compressors: Any = "auto",
    serializer: Any = "auto",
    checksum: Literal["auto", "crc32c"] | None = "auto",
    fill_value: Any = None,
    order: Literal["C", "F"] = "C",
    zarr_format: Literal[2, 3] = 3,
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Iterable[str | None] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    data: npt.ArrayLike | None = None,
    verify: Verify | None = None,
    config: Any = None,
    write_empty_chunks: bool | None = None,
    session: Session | None = None,
) -> Array:
    """Create an array, and write `data` to it where they are given.

    store: a path, a mapping or a store (see `tessarray.stores`). name: path in the store; the root where left out.
    shape, dtype: taken from `data` where left out. dtype: NumPy's, or see `tessarray.dtypes`.
    chunks: what is read at a time (the inner chunk, where there are shards): a shape, one length for every axis,
    or `"auto"`. An axis may have a list of lengths that sum to its own (`[[3, 5, 2], 4]`): a rectilinear chunk grid.
    shards: what is stored as one object: a shape of whole chunks, lists of lengths as for chunks, `"auto"`, or `None`
    for one object a chunk. filters, serializer, compressors: array to array, array to bytes, bytes to bytes; codec
    objects, Zarr JSON, short texts (`"blosc:lz4:5:shuffle"`, `"zstd:3"`), `None` for none, `"auto"` for a fast shuffle
    and lz4. checksum: `"auto"` guards chunks against flipped bits in a way that every reader of the codecs takes: a
    blosc frame holds a checksum inside, the default zstd of texts has its own, default inner chunks of shards get a
    `crc32c` codec, and compressors that are given stay as they are. `"crc32c"` puts that codec behind them; `None`
    adds nothing. fill_value: of elements not written; zero where left out. order: `"F"` stores chunks in Fortran
    order. zarr_format: 3 or 2. chunk_key_encoding: `{"name": "default" | "v2", "separator": "/" | "."}`.
    overwrite: replaces what is there, otherwise that is an `ExistsError`.
    verify, config, write_empty_chunks: of the handle that is returned, as in `open_array`.

    Costs one metadata object. The array exists for other processes before `data` are written.

    >>> import numpy as np, tessarray
    >>> cube = tessarray.create_array(
    ...     {}, name="t2m", shape=(24, 90, 180), dtype="float32", chunks=(6, 45, 45), shards=(24, 90, 180),
    ...     compressors="zstd:3", dimension_names=("time", "lat", "lon"), fill_value=np.nan,
    ... )
    >>> cube[0, :2, 0].tolist(), cube.shards
    ([nan, nan], (24, 90, 180))
    """
    plain, values = array_arguments(
        shape=shape,
        dtype=dtype,
        chunks=chunks,
        shards=shards,
        filters=filters,
        compressors=compressors,
        serializer=serializer,
        checksum=checksum,
        fill_value=fill_value,
        order=order,
        zarr_format=zarr_format,
        attributes=attributes,
        chunk_key_encoding=chunk_key_encoding,
        dimension_names=dimension_names,
        data=data,
    )
    opened = store_of(store, "a", storage_options)
    node = _native.create_array(opened, (name or "").strip("/"), plain, overwrite, session)
    array = Array(configure(node, verify, config, write_empty_chunks), opened)
    if values is not None:
        array[...] = values
    return array


def create(
    shape: int | Iterable[int], *, store: StoreLike | None = None, path: str | None = None, **kwargs: Any
) -> Array:
    """Create an array, in memory where no store is given; other arguments are those of `create_array`.

    `dtype` is `float64` where neither it nor `data` is given, as in NumPy and zarr-python.

    >>> import tessarray
    >>> tessarray.create((2, 2), dtype="int8")[...].tolist()
    [[0, 0], [0, 0]]
    """
    if kwargs.get("dtype") is None and kwargs.get("data") is None:
        kwargs["dtype"] = "float64"
    return create_array({} if store is None else store, name=path, shape=shape, **kwargs)


def create_group(
    store: StoreLike,
    *,
    path: str | None = None,
    zarr_format: Literal[2, 3] = 3,
    attributes: Mapping[str, Any] | None = None,
    storage_options: Mapping[str, Any] | None = None,
    overwrite: bool = False,
    session: Session | None = None,
) -> Group:
    """Create a group; `overwrite` replaces what is there, with everything below it.

    >>> import tessarray
    >>> tessarray.create_group({}, attributes={"title": "Argo"}).attrs["title"]
    'Argo'
    """
    opened = store_of(store, "a", storage_options)
    node = _native.create_group(opened, (path or "").strip("/"), zarr_format, attributes, overwrite, session)
    return Group(node, opened)
