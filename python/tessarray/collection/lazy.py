"""Many datasets as one `xarray.Dataset`, in memory or by dask."""

from __future__ import annotations

import importlib
import json
import math
import warnings
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tessarray.collection.decoding import NAMES, Packing, packings
from tessarray.collection.names import existing
from tessarray.collection.reading import NDArray
from tessarray.conversion.attributes import decode_fill
from tessarray.errors import InvalidArgumentError, NotFoundError

if TYPE_CHECKING:
    from tessarray.collection.collection import Collection

# Bytes of one chunk of dask's, about.
CHUNK = 64 << 20


def to_xarray(
    collection: Collection,
    names: str | Sequence[str] | None,
    variables: str | Iterable[str] | None,
    concat_dim: str,
    lazy: bool,
    decode: bool,
    datasets_per_chunk: int | None,
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
        arrays = _Stack(pinned, variable, asked, decode)
        if arrays.problem is None:
            found[variable] = arrays
        elif chosen is not None:
            kind = NotFoundError if arrays.absent else InvalidArgumentError
            raise kind(f"to_xarray: {variable!r}: {arrays.problem}")
        else:
            left_out[variable] = arrays.problem
    if not found:
        reasons = "; ".join(f"{name}: {reason}" for name, reason in list(left_out.items())[:5])
        raise InvalidArgumentError(f"to_xarray: no variable is alike in all datasets ({reasons})")
    if left_out:
        listed = "; ".join(f"{name}: {reason}" for name, reason in left_out.items())
        warnings.warn(f"left out of the dataset: {listed}", stacklevel=3)
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


class _Stack:
    """A variable of many datasets, of one shape."""

    def __init__(self, collection: Collection, variable: str, names: list[str], decode: bool) -> None:
        self._collection, self._variable, self._names, self._decode = collection, variable, names, decode
        found = collection._core().find(variable, names)
        self.problem: str | None = None
        self.absent = bool(found.missing)
        self._shared: NDArray | None = None
        self.varies = False
        if self.absent:
            self.problem = f"{len(found.missing)} of {len(names)} datasets have none"
            return
        if len(found.shapes) > 1:
            self.problem = f"it has {len(found.shapes)} shapes"
            return
        self.shape = found.shapes[0]
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
        self.attrs = self._attributes([json.loads(text or "{}") for text in found.attributes], kinds[0][0])
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

    def read(self) -> NDArray:
        return _read(self._collection, self._variable, self._names, self._decode, self.dtype)

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
        read = dask.delayed(_read, pure=True)  # type: ignore[attr-defined]
        parts = []
        for begin in range(0, len(self._names), count):
            names = self._names[begin : begin + count]
            part = read(self._collection, self._variable, names, self._decode, self.dtype)
            parts.append(arrays.from_delayed(part, (len(names), *self.shape), self.dtype))
        return arrays.concatenate(parts)


def _read(
    collection: Collection, variable: str, names: Sequence[str], decode: bool, dtype: np.dtype[Any]
) -> NDArray:
    values = collection.read(variable, names, decode=decode)
    assert isinstance(values, np.ndarray)
    return values.astype(dtype, copy=False)
