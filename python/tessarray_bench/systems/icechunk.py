"""Icechunk in a local folder, used through zarr-python. What is written can be read once it is committed."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tessarray_bench.systems import zarr_layout
from tessarray_bench.systems.base import ArraySpec
from tessarray_bench.systems.zarr_python import REMOTE_CONCURRENCY, ZarrPython

PERFORMANCE = "https://icechunk.io/en/latest/icechunk-python/performance/"


class Icechunk(ZarrPython):
    """Zarr arrays in Icechunk repositories, by zarr-python."""

    name = "icechunk"
    title = "Icechunk"
    modules: ClassVar[tuple[str, ...]] = ("icechunk", "zarr")
    install = "pip install icechunk"
    sources: ClassVar[Mapping[str, str]] = {**ZarrPython.sources, "defaults of a repository": PERFORMANCE}
    store = "store.icechunk"
    format = "icechunk"
    readers: ClassVar[tuple[str, ...]] = ()

    def start(self, workers: int | None) -> None:
        import icechunk

        self.icechunk: Any = icechunk
        self.session: Any = None  # of this process: a job writes one store
        super().start(workers)

    def _new(self, path: Path) -> Any:
        path.parent.mkdir(parents=True, exist_ok=True)
        repository = self.icechunk.Repository.create(self.icechunk.local_filesystem_storage(str(path)))
        self.session = repository.writable_session("main")
        return self.session.store

    def _old(self, path: Path) -> Any:
        repository = self.icechunk.Repository.open(self.icechunk.local_filesystem_storage(str(path)))
        return repository.readonly_session("main").store

    def new_group(self, path: Path) -> Any:
        return self.zarr.create_group(self._new(path))

    def old_group(self, path: Path) -> Any:
        return self.zarr.open_group(self._old(path), mode="r")

    def create(self, path: Path, array: ArraySpec) -> Any:
        shape = (0, *array.shape[1:]) if array.growing else array.shape
        arguments = self.arguments(array.dtype, array.layout)
        return self.zarr.create_array(self._new(path), shape=shape, dtype=array.dtype, **arguments)

    def finish(self, handle: Any) -> None:
        session, self.session = self.session, None
        if session is not None:
            session.commit("written")

    def open(self, path: Path) -> Any:
        return self.zarr.open_array(self._old(path), mode="r")

    def open_url(self, url: str) -> Any:
        self.zarr.config.set({"async.concurrency": REMOTE_CONCURRENCY})
        repository = self.icechunk.Repository.open(self.icechunk.http_storage(url))
        return self.zarr.open_array(repository.readonly_session("main").store, mode="r")

    def facts(self, path: Path) -> dict[str, Any]:
        from zarr.core.buffer import default_buffer_prototype
        from zarr.core.sync import sync

        document = sync(self._old(path).get("zarr.json", default_buffer_prototype()))
        found = zarr_layout.facts_of(json.loads(document.to_bytes())) if document is not None else {}
        return found | {"readers see writes": "at the commit"}
