"""A large array on disk: how long tuning it takes, how much memory, and whether the source is as it was."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from bars import peak

import tessarray
from tessarray.conversion.size import parse_size
from tessarray.tuner.tuning import tune
from tessarray_bench.data import make
from tessarray_bench.model import Data

__all__ = ["child", "measure"]

ROW = (721, 1440)
SLAB = 8  # rows of the first axis that are made once and repeated, a little changed
QUERIES = {"map": ("[t, :, :]", 0.5), "series": ("[:, y, x]", 0.4), "box": ("[:30, :64, :64]", 0.1)}


def measure(kind: str, above: Path, gigabytes: float, budget: float, memory: str) -> dict[str, Any]:
    """Tune an array in a process of its own; the source is compared before and after."""
    with tempfile.TemporaryDirectory(prefix="tune-bars-", dir=above) as folder:
        source = written(kind, Path(folder), gigabytes)
        before = fingerprint(source)
        given = {"source": str(source), "budget": budget, "memory": memory, "scratch": folder}
        command = [
            sys.executable,
            str(Path(__file__).with_name("tune_bars.py")),
            "--child",
            json.dumps(given),
        ]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        after = fingerprint(source)
        return found | {
            "bytes": sum(size for _, size, _, _ in before),
            "budget": budget,
            "memory": parse_size(memory),
            "unchanged": before == after,
        }


def child(given: Mapping[str, Any]) -> dict[str, Any]:
    """Tune, in this process: the seconds it took, and the most memory the process ever held."""
    imported = peak()
    started = time.perf_counter()
    found = tune(
        given["source"], QUERIES, budget=given["budget"], memory=given["memory"], scratch=given["scratch"]
    )
    seconds = time.perf_counter() - started
    return {
        "seconds": seconds,
        "peak": peak(),
        "imported": imported,
        "text": found.best.layout.text(),
        "searched": found.searched,
        "values": int(np.prod(found.shape)) * np.dtype(found.dtype).itemsize,
        "notes": list(found.notes),
    }


def written(kind: str, folder: Path, gigabytes: float) -> Path:
    """A smooth f4 cube of about that many GB: a `.npy` file, or a Zarr array with a map a chunk."""
    row = int(np.prod(ROW)) * 4
    length = max(int(gigabytes * 1e9 / row), SLAB)
    block = make(Data("smooth", (SLAB, *ROW), "f4"), 0, SLAB)
    path = folder / f"source.{kind}"
    if kind == "npy":
        out: Any = np.lib.format.open_memmap(path, "w+", np.dtype("f4"), (length, *ROW))
    else:
        out = tessarray.create_array(
            path, shape=(length, *ROW), dtype="f4", chunks=(1, *ROW), compressors="zstd:1"
        )
    for first in range(0, length, SLAB):
        part = block[: min(SLAB, length - first)]
        out[first : first + len(part)] = part + np.float32(first % 97) / 8
    return path


def fingerprint(source: Path) -> list[tuple[str, int, int, str]]:
    """Name, size, time of change and hash of every file of a source."""
    files = [source] if source.is_file() else sorted(path for path in source.rglob("*") if path.is_file())
    found = []
    for path in files:
        with path.open("rb") as opened:
            digest = hashlib.file_digest(opened, "sha256").hexdigest()
        status = path.stat()
        found.append((path.name, status.st_size, status.st_mtime_ns, digest))
    return found
