"""`tune chunks`: what a chunk shape costs each way of reading, over a small ladder of shapes with one codec.

Chunks touched are exact means over all places of a selection. Bytes, requests and times are of real reads of real
values at a few random places; a prediction for a layout comes from a model that was fitted to the other layouts only.
"""

from __future__ import annotations

import importlib
import math
import os
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import tessarray
from tessarray.tuner import probe
from tessarray.tuner.costs import CostModel
from tessarray.tuner.events import Listener
from tessarray.tuner.expected import expected_chunks
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import Box, QueryClass
from tessarray.tuner.race import class_estimate
from tessarray.tuner.result import CodecFigures, Estimate, summed
from tessarray.tuner.source import Sample
from tessarray.tuner.studies.chunk_words import brief_rows, chunk_meaning
from tessarray.tuner.studies.model import Cell, Column, Study, Table
from tessarray.tuner.studies.setting import CODEC, Access, Setting, setting
from tessarray.tuner.studies.usual import ladder_of_layouts
from tessarray.tuner.trial import Ground, Trial

__all__ = ["chunks"]

DRAWS = 4
TURNS = 12
STORED_BY = 0.55  # of the budget
MOST_STORED = 192 << 20
ALL = "(all)"
READ_SHARE = 0.92
LAYOUTS = (
    Column("layout"),
    Column("chunks"),
    Column("chunk", "bytes", "values of one chunk"),
    Column("an access", "seconds", "the weighted mean over query classes"),
    Column("slowest class", "seconds"),
    Column("size", "bytes", "of the whole array, from what was encoded"),
    Column("files", "count"),
)
QUERIES = (
    Column("query"),
    Column("layout"),
    Column("chunks touched", "count", "the exact mean over all places"),
    Column("fetched / used", "ratio", "bytes out of the store for a byte of values that was asked for"),
    Column("requests", "count"),
    Column("measured", "seconds"),
    Column("predicted", "seconds", "by a model that has not seen this layout"),
)


def chunks(
    source: Any,
    queries: Access = None,
    *,
    variable: str | None = None,
    codec: str | None = None,
    budget: float | str = 20,
    store: str = "local",
    scratch: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: Listener | None = None,
) -> Study:
    """Measure a ladder of chunk shapes, all with one codec, for each query class.

    queries: as for `tessarray.tune`; where left out a plane across, and a line along, every axis. codec: a short text;
    where left out the array's own, or `blosc:zstd:3:shuffle`. The ladder holds the array's present shape, what
    zarr-python, h5py, netCDF-C and Blosc2 choose by themselves, a thin slab, a column, cubes, and shards of cubes.

    Costs the budget (seconds), a sample of at most 128 MB, and scratch space of some hundred MB. A shape that is too
    slow to measure in it is predicted. Raises `AccessError`, `ConstraintError`, `UntunableError`.
    """
    # It takes a second or more, which is well spent while the sample is read.
    threading.Thread(target=importlib.import_module, args=("scipy.optimize",), daemon=True).start()
    asked = {"queries": queries, "codec": codec}
    with setting(
        "chunks", source, variable, budget=budget, store=store, scratch=scratch, seed=seed, threads=threads,
        progress=progress, request=asked,
    ) as room:  # fmt: skip
        classes = room.classes(queries)
        current = room.subject.current
        name = codec or (current.codec if current else CODEC)
        tessarray.create_array({}, shape=(1,), dtype="f4", **_checked(name))
        layouts = ladder_of_layouts(
            room.subject.shape,
            room.subject.itemsize,
            name,
            _known(room),
            current.checksum if current else True,
        )
        sample = room.sample(128 << 20)
        figures = probe.measure(name, probe.blocks_of(sample, 2), tessarray.Session(threads=1), 1)
        boxes = {one.name: one.draw(room.rng, DRAWS) for one in classes}
        run = _Run(room, sample, classes, boxes, layouts, {name: figures})
        try:
            run.store_all()
            run.read_all()
            return run.study(name)
        finally:
            run.close()


