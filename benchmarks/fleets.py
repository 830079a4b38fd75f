"""Fleets of `collection_bars.py`: their values, and the two ways to hold them, a collection and stacked arrays."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import tensorstore

import tessarray

SHARD = 64 << 20


def smooth(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    """A field as instruments give it: smooth, with noise in the last digits."""
    rng = np.random.default_rng(seed)
    axes = np.meshgrid(*(np.linspace(0, 3 + seed % 5, n) for n in shape), indexing="ij")
    wave = sum(np.sin(axis + i) for i, axis in enumerate(axes))
    return (280 + 10 * wave + rng.normal(0, 0.05, shape)).astype(dtype)


def values_of(variables: dict[str, Any], count: int) -> dict[str, list[np.ndarray]]:
    """Arrays of each variable; a large fleet repeats its first."""
    distinct = min(count, 64)
    made = {}
    for number, (name, (shape, dtype)) in enumerate(variables.items()):
        held = [smooth(shape, dtype, number * 1000 + i) for i in range(distinct)]
        made[name] = [held[i % distinct] for i in range(count)]
    return made


# ---- the two ways to hold a fleet


def write_collection(path: Path, values: dict[str, list[np.ndarray]], codec: str, chunks: Any) -> None:
    fleet = tessarray.create_collection(path, durable=False, compressors=codec, chunks=chunks)
    count = len(next(iter(values.values())))
    with fleet.transaction("written") as tx:
        for i in range(count):
            tx.add(f"d{i:06}", {name: held[i] for name, held in values.items()})


def read_collection(path: Path, names: list[str], selection: Any) -> dict[str, np.ndarray]:
    fleet = tessarray.open_collection(path)
    return {name: fleet.read(name, selection=selection) for name in names}


def codec_json(codec: str, item: int) -> list[dict[str, Any]]:
    if codec.startswith("zstd"):
        return [{"name": "zstd", "configuration": {"level": int(codec[5:]), "checksum": False}}]
    _, cname, level, shuffle = codec.split(":")
    settings = {"cname": cname, "clevel": int(level), "shuffle": shuffle, "typesize": item, "blocksize": 0}
    return [{"name": "blosc", "configuration": settings}]


def stacked_spec(
    path: Path, shape: tuple[int, ...], dtype: np.dtype[Any], codec: str, chunks: Any
) -> dict[str, Any]:
    inner = (1, *(chunks or shape[1:]))
    slab = math.prod(shape[1:]) * dtype.itemsize
    count = max(min(SHARD // slab, shape[0]), 1)
    inner_codecs = [
        {"name": "bytes", "configuration": {"endian": "little"}},
        *codec_json(codec, dtype.itemsize),
    ]
    sharding = {
        "chunk_shape": inner,
        "codecs": inner_codecs,
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
    }
    return {
        "driver": "zarr3",
        "kvstore": {"driver": "file", "path": f"{path}/"},
        "metadata": {
            "shape": shape,
            "data_type": dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": (count, *shape[1:])}},
            "codecs": [{"name": "sharding_indexed", "configuration": sharding}],
        },
    }


def context() -> Any:
    return tensorstore.Context({"file_io_sync": False, "cache_pool": {"total_bytes_limit": 4 << 20}})


def write_stacked(path: Path, values: dict[str, list[np.ndarray]], codec: str, chunks: Any) -> None:
    for name, held in values.items():
        shape = (len(held), *held[0].shape)
        spec = stacked_spec(path / name, shape, held[0].dtype, codec, chunks)
        store = tensorstore.open(spec, create=True, context=context()).result()
        step = spec["metadata"]["chunk_grid"]["configuration"]["chunk_shape"][0]
        for begin in range(0, len(held), step):
            store[begin : min(begin + step, len(held))].write(np.stack(held[begin : begin + step])).result()


def read_stacked(path: Path, names: list[str], selection: Any) -> dict[str, np.ndarray]:
    own = context()
    stores = [
        tensorstore.open(
            {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{path / name}/"}},
            open=True,
            context=own,
        )
        for name in names
    ]
    key = (slice(None), *(selection if isinstance(selection, tuple) else (selection,)))
    reads = [store.result()[key].read() for store in stores]
    return {name: read.result() for name, read in zip(names, reads, strict=True)}


def check(read: dict[str, np.ndarray], values: dict[str, list[np.ndarray]], selection: Any) -> None:
    for name, found in read.items():
        for i in (0, 1, len(found) // 2, len(found) - 1):
            np.testing.assert_array_equal(found[i], values[name][i][selection])
