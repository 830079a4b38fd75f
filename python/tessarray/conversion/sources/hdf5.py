"""HDF5 by h5py: groups, attributes, dimension scales as dimension names.

What cannot be had costs itself alone and is listed in `skipped`: values of a type that no array has, values behind a
filter that is not installed, and whatever is in another file (`follow_external` reads that, too).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region, Skipped
from tessarray.conversion.sources.base import LIBRARY_LOCK, FileSource, contiguous_chunk, need
from tessarray.conversion.sources.hdf5_outside import (
    NOT_A_COORDINATE,
    missing_filter,
    missing_sources,
    outside,
)
from tessarray.conversion.sources.hdf5_types import (
    Element,
    UnrepresentableError,
    element_of,
    plain_attribute,
)

# How HDF5 and netCDF-4 note dimensions, which become dimension names here.
STRUCTURAL = {"CLASS", "NAME", "DIMENSION_LIST", "REFERENCE_LIST", "DIMENSION_LABELS", "_Netcdf4Dimid"}
STRUCTURAL |= {"_Netcdf4Coordinates", "_nc3_strict", "_NCProperties"}
NO_VARIABLE = b"This is a netCDF dimension but not a netCDF variable"
# What the library raises for what it does not know, and for what is damaged.
LIBRARY_ERRORS = (OSError, TypeError, ValueError, RuntimeError, KeyError, OverflowError)
FOLLOW = "; follow_external (--follow-external) reads other files"


class HDF5Source(FileSource):
    """One HDF5 file. netcdf: it was written as netCDF-4, whose attributes of one element are scalars."""

    kind = "HDF5"
    lock = LIBRARY_LOCK

    def __init__(self, path: Path, follow_external: bool = False, netcdf: bool = False) -> None:
        super().__init__(path)
        self._h5py = need("h5py", str(path))
        self._follow, self._netcdf = follow_external, netcdf
        with self.lock:
            try:
                self._file = self._h5py.File(path, "r")
            except OSError as error:
                raise FormatError(f"{path}: not readable as HDF5: {error}") from error
            self._groups: list[GroupSpec] = []
            self._arrays: dict[str, tuple[ArraySpec, Element, str]] = {}
            self._seen: set[tuple[int, int]] = set()
            self._visit(self._file, "")

    def _visit(self, group: Any, prefix: str, inside: str = "") -> None:
        """A group of the path `prefix`, which is the object `inside` of the file."""
        self._seen.add(self._address(group))
        self._groups.append(GroupSpec(prefix, self._attrs(group, prefix)))
        for name, path, item in self._members(group, prefix):
            if isinstance(item, self._h5py.Group):
                self._visit(item, path, f"{inside}/{name}")
            elif isinstance(item, self._h5py.Dataset) and not self._is_bare_dimension(item):
                try:
                    spec, element = self._spec(path, item)
                    self._arrays[path] = spec, element, f"{inside}/{name}"
                except UnrepresentableError as reason:
                    self.skipped.append(Skipped(path, str(reason)))
                except LIBRARY_ERRORS as error:
                    self.skipped.append(Skipped(path, f"it cannot be opened: {error}", damaged=True))

    def _members(self, group: Any, prefix: str) -> Iterator[tuple[str, str, Any]]:
        for name in group:
            shown = self._shown(group, name)
            path = f"{prefix}/{shown}" if prefix else shown
            try:
                link = group.get(name, getlink=True)
            except TypeError:
                self.skipped.append(Skipped(path, "it is a link of a kind that only its own program knows"))
                continue
            if isinstance(link, self._h5py.SoftLink):
                self.warnings.append(f"{path}: a link to '{link.path}' is not followed")
                continue
            if isinstance(link, self._h5py.ExternalLink) and not self._follow:
                self.skipped.append(
                    Skipped(path, f"it is a link to '{link.path}' in another file, '{link.filename}'{FOLLOW}")
                )
                continue
            try:
                item = group[name]
                if isinstance(item, self._h5py.Group) and self._address(item) in self._seen:
                    self.warnings.append(
                        f"{path}: a group that is in the file under another name is not copied twice"
                    )
                    continue
            except LIBRARY_ERRORS as error:
                self.skipped.append(Skipped(path, f"it cannot be opened: {error}", damaged=True))
                continue
            yield name, path, item

    def _shown(self, group: Any, name: str) -> str:
        """The name that netCDF shows, which may be that of a dimension without a variable."""
        shown = name.removeprefix(NOT_A_COORDINATE)
        if shown != name and shown in group:
            other = group.get(shown)
            if not isinstance(other, self._h5py.Dataset) or not self._is_bare_dimension(other):
                return name
        return shown

    def _address(self, item: Any) -> tuple[int, int]:
        found = self._h5py.h5o.get_info(item.id)
        return int(found.fileno), int(found.addr)

    def _is_bare_dimension(self, dataset: Any) -> bool:
        try:
            name = dataset.attrs.get("NAME", b"")
        except LIBRARY_ERRORS:
            return False
        return isinstance(name, bytes | np.bytes_) and bytes(name).startswith(NO_VARIABLE)

    def _attrs(self, item: Any, path: str) -> dict[str, Any]:
        attrs: dict[str, Any] = {}
        for name in item.attrs:
            if name in STRUCTURAL:
                continue
            try:
                value = item.attrs[name]
                if isinstance(value, np.ndarray) and value.dtype.kind == "O":
                    self._refuse_lists(item.attrs.get_id(name).dtype)
                value = "" if isinstance(value, self._h5py.Empty) else plain_attribute(value)
            except (*LIBRARY_ERRORS, UnrepresentableError) as error:
                self.warnings.append(f"{path}: attribute '{name}' is left out: {error}")
                continue
            if self._netcdf and isinstance(value, np.ndarray | list) and np.shape(value) == (1,):
                value = value[0]
            attrs[name] = value
        return attrs

    def _refuse_lists(self, dtype: np.dtype[Any]) -> None:
        if self._h5py.check_string_dtype(dtype) is None:
            raise UnrepresentableError("references, or lists of variable length")

    def _spec(self, path: str, dataset: Any) -> tuple[ArraySpec, Element]:
        found = self._unreachable(dataset)
        if found is not None:
            raise UnrepresentableError(found)
        element = element_of(self._h5py, dataset)
        if element.note:
            self.warnings.append(f"{path}: {element.note}")
        dtype = element.dtype
        attrs = self._attrs(dataset, path) | element.attrs
        fill = attrs.get("_FillValue", self._unwritten(dataset) if dtype.kind in "iufcb" else None)
        if isinstance(fill, np.ndarray) and fill.size == 1:
            attrs["_FillValue"] = fill = fill.reshape(-1)[0]
        if dataset.shape is None:
            self.warnings.append(f"{path}: a data set without a shape becomes an array without elements")
            return ArraySpec(path, (0,), dtype, None, attrs, fill, (1,)), element
        shape = (*dataset.shape, *element.inner)
        chunk = (*dataset.chunks, *element.inner) if dataset.chunks else contiguous_chunk(shape)
        dims = None if element.inner else self._dims(dataset)
        return ArraySpec(path, shape, dtype, dims, attrs, fill, chunk), element

    def _unreachable(self, dataset: Any) -> str | None:
        """Why the values cannot be read, or are not to be."""
        found = outside(self._h5py, dataset)
        if found is not None and not self._follow:
            return f"{found}{FOLLOW}"
        if found is not None and (missing := missing_sources(self._h5py, dataset)) is not None:
            return f"{found}; '{missing}' is not there"
        return missing_filter(self._h5py, dataset)

    def _unwritten(self, dataset: Any) -> Any:
        """What elements are that were never written; None if the file does not say."""
        try:
            return dataset.fillvalue
        except LIBRARY_ERRORS:
            return None

    def _dims(self, dataset: Any) -> tuple[str, ...] | None:
        try:
            if bytes(np.bytes_(dataset.attrs.get("CLASS", b""))) == b"DIMENSION_SCALE" and dataset.ndim == 1:
                return (dataset.name.rpartition("/")[2],)
            names = []
            for dimension in dataset.dims:
                scale = next(iter(dimension.values()), None) if len(dimension) else None
                names.append(scale.name.rpartition("/")[2] if scale is not None else dimension.label)
        except LIBRARY_ERRORS as error:
            self.warnings.append(f"{dataset.name}: the names of its dimensions cannot be read: {error}")
            return None
        return tuple(names) if names and all(names) else None if dataset.ndim else ()

    def groups(self) -> list[GroupSpec]:
        """Every group, parents first."""
        return self._groups

    def arrays(self) -> list[ArraySpec]:
        """Every array, in the source's order."""
        return [spec for spec, _, _ in self._arrays.values()]

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region, as they are stored."""
        _, element, name = self._arrays[path]
        with self.lock:
            try:
                dataset = self._file[name]
                if dataset.shape is None:
                    return element.convert(np.empty(0, dataset.dtype))[region]
                if element.raw:
                    return self._raw(dataset, element.dtype, region)
                view = dataset.asstr() if element.text else dataset
                outer, inner = region[: dataset.ndim], region[dataset.ndim :]
                values = view[outer] if outer else view[()]
                found: NDArray = np.asarray(values)
                if inner:
                    found = found[(slice(None),) * dataset.ndim + inner]
                return element.convert(found)
            except (*LIBRARY_ERRORS, UnicodeDecodeError) as error:
                raise FormatError(
                    f"{self.path}: dataset '{path}' cannot be read: {error}; leave it out with exclude"
                ) from error

    def _raw(self, dataset: Any, dtype: np.dtype[Any], region: Region) -> NDArray:
        """Values as their bytes: of opaque types and bitfields, which the library converts to nothing else."""
        h5s, space = self._h5py.h5s, dataset.id.get_space()
        shape = tuple(part.stop - part.start for part in region)
        values = np.empty(shape, dtype)
        if region and values.size:
            space.select_hyperslab(tuple(part.start for part in region), shape)
        if values.size:
            memory = h5s.create_simple(shape) if region else h5s.create(h5s.SCALAR)
            dataset.id.read(memory, space, values, dataset.id.get_type())
        return values

    def state(self) -> Any:
        """What is another one whenever values may have changed; `None` if nothing tells."""
        # Nothing is known of other files that are followed.
        return None if self._follow else super().state()

    def close(self) -> None:
        """Give files back."""
        with self.lock:
            self._file.close()
