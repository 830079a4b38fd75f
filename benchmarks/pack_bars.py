"""The figures that packs are held to, each with its limit, in one table: `.venv/bin/python benchmarks/pack_bars.py`.

Every figure is a ratio to something that ran in the same minute, or a count of bytes; medians of interleaved repeats.
h5py is used as its own documentation says is fastest for many small datasets (`libver="latest"`).
"""

from __future__ import annotations

import os
import resource
import shutil
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from bars import Part, Row, child, main, scaled, size_of

import tessarray
from tessarray.display.units import byte_text, time_text

SMALL = ((2048, (128,)), (2048, (128, 128)), (8192, (256,)))


def values_of(shape: tuple[int, ...]) -> np.ndarray:
    return np.random.default_rng(0).random(shape).astype("f4")


def remove(path: Path) -> None:
    shutil.rmtree(path) if path.is_dir() else path.unlink()


def medians(repeats: int, *turns: Callable[[], dict[str, float]]) -> list[dict[str, float]]:
    """The medians of what each turn measures; turns alternate."""
    found: list[list[dict[str, float]]] = [[] for _ in turns]
    for _ in range(repeats):
        for turn, into in zip(turns, found, strict=True):
            into.append(turn())
    return [{key: statistics.median(one[key] for one in several) for key in several[0]} for several in found]


# ---- many small arrays, against h5py


class Clock:
    """Adds up the parts of a loop."""

    def __init__(self) -> None:
        self.sums: dict[str, float] = {}
        self.last = time.perf_counter()

    def add(self, name: str) -> None:
        now = time.perf_counter()
        self.sums[name] = self.sums.get(name, 0.0) + now - self.last
        self.last = now


Create = Callable[[str], Any]


def job(
    path: Path,
    count: int,
    shape: tuple[int, ...],
    writing: Callable[[Path, tuple[int, ...]], AbstractContextManager[Create]],
    reading: Callable[[Path], AbstractContextManager[Any]],
) -> dict[str, float]:
    """Create, write, close; open, read. Seconds in all, and bytes."""
    values = values_of(shape)
    begun = time.perf_counter()
    with writing(path, shape) as create:
        clock = Clock()
        for i in range(count):
            array = create(f"a{i}")
            clock.add("create")
            array[...] = values
            clock.add("write")
    found = clock.sums | {"write job": time.perf_counter() - begun, "bytes": float(size_of(path))}
    del array, create
    begun = time.perf_counter()
    with reading(path) as root:
        clock = Clock()
        for i in range(count):
            opened = root[f"a{i}"]
            clock.add("open")
            got = opened[...]
            clock.add("read")
    found |= clock.sums | {"read job": time.perf_counter() - begun}
    assert np.array_equal(got, values)
    remove(path)
    return found


@contextmanager
def writing_pack(path: Path, shape: tuple[int, ...], durable: bool) -> Iterator[Create]:
    with tessarray.create_pack(path, durable=durable).transaction("write") as tx:
        yield lambda name: tx.create_array(name, shape=shape, dtype="f4", chunks=shape, compressors=None)


@contextmanager
def reading_pack(path: Path) -> Iterator[Any]:
    pack = tessarray.open_pack(path)
    yield pack.at(pack.version).root


