"""Tessarray as a backend of xarray: `xarray.open_dataset(path, engine="tessarray", group=...)`.

Opens what Tessarray opens: packs and collections (a dataset is a group), and plain Zarr. Arrays are lazy; with `chunks`
they are dask's. What is opened travels to other processes as a path and a version.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from xarray import Dataset as XarrayDataset
from xarray import DataTree, Variable
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing

import tessarray
from tessarray import Array, Group
from tessarray.collection.collection import Collection
from tessarray.conversion.attributes import NOTES, decode_fill, restore_types
from tessarray.packs import Pack
from tessarray.stores import PACK_MARK, pack_of

__all__ = ["Backend"]


class LazyArray(BackendArray):
    """An array that is read when it is indexed."""

    def __init__(self, array: Array) -> None:
        self._array, self.shape, self.dtype = array, array.shape, np.dtype(array.dtype)

    def __getitem__(self, key: indexing.ExplicitIndexer) -> Any:
        return indexing.explicit_indexing_adapter(key, self.shape, indexing.IndexingSupport.OUTER, self._read)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> Any:
        """What `Dataset.load_async` calls: the read runs in a thread, since the engine blocks."""
        return await asyncio.to_thread(self.__getitem__, key)

    def _read(self, key: tuple[Any, ...]) -> Any:
        if all(isinstance(part, int | np.integer | slice) for part in key):
            return self._array[key]
        return self._array.oindex[key]


class Store(AbstractDataStore):
    """One group as xarray sees a file."""

    def __init__(self, group: Group) -> None:
        self._group = group
        attrs = dict(group.attrs)
        notes = attrs.get(NOTES, {})
        self._types, self._text_fill = notes.get("types", {}), notes.get("text_fill", [])
        self._attrs = {name: value for name, value in attrs.items() if not name.startswith("_nc")}

    def get_variables(self) -> dict[str, Variable]:
        """Variables by name, read when they are indexed."""
        return {name: self._variable(name, array) for name, array in self._group.arrays()}

    def get_attrs(self) -> dict[str, Any]:
        """The attributes of the group."""
        return restore_types(self._attrs, self._types.get("", {}))

    def get_dimensions(self) -> dict[str, int]:
        """Lengths of the dimensions, as the variables have them."""
        found: dict[str, int] = {}
        for variable in self.get_variables().values():
            found |= {str(name): int(length) for name, length in variable.sizes.items()}
        return found

    def get_encoding(self) -> dict[str, Any]:
        """What xarray keeps beside the values: the unlimited dimensions."""
        return {}

    def _variable(self, name: str, array: Array) -> Variable:
        attrs = restore_types(dict(array.attrs), self._types.get(name, {}))
        dtype = np.dtype(array.dtype)
        if array.zarr_format == 2:
            # As xarray has it: what version 2 calls the fill value is the missing one, if there is any.
            attrs.pop("_FillValue", None)
            if array.metadata["fill_value"] is not None:
                attrs["_FillValue"] = array.fill_value
        elif "_FillValue" in attrs:
            attrs["_FillValue"] = decode_fill(attrs["_FillValue"], dtype)
        elif name in self._text_fill:
            attrs["_FillValue"] = array.fill_value
        dims = _dims(array)
        encoding: dict[str, Any]
        if array.chunk_grid == "rectilinear":
            encoding = {"preferred_chunks": dict(zip(dims, array.read_chunk_sizes, strict=True))}
        else:
            chunks = dict(zip(dims, array.chunks, strict=True))
            encoding = {"chunks": array.chunks, "preferred_chunks": chunks}
        return Variable(dims, indexing.LazilyIndexedArray(LazyArray(array)), attrs, encoding)


def _dims(array: Array) -> tuple[str, ...]:
    """The names of the dimensions; those without one are named by their length, as netCDF4 does it."""
    names = array.dimension_names or (None,) * len(array.shape)
    return tuple(name or f"dim_{length}" for name, length in zip(names, array.shape, strict=True))


class Backend(BackendEntrypoint):
    """What xarray calls."""

    description = "Tessarray packs, collections and Zarr stores"
    url = "https://github.com/tessarray/tessarray"
    open_dataset_parameters = (
        "filename_or_obj", "mask_and_scale", "decode_times", "concat_characters", "decode_coords",
        "drop_variables", "use_cftime", "decode_timedelta", "group", "version",
    )  # fmt: skip
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Whether this is a pack or a collection, or a path in one."""
        if isinstance(filename_or_obj, str | os.PathLike) and "://" not in os.fspath(filename_or_obj):
            return pack_of(filename_or_obj) is not None
        return isinstance(filename_or_obj, Collection | Pack)

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        version: Any = None,
    ) -> XarrayDataset:
        """One group as a dataset, decoded by the CF conventions as the options say."""
        store = Store(_group(filename_or_obj, group, version))
        return StoreBackendEntrypoint().open_dataset(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self, filename_or_obj: Any, *, group: str | None = None, version: Any = None, **options: Any
    ) -> dict[str, XarrayDataset]:
        """A group and all below it, each as a dataset, by path."""
        root = _group(filename_or_obj, group, version)
        found = {"/": root} | {
            f"/{path}": node for path, node in root.members(max_depth=None) if isinstance(node, Group)
        }
        decode = StoreBackendEntrypoint()
        return {path: decode.open_dataset(Store(node), **options) for path, node in found.items()}

    def open_datatree(self, filename_or_obj: Any, **options: Any) -> DataTree:
        """A group and all below it as one tree."""
        return DataTree.from_dict(self.open_groups_as_dict(filename_or_obj, **options))


def _group(given: Any, group: str | None, version: Any) -> Group:
    path = (group or "").strip("/")
    if isinstance(given, Group):
        found = given[path] if path else given
    else:
        if version is not None and not isinstance(given, Collection | Pack):
            inner = pack_of(given)
            if inner is None:
                raise tessarray.errors.NotFoundError(f"{given}: no pack there (no {PACK_MARK})")
            given, path = tessarray.open_pack(inner[0]), f"{inner[1]}/{path}".strip("/")
        if isinstance(given, Collection):
            given = given.pack
        if isinstance(given, Pack):
            given = given._view(version)
        found = tessarray.open_group(given, path=path, mode="r")
    if not isinstance(found, Group):
        raise tessarray.errors.WrongNodeError(f"{group}: expected a group, found an array", path=group)
    return found
