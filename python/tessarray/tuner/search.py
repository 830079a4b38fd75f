"""The search: from an array and its query classes to measured layouts.

1. Sample the array, calibrate the store, probe the codecs on blocks of it.
2. Enumerate shapes; the counting model prunes them.
3. Read a few different layouts for real, and fit the cost model to the times; then the array's present layout and
   other libraries' defaults.
4. Optuna (TPE) proposes layouts, beginning with the model's best; each is stored and read for real, and pruned early
   where it is behind (Wilcoxon, paired by selection). What the model holds for hopeless is not measured.
5. The best few race each other in turns, at more places; what is one step from the winner and was not tried is read,
   and races it, as long as time is left.
6. The winner is read with 1, 2, 4 ... workers.

Each stage has its share of the budget. Ctrl-C ends the stage and keeps what was measured.
"""

from __future__ import annotations

import contextlib
import importlib
import math
import os
import platform
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tessarray.tuner import probe, sampling
from tessarray.tuner import target as targets
from tessarray.tuner.board import Board, seconds_of_trial
from tessarray.tuner.constraints import Constraints
from tessarray.tuner.costs import CostModel
from tessarray.tuner.errors import ConstraintError
from tessarray.tuner.events import Clock, Event, Listener
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.race import LEAST_ROUNDS, race
from tessarray.tuner.ranking import SHAPES_KEPT, Ranked, Ranking, designs
from tessarray.tuner.result import CodecFigures, WorkerFigures
from tessarray.tuner.scaling import measure_workers
from tessarray.tuner.shapes import LARGEST_CHUNK, chunk_shapes
from tessarray.tuner.source import Subject
from tessarray.tuner.space import Space
from tessarray.tuner.target import Scratch, Target
from tessarray.tuner.trial import WRITE_BYTES, Ground, Trial

__all__ = ["Found", "Search", "Task"]

DRAWS = 8
SEARCHED_DRAWS = 2
PATIENCE = 0.04  # of the budget
TRIAL_SHARE = 0.012  # of the budget: what storing one layout may take, about
RACED_DRAWS = 6
REFERENCE_DRAWS = 4
COMPARED_CEILING = 4.0  # times the room of a trial that a layout to compare with may take
REPEATS = 2
SHARES = {
    "sample": 0.12,
    "codecs": 0.22,
    "model": 0.36,
    "compare": 0.48,
    "search": 0.72,
    "race": 0.82,
    "refine": 0.88,
    "last race": 0.92,
    "workers": 0.95,
}
FINALISTS = 5
MOST_STEPS = 6
STEP_LAYOUTS = 10
LEAST_DESIGNS = 2
SHORT = 30.0  # seconds: below such a budget fewer shapes are looked at
CODECS_RACED = 5
PROBE_SLACK = 0.93
SAMPLE_BYTES = 256 << 20
REFERENCE = ("current", "zarr-python auto")  # what a size limit given as a factor is a factor on


@dataclass
class Found:
    """What a search measured. `finalists` raced, the best first; `others` are the labelled layouts, read or not."""

    finalists: list[Trial] = field(default_factory=list)
    others: list[Trial] = field(default_factory=list)
    codecs: list[CodecFigures] = field(default_factory=list)
    scaling: list[WorkerFigures] = field(default_factory=list)
    workers: int = 1
    calibration: dict[str, Any] = field(default_factory=dict)
    predictions: list[dict[str, Any]] = field(default_factory=list)
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Task:
    """What a search is asked. `labelled` are layouts to compare with, `size_limit` the factor on the smaller of the
    present layout and zarr-python's default that a proposal may take (None: any), `most_stored` the same in bytes.
    """

    subject: Subject
    classes: tuple[QueryClass, ...]
    objective: str
    target: Target
    limits: Constraints
    threads: int
    seed: int
    readers: tuple[str, ...]
    labelled: Mapping[str, Layout]
    size_limit: float | None = None
    most_stored: float | None = None
    filters: tuple[str, ...] = ()
    tolerance: float = 0.0
    required: frozenset[str] = frozenset()  # labels that are read whatever it takes


