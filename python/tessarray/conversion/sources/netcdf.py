"""netCDF-3 and netCDF-4 by the netCDF4 package: raw packed values, characters as characters, attributes as stored."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region, Skipped
from tessarray.conversion.sources.base import LIBRARY_LOCK, FileSource, contiguous_chunk, need
from tessarray.conversion.sources.hdf5 import LIBRARY_ERRORS, HDF5Source

# Decoded chunks of the variable at work. The library would keep as much of every variable that was ever read.
KEPT_BYTES = 64 << 20


class NetCDFSource(FileSource):
    """One netCDF file, its groups and its variables."""

    kind = "netCDF"
    lock = LIBRARY_LOCK

    def __init__(self, path: Path, odd: bool = False) -> None:
        """odd: there are types in it that this library does not list; they are read as HDF5."""
        super().__init__(path)
        netcdf = need("netCDF4", str(path))
        self._module = netcdf
        with self.lock, warnings.catch_warnings():
            if odd:
                # What it says of variables that it skips; they are not lost here.
                warnings.simplefilter("ignore", UserWarning)
            try:
                self._dataset = netcdf.Dataset(str(path), "r")
            except LIBRARY_ERRORS as error:
                raise FormatError(f"{path}: not readable as netCDF: {error}") from error
            self._dataset.set_auto_maskandscale(False)
            self._dataset.set_auto_chartostring(False)
            self._dataset.set_always_mask(False)
        self.kind = self._dataset.data_model.replace("_", " ")
        self._kept, self._current = KEPT_BYTES, ""
        self._hdf5 = HDF5Source(path, netcdf=True) if odd else None
        self._found: list[ArraySpec] | None = None
        # Variables whose values are read as HDF5.
        self._odd: set[str] = set()

    def _walk(self, group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        yield prefix, group
        for name, child in group.groups.items():
            yield from self._walk(child, f"{prefix}/{name}" if prefix else name)

    def groups(self) -> list[GroupSpec]:
        """Every group, parents first."""
        with self.lock:
            return [
                GroupSpec(prefix, self._attrs(group, prefix), _unlimited(group))
                for prefix, group in self._walk(self._dataset, "")
            ]

    def arrays(self) -> list[ArraySpec]:
        """Every array, in the source's order."""
        if self._found is None:
            with self.lock:
                self._found = [
                    spec
                    for prefix, group in self._walk(self._dataset, "")
                    for name, variable in group.variables.items()
                    if (spec := self._spec(f"{prefix}/{name}" if prefix else name, variable)) is not None
                ]
                self._found += self._unlisted()
        return self._found

    def _unlisted(self) -> list[ArraySpec]:
        """Variables that the netCDF library does not give, as HDF5 has them."""
        if self._hdf5 is None:
            return []
        listed = {
            f"{prefix}/{name}" if prefix else name
            for prefix, group in self._walk(self._dataset, "")
            for name in group.variables
        }
        self.skipped += [
            one for one in self._hdf5.skipped if one not in self.skipped and one.path not in listed
        ]
        found = [spec for spec in self._hdf5.arrays() if spec.path not in listed]
        self._odd.update(spec.path for spec in found)
        return found

    def _attrs(self, item: Any, path: str) -> dict[str, Any]:
        attrs = {}
        for name in item.ncattrs():
            try:
                value = item.getncattr(name)
            except LIBRARY_ERRORS as error:
                self.warnings.append(f"{path}: attribute '{name}' is left out: {error}")
                continue
            if np.asarray(value).dtype.kind == "V":
                self.warnings.append(f"{path}: attribute '{name}' is left out: a compound type")
                continue
            attrs[name] = value
        return attrs

    def _spec(self, path: str, variable: Any) -> ArraySpec | None:
        is_text = variable.dtype is str
        if not is_text and isinstance(variable.datatype, self._module.VLType | self._module.CompoundType):
            return self._as_hdf5(path, variable)
        dtype, shape = self._dtype(path, variable), tuple(int(n) for n in variable.shape)
        attrs = self._attrs(variable, path)
        fill = attrs.get("_FillValue")
        if fill is not None and dtype.kind == "S":
            attrs["_FillValue"] = fill = np.bytes_(fill.encode("latin-1") if isinstance(fill, str) else fill)
        chunking = variable.chunking()
        chunk = tuple(chunking) if isinstance(chunking, list | tuple) else contiguous_chunk(shape)
        return ArraySpec(path, shape, dtype, tuple(variable.dimensions), attrs, fill, chunk)

    def _as_hdf5(self, path: str, variable: Any) -> ArraySpec | None:
        """A variable of a type of its own: its values as HDF5 has them, its dimensions as netCDF has them."""
        specs = {} if self._hdf5 is None else {spec.path: spec for spec in self._hdf5.arrays()}
        shape = tuple(int(n) for n in variable.shape)
        found = specs.get(path)
        if self._hdf5 is None or found is None:
            refused = [] if self._hdf5 is None else [one for one in self._hdf5.skipped if one.path == path]
            self.skipped += refused or [Skipped(path, f"values of type {variable.datatype}")]
            return None
        if found.shape[: len(shape)] != shape:
            self.skipped.append(
                Skipped(path, f"values of a type of its own, of which {found.shape} of {shape} are stored")
            )
            return None
        self._odd.add(path)
        dims = tuple(variable.dimensions)
        return dataclasses.replace(found, dims=dims if len(dims) == len(found.shape) else None)

    def _dtype(self, path: str, variable: Any) -> np.dtype[Any]:
        if variable.dtype is str:
            return np.dtype(np.dtypes.StringDType())
        datatype = variable.datatype
        if isinstance(datatype, self._module.EnumType):
            self.warnings.append(f"{path}: the names of enum '{datatype.name}' are not kept, its numbers are")
            enum: np.dtype[Any] = np.dtype(datatype.dtype)
            return enum
        dtype: np.dtype[Any] = np.dtype(variable.dtype)
        return dtype

    def keep(self, nbytes: int) -> int:
        """Let the library keep decoded chunks of at most so many bytes; returns how many it may come to use."""
        self._kept = min(nbytes, KEPT_BYTES) if self.kind.startswith("NETCDF4") else 0
        return self._kept

    def _turn_to(self, path: str) -> Any:
        """The variable, which alone keeps chunks from now on: blocks come variable by variable."""
        variable = self._dataset[path]
        if path != self._current and self.kind.startswith("NETCDF4"):
            if self._current:
                _keep(self._dataset[self._current], 0)
            _keep(variable, self._kept)
            self._current = path
        return variable

    def decodes(self, path: str) -> bool:
        """Whether a value of the variable can be read: not where the library lacks the filter that it needs."""
        if path in self._odd:
            return True
        with self.lock:
            try:
                variable = self._dataset[path]
                return variable.size == 0 or variable[(0,) * variable.ndim] is not None
            except (*LIBRARY_ERRORS, IndexError):
                return False

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region, as they are stored."""
        if self._hdf5 is not None and path in self._odd:
            return self._hdf5.read(path, region)
        with self.lock:
            try:
                variable = self._turn_to(path)
                if not region:
                    return np.asarray(variable[...]).reshape(())
                return np.asarray(variable[region])
            except (*LIBRARY_ERRORS, IndexError) as error:
                raise FormatError(
                    f"{self.path}: variable '{path}' cannot be read: {error}; leave it out with exclude"
                ) from error

    def close(self) -> None:
        """Give files back."""
        with self.lock:
            if self._dataset.isopen():
                self._dataset.close()
        if self._hdf5 is not None:
            self._hdf5.close()


def _keep(variable: Any, nbytes: int) -> None:
    if isinstance(variable.chunking(), list | tuple):
        variable.set_var_chunk_cache(size=nbytes)


def _unlimited(group: Any) -> tuple[str, ...]:
    return tuple(name for name, dimension in group.dimensions.items() if dimension.isunlimited())
