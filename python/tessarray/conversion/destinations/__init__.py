"""Destinations: a Zarr hierarchy (folder or zip) and netCDF-4."""

from tessarray.conversion.destinations.base import Destination, open_destination

__all__ = ["Destination", "open_destination"]
