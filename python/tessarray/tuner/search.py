"""The search: from an array and its query classes to measured layouts.

1. Sample the array, measure the store, probe the codecs on blocks of the sample.
2. Enumerate shapes; the counting model prunes them (`ranking.py`).
3. Read a few different layouts for real, and fit the cost model to the times; then the array's present layout and
   other libraries' defaults.
4. Read the model's best, and what is one step from each new best (`exploration.py`).
5. The best few are read in turns, at more places; what is one step from the winner and was not tried is read, and
   enters the turns, as long as time is left (`finalists.py`).
6. The winner is read with 1, 2, 4 ... workers.

A stage takes what earlier ones gave, and gives a value; `Found` keeps them. Each has its share of the budget
(`events.ENDS`). Ctrl-C ends the stage, and what was measured is kept.
"""

from __future__ import annotations

import contextlib
import importlib.util
import math
import os
import platform
import threading
from dataclasses import dataclass, field
from typing import Any

from tessarray.errors import MissingPackageError
from tessarray.tuner import probe, sampling
from tessarray.tuner import target as targets
from tessarray.tuner.costs import CostModel
from tessarray.tuner.errors import ConstraintError
from tessarray.tuner.events import ENDS, Clock, Listener
from tessarray.tuner.exploration import explore
from tessarray.tuner.finalists import in_turns, refined
from tessarray.tuner.layout import Layout
from tessarray.tuner.layout_space import LayoutSpace
from tessarray.tuner.ranking import SHAPES_KEPT, Ranked, Ranking, designs
from tessarray.tuner.reading import DRAWS_READ, REPEATS, Run, Task, affords, observe, read
from tessarray.tuner.result import CodecFigures, WorkerFigures
from tessarray.tuner.scaling import measure_workers
from tessarray.tuner.target import Scratch
from tessarray.tuner.trial import WRITE_BYTES, Ground, Trial

__all__ = ["Found", "Task", "search"]

DRAWS = 8  # selections of each class that are drawn; each stage reads some of them
TRIAL_SHARE = 0.012  # of the budget: what storing one layout may take, so that some fifty fit in
REFERENCE = ("current", "zarr-python auto")  # what a size limit given as a factor is a factor on
REFERENCE_DRAWS = 4  # selections of each class that are stored to see the size of one of these
COMPARED_CEILING = 4.0  # times the room of a trial that a layout to compare with may take
LEAST_DESIGNS = 2  # layouts that the model is fitted to even when its time is over
SHORT = 30.0  # seconds: below such a budget half as many shapes are looked at
CODECS_TRIED = 5
PROBE_SLACK = (
    0.93  # of the ratio that keeps the size limit: the probe's blocks are coded a little worse than chunks
)


@dataclass
class Probed:
    """The codecs: all figures by name, those that layouts are tried with, and the labelled layouts that were stored to
    find the size limit.
    """

    figures: dict[str, CodecFigures]
    tried: list[CodecFigures]
    references: dict[str, Trial]


@dataclass
class Found:
    """What the stages gave. `finalists` were read in turns, the best first; `others` are labelled layouts that were
    read; `reference_ratios` of those that set the size limit; `tried`: everything that was read.
    """

    ground: Ground | None = None
    model: CostModel | None = None
    tried: list[Trial] = field(default_factory=list)
    finalists: list[Trial] = field(default_factory=list)
    others: list[Trial] = field(default_factory=list)
    codecs: list[CodecFigures] = field(default_factory=list)
    reference_ratios: dict[str, float] = field(default_factory=dict)
    scaling: list[WorkerFigures] = field(default_factory=list)
    workers: int = 1
    calibration: dict[str, Any] = field(default_factory=dict)
    predictions: list[dict[str, Any]] = field(default_factory=list)
    interrupted: bool = False
    notes: list[str] = field(default_factory=list)


def search(task: Task, scratch: Scratch, clock: Clock, listener: Listener | None = None) -> Found:
    """All stages. Raises `KeyboardInterrupt` only while nothing is measured."""
    run = Run(task, clock, listener)
    found = Found(tried=run.board.tried, workers=task.threads, notes=run.notes)
    try:
        _stages(run, scratch, found)
    except KeyboardInterrupt:
        if not run.board.tried:
            raise
        found.interrupted = True
        found.notes.append("interrupted: this is what was measured until then")
    if not found.finalists:
        found.finalists = run.board.leaders()
    return found


