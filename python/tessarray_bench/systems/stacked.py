"""What an expert does by hand for a fleet: one sharded Zarr array a variable, with the datasets along its first axis.

A ragged fleet is a contiguous ragged array: the rows of all datasets one after the other, and how many each has.
Written and read with zarr-python and the zarrs codec pipeline.
"""

from __future__ import annotations

import itertools
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tessarray_bench.model import Workload
from tessarray_bench.systems import zarr_layout
from tessarray_bench.systems.base import System

SHARD_BYTES = 64 << 20
# A chunk of one dataset of a few bytes would be smaller than its place in the index is worth.
CHUNK_BYTES = 32 << 10
ROWS = "_row_size"


class Stacked(System):
    """A fleet as one Zarr array a variable, with an axis more: what is made by hand for such reads."""

    name = "stacked"
    title = "stacked Zarr arrays (zarr-python + zarrs)"
    modules = ("zarr", "zarrs")
    install = "pip install zarr zarrs"
    store = "store.zarr"
    format = "zarr3"
    codecs = ("none", "blosc", "zstd", "gzip", "lz4")
    double_partitioning = True
    sources: ClassVar[Mapping[str, str]] = {
        "zarrs codec pipeline": "https://pypi.org/project/zarrs/",
        "shards, and empty chunks written": "https://zarr.readthedocs.io/en/stable/user-guide/performance/",
        "consolidated metadata": "https://zarr.readthedocs.io/en/stable/user-guide/consolidated_metadata/",
        "contiguous ragged arrays": "https://cfconventions.org/Data/cf-conventions/cf-conventions-1.11/cf-conventions.html",
    }

    zarr: Any

    @classmethod
    def variables(cls, workers: int | None) -> dict[str, str]:
        return {} if workers is None else {"RAYON_NUM_THREADS": str(workers)}

    def start(self, workers: int | None) -> None:
        import warnings

        import zarr
        import zarrs  # noqa: F401 - registers the pipeline

        # zarr-python says that Zarr v3 does not specify consolidated metadata.
        warnings.filterwarnings("ignore", message="Consolidated metadata", category=UserWarning)
        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "array.write_empty_chunks": True})
        if workers is not None:
            zarr.config.set({"threading.max_workers": workers})
        self.zarr = zarr

    # ---- write

    def write_fleet(
        self, path: Path, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> None:
        assert workload.fleet is not None
        root = self.zarr.open_group(os.fspath(path), mode="w", zarr_format=3)
        names = (self._write_ragged if workload.fleet.ragged else self._write_even)(root, datasets, workload)
        root.attrs["names"] = names
        self.zarr.consolidate_metadata(root.store)

    def _write_even(
        self, root: Any, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> list[str]:
        """A shard of every variable at a time, so that only so much is copied."""
        assert workload.fleet is not None
        count, names = workload.fleet.count, list[str]()
        arrays: dict[str, Any] = {}
        block = 1
        while held := list(itertools.islice(datasets, block)):
            if not arrays:
                for variable, values in held[0][1].items():
                    arrays[variable] = self._create(
                        root, variable, (count, *values.shape), values.dtype, workload
                    )
                block = math.lcm(*(array.shards[0] if array.shards else 1 for array in arrays.values()))
                held += itertools.islice(datasets, min(block, count) - 1)
            for variable, array in arrays.items():
                array[len(names) : len(names) + len(held)] = np.stack(
                    [dataset[variable] for _, dataset in held]
                )
            names += [name for name, _ in held]
        return names

    def _write_ragged(
        self, root: Any, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> list[str]:
        held = list(datasets)
        for variable in held[0][1]:
            values = [dataset[variable] for _, dataset in held]
            sizes = np.array([len(array) for array in values])
            shape = (int(sizes.sum()), *values[0].shape[1:])
            self._create(root, variable, shape, values[0].dtype, workload)[...] = np.concatenate(values)
            root.create_array(f"{variable}{ROWS}", data=sizes)
        return [name for name, _ in held]

    def _create(
        self, root: Any, name: str, shape: tuple[int, ...], dtype: np.dtype[Any], workload: Workload
    ) -> Any:
        layout = workload.layout
        if layout is None:
            return root.create_array(name, shape=shape, dtype=dtype, chunks="auto", shards="auto")
        assert workload.fleet is not None
        chunks = layout.chunks
        if not workload.fleet.ragged:
            size = math.prod(chunks) * dtype.itemsize
            chunks = (min(max(CHUNK_BYTES // size, 1), shape[0]), *chunks)
        # Whole chunks along every axis, and along the first one as many as make up a shard.
        rest = [
            math.ceil(length / chunk) * chunk for length, chunk in zip(shape[1:], chunks[1:], strict=True)
        ]
        slab = chunks[0] * math.prod(rest) * dtype.itemsize
        slabs = min(max(SHARD_BYTES // slab, 1), math.ceil(shape[0] / chunks[0]))
        shards = (slabs * chunks[0], *rest)
        packed = zarr_layout.compressors(layout.codec, dtype.str) or None
        return root.create_array(
            name, shape=shape, dtype=dtype, chunks=chunks, shards=shards, compressors=packed
        )

    # ---- read

    def open_fleet(self, path: Path, workload: Workload) -> Any:
        assert workload.fleet is not None
        root = self.zarr.open_consolidated(os.fspath(path), mode="r")
        return root, {name: i for i, name in enumerate(root.attrs["names"])}, workload.fleet.ragged

    def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
        root, places, ragged = handle
        array = root[variable]
        wanted = [places[name] for name in names]
        corner = tuple(slice(0, math.ceil(share * length)) for length in array.shape[1:])
        if ragged:
            # Nearly every chunk holds rows that are wanted: one call for all rows, then views of them.
            sizes = root[f"{variable}{ROWS}"][...]
            stops = np.cumsum(sizes)
            rows = array[(slice(None), *corner)]
            starts, taken = stops - sizes, np.ceil(share * sizes).astype(int)
            return [rows[starts[i] : starts[i] + taken[i]] for i in wanted]
        if wanted == list(range(wanted[0], wanted[0] + len(wanted))):
            return list(array[(slice(wanted[0], wanted[0] + len(wanted)), *corner)])
        return [array[(i, *corner)] for i in wanted]

    def read_dataset(self, handle: Any, name: str) -> dict[str, Any]:
        root, places, ragged = handle
        place = places[name]
        if not ragged:
            return {variable: array[place] for variable, array in root.arrays()}
        found = {}
        for variable, array in root.arrays():
            if not variable.endswith(ROWS):
                sizes = root[f"{variable}{ROWS}"][: place + 1]
                stop = int(sizes.sum())
                found[variable] = array[stop - int(sizes[-1]) : stop]
        return found

    def facts(self, path: Path) -> dict[str, Any]:
        """Of the first variable; the datasets are the first axis of its chunks, or lie along it."""
        return zarr_layout.facts(
            min(p.parent for p in path.glob("*/zarr.json") if not p.parent.name.endswith(ROWS))
        )