def _checked(codec: str) -> dict[str, Any]:
    """The arguments of a codec that `Layout` knows; raises what a wrong codec raises."""
    found = Layout((1,), None, codec).arguments()
    return {"serializer": found["serializer"], "compressors": found["compressors"]}


def _known(room: Setting) -> dict[str, Any]:
    if room.subject.current is not None:
        return {"current": room.subject.current}
    spec = room.subject.spec
    if spec.chunk is None:
        return {}
    natural = tuple(min(max(c, 1), n) for c, n in zip(spec.chunk, spec.shape, strict=True))
    if math.prod(natural) * room.subject.itemsize > 64 << 20:
        return {}
    return {"as in the file": natural}


class _Run:
    """The trials of a study."""

    def __init__(
        self, room: Setting, sample: Sample, classes: tuple[QueryClass, ...], boxes: Mapping[str, Sequence[Box]],
        layouts: Mapping[str, Layout], figures: Mapping[str, CodecFigures],
    ) -> None:  # fmt: skip
        self.room, self.classes, self.boxes = room, classes, boxes
        self.model = CostModel(room.subject.shape, room.subject.itemsize, room.target, room.threads, figures)
        (codec,) = figures.values()
        self.rate = (
            codec.encode * min(room.threads, 4) * 0.7
        )  # bytes of values written a second, a first guess
        whole = tuple((0, n) for n in room.subject.shape)
        self.ground = Ground(
            room.subject.shape,
            room.subject.dtype,
            sample,
            room.scratch,
            classes,
            {**boxes, ALL: [whole]},
            room.threads,
        )
        self.trials = {label: Trial(layout, self.ground, label) for label, layout in layouts.items()}

    def store_all(self) -> None:
        """Write what the selections of each class touch, or all of an array that is small, where that is affordable."""
        left = len(self.trials)
        for label, trial in self.trials.items():
            seconds = self.room.clock.until(STORED_BY) / left
            left -= 1
            if seconds == 0:
                return
            self.room.say(f"storing {label}, {trial.layout.text()}")
            affordable = int(min(seconds * self.rate, MOST_STORED))
            draws = self._readable(trial)
            if self.room.subject.nbytes <= affordable:
                trial.prepare({ALL: 1})
            else:
                draws = self._affordable(trial, draws, affordable)
                trial.prepare(draws)
            trial.draws = draws
            if trial.write_seconds > 0:
                self.rate = (self.rate + trial.raw / trial.write_seconds) / 2

    def _readable(self, trial: Trial) -> dict[str, int]:
        """How many selections of each class there is time to read; a class with none is left out."""
        share = self.room.clock.budget * 0.3 / len(self.trials) / max(len(self.classes), 1)
        found = {}
        for one in self.classes:
            seconds = self.model.predict(one, self.boxes[one.name][:2], trial.layout)
            count = min(int(max(share, 0.05) / max(seconds, 1e-9)) - 1, DRAWS)
            if count > 0:
                found[one.name] = count
        return found

    def _affordable(self, trial: Trial, draws: Mapping[str, int], nbytes: int) -> dict[str, int]:
        """As many of these selections as can be stored: one of each class, the cheapest first, then more of them."""
        found: dict[str, int] = {}
        names = sorted(draws, key=lambda name: trial.cost({name: 1}))
        for count in range(1, DRAWS + 1):
            for name in names:
                more = {**found, name: min(count, draws[name])}
                if (count == 1 or name in found) and trial.cost(more) <= nbytes:
                    found = more
        return found

    def read_all(self) -> None:
        """Read in turns, in an order drawn anew each turn."""
        entered = [trial for trial in self.trials.values() if trial.draws]
        for turn in range(TURNS):
            for place in self.room.rng.permutation(len(entered)):
                trial = entered[int(place)]
                self.room.say(f"round {turn + 1}: {trial.label}")
                for one in self.classes:
                    if one.name in trial.draws:
                        trial.time(one, turn % trial.draws[one.name])
                if self.room.clock.until(READ_SHARE) == 0 and turn:
                    return
            if self.room.clock.until(READ_SHARE) == 0:
                return

    def study(self, codec: str) -> Study:
        """Tables and meaning of what was measured."""
        self.room.say("fitting the model")
        predicted = self._predictions()
        cells = {
            (label, one.name): class_estimate(trial, one, self.room.seed)
            or Estimate.predicted(predicted[label, one.name])
            for label, trial in self.trials.items()
            for one in self.classes
        }
        ratio = self.model.codecs[codec].ratio
        layouts, queries = [], []
        itemsize = self.room.subject.itemsize
        for label, trial in self.trials.items():
            mine = [(one.weight, cells[label, one.name]) for one in self.classes]
            slowest = max((one for _, one in mine), key=lambda one: one.value)
            size = self.room.subject.nbytes / (trial.ratio if trial.raw else ratio)
            stored = Estimate(size, size, size, bool(trial.raw))
            row: tuple[Cell, ...] = (
                label, trial.layout.text().rpartition(",")[0], math.prod(trial.layout.chunks) * itemsize, summed(mine),
                slowest, stored, trial.layout.files(self.room.subject.shape),
            )  # fmt: skip
            layouts.append(row)
        for one in self.classes:
            ranked = sorted(self.trials.items(), key=lambda item, name=one.name: cells[item[0], name].value)  # type: ignore[misc]
            queries += [
                self._query_row(trial, one, cells[label, one.name], predicted[label, one.name])
                for label, trial in ranked
            ]
        tables = (
            Table(f"Layouts, all with {codec}", LAYOUTS, tuple(layouts)),
            Table("By query class", QUERIES, tuple(queries), brief_rows(queries)),
        )
        self._note(codec, cells)
        facts = {"codec": codec, "weights": {one.name: one.weight for one in self.classes}}
        return self.room.study("Chunk shapes", tables, chunk_meaning(*tables), facts)

    def _note(self, codec: str, cells: Mapping[tuple[str, str], Estimate]) -> None:
        told = ", ".join(f"{one.name} {one.text} x {one.weight:.2g}" for one in self.classes)
        self.room.notes.append(f"query classes: {told}")
        self.room.notes.append(
            f"read on {self.room.target.text()} with {self.room.threads} workers, just after it was written"
        )
        if any(not one.measured for one in cells.values()):
            self.room.notes.append(
                "what begins with ~ would not fit the budget, and is predicted: give a larger --budget"
            )

    def _query_row(
        self, trial: Trial, one: QueryClass, measured: Estimate, predicted: float
    ) -> tuple[Cell, ...]:  # fmt: skip
        used = one.elements * self.room.subject.itemsize
        touched = expected_chunks(one.extents, self.room.subject.shape, trial.layout.chunks)
        found = [self.model.touch(box, trial.layout) for box in self.boxes[one.name]]
        fetched = float(np.mean(trial.fetched.get(one.name) or [touch.fetched for touch in found]))
        requests = float(np.mean(trial.requests.get(one.name) or [touch.requests for touch in found]))
        return (
            one.name,
            trial.label,
            touched,
            fetched / used,
            requests,
            measured,
            Estimate.predicted(predicted),
        )

    def _predictions(self) -> dict[tuple[str, str], float]:
        """Of every layout and class, by a model that was fitted to the other layouts."""
        seen: dict[str, list[tuple[np.ndarray, float]]] = {label: [] for label in self.trials}
        for label, trial in self.trials.items():
            for (name, number), times in trial.times.items():
                features = self.model.features(self.boxes[name][number], trial.layout)
                seen[label].append((features, float(np.median(times))))
        found = {}
        for label, trial in self.trials.items():
            self.model.observations = [one for other, rows in seen.items() if other != label for one in rows]
            self.model.fit()
            for one in self.classes:
                found[label, one.name] = self.model.predict(one, self.boxes[one.name], trial.layout)
        return found

    def close(self) -> None:
        """Give back what was stored."""
        for trial in self.trials.values():
            trial.close()
