"""HDF5 by h5py, with the filters of hdf5plugin. One level of chunks; one thread at a time inside the library."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tessarray_bench.model import Codec, Layout, Workload
from tessarray_bench.systems.base import ArraySpec, Selection, Unsupported
from tessarray_bench.systems.hdf5_files import SHUFFLES, HDF5Files

DEFLATE, SHUFFLE, FLETCHER32, BLOSC, ZSTD = 1, 2, 3, 32001, 32015  # registered identifiers of HDF5 filters
COMPRESSORS = ("blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd")  # by their numbers in the Blosc filter
CACHE = 64 << 20  # bytes of chunks that stay in memory: what the netCDF library keeps, too


@dataclass
class Opened:
    """A file and its one dataset."""

    file: Any
    data: Any
    view: Any  # what is sliced: strings come as NumPy's own


class H5py(HDF5Files):
    """Datasets of HDF5 files, read and written by h5py."""

    name = "h5py"
    title = "HDF5 (h5py)"
    modules = ("h5py", "hdf5plugin")
    install = "pip install h5py hdf5plugin"
    sources: ClassVar[dict[str, str]] = {
        "chunk cache": "https://docs.h5py.org/en/latest/high/file.html",
        "cache not below a chunk": "https://docs.hdfgroup.org/archive/support/HDF5/doc1.8/H5.user/Chunking.html",
        "libver": "https://docs.h5py.org/en/latest/high/file.html",
        "append, flush": "https://docs.h5py.org/en/latest/swmr.html",
        "filters": "https://hdf5plugin.readthedocs.io/en/latest/usage.html",
        "threads": "https://github.com/Blosc/hdf5-blosc/issues/20",
        "http": "https://docs.h5py.org/en/latest/high/file.html",
    }
    store = "store.h5"
    format = "HDF5"
    readers = ("netcdf4",)
    codecs = ("blosc", *(f"blosc:{inner}" for inner in COMPRESSORS), "zstd", "gzip", "none")

    def start(self, workers: int | None) -> None:
        import h5py
        import hdf5plugin

        self.h5py: Any = h5py
        self.hdf5plugin: Any = hdf5plugin

    # ---- one array

    def made(self, path: Path) -> Any:
        return self.h5py.File(path, "w", libver="latest")

    def opened(self, path: Path) -> Any:
        return self.h5py.File(path, "r")

    def stored(self, file: Any, name: str) -> Any:
        return file[name]

    def named(self, file: Any) -> dict[str, Any]:
        return {name: data for name, data in file.items() if not data.is_scale}

    def add(self, file: Any, name: str, shape: tuple[int, ...], dtype: str, layout: Layout | None) -> Any:
        return self.define(file, name, shape, dtype, layout)

    def create(self, path: Path, array: ArraySpec) -> Opened:
        file = self.made(path)
        data = self.define(file, "data", array.shape, array.dtype, array.layout, array.growing)
        if array.growing:
            file.swmr_mode = True  # readers may open it from now on, and see rows once they are flushed
        return Opened(file, data, data)

    def define(
        self,
        file: Any,
        name: str,
        shape: tuple[int, ...],
        dtype: str,
        layout: Layout | None,
        growing: bool = False,
    ) -> Any:
        """A new dataset with the chunks, filters and chunk cache that a layout asks for."""
        settings: dict[str, Any] = {}
        if growing:
            settings |= {"maxshape": (None, *shape[1:]), "chunks": True}
        if layout is not None:
            outer = layout.outer if growing else tuple(map(min, layout.outer, shape))
            settings["chunks"] = outer
            if dtype != "string":  # a chunk of strings holds references: no filter sees the heap of the text
                settings |= self.filters(layout.codec)
                settings |= cache(math.prod(outer) * np.dtype(dtype).itemsize, once=not growing)
        kind = np.dtypes.StringDType() if dtype == "string" else np.dtype(dtype)
        return file.create_dataset(name, shape=(0, *shape[1:]) if growing else shape, dtype=kind, **settings)

    def filters(self, codec: Codec) -> dict[str, Any]:
        """The arguments of `create_dataset` for a codec. Raises Unsupported."""
        if codec.name == "none":
            return {}
        if codec.name == "blosc" and codec.compressor in COMPRESSORS:
            number = SHUFFLES.index(codec.shuffle)
            return dict(self.hdf5plugin.Blosc(cname=codec.compressor, clevel=codec.level, shuffle=number))
        if codec.shuffle == "bit" or codec.name not in ("zstd", "gzip"):
            raise Unsupported(f"HDF5 has no filters that amount to {codec}")
        if codec.name == "zstd":
            return {**self.hdf5plugin.Zstd(clevel=codec.level), "shuffle": codec.shuffle == "byte"}
        return {"compression": "gzip", "compression_opts": codec.level, "shuffle": codec.shuffle == "byte"}

    def write(self, handle: Opened, values: Any) -> None:
        if values.dtype.kind == "T":
            handle.data[...] = values
        else:
            handle.data.write_direct(np.ascontiguousarray(values))

    def append(self, handle: Opened, values: Any) -> None:
        begin = handle.data.shape[0]
        handle.data.resize(begin + len(values), axis=0)
        handle.data[begin:] = values
        handle.data.flush()

    def finish(self, handle: Any) -> None:
        (handle.file if isinstance(handle, Opened) else handle).close()

    def open(self, path: Path) -> Opened:
        return self.array_of(self.opened(path))

    def open_url(self, url: str) -> Opened:
        import fsspec

        return self.array_of(self.h5py.File(fsspec.filesystem("http").open(url), "r"))

    def array_of(self, file: Any) -> Opened:
        """The one dataset of a file, with a chunk cache that suits its chunks."""
        data = file["data"]
        if self.h5py.check_string_dtype(data.dtype):
            return Opened(file, data, data.astype("T"))
        if data.chunks:
            settings = cache(math.prod(data.chunks) * data.dtype.itemsize)
            access = self.h5py.h5p.create(self.h5py.h5p.DATASET_ACCESS)
            access.set_chunk_cache(*(settings[name] for name in ("rdcc_nslots", "rdcc_nbytes", "rdcc_w0")))
            data = self.h5py.Dataset(self.h5py.h5d.open(file.id, b"data", access), readonly=True)
        return Opened(file, data, data)

    def read(self, handle: Opened, selection: Selection) -> Any:
        return handle.view[selection]

    def read_points(self, handle: Opened, coordinates: tuple[Any, ...]) -> Any:
        if handle.view is not handle.data:
            raise Unsupported("points of strings")
        places = np.stack(coordinates, axis=1).astype("u8")
        found = np.empty(len(places), handle.data.dtype)
        stored = handle.data.id.get_space()
        stored.select_elements(places)
        handle.data.id.read(self.h5py.h5s.create_simple(found.shape), stored, found)
        return found

    def facts(self, path: Path) -> dict[str, Any]:
        """Of a file of many datasets, and of a fleet, the first one's."""
        with self.h5py.File(min(path.iterdir()) if path.is_dir() else path, "r") as file:
            data = file[next(iter(file))]
            kept = data.id.get_create_plist()
            filters = {found[0]: found[2] for found in map(kept.get_filter, range(kept.get_nfilters()))}
            shuffle = "byte" if SHUFFLE in filters else "none"
            codec = Codec("none", "", 0, "none")
            if BLOSC in filters:
                level, shuffled, inner = filters[BLOSC][4:7]
                codec = Codec("blosc", COMPRESSORS[inner], level, SHUFFLES[shuffled])
            elif ZSTD in filters:
                codec = Codec("zstd", "", filters[ZSTD][0], shuffle)
            elif DEFLATE in filters:
                codec = Codec("gzip", "", filters[DEFLATE][0], shuffle)
            text = self.h5py.check_string_dtype(data.dtype)
            return {
                "chunks": list(data.chunks or data.shape),
                "shards": None,
                "codec": str(codec),
                "checksum": "fletcher32" if FLETCHER32 in filters else None,
                "dtype": "string" if text else data.dtype.str.lstrip("<>=|"),
                "storage": "chunked" if data.chunks else "contiguous",
            }

    # ---- small arrays: datasets of one file

    def add_small(self, handle: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        return handle.create_dataset(name, shape=shape, dtype=np.dtype(dtype))

    def get_small(self, handle: Any, name: str) -> Any:
        return handle[name]


def cache(chunk: int, once: bool = False) -> dict[str, Any]:
    """The chunk cache: no smaller than two chunks, with a prime number of slots near a hundred a chunk held."""
    held = max(CACHE, 2 * chunk)
    slots = min(100 * (held // max(1, chunk)), 1_000_000) | 1
    while any(slots % factor == 0 for factor in range(3, math.isqrt(slots) + 1, 2)):
        slots += 2
    return {"rdcc_nbytes": held, "rdcc_nslots": slots, "rdcc_w0": 1.0 if once else 0.75}


class H5pyTuned(H5py):
    """With the inner chunk as HDF5's chunk, where the workload has shards: what its users would choose for slices."""

    name = "h5py-tuned"
    title = "HDF5 (h5py), inner chunks"
    sources: ClassVar[dict[str, str]] = {
        **H5py.sources,
        "chunks of 10 KiB to 1 MiB": "https://docs.h5py.org/en/latest/high/dataset.html#chunked-storage",
    }

    @classmethod
    def supports(cls, workload: Workload) -> str | None:
        if workload.kind != "array" or workload.layout is None or workload.layout.shards is None:
            return "a layout without shards: it would be h5py's again"
        return super().supports(workload)

    def create(self, path: Path, array: ArraySpec) -> Opened:
        assert array.layout is not None
        inner = Layout(array.layout.chunks, None, array.layout.codec)
        return super().create(path, ArraySpec(array.shape, array.dtype, inner, array.growing))
