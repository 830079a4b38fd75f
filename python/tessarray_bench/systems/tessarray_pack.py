"""Tessarray's pack: what is written in one job is one transaction; each append is a transaction of its own.

A commit is accepted, not synced (`durable=False`), as the writes of other systems are: the sync is a step of its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from tessarray_bench.systems import zarr_layout
from tessarray_bench.systems.base import ArraySpec, Unsupported
from tessarray_bench.systems.tessarray import Tessarray

ARRAY = "array"  # the path of the one array of a workload that has one


class TessarrayPack(Tessarray):
    """Arrays, fleets and small arrays in a pack."""

    name = "tessarray-pack"
    title = "Tessarray pack"
    sources: ClassVar[Mapping[str, str]] = {**Tessarray.sources, "durable": "docs/packs.md"}
    store = "store.pack"
    format = "tessarray-pack"
    readers: ClassVar[tuple[str, ...]] = ()

    def start(self, workers: int | None) -> None:
        super().start(workers)
        self.transaction: Any = None  # of this process: a job writes one store

    def _begin(self, path: Path) -> Any:
        self.transaction = self.module.create_pack(path, durable=False).transaction("written")
        return self.transaction

    def _old(self, path: Path) -> Any:
        pack = self.module.open_pack(path)
        return pack.at(pack.version)

    def new_group(self, path: Path) -> Any:
        return self._begin(path).root

    def old_group(self, path: Path) -> Any:
        return self._old(path).root

    def create(self, path: Path, array: ArraySpec) -> Any:
        shape = (0, *array.shape[1:]) if array.growing else array.shape
        arguments = self.arguments(array.dtype, array.layout)
        created = self._begin(path).create_array(ARRAY, shape=shape, dtype=array.dtype, **arguments)
        if not array.growing:
            return created
        self.finish(created)
        return self.module.open_pack(path, durable=False)

    def append(self, handle: Any, values: Any) -> None:
        handle.append(ARRAY, values)

    def finish(self, handle: Any) -> None:
        transaction, self.transaction = self.transaction, None
        if transaction is not None:
            transaction.commit()

    def open(self, path: Path) -> Any:
        return self._old(path)[ARRAY]

    def open_url(self, url: str) -> Any:
        raise Unsupported("packs over HTTP")

    def facts(self, path: Path) -> dict[str, Any]:
        """Of the first array."""
        node = self.old_group(path)
        while not hasattr(node, "shape"):
            node = node[min(node)]
        found = zarr_layout.facts_of(node.metadata)
        return found | {"checksum": "crc32c", "readers see writes": "at the commit"}
