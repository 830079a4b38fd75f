"""One array: `write` makes it, `read` runs the query classes, `check` lets another reader read all of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

from tessarray_bench import data, queries
from tessarray_bench.model import Data, Job, Layout, Query
from tessarray_bench.systems.base import ArraySpec, System, Unsupported
from tessarray_bench.worker import verify
from tessarray_bench.worker.meter import Meter, Row, touch

OPENINGS = 10
CHECK_BYTES = 64 << 20
# A query class ends after so many seconds of calls (of an option of the same name), once it has made a few of them.
QUERY_SECONDS = 10.0
FEWEST = 5


def run(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """The rows of writing, reading or checking one array."""
    assert job.workload.data is not None
    assert job.source is not None
    yield from {"write": write, "read": read, "check": check}[job.process](job, system, meter)


def spec_of(job: Job, growing: bool = False) -> ArraySpec:
    """The array that a job asks for."""
    array = job.workload.data
    assert array is not None
    return ArraySpec(array.shape, array.dtype, job.workload.layout, growing)


# ---- write


def write(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """Write the array, close it, and say what was stored."""
    array = _data(job)
    values = data.load(array, Path(str(job.source)), job.workload.options.get("order", "C"))
    touch(values.nbytes)
    path = Path(job.store)
    with meter.step("write", array.nbytes) as row:
        handle = system.create(path, spec_of(job))
        system.write(handle, values)
        system.finish(handle)
    del handle
    yield row | stored(path) | layout_facts(system, path, job.workload.layout)
    with meter.step("sync", array.nbytes) as row:
        sync(path)
    yield row


def stored(path: Path) -> Row:
    """Bytes and files of a store."""
    files = [path] if path.is_file() else [p for p in path.rglob("*") if p.is_file()]
    return {"stored": sum(p.stat().st_size for p in files), "files": len(files)}


def sync(path: Path) -> None:
    """Ask the system to put every file and folder of a store on stable storage, the same way for every library."""
    places = [path, *path.rglob("*")] if path.is_dir() else [path]
    for place in (*places, path.parent):
        descriptor = os.open(place, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def layout_facts(system: System, path: Path, asked: Layout | None) -> Row:
    """What the store says of its layout, and in what it differs from the one asked for."""
    facts = system.facts(path)
    return {"facts": facts, "differs": differences(asked, facts)} if facts else {}


def differences(asked: Layout | None, facts: dict[str, Any]) -> list[str]:
    """Where the stored layout is not the one that was asked for, in words."""
    if asked is None:
        return []
    expected = asked.to_json()
    found = {key: list(value) if isinstance(value, tuple) else value for key, value in facts.items()}
    lines = []
    for key in ("chunks", "shards", "codec"):
        if key in found and found[key] != expected[key]:
            lines.append(f"{key}: {found[key]} where {expected[key]} was asked")
    return lines


# ---- read


def read(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """Open the array, read what each query asks for, compare every answer with the source."""
    array = _data(job)
    values = _values(array, Path(str(job.source)))
    largest = max((_bytes(query, array, job) for query in job.workload.queries), default=0)
    touch(largest)

    def opened() -> Any:
        return system.open_url(job.url) if job.url else system.open(Path(job.store))

    with meter.step("open") as row:
        handle = opened()
    yield row
    for number, query in enumerate(job.workload.queries):
        seed = [job.seed, job.repeat, number]
        try:
            if query.selection == "points":
                yield _points(query, system, handle, values, seed, meter)
            else:
                yield _query(query, system, handle, values, job, seed, meter)
        except Unsupported as refusal:
            yield {"step": query.name, "status": "unsupported", "reason": str(refusal)}
        except verify.WrongAnswer as wrong:
            yield {"step": query.name, "status": "wrong", "reason": str(wrong)}
    system.close(handle)
    del handle
    yield _openings(opened, system, values, job, meter)


def _openings(opened: Any, system: System, values: Any, job: Job, meter: Meter) -> Row:
    """Open the array and read one element of it, from the name to the value."""
    calls = meter.calls("open + element")
    one = Query(
        "", "[" + ", ".join(f"i{axis}" for axis in range(values.ndim)) + "]", 1 if job.url else OPENINGS
    )
    for place in queries.selections(one, values.shape, None, [job.seed, job.repeat, 1000]):
        with calls:
            handle = opened()
            found = system.read(handle, place)
        verify.in_memory(found, "element")
        verify.same(found, np.asarray(values[place]), f"element {_text(place)}")
        system.close(handle)
    return calls.row(values.itemsize * len(calls.walls), verified=True)


def _query(
    query: Query, system: System, handle: Any, values: Any, job: Job, seed: list[int], meter: Meter
) -> Row:
    layout = job.workload.layout
    if query.count > 1 and query.selection not in queries.WORDS:
        # Calls whose time does not count, so that what happens once only does not, either.
        for place in queries.selections(Query("", query.selection), values.shape, layout, [*seed, 1]):
            verify.same(system.read(handle, place), np.asarray(values[place]), f"{query.name} {_text(place)}")
    calls = meter.calls(query.name)
    moved = 0
    places = list(queries.selections(query, values.shape, layout, seed))
    done = 0
    if query.at_once > 1:
        moved = _at_once(query, system, handle, values, places, calls)
        done = len(places)
    else:
        limit = float(job.workload.options.get("query_seconds", QUERY_SECONDS))
        for done, place in enumerate(places, 1):
            with calls:
                found = system.read(handle, place)
            expected = np.asarray(values[place])
            verify.in_memory(found, query.name)
            verify.same(found, expected, f"{query.name} {_text(place)}")
            moved += expected.nbytes
            del found
            if done >= FEWEST and sum(calls.walls) > limit:
                break
    return sampled(calls.row(moved, verified=True), done, len(places))


SUMS = (
    "wall",
    "nbytes",
    "cpu_user",
    "cpu_system",
    "read",
    "written",
    "read_calls",
    "write_calls",
    "requests",
)


def sampled(row: Row, done: int, planned: int) -> Row:
    """The row of all planned calls, where only the first `done` were made: sums in proportion, and marked so."""
    if done == planned:
        return row
    sums = {key: row[key] * planned / done for key in (*SUMS, "transferred") if key in row}
    return row | sums | {"calls": planned, "sampled": done}


def _at_once(query: Query, system: System, handle: Any, values: Any, places: list[Any], calls: Any) -> int:
    """All calls of a query class from `at_once` threads of the caller; timed together, in batches that fit memory."""
    moved = 0
    with ThreadPoolExecutor(query.at_once) as pool:
        for batch in queries.batches(iter(places), 4 * query.at_once):
            with calls:
                found = list(pool.map(lambda place: system.read(handle, place), batch))
            for place, answer in zip(batch, found, strict=True):
                expected = np.asarray(values[place])
                verify.in_memory(answer, query.name)
                verify.same(answer, expected, f"{query.name} {_text(place)}")
                moved += expected.nbytes
    return moved


def _points(query: Query, system: System, handle: Any, values: Any, seed: list[int], meter: Meter) -> Row:
    coordinates = queries.points(query, values.shape, seed)
    calls = meter.calls(query.name)
    for _ in range(3):
        with calls:
            found = system.read_points(handle, coordinates)
        verify.in_memory(found, query.name)
        verify.same(found, np.asarray(values[coordinates]), f"{query.name} ")
    return calls.row(3 * query.count * values.itemsize, verified=True)


# ---- check


def check(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """Read all of the store with `system`, which did not write it where there is a choice, and compare."""
    array = _data(job)
    expected = _values(array, Path(str(job.source)))
    kept = Path(job.store).with_name("kept.npy")
    if kept.exists():  # an append at an offered rate, which dropped frames
        expected = expected[np.load(kept)]
    calls = meter.calls("check")
    with calls:
        handle = system.open(Path(job.store))
    outer = job.workload.layout.outer[0] if job.workload.layout else 1
    row_bytes = max(array.nbytes // max(array.shape[0], 1), 1)
    rows = max(CHECK_BYTES // row_bytes // outer, 1) * outer
    rest = tuple(slice(0, extent) for extent in expected.shape[1:])
    for start in range(0, expected.shape[0], rows):
        place = (slice(start, min(start + rows, expected.shape[0])), *rest)
        with calls:
            found = system.read(handle, place)
        verify.same(found, np.asarray(expected[place]), f"stored {_text(place)}")
        del found
    shape = getattr(handle, "shape", None)
    if isinstance(shape, tuple) and shape != expected.shape:
        raise verify.WrongAnswer(f"stored array: expected shape {expected.shape}, found {shape}")
    system.close(handle)
    yield calls.row(expected.nbytes, verified=True, reader=job.system)


# ---- shared


def _data(job: Job) -> Data:
    assert job.workload.data is not None
    return job.workload.data


def _values(array: Data, path: Path) -> Any:
    """The values to compare with: mapped, so that they cost no memory of the process; strings are loaded."""
    return data.load(array, path) if array.dtype == "string" else np.load(path, mmap_mode="r")


def _bytes(query: Query, array: Data, job: Job) -> int:
    if query.selection == "points":
        return query.count * array.itemsize
    first = next(iter(queries.selections(query, array.shape, job.workload.layout, [0])))
    return queries.size(first) * array.itemsize * query.at_once


def _text(place: tuple[slice | int, ...]) -> str:
    return "[" + ", ".join(f"{p.start}:{p.stop}" if isinstance(p, slice) else str(p) for p in place) + "]"
