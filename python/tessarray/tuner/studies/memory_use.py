"""`tune memory`: the peak of a read and of a write above their values, against workers and sizes, and the formula.

Every figure is of a new process that reads into, or writes from, memory that is there already; what it holds more at
its peak than before is what the engine took. The formula, with w workers (one more where there are several, since
what one has done waits to be taken up), chunks of c bytes of values and e bytes encoded, and shards of s bytes encoded:

    read     w (c + e)           a worker has a chunk as it is stored and, where it is no row of the result, decoded
    write    w (c + e + s)       a worker has the shard that it fills and a chunk; without shards s is e once more
    change   w (c + e + 2 s)     a write of parts of objects has each as it was, too

To each worker that encodes with zstd come some 1.3 MB that this codec takes for itself (0.2 MB with others, and to
decode).
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion.layout import grow
from tessarray.tuner.constraints import Work, memory_of
from tessarray.tuner.errors import TuneError
from tessarray.tuner.events import Listener
from tessarray.tuner.layout import Layout
from tessarray.tuner.scaling import worker_counts
from tessarray.tuner.studies.memory_words import memory_meaning
from tessarray.tuner.studies.model import Cell, Column, Study, Table
from tessarray.tuner.studies.setting import CODEC, Setting, layout_from, setting
from tessarray.tuner.studies.usual import sharded
from tessarray.tuner.target import Scratch, Target
from tessarray.tuner.trial import volume

__all__ = ["memory"]

KIB, MIB = 1 << 10, 1 << 20
VALUES = 96 * MIB
WORKS: tuple[Work, ...] = ("write", "read", "change")
CUTS = ((256 * KIB, None), (2 * MIB, None), (8 * MIB, None), (128 * KIB, 8 * MIB), (1 * MIB, 16 * MIB))
TIMEOUT = 120.0
NOTES = (
    "each figure is of a new process that reads into, or writes from, memory that is there already; a change writes "
    "parts of objects",
    "the formula: read w(c + e), write w(c + e + s), change w(c + e + 2s), and what a codec takes for itself; "
    "w workers and one more where there are several, c bytes of values of a chunk, e encoded, s of a stored object "
    "encoded",
)
COLUMNS = (
    Column("chunks"),
    Column("chunk", "bytes", "values of one chunk"),
    Column("object", "bytes", "values of one stored object: a shard, or a chunk"),
    Column("ratio", "ratio"),
    Column("workers", "count"),
    Column("work"),
    Column("peak", "bytes", "above the values and what the process had"),
    Column("formula", "bytes"),
    Column("peak / formula", "ratio"),
)


def memory(
    source: Any,
    *,
    variable: str | None = None,
    layout: str | os.PathLike[str] | Layout | None = None,
    codec: str | None = None,
    budget: float | str = 60,
    store: str = "local",
    scratch: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: Listener | None = None,
) -> Study:
    """Measure the peak memory of reading, writing and changing an array, above its values, in new processes.

    layout: only this one (a `layout.json` or a `Layout`), beside the array's own; where left out also five cuts of 256
    KiB to 16 MiB. codec: of those cuts; the array's own, or `blosc:zstd:3:shuffle`. threads: the most workers; 1, 2,
    4 ... of them are measured. Measured in a local folder: what a store in memory holds is the store's.

    Costs the budget (seconds; cuts for which it does not suffice are left out), some 100 MB of memory for values in
    each process, and as much scratch space. Raises `TuneError` where the system does not tell how much memory is used.
    """
    asked = {"layout": None if layout is None else str(layout), "codec": codec}
    with setting(
        "memory", source, variable, budget=budget, store=store, scratch=scratch, seed=seed, threads=threads,
        progress=progress, request=asked,
    ) as room:  # fmt: skip
        layouts = _layouts(room, layout, codec)
        with Scratch(Target("local", folder=room.target.folder)) as folder:
            place = Path(folder.store().root)
            place.mkdir(parents=True, exist_ok=True)
            rows = _measure(room, layouts, place)
        table = Table("Peak memory above the values", COLUMNS, tuple(rows))
        room.notes += NOTES
        return room.study("Memory", (table,), memory_meaning(table, room.threads), {"threads": room.threads})


def _layouts(room: Setting, given: Any, codec: str | None) -> list[Layout]:
    subject = room.subject
    found = [subject.current] if subject.current is not None else []
    if given is not None:
        found.append(given if isinstance(given, Layout) else layout_from(given, subject.shape))
        return list(dict.fromkeys(found))
    name = codec or (subject.current.codec if subject.current else CODEC)
    ones = (1,) * len(subject.shape)
    for chunk, shard in CUTS:
        cut = grow(ones, subject.shape, max(chunk // subject.itemsize, 1))
        objects = sharded(cut, subject.shape, subject.itemsize, shard) if shard else None
        if shard is None or objects is not None:
            found.append(Layout(cut, objects, name))
    return list(dict.fromkeys(found))


def _measure(room: Setting, layouts: Sequence[Layout], place: Path) -> list[tuple[Cell, ...]]:
    """Rows of all layouts. All workers come first, then one, since these two say most where time is short."""
    rows: dict[tuple[int, int, int], tuple[Cell, ...]] = {}
    sample = room.sample(min(VALUES, 64 * MIB))
    counts = worker_counts(room.threads)
    file = place / "values.npy"
    for workers in dict.fromkeys((counts[-1], *counts)):
        for number, layout in enumerate(layouts):
            if rows and room.clock.until(0.95) == 0:
                room.notes.append(
                    "the budget did not suffice for all cuts and workers: give a larger --budget"
                )
                return [rows[key] for key in sorted(rows)]
            shape = _extent(layout, room.subject.shape, room.subject.itemsize, room.threads)
            values = np.ascontiguousarray(sample.block(tuple((0, n) for n in shape)))
            np.save(file, values)
            task = {
                "values": str(file),
                "store": str(place / "array"),
                "layout": layout.document(),
                "workers": workers,
            }
            for order, work in enumerate(WORKS):
                room.say(f"{work} with {workers} workers, {layout.text()}")
                found = _child({**task, "what": work})
                rows[number, workers, order] = _row(room, layout, workers, work, values.nbytes, found)
    return [rows[key] for key in sorted(rows)]


def _row(
    room: Setting, layout: Layout, workers: int, work: Work, nbytes: int, found: Mapping[str, int]
) -> tuple[Cell, ...]:  # fmt: skip
    itemsize = room.subject.itemsize
    ratio = nbytes / max(found["stored"], 1)
    peak = max(found["peak"] - found["before"], 0)
    told = memory_of(layout, itemsize, workers, ratio, work)
    cut = layout.text().rpartition(",")[0]
    chunk, unit = math.prod(layout.chunks) * itemsize, math.prod(layout.unit) * itemsize
    return cut, chunk, unit, ratio, workers, work, peak, told, peak / told


def _extent(layout: Layout, shape: Sequence[int], itemsize: int, workers: int) -> tuple[int, ...]:
    """Stored units enough for every worker to have two, of at most some 100 MB; of an array that is smaller, all of it
    and, so that there is work to share, more of the same along the first axis.
    """
    size = volume(tuple((0, n) for n in layout.unit)) * itemsize
    count = max(min(VALUES // max(size, 1), 4 * workers), workers + 1, 2)
    limit = tuple(max(-(-n // u), 1) for n, u in zip(shape, layout.unit, strict=True))
    counts = list(grow((1,) * len(limit), limit, count))
    counts[0] = max(counts[0], -(-count * counts[0] // math.prod(counts)))
    return tuple(c * u for c, u in zip(counts, layout.unit, strict=True))


def _child(task: Mapping[str, Any]) -> dict[str, int]:
    """One task in a new process. Raises `TuneError` with what it said where it failed."""
    command = [sys.executable, "-m", "tessarray.tuner.studies.memory_child", json.dumps(task)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        raise TuneError(
            f"memory: a {task['what']} took more than {TIMEOUT:g} s: give smaller chunks"
        ) from None
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        raise TuneError(
            f"memory: a {task['what']} in a new process failed: {said[-1] if said else done.returncode}"
        )
    found: dict[str, int] = json.loads(done.stdout.splitlines()[-1])
    return found
