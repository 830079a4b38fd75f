"""The arguments of `create_array`, brought to the plain forms the engine takes."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tessarray.codec_choice import codec_choice
from tessarray.dtypes import numpy_dtype, of_data, stored_endian
from tessarray.errors import InvalidArgumentError, InvalidTypeError

__all__ = ["Plain", "array_arguments", "shape_of"]

Plain = dict[str, Any]


def array_arguments(
    *,
    shape: Any = None,
    dtype: Any = None,
    chunks: Any = "auto",
    shards: Any = None,
    filters: Any = "auto",
    compressors: Any = "auto",
    serializer: Any = "auto",
    checksum: str | None = "auto",
    fill_value: Any = None,
    order: Any = "C",
    zarr_format: int | None = 3,
    attributes: Mapping[str, Any] | None = None,
    chunk_key_encoding: Any = None,
    dimension_names: Iterable[str | None] | None = None,
    data: Any = None,
) -> tuple[Plain, npt.NDArray[Any] | None]:
    """The plain arguments, and the data to write once the array is there."""
    if data is not None:
        dtype = of_data(data) if dtype is None else dtype
        data = np.asanyarray(data)
        if shape is not None and shape_of(shape, "shape") != data.shape:
            raise InvalidArgumentError(f"shape: the data have shape {data.shape}, found {shape}")
        shape = data.shape
    if shape is None or dtype is None:
        missing = "shape" if shape is None else "dtype"
        raise InvalidTypeError(f"{missing}: expected one, or data to take it from")
    shape = shape_of(shape, "shape")
    # Fails where the dtype is none that can be stored, before anything is created.
    itemsize = numpy_dtype(dtype).itemsize
    serializer = codec_choice("auto" if serializer is None else serializer, "serializer", itemsize)
    endian = stored_endian(dtype)
    if serializer == "auto" and endian is not None:
        serializer = [{"name": "bytes", "configuration": {"endian": endian}}]
    if order not in ("C", "F", None):
        raise InvalidArgumentError(f"order: expected 'C' or 'F', found {order!r}")
    plain = {
        "shape": shape,
        "dtype": dtype,
        "chunks": _chunks(chunks, shape),
        "shards": None if shards is None or shards is False else _chunks(shards, shape, "shards"),
        "filters": codec_choice(filters, "filters", itemsize),
        "serializer": serializer,
        "compressors": codec_choice(compressors, "compressors", itemsize),
        "checksum": _checksum(checksum),
        "fill_value": fill_value,
        "order": order or "C",
        "zarr_format": 3 if zarr_format is None else zarr_format,
        "attributes": None if attributes is None else dict(attributes),
        "key_encoding": _key_encoding(chunk_key_encoding, zarr_format),
        "dimension_names": None if dimension_names is None else list(dimension_names),
    }
    return plain, data


def _checksum(value: Any) -> str | None:
    if value is not None and value not in ("auto", "crc32c"):
        raise InvalidArgumentError(f"checksum: expected 'auto', 'crc32c' or None, found {value!r}")
    found: str | None = value
    return found


def shape_of(value: Any, place: str) -> tuple[int, ...]:
    """An integer, or a sequence or array of integers, as a shape."""
    try:
        lengths = (value,) if _is_integer(value) else tuple(value)
        lengths = tuple(operator.index(n) for n in lengths)
    except TypeError:
        raise InvalidTypeError(
            f"{place}: expected an integer or a sequence of integers, found {value!r}"
        ) from None
    if lengths and min(lengths) < 0:
        raise InvalidArgumentError(f"{place}: expected lengths of 0 and more, found {lengths}")
    if lengths and max(lengths) >= 1 << 63:
        raise InvalidArgumentError(f"{place}: expected lengths below 2^63, found {lengths}")
    return lengths


def _is_integer(value: Any) -> bool:
    # NumPy's arrays of any number of dimensions have `__index__`, and refuse when it is called.
    return hasattr(value, "__index__") and getattr(value, "ndim", 0) == 0


_PLAIN = frozenset({int, type(None)})


def _chunks(value: Any, shape: tuple[int, ...], place: str = "chunks") -> Any:
    """`"auto"`, or one length an axis: an integer counts for all, `None` and -1 take the whole axis.

    An axis may have a list of lengths, which sum to its own: then the grid is a rectilinear one.
    """
    if value is None or value is True or (isinstance(value, str) and value == "auto"):
        return "auto"
    if value is False:
        return tuple(max(n, 1) for n in shape)
    if isinstance(value, str):
        raise InvalidArgumentError(
            f"{place}: expected 'auto', an integer or a sequence of integers, found {value!r}"
        )
    if isinstance(value, Mapping):
        # zarr-python's {"shape": ..., "index_location": ...}
        value = value["shape"]
    given = (value,) * len(shape) if _is_integer(value) else tuple(value)
    if len(given) != len(shape):
        raise InvalidArgumentError(f"{place}: expected {len(shape)} lengths for shape {shape}, found {given}")
    # Plain integers, as almost always, need no look at their dimensions.
    if not _PLAIN.issuperset(map(type, given)) and any(np.ndim(c) for c in given if c is not None):
        return tuple(
            _edges(c, n, f"{place}[{axis}]") for axis, (c, n) in enumerate(zip(given, shape, strict=True))
        )
    whole = tuple(max(n, 1) if c is None or c == -1 else c for c, n in zip(given, shape, strict=True))
    lengths = shape_of(whole, place)
    if 0 in lengths:
        raise InvalidArgumentError(f"{place}: expected lengths of 1 and more, found {lengths}")
    return lengths


def _edges(value: Any, extent: int, place: str) -> int | list[int]:
    """The one length of an axis' chunks, or all of them."""
    if value is None or np.ndim(value) == 0:
        return int(shape_of((max(extent, 1) if value is None or value == -1 else value,), place)[0])
    lengths = list(shape_of(value, place))
    if 0 in lengths or not lengths:
        raise InvalidArgumentError(f"{place}: expected lengths of 1 and more, found {lengths}")
    if extent > 0 and sum(lengths) != extent:
        raise InvalidArgumentError(
            f"{place}: expected chunk lengths that sum to {extent}, the axis' length, found {sum(lengths)}"
        )
    return lengths


def _key_encoding(value: Any, zarr_format: int | None) -> tuple[str, str] | None:
    """`None`, a separator, a pair or mapping of name and separator, its Zarr JSON, or zarr-python's object."""
    if value is None:
        return None
    if hasattr(value, "to_dict"):
        value = value.to_dict()
    default = "v2" if zarr_format == 2 else "default"
    if isinstance(value, str) and value in ("/", "."):
        return default, value
    if isinstance(value, str):
        value = {"name": value}
    if isinstance(value, tuple) and len(value) == 2:
        value = dict(zip(("name", "separator"), value, strict=True))
    if not isinstance(value, Mapping):
        raise InvalidTypeError(
            f"chunk_key_encoding: expected a mapping or '/' or '.', found {type(value).__name__}"
        )
    name = str(value.get("name", default))
    settings = value.get("configuration") or value
    separator = str(settings.get("separator", "." if name == "v2" else "/"))
    if separator not in ("/", "."):
        raise InvalidArgumentError(
            f"chunk_key_encoding: expected the separator '/' or '.', found {separator!r}"
        )
    return name, separator
