"""TensorStore's zarr3 driver."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tessarray_bench.model import Layout, Workload
from tessarray_bench.systems import zarr_layout
from tessarray_bench.systems.base import ArraySpec, Selection, System

SITE = "https://google.github.io/tensorstore"
WRITE = "python/api/tensorstore.TensorStore.write.html"

# Room for the indexes of shards, which the documentation says to cache; too little to keep the data in memory.
INDEX_CACHE = 4 << 20

# A group, as others write it: it has no groups of its own, but the folders of a hierarchy are to be what others have.
GROUP = b'{"zarr_format": 3, "node_type": "group", "attributes": {}}'

# Datasets whose operations are under way at the same time.
AT_ONCE = 256


class _Growing:
    """What `create` returns: an array whose bounds change as it grows."""

    def __init__(self, store: Any) -> None:
        self.store = store


class TensorStore(System):
    """Zarr arrays by TensorStore."""

    name = "tensorstore"
    title = "TensorStore"
    modules = ("tensorstore",)
    install = "pip install tensorstore"
    sources: ClassVar[Mapping[str, str]] = {
        "cache_pool": f"{SITE}/kvstore/zarr3_sharding_indexed/index.html",
        "file_io_sync, file_io_concurrency": f"{SITE}/kvstore/file/index.html",
        "data_copy_concurrency, recheck_cached_data": f"{SITE}/driver/index.html",
        "can_reference_source_data_indefinitely, many futures": f"{SITE}/{WRITE}",
    }
    store = "store.zarr"
    format = "zarr3"
    readers = ("zarr-python", "tessarray")
    codecs = ("none", "blosc", "zstd", "gzip")
    double_partitioning = True

    @classmethod
    def supports(cls, workload: Workload) -> str | None:
        if (
            workload.layout
            and workload.layout.codec.name != "blosc"
            and workload.layout.codec.shuffle != "none"
        ):
            return "a shuffle outside blosc"
        return zarr_layout.refusal(cls, workload, strings=False)

    def start(self, workers: int | None) -> None:
        import tensorstore

        self.ts: Any = tensorstore
        # No fsync: nobody else waits for the disk when a write returns. The harness times an fsync of all apart.
        settings: dict[str, Any] = {"file_io_sync": False}
        if workers is not None:
            settings["data_copy_concurrency"] = settings["file_io_concurrency"] = {"limit": workers}
        self.context: Any = tensorstore.Context(settings)
        self.reading: Any = tensorstore.Context(
            {**settings, "cache_pool": {"total_bytes_limit": INDEX_CACHE}}
        )

    # Futures, so that many can be under way.

    def _create(self, path: Path, shape: Sequence[int], dtype: str, layout: Layout | None) -> Any:
        spec: dict[str, Any] = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}}
        asked: dict[str, Any] = {"dtype": np.dtype(dtype), "shape": shape}
        if layout is not None:
            spec["metadata"], asked = zarr_layout.metadata(shape, dtype, layout), {}
        return self.ts.open(spec, create=True, context=self.context, **asked)

    def _open(self, path: Path) -> Any:
        spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path}/"}}
        return self.ts.open(spec, open=True, read=True, context=self.reading)

    def _groups(self, path: Path) -> Any:
        return self.ts.KvStore.open({"driver": "file", "path": f"{path}/"}, context=self.context).result()

    # ---- one array

    def create(self, path: Path, array: ArraySpec) -> Any:
        shape = (0, *array.shape[1:]) if array.growing else array.shape
        return _Growing(self._create(path, shape, array.dtype, array.layout).result())

    def write(self, handle: Any, values: Any) -> None:
        # Referencing saves a copy; TensorStore 0.1.86 then stores nothing of many sharded arrays of four axes, and does
        # not say so (found by the verification here: metadata alone on disk, zeros read back).
        referenced = values.ndim < 4
        handle.store.write(values, can_reference_source_data_indefinitely=referenced).result()

    def append(self, handle: Any, values: Any) -> None:
        rows = handle.store.shape[0]
        bounds = [rows + len(values), *[None] * (values.ndim - 1)]
        handle.store = handle.store.resize(exclusive_max=bounds, expand_only=True).result()
        referenced = values.ndim < 4  # as in `write`
        handle.store[rows:].write(values, can_reference_source_data_indefinitely=referenced).result()

    def open(self, path: Path) -> Any:
        return self._open(path).result()

    def open_url(self, url: str) -> Any:
        # What is served does not change while it is open, so what is cached is not asked for again.
        spec = {"driver": "zarr3", "kvstore": url.rstrip("/") + "/", "recheck_cached_data": "open"}
        return self.ts.open(spec, open=True, read=True, context=self.reading).result()

    def read(self, handle: Any, selection: Selection) -> Any:
        return handle[selection].read().result()

    def read_points(self, handle: Any, coordinates: tuple[Any, ...]) -> Any:
        return handle.vindex[coordinates].read().result()

    def facts(self, path: Path) -> dict[str, Any]:
        return zarr_layout.facts(path)

    # ---- fleets: a folder a dataset, an array a variable

    def write_fleet(
        self, path: Path, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> None:
        folder = self._groups(path)
        folder.write("zarr.json", GROUP).result()
        while part := list(islice(datasets, AT_ONCE)):
            groups = [folder.write(f"{name}/zarr.json", GROUP) for name, _ in part]
            arrays = [
                (path / name / variable, values) for name, data in part for variable, values in data.items()
            ]
            made = [self._create(at, v.shape, v.dtype.str, workload.layout) for at, v in arrays]
            written = [array.result().write(v) for array, (_, v) in zip(made, arrays, strict=True)]
            for future in (*groups, *written):
                future.result()

    def open_fleet(self, path: Path, workload: Workload) -> Any:
        return path

    def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
        found: list[Any] = []
        for start in range(0, len(names), AT_ONCE):
            part = names[start : start + AT_ONCE]
            arrays = [future.result() for future in [self._open(handle / name / variable) for name in part]]
            reads = [array[zarr_layout.head(array.shape, share)].read() for array in arrays]
            found.extend(future.result() for future in reads)
        return found

    def read_dataset(self, handle: Any, name: str) -> dict[str, Any]:
        opened = {place.name: self._open(place) for place in (handle / name).iterdir() if place.is_dir()}
        reads = {variable: future.result().read() for variable, future in opened.items()}
        return {variable: future.result() for variable, future in reads.items()}

    # ---- small arrays: a folder of arrays

    def create_small(self, path: Path, workload: Workload) -> Any:
        self._groups(path).write("zarr.json", GROUP).result()
        return path

    def add_small(self, handle: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        return self._create(handle / name, shape, dtype, None).result()

    def write_small(self, array: Any, values: Any) -> None:
        array.write(values).result()

    def open_small(self, path: Path, workload: Workload) -> Any:
        return path

    def get_small(self, handle: Any, name: str) -> Any:
        return self._open(handle / name).result()

    def read_small(self, array: Any) -> Any:
        return array.read().result()
