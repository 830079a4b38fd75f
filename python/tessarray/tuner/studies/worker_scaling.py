"""`tune workers`: how reads of everything, slices, and writes go faster with more workers, and when one is enough.

1. A part of the array is written in the layout, in scratch space, from real values.
2. In turns: it is read whole, read by slices, and written again with 1, 2, 4 ... workers.
3. Selections of 1, 2, 4 ... chunks are read with one worker and with all: where all begin to be faster is the size
   below which it does not pay to read in parallel.
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
from tessarray.tuner.events import Listener
from tessarray.tuner.layout import Layout, layout_of
from tessarray.tuner.queries import Box, QueryClass
from tessarray.tuner.result import Estimate
from tessarray.tuner.scaling import worker_counts
from tessarray.tuner.source import NDArray, Subject
from tessarray.tuner.studies.model import Cell, Column, Study, Table, mean_estimate, ratio_estimate
from tessarray.tuner.studies.setting import Access, Setting, current_or_usual, layout_from, setting
from tessarray.tuner.studies.worker_words import worker_meaning
from tessarray.tuner.trial import same, volume

__all__ = ["workers"]

REGION = 64 << 20
RATE = 6 << 20  # bytes of values for a second of the budget
ROUNDS = 15
STEPS = 14
MOST_SLICES = 24
COLUMNS = (
    Column("work"),
    Column("workers", "count"),
    Column("time", "seconds"),
    Column("values", "rate", "bytes of values a second"),
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


def workers(
    source: Any,
    queries: Access = None,
    *,
    variable: str | None = None,
    layout: str | os.PathLike[str] | Layout | None = None,
    budget: float | str = 15,
    store: str = "local",
    scratch: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: Listener | None = None,
) -> Study:
    """Measure speed-up and efficiency over 1, 2, 4 ... `threads` workers of reading all, of slices, and of writing.

    queries: the slices, as for `tessarray.tune`; planes and lines where left out. layout: a `layout.json` or a
    `Layout`; where left out the array's own, or what Tessarray chooses by itself. threads: the most workers, one a core
    where left out.

    Costs the budget (seconds), and memory and scratch space for some 64 MB of values. Raises `AccessError`,
    `ConstraintError`, `LayoutFileError`, `UntunableError`.
    """
    asked = {"queries": queries, "layout": None if layout is None else str(layout)}
    with setting(
        "workers", source, variable, budget=budget, store=store, scratch=scratch, seed=seed, threads=threads,
        progress=progress, request=asked,
    ) as room:  # fmt: skip
        subject = room.subject
        if isinstance(layout, Layout):
            chosen, which = layout, "given"
        elif layout is not None:
            chosen, which = layout_from(layout, subject.shape), os.fspath(layout)
        else:
            chosen, which = current_or_usual(subject, lambda: automatic(subject))
        ground = _Ground(room, chosen, room.classes(queries))
        times = ground.rounds()
        sizes = ground.sizes()
        tables = (
            Table(
                f"Work with more workers, {chosen.text()} ({which})",
                COLUMNS,
                tuple(_rows(times, ground.bytes_of)),
            ),
            Table(f"One worker or {room.threads}, by the size of what is read", SIZES, tuple(sizes)),
        )
        room.notes.append(
            f"{ground.values.nbytes / 1e6:.3g} MB of values, read just after they were written, on "
            f"{room.target.text()}; the machine has {os.cpu_count()} cores"
        )
        return room.study(
            "Workers", tables, worker_meaning(*tables), {"layout": chosen.text(), "which": which}
        )


def automatic(subject: Subject) -> Layout:
    """What Tessarray chooses by itself."""
    array = create_array({}, shape=subject.shape, dtype=subject.dtype)
    found = layout_of(array)
    assert found is not None, "our own choice is always one that we can say"
    return found


class _Ground:
    """Values of the array, stored in a layout, and read with sessions of different numbers of workers."""

    def __init__(self, room: Setting, layout: Layout, classes: tuple[QueryClass, ...]) -> None:
        self.room, self.layout = room, layout
        self.counts = worker_counts(room.threads)
        most = int(min(REGION, max(room.clock.budget * RATE, 4 << 20)))
        shape = region_shape(layout.unit, room.subject.shape, most // room.subject.itemsize)
        sample = room.sample(most)
        self.values: NDArray = np.ascontiguousarray(sample.block(tuple((0, n) for n in shape)))
        self.store = room.scratch.store()
        self.sessions = {count: tessarray.Session(threads=count) for count in self.counts}
        room.say(f"writing {self.values.nbytes / 1e6:.3g} MB")
        array = layout.create(self.store, shape, self.values.dtype, session=self.sessions[self.counts[-1]])
        array.write(..., self.values)
        self.arrays = {
            count: tessarray.open_array(self.store, mode="r+", session=session)
            for count, session in self.sessions.items()
        }
        self.slices = self._slices(classes)
        self.bytes_of = {
            "read all": float(self.values.nbytes),
            "slices": float(np.mean([volume(box) for box in self.slices])) * self.values.itemsize,
            "write": float(self.values.nbytes),
        }
        if not same(np.asarray(self.arrays[1][...]), self.values, 0.0):
            raise tessarray.TessarrayError(f"layout {layout.text()}: gave other values than were written")

    def _slices(self, classes: Sequence[QueryClass]) -> list[Box]:
        """Selections of the classes, cut to what is stored; as many of each as its weight."""
        found: list[Box] = []
        for one in classes:
            count = max(round(one.weight * MOST_SLICES), 1)
            for box in one.draw(self.room.rng, count):
                lengths = [min(b - a, n) for (a, b), n in zip(box, self.values.shape, strict=True)]
                starts = [
                    a % (n - length + 1)
                    for (a, _), n, length in zip(box, self.values.shape, lengths, strict=True)
                ]
                found.append(tuple((at, at + length) for at, length in zip(starts, lengths, strict=True)))
        return found

    def opened(self, count: int) -> Any:
        """The array with so many workers; with nothing cached where the store is far."""
        if not self.room.target.remote:
            return self.arrays[count]
        return tessarray.open_array(self.store, mode="r", session=tessarray.Session(threads=count))

    def rounds(self) -> dict[tuple[str, int], list[float]]:
        """Seconds of each work and number of workers, round by round; a slice's are the mean over the slices."""
        out = np.empty_like(self.values)
        works: dict[str, Callable[[int], float]] = {
            "read all": lambda count: self._read_all(count, out),
            "slices": self._read_slices,
            "write": lambda count: _timed(lambda: self.arrays[count].write(..., self.values)),
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

    def _read_all(self, count: int, out: NDArray) -> float:
        array = self.opened(count)
        return _timed(lambda: array.read(out=out))

    def _read_slices(self, count: int) -> float:
        array = self.opened(count)
        spent = 0.0
        for box in self.slices:
            selection = tuple(slice(a, b) for a, b in box)
            spent += _timed(lambda selection=selection: array[selection])  # type: ignore[misc]
        return spent / len(self.slices)

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
                selection = tuple(slice(a, b) for a, b in box)
                for count in (1, most) if turn % 2 else (most, 1):
                    array = self.opened(count)
                    seconds = _timed(lambda array=array, selection=selection: array[selection])  # type: ignore[misc]
                    if turn:
                        times[i, count].append(seconds)
            if turn >= 4 and self.room.clock.until(0.95) == 0:
                break
        rows: list[tuple[Cell, ...]] = []
        for i, (number, box) in enumerate(boxes):
            alone, together = times[i, 1], times[i, most]
            rows.append(
                (
                    volume(box) * self.values.itemsize,
                    number,
                    mean_estimate(alone, median=True),
                    mean_estimate(together, median=True),
                    gain(alone, together),
                )
            )
        return rows


def _timed(act: Callable[[], Any]) -> float:
    started = time.perf_counter()
    act()
    return time.perf_counter() - started


def gain(slow: Sequence[float], fast: Sequence[float]) -> Estimate:
    """How many times as fast: the median of paired ratios, with its interval."""
    return mean_estimate(np.asarray(slow) / np.maximum(np.asarray(fast), 1e-12), median=True)


def _rows(times: dict[tuple[str, int], list[float]], bytes_of: dict[str, float]) -> list[tuple[Cell, ...]]:
    rows: list[tuple[Cell, ...]] = []
    for (work, count), seconds in times.items():
        speedup = gain(times[work, 1], seconds) if count > 1 else Estimate(1.0, 1.0, 1.0)
        share = Estimate(speedup.value / count, speedup.low / count, speedup.high / count)
        rate = ratio_estimate([bytes_of[work]] * len(seconds), seconds)
        rows.append((work, count, mean_estimate(seconds, median=True), rate, speedup, share))
    return rows


def region_shape(unit: Sequence[int], shape: Sequence[int], elements: int) -> tuple[int, ...]:
    """Whole stored units of about `elements`, grown evenly; at least two, as far as the array goes."""
    grid = [-(-n // u) for n, u in zip(shape, unit, strict=True)]
    counts = [1] * len(grid)
    size = math.prod(min(u, n) for u, n in zip(unit, shape, strict=True))
    while True:
        open_axes = [axis for axis in range(len(grid)) if counts[axis] < grid[axis]]
        if not open_axes:
            break
        axis = min(open_axes, key=lambda i: (counts[i], -i))
        more = math.prod(counts) // counts[axis] * (counts[axis] + 1)
        if more * size > elements and math.prod(counts) > 1:
            break
        counts[axis] += 1
    return tuple(min(c * u, n) for c, u, n in zip(counts, unit, shape, strict=True))


def growing(chunks: Sequence[int], shape: Sequence[int]) -> list[tuple[int, Box]]:
    """Boxes of 1, 2, 4 ... whole chunks, with their numbers; the last is all."""
    grid = [-(-n // c) for n, c in zip(shape, chunks, strict=True)]
    counts = [1] * len(grid)
    found = []
    while True:
        box = tuple((0, min(k * c, n)) for k, c, n in zip(counts, chunks, shape, strict=True))
        found.append((math.prod(counts), box))
        open_axes = [axis for axis in range(len(grid)) if counts[axis] < grid[axis]]
        if not open_axes:
            return found
        axis = min(open_axes, key=lambda i: (counts[i], -i))
        counts[axis] = min(counts[axis] * 2, grid[axis])
