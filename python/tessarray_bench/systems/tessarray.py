"""Tessarray, with its defaults: a checksum of every chunk is one of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tessarray_bench.model import Layout, Workload
from tessarray_bench.systems import zarr_layout
from tessarray_bench.systems.base import ArraySpec, Unsupported
from tessarray_bench.systems.zarr_layout import ZarrGroups


def load() -> Any:
    """The library: the only import of it in the benchmark."""
    import tessarray

    return tessarray


def chain(dtype: str, layout: Layout) -> list[Any]:
    """The codecs asked for, and a checksum, which the default has too: figures are of the store a user has.

    A blosc frame outside a shard holds one inside; all others get a crc32c.
    """
    found = zarr_layout.compressors(layout.codec, dtype)
    inside = layout.shards is None and found[-1:] and found[-1]["name"] == "blosc"
    return [*found] if inside else [*found, {"name": "crc32c"}]


def with_checksum(facts: dict[str, Any]) -> dict[str, Any]:
    """Metadata say nothing of the checksum inside blosc frames."""
    inside = facts.get("checksum") is None and str(facts.get("codec", "")).startswith("blosc")
    return facts | ({"checksum": "crc32c in the frame"} if inside else {})


class Tessarray(ZarrGroups):
    """Zarr arrays by Tessarray."""

    name = "tessarray"
    title = "Tessarray"
    modules = ("tessarray",)
    environment = "own"
    install = "pip install tessarray"
    sources: ClassVar[Mapping[str, str]] = {
        "threads": "docs/python.md#threads-and-processes",
        "http": "docs/python.md#stores",
    }
    store = "store.zarr"
    format = "zarr3"
    readers: ClassVar[tuple[str, ...]] = ("zarr-python", "tensorstore")
    codecs = ("none", "blosc", "zstd", "gzip", "lz4")
    double_partitioning = True

    @classmethod
    def variables(cls, workers: int | None) -> dict[str, str]:
        return {} if workers is None else {"TESSARRAY_THREADS": str(workers)}

    @classmethod
    def supports(cls, workload: Workload) -> str | None:
        return zarr_layout.refusal(cls, workload)

    def start(self, workers: int | None) -> None:
        self.module: Any = load()

    def arguments(self, dtype: str, layout: Layout | None) -> dict[str, Any]:
        if layout is None:
            return {}
        compressors = chain(dtype, layout)
        return {
            "chunks": layout.chunks, "shards": layout.shards, "filters": None, "compressors": compressors,
        }  # fmt: skip

    def new_group(self, path: Path) -> Any:
        return self.module.create_group(path)

    def old_group(self, path: Path) -> Any:
        return self.module.open_group(path, mode="r")

    def create(self, path: Path, array: ArraySpec) -> Any:
        shape = (0, *array.shape[1:]) if array.growing else array.shape
        arguments = self.arguments(array.dtype, array.layout)
        return self.module.create_array(path, shape=shape, dtype=array.dtype, **arguments)

    def write(self, handle: Any, values: Any) -> None:
        handle[...] = values

    def append(self, handle: Any, values: Any) -> None:
        handle.append(values, axis=0)

    def open(self, path: Path) -> Any:
        return self.module.open_array(path, mode="r")

    def open_url(self, url: str) -> Any:
        try:
            import fsspec

            mapping = fsspec.get_mapper(url)
        except ImportError as error:
            raise Unsupported(f"reading over HTTP without fsspec[http]: {error}") from None
        return self.module.open_array(mapping, mode="r")

    def facts(self, path: Path) -> dict[str, Any]:
        return with_checksum(zarr_layout.facts(path))


class TessarrayAppender(Tessarray):
    """Frames through the streaming writer: gathered, encoded in the background, all there when it is closed."""

    name = "tessarray-appender"
    title = "Tessarray, streamed"
    sources: ClassVar[Mapping[str, str]] = {"appender": "docs/python.md#streams-of-frames"}

    @classmethod
    def supports(cls, workload: Workload) -> str | None:
        return None if workload.kind == "append" else "anything but appends: it is Tessarray then"

    def create(self, path: Path, array: ArraySpec) -> Any:
        return super().create(path, array).appender(axis=0)

    def append(self, handle: Any, values: Any) -> None:
        handle.append(values)

    def finish(self, handle: Any) -> None:
        handle.close()

    def facts(self, path: Path) -> dict[str, Any]:
        return super().facts(path) | {"readers see rows": "when their chunks are full, or at the close"}
