"""What a destination must do. Writes of different blocks may overlap unless `lock` forbids it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from tessarray.conversion.errors import OptionError
from tessarray.conversion.layout import Layout
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region

NETCDF_SUFFIXES = (".nc", ".nc4", ".cdf")
STORE_SUFFIXES = (".zarr", ".zip", "")
# What conversions write, by the ends of names.
WRITTEN = "a folder of Zarr (.zarr, or no suffix), .zip, .pack, .nc, .nc4 or .cdf"
# Suffixes of formats that hold arrays or tables: a name that ends like that promises a file of that format.
OTHER_FORMATS = set(
    ".avi .bmp .bin .bufr .csv .dat .dcm .feather .fits .geotiff .gif .grb .grb2 .grib .grib2 .h4 .h5 .h5ad .hdf .hdf4 "
    ".hdf5 .he5 .ims .jp2 .jpeg .jpg .json .las .laz .loom .mat .mp4 .mrc .n5 .nii .npy .npz .nwb .orc .parquet .pdf "
    ".pickle .pkl .png .pt .safetensors .sqlite .tar .tif .tiff .tsv .txt .xls .xlsx .xml .zst .gz .bz2 .xz .7z".split()
)


def require_format(path: Path, written: str, only: Sequence[str] | None = None) -> None:
    """Refuse a name that ends as a format that is not written; a suffix that means nothing promises nothing.

    only: the suffixes that are written; without it, all but those of other formats. Raises `OptionError`.
    """
    suffix = path.suffix.lower()
    refused = suffix in OTHER_FORMATS or (only is not None and suffix in NETCDF_SUFFIXES + STORE_SUFFIXES[:2])
    if refused and suffix not in (only or ()):
        raise OptionError(f"{path}: '{suffix}' is not written; what can be written is {written}")


@dataclass(frozen=True)
class Target:
    """One array to make: what the source says of it, and the layout chosen for it."""

    spec: ArraySpec
    layout: Layout

    @property
    def lossy(self) -> bool:
        """Whether values are changed on the way; only lossy layouts have filters."""
        return bool(self.layout.coding and self.layout.coding.get("filters"))


class Destination(Protocol):
    """A store in the making, inside the partial folder."""

    kind: str
    sharding: bool
    resumable: bool
    lock: AbstractContextManager[Any]

    def check(self, spec: ArraySpec) -> list[str]:
        """What of an array will not be kept. Raises `UnsupportedVariableError`, with the reason as its text."""

    def create(self, groups: Sequence[GroupSpec], targets: Sequence[Target]) -> None:
        """Make groups and empty arrays, before any write."""

    def reopen(self, groups: Sequence[GroupSpec], targets: Sequence[Target]) -> None:
        """Go on with what an interrupted run created, making anew what of it is lost; only called if `resumable`."""

    def write(self, path: str, region: Region, values: NDArray) -> None:
        """Store one block."""

    def read(self, path: str, region: Region) -> NDArray:
        """Read a region back, to verify it."""

    def stored_dtype(self, spec: ArraySpec) -> np.dtype[Any]:
        """The type that values are compared as: the source's, in native byte order, where nothing is lost."""

    def finish(self) -> Path:
        """Complete what was written and return the file or folder that goes to the final place."""

    def close(self) -> None:
        """Give files back; called in any case."""


def open_destination(final: Path, folder: Path, compressors: Any, zarr_format: Literal[2, 3]) -> Destination:
    """The destination for a name: `.nc`, `.nc4`, `.cdf` are netCDF-4, `.zip` a zipped Zarr, else a Zarr folder."""
    suffix = final.suffix.lower()
    if suffix in NETCDF_SUFFIXES:
        from tessarray.conversion.destinations.netcdf import NetCDFDestination

        return NetCDFDestination(folder, compressors)
    from tessarray.conversion.destinations.zarr import ZarrDestination

    return ZarrDestination(folder, compressors, zarr_format, zipped=suffix == ".zip")
