"""netCDF-4 by netCDF4-python: HDF5 underneath, with the filters that its build brings. One level of chunks."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tessarray_bench.model import Codec, Layout, Workload
from tessarray_bench.systems.base import ArraySpec, Selection, Unsupported
from tessarray_bench.systems.hdf5_files import SHUFFLES, HDF5Files

COMPRESSORS = {
    "blosclz": "blosc_lz",
    "lz4": "blosc_lz4",
    "lz4hc": "blosc_lz4hc",
    "zlib": "blosc_zlib",
    "zstd": "blosc_zstd",
}
API = "https://unidata.github.io/netcdf4-python/"


@dataclass
class Opened:
    """A file and its one variable."""

    file: Any
    data: Any


class NetCDF4(HDF5Files):
    """Variables of netCDF-4 files, read and written by netCDF4-python."""

    name = "netcdf4"
    title = "netCDF4-python"
    modules = ("netCDF4",)
    install = "pip install netCDF4"
    sources: ClassVar[dict[str, str]] = {
        "no masking": API,
        "no prefilling": API,
        "compression": API,
        "chunk cache": API,
        "threads": "https://github.com/Blosc/hdf5-blosc/issues/20",
    }
    store = "store.nc"
    format = "netCDF-4"
    readers = ("h5py",)
    codecs = ("blosc", *(f"blosc:{inner}" for inner in COMPRESSORS), "zstd", "gzip", "none")

    def start(self, workers: int | None) -> None:
        import netCDF4

        self.netcdf: Any = netCDF4

    # ---- one array

    def made(self, path: Path) -> Any:
        file = self.netcdf.Dataset(path, "w", format="NETCDF4")
        file.set_fill_off()  # all of it is going to be written
        return file

    def opened(self, path: Path) -> Any:
        return self.netcdf.Dataset(path)

    def stored(self, file: Any, name: str) -> Any:
        data = file[name]
        data.set_auto_maskandscale(False)
        return data

    def named(self, file: Any) -> Any:
        return file.variables

    def add(self, file: Any, name: str, shape: tuple[int, ...], dtype: str, layout: Layout | None) -> Any:
        return self.define(file, name, shared(file, shape), shape, dtype, layout)

    def create(self, path: Path, array: ArraySpec) -> Opened:
        file = self.made(path)
        lengths = (None if array.growing else array.shape[0], *array.shape[1:])
        for axis, length in enumerate(lengths):
            file.createDimension(f"dim_{axis}", length)
        names = tuple(f"dim_{axis}" for axis in range(len(lengths)))
        return Opened(
            file, self.define(file, "data", names, array.shape, array.dtype, array.layout, array.growing)
        )

    def define(
        self,
        file: Any,
        name: str,
        dimensions: tuple[str, ...],
        shape: tuple[int, ...],
        dtype: str,
        layout: Layout | None,
        growing: bool = False,
    ) -> Any:
        """A new variable with the chunks and filters that a layout asks for."""
        text = dtype == "string"
        settings: dict[str, Any] = {} if text else {"fill_value": False}
        if layout is not None:
            outer = layout.outer if growing else tuple(map(min, layout.outer, shape))
            settings["chunksizes"] = outer
            if not text:  # netCDF takes no filters for variable-length types
                settings |= self.filters(file, layout.codec)
        data = file.createVariable(name, str if text else np.dtype(dtype), dimensions, **settings)
        return self.bare(data)

    def filters(self, file: Any, codec: Codec) -> dict[str, Any]:
        """The arguments of `createVariable` for a codec. Raises Unsupported."""
        if codec.name == "none":
            return {}
        if codec.name == "blosc" and codec.compressor in COMPRESSORS:
            if not file.has_blosc_filter():
                raise Unsupported("this build of netCDF has no Blosc filter")
            number = SHUFFLES.index(codec.shuffle)
            return {
                "compression": COMPRESSORS[codec.compressor],
                "complevel": codec.level,
                "blosc_shuffle": number,
                "shuffle": False,
            }
        if codec.name == "gzip" and codec.shuffle != "bit":
            return {"compression": "zlib", "complevel": codec.level, "shuffle": codec.shuffle == "byte"}
        if codec.name == "zstd" and codec.shuffle == "none":
            if not file.has_zstd_filter():
                raise Unsupported("this build of netCDF has no Zstandard filter")
            return {"compression": "zstd", "complevel": codec.level}
        raise Unsupported(f"netCDF has no filters that amount to {codec}")

    def bare(self, data: Any) -> Any:
        """Values as they are stored, neither masked nor scaled, and a cache that holds two chunks at least."""
        data.set_auto_maskandscale(False)
        chunks = data.chunking()
        if isinstance(chunks, list) and data.dtype is not str:
            size = 2 * math.prod(chunks) * data.dtype.itemsize
            if size > data.get_var_chunk_cache()[0]:
                data.set_var_chunk_cache(size=size)
        return data

    def write(self, handle: Opened, values: Any) -> None:
        with explained():
            handle.data[...] = plain(values)

    def append(self, handle: Opened, values: Any) -> None:
        begin = handle.data.shape[0]
        with explained():
            handle.data[begin : begin + len(values)] = plain(values)
            handle.file.sync()

    def finish(self, handle: Any) -> None:
        with explained():
            (handle.file if isinstance(handle, Opened) else handle).close()

    def open(self, path: Path) -> Opened:
        file = self.netcdf.Dataset(path)
        return Opened(file, self.bare(file["data"]))

    def open_url(self, url: str) -> Opened:
        file = self.netcdf.Dataset(f"{url}#mode=bytes")
        return Opened(file, self.bare(file["data"]))

    def read(self, handle: Opened, selection: Selection) -> Any:
        return handle.data[selection]

    def facts(self, path: Path) -> dict[str, Any]:
        """Of a file of many variables, and of a fleet, the first one's."""
        with self.netcdf.Dataset(min(path.iterdir()) if path.is_dir() else path) as file:
            data = next(iter(file.variables.values()))
            chunks, filters = data.chunking(), data.filters() or {}
            level, shuffle = filters.get("complevel", 0), "byte" if filters.get("shuffle") else "none"
            codec = Codec("none", "", 0, "none")
            if blosc := filters.get("blosc"):
                inner = next(name for name, theirs in COMPRESSORS.items() if theirs == blosc["compressor"])
                codec = Codec("blosc", inner, level, SHUFFLES[blosc["shuffle"]])
            elif filters.get("zstd") or filters.get("zlib"):
                codec = Codec("zstd" if filters.get("zstd") else "gzip", "", level, shuffle)
            return {
                "chunks": chunks if isinstance(chunks, list) else list(data.shape),
                "shards": None,
                "codec": str(codec),
                "checksum": "fletcher32" if filters.get("fletcher32") else None,
                "dtype": "string" if data.dtype is str else data.dtype.str.lstrip("<>=|"),
                "storage": "chunked" if isinstance(chunks, list) else str(chunks),
            }

    # ---- small arrays: variables of one file, on shared dimensions of fixed length

    def add_small(self, handle: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        data = handle.createVariable(name, np.dtype(dtype), shared(handle, shape), fill_value=False)
        data.set_auto_maskandscale(False)
        return data

    def open_small(self, path: Path, workload: Workload) -> Any:
        file = self.opened(path)
        file.set_auto_maskandscale(False)
        return file

    def get_small(self, handle: Any, name: str) -> Any:
        return handle.variables[name]


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """The library's errors are terse; one of them has a known cause."""
    try:
        yield
    except RuntimeError as error:
        known = (
            "netCDF-C fails so on chunks that Blosc cannot compress: github.com/Unidata/netcdf-c/pull/3441"
        )
        raise RuntimeError(f"{error} ({known})" if "HDF error" in str(error) else str(error)) from error


def shared(file: Any, shape: tuple[int, ...]) -> tuple[str, ...]:
    """Dimensions named by axis and length, made where the file has not got them."""
    names = tuple(f"dim_{axis}_{length}" for axis, length in enumerate(shape))
    for name, length in zip(names, shape, strict=True):
        if name not in file.dimensions:
            file.createDimension(name, length)
    return names


def plain(values: Any) -> Any:
    """Strings as the objects that netCDF4 takes; anything else as it is."""
    return values.astype(object) if values.dtype.kind == "T" else values
