"""`tune workers`: how reads of everything, slices, and writes go faster with more workers, and when one is enough.

1. A part of the array is written in the layout, in scratch space, from real values.
2. In turns: it is read whole, read by slices, and written again with 1, 2, 4 ... workers.
3. Selections of 1, 2, 4 ... chunks are read with one worker and with all: the size from which all are faster is the
   size below which it does not pay to read in parallel.
"""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import tessarray
from tessarray.creation import create_array
from tessarray.display import palette, pictures
from tessarray.display.units import byte_text, count_text, digits
from tessarray.tuner.layout import Layout, layout_of
from tessarray.tuner.queries import Box, QueryClass
from tessarray.tuner.request import Queries
from tessarray.tuner.result import Estimate, WorkerFigures
from tessarray.tuner.scaling import choose_workers, worker_counts
from tessarray.tuner.source import NDArray, Subject
from tessarray.tuner.studies.model import (
    Cell,
    Column,
    Study,
    Table,
    mean_estimate,
    number,
    ratio_estimate,
    whiskers,
)
from tessarray.tuner.studies.runner import LayoutLike, Measured, Room, layout_from, study
from tessarray.tuner.trial import same, volume

__all__ = ["workers"]

REGION = 64 << 20  # bytes of values that are stored, at most
RATE = 6 << 20  # bytes of values for a second of the budget
ROUNDS = 15
STEPS = 14  # sizes of selections
MOST_SLICES = 24
GAIN = 1.05  # so much faster must all workers be to be worth it
COLUMNS = (
    Column("work"),
    Column("workers", "count"),
    Column("time", "seconds"),
    Column("values", "rate", "bytes of values per second"),
    Column("speed-up", "ratio", "against one worker, paired by round"),
    Column("efficiency", "share", "the speed-up for each worker"),
)
SIZES = (
    Column("selection", "bytes", "bytes of values"),
    Column("chunks", "count"),
    Column("one worker", "seconds"),
    Column("all workers", "seconds"),
    Column("gain", "ratio", "how many times as fast all are, paired by round"),
)


def _draw(figure: Any, found: Study) -> None:
    """Speed-up over workers, and one worker against all by the size of what is read."""
    panel = figure.add_subplot(1, 2, 1)
    rows = found.tables[0].records()
    counts: list[float] = []
    for colour, work in zip(palette.PRINTED, dict.fromkeys(str(row["work"]) for row in rows), strict=False):
        mine = [row for row in rows if row["work"] == work]
        counts, cells = [number(row["workers"]) for row in mine], [row["speed-up"] for row in mine]
        bars = whiskers(cells)
        panel.errorbar(counts, list(map(number, cells)), yerr=bars, fmt="o-", color=colour, label=work)
    panel.plot(counts, counts, ":", color=palette.PRINTED[6], label="ideal")
    panel.set(xlabel="workers", ylabel="speed-up", title="More workers", xticks=counts)
    panel.legend()
    sizes = found.tables[1].records()
    if not sizes:
        return
    panel = figure.add_subplot(1, 2, 2)
    for colour, name in zip(palette.PRINTED, ("one worker", "all workers"), strict=False):
        cells, places = [row[name] for row in sizes], [number(row["selection"]) for row in sizes]
        panel.errorbar(
            places, list(map(number, cells)), yerr=whiskers(cells), fmt="o-", color=colour, label=name
        )
    panel.set(xscale="log", yscale="log", xlabel="values read", ylabel="time", title="One or all, by size")
    pictures.unit_axis(panel.xaxis, "bytes")
    pictures.unit_axis(panel.yaxis, "seconds")
    panel.legend()


@study("Workers", draw=_draw, budget="15s")
def workers(room: Room, queries: Queries = None, layout: LayoutLike = None) -> Measured:
    """Measure speed-up and efficiency over 1, 2, 4 ... `threads` workers of reading all, of slices, and of writing.

    queries: the slices, as for `tessarray.tune`; planes and lines if left out. layout: a `layout.json` or a `Layout`;
    if left out the array's own, or what Tessarray chooses by itself. threads: the most workers, one per core if left
    out.

    Costs the budget (seconds), and memory and scratch space for some 64 MB of values. Raises `AccessError`,
    `ConstraintError`, `LayoutFileError`, `UntunableError`.
    """
    chosen, which = _chosen(room.subject, layout)
    stored = _Stored(room, chosen, room.classes(queries))
    times, sizes = stored.rounds(), stored.sizes()
    works = Table(
        f"Work with more workers, {chosen.text()} ({which})", COLUMNS, tuple(_rows(times, stored.bytes_of))
    )
    by_size = Table(f"One worker or {room.threads}, by the size of what is read", SIZES, tuple(sizes))
    room.notes.append(
        f"{byte_text(stored.values.nbytes)} of values, read just after they were written, on "
        f"{room.target.text()}; the machine has {os.cpu_count()} cores"
    )
    facts = {"layout": chosen.text(), "which": which}
    return (works, by_size), _meaning(works, by_size, room.threads), facts


