"""`tune memory`: the peak of a read and of a write above their values, against workers and sizes, and the formula.

Every figure is of a new process that reads into, or writes from, memory that is there already; what it holds more at
its peak than before is what the engine took. The formula, with w workers (one more if there are several, since
what one has done waits to be taken up), chunks of c bytes of values and e bytes encoded, and shards of s bytes encoded:

    read     w (c + e)           a worker has a chunk as it is stored and, if it is no row of the result, decoded
    write    w (c + e + s)       a worker has the shard that it fills and a chunk; without shards s is e once more
    change   w (c + e + 2 s)     a write of parts of objects has each as it was, too

To each worker that encodes with zstd come some 1.3 MB that this codec takes for itself (0.2 MB with others, and to
decode).
"""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion.layout import grow
from tessarray.display import palette, pictures
from tessarray.display.units import byte_text, digits
from tessarray.tuner.constraints import Work, memory_of
from tessarray.tuner.errors import TuneError
from tessarray.tuner.layout import Layout
from tessarray.tuner.scaling import worker_counts
from tessarray.tuner.studies.defaults import sharded
from tessarray.tuner.studies.model import Cell, Column, Study, Table, number
from tessarray.tuner.studies.runner import CODEC, LayoutLike, Measured, Room, layout_from, study
from tessarray.tuner.target import Scratch, Target
from tessarray.tuner.trial import volume

__all__ = ["memory"]

KIB, MIB = 1 << 10, 1 << 20
VALUES = 96 * MIB
WORKS: tuple[Work, ...] = ("write", "read", "change")
CUTS = ((256 * KIB, None), (2 * MIB, None), (8 * MIB, None), (128 * KIB, 8 * MIB), (1 * MIB, 16 * MIB))
TIMEOUT = 120.0
SLACK = 2e6  # bytes of stacks and of the allocator, below which a ratio says nothing
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


def _draw(figure: Any, found: Study) -> None:
    """Peaks (dots) and the formula (lines) over workers, by work and cut."""
    rows = found.tables[0].records()
    works = list(dict.fromkeys(str(row["work"]) for row in rows))
    cuts = list(dict.fromkeys(str(row["chunks"]) for row in rows))
    for at, work in enumerate(works):
        panel = figure.add_subplot(1, len(works), at + 1)
        for colour, cut in zip(palette.PRINTED, cuts, strict=False):
            mine = [row for row in rows if row["work"] == work and row["chunks"] == cut]
            counts = [number(row["workers"]) for row in mine]
            panel.plot(counts, [number(row["peak"]) for row in mine], "o", color=colour, label=cut)
            panel.plot(counts, [number(row["formula"]) for row in mine], "-", color=colour, lw=0.8)
        panel.set(xlabel="workers", ylabel="above the values" if at == 0 else "", title=work, yscale="log")
        panel.set_xticks(sorted({int(number(row["workers"])) for row in rows}))
        pictures.unit_axis(panel.yaxis, "bytes")
        if at == 0:
            panel.legend(fontsize=6)
    figure.suptitle("Peak memory: measured (dots) and by the formula (lines)")


@study("Memory", draw=_draw, budget="60s")
def memory(room: Room, layout: LayoutLike = None, codec: str | None = None) -> Measured:
    """Measure the peak memory of reading, writing and changing an array, above its values, in new processes.

    layout: only this one (a `layout.json` or a `Layout`), beside the array's own; if left out also five cuts of 256 KiB
    to 16 MiB. codec: of those cuts; the array's own, or `blosc:zstd:3:shuffle`. threads: the most workers; 1, 2, 4 ...
    of them are measured. Measured in a local folder: what a store in memory holds is the store's.

    Costs the budget (seconds; cuts for which it does not suffice are left out), some 100 MB of memory for values in
    each process, and as much scratch space. Raises `TuneError` if the system does not tell how much memory is used.
    """
    layouts = _layouts(room, layout, codec)
    with Scratch(Target("local", folder=room.target.folder)) as folder:
        place = Path(folder.store().root)
        place.mkdir(parents=True, exist_ok=True)
        rows = _measure(room, layouts, place)
    room.notes.append(
        "each figure is of a new process that reads into, or writes from, memory that is there already; a change "
        "writes parts of objects"
    )
    table = Table("Peak memory above the values", COLUMNS, tuple(rows))
    return (table,), _meaning(table), {"threads": room.threads}


def _layouts(room: Room, given: LayoutLike, codec: str | None) -> list[Layout]:
    subject = room.subject
    found = [subject.current] if subject.current is not None else []
    if given is not None:
        found.append(layout_from(given, subject.shape))
        return list(dict.fromkeys(found))
    name = codec or (subject.current.codec if subject.current else CODEC)
    ones = (1,) * len(subject.shape)
    for chunk, shard in CUTS:
        cut = grow(ones, subject.shape, max(chunk // subject.itemsize, 1))
        objects = sharded(cut, subject.shape, subject.itemsize, shard) if shard else None
        if shard is None or objects is not None:
            found.append(Layout(cut, objects, name))
    return list(dict.fromkeys(found))


def _measure(room: Room, layouts: Sequence[Layout], place: Path) -> list[tuple[Cell, ...]]:
    """Rows of all layouts. All workers come first, then one, since these two say most if time is short."""
    rows: dict[tuple[int, int, int], tuple[Cell, ...]] = {}
    sample = room.sample(min(VALUES, 64 * MIB))
    counts = worker_counts(room.threads)
    file = place / "values.npy"
    for workers in dict.fromkeys((counts[-1], *counts)):
        for at, layout in enumerate(layouts):
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
                rows[at, workers, order] = _row(room, layout, workers, work, values.nbytes, found)
    return [rows[key] for key in sorted(rows)]


def _row(
    room: Room, layout: Layout, workers: int, work: Work, nbytes: int, found: Mapping[str, int]
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
    """One task in a new process. Raises `TuneError` with what it said if it failed."""
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


def _meaning(table: Table) -> tuple[str, ...]:
    """The largest peaks, how far the formula can be trusted, and what more workers hold."""
    rows: list[dict[str, Any]] = table.records()
    worst = [max((row for row in rows if row["work"] == work), key=lambda row: row["peak"]) for work in WORKS]
    told = "; ".join(
        f"a {row['work']} {byte_text(row['peak'])} ({row['chunks']}, {row['workers']} workers)"
        for row in worst
    )
    found = [f"At most, above the values: {told}."]
    large = [row for row in rows if row["formula"] > SLACK]
    if not large:
        return (*found, "All peaks are within what stacks and the allocator take: memory is no concern here.")
    ratios = [row["peak / formula"] for row in large]
    above = sum(row["peak"] > row["formula"] + SLACK for row in large)
    found.append(
        f"Peaks are {digits(float(np.median(ratios)))} times the formula in the middle, {digits(max(ratios))} at most; "
        f"{above} of {len(large)} lie above it."
    )
    most = max(row["workers"] for row in rows)
    alone = {(row["chunks"], row["work"]): row["peak"] for row in rows if row["workers"] == 1}
    steps = [
        row["peak"] / alone[row["chunks"], row["work"]]
        for row in large
        if row["workers"] == most > 1 and alone.get((row["chunks"], row["work"]), 0) > SLACK
    ]
    if steps:
        found.append(f"{most} workers hold {digits(float(np.median(steps)))} times as much as one.")
    return tuple(found)
