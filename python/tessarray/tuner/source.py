"""The array to be tuned. Its source is only ever read."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tessarray
from tessarray.conversion.errors import FormatError, SourceNotFoundError
from tessarray.conversion.model import ArraySpec, Source
from tessarray.tuner.errors import UntunableError
from tessarray.tuner.layout import Layout, layout_of
from tessarray.tuner.queries import Box

__all__ = ["NDArray", "Subject", "open_subject", "split_variable"]

NDArray = npt.NDArray[Any]
TUNABLE = "biufcmM"
IN_MEMORY = "array in memory"


@dataclass(frozen=True)
class Subject:
    """One array of a source: what it is, how to read it, and the layout it has now (None if that is no Zarr)."""

    label: str
    variable: str
    spec: ArraySpec
    source: Source
    current: Layout | None
    array: Any = None

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the variable, in elements."""
        return self.spec.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the values in memory."""
        return self.spec.dtype

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return self.spec.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """Bytes of all values."""
        return self.spec.nbytes

    def read(self, box: Box) -> NDArray:
        """The values of a box."""
        with self.source.lock:
            return self.source.read(self.spec.path, tuple(slice(a, b) for a, b in box))

    def close(self) -> None:
        """Give the file back."""
        self.source.close()


def split_variable(given: str) -> tuple[str, str | None]:
    """`fields.nc:t2m` as path and variable. What exists as it stands is never cut."""
    head, colon, name = given.rpartition(":")
    if Path(given).expanduser().exists() or not colon or name.startswith("//") or len(head) < 2:
        return given, None
    return head, name.strip("/") or None


def open_subject(src: Any, variable: str | None = None) -> Subject:
    """The array at `SRC[:variable]`, or of an open array, dataset, or mapping.

    Raises `SourceNotFoundError` and `FormatError` as `convert` does, `UntunableError` if there is nothing to tune.
    """
    array = None
    if isinstance(src, str | os.PathLike):
        path, named = split_variable(os.fspath(src))
        variable = variable or named
        source = _open_path(path)
        label = path
    else:
        source = _open_object(src)
        label = IN_MEMORY if source.label == "<mapping>" else source.label
        array = src if isinstance(src, tessarray.Array) else None
    try:
        spec = _chosen(source, label, variable)
        _refuse(spec, label)
    except Exception:
        source.close()
        raise
    array = array if array is not None else getattr(source, "_arrays", {}).get(spec.path)
    current = layout_of(array) if isinstance(array, tessarray.Array) else None
    return Subject(label, spec.path, spec, source, current, array)


def _open_path(path: str) -> Source:
    from tessarray.conversion.sources import open_source
    from tessarray.stores import pack_of

    if "://" not in path and (pack := pack_of(Path(path).expanduser())) is not None:
        from tessarray.conversion.sources.zarr import GroupSource

        store, inner = pack
        return GroupSource(path, tessarray.open(store, path=inner or None, mode="r"))
    return open_source(path)


def _open_object(src: Any) -> Source:
    from tessarray.conversion.sources import open_source

    kind = type(src)
    if kind.__module__.partition(".")[0] == "xarray" and kind.__name__ == "DataArray":
        src = src.to_dataset(name=src.name or "values")
    elif hasattr(src, "shape") and hasattr(src, "dtype") and not isinstance(src, tessarray.Array):
        src = {"array": src}
    return open_source(src)


def _chosen(source: Source, label: str, variable: str | None) -> ArraySpec:
    arrays = list(source.arrays())
    names = ", ".join(sorted(spec.path for spec in arrays)[:20]) or "none"
    if variable is not None:
        found = [spec for spec in arrays if spec.path == variable.strip("/")]
        if found:
            return found[0]
        raise SourceNotFoundError(f"{label}: no array is named '{variable}'; there are: {names}")
    if len(arrays) == 1:
        return arrays[0]
    if not arrays:
        raise FormatError(f"{label}: there is no array in it")
    deepest = max(len(spec.shape) for spec in arrays)
    fields = [spec for spec in arrays if len(spec.shape) == deepest]
    if len(fields) == 1 and deepest > 1:
        return fields[0]
    raise SourceNotFoundError(f"{label}: holds several arrays; name one as {label}:NAME (there are: {names})")


def _refuse(spec: ArraySpec, label: str) -> None:
    at = f"{label}:{spec.path}" if spec.path else label
    if spec.dtype.kind not in TUNABLE:
        raise UntunableError(
            f"{at}: expected numbers, found values of type {spec.dtype}; text has no layout to measure: "
            f"name a numeric variable"
        )
    if not spec.shape:
        raise UntunableError(f"{at}: is a single value; a layout needs at least one dimension")
    if math.prod(spec.shape) == 0:
        raise UntunableError(
            f"{at}: has no elements (shape {spec.shape}); tune it once it holds data, or tune an array like it"
        )
