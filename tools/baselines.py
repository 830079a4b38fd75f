"""Measure on this machine what the README's table says of the libraries in it: lost writes and silent bit flips.

Two processes write the 16 inner chunks of one shard at the same time, 40 rounds; then single bits of a compressed array
are flipped and it is read. Run it with the environment of the tests: `.venv/bin/python tools/baselines.py`.
"""

from __future__ import annotations

import importlib
import multiprocessing
import random
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

ROUNDS = 40
FLIPS = 400
LIBRARIES = ["tessarray", "zarr", "zarrs", "tensorstore"]


def opened(library: str, path: str) -> Any:
    """The array at `path`, for reading and writing, by one library."""
    if library == "tensorstore":
        tensorstore = importlib.import_module("tensorstore")
        return tensorstore.open({"driver": "zarr3", "kvstore": f"file://{path}"}, open=True).result()
    if library == "tessarray":
        return importlib.import_module("tessarray").open_array(path, mode="r+")
    zarr = importlib.import_module("zarr")
    if library == "zarrs":
        zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})
    return zarr.open_array(path, mode="r+")


def created(library: str, path: str, **arguments: Any) -> None:
    """An array with the library's own default codecs."""
    if library == "tensorstore":
        tensorstore = importlib.import_module("tensorstore")
        inner, outer = list(arguments["chunks"]), list(arguments.get("shards") or arguments["chunks"])
        codecs: list[Any] = [{"name": "bytes", "configuration": {"endian": "little"}}]
        if outer != inner:
            codecs = [{"name": "sharding_indexed", "configuration": {"chunk_shape": inner, "codecs": codecs}}]
        metadata = {
            "shape": list(arguments["shape"]),
            "data_type": arguments["dtype"],
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": outer}},
            "codecs": codecs,
        }
        spec = {"driver": "zarr3", "kvstore": f"file://{path}", "metadata": metadata}
        tensorstore.open(spec, create=True).result()
        return
    module = importlib.import_module("tessarray" if library == "tessarray" else "zarr")
    module.create_array(path, **arguments)


def write_own_chunks(library: str, path: str, worker: int, barrier: Any) -> None:
    array = opened(library, path)
    for number in range(ROUNDS):
        barrier.wait(60)
        for chunk in range(worker, 16, 2):
            try:
                array[number, chunk * 8 : chunk * 8 + 8] = 1 + number * 16 + chunk
            except Exception:
                continue  # it counts as lost


def lost_writes(library: str, folder: Path) -> int:
    path = str(folder / f"{library}-writes")
    created(library, path, shape=(ROUNDS, 128), chunks=(1, 8), shards=(1, 128), dtype="int64")
    spawn = multiprocessing.get_context("spawn")
    barrier = spawn.Barrier(2)
    jobs = [
        spawn.Process(target=write_own_chunks, args=(library, path, worker, barrier)) for worker in range(2)
    ]
    for job in jobs:
        job.start()
    for job in jobs:
        job.join()
    reader = opened("tensorstore", path)
    lost = 0
    for number in range(ROUNDS):
        try:
            row = np.asarray(reader[number].read().result()).reshape(16, 8)
        except ValueError:
            lost += 16  # the shard cannot be read at all
            continue
        lost += int((row != 1 + number * 16 + np.arange(16)[:, None]).any(axis=1).sum())
    return lost


def silent_flips(library: str, folder: Path) -> float:
    path = folder / f"{library}-flips"
    created(library, str(path), shape=(128, 128), chunks=(128, 128), dtype="float32")
    ramp = np.linspace(0, 6, 128)
    values = np.round(280 + 10 * np.sin(ramp)[:, None] * np.cos(ramp), 2).astype("float32")
    opened(library, str(path))[...] = values
    chunk = path / "c" / "0" / "0"
    whole = chunk.read_bytes()
    rng = random.Random(1)
    silent = 0
    for _ in range(FLIPS):
        flipped = bytearray(whole)
        flipped[rng.randrange(len(whole))] ^= 1 << rng.randrange(8)
        chunk.write_bytes(flipped)
        try:
            found = np.asarray(opened(library, str(path))[...])
        except Exception:
            continue  # it was noticed
        silent += not np.array_equal(found, values)
    return 100 * silent / FLIPS


def main() -> None:
    warnings.simplefilter("ignore")
    print(f"{'':24}{'inner chunks lost of 640':>26}{'flipped bits read as good':>28}")
    with tempfile.TemporaryDirectory() as folder:
        for library in LIBRARIES:
            try:
                version = importlib.import_module(library).__version__
            except ImportError:
                print(f"{library:24}{'not installed':>26}")
                continue
            except AttributeError:
                version = ""
            lost, silent = lost_writes(library, Path(folder)), silent_flips(library, Path(folder))
            print(f"{library + ' ' + version:24}{lost:>26}{silent:>26.0f} %", flush=True)


if __name__ == "__main__":
    main()
