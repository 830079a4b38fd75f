"""Write, read and slice one sharded array with Tessarray, zarr-python + zarrs, and TensorStore, in one interleaved run.

The workload: uint16 (256, 1024, 1024), camera-like, shards (128, 256, 256) of inner chunks (32, 32, 32), blosc lz4
level 5 with byte shuffle, default threads, files on a memory file system where there is one. Each system writes its
own store with the same layout; Tessarray is measured with a crc32c codec behind every inner chunk (its default) and
with the checksum inside each blosc frame.
Every answer is compared with the source outside the timed region. Prints medians and the ratio of the best rival's
time to ours (above 1: we are faster).

    .venv/bin/python tools/compare_sharded.py [--planes 256] [--repeats 5] [--folder /dev/shm] [--json out.json]
"""

from __future__ import annotations

import argparse
import json
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import tensorstore as ts
import zarr

import tessarray
from tessarray.display.units import byte_text, rate_text, time_text

SHARD, CHUNK = (128, 256, 256), (32, 32, 32)
Box = tuple[slice, slice, slice]


def camera(planes: int) -> np.ndarray[Any, Any]:
    """Smooth light with a few bits of noise, as a 12-bit camera gives."""
    rng = np.random.default_rng(1)
    z, y, x = np.ogrid[:planes, :1024, :1024]
    image = (200 + (x + y) // 8 + z // 4).astype("u2")
    image += rng.integers(0, 16, image.shape, dtype="u2")
    return image


class Tessarray:
    name = "tessarray (crc32c)"
    compressors = ("blosc:lz4:5:shuffle", "crc32c")

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, shape: tuple[int, ...]) -> None:
        self.array = tessarray.create_array(
            str(self.path),
            shape=shape,
            dtype="u2",
            chunks=CHUNK,
            shards=SHARD,
            compressors=list(self.compressors),
            overwrite=True,
        )

    def write(self, data: np.ndarray[Any, Any]) -> None:
        self.array[...] = data

    def read(self, box: Box | None) -> np.ndarray[Any, Any]:
        return np.asarray(self.array[...] if box is None else self.array[box])


class TessarrayInside(Tessarray):
    name = "tessarray (inside)"
    compressors = ("blosc:lz4:5:shuffle",)


class Zarrs:
    name = "zarr-python + zarrs"

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, shape: tuple[int, ...]) -> None:
        with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
            self.array = zarr.create_array(
                str(self.path),
                shape=shape,
                dtype="u2",
                chunks=CHUNK,
                shards=SHARD,
                compressors=zarr.codecs.BloscCodec(cname="lz4", clevel=5, shuffle="shuffle", typesize=2),
                overwrite=True,
            )

    def write(self, data: np.ndarray[Any, Any]) -> None:
        with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
            self.array[...] = data

    def read(self, box: Box | None) -> np.ndarray[Any, Any]:
        with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
            return np.asarray(self.array[...] if box is None else self.array[box])


class TensorStore:
    name = "tensorstore"

    def __init__(self, path: Path) -> None:
        self.path = path

    def create(self, shape: tuple[int, ...]) -> None:
        blosc = {
            "name": "blosc",
            "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 2},
        }
        little = {"name": "bytes", "configuration": {"endian": "little"}}
        sharding = {
            "name": "sharding_indexed",
            "configuration": {
                "chunk_shape": list(CHUNK),
                "codecs": [little, blosc],
                "index_codecs": [little, {"name": "crc32c"}],
            },
        }
        self.array = ts.open(
            {
                "driver": "zarr3",
                "kvstore": {"driver": "file", "path": str(self.path), "file_io_sync": False},
                "metadata": {
                    "shape": list(shape),
                    "data_type": "uint16",
                    "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": list(SHARD)}},
                    "codecs": [sharding],
                },
                "create": True,
                "delete_existing": True,
                "recheck_cached_data": "open",
            }
        ).result()

    def write(self, data: np.ndarray[Any, Any]) -> None:
        self.array.write(data).result()

    def read(self, box: Box | None) -> np.ndarray[Any, Any]:
        return np.asarray((self.array if box is None else self.array[box]).read().result())


def cubes(planes: int, count: int) -> list[Box]:
    generator = random.Random(7)
    ends = (planes - 32, 1024 - 32, 1024 - 32)
    return [tuple(slice(start := generator.randrange(end), start + 32) for end in ends) for _ in range(count)]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--planes", type=int, default=256)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", default="/dev/shm" if Path("/dev/shm").is_dir() else None)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tessarray-compare-", dir=arguments.folder))
    try:
        measured = measure(folder, arguments.planes, arguments.repeats)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    report(measured, arguments.planes, arguments.json)


def measure(folder: Path, planes: int, repeats: int) -> dict[str, dict[str, list[float]]]:
    data, boxes = camera(planes), cubes(planes, 100)
    systems = [Tessarray, TessarrayInside, Zarrs, TensorStore]
    measured: dict[str, dict[str, list[float]]] = {
        kind.name: {"write": [], "read": [], "cubes": []} for kind in systems
    }
    order = random.Random(3)
    for repeat in range(repeats + 1):
        for number in order.sample(range(len(systems)), len(systems)):
            kind = systems[number]
            system = kind(folder / f"{number}.zarr")
            system.create(data.shape)
            rows = one_round(system, data, boxes)
            if repeat:  # the first round warms up
                for row, seconds in rows.items():
                    measured[kind.name][row].append(seconds)
            shutil.rmtree(system.path)
    return measured


def one_round(
    system: Tessarray | Zarrs | TensorStore, data: np.ndarray[Any, Any], boxes: list[Box]
) -> dict[str, float]:
    rows = {"write": timed(lambda: system.write(data))[0]}
    rows["read"], whole = timed(lambda: system.read(None))
    assert np.array_equal(whole, data), f"{system.name} read back other values"
    del whole
    rows["cubes"], parts = timed(lambda: [system.read(box) for box in boxes])
    assert all(np.array_equal(part, data[box]) for part, box in zip(parts, boxes, strict=True)), system.name
    return rows


def timed(job: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = job()
    return time.perf_counter() - start, result


def report(measured: dict[str, dict[str, list[float]]], planes: int, out: str | None) -> None:
    size = planes * 1024 * 1024 * 2
    print(f"{'':26}{'write':>12}{'read all':>12}{'100 cubes':>12}   ({byte_text(size)}, medians)")
    medians = {
        name: {row: statistics.median(times) for row, times in rows.items()}
        for name, rows in measured.items()
    }
    for name, row in medians.items():
        rates = "".join(f"{rate_text(size / row[verb]):>12}" for verb in ("write", "read"))
        print(f"{name:26}{rates}{time_text(row['cubes']):>12}")
    rivals = [name for name in medians if not name.startswith("tessarray")]
    for ours in (name for name in medians if name.startswith("tessarray")):
        best = {
            row: min(medians[rival][row] for rival in rivals) / medians[ours][row] for row in medians[ours]
        }
        print(
            f"best rival's time / {ours}: " + ", ".join(f"{row} {ratio:.2f}" for row, ratio in best.items())
        )
    if out:
        Path(out).write_text(json.dumps({"seconds": measured, "gigabytes": size}, indent=2))


if __name__ == "__main__":
    main()
