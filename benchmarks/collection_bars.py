"""The figures that collections are held to, each with its limit: `python benchmarks/collection_bars.py [PART...]`.

Every figure is a ratio to something that ran in the same minute, or a count; medians of interleaved repeats, opening
inside the timer for all, every value compared. Rivals are stacked and sharded arrays (what an expert makes by
hand), written and read by TensorStore, in the codec named in the row. Atlas has an environment of its own:
`tessarray bench run fleet --systems tessarray-collection,atlas,stacked` compares with it.
"""

from __future__ import annotations

import shutil
import statistics
import sys
import tarfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import tensorstore
from bars import Part, Row, child, main, peak, scaled, size_of, warm
from fleets import (
    check,
    context,
    read_collection,
    read_stacked,
    smooth,
    values_of,
    write_collection,
    write_stacked,
)

import tessarray
from tessarray.display.units import byte_text, time_text

CODECS = ("zstd:3", "blosc:lz4:5:shuffle")
PROFILE = dict.fromkeys(("temperature", "salinity", "pressure", "oxygen"), ((50, 168), "f4"))
GRIDDED = {
    "temperature": ((100, 100, 48), "f4"),
    "energy": ((100, 100, 48), "f8"),
    "humidity": ((100, 100, 48), "f4"),
}


def medians(repeats: int, touched: int = 0, **turns: Callable[[], Any]) -> dict[str, float]:
    """Seconds of each turn; they alternate. touched: bytes that are warmed before each."""
    found: dict[str, list[float]] = {name: [] for name in turns}
    for _ in range(repeats):
        for name, turn in turns.items():
            warm(touched)
            begun = time.perf_counter()
            turn()
            found[name].append(time.perf_counter() - begun)
    return {name: statistics.median(times) for name, times in found.items()}


# ---- parts


