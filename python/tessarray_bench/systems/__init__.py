"""The systems under test, by name. To add one: a file here (see `base`) and a line below."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from pathlib import Path

from tessarray_bench.systems.base import ArraySpec, System, Unsupported, features, refusal

__all__ = ["ADAPTERS", "ArraySpec", "System", "Unsupported", "adapter", "features", "from_file", "refusal"]

# Name -> (module of this package, class).
ADAPTERS: dict[str, tuple[str, str]] = {
    "tessarray": ("tessarray", "Tessarray"),
    "tessarray-appender": ("tessarray", "TessarrayAppender"),
    "tessarray-pack": ("tessarray_pack", "TessarrayPack"),
    "tessarray-collection": ("tessarray_collection", "TessarrayCollection"),
    "zarr-python": ("zarr_python", "ZarrPython"),
    "zarr-python-fused": ("zarr_python", "ZarrPythonFused"),
    "zarrs": ("zarr_python", "Zarrs"),
    "tensorstore": ("tensorstore", "TensorStore"),
    "blosc2": ("blosc2", "Blosc2"),
    "h5py": ("h5py", "H5py"),
    "h5py-tuned": ("h5py", "H5pyTuned"),
    "netcdf4": ("netcdf4", "NetCDF4"),
    "tiledb": ("tiledb", "TileDB"),
    "icechunk": ("icechunk", "Icechunk"),
    "acquire-zarr": ("acquire_zarr", "AcquireZarr"),
    "ome-zarr": ("ome_zarr", "OmeZarr"),
    "atlas": ("atlas", "Atlas"),
    "xarray-dask-zarr": ("xarray_dask", "XarrayDaskZarr"),
    "xarray-dask-netcdf": ("xarray_dask", "XarrayDaskNetCDF"),
    "stacked": ("stacked", "Stacked"),
}


def adapter(name: str) -> type[System]:
    """The adapter class of a system; importing it does not import the system."""
    module, cls = ADAPTERS[name]
    found: type[System] = getattr(importlib.import_module(f"tessarray_bench.systems.{module}"), cls)
    return found


def from_file(path: str | Path) -> dict[str, type[System]]:
    """The adapters that a file of the user's defines, by their names."""
    path = Path(path).resolve()
    spec = importlib.util.spec_from_file_location(f"tessarray_bench_adapter_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(f"{path}: not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses and pickle look a class's module up there
    spec.loader.exec_module(module)
    found = [item for item in vars(module).values() if isinstance(item, type) and issubclass(item, System)]
    return {cls.name: cls for cls in found if cls.name and cls.__module__ == module.__name__}
