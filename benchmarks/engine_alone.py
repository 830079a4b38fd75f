"""The parts of `engine_bars.py` that need no rival: the share of the machine's limit, growth, plans, checksums.

Each gives lines: what, ours, what it is compared with, the ratio, the bar, whether it is met (None: it has none).
"""

from __future__ import annotations

import gc
import json
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.display.units import byte_text, rate_text, time_text
from tessarray_bench.worker.meter import Calls

ROOT = Path(__file__).resolve().parent.parent
SHARD, CHUNK = (128, 256, 256), (32, 32, 32)
PLANE = 1024 * 1024 * 2  # bytes

Line = tuple[str, str, str, str, str, bool | None]


def limit(scale: float, repeats: int) -> list[Line]:
    """`make limit`: what memcpy, the codec and files alone can do with the same threads, and our share."""
    command = ["cargo", "run", "--release", "--quiet", "--package", "tessarray", "--example", "limit"]
    done = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True)
    pattern = r"^(\w+): (write|read) reaches +([0-9.]+) of ([^(]*) \(([0-9.]+) GB/s\)"
    found: list[Line] = []
    for name, verb, share, parts, most in re.findall(pattern, done.stdout, re.M):
        ours = rate_text(float(share) * float(most) * 1e9)
        enough = float(share) >= 0.75
        found.append((f"limit, {name}: {verb}", ours, f"{parts}: {most} GB/s", share, "0.75", enough))
    return found


# Chains in pairs: what is named, and what it is compared with. Blosc frames always have a checksum, inside or behind.
PAIRS = {
    "crc32c without a codec": (["crc32c"], "no checksum", []),
    "blosc, checksum inside": (["blosc:lz4:5:shuffle"], "crc32c behind", ["blosc:lz4:5:shuffle", "crc32c"]),
}


def checksum(scale: float, repeats: int) -> list[Line]:
    """What checksums cost: a crc32c of each chunk over none, and one inside blosc's frames over one behind. No bar."""
    found: list[Line] = []
    for name in ("sharded", "chunked"):
        runs = [child(f"checksum-{name}", max(round(256 * scale), 32)) for _ in range(repeats)]
        times = {step: statistics.median(run[step] for run in runs) for step in runs[0]}
        for pair, (_, other, _) in PAIRS.items():
            for step in STEPS:
                ours, theirs = times[f"{pair}: {step}"], times[f"{pair}, {other}: {step}"]
                line = (f"{pair}, {name}: {step}", time_text(ours), f"{other}: {time_text(theirs)}")
                found.append((*line, f"{ours / theirs:.2f}", "", None))
    return found


def growth(scale: float, repeats: int) -> list[Line]:
    """Time per byte of a sharded array of 0.1 to 8 GB, and what a selection of 10^6 inner chunks takes."""
    sizes = sorted({max(round(planes * scale), 1) for planes in (64, 512, 4096)})  # of 2 MiB each
    times = {n: child("grow", n) for n in sizes if n * PLANE * 1.6 < available()}
    found: list[Line] = []
    first = times[sizes[0]]
    for planes, seconds in list(times.items())[1:]:
        for step in ("write", "read"):
            ours, theirs = seconds[step] / planes, first[step] / sizes[0]
            name = f"growth, {step}, {byte_text(planes * PLANE)} over {byte_text(sizes[0] * PLANE)}"
            ratio = ours / theirs
            rates = (rate_text(PLANE / per) for per in (ours, theirs))
            found.append((name, *rates, f"{ratio:.2f}", "flat: 1.25", ratio <= 1.25))
    plan = [child("plan", round(1024 * scale**0.5)) for _ in range(repeats)]
    seconds = statistics.median(p["seconds"] for p in plan)
    peak = max(p["peak"] for p in plan)
    chunks = f"{plan[0]['chunks']:.0f} inner chunks, one element of each"
    found.append(("plan and read of it", time_text(seconds), chunks, "", "0.5 s", seconds < 0.5))
    found.append(("its memory above the result", byte_text(peak), chunks, "", "100 MB", peak < 100e6))
    return found


PARTS: dict[str, Callable[[float, int], list[Line]]] = {
    "limit": limit,
    "growth": growth,
    "checksum": checksum,
}


def available() -> float:
    lines = Path("/proc/meminfo").read_text().splitlines()
    return next(float(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))


