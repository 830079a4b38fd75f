"""Zarr v2 and v3, in a directory or a zip, read by the engine itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

import tessarray
from tessarray.conversion.attributes import NOTES, decode_fill
from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region
from tessarray.conversion.sources.base import BaseSource, identity_of, state_of


class GroupSource(BaseSource):
    """A Zarr array or hierarchy that is open. Reads may overlap."""

    def __init__(self, label: str, root: Any) -> None:
        super().__init__(label)
        self._arrays: dict[str, Any] = {}
        self._specs: list[ArraySpec] = []
        self._groups: list[GroupSpec] = []
        try:
            self._visit("", root)
        except tessarray.TessarrayError as error:
            raise FormatError(f"{label}: not readable as Zarr: {error}") from error
        self.kind = f"Zarr v{self._format}"

    def _visit(self, path: str, node: Any, is_text_fill: bool = False) -> None:
        self._format = node.zarr_format
        if isinstance(node, tessarray.Array):
            self._arrays[path] = node
            self._specs.append(self._spec(path, node, is_text_fill))
            return
        attrs = dict(node.attrs)
        noted = attrs.get(NOTES, {}).get("text_fill", [])
        self._groups.append(GroupSpec(path, attrs))
        for name, child in sorted(node.members()):
            self._visit(f"{path}/{name}" if path else name, child, name in noted)

    def _spec(self, path: str, array: Any, is_text_fill: bool) -> ArraySpec:
        attrs = dict(array.attrs)
        dims = array.dimension_names
        if self._format == 2 and dims is not None and array.metadata["fill_value"] is not None:
            # Beside dimension names, xarray takes the fill value of v2 for `_FillValue`.
            attrs.setdefault("_FillValue", array.fill_value)
        elif is_text_fill:
            attrs["_FillValue"] = array.fill_value
        elif "_FillValue" in attrs:
            attrs["_FillValue"] = decode_fill(attrs["_FillValue"], np.dtype(array.dtype))
        names = tuple(dims) if dims is not None and all(dim is not None for dim in dims) else None
        chunk = (
            tuple(max(sizes, default=1) for sizes in array.write_chunk_sizes)
            if array.chunk_grid == "rectilinear"
            else tuple(array.shards or array.chunks)
        )
        return ArraySpec(
            path, tuple(array.shape), np.dtype(array.dtype), names, attrs, array.fill_value, chunk
        )

    def groups(self) -> list[GroupSpec]:
        """Every group, parents first."""
        return self._groups

    def arrays(self) -> list[ArraySpec]:
        """Every array, in the source's order."""
        return self._specs

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region, as they are stored."""
        return np.asarray(self._arrays[path][region if region else ...])


class ZarrSource(GroupSource):
    """The same at a path: a directory or a zip."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            root = tessarray.open(str(path), mode="r")
        except tessarray.TessarrayError as error:
            raise FormatError(f"{path}: not readable as Zarr: {error}") from error
        super().__init__(str(path), root)

    def identity(self) -> dict[str, Any]:
        """What must not change between a run and its resumption."""
        if self.path.is_file():
            return identity_of(self.path)
        documents = [
            found for name in ("zarr.json", ".zgroup", ".zarray") if (found := self.path / name).exists()
        ]
        return {
            "source": str(self.path.resolve()),
            "mtime_ns": [found.stat().st_mtime_ns for found in documents],
        }

    def state(self) -> Any:
        """What is another one whenever values may have changed; `None` if nothing tells."""
        # Of a folder, nothing says whether one of its chunks has changed.
        return state_of(self.path) if self.path.is_file() else None
