"""Arrays that are in memory already, or that answer slices: a mapping of names (with `/` for groups) to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region
from tessarray.conversion.sources.base import BaseSource, contiguous_chunk


class MappingSource(BaseSource):
    """A mapping such as `{"wind/u": array}`; values have `shape`, `dtype` and slices, or become NumPy arrays."""

    kind = "mapping"

    def __init__(self, values: Mapping[str, Any]) -> None:
        super().__init__("<mapping>")
        self._values = {
            name.strip("/"): value
            if hasattr(value, "shape") and hasattr(value, "dtype")
            else np.asarray(value)
            for name, value in values.items()
        }

    def groups(self) -> list[GroupSpec]:
        """Every group, parents first."""
        names = {""}
        for path in self._values:
            parts = path.split("/")[:-1]
            names.update("/".join(parts[: depth + 1]) for depth in range(len(parts)))
        return [GroupSpec(name) for name in sorted(names)]

    def arrays(self) -> list[ArraySpec]:
        """Every array, in the source's order."""
        return [
            ArraySpec(
                path, tuple(value.shape), np.dtype(value.dtype), chunk=contiguous_chunk(tuple(value.shape))
            )
            for path, value in self._values.items()
        ]

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region, as they are stored."""
        return np.asarray(self._values[path][region])
