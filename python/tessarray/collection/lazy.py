"""Many datasets as one `xarray.Dataset`, in memory or by dask."""

from __future__ import annotations

import importlib
import json
import math
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tessarray.collection.decoding import EXACT, NAMES, Packing, packings
from tessarray.collection.meaning import STORED, Meaning
from tessarray.collection.names import existing
from tessarray.collection.parts import NDArray
from tessarray.conversion.attributes import decode_fill
from tessarray.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from tessarray.collection.collection import Collection

# Bytes of one chunk of dask's, about.
CHUNK = 64 << 20
CURE = "pad=True fills them up to the longest"


def to_xarray(
    collection: Collection,
    names: str | Sequence[str] | None,
    variables: str | Iterable[str] | None,
    concat_dim: str,
    lazy: bool,
    decode: bool,
    datasets_per_chunk: int | None,
    pad: bool = False,
) -> Any:
    """See `Collection.to_xarray`."""
    import xarray

    pinned = collection.at(collection.version)
    core = pinned._core()
    asked = existing(core, names)
    if not asked:
        raise InvalidArgumentError("to_xarray: no datasets")
    chosen = [variables] if isinstance(variables, str) else None if variables is None else list(variables)
    found = {}
    left_out = {}
    for variable in [name for name, _ in core.variables()] if chosen is None else chosen:
        arrays = _Stack(pinned, variable, asked, decode, pad)
        if arrays.problem is None:
            found[variable] = arrays
        elif chosen is not None:
            kind = NotFoundError if arrays.absent else InvalidArgumentError
            raise kind(f"to_xarray: {variable!r}: {arrays.problem}; {arrays.cure}")
        else:
            left_out[variable] = arrays.problem
    if not found:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:5])
        raise InvalidArgumentError(f"to_xarray: no variable is alike in all datasets ({reasons}); {CURE}")
    if left_out:
        listed = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        warnings.warn(
            f"left out of the dataset: {listed}; {'' if pad else CURE}".removesuffix("; "), stacklevel=3
        )
    if pad:
        _lengthen(list(found.values()))
    data: dict[str, Any] = {}
    coordinates: dict[str, Any] = {concat_dim: (concat_dim, np.array(asked, dtype=object))}
    for variable, arrays in found.items():
        same = arrays.shared() if arrays.dims == (variable,) else None
        if same is not None:
            coordinates[variable] = ((variable,), same, arrays.attrs)
            continue
        # A dimension may not bear the name of a variable with further dimensions.
        dims = tuple(f"{dim}_index" if dim in found and found[dim].varies else dim for dim in arrays.dims)
        values = arrays.lazy(datasets_per_chunk) if lazy else arrays.read()
        data[variable] = ((concat_dim, *dims), values, arrays.attrs)
    return xarray.Dataset(data, coords=coordinates)


def _lengthen(stacks: list[_Stack]) -> None:
    """Give each dimension the length that the longest variable has along it."""
    longest: dict[str, int] = {}
    for one in stacks:
        for dim, length in zip(one.dims, one.shape, strict=True):
            longest[dim] = max(longest.get(dim, 0), length)
    for one in stacks:
        one.take(tuple(longest[dim] for dim in one.dims))


