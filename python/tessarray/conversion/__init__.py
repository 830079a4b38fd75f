"""Other formats in and out: netCDF, HDF5, Zarr, npy, TIFF and whatever xarray opens, to Zarr or netCDF-4.

`convert` is the one verb; see its documentation. Sources, destinations and layouts are one file each below here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tessarray.conversion.errors import (
    ConversionError,
    DestinationExistsError,
    FormatError,
    LayoutError,
    NoSpaceError,
    OptionError,
    ResumeError,
    SourceNotFoundError,
    UnsupportedVariableError,
    VerificationError,
)
from tessarray.conversion.model import ConversionReport, Progress

if TYPE_CHECKING:
    from tessarray.conversion.run import convert

__all__ = [
    "ConversionError",
    "ConversionReport",
    "DestinationExistsError",
    "FormatError",
    "LayoutError",
    "NoSpaceError",
    "OptionError",
    "Progress",
    "ResumeError",
    "SourceNotFoundError",
    "UnsupportedVariableError",
    "VerificationError",
    "convert",
]


def __getattr__(name: str) -> Any:
    # Collections need attributes and errors of this package, and should open without the rest.
    if name == "convert":
        from tessarray.conversion.run import convert

        return convert
    raise AttributeError(f"module 'tessarray.conversion' has no attribute {name!r}")
