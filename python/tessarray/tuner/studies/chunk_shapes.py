"""`tune chunks`: what a chunk shape costs each way of reading, over a small ladder of shapes with one codec.

Chunks touched are exact means over all places of a selection. Bytes, requests and times are of real reads of real
values at a few random places; a prediction for a layout comes from a model that was fitted to the other layouts only.
"""

from __future__ import annotations

import importlib
import math
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import tessarray
from tessarray.display import palette, pictures
from tessarray.display.units import digits, time_text
from tessarray.tuner import probe
from tessarray.tuner.costs import CostModel
from tessarray.tuner.expected import expected_chunks
from tessarray.tuner.finalists import class_estimate
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import Box, QueryClass
from tessarray.tuner.reading import affords, observe
from tessarray.tuner.request import Queries
from tessarray.tuner.result import CodecFigures, Estimate, summed
from tessarray.tuner.sampling import Sample
from tessarray.tuner.studies.defaults import ladder_of_layouts
from tessarray.tuner.studies.model import Cell, Column, Study, Table, number
from tessarray.tuner.studies.runner import CODEC, Measured, Room, study
from tessarray.tuner.trial import Ground, Trial

__all__ = ["chunks"]

DRAWS = 4
TURNS = 12
STORED_BY = 0.55  # of the budget
READ_BY = 0.92
READ_SHARE = 0.15  # of the budget: what reading one selection of each class of all layouts may take, about
MOST_STORED = 192 << 20  # bytes of values of one layout
OWN = ("current", "as in the file")
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
    Column("fetched / used", "ratio", "bytes out of the store per byte of values that was asked for"),
    Column("requests", "count"),
    Column("measured", "seconds"),
    Column("predicted", "seconds", "by a model that has not seen this layout"),
)


def _draw(figure: Any, found: Study) -> None:
    """Time of one query class against another's: the two that layouts disagree most on."""
    times: dict[str, dict[str, Cell]] = {}
    for row in found.tables[1].records():
        times.setdefault(str(row["query"]), {})[str(row["layout"])] = row["measured"]
    labels = [str(label) for label in found.tables[0].column("layout")]

    def spread(one: str, other: str) -> float:
        ratios = [number(times[one][label]) / max(number(times[other][label]), 1e-12) for label in labels]
        return max(ratios) / max(min(ratios), 1e-12)

    names = list(times)
    pairs = [(one, other) for i, one in enumerate(names) for other in names[i + 1 :]] or [
        (names[0], names[0])
    ]
    first, second = max(pairs, key=lambda pair: spread(*pair))
    panel = figure.add_subplot()
    for label in labels:
        x, y = times[first][label], times[second][label]
        measured = all(isinstance(one, Estimate) and one.measured for one in (x, y))
        colour = palette.PRINTED[3 if label in OWN else 0]
        place = (number(x), number(y))
        panel.plot(*place, "o", color=colour, markerfacecolor=colour if measured else "none")
        panel.annotate(label, place, xytext=(4, 4), textcoords="offset points", fontsize=7)
    panel.set(xscale="log", yscale="log", xlabel=first, ylabel=second)
    panel.set_title("Chunk shapes: what is good for one query costs another")
    pictures.unit_axis(panel.xaxis, "seconds")
    pictures.unit_axis(panel.yaxis, "seconds")


@study("Chunk shapes", draw=_draw, budget="20s")
def chunks(room: Room, queries: Queries = None, codec: str | None = None) -> Measured:
    """Measure a ladder of chunk shapes, all with one codec, for each query class.

    queries: as for `tessarray.tune`; if left out a plane across, and a line along, every axis. codec: a short text; if
    left out the array's own, or `blosc:zstd:3:shuffle`. The ladder holds the array's present shape, what zarr-python,
    h5py and netCDF-C choose by themselves, a thin slab, a column, cubes, and shards of cubes.

    Costs the budget (seconds), a sample of at most 128 MB, and scratch space of some hundred MB. A shape that is too
    slow to measure in it is predicted. Raises `AccessError`, `ConstraintError`, `UntunableError`.
    """
    # It takes a second or more, which is well spent while the sample is read.
    threading.Thread(target=importlib.import_module, args=("scipy.optimize",), daemon=True).start()
    classes = room.classes(queries)
    subject = room.subject
    current = subject.current
    name = codec or (current.codec if current else CODEC)
    probe.check(name, subject.dtype)
    layouts = ladder_of_layouts(
        subject.shape, subject.itemsize, name, _known(room), current.checksum if current else True
    )
    sample = room.sample(128 << 20)
    figures = probe.measure(name, probe.blocks_of(sample, 2), tessarray.Session(threads=1), 1)
    run = _Run(room, sample, classes, layouts, figures)
    try:
        run.store_all()
        run.read_all()
        return run.measured()
    finally:
        for trial in run.trials.values():
            trial.close()


