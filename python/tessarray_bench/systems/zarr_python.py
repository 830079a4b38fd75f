"""zarr-python with its two codec pipelines of its own, and with that of zarrs."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tessarray_bench.model import Layout, Workload
from tessarray_bench.systems import zarr_layout
from tessarray_bench.systems.base import ArraySpec
from tessarray_bench.systems.zarr_layout import ZarrGroups

GUIDE = "https://zarr.readthedocs.io/en/stable/user-guide"
PIPELINES = "https://zarr.readthedocs.io/en/latest/user-guide/examples/codec_pipeline_performance/"

# What the guide shows for stores with latency.
REMOTE_CONCURRENCY = 128


class ZarrPython(ZarrGroups):
    """Zarr arrays by zarr-python as it comes."""

    name = "zarr-python"
    title = "zarr-python"
    modules: ClassVar[tuple[str, ...]] = ("zarr",)
    install = "pip install zarr"
    sources: ClassVar[Mapping[str, str]] = {
        "threading.max_workers": f"{GUIDE}/performance/#thread-pool-size-threadingmax_workers",
        "async.concurrency over HTTP": f"{GUIDE}/performance/#concurrent-io-operations",
        "many arrays at the same time": "https://zarr.readthedocs.io/en/stable/api/zarr/api/asynchronous/",
        "write_empty_chunks": f"{GUIDE}/performance/#empty-chunks",
    }
    store = "store.zarr"
    format = "zarr3"
    readers: ClassVar[tuple[str, ...]] = ("tensorstore", "tessarray")
    codecs: ClassVar[tuple[str, ...]] = ("none", "blosc", "zstd", "gzip", "lz4")
    double_partitioning = True
    pipeline: ClassVar[str | None] = None

    @classmethod
    def supports(cls, workload: Workload) -> str | None:
        return zarr_layout.refusal(cls, workload)

    def settings(self, workers: int | None) -> dict[str, Any]:
        """zarr-python's configuration for a number of workers."""
        # Chunks that hold nothing but zeros are stored, too: the guide's advice for data that are dense, as it saves
        # looking for them.
        found: dict[str, Any] = {"array.write_empty_chunks": True}
        if self.pipeline:
            found["codec_pipeline.path"] = self.pipeline
        if workers is not None:
            # Its threads do both codecs and file access. `async.concurrency` is no number of threads: left as it is.
            found["threading.max_workers"] = workers
        return found

    def start(self, workers: int | None) -> None:
        import zarr

        self.zarr: Any = zarr
        zarr.config.set(self.settings(workers))

    def arguments(self, dtype: str, layout: Layout | None) -> dict[str, Any]:
        if layout is None:
            return {}
        chain = zarr_layout.compressors(layout.codec, dtype)
        return {
            "chunks": layout.chunks,
            "shards": layout.shards,
            "filters": None,
            "compressors": chain or None,
        }

    def new_group(self, path: Path) -> Any:
        return self.zarr.create_group(path)

    def old_group(self, path: Path) -> Any:
        return self.zarr.open_group(path, mode="r")

    def create(self, path: Path, array: ArraySpec) -> Any:
        shape = (0, *array.shape[1:]) if array.growing else array.shape
        arguments = self.arguments(array.dtype, array.layout)
        return self.zarr.create_array(path, shape=shape, dtype=array.dtype, **arguments)

    def write(self, handle: Any, values: Any) -> None:
        handle[...] = values

    def append(self, handle: Any, values: Any) -> None:
        handle.append(values, axis=0)

    def open(self, path: Path) -> Any:
        return self.zarr.open_array(path, mode="r")

    def open_url(self, url: str) -> Any:
        self.zarr.config.set({"async.concurrency": REMOTE_CONCURRENCY})
        return self.zarr.open_array(self.zarr.storage.FsspecStore.from_url(url, read_only=True), mode="r")

    def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
        """Through its asynchronous interface, so that many arrays are opened and read at the same time."""
        from zarr.core.sync import sync

        async def one(group: Any, name: str) -> Any:
            array = await group.getitem(f"{name}/{variable}")
            return await array.getitem(zarr_layout.head(array.shape, share))

        async def all_of_them() -> Any:
            group = await self.zarr.api.asynchronous.open_group(handle.store, mode="r")
            return await asyncio.gather(*(one(group, name) for name in names))

        return list(sync(all_of_them()))

    def facts(self, path: Path) -> dict[str, Any]:
        return zarr_layout.facts(path)


class ZarrPythonFused(ZarrPython):
    """The same with its fused pipeline of codecs."""

    name = "zarr-python-fused"
    title = "zarr-python (fused pipeline)"
    install = "pip install 'zarr>=3.3'"
    sources: ClassVar[Mapping[str, str]] = {
        **ZarrPython.sources,
        "codec_pipeline.path": PIPELINES,
        "codec_pipeline.max_workers": PIPELINES,
    }
    pipeline = "zarr.core.codec_pipeline.FusedCodecPipeline"

    def settings(self, workers: int | None) -> dict[str, Any]:
        found = super().settings(workers)
        return found if workers is None else found | {"codec_pipeline.max_workers": workers}


class Zarrs(ZarrPython):
    """The same with the pipeline of zarrs."""

    name = "zarrs"
    title = "zarr-python + zarrs"
    modules: ClassVar[tuple[str, ...]] = ("zarr", "zarrs")
    install = "pip install zarrs"
    sources: ClassVar[Mapping[str, str]] = {
        **ZarrPython.sources,
        "codec_pipeline.path": "https://pypi.org/project/zarrs/",
        "threading.max_workers": "https://pypi.org/project/zarrs/",
    }
    codecs: ClassVar[tuple[str, ...]] = (
        "none",
        "blosc",
        "zstd",
        "gzip",
    )  # numcodecs.lz4 it leaves to zarr-python's own pipeline
    pipeline = "zarrs.ZarrsCodecPipeline"

    @classmethod
    def variables(cls, workers: int | None) -> dict[str, str]:
        return {} if workers is None else {"RAYON_NUM_THREADS": str(workers)}

    @classmethod
    def supports(cls, workload: Workload) -> str | None:
        if workload.data is not None and workload.data.dtype == "string":
            return "strings of variable length: it hands them to zarr-python's own pipeline"
        return super().supports(workload)

    def start(self, workers: int | None) -> None:
        import zarrs  # noqa: F401 - so that its import is timed

        super().start(workers)
