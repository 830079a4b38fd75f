"""Other formats in and out: netCDF, HDF5, Zarr, npy, TIFF and whatever xarray opens, to Zarr or netCDF-4.

`convert` is the one verb; see its documentation. Sources, destinations and layouts are one file each below here.
"""

from tessarray.conversion.errors import (
    ConversionError,
    DestinationExistsError,
    FormatError,
    OptionError,
    ResumeError,
    SourceNotFoundError,
    UnsupportedVariableError,
    VerificationError,
)
from tessarray.conversion.model import ConversionReport, Progress
from tessarray.conversion.run import convert

__all__ = [
    "ConversionError",
    "ConversionReport",
    "DestinationExistsError",
    "FormatError",
    "OptionError",
    "Progress",
    "ResumeError",
    "SourceNotFoundError",
    "UnsupportedVariableError",
    "VerificationError",
    "convert",
]