def _chosen(subject: Subject, given: LayoutLike) -> tuple[Layout, str]:
    """The layout to measure, with a word for which it is."""
    if given is not None:
        name = "given" if isinstance(given, Layout) else os.fspath(given)
        return layout_from(given, subject.shape), name
    if subject.current is not None:
        return subject.current, "current"
    found = layout_of(create_array({}, shape=subject.shape, dtype=subject.dtype))
    assert found is not None, "our own choice is always one that we can say"
    return found, "tessarray's choice"


class _Stored:
    """Values of the array, stored in a layout, and read with sessions of different numbers of workers."""

    def __init__(self, room: Room, layout: Layout, classes: tuple[QueryClass, ...]) -> None:
        self.room, self.layout = room, layout
        self.counts = worker_counts(room.threads)
        most = int(min(REGION, max(room.clock.budget * RATE, 4 << 20)))
        shape = region_shape(layout.unit, room.subject.shape, most // room.subject.itemsize)
        sample = room.sample(most)
        self.values: NDArray = np.ascontiguousarray(sample.block(tuple((0, n) for n in shape)))
        self.store = room.scratch.store()
        sessions = {count: tessarray.Session(threads=count) for count in self.counts}
        room.say(f"writing {byte_text(self.values.nbytes)}")
        array = layout.create(self.store, shape, self.values.dtype, session=sessions[self.counts[-1]])
        array.write(..., self.values)
        self.arrays = {
            count: tessarray.open_array(self.store, mode="r+", session=session)
            for count, session in sessions.items()
        }
        self.slices = self._slices(classes)
        whole = float(self.values.nbytes)
        part = float(np.mean([volume(box) for box in self.slices])) * self.values.itemsize
        self.bytes_of = {"read all": whole, "slices": part, "write": whole}
        if not same(np.asarray(self.arrays[1][...]), self.values, 0.0):
            raise tessarray.TessarrayError(f"layout {layout.text()}: gave other values than were written")

    def _slices(self, classes: Sequence[QueryClass]) -> list[Box]:
        """Selections of the classes, cut to what is stored; as many of each as its weight."""
        shape = self.values.shape
        found: list[Box] = []
        for one in classes:
            for box in one.draw(self.room.rng, max(round(one.weight * MOST_SLICES), 1)):
                lengths = [min(b - a, n) for (a, b), n in zip(box, shape, strict=True)]
                starts = [a % (n - q + 1) for (a, _), n, q in zip(box, shape, lengths, strict=True)]
                found.append(tuple((at, at + length) for at, length in zip(starts, lengths, strict=True)))
        return found

    def opened(self, count: int) -> Any:
        """The array with so many workers; with nothing cached if the store is far."""
        if not self.room.target.remote:
            return self.arrays[count]
        return tessarray.open_array(self.store, mode="r", session=tessarray.Session(threads=count))

    def rounds(self) -> dict[tuple[str, int], list[float]]:
        """Seconds of each work and number of workers, round by round; a slice's are the mean over the slices."""
        out = np.empty_like(self.values)
        works: dict[str, Callable[[int], float]] = {
            "read all": lambda count: _timed(lambda array: array.read(out=out), self.opened(count)),
            "slices": self._read_slices,
            "write": lambda count: _timed(lambda array: array.write(..., self.values), self.arrays[count]),
        }
        times: dict[tuple[str, int], list[float]] = {
            (work, count): [] for work in works for count in self.counts
        }
        keys = list(times)
        for turn in range(ROUNDS + 1):
            self.room.say(f"round {turn + 1}: {', '.join(map(str, self.counts))} workers")
            for place in self.room.rng.permutation(len(keys)):
                work, count = keys[int(place)]
                seconds = works[work](count)
                if turn:  # the first round warms up
                    times[work, count].append(seconds)
            if turn >= 2 and self.room.clock.until(0.7) == 0:
                break
        return times

    def _read_slices(self, count: int) -> float:
        array = self.opened(count)
        return sum(_timed_read(array, box) for box in self.slices) / len(self.slices)

    def sizes(self) -> list[tuple[Cell, ...]]:
        """Rows for selections of more and more chunks, with one worker and with all."""
        if len(self.counts) == 1:
            return []
        most = self.counts[-1]
        boxes = growing(self.layout.chunks, self.values.shape)[:STEPS]
        times: dict[tuple[int, int], list[float]] = {(i, c): [] for i in range(len(boxes)) for c in (1, most)}
        for turn in range(3 * ROUNDS):
            self.room.say(f"round {turn + 1}: selections of 1 to {boxes[-1][0]} chunks")
            for i, (_, box) in enumerate(boxes):
                for count in (1, most) if turn % 2 else (most, 1):
                    seconds = _timed_read(self.opened(count), box)
                    if turn:
                        times[i, count].append(seconds)
            if turn >= 4 and self.room.clock.until(0.95) == 0:
                break
        rows: list[tuple[Cell, ...]] = []
        for i, (chunks, box) in enumerate(boxes):
            alone, together = times[i, 1], times[i, most]
            means = (mean_estimate(one, median=True) for one in (alone, together))
            rows.append((volume(box) * self.values.itemsize, chunks, *means, _gain(alone, together)))
        return rows


def _timed(act: Callable[[Any], Any], array: Any) -> float:
    started = time.perf_counter()
    act(array)
    return time.perf_counter() - started


def _timed_read(array: Any, box: Box) -> float:
    selection = tuple(slice(a, b) for a, b in box)
    return _timed(lambda array: array[selection], array)


def _gain(slow: Sequence[float], fast: Sequence[float]) -> Estimate:
    """How many times as fast: the median of paired ratios, with its interval."""
    return mean_estimate(np.asarray(slow) / np.maximum(np.asarray(fast), 1e-12), median=True)


def _rows(times: dict[tuple[str, int], list[float]], bytes_of: dict[str, float]) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for (work, count), seconds in times.items():
        speedup = _gain(times[work, 1], seconds) if count > 1 else Estimate(1.0, 1.0, 1.0)
        share = Estimate(speedup.value / count, speedup.low / count, speedup.high / count)
        rate = ratio_estimate([bytes_of[work]] * len(seconds), seconds)
        rows.append((work, count, mean_estimate(seconds, median=True), rate, speedup, share))
    return rows


def region_shape(unit: Sequence[int], shape: Sequence[int], elements: int) -> tuple[int, ...]:
    """Whole stored units of about `elements`, grown evenly; at least two, as far as the array goes."""
    size = math.prod(min(u, n) for u, n in zip(unit, shape, strict=True))
    counts = [1] * len(unit)
    while (axis := _next_axis(counts, unit, shape)) is not None:
        more = math.prod(counts) // counts[axis] * (counts[axis] + 1)
        if more * size > elements and math.prod(counts) > 1:
            break
        counts[axis] += 1
    return tuple(min(c * u, n) for c, u, n in zip(counts, unit, shape, strict=True))


def growing(chunks: Sequence[int], shape: Sequence[int]) -> list[tuple[int, Box]]:
    """Boxes of 1, 2, 4 ... whole chunks, with their numbers; the last is all."""
    counts = [1] * len(chunks)
    found = []
    while True:
        box = tuple((0, min(k * c, n)) for k, c, n in zip(counts, chunks, shape, strict=True))
        found.append((math.prod(counts), box))
        axis = _next_axis(counts, chunks, shape)
        if axis is None:
            return found
        counts[axis] = min(counts[axis] * 2, -(-shape[axis] // chunks[axis]))


def _next_axis(counts: Sequence[int], unit: Sequence[int], shape: Sequence[int]) -> int | None:
    """The axis along which fewest units are taken, of those with more; the last of equals. None if all are taken."""
    there = [axis for axis in range(len(counts)) if counts[axis] * unit[axis] < shape[axis]]
    return min(there, key=lambda axis: (counts[axis], -axis), default=None)


def _meaning(works: Table, sizes: Table, most: int) -> tuple[str, ...]:
    """Beyond how many workers each work gains nothing, and from which size on all of them pay."""
    if most == 1:
        return ("There is one worker only, so there is nothing to share out: give --threads, or more cores.",)
    rows: list[dict[str, Any]] = works.records()
    found = []
    for work in dict.fromkeys(row["work"] for row in rows):
        figures = [
            WorkerFigures(row["workers"], row["time"].value, row["speed-up"].value, row["efficiency"].value)
            for row in rows
            if row["work"] == work
        ]
        count = choose_workers(figures)
        best = next(one for one in figures if one.workers == count)
        gain = "as fast as more" if count == 1 else f"{digits(best.speedup)} times as fast as one"
        found.append(f"For '{work}' stop at {count} worker{'s' if count > 1 else ''}: {gain}.")
    start = worth_from(sizes)
    if start is None:
        found.append(f"No selection was read faster by {most} workers than by one beyond doubt.")
    else:
        found.append(
            f"From {byte_text(start[0])} ({count_text(start[1])} chunks) on {most} workers are faster than one; below, "
            "read several selections at once instead."
        )
    return tuple(found)


def worth_from(table: Table) -> tuple[float, float] | None:
    """The smallest selection (bytes, chunks) from which on all workers are faster beyond doubt; None if none is."""
    found = None
    for row in reversed(table.records()):
        gain = row["gain"]
        if not isinstance(gain, Estimate) or gain.value < GAIN or gain.low <= 1:
            break
        found = (number(row["selection"]), number(row["chunks"]))
    return found
