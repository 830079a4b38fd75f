"""Tessarray's collections: a fleet is written in one transaction, and a variable of all of it is read in one call.

A commit is accepted, not synced (`durable=False`), as the writes of other systems are: the sync is a step of its own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from tessarray_bench.model import Workload
from tessarray_bench.systems import zarr_layout
from tessarray_bench.systems.base import System
from tessarray_bench.systems.tessarray import Tessarray, chain, load


class TessarrayCollection(System):
    """A fleet as a collection of datasets in a pack."""

    name = "tessarray-collection"
    title = "Tessarray collection"
    modules = Tessarray.modules
    environment = Tessarray.environment
    install = Tessarray.install
    store = "store.pack"
    format = "tessarray-pack"
    codecs = Tessarray.codecs
    double_partitioning = True
    sources: ClassVar[Mapping[str, str]] = {
        **Tessarray.sources,
        "collections": "docs/collections.md",
        "durable": "docs/packs.md",
    }

    @classmethod
    def variables(cls, workers: int | None) -> dict[str, str]:
        return Tessarray.variables(workers)

    def start(self, workers: int | None) -> None:
        self.module: Any = load()
        # Imported when it is first asked for.
        _ = self.module.open_collection

    def write_fleet(
        self, path: Path, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> None:
        layout = workload.layout
        options: dict[str, Any] = {}
        if layout is not None:
            options = {"chunks": layout.chunks, "compressors": chain("<f4", layout)}
        fleet = self.module.create_collection(path, durable=False, **options)
        with fleet.transaction("written") as tx:
            for name, dataset in datasets:
                tx.add(name, dataset)

    def open_fleet(self, path: Path, workload: Workload) -> Any:
        return self.module.open_collection(path)

    def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
        def corner(_: str, shape: tuple[int, ...]) -> tuple[slice, ...]:
            return tuple(slice(0, math.ceil(share * length)) for length in shape)

        return list(handle.read(variable, names, ... if share == 1 else corner))

    def read_dataset(self, handle: Any, name: str) -> dict[str, Any]:
        return {variable: array[...] for variable, array in handle[name].items()}

    def facts(self, path: Path) -> dict[str, Any]:
        """Of the first variable of the first dataset."""
        fleet = self.module.open_collection(path)
        dataset = fleet[fleet.names[0]]
        found = zarr_layout.facts_of(dataset[min(dataset)].metadata)
        return found | {"checksum": "crc32c", "readers see writes": "at the commit"}