def fleet(
    title: str, variables: dict[str, Any], chunks: Any, selection: Any, count: int, limit: float
) -> Part:
    """Writes, sizes and bulk slices of one fleet."""

    def part(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
        n = scaled(count, scale)
        values = values_of(variables, n)
        names = list(variables)
        for codec in CODECS:
            ours, theirs = folder / "ours.pack", folder / "stacked"
            turns: dict[str, list[float]] = {"ours": [], "stacked": []}
            for _ in range(repeats):
                for key, path, write in (
                    ("ours", ours, write_collection),
                    ("stacked", theirs, write_stacked),
                ):
                    shutil.rmtree(path, ignore_errors=True)
                    begun = time.perf_counter()
                    write(path, values, codec, chunks or "auto" if write is write_collection else chunks)
                    turns[key].append(time.perf_counter() - begun)
            wrote = {key: statistics.median(times) for key, times in turns.items()}
            result = read_collection(ours, names, selection)
            touched = 2 * sum(one.nbytes for one in result.values())
            check(result, values, selection)
            check(read_stacked(theirs, names, selection), values, selection)
            del result
            read = medians(
                repeats,
                touched,
                ours=lambda: read_collection(ours, names, selection),  # noqa: B023
                stacked=lambda: read_stacked(theirs, names, selection),  # noqa: B023
            )
            label = f"{title}, N = {n}, {codec}"
            ratio = read["stacked"] / read["ours"]
            yield (
                f"{label}: slice, ours / stacked",
                f"{time_text(read['ours'])} / {time_text(read['stacked'])} = {ratio:.2f}",
                f">= {limit}",
                ratio >= limit,
            )
            ratio = wrote["stacked"] / wrote["ours"]
            yield (
                f"{label}: write",
                f"{time_text(wrote['ours'])} / {time_text(wrote['stacked'])} = {ratio:.2f}",
                ">= 1",
                ratio >= 1,
            )
            sizes = size_of(ours), size_of(theirs)
            yield (
                f"{label}: size",
                f"{byte_text(sizes[0])} / {byte_text(sizes[1])} = {sizes[0] / sizes[1]:.3f}",
                "<= 1.03",
                sizes[0] <= 1.03 * sizes[1],
            )

    return part


def corner(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """The first quarter of every axis of gridded datasets, against a loop that decodes each chunk with zstd."""
    n = scaled(200, scale)
    values = values_of(GRIDDED, n)
    chunks, names = (50, 50, 24), list(GRIDDED)
    selection = (slice(0, 25), slice(0, 25), slice(0, 12))
    write_collection(folder / "ours.pack", values, "zstd:3", chunks)
    codec = numcodecs.Zstd(level=3)
    encoded = {
        name: [codec.encode(np.ascontiguousarray(one[:50, :50, :24])) for one in held]
        for name, held in values.items()
    }

    def loop() -> dict[str, np.ndarray]:
        found = {}
        for name, held in encoded.items():
            dtype = values[name][0].dtype
            parts = [np.frombuffer(codec.decode(one), dtype).reshape(chunks)[selection] for one in held]
            found[name] = np.stack(parts)
        return found

    check(read_collection(folder / "ours.pack", names, selection), values, selection)
    check(loop(), values, selection)
    read = medians(repeats, ours=lambda: read_collection(folder / "ours.pack", names, selection), loop=loop)
    ratio = read["ours"] / read["loop"]
    yield (
        f"gridded, N = {n}, a quarter of every axis, ms, ours / zstd loop",
        f"{time_text(read['ours'])} / {time_text(read['loop'])} = {ratio:.2f}",
        "<= 0.6",
        ratio <= 0.6,
    )


def opening(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """Opening and listing of a fleet of sensors, and what a bulk slice takes of memory."""
    for count, limit in ((1000, 1e-3), (100_000, 0.15)):
        n = scaled(count, scale)
        path = folder / f"{n}.pack"
        begun = time.perf_counter()
        sensors(path, n)
        wrote = time.perf_counter() - begun

        def opened() -> Any:
            return tessarray.open_collection(path)  # noqa: B023

        found = medians(
            repeats,
            open=opened,
            list=lambda: len(opened()),
            one=lambda: opened().read("b", "d000003"),
            read=lambda: opened().read("b"),
        )
        label = f"{n} x 3"
        yield f"{label}: open", time_text(found["open"]), f"<= {time_text(limit)}", found["open"] <= limit
        yield f"{label}: open and list all", time_text(found["list"]), "", None
        yield f"{label}: open and look one up", time_text(found["one"]), "", None
        yield f"{label}: open and read one variable of all", time_text(found["read"]), "", None
        yield f"{label}: write, a dataset", time_text(wrote / n), "", None


def sensors(path: Path, count: int) -> Any:
    """A fleet of datasets of three small arrays."""
    made = tessarray.create_collection(path, durable=False)
    one = np.arange(24, dtype="f4")
    with made.transaction("sensors") as tx:
        for i in range(count):
            tx.add(f"d{i:06}", dict.fromkeys(("a", "b", "c"), one + i))
    return made


def adding(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """What an array costs in the catalogue, and what one dataset more costs, in fleets of three sizes."""
    times = {}
    for count in (1000, 10_000, 100_000):
        n = scaled(count, scale)
        fleet = sensors(folder / f"{n}.pack", n)
        if count == 100_000:
            nbytes = size_of(folder / f"{n}.pack" / "catalogue") / (3 * n)
            yield f"{n} x 3: catalogue, bytes an array", f"{nbytes:.1f}", "<= 60", nbytes <= 60
        numbers = iter(range(1_000_000))

        def add() -> None:
            with fleet.transaction("one more") as tx:  # noqa: B023
                tx.add(f"new-{next(numbers):06}", {"a": np.arange(24, dtype="f4")})  # noqa: B023

        times[n] = medians(max(repeats, 5) * 10, add=add)["add"]
    for n, seconds in times.items():
        label = f"{n} x 3: add one dataset and commit"
        yield label, time_text(seconds), "<= 5 ms", seconds <= 5e-3
    first, *_, last = times.values()
    yield "the same, largest / smallest fleet", f"{last / first:.2f}", "<= 1.5", last / first <= 1.5


def few(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """A random tenth of the profiles, and the first slice of one variable of one dataset."""
    n = scaled(1000, scale)
    values, names = values_of(PROFILE, n), list(PROFILE)
    ours, theirs = folder / "ours.pack", folder / "stacked"
    write_collection(ours, values, "blosc:lz4:5:shuffle", "auto")
    write_stacked(theirs, values, "blosc:lz4:5:shuffle", None)
    places = np.sort(np.random.default_rng(0).choice(n, n // 10, replace=False))
    datasets, selection = [f"d{i:06}" for i in places], (slice(0, 13),)

    def tenth() -> dict[str, np.ndarray]:
        fleet = tessarray.open_collection(ours)
        return {name: fleet.read(name, datasets, selection=selection) for name in names}

    def tenth_stacked() -> dict[str, np.ndarray]:
        own = context()
        found = {}
        for name in names:
            spec = {"driver": "zarr3", "kvstore": {"driver": "file", "path": f"{theirs / name}/"}}
            store = tensorstore.open(spec, open=True, context=own).result()
            found[name] = store[places.tolist(), 0:13].read()
        return {name: read.result() for name, read in found.items()}

    for read in (tenth(), tenth_stacked()):
        for name, found in read.items():
            np.testing.assert_array_equal(found, np.stack([values[name][i][:13] for i in places]))
    found = medians(repeats * 3, ours=tenth, stacked=tenth_stacked)
    ratio = found["stacked"] / found["ours"]
    yield (
        f"profile, N = {n}, a random tenth: ms, ours / stacked",
        f"{time_text(found['ours'])} / {time_text(found['stacked'])} = {ratio:.2f}",
        ">= 4",
        ratio >= 4,
    )
    numbers = iter(np.random.default_rng(1).integers(0, n, 1000))
    firsts, opens = [], []
    for _ in range(repeats * 10):
        begun = time.perf_counter()
        fleet = tessarray.open_collection(ours)
        opened = time.perf_counter()
        fleet.read("oxygen", f"d{next(numbers):06}", selection=selection)
        firsts.append(time.perf_counter() - opened)
        opens.append(opened - begun)
    first = statistics.median(firsts)
    yield (
        "the first slice of one variable of one dataset after open",
        time_text(first),
        "<= 300 µs",
        first <= 3e-4,
    )


def scaling(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """Bulk reads by one thread and by two."""
    for title, variables, chunks, selection, count in (
        ("profile", PROFILE, "auto", (slice(0, 13),), 1000),
        ("gridded", GRIDDED, (50, 50, 24), (slice(0, 25),), 300),
    ):
        n = scaled(count, scale)
        path = folder / f"{title}.pack"
        write_collection(path, values_of(variables, n), "zstd:3", chunks)

        def read(threads: int) -> None:
            fleet = tessarray.open_collection(path, session=tessarray.Session(threads=threads))  # noqa: B023
            for name in variables:  # noqa: B023
                fleet.read(name, selection=selection)  # noqa: B023

        read(2)
        touched = 700 << 20 if title == "gridded" else 100 << 20
        found = medians(repeats, touched, one=lambda: read(1), two=lambda: read(2))
        ratio = found["one"] / found["two"]
        label = f"{title}, N = {n}, zstd:3: slice by 1 / 2 threads"
        text = f"{time_text(found['one'])} / {time_text(found['two'])} = {ratio:.2f}"
        yield label, text, ">= 1.7", ratio >= 1.7


def million(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """A million records of up to 50 values, ragged, each in a process of its own."""
    n = scaled(1_000_000, scale)
    built = child("build", f"{folder}/million.pack:{n}")
    used = child("use", f"{folder}/million.pack:{n}")
    yield f"{n} records: build", time_text(built["seconds"]), "<= 120 s", built["seconds"] <= 120
    yield f"{n} records: open and list", time_text(used["open"]), "<= 1 s", used["open"] <= 1
    yield f"{n} records: look one up", time_text(used["lookup"]), "<= 1 ms", used["lookup"] <= 1e-3
    yield f"{n} records: read all", time_text(used["read"]), "", None
    peak = max(built["peak"], used["peak"])
    yield (
        f"{n} records: peak memory (build, use)",
        f"{byte_text(built['peak'])}, {byte_text(used['peak'])}",
        "<= 1.5 GB",
        peak <= 1.5e9,
    )


def build_million(argument: str) -> dict[str, float]:
    path, _, count = argument.rpartition(":")
    values = np.random.default_rng(0).random(50).astype("f4")
    fleet = tessarray.create_collection(path, durable=False)
    begun = time.perf_counter()
    n = int(count)
    for begin in range(0, n, 50_000):
        with fleet.transaction("some") as tx:
            for i in range(begin, min(begin + 50_000, n)):
                tx.add(f"r{i:07}", {"v": values[: 25 + i % 26]})
    return {"seconds": time.perf_counter() - begun, "peak": peak()}


def use_million(argument: str) -> dict[str, float]:
    path, _, count = argument.rpartition(":")
    begun = time.perf_counter()
    fleet = tessarray.open_collection(path)
    assert len(fleet) == int(count)
    opened = time.perf_counter() - begun
    lookups = []
    for i in np.random.default_rng(0).integers(0, int(count), 100):
        begun = time.perf_counter()
        found = fleet.read("v", f"r{i:07}")
        lookups.append(time.perf_counter() - begun)
        assert len(found[0]) == 25 + i % 26
    begun = time.perf_counter()
    found = fleet.read("v")
    read = time.perf_counter() - begun
    assert len(found) == int(count)
    return {"open": opened, "lookup": statistics.median(lookups), "read": read, "peak": peak()}


CHILDREN = {"build": build_million, "use": use_million}


def argo(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """The real profiles: built, and read across."""
    archive = Path(__file__).resolve().parents[2] / "shared" / "data" / "argo-profiles.tar.xz"
    if not archive.exists():
        yield "argo profiles", "the files are not here", "", None
        return
    import xarray

    with tarfile.open(archive) as files:
        files.extractall(folder / "argo", filter="data")
    paths = sorted((folder / "argo").rglob("*.nc"))

    def build() -> None:
        shutil.rmtree(folder / "x.pack", ignore_errors=True)
        tessarray.build_collection(paths, folder / "x.pack")

    def open_each() -> None:
        for path in paths:
            with xarray.open_dataset(path, decode_timedelta=False) as dataset:
                dataset.load()

    found = medians(repeats, build=build, xarray=open_each)
    ratio = found["xarray"] / found["build"]
    yield (
        f"argo, {len(paths)} files: build, s; xarray opening each",
        f"{found['build']:.2f}; {found['xarray']:.2f} = {ratio:.2f}",
        ">= 3",
        ratio >= 3,
    )
    read = medians(
        repeats,
        read=lambda: tessarray.open_collection(folder / "x.pack").read_many(
            ["TEMP", "PRES", "PSAL"], missing="skip"
        ),
    )
    yield (
        "argo: TEMP, PRES, PSAL of all, open inside",
        time_text(read["read"]),
        "<= 20 ms",
        read["read"] <= 0.02,
    )
    opened = tessarray.open_collection(folder / "x.pack")
    again = medians(repeats, read=lambda: opened.read_many(["TEMP", "PRES", "PSAL"], missing="skip"))
    yield "argo: the same on an open collection", time_text(again["read"]), "", None


def growth(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """Bulk reads over the number of datasets: time a dataset."""
    counts, each = [scaled(n, scale) for n in (100, 1000, 10_000, 100_000)], []
    one = smooth((50, 20), "f4", 0)
    for n in counts:
        path = folder / f"{n}.pack"
        fleet = tessarray.create_collection(path, durable=False)
        with fleet.transaction("t") as tx:
            for i in range(n):
                tx.add(f"d{i:06}", {"v": one})
        found = medians(repeats, read=lambda: tessarray.open_collection(path).read("v", selection=np.s_[:12]))  # noqa: B023
        each.append(found["read"] / n)
        shutil.rmtree(path)
    slope = np.polyfit(np.log(counts), np.log(np.array(each) * counts), 1)[0]
    text = ", ".join(map(time_text, each))
    yield f"bulk slice, a dataset at N = {counts}", text, "", None
    yield "power of N that fits the times", f"{slope:.3f}", "<= 1.05", bool(slope <= 1.05)


def memory(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """Peak of a bulk slice above the result, in a process of its own."""
    n = scaled(300, scale)
    write_collection(folder / "ours.pack", values_of(GRIDDED, n), "zstd:3", (50, 50, 24))
    found = child("slice", str(folder / "ours.pack"))
    yield (
        "bulk slice of gridded: peak above the result",
        byte_text(found["above"]),
        "<= 100 MB",
        found["above"] <= 100e6,
    )


def slice_alone(path: str) -> dict[str, float]:
    tessarray.open_collection(path).read("humidity", "d000000")
    before = peak()
    result = tessarray.open_collection(path).read("temperature", selection=np.s_[:25])
    after = peak()
    return {"above": after - before - result.nbytes}


CHILDREN["slice"] = slice_alone

PARTS: dict[str, Part] = {
    "profile": fleet("profile", PROFILE, None, (slice(0, 13),), 1000, 4),
    "gridded": fleet("gridded", GRIDDED, (50, 50, 24), (slice(0, 25),), 300, 2.5),
    "corner": corner,
    "few": few,
    "opening": opening,
    "adding": adding,
    "argo": argo,
    "growth": growth,
    "scaling": scaling,
    "memory": memory,
    "million": million,
}

if __name__ == "__main__":
    sys.exit(main(__doc__, PARTS, CHILDREN, 66))
