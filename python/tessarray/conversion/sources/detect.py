"""Which source reads a path: by what the file begins with, then by its name, and last by asking xarray."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tessarray.arrays import Array
from tessarray.conversion.errors import FormatError, SourceNotFoundError
from tessarray.conversion.model import Source
from tessarray.groups import Group

HDF5_SUFFIXES = {".h5", ".hdf5", ".hdf", ".he5", ".h5ad", ".loom", ".nwb", ".ims"}
ZARR_DOCUMENTS = ("zarr.json", ".zarray", ".zgroup", ".zmetadata")


def open_source(src: Any) -> Source:
    """Open what a user gave: a path, an `xarray.Dataset`, an open array or group, or a mapping of names to arrays.

    Raises `SourceNotFoundError` if nothing is at the path, and `FormatError` if no reader knows it or it is damaged.
    """
    if isinstance(src, str | Path):
        return _open_path(Path(src).expanduser(), str(src))
    if type(src).__module__.partition(".")[0] == "xarray":
        from tessarray.conversion.sources.xarray import DatasetSource

        return DatasetSource.of(src)
    if isinstance(src, Array | Group):
        from tessarray.conversion.sources.zarr import GroupSource

        return GroupSource(f"{src.store.describe()}/{src.path}", src)
    if isinstance(src, Mapping):
        from tessarray.conversion.sources.memory import MappingSource

        return MappingSource(src)
    raise FormatError(
        f"source: expected a path, an xarray.Dataset or a mapping of arrays, found {type(src).__name__}"
    )


def _open_path(path: Path, given: str) -> Source:
    if "://" in given:
        return _open_xarray(given)
    if not path.exists():
        raise SourceNotFoundError(f"{given}: no such file or directory")
    if path.is_dir():
        if any((path / name).exists() for name in ZARR_DOCUMENTS):
            return _open_zarr(path)
        raise FormatError(f"{given}: a directory without Zarr metadata (none of {', '.join(ZARR_DOCUMENTS)})")
    if path.stat().st_size == 0:
        raise FormatError(f"{given}: the file is empty")
    with path.open("rb") as file:
        head = file.read(8)
    return _open_file(path, head)


def _open_file(path: Path, head: bytes) -> Source:
    suffix = path.suffix.lower()
    if head[:3] == b"CDF" and head[3:4] in (b"\x01", b"\x02", b"\x05"):
        from tessarray.conversion.sources.classic import ClassicSource

        return ClassicSource(path)
    if head == b"\x89HDF\r\n\x1a\n":
        return _open_hdf5(path) if suffix in HDF5_SUFFIXES else _open_netcdf(path)
    if head[:4] in (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+"):
        from tessarray.conversion.sources.tiff import TiffSource

        return TiffSource(path)
    if head[:6] == b"\x93NUMPY":
        from tessarray.conversion.sources.numpy import NpySource

        return NpySource(path)
    if head[:4] == b"PK\x03\x04":
        if suffix == ".npz":
            from tessarray.conversion.sources.numpy import NpzSource

            return NpzSource(path)
        return _open_zarr(path)
    return _open_xarray(str(path))


def _open_netcdf(path: Path) -> Source:
    from tessarray.conversion.sources.netcdf import NetCDFSource

    return NetCDFSource(path)


def _open_hdf5(path: Path) -> Source:
    from tessarray.conversion.sources.hdf5 import HDF5Source

    return HDF5Source(path)


def _open_zarr(path: Path) -> Source:
    from tessarray.conversion.sources.zarr import ZarrSource

    return ZarrSource(path)


def _open_xarray(given: str) -> Source:
    from tessarray.conversion.sources.xarray import DatasetSource

    return DatasetSource.open(given)