class Search:
    """One run of a task within a budget. After `run`, `found` and `board` hold what was measured."""

    def __init__(self, task: Task, clock: Clock, listener: Listener | None = None) -> None:
        self.task, self.clock, self.listener = task, clock, listener
        self.rng = np.random.default_rng(task.seed)
        self.found = Found(workers=task.threads)
        self.board = Board(task.classes, task.objective, task.subject.nbytes)
        self.board.most_stored = task.most_stored
        self.ground: Ground
        self.model: CostModel
        self.ranking: Ranking
        self.figures: dict[str, CodecFigures] = {}
        self.raced: list[CodecFigures] = []
        self.ratios: dict[
            str, float
        ] = {}  # of labelled layouts that were stored, whether or not they were read
        self._stored: dict[str, Trial] = {}  # labelled layouts that were stored and not read yet

    def run(self, scratch: Scratch) -> Found:
        """All stages. Raises `KeyboardInterrupt` only where nothing was measured yet."""
        try:
            self._stages(scratch)
        except KeyboardInterrupt:
            if not self.board.tried:
                raise
            self.found.interrupted = True
            self.found.notes.append("interrupted: this is what was measured until then")
        if not self.found.finalists:
            self.found.finalists = self.board.leaders()
        return self.found

    def _stages(self, scratch: Scratch) -> None:
        from tessarray.tuner.optuna_search import optuna_search

        warm_imports()
        self.say("sample", "reading a sample of the source")
        self._ground(scratch)
        self.say("calibrate", f"measuring {self.task.target.text()}")
        self.found.calibration["machine"] = machine(self.task.threads)
        self.found.calibration["store"] = targets.first_byte_and_bandwidth(scratch)
        self.say("codecs", "probing codecs on blocks of the sample")
        self._codecs()
        space = self._space()
        ranked = self._fit(space)
        self._compare(space)
        optuna_search(self, space, ranked)
        self._race(SHARES["race"])
        self._refine(space)
        self._workers()

    def _ground(self, scratch: Scratch) -> None:
        task = self.task
        limit = min(SAMPLE_BYTES, max(task.limits.memory // 8, 1 << 20))
        sample = sampling.take(task.subject, limit, self.clock.budget * 0.8 * SHARES["sample"])
        self.found.calibration["sample"] = {"bytes": sample.values.nbytes, "seconds": sample.seconds}
        if not sample.whole:
            share = sample.values.size / math.prod(task.subject.shape)
            self.found.notes.append(
                f"values come from a sample of {share:.2%} of the array; shapes, places and counts are the whole one's"
            )
        boxes = {one.name: one.draw(self.rng, DRAWS) for one in task.classes}
        room = min(WRITE_BYTES, max(task.limits.memory // 16, 4 << 20))
        self.ground = Ground(
            task.subject.shape, task.subject.dtype, sample, scratch, task.classes, boxes, task.threads,
            task.tolerance, room,
        )  # fmt: skip

    def _codecs(self) -> None:
        task = self.task
        names = [*probe.CODECS, *(probe.SLOW if task.objective == "size" else ())]
        wanted = probe.readable(names, task.readers)
        first = [task.labelled[label].codec for label in REFERENCE if label in task.labelled]
        last = [one.codec for one in task.labelled.values()]
        self.found.codecs = probe.probe(
            self.ground.sample,
            # Those that set the size limit come first, those of other layouts to compare with last.
            dict.fromkeys([*first, *wanted, *last]),
            self.clock.until(SHARES["codecs"]),
            lambda one: self.say("codecs", one.codec),
        )
        self.figures = {one.codec: one for one in self.found.codecs}
        self.ground.encode = {one.codec: one.encode for one in self.found.codecs}
        self.ground.trial_seconds = TRIAL_SHARE * self.clock.budget
        smallest = self._smallest_ratio()
        allowed = [one for one in self.found.codecs if one.codec in wanted]
        self.raced = probe.survivors(allowed, task.objective, CODECS_RACED, smallest)

    def _smallest_ratio(self) -> float:
        """The ratio that keeps the size limit."""
        task = self.task
        most = task.most_stored
        if task.size_limit is not None:
            ratios = [
                self._ratio_of(label, task.labelled[label]) for label in REFERENCE if label in task.labelled
            ]
            if ratios:
                most = self.board.most_stored = task.subject.nbytes / max(ratios) * task.size_limit
        if not most:
            return 0.0
        # The probe's blocks differ from chunks: the reference's codec on the same blocks says by how much. What is
        # measured is held to the limit itself.
        ratio = task.subject.nbytes / most
        probed = [
            self.figures[task.labelled[label].codec].ratio / (task.size_limit or 1.0)
            for label in REFERENCE
            if label in task.labelled and task.labelled[label].codec in self.figures
        ]
        return min([ratio, *probed]) * PROBE_SLACK

    def _ratio_of(self, label: str, layout: Layout) -> float:
        """What a layout makes of the values: objects at several places, stored for real and kept for later."""
        trial = Trial(layout, self.ground, label)
        draws = trial.plan(REFERENCE_DRAWS)
        if not self.affords(trial, draws, COMPARED_CEILING):
            figures = self.figures.get(layout.codec)
            return figures.ratio if figures else 1.0
        trial.prepare(draws)
        self._stored[label] = trial
        self.ratios[label] = trial.ratio
        return trial.ratio

    def _space(self) -> Space:
        task = self.task
        codecs = tuple(one.codec for one in self.raced)
        return Space(
            task.subject.shape, task.subject.itemsize, task.classes, codecs, task.limits, task.threads,
            filters=task.filters, ratios={one.codec: one.ratio for one in self.raced},
        )  # fmt: skip

    def _fit(self, space: Space) -> Ranked:
        """Stages 2 and 3: layouts ranked by the fitted model, best first."""
        task = self.task
        self.model = CostModel(
            task.subject.shape, task.subject.itemsize, task.target, task.threads, self.figures
        )
        self.ranking = Ranking(self.model, space, self.ground, self.board)
        self.say("model", "counting what every shape would touch")
        largest = min(task.limits.max_shard, LARGEST_CHUNK)
        shapes = chunk_shapes(
            task.subject.shape, task.subject.itemsize, task.classes, self.rng, largest=largest
        )
        shapes = [one for one in shapes if space.fits_ladder(one)]
        most = SHAPES_KEPT if self.clock.budget >= SHORT else SHAPES_KEPT // 2
        ranked = self.ranking.ranked(shapes, most)
        if not ranked:
            raise ConstraintError(
                "limits: no layout of those that were thought of keeps them all; allow more files, larger shards or "
                "more memory, or a longer append"
            )
        for layout in designs(ranked):
            if self.clock.until(SHARES["model"]) == 0 and len(self.board.tried) >= LEAST_DESIGNS:
                break
            self.say("model", f"reading {layout.text()}")
            trial = self.read(Trial(layout, self.ground))
            if trial is not None:
                self.board.note(trial)
                self.observe(trial)
        if not self.board.tried:
            # Each of them is more to store than a trial should be: one of them has to do.
            trial = Trial(ranked[0][1], self.ground)
            self.read(trial, ceiling=math.inf)
            self.board.note(trial)
            self.observe(trial)
        self.model.fit()
        self.found.calibration["model"] = self.model.described()
        return self.ranking.ranked(shapes, most)

    def _compare(self, space: Space) -> None:
        """Read the labelled layouts, as far as time allows; those that keep the limits may win."""
        for label, layout in self.task.labelled.items():
            trial = self._stored.pop(label, None) or Trial(layout, self.ground, label)
            if label not in self.task.required and not self._affordable(trial):
                trial.close()
                continue
            self.say("compare", f"reading {label}")
            if self.read(trial, ceiling=COMPARED_CEILING) is None:
                continue
            self.found.others.append(trial)
            if probe.readable([layout.codec], self.task.readers) and space.allowed(layout):
                self.board.note(trial)

    def _affordable(self, trial: Trial) -> bool:
        """Whether there is time left to store and read a layout, by the model and the codec's speed."""
        layout = trial.layout
        seconds = sum(
            self.model.predict(one, [trial.part(one.name, 0)[0]], layout) for one in self.task.classes
        )
        draws = trial.draws or trial.plan(SEARCHED_DRAWS)
        seconds *= (REPEATS + 1) * max(draws.values())
        if trial.store is None:
            seconds += trial.store_seconds(draws)
        return seconds < self.clock.until(SHARES["compare"])

    def read(self, trial: Trial, ceiling: float = 2.0) -> Trial | None:
        """Store a layout and read each selection; None where storing takes over `ceiling` times the room."""
        remote = self.task.target.remote
        draws = trial.draws or trial.plan(1 if remote else SEARCHED_DRAWS)
        if not self.affords(trial, draws, ceiling):
            return None
        if not trial.prepare(draws, self.patience(trial, draws)):
            return None
        for _ in range(1 if remote else REPEATS):
            for one in self.task.classes:
                for number in range(min(draws[one.name], SEARCHED_DRAWS)):
                    trial.time(one, number)
        return trial

    def affords(self, trial: Trial, draws: Mapping[str, int], ceiling: float = 2.0) -> bool:
        """Whether a trial may be stored: in bytes, and in time."""
        most = ceiling * max(self.ground.trial_seconds, 0.05) * 2
        return trial.cost(draws) <= ceiling * self.ground.write_bytes and trial.store_seconds(draws) <= most

    def patience(self, trial: Trial, draws: Mapping[str, int]) -> float:
        """Seconds after which storing a trial is given up: three times what was expected, at least a share of all."""
        if trial.label in self.task.required:
            return math.inf
        return max(3 * trial.store_seconds(draws), PATIENCE * self.clock.budget)

    def observe(self, trial: Trial) -> None:
        """Give the model the times of a trial."""
        for one in self.task.classes:
            for number in range(trial.draws[one.name]):
                if times := trial.times.get((one.name, number)):
                    box, factor = trial.part(one.name, number)
                    self.model.observe(box, trial.layout, float(np.median(times)) / factor)

    def _race(self, share: float) -> None:
        """Stage 5."""
        finalists = self.board.leaders(FINALISTS)
        self.found.finalists = finalists
        self.say("race", "storing what races")
        most = 2 if self.task.target.remote else RACED_DRAWS
        for trial in finalists:
            # More selections than in the search: one place must not decide.
            trial.prepare(trial.plan(most, 4.0 if self.task.target.kind == "local" else 2.0))
            trial.times.clear()

        def told(trial: Trial, turn: int) -> None:
            self.board.best = trial
            self.say("race", f"round {turn + 1}, {len(finalists)} layouts in turns")

        seconds = self.clock.until(share)
        rounds = race(finalists, self.task.classes, seconds, self.rng, told, self.board.value)
        timed = [one for one in finalists if rounds[id(one)]]
        # Those that stayed to the end first, then by what the objective makes of them.
        timed.sort(key=lambda one: (-min(len(rounds[id(one)]), 2 * LEAST_ROUNDS), self.board.value(one)))
        self.found.finalists = timed
        self.board.renew(timed)

    def _refine(self, space: Space) -> None:
        """As long as time is left: what is one step from the winner and was not tried, raced against it."""
        for _ in range(MOST_STEPS):
            winner = self.board.best
            if winner is None or self.task.target.remote:
                return
            tried = {trial.layout for trial in self.board.tried}
            near = dict.fromkeys(space.from_params(one) for one in space.neighbours(winner.layout))
            new = [layout for layout in near if layout not in tried and space.allowed(layout)]
            found = 0
            for layout in sorted(new, key=self.ranking.score)[:STEP_LAYOUTS]:
                if self.clock.until(SHARES["refine"]) == 0:
                    break
                self.say("refine", layout.text())
                trial = self.read(Trial(layout, self.ground))
                if trial is not None:
                    self.board.note(trial)
                    found += 1
            if not found:
                return
            self._race(SHARES["last race"])
            if self.found.finalists[0].layout == winner.layout:
                return

    def _workers(self) -> None:
        """Stage 6."""
        best = self.board.best
        if best is None or best.store is None or self.clock.until(1.0) <= 0:
            return
        self.say("workers", "reading the winner with fewer workers")
        self.found.scaling, self.found.workers = measure_workers(
            best, self.task.classes, self.task.threads, self.clock.until(SHARES["workers"])
        )

    def say(self, stage: str, text: str) -> None:
        """Tell the listener where the search is."""
        if self.listener is None:
            return
        best = self.board.best
        seconds = seconds_of_trial(best, self.task.classes) if best is not None else None
        layout = best.layout.text() if best is not None else None
        self.listener(Event(stage, text, self.clock.spent, self.clock.budget, layout, seconds or None))


def machine(threads: int) -> str:
    """What the machine is, in words."""
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {threads} workers"


def warm_imports() -> None:
    """Import what later stages need on a thread of its own: a second or more, while the sample is read."""

    def work() -> None:
        for name in ("scipy.optimize", "scipy.stats", "optuna"):
            # A missing package is told of where it is needed.
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    threading.Thread(target=work, name="tessarray-tune-imports", daemon=True).start()
