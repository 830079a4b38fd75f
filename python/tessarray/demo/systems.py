"""The libraries that are compared. Each opens its own file anew for every repeat, and reads raw values."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import tessarray
from tessarray.conversion.model import ArraySpec
from tessarray.conversion.placement import remove, tree_bytes

Index = tuple[Any, ...]
Reader = Callable[[Index], npt.NDArray[Any]]


@dataclass(frozen=True)
class System:
    """One library on one layout. `open` gives a function from an index to values, for as long as its context lasts."""

    name: str
    layout: str
    stored: int
    open: Callable[[], contextlib.AbstractContextManager[Reader]] = field(repr=False)


def tessarray_on(store: Path, name: str) -> System:
    """Tessarray on the store that the demonstration made; size is of this array alone."""
    address = store / name if name else store
    array = (
        tessarray.open_array(str(store), path=name, mode="r")
        if name
        else tessarray.open_array(str(store), mode="r")
    )
    layout = f"chunks {extents(array.chunks)}" + (
        f" in shards {extents(array.shards)}" if array.shards else ""
    )

    @contextlib.contextmanager
    def opened() -> Iterator[Reader]:
        one = tessarray.open_array(str(address), mode="r")
        yield lambda index: np.asarray(one[index])

    return System("Tessarray", layout, tree_bytes(address), opened)


def netcdf_on(path: Path, spec: ArraySpec) -> System | None:
    """netCDF4-python on the file itself, if it reads it."""
    try:
        import netCDF4
    except ImportError:
        return None

    @contextlib.contextmanager
    def opened() -> Iterator[Reader]:
        with netCDF4.Dataset(str(path), "r") as file:
            variable = file[spec.path]
            variable.set_auto_maskandscale(False)
            yield lambda index: np.asarray(variable[index])

    with netCDF4.Dataset(str(path), "r") as file:
        variable = file[spec.path]
        chunking, filters = variable.chunking(), variable.filters() or {}
        raw = spec.nbytes
    if isinstance(chunking, list | tuple):
        packing = next((name for name in ("zlib", "zstd", "szip") if filters.get(name)), "not compressed")
        layout = f"the file's chunks {extents(chunking)}, {packing.replace('zlib', 'deflate')}"
        return System("netCDF4", layout, _stored_in_hdf5(path, spec), opened)
    return System("netCDF4", "the file as it is, flat", min(raw, path.stat().st_size), opened)


def _stored_in_hdf5(path: Path, spec: ArraySpec) -> int:
    """Bytes that one variable takes in the file; of the file where nobody says, which is mostly it."""
    with contextlib.suppress(ImportError, OSError, KeyError):
        import h5py

        with h5py.File(path, "r") as file:
            return int(file[spec.path].id.get_storage_size())
    return path.stat().st_size


def zarr_python_on(
    folder: Path, spec: ArraySpec, values: Callable[[], Iterator[tuple[Index, npt.NDArray[Any]]]]
) -> System | None:
    """zarr-python on a store that it writes itself here, with the chunks and codec that it chooses."""
    try:
        import zarr
    except ImportError:
        return None
    remove(folder)
    array = zarr.create_array(str(folder), shape=spec.shape, dtype=spec.dtype.newbyteorder("="))
    for index, part in values():
        array[index] = part
    layout = f"its default chunks {extents(array.chunks)}, zstd"

    @contextlib.contextmanager
    def opened() -> Iterator[Reader]:
        one = zarr.open_array(str(folder), mode="r")
        yield lambda index: np.asarray(one[index])

    return System("zarr-python", layout, tree_bytes(folder), opened)


def extents(values: Any) -> str:
    """Extents for reading: 24 × 64 × 64."""
    return " × ".join(str(int(value)) for value in values)
