"""Whatever xarray opens (GRIB, HDF4, ...), not decoded; and `xarray.Dataset` objects, encoded as xarray would."""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region
from tessarray.conversion.sources.base import BaseSource, contiguous_chunk, identity_of, need, state_of


class DatasetSource(BaseSource):
    """The variables of one dataset, none of them decoded. Reads hold a lock: a backend need not be thread-safe."""

    kind = "xarray"

    def __init__(
        self, label: str, variables: dict[str, Any], attrs: dict[str, Any], owner: Any = None
    ) -> None:
        super().__init__(label)
        self.lock = threading.RLock()
        self._variables, self._attributes, self._owner = variables, attrs, owner

    @classmethod
    def open(cls, given: str) -> DatasetSource:
        """Open a path or address that no other source knows, if xarray does."""
        try:
            xarray = need("xarray", given)
            dataset = xarray.open_dataset(given, decode_cf=False, cache=False, chunks=None)
        except FormatError as error:
            raise FormatError(
                f"{given}: unknown format (neither netCDF, HDF5, Zarr, npy nor TIFF)"
            ) from error
        except Exception as error:  # backends raise what they like
            reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
            raise FormatError(
                f"{given}: unknown format (neither netCDF, HDF5, Zarr, npy nor TIFF, and xarray says: {reason[:120]})"
            ) from error
        return cls(given, dict(dataset.variables), dict(dataset.attrs), dataset)

    @classmethod
    def of(cls, dataset: Any) -> DatasetSource:
        """Take a Dataset or DataArray from memory, CF-encoded as `to_netcdf` would."""
        xarray = need("xarray", "an xarray object")
        if isinstance(dataset, xarray.DataArray):
            dataset = dataset.to_dataset(name=dataset.name or "data")
        if not isinstance(dataset, xarray.Dataset):
            raise FormatError(f"source: expected an xarray.Dataset, found {type(dataset).__name__}")
        variables, attrs = xarray.conventions.encode_dataset_coordinates(dataset)
        encoded = {
            str(name): xarray.conventions.encode_cf_variable(variable, name=name)
            for name, variable in variables.items()
        }
        return cls("<xarray.Dataset>", encoded, dict(attrs))

    def groups(self) -> list[GroupSpec]:
        """Every group, parents first."""
        return [GroupSpec("", self._attributes)]

    def arrays(self) -> list[ArraySpec]:
        """Every array, in the source's order."""
        return [self._spec(str(name), variable) for name, variable in self._variables.items()]

    def _spec(self, name: str, variable: Any) -> ArraySpec:
        dtype = np.dtype(variable.dtype)
        if dtype.kind == "O" or dtype.kind == "U":
            dtype = np.dtypes.StringDType()
        attrs = dict(variable.attrs)
        preferred = variable.encoding.get("preferred_chunks") or {}
        shape = tuple(int(n) for n in variable.shape)
        flat = contiguous_chunk(shape)
        chunk = tuple(int(preferred.get(dim, n)) for dim, n in zip(variable.dims, flat, strict=True))
        dims = tuple(str(dim) for dim in variable.dims)
        return ArraySpec(name, shape, dtype, dims, attrs, attrs.get("_FillValue"), chunk)

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region, as they are stored."""
        with self.lock:
            return np.asarray(self._variables[path][region].values)

    def identity(self) -> dict[str, Any]:
        """What must not change between a run and its resumption."""
        path = Path(self.label)
        if not path.exists():
            return {"source": self.label}
        return identity_of(path)

    def state(self) -> Any:
        """What is another one whenever values may have changed; `None` if nothing tells."""
        path = Path(self.label)
        return state_of(path) if path.is_file() else None

    def close(self) -> None:
        """Give files back."""
        if self._owner is not None:
            with contextlib.suppress(Exception):
                self._owner.close()