def _stages(run: Run, scratch: Scratch, found: Found) -> None:
    warm_imports()
    ground = sampled(run, scratch)
    found.calibration = calibrated(run, scratch, ground)
    probed = codecs_probed(run, ground)
    found.ground, found.codecs = ground, list(probed.figures.values())
    found.reference_ratios = {label: trial.ratio for label, trial in probed.references.items()}
    found.model, ranking = modelled(run, ground, probed)
    ranked = fitted(run, ranking)
    found.calibration["model"] = found.model.described()
    found.others = compared(run, ranking, probed.references)
    explore(run, ranking, ranked, found.predictions)
    found.finalists = in_turns(run, "race")
    found.finalists = refined(run, ranking, found.finalists)
    found.scaling, found.workers = workers_measured(run)


def sampled(run: Run, scratch: Scratch) -> Ground:
    """Values of the array, and the selections that every layout is read at."""
    run.say("sample", "reading a sample of the source")
    task = run.task
    limit = min(sampling.SAMPLE_BYTES, max(task.limits.memory // 8, 1 << 20))
    sample = sampling.take(task.subject, limit, run.clock.budget * ENDS["sample"])
    if not sample.whole:
        share = sample.values.size / math.prod(task.subject.shape)
        run.notes.append(
            f"values come from a sample of {share:.2%} of the array; shapes, places and counts are the whole one's"
        )
    return Ground(
        task.subject.shape, task.subject.dtype, sample, scratch, task.classes,
        {one.name: one.draw(run.rng, DRAWS) for one in task.classes}, task.threads, task.limits.tolerance,
        write_bytes=min(WRITE_BYTES, max(task.limits.memory // 16, 4 << 20)),
        trial_seconds=TRIAL_SHARE * run.clock.budget,
    )  # fmt: skip


def calibrated(run: Run, scratch: Scratch, ground: Ground) -> dict[str, Any]:
    """What the machine and the store are, and how long the sample took."""
    run.say("calibrate", f"measuring {run.task.target.text()}")
    kind = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, {run.task.threads} workers"
    return {
        "sample": {"bytes": ground.sample.values.nbytes, "seconds": ground.sample.seconds},
        "machine": kind,
        "store": targets.first_byte_and_bandwidth(scratch),
    }


def codecs_probed(run: Run, ground: Ground) -> Probed:
    """Codecs on blocks of the sample. The ground then knows their speeds, the leaderboard the size limit."""
    run.say("codecs", "probing codecs on blocks of the sample")
    task = run.task
    names = [*probe.CODECS, *(probe.SLOW if task.objective == "size" else ())]
    wanted = probe.readable(names, task.limits.readers)
    references = {label: task.labelled[label] for label in REFERENCE if label in task.labelled}
    found = probe.probe(
        ground.sample,
        # Those that set the size limit come first, those of other layouts to compare with last.
        dict.fromkeys(
            [
                *(one.codec for one in references.values()),
                *wanted,
                *(one.codec for one in task.labelled.values()),
            ]
        ),
        run.clock.left("codecs"),
        lambda one: run.say("codecs", one.codec),
    )
    figures = {one.codec: one for one in found}
    ground.encode = {one.codec: one.encode for one in found}
    stored: dict[str, Trial] = {}
    if task.limits.size_factor is not None and references:
        ratios = [_ratio_of(label, one, ground, figures, stored) for label, one in references.items()]
        run.board.most_stored = task.subject.nbytes / max(ratios) * task.limits.size_factor
    smallest = _smallest_ratio(run, figures, references)
    allowed = [one for one in found if one.codec in wanted]
    return Probed(figures, probe.survivors(allowed, task.objective, CODECS_TRIED, smallest), stored)


def _ratio_of(
    label: str, layout: Layout, ground: Ground, figures: dict[str, CodecFigures], stored: dict[str, Trial]
) -> float:
    """What a layout makes of the values: objects at several places, stored for real and kept for later."""
    trial = Trial(layout, ground, label)
    draws = trial.plan(REFERENCE_DRAWS)
    if not affords(trial, draws, COMPARED_CEILING):
        return figures[layout.codec].ratio if layout.codec in figures else 1.0
    trial.prepare(draws)
    stored[label] = trial
    return trial.ratio


def _smallest_ratio(run: Run, figures: dict[str, CodecFigures], references: dict[str, Layout]) -> float:
    """The ratio on blocks of the probe that a codec needs to keep the size limit."""
    most = run.board.most_stored
    if not most:
        return 0.0
    # The probe's blocks differ from chunks: the reference's codec on the same blocks says by how much. What is
    # measured is held to the limit itself.
    factor = run.task.limits.size_factor or 1.0
    probed = [figures[one.codec].ratio / factor for one in references.values() if one.codec in figures]
    return min([run.task.subject.nbytes / most, *probed]) * PROBE_SLACK


def modelled(run: Run, ground: Ground, probed: Probed) -> tuple[CostModel, Ranking]:
    """The cost model before anything is read, and the ranking of the layouts that may be proposed."""
    task = run.task
    shape, itemsize = task.subject.shape, task.subject.itemsize
    model = CostModel(shape, itemsize, task.target, task.threads, probed.figures)
    ratios = {one.codec: one.ratio for one in probed.tried}
    space = LayoutSpace(shape, itemsize, task.classes, tuple(ratios), task.limits, task.threads, ratios)
    return model, Ranking(model, space, ground, run.board)


def fitted(run: Run, ranking: Ranking) -> Ranked:
    """Layouts by the model, best first, once it was fitted to reads of some of them."""
    run.say("model", "counting what every shape would touch")
    space, model = ranking.space, ranking.model
    shapes = space.chunk_shapes(run.rng)
    most = SHAPES_KEPT if run.clock.budget >= SHORT else SHAPES_KEPT // 2
    ranked = ranking.ranked(shapes, most)
    if not ranked:
        raise ConstraintError(
            "limits: no layout of those that were thought of keeps them all; allow more files, larger shards or "
            "more memory, or a longer append"
        )
    for layout in designs(ranked):
        if run.clock.left("model") == 0 and len(run.board.tried) >= LEAST_DESIGNS:
            break
        run.say("model", f"reading {layout.text()}")
        trial = Trial(layout, ranking.ground)
        if read(run, trial):
            run.board.note(trial)
            observe(model, trial)
    if not run.board.tried:
        # Each of them is more to store than a trial should be: one of them has to do.
        trial = Trial(ranked[0], ranking.ground)
        read(run, trial, ceiling=math.inf)
        run.board.note(trial)
        observe(model, trial)
    model.fit()
    return ranking.ranked(shapes, most)


def compared(run: Run, ranking: Ranking, stored: dict[str, Trial]) -> list[Trial]:
    """The labelled layouts that there was time to read; those that keep the limits may win."""
    found = []
    for label, layout in run.task.labelled.items():
        trial = stored.get(label) or Trial(layout, ranking.ground, label)
        if label not in run.task.required and not _affordable(run, trial, ranking.model):
            trial.close()
            continue
        run.say("compare", f"reading {label}")
        if not read(run, trial, ceiling=COMPARED_CEILING):
            continue
        found.append(trial)
        if probe.readable([layout.codec], run.task.limits.readers) and ranking.space.allowed(layout):
            run.board.note(trial)
    return found


def _affordable(run: Run, trial: Trial, model: CostModel) -> bool:
    """Whether there is time left to store and read a layout, by the model and the codec's speed."""
    classes = run.task.classes
    once = sum(model.predict(one, [trial.part(one.name, 0)[0]], trial.layout) for one in classes)
    draws = trial.draws or trial.plan(DRAWS_READ)
    seconds = once * (REPEATS + 1) * max(draws.values())
    if trial.store is None:
        seconds += trial.store_seconds(draws)
    return seconds < run.clock.left("compare")


def workers_measured(run: Run) -> tuple[list[WorkerFigures], int]:
    """The winner with 1, 2, 4 ... workers, and how many to propose."""
    best = run.board.best
    if best is None or best.store is None or run.clock.until(1.0) <= 0:
        return [], run.task.threads
    run.say("workers", "reading the winner with fewer workers")
    return measure_workers(best, run.task.classes, run.task.threads, run.clock.left("workers"))


def warm_imports() -> None:
    """Import what later stages need on a thread of its own: a second or more, while the sample is read.

    Raises `MissingPackageError` if it is not there.
    """
    if importlib.util.find_spec("scipy") is None:
        raise MissingPackageError("tune: the search needs scipy; install tessarray[tune]")

    def work() -> None:
        for name in ("scipy.optimize", "scipy.stats"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    threading.Thread(target=work, name="tessarray-tune-imports", daemon=True).start()
