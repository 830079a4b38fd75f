"""Arrays that hold one value, or the values of another array: the names that NumPy and zarr-python have for it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from tessarray.arrays import Array
from tessarray.creation import create, create_array
from tessarray.errors import InvalidArgumentError, InvalidTypeError
from tessarray.stores import Store, StoreLike, overlap, store_of

__all__ = [
    "array",
    "copy_values",
    "empty",
    "empty_like",
    "from_array",
    "full",
    "full_like",
    "layout_of",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]

# What is copied at a time, unless one stored object is larger.
COPY_BYTES = 64 << 20

KEPT = ("chunks", "shards", "filters", "serializer", "compressors")


def zeros(shape: int | Iterable[int], **arguments: Any) -> Array:
    """Create an array of zeros; other arguments are those of `create`. `dtype` is `float64` where left out.

    Zero is the fill value: no chunk is stored.

    >>> import tessarray
    >>> tessarray.zeros((2, 2), dtype="int8")[...].tolist()
    [[0, 0], [0, 0]]
    """
    return create(shape, **{"fill_value": None} | arguments)


def empty(shape: int | Iterable[int], **arguments: Any) -> Array:
    """Create an array with nothing written to it: it holds the fill value, as `create` has it."""
    return create(shape, **arguments)


def ones(shape: int | Iterable[int], **arguments: Any) -> Array:
    """Create an array of ones, which is its fill value."""
    return create(shape, **_with(arguments, fill_value=1))


def full(shape: int | Iterable[int], fill_value: Any, **arguments: Any) -> Array:
    """Create an array of one value, which is its fill value; `dtype` is the value's where left out, as in NumPy.

    >>> import tessarray
    >>> tessarray.full(3, 7)[...].tolist()
    [7, 7, 7]
    """
    return create(shape, **_with(arguments, dtype=np.asarray(fill_value).dtype), fill_value=fill_value)


def zeros_like(a: Any, **arguments: Any) -> Array:
    """`zeros` with the shape, dtype and layout of another array, where the arguments say nothing else."""
    return zeros(**like(a) | {"fill_value": None} | arguments)


def empty_like(a: Any, **arguments: Any) -> Array:
    """`empty` with the shape, dtype, layout and fill value of another array."""
    return empty(**like(a) | arguments)


def ones_like(a: Any, **arguments: Any) -> Array:
    """`ones` with the shape, dtype and layout of another array."""
    return ones(**like(a) | {"fill_value": 1} | arguments)


def full_like(a: Any, fill_value: Any = None, **arguments: Any) -> Array:
    """`full` with the shape, dtype and layout of another array, and its fill value where none is given."""
    given = {} if fill_value is None else {"fill_value": fill_value}
    return empty(**like(a) | given | arguments)


def array(data: Any, **arguments: Any) -> Array:
    """Create an array that holds `data`, in memory where no store is given; other arguments are those of `from_array`.

    >>> import tessarray
    >>> tessarray.array([1, 2, 3])[::2].tolist()
    [1, 3]
    """
    store = arguments.pop("store", None)
    name = arguments.pop("path", None)
    return from_array({} if store is None else store, data=data, name=name, **arguments)


def from_array(
    store: StoreLike,
    *,
    data: Any,
    write_data: bool = True,
    name: str | None = None,
    chunks: Any = "keep",
    shards: Any = "keep",
    filters: Any = "keep",
    compressors: Any = "keep",
    serializer: Any = "keep",
    overwrite: bool = False,
    **arguments: Any,
) -> Array:
    """Create an array from another one, or from an array-like, and copy its values with `write_data`.

    `"keep"` takes what the other array has, and `"auto"` for what is not known of it: shape and dtype always,
    chunks of anything chunked, and the codecs of an array of Tessarray. Its fill value, attributes, names of dimensions
    and format are kept unless the arguments, which are those of `create_array`, say otherwise.

    Values are copied in whole stored objects, about 64 MiB at a time, so that the other array may be larger than
    memory. If the copy fails, the new array stays with what was copied. `overwrite` of a place that holds the other
    array, or is in it, is an error: its values would be gone before they are copied.

    >>> import numpy as np, tessarray
    >>> source = tessarray.create_array({}, data=np.arange(6), chunks=4, attributes={"units": "m"})
    >>> copy = tessarray.from_array({}, data=source, compressors="zstd:3")
    >>> copy[...].tolist(), copy.chunks, copy.attrs["units"]
    ([0, 1, 2, 3, 4, 5], (4,), 'm')
    """
    given = {
        "chunks": chunks,
        "shards": shards,
        "filters": filters,
        "compressors": compressors,
        "serializer": serializer,
    }
    if not _is_array(data):
        data = np.asanyarray(data)
    said = {name: value for name, value in arguments.items() if value is not None}
    plan = layout_of(data, given)
    if said.get("zarr_format", plan.get("zarr_format")) != plan.get("zarr_format"):
        plan.pop("chunk_key_encoding", None)
    plan |= said
    opened = store_of(store, "a", plan.pop("storage_options", None))
    if overwrite and write_data:
        _refuse_overlap(opened, name or "", data)
    made = create_array(opened, name=name, overwrite=overwrite, **plan)
    if write_data:
        copy_values(data, made)
    return made


def like(a: Any) -> dict[str, Any]:
    """What `*_like` takes of another array: all but the attributes."""
    found = layout_of(a if _is_array(a) else np.asanyarray(a), {})
    for name in ("attributes", "chunk_key_encoding"):
        found.pop(name, None)
    return found


def layout_of(data: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of `create_array` for an array as `data` is, with what is `given` instead of `"keep"`."""
    plan: dict[str, Any] = {"shape": tuple(data.shape), "dtype": data.dtype}
    if isinstance(data, Array):
        # Types that NumPy does not have go by their names, structures by their fields.
        dtype = data.dtype if data.dtype.fields else data.data_type
        plan |= {"dtype": dtype, "fill_value": data.fill_value, "zarr_format": data.zarr_format}
        plan |= {"attributes": dict(data.attrs), "dimension_names": data.dimension_names}
        plan |= {name: getattr(data, name) for name in KEPT}
        plan["chunk_key_encoding"] = _key_encoding(data)
    else:
        plan["chunks"] = _regular(getattr(data, "chunks", None))
        for name in ("shards", "fill_value"):
            value = getattr(data, name, None)
            plan |= {} if value is None else {name: value}
        if isinstance(attributes := getattr(data, "attrs", None), Mapping) and hasattr(data, "metadata"):
            plan["attributes"] = dict(attributes)
    plan |= {name: value for name, value in given.items() if not _is_keep(value)}
    return plan


