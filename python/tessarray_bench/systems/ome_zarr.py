"""The ome-zarr writer, with the full resolution only: no pyramid, as nobody else makes one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tessarray_bench.model import Workload
from tessarray_bench.systems import zarr_layout
from tessarray_bench.systems.base import ArraySpec, System, Unsupported

AXES = {2: "yx", 3: "zyx", 4: "czyx", 5: "tczyx"}


class OmeZarr(System):
    """Images as ome-zarr-py writes and reads them."""

    name = "ome-zarr"
    title = "ome-zarr"
    modules = ("ome_zarr",)
    distributions = ("ome-zarr", "dask", "zarr")
    install = "pip install ome-zarr"
    sources: ClassVar[Mapping[str, str]] = {
        "scale_factors, storage_options": "https://ome-zarr.readthedocs.io/en/stable/api/writer.html",
        "write_empty_chunks": "https://zarr.readthedocs.io/en/stable/user-guide/performance/#empty-chunks",
    }
    # The array of the full resolution within the group of the image: any reader of Zarr opens it.
    store = "image.ome.zarr/s0"
    format = "zarr3"
    readers = ("tensorstore", "tessarray")
    codecs = ("none", "blosc", "zstd", "gzip", "lz4")
    double_partitioning = True

    @classmethod
    def supports(cls, workload: Workload) -> str | None:
        if workload.data is not None and len(workload.data.shape) not in AXES:
            return "images have 2 to 5 axes"
        return zarr_layout.refusal(cls, workload, strings=False)

    def start(self, workers: int | None) -> None:
        import dask
        import ome_zarr.writer
        import zarr

        self.writer: Any = ome_zarr.writer
        zarr.config.set({"array.write_empty_chunks": True})
        if workers is not None:
            # Dask's threads call zarr-python, which has threads of its own.
            dask.config.set(num_workers=workers)
            zarr.config.set({"threading.max_workers": workers})

    def create(self, path: Path, array: ArraySpec) -> Any:
        if array.growing:
            raise Unsupported("appends")
        return path.parent, array

    def write(self, handle: Any, values: Any) -> None:
        image, array = handle
        options: dict[str, Any] = {}
        if array.layout is not None:
            chain = zarr_layout.compressors(array.layout.codec, array.dtype)
            options = {"chunks": array.layout.chunks, "compressors": chain or None}
            if array.layout.shards:
                options["shards"] = array.layout.shards
        axes = AXES[len(array.shape)]
        self.writer.write_image(
            values, str(image), scale_factors=[], axes=axes, storage_options=options or None
        )

    def facts(self, path: Path) -> dict[str, Any]:
        return zarr_layout.facts(path)