@contextmanager
def writing_h5py(path: Path, shape: tuple[int, ...], durable: bool) -> Iterator[Create]:
    with h5py.File(path, "w", libver="latest") as file:
        yield lambda name: file.create_dataset(name, shape=shape, dtype="f4")
    for place in (path, path.parent) if durable else ():
        descriptor = os.open(place, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def small(folder: Path, repeats: int, scale: float, durable: bool = False) -> Iterator[Row]:
    for full, shape in SMALL:
        count = scaled(full, scale)
        ours, theirs = medians(
            repeats,
            partial(
                job, folder / "p.pack", count, shape, partial(writing_pack, durable=durable), reading_pack
            ),
            partial(job, folder / "p.h5", count, shape, partial(writing_h5py, durable=durable), h5py.File),
        )
        title = f"{count} x {shape}"

        def against(what: str, a: float, b: float, limit: float) -> Row:
            return (
                what,
                f"{time_text(a)} against {time_text(b)}: {b / a:.2f}",
                f">= {limit:g}",
                b >= limit * a,
            )

        if not durable:
            a, b = ((one["create"] + one["write"]) / count for one in (ours, theirs))
            yield against(f"{title}: create + write", a, b, 4)
            a, b = ((one["open"] + one["read"]) / count for one in (ours, theirs))
            yield against(f"{title}: open + read", a, b, 3)
            found = f"{ours['bytes'] / count:.0f} against {theirs['bytes'] / count:.0f} B"
            yield (f"{title}: stored, per array", found, "<= h5py's", ours["bytes"] <= theirs["bytes"])
        how = "durable" if durable else "accepted"
        yield against(f"{title}: job, create to {how} close", ours["write job"], theirs["write job"], 4)
        yield against(f"{title}: job, open to last value", ours["read job"], theirs["read job"], 4)


def durable(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    yield from small(folder, repeats, scale, durable=True)


# ---- commits


def commits(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """Many commits of one chunk of one small array: the last ones against the first."""
    count, window = scaled(10_000, scale), scaled(200, scale)
    pack = tessarray.create_pack(folder / "p.pack", durable=False)
    with pack.transaction("make") as tx:
        tx.create_array("a", data=np.zeros(1024, "f4"), chunks=(64,), compressors=None)
    times, written = [], []
    given = np.arange(64, dtype="f4")
    for n in range(count):
        given[0] = n
        before = written_bytes()
        begun = time.perf_counter()
        with pack.transaction("one chunk") as tx:
            tx["a"][64 * (n % 16) : 64 * (n % 16) + 64] = given
        times.append(time.perf_counter() - begun)
        written.append(written_bytes() - before)
    # From the 10th on, as many as at the end, so that what falls due now and then falls into both.
    first, last = times[9 : 9 + window], times[-window:]
    ratio = statistics.mean(last) / statistics.mean(first)
    yield (f"commit {count} over commit 10 (means of {window})", f"{ratio:.2f}", "<= 2", ratio <= 2)
    ratio = statistics.median(last) / statistics.median(first)
    yield (f"commit {count} over commit 10 (medians of {window})", f"{ratio:.2f}", "<= 2", ratio <= 2)
    usual = statistics.median(times)
    yield ("one commit, not durable", time_text(usual), "<= 2 ms", usual <= 2e-3)
    yield ("the slowest commit (it merges parts)", time_text(max(times)), "", None)
    first_bytes, last_bytes = statistics.mean(written[9 : 9 + window]), statistics.mean(written[-window:])
    found = f"{byte_text(first_bytes)}, {byte_text(last_bytes)}"
    yield ("written by a commit of 256 bytes, first and last ones", found, "", None)
    begun = time.perf_counter()
    assert tessarray.open_pack(folder / "p.pack")["a"][0] >= 0
    yield (
        f"open after {count} commits, to a value",
        time_text(time.perf_counter() - begun),
        "",
        None,
    )


def written_bytes() -> int:
    text = Path("/proc/self/io").read_text() if Path("/proc/self/io").exists() else "wchar: 0"
    return int(next(line for line in text.splitlines() if line.startswith("wchar")).split()[1])


def updates(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """Small updates of one large sharded array: bytes written over bytes changed."""
    n = 512
    pack = tessarray.create_pack(folder / "p.pack", durable=False)
    with pack.transaction("make") as tx:
        data = np.random.default_rng(0).random((n, n, 32)).astype("f4")
        tx.create_array("a", data=data, chunks=(32, 32, 32), shards=(256, 256, 32), compressors=None)
    chunk = 32**3 * 4
    for rows in (32, 128, 256):
        given = np.random.default_rng(1).random((rows, rows, 32)).astype("f4")
        before = written_bytes()
        with pack.transaction("a box") as tx:
            tx["a"][:rows, :rows, :] = given
        written = written_bytes() - before
        allowed = 1.1 * given.nbytes + chunk
        found = f"{written / given.nbytes:.3f} of {byte_text(given.nbytes)}"
        yield (
            f"update of {(rows // 32) ** 2} inner chunks, bytes written per byte",
            found,
            "<= 1.1 + a chunk",
            written <= allowed,
        )


# ---- a million chunks


def million(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    count = scaled(1_000_000, scale)
    path = folder / "p.pack"
    pack = tessarray.create_pack(path, durable=False)
    # Chunks of different lengths, so that nothing in the catalogue repeats.
    rng = np.random.default_rng(0)
    noise = rng.integers(1, 255, (count, 32), dtype="u1")
    values = np.where(np.arange(32) < rng.integers(1, 33, (count, 1)), noise, 1).ravel()
    begun = time.perf_counter()
    with pack.transaction("write") as tx:
        array = tx.create_array("a", shape=(count * 32,), dtype="u1", chunks=(32,), compressors="lz4")
        array[...] = values
    took = time.perf_counter() - begun
    yield (f"{count} chunks: written, per chunk", time_text(took / count), "", None)
    catalogue = size_of(path / "catalogue")
    yield (
        f"{count} chunks: catalogue",
        f"{catalogue / count:.1f} B a chunk",
        "<= 24 B",
        catalogue <= 24 * count,
    )
    found = [child("open", path) for _ in range(repeats)]
    opened, value, memory = (
        statistics.median(one[key] for one in found) for key in ("open", "value", "memory")
    )
    yield (f"{count} chunks: open", time_text(opened), "<= 50 ms", opened <= 0.05)
    yield (f"{count} chunks: open to a value", time_text(value), "", None)
    yield (f"{count} chunks: memory of open and a value", byte_text(memory), "<= 100 MB", memory <= 100e6)


def open_and_measure(path: str) -> dict[str, float]:
    before = resident()
    begun = time.perf_counter()
    pack = tessarray.open_pack(path)
    at = pack.at(pack.version)
    opened = time.perf_counter() - begun
    array = at["a"]
    assert array[len(array) // 2] > 0
    value = time.perf_counter() - begun
    return {"open": opened, "value": value, "memory": float(resident() - before)}


def resident() -> int:
    """Bytes of this process in memory; where the system does not say, the most there ever were."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


# ---- one large array, against a plain directory


def large(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    n = scaled(512, scale ** (1 / 3))
    data = np.random.default_rng(0).integers(0, 4096, (n, n, n)).astype("u2")
    layout = {"chunks": (32, 32, 32), "shards": (256, 256, 256)}

    def turn(path: Path, write: Callable[[Path], None], read: Callable[[Path], Any]) -> dict[str, float]:
        begun = time.perf_counter()
        write(path)
        wrote = time.perf_counter() - begun
        begun = time.perf_counter()
        got = read(path)
        took = time.perf_counter() - begun
        assert np.array_equal(got, data)
        remove(path)
        return {"write": wrote, "read": took}

    def write_pack(path: Path) -> None:
        with tessarray.create_pack(path, durable=False).transaction("write") as tx:
            tx.create_array("a", shape=data.shape, dtype="u2", **layout)[...] = data

    def write_plain(path: Path) -> None:
        tessarray.create_array(path, shape=data.shape, dtype="u2", **layout)[...] = data

    pack = partial(turn, folder / "p.pack", write_pack, lambda path: tessarray.open_pack(path)["a"][...])
    plain = partial(turn, folder / "p.zarr", write_plain, lambda path: tessarray.open(path)[...])
    ours, theirs, again = medians(repeats, pack, plain, plain)
    for what in ("write", "read"):
        noise = abs(again[what] / theirs[what] - 1)
        ratio = ours[what] / theirs[what]
        found = f"{time_text(ours[what])} against {time_text(theirs[what])}: {ratio:.3f} (noise {noise:.3f})"
        yield (f"{byte_text(data.nbytes)} sharded, {what}", found, "<= 1.1", ratio <= 1.1)


def flat(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """Time an array from 10^3 to 10^6 arrays, in transactions of 10^5 at most."""
    first: dict[str, float] | None = None
    shape = (32,)
    values = values_of(shape)
    for full in (1_000, 10_000, 100_000, 1_000_000):
        count = scaled(full, scale)
        path = folder / "p.pack"
        pack = tessarray.create_pack(path, durable=False)
        begun = time.perf_counter()
        for start in range(0, count, 100_000):
            with pack.transaction("write") as tx:
                for i in range(start, min(start + 100_000, count)):
                    tx.create_array(
                        f"g{i // 1000}/a{i}", shape=shape, dtype="f4", chunks=shape, compressors=None
                    )[...] = values
        wrote = (time.perf_counter() - begun) / count
        del tx
        read = read_arrays(path, range(min(count, 100_000)))
        cold = read_arrays(path, np.random.default_rng(0).integers(0, count, min(count, 10_000)).tolist())
        found = {"write": wrote, "read": read}
        first = first or found
        text = f"{time_text(wrote)}, {time_text(read)}, {byte_text(size_of(path) / count)}"
        ratio = max(found[key] / first[key] for key in found)
        yield (f"{count} arrays: write, open + read, stored", text, "<= 1.5 x first", ratio <= 1.5)
        what = f"{count} arrays: open + read of 10,000 random ones, from scratch"
        yield (what, time_text(cold), "", None)
        remove(path)


def read_arrays(path: Path, numbers: Iterable[int]) -> float:
    """Seconds an array, from the opening of the pack to the last value."""
    begun = time.perf_counter()
    pack = tessarray.open_pack(path)
    root = pack.at(pack.version).root
    done = 0
    for i in numbers:
        assert root[f"g{i // 1000}/a{i}"][...].size
        done += 1
    return (time.perf_counter() - begun) / done


PARTS: dict[str, Part] = {
    "small": small,
    "durable": durable,
    "commits": commits,
    "updates": updates,
    "million": million,
    "large": large,
    "flat": flat,
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS, {"open": open_and_measure}, 62))
