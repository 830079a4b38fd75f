"""The drivers of a fleet of datasets: `write` makes the store, `read` takes one variable of all datasets and all
variables of one, `check` lets another reader read all of it.

What a system puts off at `open_fleet` until the first read shows in `open + slice`, which times both; `slice` is the
same on a handle that has been read from, of a variable that this process has not read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tessarray_bench import fleet_data
from tessarray_bench.model import Fleet, Job, Layout
from tessarray_bench.systems.base import System, Unsupported
from tessarray_bench.worker import verify
from tessarray_bench.worker.array import layout_facts, stored, sync
from tessarray_bench.worker.meter import Meter, Row, touch

ONE_DATASETS = 20  # how many datasets the step `one dataset` opens and reads


def run(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """The rows of writing, reading or checking a fleet."""
    fleet_data.use(fleet_of(job), job.source, mapped=job.process != "write")
    yield from {"write": write, "read": read, "check": check}[job.process](job, system, meter)


def fleet_of(job: Job) -> Fleet:
    """The fleet that a job asks for."""
    assert job.workload.fleet is not None
    return job.workload.fleet


def attempt(step: str, made: Callable[[], Row]) -> Row:
    """The row of a step, or the row that says why the system has not got what it needs."""
    try:
        return made()
    except Unsupported as refusal:
        return {"step": step, "status": "unsupported", "reason": str(refusal)}


def close(system: System, handle: Any) -> None:
    """Close what `open_fleet` returned; the path alone, which some give, has nothing to close."""
    if not isinstance(handle, Path):
        system.close(handle)


# ---- write


def write(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """All datasets lie in memory; until other processes can read all of them."""
    path = Path(job.store)
    held = fleet_data.datasets(fleet_of(job))
    nbytes = sum(values.nbytes for _, dataset in held for values in dataset.values())
    touch(min(nbytes, fleet_data.DISTINCT_BYTES))
    # Each dataset's mapping is a copy: an adapter may take it apart.
    datasets = ((name, dict(dataset)) for name, dataset in held)
    with meter.step("write", nbytes) as row:
        system.write_fleet(path, datasets, job.workload)
    if next(datasets, None) is not None:
        raise verify.WrongAnswer("write: not all datasets were taken")
    yield row | stored(path) | facts(system, path, job.workload.layout)
    with meter.step("sync", nbytes) as row:
        sync(path)
    yield row


def facts(system: System, path: Path, asked: Layout | None) -> Row:
    """The layout as the store has it, where the adapter's `facts` are made for more than one array."""
    try:
        return layout_facts(system, path, asked)
    except Exception as reason:
        return {"facts": {"unknown": f"{type(reason).__name__}: {reason}"}}


# ---- read


def read(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """Open the fleet and read of it in each way, every answer compared with the source."""
    fleet, path, workload = fleet_of(job), Path(job.store), job.workload
    names = fleet_data.names(fleet)
    share = float(workload.options.get("slice", 0.25))
    first, other = 0, _alike(fleet)
    touch(sum(values.nbytes for values in fleet_data.column(fleet, first)))

    with meter.step("open") as row:
        handle = system.open_fleet(path, workload)
    yield row
    close(system, handle)
    del handle

    handle = None

    def bulk(step: str, number: int, share: float, opening: bool) -> Row:
        nonlocal handle
        variable = fleet.variables[number].name
        calls = meter.calls(step)
        with calls:
            if opening:
                handle = system.open_fleet(path, workload)
            found = consume(system.read_fleet(handle, variable, names, share))
        return calls.row(verify_column(fleet, number, found, share), verified=True)

    yield attempt("open + slice", lambda: bulk("open + slice", first, share, True))
    if handle is None:
        handle = system.open_fleet(path, workload)
    yield attempt("slice", lambda: bulk("slice", other, share, False))
    yield attempt("one dataset", lambda: _one_dataset(job, system, meter))
    yield attempt("read all", lambda: _read_all(fleet, names, system, handle, meter))
    close(system, handle)


def _alike(fleet: Fleet) -> int:
    """The last variable with the dtype and shape of the first: read second, nothing of it can have been kept."""
    first = fleet.variables[0]
    alike = [n for n, v in enumerate(fleet.variables) if (v.dtype, v.shape) == (first.dtype, first.shape)]
    return alike[-1]


def _one_dataset(job: Job, system: System, meter: Meter) -> Row:
    """From the name of the store to all values of one dataset of it."""
    fleet = fleet_of(job)
    names = fleet_data.names(fleet)
    rng = np.random.default_rng([job.seed, job.repeat, 1])
    calls = meter.calls("one dataset")
    moved = 0
    for index in rng.choice(len(names), min(ONE_DATASETS, len(names)), replace=False).tolist():
        with calls:
            handle = system.open_fleet(Path(job.store), job.workload)
            found = system.read_dataset(handle, names[index])
            consume(found.values())
        moved += verify_dataset(fleet, index, found)
        close(system, handle)
        del handle, found
    return calls.row(moved, verified=True)


def _read_all(fleet: Fleet, names: list[str], system: System, handle: Any, meter: Meter) -> Row:
    """Every value, a variable at a time, on an open handle."""
    calls = meter.calls("read all")
    moved = 0
    for number, variable in enumerate(fleet.variables):
        with calls:
            found = consume(system.read_fleet(handle, variable.name, names, 1.0))
        moved += verify_column(fleet, number, found, 1.0)
        del found
    return calls.row(moved, verified=True)


# ---- check


def check(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """All datasets, one by one; only the reading is timed."""
    fleet = fleet_of(job)
    calls = meter.calls("check")
    with calls:
        handle = system.open_fleet(Path(job.store), job.workload)
    moved = 0
    for index, name in enumerate(fleet_data.names(fleet)):
        with calls:
            found = system.read_dataset(handle, name)
        moved += verify_dataset(fleet, index, found)
    close(system, handle)
    yield calls.row(moved, verified=True, reader=job.system)


# ---- verification, outside the timers


def consume(arrays: Iterable[Any]) -> list[Any]:
    """Read every value, as a user would: an answer that is lazy is computed here, within the timer."""
    held = [np.asarray(array) for array in arrays]
    for array in held:
        fleet_data.checksum(array)
    return held


def verify_column(fleet: Fleet, number: int, found: Sequence[Any], share: float) -> int:
    """Compare one variable of all datasets; the bytes of it."""
    variable, names = fleet.variables[number].name, fleet_data.names(fleet)
    if len(found) != len(names):
        text = f"variable {variable!r}: expected {len(names)} datasets, found {len(found)}"
        missing = f" (the first one missing is {names[len(found)]!r})" if len(found) < len(names) else ""
        raise verify.WrongAnswer(text + missing)
    moved = 0
    for name, array, whole in zip(names, found, fleet_data.column(fleet, number), strict=True):
        expected = fleet_data.corner(whole, share)
        verify.same(array, expected, f"dataset {name!r}, variable {variable!r} ")
        moved += expected.nbytes
    return moved


def verify_dataset(fleet: Fleet, index: int, found: dict[str, Any]) -> int:
    """Compare all variables of one dataset; the bytes of it."""
    name = fleet_data.names(fleet)[index]
    expected = fleet_data.dataset(fleet, index)
    if set(found) != set(expected):
        raise verify.WrongAnswer(
            f"dataset {name!r}: expected variables {sorted(expected)}, found {sorted(found)}"
        )
    for variable, values in expected.items():
        verify.same(found[variable], values, f"dataset {name!r}, variable {variable!r} ")
    return sum(values.nbytes for values in expected.values())