def child(what: str, number: int) -> dict[str, float]:
    """A measurement in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, what, str(number)], check=True, capture_output=True, text=True
    )
    found: dict[str, float] = json.loads(done.stdout)
    return found


def grow(planes: int, folder: Path) -> dict[str, float]:
    """Writes and reads an array of so many planes whole, three times (one where it is large): the quickest of each."""
    import tessarray

    rng = np.random.default_rng(1)
    y, x = np.ogrid[:1024, :1024]
    block = 64 if planes >= 64 else planes
    image = np.empty((planes, 1024, 1024), "u2")
    for start in range(0, planes, block):
        part = image[start : start + block]
        np.add(200 + (x + y) // 8, rng.integers(0, 16, part.shape, "u1"), out=part, casting="unsafe")
    seconds: dict[str, list[float]] = {"write": [], "read": []}
    for _ in range(3):
        array = tessarray.create_array(
            folder / "array.zarr",
            shape=image.shape,
            dtype="u2",
            chunks=CHUNK,
            shards=SHARD,
            compressors=["blosc:lz4:5:shuffle", "crc32c"],
            overwrite=True,
        )
        began = time.perf_counter()
        array[...] = image
        seconds["write"].append(time.perf_counter() - began)
    kept = image[:: max(planes // 8, 1)].copy()
    del image
    gc.collect()
    for _ in range(3):
        began = time.perf_counter()
        found = array[...]
        seconds["read"].append(time.perf_counter() - began)
        assert np.array_equal(found[:: max(planes // 8, 1)], kept)
        del found
    return {step: min(values) for step, values in seconds.items()}


def plan(side: int, folder: Path) -> dict[str, float]:
    """One element of each of `side` x `side` inner chunks of (8, 8)."""
    import tessarray

    side = max(side // 128, 1) * 128
    values = np.arange(side * side * 64, dtype="u4").astype("u1").reshape(side * 8, side * 8)
    array = tessarray.create_array(
        folder / "array.zarr", shape=values.shape, dtype="u1", chunks=(8, 8), shards=(1024, 1024)
    )
    array[...] = values
    calls = Calls("plan")
    for _ in range(3):
        with calls:
            found: Any = array[::8, ::8]
        assert np.array_equal(found, values[::8, ::8])
    row = calls.row()
    return {"seconds": min(calls.walls), "peak": row["peak"] - found.nbytes, "chunks": float(found.size)}


STEPS = ("write", "100 cubes, the first time", "100 cubes, again", "read all")


def checksums(
    chunks: tuple[int, ...], shards: tuple[int, ...] | None, planes: int, folder: Path
) -> dict[str, float]:
    """Seconds of writes and reads with the chains of each pair, in turns: medians of three."""
    import tessarray

    rng = np.random.default_rng(1)
    y, x = np.ogrid[:1024, :1024]
    image = np.empty((planes, 1024, 1024), "u2")
    np.add(200 + (x + y) // 8, rng.integers(0, 16, image.shape, "u1"), out=image, casting="unsafe")
    corners = [rng.integers(0, [n - 31 for n in image.shape]).tolist() for _ in range(100)]
    cubes = [tuple(slice(at, at + 32) for at in corner) for corner in corners]
    chains: dict[str, list[str]] = {}
    for pair, (ours, other, theirs) in PAIRS.items():
        chains |= {pair: ours, f"{pair}, {other}": theirs}
    seconds: dict[str, list[float]] = {}
    for _ in range(4):
        for name, compressors in chains.items():
            array: Any = tessarray.create_array(
                folder / "array.zarr",
                shape=image.shape,
                dtype="u2",
                chunks=chunks,
                shards=shards,
                compressors=compressors,
                overwrite=True,
            )
            jobs: list[Callable[[], object]] = [
                partial(array.__setitem__, ..., image),
                lambda array=array: [array[cube] for cube in cubes],  # type: ignore[misc]
                lambda array=array: [array[cube] for cube in cubes],  # type: ignore[misc]
                partial(array.__getitem__, ...),
            ]
            for step, job in zip(STEPS, jobs, strict=True):
                began = time.perf_counter()
                job()
                seconds.setdefault(f"{name}: {step}", []).append(time.perf_counter() - began)
    return {step: statistics.median(values[1:]) for step, values in seconds.items()}


CHILDREN: dict[str, Callable[[int, Path], dict[str, float]]] = {
    "grow": grow,
    "plan": plan,
    "checksum-sharded": partial(checksums, CHUNK, SHARD),
    "checksum-chunked": partial(checksums, (128, 128, 128), None),
}

if __name__ == "__main__":
    memory_folder = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="bars-", dir=memory_folder) as made:
        print(json.dumps(CHILDREN[sys.argv[1]](int(sys.argv[2]), Path(made))))
