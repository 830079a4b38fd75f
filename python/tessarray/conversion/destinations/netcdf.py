"""netCDF-4, so that a user can go back: groups, dimensions, chunks, deflate, and attributes with their old types."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion.attributes import NOTES, encode_fill, restore_types, to_json
from tessarray.conversion.destinations.base import Target
from tessarray.conversion.errors import OptionError, UnsupportedVariableError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region
from tessarray.conversion.sources.base import LIBRARY_LOCK, need

# Names that netCDF-4 keeps to itself.
RESERVED = {"_NCProperties", "_Netcdf4Dimid", "_Netcdf4Coordinates", "_nc3_strict", "CLASS", "NAME", NOTES}

# Of each variable; the library's own choice is 64 MiB. Blocks are whole chunks, so that none comes back.
CACHE_BYTES = 1 << 20


class NetCDFDestination:
    """One netCDF-4 file. Its library is not thread-safe, and a killed writer leaves it unreadable: no resumption."""

    kind = "netCDF-4"
    sharding = False
    resumable = False
    lock = LIBRARY_LOCK

    def __init__(self, folder: Path, compressors: Any) -> None:
        self._module = need("netCDF4", "netCDF-4")
        self._path = folder / "store.nc"
        self._storage = _deflate(compressors)
        self._groups: dict[str, Any] = {}
        self._variables: dict[str, Any] = {}
        self._specs: dict[str, ArraySpec] = {}
        self._file: Any = None

    def check(self, spec: ArraySpec) -> list[str]:
        """See `Destination.check`: netCDF-4 has no objects, no complex numbers, and floats of 4 and 8 bytes only."""
        if spec.dtype.kind in "OVc" or (spec.dtype.kind == "f" and spec.dtype.itemsize not in (4, 8)):
            raise UnsupportedVariableError(f"type {spec.dtype}, which netCDF-4 has not")
        fill = spec.attrs.get("_FillValue")
        if fill is None or spec.dtype.kind not in "iuf" or encode_fill(fill, spec.dtype) is not None:
            return []
        return [f"_FillValue {fill} is no {spec.dtype}: left out"]

    def create(self, groups: Sequence[GroupSpec], targets: Sequence[Target]) -> None:
        """Make the file with its groups, dimensions and variables."""
        with self.lock:
            self._file = self._module.Dataset(str(self._path), "w", format="NETCDF4")
            self._groups = {"": self._file}
            notes: dict[str, Any] = {}
            for group in groups:
                made = self._groups[""] if group.path == "" else self._file.createGroup(group.path)
                self._groups[group.path] = made
                notes[group.path] = group.attrs.get(NOTES, {})
                _set_attrs(made, restore_types(group.attrs, notes[group.path].get("types", {}).get("", {})))
            unlimited = {
                group.path: {*group.unlimited, *notes[group.path].get("unlimited", [])} for group in groups
            }
            for target in targets:
                parent = target.spec.path.rpartition("/")[0]
                types = notes.get(parent, {}).get("types", {})
                self._create(target, unlimited, types.get(target.spec.path.rpartition("/")[2], {}))

    def _create(self, target: Target, unlimited: dict[str, set[str]], types: dict[str, str]) -> None:
        spec = target.spec
        parent, _, name = spec.path.rpartition("/")
        group = self._groups[parent]
        dims = [
            self._dimension(parent, dim, extent, unlimited)
            for dim, extent in zip(_dims(spec), spec.shape, strict=True)
        ]
        attrs = restore_types(spec.attrs, types)
        fill = attrs.pop("_FillValue", None)
        kind: Any = self.stored_dtype(spec)
        chunks = [*target.layout.chunks]
        if kind.kind == "S":
            dims, chunks, kind = self._characters(parent, spec, dims, chunks)
        elif kind.kind == "T":
            kind, fill = str, None
        elif spec.dtype.kind == "b":
            attrs["dtype"] = "bool"  # as xarray has it
        elif spec.dtype.kind in "mM":
            attrs |= _time_attrs(spec.dtype)
        elif fill is not None:
            fill = None if encode_fill(fill, kind) is None else np.asarray(fill).astype(kind)[()]
        options = (
            {"chunksizes": chunks, "chunk_cache": CACHE_BYTES, **self._storage}
            if dims and kind is not str and 0 not in spec.shape
            else {}
        )
        variable = group.createVariable(name or "data", kind, dims, fill_value=fill, **options)
        variable.set_auto_maskandscale(False)
        variable.set_auto_chartostring(False)
        _set_attrs(variable, attrs)
        self._variables[spec.path], self._specs[spec.path] = variable, spec

    def _characters(
        self, parent: str, spec: ArraySpec, dims: list[str], chunks: list[int]
    ) -> tuple[Any, Any, Any]:
        """Fixed-length bytes as an array of characters, with one more dimension if they are longer than one."""
        if spec.dtype.itemsize > 1:
            dims = [*dims, self._dimension(parent, f"string{spec.dtype.itemsize}", spec.dtype.itemsize, {})]
            chunks = [*chunks, spec.dtype.itemsize]
        return dims, chunks, "S1"

    def _dimension(self, parent: str, name: str, extent: int, unlimited: dict[str, set[str]]) -> str:
        """Find a dimension here or in the groups above, or make it here; a taken name of another size gets it added."""
        path = parent
        while True:
            known = self._groups[path].dimensions.get(name)
            if known is not None:
                if len(known) == extent or (known.isunlimited() and len(known) == 0):
                    return name
                return self._dimension(parent, f"{name}_{extent}", extent, unlimited)
            if path == "":
                break
            path = path.rpartition("/")[0]
        home = next((p for p in _upwards(parent) if name in unlimited.get(p, ())), parent)
        self._groups[home].createDimension(name, None if name in unlimited.get(home, ()) else extent)
        return name

    def reopen(self, groups: Sequence[GroupSpec], targets: Sequence[Target]) -> None:
        """Raise `OptionError`: a file that was cut short cannot be gone on with."""
        raise OptionError("a netCDF-4 file cannot be resumed")

    def write(self, path: str, region: Region, values: NDArray) -> None:
        """Store one block, under the lock of the library."""
        spec, variable = self._specs[path], self._variables[path]
        if spec.dtype.kind == "S":
            raw = np.ascontiguousarray(values).astype(spec.dtype)
            values = raw.view("S1").reshape(
                raw.shape + ((spec.dtype.itemsize,) if spec.dtype.itemsize > 1 else ())
            )
        elif spec.dtype.kind == "T" or spec.dtype.kind == "U":
            values = np.asarray(values).astype(object)
        else:
            values = _as_stored(values, self.stored_dtype(spec))
        with self.lock:
            variable[region if region else ...] = values

    def read(self, path: str, region: Region) -> NDArray:
        """Read a region back as it is stored."""
        spec, variable = self._specs[path], self._variables[path]
        with self.lock:
            values = np.asarray(variable[region if region else ...])
        if spec.dtype.kind == "S" and spec.dtype.itemsize > 1:
            return np.ascontiguousarray(values).view(spec.dtype)[..., 0]
        return values.reshape(()) if not region else values

    def stored_dtype(self, spec: ArraySpec) -> np.dtype[Any]:
        """The type that values are compared as."""
        if spec.dtype.kind in "TU":
            return np.dtypes.StringDType()
        if spec.dtype.kind == "b":
            return np.dtype(np.int8)
        return np.dtype(np.int64) if spec.dtype.kind in "mM" else spec.dtype.newbyteorder("=")

    def finish(self) -> Path:
        """Close the file and give its path."""
        self.close()
        return self._path

    def close(self) -> None:
        """Close the file; called in any case."""
        with self.lock:
            if self._file is not None and self._file.isopen():
                self._file.close()


def _as_stored(values: NDArray, dtype: np.dtype[Any]) -> NDArray:
    return (
        values.astype(dtype)
        if values.dtype.kind in "b"
        else values.view(dtype)
        if values.dtype.kind in "mM"
        else values
    )


def _deflate(compressors: Any) -> dict[str, Any]:
    """`compressors` as netCDF-4 storage options: "auto", "none", "deflate[:level]" or "zstd[:level]"."""
    text = "deflate:4" if compressors == "auto" else compressors
    if text in (None, "none", ()):
        return {}
    name, _, level = str(text).partition(":")
    if name not in ("deflate", "zlib", "gzip", "zstd") or (level and not level.isdigit()):
        raise OptionError(f"codec '{compressors}': a netCDF-4 file takes none, deflate:LEVEL or zstd:LEVEL")
    return {
        "compression": "zstd" if name == "zstd" else "zlib",
        "complevel": int(level or 4),
        "shuffle": True,
    }


def _dims(spec: ArraySpec) -> tuple[str, ...]:
    name = spec.path.rpartition("/")[2] or "data"
    return (
        spec.dims if spec.dims is not None else tuple(f"{name}_dim{axis}" for axis in range(len(spec.shape)))
    )


def _upwards(path: str) -> list[str]:
    parts = path.split("/") if path else []
    return ["/".join(parts[:depth]) for depth in range(len(parts), -1, -1)]


def _time_attrs(dtype: np.dtype[Any]) -> dict[str, str]:
    unit, count = np.datetime_data(dtype)
    names = {"D": "days", "h": "hours", "m": "minutes", "s": "seconds", "ms": "milliseconds"}
    names |= {"us": "microseconds", "ns": "nanoseconds"}
    if count != 1 or unit not in names:
        raise OptionError(
            f"times in units of {count} {unit}: netCDF-4 counts days, hours, minutes, seconds or parts of one"
        )
    if dtype.kind == "m":
        return {"units": names[unit], "dtype": f"timedelta64[{unit}]"}
    return {"units": f"{names[unit]} since 1970-01-01", "calendar": "proleptic_gregorian"}


def _set_attrs(item: Any, attrs: dict[str, Any]) -> None:
    for name, value in attrs.items():
        if name in RESERVED or value is None:
            continue
        if isinstance(value, bool):
            value = np.int8(value)
        elif isinstance(value, dict):
            value = str(to_json(value))
        elif isinstance(value, list) and not value:
            value = ""
        item.setncattr(name, value)