def copy_values(source: Any, target: Array) -> None:
    """Write what `source` holds to `target`, which has its shape, in boxes of whole stored objects."""
    for box in _boxes(target):
        target[box] = np.asarray(source[box])


def _boxes(target: Array) -> Iterator[tuple[slice, ...]]:
    """Boxes that cover an array, each of whole objects, and no more than `COPY_BYTES` where an object is less."""
    step = [
        min(n, max(extent, 1)) for n, extent in zip(target.shards or target.chunks, target.shape, strict=True)
    ]
    room = COPY_BYTES // max(math.prod(step) * target.itemsize, 1)
    for axis in reversed(range(target.ndim)):
        objects = max(min(room, -(-target.shape[axis] // step[axis])), 1)
        step[axis] *= objects
        room //= objects
    starts = (range(0, extent, n) for extent, n in zip(target.shape, step, strict=True))
    for corner in itertools.product(*starts):
        yield tuple(
            slice(start, min(start + n, extent))
            for start, n, extent in zip(corner, step, target.shape, strict=True)
        )


def _with(arguments: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    return defaults | {
        name: value for name, value in arguments.items() if name != "dtype" or value is not None
    }


def _is_array(data: Any) -> bool:
    return all(hasattr(data, name) for name in ("shape", "dtype", "__getitem__"))


def _refuse_overlap(store: Store, path: str, data: Any) -> None:
    if isinstance(data, Array):
        source: Store = data.store
    elif type(data).__module__.partition(".")[0] == "zarr":
        try:
            source = store_of(data.store, "r")
        except InvalidTypeError:
            # A store of zarr-python that is none of ours: nothing of it can be replaced here.
            return
    else:
        return
    if overlap(store, path, source, data.path):
        raise InvalidArgumentError(
            f"{store.describe()}: {path!r} overlaps {data.path!r}, where the data are; overwrite would remove them",
            path=path,
        )


def _key_encoding(data: Array) -> Any:
    if data.zarr_format == 2:
        return data.metadata.get("dimension_separator", ".")
    return data.metadata["chunk_key_encoding"]


def _is_keep(value: Any) -> bool:
    return isinstance(value, str) and value == "keep"


def _regular(chunks: Any) -> Any:
    """Chunks of one length an axis; those of dask and others that vary are chosen anew."""
    if isinstance(chunks, tuple) and all(isinstance(n, int) for n in chunks):
        return tuple(max(n, 1) for n in chunks)
    return "auto"
