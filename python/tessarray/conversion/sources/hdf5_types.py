"""What types of HDF5 become: NumPy's, packed, in the machine's byte order.

| HDF5 | here |
|---|---|
| numbers, bitfields, fixed-length text | the same |
| enum | its numbers (the names are not kept) |
| text of variable length | StringDType |
| numbers of variable length | byte strings; the attribute `numpy_dtype` says of what |
| compound | a packed structured type; a field that is an array becomes a structure of fields `0`, `1`, ... |
| array | further axes |
| opaque | `V` and its length in bytes |
| reference to an object | the path of the object, as text |

A type that is none of these raises `UnrepresentableError` with the reason as its text.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tessarray.conversion.model import NDArray

# A field that is a longer array than this would be a structure with more fields than anybody reads.
LONGEST_FIELD = 256


class UnrepresentableError(Exception):
    """Values of a type that no array here can have."""


@dataclass(frozen=True)
class Element:
    """What the elements of a data set become.

    convert: from what h5py reads. inner: axes that each element adds. attrs: what has to be said for them to be
    understood. note: what is not kept. text: to be decoded. raw: to be read as the bytes of the file.
    """

    dtype: np.dtype[Any]
    convert: Callable[[NDArray], NDArray] = np.asarray
    inner: tuple[int, ...] = ()
    attrs: dict[str, Any] = field(default_factory=dict)
    note: str = ""
    text: bool = False
    raw: bool = False


def element_of(h5py: Any, dataset: Any) -> Element:
    """What the elements of a data set become. Raises `UnrepresentableError`."""
    try:
        dtype: np.dtype[Any] = dataset.dtype
    except (TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise UnrepresentableError(f"its type is not known to NumPy ({error})") from None
    inner: tuple[int, ...] = ()
    while dtype.subdtype is not None:
        dtype, shape = dtype.subdtype
        inner += shape
    text = h5py.check_string_dtype(dtype)
    if text is not None and text.length is None:
        return Element(np.dtypes.StringDType(), inner=inner, text=True)
    if dtype.kind == "O":
        return _objects(h5py, dataset, dtype, inner)
    if h5py.check_enum_dtype(dtype) is not None and dtype.kind != "b":
        return Element(
            np.dtype(dtype.str), inner=inner, note="the names of an enum are not kept, its numbers are"
        )
    opaque = h5py.check_opaque_dtype(dtype)
    if dtype.names is None:
        plain = np.dtype(dtype.str) if dtype.kind != "V" or opaque else np.dtype(f"V{dtype.itemsize}")
        if plain.itemsize == 0:
            raise UnrepresentableError(f"its type {dtype} has no bytes")
        raw = dataset.id.get_type().get_class() in (h5py.h5t.OPAQUE, h5py.h5t.BITFIELD)
        return Element(plain, inner=inner, raw=raw)
    plain, final = packed(dtype)
    return Element(final, lambda values: np.asarray(values).astype(plain).view(final), inner)


def _objects(h5py: Any, dataset: Any, dtype: np.dtype[Any], inner: tuple[int, ...]) -> Element:
    reference, base = h5py.check_ref_dtype(dtype), h5py.check_vlen_dtype(dtype)
    if reference is h5py.Reference:
        file = dataset.file.id

        def name(item: Any) -> str:
            found = h5py.h5r.get_name(item, file) if item else None
            return "" if found is None else found.decode("utf-8", "replace")

        return Element(
            np.dtypes.StringDType(),
            lambda values: _each(values, name),
            inner,
            note="references are kept as the paths of what they point to",
        )
    if reference is not None:
        raise UnrepresentableError("references to regions of other data sets")
    if isinstance(base, np.dtype) and base.kind in "iufcb" and h5py.check_enum_dtype(base) is None:
        wanted = base.newbyteorder("<")
        unconverted = not base.isnative and _leaves_lists_as_they_are(h5py)

        def packed_list(item: Any) -> bytes:
            values = np.ascontiguousarray(item)
            return (values.view(base) if unconverted else values).astype(wanted).tobytes()

        return Element(
            np.dtype(object),
            lambda values: _each(values, packed_list),
            inner,
            {"numpy_dtype": wanted.str},
            f"numbers of variable length are kept as bytes: numpy.frombuffer(value, '{wanted.str}')",
        )
    raise UnrepresentableError(f"values of variable length of {base or dtype}")


@functools.cache
def _leaves_lists_as_they_are(h5py: Any) -> bool:
    """Whether h5py gives big-endian lists as the bytes of the file and calls them native, as versions up to 3.16 do."""
    kind = h5py.vlen_dtype(np.dtype("i2").newbyteorder("S"))
    with h5py.File("tessarray-probe", "w", driver="core", backing_store=False) as file:
        made = file.create_dataset("one", (1,), kind)
        made[0] = np.array([1], "i2").astype(h5py.check_vlen_dtype(kind))
        return bool(made[0][0] != 1)


def _each(values: NDArray, make: Callable[[Any], Any]) -> NDArray:
    values = np.asarray(values, object)
    found = np.empty(values.shape, object)
    found.reshape(-1)[...] = [make(item) for item in values.reshape(-1)] if values.ndim else make(values[()])
    return found


def packed(dtype: np.dtype[Any]) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """A structured type without padding, in the machine's byte order; and the same bytes without arrays as fields.

    Raises `UnrepresentableError` for fields of variable length and references.
    """
    plain, final = [], []
    for name in dtype.names or ():
        one, other = _field(dtype[name], name)
        plain.append((name, one))
        final.append((name, other))
    return np.dtype(plain), np.dtype(final)


def _field(dtype: np.dtype[Any], name: str) -> tuple[np.dtype[Any], np.dtype[Any]]:
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        count = math.prod(shape)
        one, other = _field(base, name)
        if not 0 < count <= LONGEST_FIELD:
            raise UnrepresentableError(f"a compound type whose field '{name}' is an array of shape {shape}")
        return np.dtype((one, shape)), np.dtype([(str(number), other) for number in range(count)])
    if dtype.kind == "O":
        raise UnrepresentableError(
            f"a compound type whose field '{name}' has variable length or is a reference"
        )
    if dtype.names is not None:
        return packed(dtype)
    if dtype.itemsize == 0 or (dtype.kind == "f" and dtype.itemsize > 8):
        raise UnrepresentableError(f"a compound type whose field '{name}' is {dtype}")
    found = np.dtype(dtype.str if dtype.kind != "V" else f"V{dtype.itemsize}").newbyteorder("=")
    return found, found


def plain_attribute(value: Any) -> Any:
    """An attribute as text, numbers, and lists of them. Raises `UnrepresentableError` for what is none of these."""
    if isinstance(value, bytes | np.bytes_):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, np.ndarray) and value.dtype.kind in "SO":
        return (
            [plain_attribute(item) for item in value.tolist()]
            if value.ndim
            else plain_attribute(value.item())
        )
    if isinstance(value, np.ndarray | np.generic):
        if value.dtype.kind in "V":
            raise UnrepresentableError("a compound or opaque type")
        return value
    if isinstance(value, str | int | float | complex | list):
        return value
    raise UnrepresentableError(f"type {type(value).__name__}")