def _known(room: Room) -> dict[str, Any]:
    """The shape that the array has, under a name."""
    spec = room.subject.spec
    if room.subject.current is not None:
        return {"current": room.subject.current}
    if spec.chunk is None:
        return {}
    natural = tuple(min(max(c, 1), n) for c, n in zip(spec.chunk, spec.shape, strict=True))
    return {"as in the file": natural} if math.prod(natural) * room.subject.itemsize <= 64 << 20 else {}


class _Run:
    """The trials of a study."""

    def __init__(
        self, room: Room, sample: Sample, classes: tuple[QueryClass, ...], layouts: Mapping[str, Layout],
        codec: CodecFigures,
    ) -> None:  # fmt: skip
        subject = room.subject
        self.room, self.classes, self.codec = room, classes, codec
        self.boxes: dict[str, list[Box]] = {one.name: one.draw(room.rng, DRAWS) for one in classes}
        figures = {codec.codec: codec}
        self.model = CostModel(subject.shape, subject.itemsize, room.target, room.threads, figures)
        ground = Ground(
            subject.shape, subject.dtype, sample, room.scratch, classes, self.boxes, room.threads,
            write_bytes=MOST_STORED, trial_seconds=room.clock.budget * STORED_BY / len(layouts),
            encode={codec.codec: codec.encode},
        )  # fmt: skip
        self.trials = {label: Trial(layout, ground, label) for label, layout in layouts.items()}

    def store_all(self) -> None:
        """Write what the selections of each class touch, of the layouts that this is affordable for."""
        for label, trial in self.trials.items():
            draws = trial.plan(DRAWS)
            if not affords(trial, draws):
                draws = dict.fromkeys(draws, 1)
            seconds = sum(
                self.model.predict(one, [trial.part(one.name, 0)[0]], trial.layout) for one in self.classes
            )
            if not affords(trial, draws) or seconds > self.room.clock.budget * READ_SHARE / len(self.trials):
                continue
            self.room.say(f"storing {label}, {trial.layout.text()}")
            trial.prepare(draws, max(self.room.clock.until(STORED_BY), 0.5))

    def read_all(self) -> None:
        """Read in turns, in an order drawn anew each turn; everything once at least."""
        entered = [trial for trial in self.trials.values() if trial.store is not None]
        for turn in range(TURNS):
            for place in self.room.rng.permutation(len(entered)):
                trial = entered[int(place)]
                self.room.say(f"round {turn + 1}: {trial.label}")
                for one in self.classes:
                    trial.time(one, turn % trial.draws[one.name])
                if self.room.clock.until(READ_BY) == 0 and turn:
                    return

    def measured(self) -> Measured:
        """Tables and meaning of what was measured."""
        self.room.say("fitting the model")
        predicted = self._predictions()
        cells = {
            (label, one.name): class_estimate(trial, one, self.room.seed)
            or Estimate.predicted(predicted[label, one.name])
            for label, trial in self.trials.items()
            for one in self.classes
        }
        by_query: list[tuple[Cell, ...]] = []
        for one in self.classes:
            ranked = sorted(self.trials, key=lambda label: cells[label, one.name].value)
            by_query += [
                self._query_row(label, one, cells[label, one.name], predicted[label, one.name])
                for label in ranked
            ]
        tables = (
            Table(
                f"Layouts, all with {self.codec.codec}",
                LAYOUTS,
                tuple(self._layout_row(label, cells) for label in self.trials),
            ),
            Table("By query class", QUERIES, tuple(by_query), _brief(by_query)),
        )
        room = self.room
        told = ", ".join(f"{one.name} {one.text} x {one.weight:.2g}" for one in self.classes)
        room.notes.append(f"query classes: {told}")
        room.notes.append(
            f"read on {room.target.text()} with {room.threads} workers, just after it was written"
        )
        if any(not one.measured for one in cells.values()):
            room.notes.append(
                "what begins with ~ would not fit the budget, and is predicted: give a larger --budget"
            )
        facts = {"codec": self.codec.codec, "weights": {one.name: one.weight for one in self.classes}}
        return tables, _meaning(*tables), facts

    def _layout_row(self, label: str, cells: Mapping[tuple[str, str], Estimate]) -> tuple[Cell, ...]:
        trial, subject = self.trials[label], self.room.subject
        mine = [(one.weight, cells[label, one.name]) for one in self.classes]
        size = subject.nbytes / (trial.ratio if trial.stored else self.codec.ratio)
        return (
            label, trial.layout.text().rpartition(",")[0], math.prod(trial.layout.chunks) * subject.itemsize,
            summed(mine), max((one for _, one in mine), key=lambda one: one.value),
            Estimate(size, size, size, bool(trial.stored)), trial.layout.files(subject.shape),
        )  # fmt: skip

    def _query_row(
        self, label: str, one: QueryClass, measured: Estimate, predicted: float
    ) -> tuple[Cell, ...]:
        trial, subject = self.trials[label], self.room.subject
        counted = [self.model.touch(box, trial.layout) for box in self.boxes[one.name]]
        fetched = float(np.mean(trial.fetched.get(one.name) or [touch.fetched for touch in counted]))
        requests = float(np.mean(trial.requests.get(one.name) or [touch.requests for touch in counted]))
        touched = expected_chunks(one.extents, subject.shape, trial.layout.chunks)
        wasted = fetched / (one.elements * subject.itemsize)
        return one.name, label, touched, wasted, requests, measured, Estimate.predicted(predicted)

    def _predictions(self) -> dict[tuple[str, str], float]:
        """Of every layout and class, by a model that was fitted to the other layouts."""
        found = {}
        for label, trial in self.trials.items():
            self.model.observations.clear()
            for other in self.trials.values():
                if other is not trial:
                    observe(self.model, other)
            self.model.fit()
            for one in self.classes:
                found[label, one.name] = self.model.predict(one, self.boxes[one.name], trial.layout)
        return found


