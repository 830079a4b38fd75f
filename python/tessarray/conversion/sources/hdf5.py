"""HDF5 by h5py: groups, attributes, dimension scales as dimension names. Links out of the file are not followed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region
from tessarray.conversion.sources.base import LIBRARY_LOCK, FileSource, contiguous_chunk, need

# How HDF5 and netCDF-4 note dimensions, which become dimension names here.
STRUCTURAL = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS", "_Netcdf4Dimid"}
STRUCTURAL |= {"_Netcdf4Coordinates", "_nc3_strict", "_NCProperties"}
NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"


class HDF5Source(FileSource):
    """One HDF5 file."""

    kind = "HDF5"
    lock = LIBRARY_LOCK

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._h5py = need("h5py", str(path))
        with self.lock:
            try:
                self._file = self._h5py.File(path, "r")
            except OSError as error:
                raise FormatError(f"{path}: not readable as HDF5: {error}") from error
            self._groups: list[GroupSpec] = []
            self._arrays: list[ArraySpec] = []
            self._seen: set[int] = set()
            self._visit(self._file, "")

    def _visit(self, group: Any, prefix: str) -> None:
        self._seen.add(self._address(group))
        self._groups.append(GroupSpec(prefix, self._attrs(group, prefix)))
        for path, item in self._members(group, prefix):
            if isinstance(item, self._h5py.Group):
                self._visit(item, path)
            elif isinstance(item, self._h5py.Dataset) and not self._is_bare_dimension(item):
                self._arrays.append(self._spec(path, item))

    def _members(self, group: Any, prefix: str) -> Iterator[tuple[str, Any]]:
        for name in group:
            path = f"{prefix}/{name}" if prefix else name
            link = group.get(name, getlink=True)
            if not isinstance(link, self._h5py.HardLink):
                self.warnings.append(f"{path}: a link to '{link.path}' is not followed")
                continue
            item = group[name]
            if isinstance(item, self._h5py.Group) and self._address(item) in self._seen:
                self.warnings.append(
                    f"{path}: a group that is in the file under another name is not copied twice"
                )
                continue
            yield path, item

    def _address(self, item: Any) -> int:
        return int(self._h5py.h5o.get_info(item.id).addr)

    def _is_bare_dimension(self, dataset: Any) -> bool:
        name = dataset.attrs.get("NAME", b"")
        return isinstance(name, bytes | np.bytes_) and bytes(name).startswith(NO_VARIABLE)

    def _attrs(self, item: Any, path: str) -> dict[str, Any]:
        attrs: dict[str, Any] = {}
        for name in item.attrs:
            if name in STRUCTURAL:
                continue
            try:
                value = item.attrs[name]
            except (OSError, TypeError, ValueError) as error:
                self.warnings.append(f"{path}: attribute '{name}' is left out: {error}")
                continue
            if isinstance(value, self._h5py.Empty):
                value = ""
            if isinstance(value, self._h5py.Reference) or getattr(value, "dtype", np.dtype(int)).kind == "V":
                self.warnings.append(f"{path}: attribute '{name}' of type {type(value).__name__} is left out")
                continue
            attrs[name] = _plain(value)
        return attrs

    def _spec(self, path: str, dataset: Any) -> ArraySpec:
        shape = dataset.shape if dataset.shape is not None else (0,)
        text = self._h5py.check_string_dtype(dataset.dtype)
        enum = self._h5py.check_enum_dtype(dataset.dtype)
        dtype = np.dtype(dataset.dtype)
        if text is not None and text.length is None:
            dtype = np.dtypes.StringDType()
        elif enum is not None and dtype.kind != "b":
            self.warnings.append(f"{path}: the names of an enum are not kept, its numbers are")
            dtype = np.dtype(dtype.str)
        attrs = self._attrs(dataset, path)
        fill = attrs.get("_FillValue", dataset.fillvalue if dtype.kind in "iufcb" else None)
        if isinstance(fill, np.ndarray) and fill.size == 1:
            attrs["_FillValue"] = fill = fill.reshape(-1)[0]
        chunk = dataset.chunks or contiguous_chunk(shape)
        return ArraySpec(path, tuple(shape), dtype, self._dims(dataset), attrs, fill, chunk)

    def _dims(self, dataset: Any) -> tuple[str, ...] | None:
        if bytes(np.bytes_(dataset.attrs.get("CLASS", b""))) == b"DIMENSION_SCALE" and dataset.ndim == 1:
            return (dataset.name.rpartition("/")[2],)
        names = []
        for dimension in dataset.dims:
            scale = next(iter(dimension.values()), None) if len(dimension) else None
            names.append(scale.name.rpartition("/")[2] if scale is not None else dimension.label)
        return tuple(names) if names and all(names) else None if dataset.ndim else ()

    def groups(self) -> list[GroupSpec]:
        return self._groups

    def arrays(self) -> list[ArraySpec]:
        return self._arrays

    def read(self, path: str, region: Region) -> NDArray:
        with self.lock:
            dataset = self._file[path]
            if dataset.shape is None:
                return np.empty(0, dataset.dtype)
            try:
                text = self._h5py.check_string_dtype(dataset.dtype)
                view = dataset.asstr() if text is not None and text.length is None else dataset
                return np.asarray(view[region] if region else view[()])
            except (OSError, UnicodeDecodeError) as error:
                raise FormatError(f"{self.path}: dataset '{path}' cannot be read: {error}") from error

    def close(self) -> None:
        with self.lock:
            self._file.close()


def _plain(value: Any) -> Any:
    """Text as `str`, one-element arrays as they are."""
    if isinstance(value, bytes | np.bytes_):
        return bytes(value).decode("utf-8", "replace")
    if isinstance(value, np.ndarray) and value.dtype.kind in "SO":
        return [_plain(item) for item in value.tolist()] if value.ndim else _plain(value.item())
    return value
