"""The driver of appends: frames of axis 0 one call after another, as fast as it goes or at an offered rate."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tessarray_bench import data
from tessarray_bench.model import Job
from tessarray_bench.systems.base import System
from tessarray_bench.worker import array
from tessarray_bench.worker.meter import Meter, Row, latency, touch


def run(job: Job, system: System, meter: Meter) -> Iterator[Row]:
    """The rows of appending frames, with the latency of calls, or of checking what was appended."""
    if job.process == "check":
        yield from array.check(job, system, meter)
        return
    assert job.workload.data is not None
    values = data.load(job.workload.data, Path(str(job.source)))
    touch(values.nbytes)
    path = Path(job.store)
    with meter.step("create") as row:
        handle = system.create(path, array.spec_of(job, growing=True))
    yield row
    if job.workload.options.get("rate"):
        row = _offered(job, system, handle, values, meter)
    else:
        row = _flat_out(job, system, handle, values, meter)
    with meter.step("finish") as finish:
        system.finish(handle)
    del handle
    # What a library has accepted but not yet stored is stored by `finish`: the rate counts both.
    row["wall"] += finish["wall"]
    yield row | array.stored(path) | array.layout_facts(system, path, job.workload.layout)
    yield finish
    with meter.step("sync", values.nbytes) as row:
        array.sync(path)
    yield row


def _flat_out(job: Job, system: System, handle: Any, values: Any, meter: Meter) -> Row:
    # Metered as one block: what a library does in the background between two calls is its work, too, and reading the
    # meter at every call would give it time that no clock sees.
    frames = int(job.workload.options.get("frames", 1))
    walls = []
    with meter.step("append", values.nbytes) as row:
        for start in range(0, len(values), frames):
            started = time.perf_counter()
            system.append(handle, values[start : start + frames])
            walls.append(time.perf_counter() - started)
    return row | {"calls": len(walls), "latency": latency(walls)}


def _offered(job: Job, system: System, handle: Any, values: Any, meter: Meter) -> Row:
    """Frames come at a steady rate and wait in a short queue; one that finds it full is dropped.

    `latency` is from the moment a frame came to the moment its append returned.
    """
    rate, room = float(job.workload.options["rate"]), int(job.workload.options.get("queue", 8))
    calls = meter.calls("append")
    kept: list[int] = []
    waiting: list[int] = []
    came = 0
    delays: list[float] = []
    started = time.perf_counter()
    while came < len(values) or waiting:
        now = time.perf_counter() - started
        while came < len(values) and came / rate <= now:
            if len(waiting) < room:
                waiting.append(came)
            came += 1
        if not waiting:
            time.sleep(max(came / rate - (time.perf_counter() - started), 0))
            continue
        frame = waiting.pop(0)
        with calls:
            system.append(handle, values[frame : frame + 1])
        delays.append(time.perf_counter() - started - frame / rate)
        kept.append(frame)
    np.save(Path(job.store).with_name("kept.npy"), np.array(kept, "i8"))
    row = calls.row(len(kept) * values[0].nbytes)
    ordered = sorted(delays)
    row["delay"] = {"p50": ordered[len(ordered) // 2], "max": ordered[-1]}
    return row | {"offered": rate, "dropped": len(values) - len(kept)}
