"""One layout, really stored and really read: only the objects that the drawn selections touch are written.

Values come from the sample, places and shapes are those of the whole array, and the first read of every selection is
compared with the values that were written, outside the timer.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tessarray
from tessarray import stores
from tessarray.errors import TessarrayError
from tessarray.tuner.expected import touched
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import Box, QueryClass
from tessarray.tuner.sampling import Sample
from tessarray.tuner.source import NDArray
from tessarray.tuner.target import Scratch

__all__ = ["Ground", "Trial", "WrongValuesError", "aligned"]

WRITE_BYTES = 96 << 20  # values written for one layout, at most, as long as each class has a selection
PIECE_BYTES = 64 << 20
LEAST_PART = 4 << 20
CHUNK_SECONDS = 1e-5


class WrongValuesError(TessarrayError):
    """A layout gave other values than were written to it."""


@dataclass
class Ground:
    """What all trials of a run share. `boxes`: the selections of each class, the same for every layout."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    sample: Sample
    scratch: Scratch
    classes: tuple[QueryClass, ...]
    boxes: Mapping[str, Sequence[Box]]
    threads: int
    tolerance: float = 0.0
    write_bytes: int = WRITE_BYTES
    # What a trial may take to store: seconds, at these bytes a second of encoding on one thread.
    trial_seconds: float = math.inf
    encode: Mapping[str, float] = field(default_factory=dict)
    session: Any = field(init=False)

    def room(self, codec: str) -> float:
        """Bytes of values that one trial writes at most, if an object is not larger: what its time is enough for."""
        rate = self.encode.get(codec, math.inf) * self.threads
        least = LEAST_PART * len(self.classes)
        return max(min(self.write_bytes, rate * self.trial_seconds), min(least, self.write_bytes))

    def store_seconds(self, codec: str, nbytes: float, chunks: float) -> float:
        """About how long storing takes: encoding, and handling every chunk."""
        return nbytes / (self.encode.get(codec, math.inf) * self.threads) + chunks * CHUNK_SECONDS

    def __post_init__(self) -> None:
        self.session = tessarray.Session(threads=self.threads)


