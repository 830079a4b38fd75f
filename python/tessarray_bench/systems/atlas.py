"""Atlas (atlas-python 0.14): a store of many datasets, laid out by variable, with a bulk read across datasets."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tessarray_bench.model import Layout, Workload
from tessarray_bench.systems.base import System, Unsupported

README = "https://pypi.org/project/atlas-python/0.13.1/"


class Atlas(System):
    """Fleets, and small arrays as a dataset each: what it is made for.

    Its stacked bulk read, which its README names as the fastest, panics where the datasets differ in shape. A ragged
    fleet is therefore read with the bulk read that gives a list, one call for each shape that is asked for: it takes
    one shape for all datasets of a call.
    """

    name = "atlas"
    title = "Atlas"
    modules = ("atlas",)
    distributions = ("atlas-python",)
    environment = "atlas"
    install = "pip install atlas-python==0.14.0"
    store = "store.atlas"
    format = "atlas"
    codecs = ("zstd", "lz4", "none")
    sources: ClassVar[Mapping[str, str]] = {
        "bulk read with read_array_across_stacked": README,
        "one flush after all writes": README,
        "codec": "https://docs.rs/atlas-rust/0.10.0/atlas/enum.Codec.html",
    }

    atlas: Any

    @classmethod
    def variables(cls, workers: int | None) -> dict[str, str]:
        # Its reads run on a Tokio runtime, which has a thread for each core unless told otherwise.
        return {"TOKIO_WORKER_THREADS": str(workers)} if workers else {}

    def start(self, workers: int | None) -> None:
        import atlas

        self.atlas = atlas

    # ---- fleets

    def write_fleet(
        self, path: Path, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> None:
        store = self.atlas.Atlas.create(os.fspath(path), codec=_codec(workload.layout))
        for name, dataset in datasets:
            view = store.create_dataset(name)
            for variable, values in dataset.items():
                _define(view, variable, values.shape, values.dtype, workload.layout)
                view.write_array(variable, [0] * values.ndim, np.ascontiguousarray(values))
        store.close()

    def open_fleet(self, path: Path, workload: Workload) -> Any:
        assert workload.fleet is not None
        return self.atlas.Atlas.open(os.fspath(path)), workload.fleet.ragged

    def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
        store, ragged = handle
        if not ragged:
            shape = _part(store.open_dataset(names[0]).array_meta(variable)["shape"], share)
            return list(store.read_array_across_stacked(variable, names, [0] * len(shape), shape))
        groups: dict[tuple[int, ...], list[int]] = {}
        for index, name in enumerate(names):
            shape = _part(store.open_dataset(name).array_meta(variable)["shape"], share)
            groups.setdefault(tuple(shape), []).append(index)
        found: list[Any] = [None] * len(names)
        for part, members in groups.items():
            arrays = store.read_array_across(
                variable, [names[i] for i in members], [0] * len(part), list(part)
            )
            for index, array in zip(members, arrays, strict=True):
                found[index] = array
        return found

    def read_dataset(self, handle: Any, name: str) -> dict[str, Any]:
        view = handle[0].open_dataset(name)
        return {variable: view.read_array(variable) for variable in view.list_arrays()}

    # ---- small arrays, a dataset each

    def create_small(self, path: Path, workload: Workload) -> Any:
        return self.atlas.Atlas.create(os.fspath(path), codec=_codec(workload.layout))

    def add_small(self, handle: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        view = handle.create_dataset(name)
        _define(view, "values", shape, np.dtype(dtype), None)
        return view

    def write_small(self, array: Any, values: Any) -> None:
        array.write_array("values", [0] * values.ndim, np.ascontiguousarray(values))

    def open_small(self, path: Path, workload: Workload) -> Any:
        return self.atlas.Atlas.open(os.fspath(path))

    def get_small(self, handle: Any, name: str) -> Any:
        return handle.open_dataset(name)

    def read_small(self, array: Any) -> Any:
        return array.read_array("values")

    # ---- both

    def finish(self, handle: Any) -> None:
        handle.close()

    def facts(self, path: Path) -> dict[str, Any]:
        """Of the first dataset. The level of its codec cannot be chosen and is not said anywhere."""
        store = self.atlas.Atlas.open(os.fspath(path))
        view = store.open_dataset(sorted(store.list_datasets())[0])
        variable = view.list_arrays()[0]
        meta = view.array_meta(variable)
        return {"chunks": list(meta["chunk_shape"]), "shards": None, "dtype": meta["dtype"], "checksum": None}


def _part(shape: Sequence[int], share: float) -> list[int]:
    return [math.ceil(share * length) for length in shape]


def _codec(layout: Layout | None) -> str:
    if layout is None:
        return "zstd"  # its default
    if layout.codec.name not in Atlas.codecs or layout.codec.shuffle != "none":
        raise Unsupported(f"codec {layout.codec}: Atlas has zstd, lz4 and none, without shuffles")
    return layout.codec.name


def _define(
    view: Any, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], layout: Layout | None
) -> None:
    chunks = None
    if layout is not None:
        chunks = [min(chunk, length) for chunk, length in zip(layout.chunks, shape, strict=True)]
    dims = [f"{name}_{axis}" for axis in range(len(shape))]
    view.define_array(name, dtype=dtype.name, dims=dims, shape=list(shape), chunk_shape=chunks)