class _Stack:
    """A variable of many datasets, of one shape; or, padded, of several."""

    def __init__(
        self, collection: Collection, variable: str, names: list[str], decode: bool, pad: bool
    ) -> None:
        self._collection, self._variable, self._names, self._decode = collection, variable, names, decode
        found = collection._core().find(variable, names)
        self.problem: str | None = None
        self.absent = bool(found.missing)
        self._shared: NDArray | None = None
        self.varies = False
        self.cure = CURE
        ranks = {len(shape) for shape in found.shapes}
        if len(ranks) > 1 or not len(found):
            self.cure = "take them by groups of names"
        if self.absent and (not pad or not len(found)):
            self.problem = f"{len(found.missing)} of {len(names)} datasets have none"
            return
        meaning = Meaning.of(collection._core(), found) if decode else STORED
        shapes = {shape[:-1] if meaning.letters else shape for shape in found.shapes}
        if len(shapes) > 1 and (not pad or len(ranks) > 1):
            self.problem = f"it has {len(shapes)} shapes"
            return
        self.shape = tuple(max(lengths) for lengths in zip(*shapes, strict=True))
        self._padded = False
        kinds = found.kinds
        named = {tuple(one[1] or ()) for one in kinds}
        given = named.pop() if len(named) == 1 else ()
        self.dims = tuple(
            (given[axis] if axis < len(given) else None) or f"{variable}_{axis}"
            for axis in range(len(self.shape))
        )
        packed = packings(found) if decode else [None]
        dtypes = {one[0] for one in kinds}
        self.dtype = np.result_type(
            *dtypes, *(Packing.dtype(dtype) for dtype in dtypes if any(packed) and dtype.kind in "iuf")
        )
        if any(packed) and all(dtype.kind in "iu" for dtype in dtypes) and all(packed):
            self.dtype = np.result_type(*(Packing.dtype(dtype) for dtype in dtypes))
        if meaning.scale is not None:
            self.dtype = np.dtype("datetime64[us]")
        elif meaning.texts:
            # No text in UTF-8 has more characters than bytes.
            longest = max(shape[-1] for shape in found.shapes) if meaning.letters else self.dtype.itemsize
            self.dtype = np.dtype(f"U{max(longest, 1)}")
        if pad and (self.absent or len(shapes) > 1):
            if self.dtype.kind not in "biufcmMSUT":
                self.problem, self.cure = f"{self.dtype} has nothing to be filled up with", "read it"
                return
            self._pad()
        self.attrs = self._attributes([json.loads(text or "{}") for text in found.attributes], kinds[0][0])
        if meaning.scale is not None:
            self.attrs = {key: value for key, value in self.attrs.items() if key not in ("units", "calendar")}
        self.varies = self.dims == (variable,) and self.shared() is None

    def _attributes(self, all_of_them: list[dict[str, Any]], dtype: np.dtype[Any]) -> dict[str, Any]:
        first = all_of_them[0]
        shared = {
            key: value
            for key, value in first.items()
            if all(key in one and json.dumps(one[key]) == json.dumps(value) for one in all_of_them)
        }
        if self._decode:
            return {key: value for key, value in shared.items() if key not in NAMES}
        if "_FillValue" in shared:
            shared["_FillValue"] = decode_fill(shared["_FillValue"], dtype)
        return shared

    def _pad(self) -> None:
        if not self._padded and self.dtype.kind in "biu":
            self.dtype = np.result_type(self.dtype, np.float32 if self.dtype.itemsize <= 2 else np.float64)
        self._padded = True

    def take(self, shape: tuple[int, ...]) -> None:
        """Be padded to this shape."""
        if shape != self.shape:
            self._pad()
            self.shape, self._shared = shape, None
            self.varies = self.dims == (self._variable,) and self.shared() is None

    def read(self) -> NDArray:
        return self._of(self._names)

    def _of(self, names: list[str]) -> NDArray:
        read = _read_padded if self._padded else _read
        return read(self._collection, self._variable, names, self._decode, self.dtype, self.shape)

    def shared(self) -> NDArray | None:
        """The values that all datasets have; `None` where they differ."""
        if self._shared is None and not self.varies:
            values = self.read()
            first = values[:1]
            same = (values == first) | ((values != values) & (first != first))
            self._shared = values[0] if bool(np.all(same)) else None
        return self._shared

    def lazy(self, per_chunk: int | None) -> Any:
        import dask

        # dask says little of its types.
        arrays: Any = importlib.import_module("dask.array")
        size = max(math.prod(self.shape) * self.dtype.itemsize, 1)
        count = per_chunk or max(CHUNK // size, 1)
        read = dask.delayed(_read_padded if self._padded else _read, pure=True)  # type: ignore[attr-defined]
        parts = []
        for begin in range(0, len(self._names), count):
            names = self._names[begin : begin + count]
            part = read(self._collection, self._variable, names, self._decode, self.dtype, self.shape)
            parts.append(arrays.from_delayed(part, (len(names), *self.shape), self.dtype))
        return arrays.concatenate(parts)


def _read(
    collection: Collection,
    variable: str,
    names: Sequence[str],
    decode: bool,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
) -> NDArray:
    values = collection.read(variable, names, decode=decode)
    assert isinstance(values, np.ndarray)
    return values.astype(dtype, copy=False)


def _read_padded(
    collection: Collection,
    variable: str,
    names: Sequence[str],
    decode: bool,
    dtype: np.dtype[Any],
    shape: tuple[int, ...],
) -> NDArray:
    """Filled up to the shape where an array is shorter, or is not there."""
    if dtype.kind in "mM":
        result = np.full((len(names), *shape), np.array("NaT", dtype), dtype)
    else:
        result = np.full((len(names), *shape), "" if dtype.kind in "SUTO" else np.nan, dtype)
    places = collection._core().find(variable, list(names)).columns()[3].tolist()
    values = collection.read(variable, names, missing="skip", decode=decode)
    for place, part in zip(places, values, strict=True):
        whole = np.asarray(part)
        if whole.dtype.kind in "iu" and dtype.kind == "f" and whole.itemsize == 8 and _inexact(whole):
            raise InvalidArgumentError(
                f"to_xarray: {variable!r} of {names[place]!r} has integers without an exact floating-point number, "
                "and integers have none for missing values: leave it out, or read it without padding"
            )
        result[(place, *(slice(0, length) for length in whole.shape))] = whole
    return result


def _inexact(values: NDArray) -> bool:
    return bool(((values > EXACT) | ((values < -EXACT) if values.dtype.kind == "i" else False)).any())
