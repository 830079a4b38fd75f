"""A Zarr hierarchy, written by the engine. A zip is packed from the finished folder, so that it can be resumed too."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Literal

import numpy as np

import tessarray
from tessarray.conversion.attributes import encode_fill, notes_of, to_json
from tessarray.conversion.destinations.base import Target
from tessarray.conversion.errors import UnsupportedVariableError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region

STORE = "store"


class ZarrDestination:
    """Arrays with shards, dimension names and consolidated metadata under `folder/store`."""

    kind = "Zarr"
    resumable = True
    checksum: Literal["auto", "crc32c"] | None = "auto"
    lock: AbstractContextManager[Any] = contextlib.nullcontext()

    def __init__(self, folder: Path, compressors: Any, zarr_format: Literal[2, 3], zipped: bool) -> None:
        self.sharding = zarr_format == 3
        self._folder, self._store = folder, folder / STORE
        # What the arrays are made in.
        self._target: tessarray.stores.StoreLike = str(self._store)
        self._compressors, self._format, self._zipped = compressors, zarr_format, zipped
        self._arrays: dict[str, Any] = {}
        self._grouped = False

    def check(self, spec: ArraySpec) -> list[str]:
        """See `Destination.check`."""
        dtype = spec.dtype
        if dtype.kind == "V" and dtype != _packed(dtype):
            raise UnsupportedVariableError(f"type {dtype}, which is not packed or has arrays as fields")
        if dtype.kind in "fc" and dtype.itemsize > (8 if dtype.kind == "f" else 16):
            raise UnsupportedVariableError(f"type {dtype}, which Zarr has not")
        lost = []
        if "_FillValue" in spec.attrs and encode_fill(spec.attrs["_FillValue"], dtype) is None:
            if dtype.kind in "ST" and self._format == 3:
                lost.append(
                    "_FillValue of text is kept as the Zarr fill value alone (xarray reads no other from Zarr v3)"
                )
            elif dtype.kind not in "ST":
                lost.append(f"_FillValue {spec.attrs['_FillValue']} is no {dtype}: left out")
        narrow = [
            n for n in ("scale_factor", "add_offset") if np.asarray(spec.attrs.get(n, 0)).dtype == np.float32
        ]
        if narrow and dtype.itemsize < 4:
            lost.append(
                f"{' and '.join(narrow)}: JSON keeps the value but not float32, so xarray unpacks to float64"
            )
        return lost

    def create(self, groups: Sequence[GroupSpec], targets: Sequence[Target]) -> None:
        """Make the groups and empty arrays."""
        for group in groups:
            members = {
                target.spec.path.rpartition("/")[2]: target.spec.attrs
                for target in targets
                if target.spec.path.rpartition("/")[0] == group.path
            }
            attrs = to_json(group.attrs) | notes_of(group.attrs, members, group.unlimited)
            tessarray.create_group(
                self._target, path=group.path, zarr_format=self._format, attributes=attrs, overwrite=False
            )
        self._grouped = bool(groups)
        for target in targets:
            self._arrays[target.spec.path] = self._create(target)

    def _create(self, target: Target) -> Any:
        spec, layout = target.spec, target.layout
        attrs = to_json({name: value for name, value in spec.attrs.items() if name != "_FillValue"})
        options: dict[str, Any] = {}
        if self._format == 3:
            fill = encode_fill(spec.attrs["_FillValue"], spec.dtype) if "_FillValue" in spec.attrs else None
            attrs |= {"_FillValue": fill} if fill is not None else {}
        if layout.coding is not None:
            options |= layout.coding
        else:
            options |= {"compressors": self._compressors, "checksum": self.checksum}
        # xarray takes any fill value of v2 for `_FillValue`; none reads as zeros.
        unfilled = self._format == 2 and "_FillValue" not in spec.attrs
        return tessarray.create_array(
            self._target,
            name=spec.path or None,
            shape=spec.shape,
            dtype="variable_length_bytes" if spec.dtype.kind == "O" else self.stored_dtype(spec),
            chunks=layout.chunks,
            shards=layout.shards,
            fill_value=None if unfilled else _fill_value(spec),
            zarr_format=self._format,
            attributes=attrs,
            dimension_names=spec.dims,
            **options,
        )

    def reopen(self, groups: Sequence[GroupSpec], targets: Sequence[Target]) -> None:
        """Open what an interrupted run created, and make anew what of it is lost."""
        final, self._target = self._target, tessarray.MemoryStore()
        self.create(groups, targets)
        made, self._target = self._target, final
        self._store.mkdir(exist_ok=True)
        store = tessarray.LocalStore(self._store)
        for key, _ in made.list():
            document = made.get(key)
            if document is not None and store.get(key) != document:
                store.put(key, document)
        store.leftovers(remove=True)
        for path in self._arrays:
            self._arrays[path] = tessarray.open_array(self._target, path=path or None, mode="r+")

    def write(self, path: str, region: Region, values: NDArray) -> None:
        """Store one block; blocks of different chunks may be written at once."""
        self._arrays[path][region if region else ...] = values

    def read(self, path: str, region: Region) -> NDArray:
        """Read a region back, to compare it."""
        return np.asarray(self._arrays[path][region if region else ...])

    def stored_dtype(self, spec: ArraySpec) -> np.dtype[Any]:
        """The type that values are compared as."""
        if spec.dtype.kind == "T":
            return np.dtypes.StringDType()
        return spec.dtype if spec.dtype.kind == "O" else spec.dtype.newbyteorder("=")

    def finish(self) -> Path:
        """Complete the store and give the folder, or the zip that is made of it."""
        if self._grouped:
            tessarray.consolidate_metadata(self._target)
        if not self._zipped:
            return self._store
        packed = self._folder / "store.zip"
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
            for item in sorted(self._store.rglob("*")):
                if item.is_file():
                    archive.write(item, item.relative_to(self._store).as_posix())
        return packed

    def close(self) -> None:
        """Give files back; called in any case."""
        self._arrays = {}


def _packed(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """A structured type as it can be stored; another one than given where it cannot."""
    if dtype.names is None:
        return dtype.base if dtype.kind != "O" else np.dtype("V0")
    return np.dtype([(name, _packed(dtype[name])) for name in dtype.names])


def _fill_value(spec: ArraySpec) -> Any:
    """The Zarr fill value: the source's where it fits the type, else the type's zero."""
    if spec.dtype.kind == "T":
        return spec.fill_value if isinstance(spec.fill_value, str) else ""
    if spec.dtype.kind == "O":
        return b""
    native = spec.dtype.newbyteorder("=")
    zero = np.zeros((), native)[()]
    if spec.fill_value is None:
        return zero
    if native.kind in "iu" and encode_fill(spec.fill_value, native) is None:
        return zero
    try:
        return np.asarray(spec.fill_value).reshape(-1)[0].astype(native)
    except (TypeError, ValueError, IndexError):
        return zero
