"""xarray with dask, on Zarr groups and on netCDF files: a dataset each, opened together with `open_mfdataset`.

Opening the collection lists it; the datasets are opened by the first bulk read, and stay open. What reads one dataset
opens that one alone, without dask, as the documentation has it for what is small.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tessarray_bench.model import Codec, Layout, Workload
from tessarray_bench.systems import hdf5_files, netcdf4, zarr_layout
from tessarray_bench.systems.base import ArraySpec, Selection, System, Unsupported

OPEN_DATASET = "https://docs.xarray.dev/en/stable/generated/xarray.open_dataset.html"
COMBINED = "https://docs.xarray.dev/en/stable/generated/xarray.open_mfdataset.html"
VALUES = "data"


class Fleet:
    """A folder of datasets, opened together when the first bulk read asks for it."""

    def __init__(self, path: Path, ragged: bool) -> None:
        self.path = path
        self.names = sorted(entry.name.removesuffix(".nc") for entry in os.scandir(path))
        self.ragged = ragged
        self.combined: Any = None
        self.each: dict[str, Any] = {}


class _XarrayDask(System):
    modules: ClassVar[tuple[str, ...]] = ("xarray", "dask")
    sources: ClassVar[Mapping[str, str]] = {
        "threaded scheduler": "https://docs.dask.org/en/stable/scheduling.html?highlight=__name__",
        "nested combination, nothing compared (compat, join, coords)": COMBINED,
        "chunks as stored": "https://docs.xarray.dev/en/v2025.09.1/user-guide/dask.html",
        "no dask for a small dataset (chunks=None)": OPEN_DATASET,
        "no decoding (decode_cf=False): bare arrays are asked for": OPEN_DATASET,
    }
    engine: ClassVar[str] = ""
    suffix: ClassVar[str] = ""
    opening: ClassVar[Mapping[str, Any]] = {"decode_cf": False}
    xarray: Any
    dask: Any

    def start(self, workers: int | None) -> None:
        import dask
        import dask.array
        import xarray

        dask.config.set(scheduler="threads")
        if workers is not None:
            dask.config.set(num_workers=workers)
        self.xarray, self.dask = xarray, dask

    def _save(self, dataset: Any, path: Path, encoding: dict[str, dict[str, Any]]) -> None:
        raise NotImplementedError

    def _encoding(
        self, layout: Layout | None, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> dict[str, Any]:
        raise NotImplementedError

    def _open_one(self, path: str, chunks: Any) -> Any:
        return self.xarray.open_dataset(path, engine=self.engine, chunks=chunks, cache=False, **self.opening)

    # ---- fleets

    def write_fleet(
        self, path: Path, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> None:
        path.mkdir()
        for name, arrays in datasets:
            made = {v: ([f"{v}_{axis}" for axis in range(a.ndim)], a) for v, a in arrays.items()}
            encoding = {v: self._encoding(workload.layout, a.shape, a.dtype) for v, a in arrays.items()}
            self._save(self.xarray.Dataset(made), path / (name + self.suffix), encoding)

    def open_fleet(self, path: Path, workload: Workload) -> Any:
        assert workload.fleet is not None
        return Fleet(path, workload.fleet.ragged)

    def _paths(self, fleet: Fleet) -> list[str]:
        return [os.fspath(fleet.path / (name + self.suffix)) for name in fleet.names]

    def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
        if handle.ragged:
            return self._read_ragged(handle, variable, names, share)
        if handle.combined is None:
            handle.combined = self.xarray.open_mfdataset(
                self._paths(handle),
                engine=self.engine,
                combine="nested",
                concat_dim="dataset",
                data_vars="all",
                coords="minimal",
                compat="override",
                join="override",
                combine_attrs="override",
                **self.opening,
            )
        array = handle.combined[variable].data
        if list(names) != handle.names:
            places = {name: i for i, name in enumerate(handle.names)}
            array = array[[places[name] for name in names]]
        corner = tuple(slice(0, _part(length, share)) for length in array.shape[1:])
        return list(array[(slice(None), *corner)].compute())

    def _read_ragged(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
        """xarray does not combine datasets of different shapes: they are opened and read one by one."""
        if not handle.each:
            paths = self._paths(handle)
            handle.each = {n: self._open_one(p, None) for n, p in zip(handle.names, paths, strict=True)}
        found = []
        for name in names:
            array = handle.each[name][variable]
            corner = tuple(slice(0, _part(length, share)) for length in array.shape)
            found.append(array[corner].values)
        return found

    def read_dataset(self, handle: Any, name: str) -> dict[str, Any]:
        with self._open_one(os.fspath(handle.path / (name + self.suffix)), None) as dataset:
            return {variable: array.values for variable, array in dataset.data_vars.items()}

    # ---- one array

    def create(self, path: Path, array: ArraySpec) -> Any:
        if array.growing or array.dtype == "string":
            raise Unsupported("appends" if array.growing else "strings")
        return path, array

    def write(self, handle: Any, values: Any) -> None:
        path, array = handle
        chunks = array.layout.outer if array.layout else "auto"
        data = self.dask.array.from_array(values, chunks=chunks, name=False)
        made = self.xarray.Dataset({VALUES: ([f"axis_{axis}" for axis in range(values.ndim)], data)})
        self._save(made, path, {VALUES: self._encoding(array.layout, values.shape, values.dtype)})

    def open(self, path: Path) -> Any:
        return self._open_one(os.fspath(path), {})

    def read(self, handle: Any, selection: Selection) -> Any:
        return handle[VALUES].data[selection].compute()

    def read_points(self, handle: Any, coordinates: tuple[Any, ...]) -> Any:
        return handle[VALUES].data.vindex[coordinates].compute()

    def close(self, handle: Any) -> None:
        if isinstance(handle, Fleet):
            for dataset in (*handle.each.values(), handle.combined):
                if dataset is not None:
                    dataset.close()
        else:
            handle.close()


class XarrayDaskZarr(_XarrayDask):
    """A fleet as Zarr stores, read with xarray and dask."""

    name = "xarray-dask-zarr"
    title = "xarray + dask, Zarr"
    modules = ("xarray", "dask", "zarr")
    install = "pip install xarray dask zarr"
    store = "store.zarr"
    format = "zarr3"
    codecs = ("none", "blosc", "zstd", "gzip", "lz4")
    double_partitioning = True
    engine = "zarr"
    opening: ClassVar[Mapping[str, Any]] = {"decode_cf": False, "consolidated": True}
    sources: ClassVar[Mapping[str, str]] = {
        **_XarrayDask.sources,
        "empty chunks written": "https://zarr.readthedocs.io/en/stable/user-guide/performance/",
        "consolidated metadata": "https://docs.xarray.dev/en/stable/generated/xarray.open_zarr.html",
    }

    def start(self, workers: int | None) -> None:
        import warnings

        import zarr

        super().start(workers)
        # zarr-python says that Zarr v3 does not specify consolidated metadata.
        warnings.filterwarnings("ignore", message="Consolidated metadata", category=UserWarning)
        zarr.config.set({"array.write_empty_chunks": True})
        if workers is not None:
            zarr.config.set({"threading.max_workers": workers})

    def _save(self, dataset: Any, path: Path, encoding: dict[str, dict[str, Any]]) -> None:
        dataset.to_zarr(os.fspath(path), mode="w-", zarr_format=3, consolidated=True, encoding=encoding)

    def _encoding(
        self, layout: Layout | None, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> dict[str, Any]:
        if layout is None:
            return {}
        chosen: dict[str, Any] = {
            "chunks": layout.chunks,
            "compressors": zarr_layout.compressors(layout.codec, dtype.str),
        }
        return chosen | ({"shards": layout.shards} if layout.shards else {})

    def open_url(self, url: str) -> Any:
        return self.xarray.open_dataset(url, engine="zarr", chunks={}, cache=False, **self.opening)

    def facts(self, path: Path) -> dict[str, Any]:
        """Of the first variable, of the first dataset of a fleet."""
        found = path.glob(f"{VALUES}/zarr.json") if (path / VALUES).exists() else path.glob("*/*/zarr.json")
        return zarr_layout.facts(min(found).parent)


class XarrayDaskNetCDF(_XarrayDask):
    """Files are opened one after the other: from several threads the netCDF library crashes at times."""

    name = "xarray-dask-netcdf"
    title = "xarray + dask, netCDF"
    modules = ("xarray", "dask", "netCDF4")
    install = "pip install xarray dask netCDF4"
    store = "store.nc"
    format = "netCDF-4"
    readers = ("netcdf4",)
    codecs = ("none", "blosc", "zstd", "gzip")
    engine = "netcdf4"
    suffix = ".nc"
    sources: ClassVar[Mapping[str, str]] = {
        **_XarrayDask.sources,
        "opened one by one (parallel=False)": "https://github.com/pydata/xarray/issues/7079",
        "files kept open (file_cache_maxsize)": "https://docs.xarray.dev/en/v2023.10.0/generated/xarray.set_options.html",
    }

    @classmethod
    def variables(cls, workers: int | None) -> dict[str, str]:
        return netcdf4.NetCDF4.variables(workers)

    def start(self, workers: int | None) -> None:
        super().start(workers)
        try:
            import resource

            limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        except ImportError:  # Windows
            limit = 512
        self.xarray.set_options(file_cache_maxsize=max(min(limit, 1 << 16) - 256, 128))

    def _save(self, dataset: Any, path: Path, encoding: dict[str, dict[str, Any]]) -> None:
        dataset.to_netcdf(path, engine="netcdf4", format="NETCDF4", encoding=encoding)

    def _encoding(
        self, layout: Layout | None, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> dict[str, Any]:
        chosen: dict[str, Any] = {"_FillValue": None}
        if layout is None:
            return chosen
        chunks = tuple(min(chunk, length) for chunk, length in zip(layout.outer, shape, strict=True))
        return chosen | {"chunksizes": chunks} | _filters(layout.codec)

    def facts(self, path: Path) -> dict[str, Any]:
        """Of the first variable, of the first dataset of a fleet."""
        with self.xarray.open_dataset(
            min(path.glob("*")) if path.is_dir() else path, decode_cf=False
        ) as file:
            found = next(iter(file.data_vars.values())).encoding
        codec = Codec("none", "", 0, "none")
        shuffle = "byte" if found["shuffle"] else "none"
        if blosc := found["blosc"]:
            inner = next(
                ours for ours, theirs in netcdf4.COMPRESSORS.items() if theirs == blosc["compressor"]
            )
            codec = Codec("blosc", inner, found["complevel"], hdf5_files.SHUFFLES[blosc["shuffle"]])
        elif found["zstd"] or found["zlib"]:
            codec = Codec("zstd" if found["zstd"] else "gzip", "", found["complevel"], shuffle)
        return {
            "chunks": list(found["chunksizes"] or found["original_shape"]),
            "shards": None,
            "codec": str(codec),
            "checksum": "fletcher32" if found["fletcher32"] else None,
            "dtype": found["dtype"].str.lstrip("<>=|"),
            "storage": "contiguous" if found["contiguous"] else "chunked",
        }


def _part(length: int, share: float) -> int:
    return math.ceil(share * length)


def _filters(codec: Codec) -> dict[str, Any]:
    if codec.name == "none":
        return {}
    if codec.name == "blosc":
        inner, shuffle = netcdf4.COMPRESSORS.get(codec.compressor), hdf5_files.SHUFFLES.index(codec.shuffle)
        if inner is not None:
            return {
                "compression": inner,
                "complevel": codec.level,
                "blosc_shuffle": shuffle,
                "shuffle": False,
            }
    name = {"zstd": "zstd", "gzip": "zlib"}.get(codec.name)
    if name is None or codec.shuffle == "bit":
        raise Unsupported(f"the codec {codec} in netCDF files")
    return {"compression": name, "complevel": codec.level, "shuffle": codec.shuffle == "byte"}
