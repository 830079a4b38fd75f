"""Which source reads a path: by what the file begins with, then by its name, and last by asking xarray."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tessarray.arrays import Array
from tessarray.conversion.errors import FormatError, SourceNotFoundError
from tessarray.conversion.model import Source
from tessarray.errors import InvalidArgumentError
from tessarray.groups import Group
from tessarray.stores import instead_of, local_path

HDF5_SUFFIXES = {".h5", ".hdf5", ".hdf", ".he5", ".h5ad", ".loom", ".nwb", ".ims"}
HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
ZARR_DOCUMENTS = ("zarr.json", ".zarray", ".zgroup", ".zmetadata")


def open_source(src: Any, follow_external: bool = False) -> Source:
    """Open what a user gave: a path, an `xarray.Dataset`, an open array or group, or a mapping of names to arrays.

    follow_external: read what an HDF5 file has in other files: by external links, external storage, virtual data sets.

    Raises `SourceNotFoundError` if nothing is at the path, and `FormatError` if no reader knows it or it is damaged.
    """
    if isinstance(src, str | Path):
        return _open_text(str(src), follow_external)
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


def _open_text(given: str, follow: bool) -> Source:
    try:
        path = Path(local_path(given))
    except InvalidArgumentError as refused:
        if "://" not in given:
            raise FormatError(str(refused)) from None
        # xarray opens some: OPeNDAP, and what fsspec's packages fetch.
        try:
            return _open_xarray(given)
        except FormatError as error:
            raise FormatError(f"{error}; {instead_of(given)}") from error
    return _open_path(path, given, follow)


def _open_path(path: Path, given: str, follow: bool) -> Source:
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
    return _open_file(path, head, follow)


def _open_file(path: Path, head: bytes, follow: bool) -> Source:
    suffix = path.suffix.lower()
    if head[:3] == b"CDF" and head[3:4] in (b"\x01", b"\x02", b"\x05"):
        from tessarray.conversion.sources.classic import ClassicSource

        return ClassicSource(path)
    if head == HDF5_SIGNATURE:
        return _open_hdf5(path, follow) if suffix in HDF5_SUFFIXES else _open_netcdf(path, follow)
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
    if _has_user_block(path):
        return _open_hdf5(path, follow)
    return _open_xarray(str(path))


def _has_user_block(path: Path) -> bool:
    """Whether HDF5 begins behind a block of the program's own, of 512 bytes times a power of two (MATLAB's 512)."""
    size, offset = path.stat().st_size, 512
    with path.open("rb") as file:
        while offset < size:
            file.seek(offset)
            if file.read(len(HDF5_SIGNATURE)) == HDF5_SIGNATURE:
                return True
            offset *= 2
    return False


def _open_netcdf(path: Path, follow: bool) -> Source:
    """netCDF-4 by its own library; by HDF5's where that one cannot, or would read other files."""
    from tessarray.conversion.sources.base import need
    from tessarray.conversion.sources.hdf5 import HDF5Source
    from tessarray.conversion.sources.hdf5_outside import Survey, survey
    from tessarray.conversion.sources.netcdf import NetCDFSource

    try:
        with NetCDFSource.lock:
            found = survey(need("h5py", str(path)), path)
    except (OSError, RuntimeError, ValueError, KeyError):
        found = Survey()  # what is damaged, the reader says better
    if found.outside:
        return HDF5Source(path, follow, netcdf=True)
    source = None
    try:
        source = NetCDFSource(path, odd=found.odd)
        if all(source.decodes(name) for name in found.filtered):
            return source
        reason = "it lacks a filter"
    except FormatError as error:
        reason = str(error)
        try:
            other = HDF5Source(path, follow, netcdf=True)
        except FormatError:
            raise error from None
    else:
        other = HDF5Source(path, follow, netcdf=True)
    if source is not None:
        source.close()
    other.warnings.append(f"{path.name}: read as HDF5, for the netCDF library cannot: {reason}")
    return other


def _open_hdf5(path: Path, follow: bool) -> Source:
    from tessarray.conversion.sources.hdf5 import HDF5Source

    return HDF5Source(path, follow)


def _open_zarr(path: Path) -> Source:
    from tessarray.conversion.sources.zarr import ZarrSource

    return ZarrSource(path)


def _open_xarray(given: str) -> Source:
    from tessarray.conversion.sources.xarray import DatasetSource

    return DatasetSource.open(given)
