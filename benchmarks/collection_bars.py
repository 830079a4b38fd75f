"""The figures that collections are held to, each with its limit: `python benchmarks/collection_bars.py [PART...]`.

Every figure is a ratio to something that ran in the same minute, or a count; medians of interleaved repeats, opening
inside the timer for all, every value compared. Rivals are stacked and sharded arrays (what an expert makes by
hand), written and read by TensorStore, in the codec named in the row. Atlas has an environment of its own:
`tessarray bench run fleet --systems tessarray-collection,atlas,stacked` compares with it.
"""

from __future__ import annotations

import math
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

import tessarray
from tessarray.display.units import byte_text, time_text

CODECS = ("zstd:3", "blosc:lz4:5:shuffle")
PROFILE = dict.fromkeys(("temperature", "salinity", "pressure", "oxygen"), ((50, 168), "f4"))
GRIDDED = {
    "temperature": ((100, 100, 48), "f4"),
    "energy": ((100, 100, 48), "f8"),
    "humidity": ((100, 100, 48), "f4"),
}
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
        yield label, f"{seconds * 1e3:.2f}", "<= 5", seconds <= 5e-3
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
        f"{first * 1e3:.2f}",
        "<= 0.3",
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
    yield f"{n} records: build, s", f"{built['seconds']:.1f}", "<= 120", built["seconds"] <= 120
    yield f"{n} records: open and list, s", f"{used['open']:.2f}", "<= 1", used["open"] <= 1
    yield f"{n} records: look one up", time_text(used["lookup"]), "<= 1 ms", used["lookup"] <= 1e-3
    yield f"{n} records: read all, s", f"{used['read']:.2f}", "", None
    peak = max(built["peak"], used["peak"])
    yield (
        f"{n} records: peak memory, GB (build, use)",
        f"{built['peak']:.2f}, {used['peak']:.2f}",
        "<= 1.5",
        peak <= 1.5,
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
    return {"seconds": time.perf_counter() - begun, "peak": peak() / 1e9}


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
    return {"open": opened, "lookup": statistics.median(lookups), "read": read, "peak": peak() / 1e9}


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
        each.append(found["read"] / n * 1e6)
        shutil.rmtree(path)
    slope = np.polyfit(np.log(counts), np.log(np.array(each) * counts), 1)[0]
    text = ", ".join(f"{time:.1f}" for time in each)
    yield f"bulk slice, us a dataset at N = {counts}", text, "", None
    yield "power of N that fits the times", f"{slope:.3f}", "<= 1.05", bool(slope <= 1.05)


def memory(folder: Path, repeats: int, scale: float) -> Iterator[Row]:
    """Peak of a bulk slice above the result, in a process of its own."""
    n = scaled(300, scale)
    write_collection(folder / "ours.pack", values_of(GRIDDED, n), "zstd:3", (50, 50, 24))
    found = child("slice", str(folder / "ours.pack"))
    yield (
        "bulk slice of gridded: peak above the result, MB",
        f"{found['above']:.0f}",
        "<= 100",
        found["above"] <= 100,
    )


def slice_alone(path: str) -> dict[str, float]:
    tessarray.open_collection(path).read("humidity", "d000000")
    before = peak() / 1e6
    result = tessarray.open_collection(path).read("temperature", selection=np.s_[:25])
    after = peak() / 1e6
    return {"above": after - before - result.nbytes / 1e6}


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