def aligned(box: Box, unit: Sequence[int], shape: Sequence[int]) -> Box:
    """The smallest box of whole stored units around one, cut at the array's end."""
    return tuple((a // u * u, min(-(-b // u) * u, n)) for (a, b), u, n in zip(box, unit, shape, strict=True))


def units_of(whole: Box, unit: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """The places in the grid of the objects that a box touches."""
    return itertools.product(*(range(a // u, -(-b // u)) for (a, b), u in zip(whole, unit, strict=True)))


def cut(box: Box, layout: Layout, shape: Sequence[int], elements: int) -> tuple[Box, float]:
    """A selection cut along its longest rows of objects until those it needs have no more than `elements` (or are one),
    and how many times as many chunks the whole of it touches.
    """
    kept = list(box)
    while volume(aligned(tuple(kept), layout.unit, shape)) > elements:
        counts = [touched(a, b, u) for (a, b), u in zip(kept, layout.unit, strict=True)]
        axis = counts.index(max(counts))
        if counts[axis] == 1:
            break
        a, b = kept[axis]
        unit = layout.unit[axis]
        kept[axis] = (a, min(b, (a // unit + -(-counts[axis] // 2)) * unit))
    part = tuple(kept)
    if part == box:
        return box, 1.0
    chunks = [
        math.prod(touched(a, b, c) for (a, b), c in zip(one, layout.chunks, strict=True))
        for one in (box, part)
    ]
    return part, chunks[0] / chunks[1]


def volume(box: Box) -> int:
    """Elements of a box."""
    return math.prod(b - a for a, b in box)


class Trial:
    """A layout under trial. `prepare` writes; `time` reads once; `close` removes. `draws`: selections a class."""

    def __init__(self, layout: Layout, ground: Ground, label: str = "candidate") -> None:
        self.layout, self.ground, self.label = layout, ground, label
        self.times: dict[tuple[str, int], list[float]] = {}
        self.requests: dict[str, list[float]] = {}
        self.fetched: dict[str, list[float]] = {}
        self.raw = self.stored = 0
        self.units: set[tuple[int, ...]] = set()  # places of the objects that were written
        self.held = 0  # elements in them
        self.write_seconds = 0.0
        self.write_rates: list[float] = []  # of every piece
        self.store: Any = None
        self.array: Any = None
        self.draws: dict[str, int] = {}
        self.room = ground.room(layout.codec)
        self._verified: set[tuple[str, int]] = set()
        self._parts: dict[tuple[str, int], tuple[Box, float]] = {}

    def part(self, name: str, number: int) -> tuple[Box, float]:
        """What of a drawn selection is stored and read, and the factor by which its times and counts stand for all.

        A selection that would need more objects than a trial has room for is read in part: long rows of objects are
        cut to whole ones, if more of the same adds nothing but time. The factor is that of chunks touched.
        """
        if (name, number) not in self._parts:
            ground = self.ground
            box = ground.boxes[name][number]
            # Two selections of each class fit into a trial.
            elements = self.room / (2 * len(ground.classes)) / ground.dtype.itemsize
            self._parts[name, number] = cut(box, self.layout, ground.shape, max(int(elements), 1))
        return self._parts[name, number]

    def whole(self, name: str, number: int) -> Box:
        """The objects that a drawn selection needs, as a box."""
        return aligned(self.part(name, number)[0], self.layout.unit, self.ground.shape)

    def plan(self, most: int, times: float = 1.0) -> dict[str, int]:
        """How many of the drawn selections of each class to store, within `times` the room; at least one."""
        ground, found = self.ground, {}
        room = times * self.room / len(ground.classes)
        for one in ground.classes:
            used, count = 0.0, 0
            for number in range(min(most, len(ground.boxes[one.name]))):
                used += volume(self.whole(one.name, number)) * ground.dtype.itemsize
                if used > room and count:
                    break
                count += 1
            found[one.name] = count
        return found

    def cost(self, draws: Mapping[str, int]) -> int:
        """Bytes of values that `prepare` would write."""
        size = self.ground.dtype.itemsize
        return sum(
            volume(self.whole(name, number)) * size
            for name, count in draws.items()
            for number in range(count)
        )

    def store_seconds(self, draws: Mapping[str, int]) -> float:
        """About how long `prepare` would take."""
        nbytes = self.cost(draws)
        chunks = nbytes / (math.prod(self.layout.chunks) * self.ground.dtype.itemsize)
        return self.ground.store_seconds(self.layout.codec, nbytes, chunks)

    def prepare(self, draws: Mapping[str, int], seconds: float = math.inf) -> bool:
        """Write the objects that these selections touch; the times of the writes alone are kept.

        False if it took over `seconds` and was given up; then the trial is closed.
        """
        ground = self.ground
        started = time.perf_counter()
        if self.store is None:
            # What a closed trial knew of its objects and times stays known until it is stored anew.
            self.units, self.held, self.draws = set(), 0, {}
            self.store = ground.scratch.store()
            quick = ground.scratch.quick(self.store)
            self.array = self.layout.create(quick, ground.shape, ground.dtype, session=ground.session)
        for name, count in draws.items():
            for number in range(count):
                if time.perf_counter() - started > seconds:
                    self.close()
                    return False
                self._store(self.whole(name, number))
            self.draws[name] = max(self.draws.get(name, 0), count)
        self.stored = max(self.array.nbytes_stored(), 1)
        return True

    def _store(self, whole: Box) -> None:
        """Write the objects of a box that are not there yet: the box around them."""
        missing = [place for place in units_of(whole, self.layout.unit) if place not in self.units]
        if not missing:
            return
        unit, shape = self.layout.unit, self.ground.shape
        self._write(
            tuple(
                (min(along) * u, min((max(along) + 1) * u, n))
                for along, u, n in zip(zip(*missing, strict=True), unit, shape, strict=True)
            )
        )
        self.units.update(missing)
        self.held += sum(
            math.prod(min(u, n - at * u) for at, u, n in zip(place, unit, shape, strict=True))
            for place in missing
        )

    def _write(self, whole: Box) -> None:
        ground = self.ground
        for piece in pieces(whole, self.layout.unit, PIECE_BYTES // ground.dtype.itemsize):
            values = ground.sample.block(piece)
            if not values.flags.c_contiguous:
                values = np.ascontiguousarray(values)
            started = time.perf_counter()
            self.array.write(tuple(slice(a, b) for a, b in piece), values)
            seconds = time.perf_counter() - started
            self.write_seconds += seconds
            self.write_rates.append(values.nbytes / max(seconds, 1e-9))
            self.raw += values.nbytes

    def time(self, query: QueryClass, number: int) -> float:
        """Seconds of one read of a drawn selection. The first read of each is verified, counted, and not kept."""
        box, factor = self.part(query.name, number)
        if (query.name, number) not in self._verified:
            self._verify(query, number)
        array = self._opened() if self.ground.scratch.target.remote else self.array
        selection = query.selection(box)
        started = time.perf_counter()
        array[selection]
        seconds = (time.perf_counter() - started) * factor
        self.times.setdefault((query.name, number), []).append(seconds)
        return seconds

    def _opened(self) -> Any:
        """The array with nothing cached, as a reader elsewhere would meet it."""
        session = tessarray.Session(threads=self.ground.threads)
        return tessarray.open_array(self.store, mode="r", session=session)

    def _verify(self, query: QueryClass, number: int) -> None:
        box, factor = self.part(query.name, number)
        counted = stores.RecordStore(self.ground.scratch.quick(self.store))
        session = tessarray.Session(threads=self.ground.threads)
        array = tessarray.open_array(counted, mode="r", session=session)
        counted.reset()
        found = np.asarray(array[query.selection(box)])
        read = counted.counts()["read"]
        wanted = self.ground.sample.block(box).reshape(found.shape)
        if not same(found, wanted, self.ground.tolerance):
            raise WrongValuesError(
                f"layout {self.layout.text()}: selection {query.selection(box)} gave other values than were written"
            )
        self.requests.setdefault(query.name, []).append(read["ranges"] * factor)
        self.fetched.setdefault(query.name, []).append(read["bytes_read"] * factor)
        self._verified.add((query.name, number))

    @property
    def ratio(self) -> float:
        """Bytes of values over bytes stored, of the objects that were stored; 1 if storing was given up."""
        if not self.stored:
            return 1.0
        return self.held * self.ground.dtype.itemsize / self.stored

    @property
    def write_rate(self) -> float:
        """Bytes of values a second that writing took them, on the target: a remote one adds its requests and link."""
        target = self.ground.scratch.target
        seconds = self.write_seconds
        if target.remote:
            at_once = max(min(target.concurrency, self.ground.threads), 1)
            seconds += len(self.units) * target.first_byte / at_once + self.stored / target.bandwidth
        return self.raw / max(seconds, 1e-9)

    def close(self) -> None:
        """Remove what was written."""
        if self.store is not None:
            self.ground.scratch.remove(self.ground.scratch.quick(self.store))
        self.store = self.array = None


def pieces(whole: Box, unit: Sequence[int], elements: int) -> list[Box]:
    """A box of whole units in parts of about `elements`, each of whole units."""
    size = volume(whole)
    for axis, ((a, b), u) in enumerate(zip(whole, unit, strict=True)):
        units = -(-(b - a) // u)
        if size > elements and units > 1:
            step = max(int(units * elements / size), 1) * u
            cut = [(*whole[:axis], (at, min(at + step, b)), *whole[axis + 1 :]) for at in range(a, b, step)]
            return [part for one in cut for part in pieces(one, unit, elements)] if step == u else cut
    return [whole]


def same(found: NDArray, wanted: NDArray, tolerance: float) -> bool:
    """Whether values agree: bit for bit, or within a tolerance if the layout may lose some."""
    if found.shape != wanted.shape or found.dtype != wanted.dtype:
        return False
    if tolerance:
        with np.errstate(invalid="ignore"):
            close = np.abs(found.astype("f8") - wanted.astype("f8")) <= tolerance
        return bool(
            (close | (np.isnan(found) & np.isnan(wanted)) if found.dtype.kind in "fc" else close).all()
        )
    return bool((found == wanted).all()) or found.tobytes() == np.ascontiguousarray(wanted).tobytes()
