"""netCDF-3 and netCDF-4 by the netCDF4 package: raw packed values, characters as characters, attributes as stored."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region
from tessarray.conversion.sources.base import LIBRARY_LOCK, FileSource, contiguous_chunk, need

# Decoded chunks of the variable at work. The library would keep as much of every variable that was ever read.
KEPT_BYTES = 64 << 20


class NetCDFSource(FileSource):
    """One netCDF file, its groups and its variables."""

    kind = "netCDF"
    lock = LIBRARY_LOCK

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        netcdf = need("netCDF4", str(path))
        self._module = netcdf
        with self.lock:
            try:
                self._dataset = netcdf.Dataset(str(path), "r")
            except (OSError, RuntimeError) as error:
                raise FormatError(f"{path}: not readable as netCDF: {error}") from error
            self._dataset.set_auto_maskandscale(False)
            self._dataset.set_auto_chartostring(False)
            self._dataset.set_always_mask(False)
        self.kind = self._dataset.data_model.replace("_", " ")
        self._kept, self._current = KEPT_BYTES, ""

    def _walk(self, group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        yield prefix, group
        for name, child in group.groups.items():
            yield from self._walk(child, f"{prefix}/{name}" if prefix else name)

    def groups(self) -> list[GroupSpec]:
        with self.lock:
            return [
                GroupSpec(prefix, self._attrs(group), _unlimited(group))
                for prefix, group in self._walk(self._dataset, "")
            ]

    def arrays(self) -> list[ArraySpec]:
        with self.lock:
            return [
                self._spec(f"{prefix}/{name}" if prefix else name, variable)
                for prefix, group in self._walk(self._dataset, "")
                for name, variable in group.variables.items()
            ]

    def _attrs(self, item: Any) -> dict[str, Any]:
        return {name: item.getncattr(name) for name in item.ncattrs()}

    def _spec(self, path: str, variable: Any) -> ArraySpec:
        dtype, shape = self._dtype(path, variable), tuple(int(n) for n in variable.shape)
        attrs = self._attrs(variable)
        fill = attrs.get("_FillValue")
        if fill is not None and dtype.kind == "S":
            attrs["_FillValue"] = fill = np.bytes_(fill.encode("latin-1") if isinstance(fill, str) else fill)
        chunking = variable.chunking()
        chunk = tuple(chunking) if isinstance(chunking, list | tuple) else contiguous_chunk(shape)
        return ArraySpec(path, shape, dtype, tuple(variable.dimensions), attrs, fill, chunk)

    def _dtype(self, path: str, variable: Any) -> np.dtype[Any]:
        if variable.dtype is str:
            return np.dtype(np.dtypes.StringDType())
        datatype = variable.datatype
        if isinstance(datatype, self._module.EnumType):
            self.warnings.append(f"{path}: the names of enum '{datatype.name}' are not kept, its numbers are")
            enum: np.dtype[Any] = np.dtype(datatype.dtype)
            return enum
        if isinstance(datatype, self._module.VLType | self._module.CompoundType):
            # The spec can still be listed; what refuses it names the variable.
            return np.dtype(object)
        dtype: np.dtype[Any] = np.dtype(variable.dtype)
        return dtype

    def keep(self, nbytes: int) -> int:
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

    def read(self, path: str, region: Region) -> NDArray:
        with self.lock:
            try:
                variable = self._turn_to(path)
                if not region:
                    return np.asarray(variable[...]).reshape(())
                return np.asarray(variable[region])
            except (RuntimeError, OSError, IndexError) as error:
                raise FormatError(f"{self.path}: variable '{path}' cannot be read: {error}") from error

    def close(self) -> None:
        with self.lock:
            if self._dataset.isopen():
                self._dataset.close()


def _keep(variable: Any, nbytes: int) -> None:
    if isinstance(variable.chunking(), list | tuple):
        variable.set_var_chunk_cache(size=nbytes)


def _unlimited(group: Any) -> tuple[str, ...]:
    return tuple(name for name, dimension in group.dimensions.items() if dimension.isunlimited())
