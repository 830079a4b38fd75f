"""The drivers of many small arrays in one file or store: `write` makes them, `read` opens and reads each, `check`
lets another reader read all of them.

The whole jobs, from opening the file to its closing, are single steps; the parts of them are timed apart, for each
array, on a file of their own.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

from tessarray_bench import fleet_data
from tessarray_bench.model import Job, Variable
from tessarray_bench.systems.base import System
from tessarray_bench.worker import verify
from tessarray_bench.worker.array import stored, sync
from tessarray_bench.worker.fleet import facts, fleet_of
from tessarray_bench.worker.meter import Meter, Row, touch


def run(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """The rows of writing, reading or checking a file of many small arrays."""
    fleet_data.use(fleet_of(job), job.source, mapped=job.process != "write")
    yield from {"write": write, "read": read, "check": check}[job.process](job, system, meter)


def _variable(job: Job) -> Variable:
    """The one kind of array that the file holds."""
    (variable,) = fleet_of(job).variables
    return variable


# ---- write


def write(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """Create, write and close the file, then the job as a whole."""
    fleet, variable, path = fleet_of(job), _variable(job), Path(job.store)
    names, values = fleet_data.names(fleet), list(fleet_data.column(fleet, 0))
    nbytes = sum(array.nbytes for array in values)
    touch(min(nbytes, fleet_data.DISTINCT_BYTES))

    parts = path.with_name(f"parts-{path.name}")
    handle = system.create_small(parts, job.workload)
    calls = meter.calls("create")
    arrays = []
    for name in names:
        with calls:
            arrays.append(system.add_small(handle, name, variable.shape, variable.dtype))
    yield calls.row()
    calls = meter.calls("write")
    for array, given in zip(arrays, values, strict=True):
        with calls:
            system.write_small(array, given)
    yield calls.row(nbytes)
    del array
    arrays.clear()
    with meter.step("close") as row:
        system.finish(handle)
    yield row
    del handle
    shutil.rmtree(parts) if parts.is_dir() else parts.unlink()

    with meter.step("whole write job", nbytes) as row:
        handle = system.create_small(path, job.workload)
        for name, given in zip(names, values, strict=True):
            system.write_small(system.add_small(handle, name, variable.shape, variable.dtype), given)
        system.finish(handle)
    del handle
    yield row | stored(path) | facts(system, path, job.workload.layout)
    with meter.step("sync", nbytes) as row:
        sync(path)
    yield row


# ---- read


def read(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """Open the file and every array of it, read them, compare with the source."""
    fleet, path = fleet_of(job), Path(job.store)
    names, values = fleet_data.names(fleet), list(fleet_data.column(fleet, 0))
    expected = [fleet_data.checksum(array) for array in values]
    nbytes = sum(array.nbytes for array in values)
    touch(values[0].nbytes)

    with meter.step("open") as row:
        handle = system.open_small(path, job.workload)
    yield row
    calls = meter.calls("read")
    for name, given in zip(names, values, strict=True):
        with calls:
            found = system.read_small(system.get_small(handle, name))
            fleet_data.checksum(found)
        verify.same(found, given, f"array {name!r} ")
        del found
    yield calls.row(nbytes, verified=True)
    system.close(handle)
    del handle

    with meter.step("whole job", nbytes, verified=True) as row:
        handle = system.open_small(path, job.workload)
        sums = [fleet_data.checksum(system.read_small(system.get_small(handle, name))) for name in names]
        system.close(handle)
    for name, found_sum, expected_sum in zip(names, sums, expected, strict=True):
        if found_sum != expected_sum:
            raise verify.WrongAnswer(f"array {name!r}: expected checksum {expected_sum}, found {found_sum}")
    yield row


# ---- check


def check(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """All arrays, one by one; only the reading is timed."""
    fleet = fleet_of(job)
    calls = meter.calls("check")
    with calls:
        handle = system.open_small(Path(job.store), job.workload)
    moved = 0
    for name, given in zip(fleet_data.names(fleet), fleet_data.column(fleet, 0), strict=True):
        with calls:
            found = system.read_small(system.get_small(handle, name))
        verify.same(found, given, f"array {name!r} ")
        moved += given.nbytes
    system.close(handle)
    yield calls.row(moved, verified=True, reader=job.system)
