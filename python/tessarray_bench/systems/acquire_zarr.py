"""acquire-zarr: a stream of frames into one array, single resolution. It writes only."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tessarray_bench.model import Workload
from tessarray_bench.systems import zarr_layout
from tessarray_bench.systems.base import ArraySpec, System, Unsupported

SHUFFLES = {"none": 0, "byte": 1, "bit": 2}


class AcquireZarr(System):
    """acquire-zarr: a writer of streams of frames as Zarr."""

    name = "acquire-zarr"
    title = "acquire-zarr"
    modules = ("acquire_zarr",)
    distributions = ("acquire-zarr",)
    install = "pip install acquire-zarr"
    sources: ClassVar[Mapping[str, str]] = {
        "max_threads, one resolution, a stream": "https://pypi.org/project/acquire-zarr/"
    }
    store = "store.zarr"
    format = "zarr3"
    readers = ("zarr-python", "tensorstore", "tessarray")
    codecs = ("none", "blosc:lz4", "blosc:zstd")
    double_partitioning = True

    @classmethod
    def supports(cls, workload: Workload) -> str | None:
        if workload.data is not None and workload.layout is None:
            return "a layout of its own choice: chunks must be given"
        if workload.data is not None and len(workload.data.shape) < 3:
            return "arrays of fewer than three axes: it streams frames of two space axes"
        return zarr_layout.refusal(cls, workload, strings=False)

    def start(self, workers: int | None) -> None:
        import acquire_zarr

        self.aqz: Any = acquire_zarr
        self.workers = workers or 0  # 0 leaves it to the library

    def create(self, path: Path, array: ArraySpec) -> Any:
        if array.layout is None:
            raise Unsupported("a layout of its own choice: chunks must be given")
        kinds = self.aqz.DimensionType
        dimensions = [
            self.aqz.Dimension(
                name=f"d{axis}",
                kind=kinds.SPACE if axis else kinds.TIME,
                array_size_px=extent if axis else 0,  # the first axis grows, always
                chunk_size_px=chunk,
                shard_size_chunks=outer // chunk,
            )
            for axis, (extent, chunk, outer) in enumerate(
                zip(array.shape, array.layout.chunks, array.layout.outer, strict=True)
            )
        ]
        settings = self.aqz.ArraySettings(dimensions=dimensions, data_type=np.dtype(array.dtype))
        codec = array.layout.codec
        if codec.name == "blosc":
            settings.compression = self.aqz.CompressionSettings(
                compressor=self.aqz.Compressor.BLOSC1,
                codec=getattr(self.aqz.CompressionCodec, f"BLOSC_{codec.compressor.upper()}"),
                level=codec.level,
                shuffle=SHUFFLES[codec.shuffle],
            )
        stream = self.aqz.StreamSettings(store_path=str(path), max_threads=self.workers, overwrite=True)
        stream.arrays = [settings]
        return self.aqz.ZarrStream(stream)

    def write(self, handle: Any, values: Any) -> None:
        handle.append(values)

    def append(self, handle: Any, values: Any) -> None:
        handle.append(values)

    def finish(self, handle: Any) -> None:
        handle.close()

    def facts(self, path: Path) -> dict[str, Any]:
        return zarr_layout.facts(path) | {"readers see rows": "when their shards are full, or at the close"}