def _brief(rows: Sequence[tuple[Cell, ...]]) -> tuple[int, ...]:
    """What a terminal shows: of each query the three fastest layouts, what there is now, and the slowest."""
    found = []
    for query in dict.fromkeys(row[0] for row in rows):
        mine = [at for at, row in enumerate(rows) if row[0] == query]
        kept = {*mine[:3], mine[-1], *(at for at in mine if rows[at][1] in (*OWN, "zarr-python auto"))}
        found += [at for at in mine if at in kept]
    return tuple(found)


def _meaning(layouts: Table, queries: Table) -> tuple[str, ...]:
    """Which shape is best in all, what the specialist of one query costs another, and what is read for nothing."""
    rows: list[dict[str, Any]] = layouts.records()
    best = min(rows, key=lambda row: row["an access"].value)
    text = f"Best in all: {best['layout']} ({best['chunks']}), {time_text(best['an access'].value)} an access"
    now = next((row for row in rows if row["layout"] in (*OWN, "zarr-python auto") and row is not best), None)
    if now is not None:
        text += (
            f"; {digits(now['an access'].value / best['an access'].value)} times as fast as {now['layout']}"
        )
    found = [f"{text}."]
    details: list[dict[str, Any]] = queries.records()
    times = {(row["query"], row["layout"]): row["measured"].value for row in details}
    fastest = {
        query: min((row["layout"] for row in rows), key=lambda label: times[query, label])
        for query in dict.fromkeys(row["query"] for row in details)
    }
    factors = [
        (times[query, label] / times[query, fastest[query]], query, other, label)
        for other, label in fastest.items()
        for query in fastest
    ]
    worst, query, other, label = max(factors)
    if len(fastest) > 1:
        found.append(
            f"{label}, the fastest for '{other}', takes {digits(worst)} times the best for '{query}'; {best['layout']} "
            f"is never more than {digits(max(times[q, best['layout']] / times[q, fastest[q]] for q in fastest))} times "
            "the best."
        )
    waste = max(details, key=lambda row: row["fetched / used"])
    found.append(
        f"Most is read for nothing by '{waste['query']}' of {waste['layout']}: {digits(waste['fetched / used'])} bytes "
        "fetched per byte used."
    )
    return tuple(found)
