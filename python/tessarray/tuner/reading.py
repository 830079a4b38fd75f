"""Storing and reading layouts within a run's budget: what every stage of the search that measures uses."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tessarray.tuner.constraints import Constraints
from tessarray.tuner.costs import CostModel
from tessarray.tuner.events import Clock, Event, Listener
from tessarray.tuner.layout import Layout
from tessarray.tuner.leaderboard import Leaderboard, seconds_of_trial
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.source import Subject
from tessarray.tuner.target import Target
from tessarray.tuner.trial import Trial

__all__ = ["Run", "Task", "affords", "observe", "patience", "read"]

DRAWS_READ = 2  # selections of each class that a layout is read at, if a stage says nothing else
REPEATS = 2  # reads of each
PATIENCE = 0.04  # of the budget: storing one layout is not given up before
LATE = 3  # times the expected seconds of storing, after which it is
CEILING = 2.0  # times the room of a trial that a layout may take
LEAST_SECONDS = 0.05  # that a trial may always take to store: below, the estimate says nothing


@dataclass(frozen=True)
class Task:
    """What a search is asked. `labelled` are layouts to compare with; those in `required` are always read."""

    subject: Subject
    classes: tuple[QueryClass, ...]
    objective: str
    target: Target
    limits: Constraints
    threads: int
    seed: int
    labelled: Mapping[str, Layout]
    required: frozenset[str] = frozenset()


@dataclass
class Run:
    """What the stages of one search share: the task, its clock and listener, and what was measured so far."""

    task: Task
    clock: Clock
    listener: Listener | None = None
    board: Leaderboard = field(init=False)
    rng: np.random.Generator = field(init=False)
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        task = self.task
        self.board = Leaderboard(task.classes, task.objective, task.subject.nbytes, task.limits.most_stored)
        self.rng = np.random.default_rng(task.seed)

    def say(self, stage: str, text: str) -> None:
        """Tell the listener where the search is."""
        if self.listener is None:
            return
        best = self.board.best
        seconds = seconds_of_trial(best, self.task.classes) if best is not None else None
        layout = best.layout.text() if best is not None else None
        self.listener(Event(stage, text, self.clock.spent, self.clock.budget, layout, seconds or None))


def affords(
    trial: Trial, draws: Mapping[str, int], ceiling: float = CEILING, seconds: float | None = None
) -> bool:
    """Whether a trial may be stored: in bytes, `ceiling` times its room at most, and in time: so many times what a
    trial should take, or `seconds`.
    """
    ground = trial.ground
    most = 2 * ceiling * max(ground.trial_seconds, LEAST_SECONDS) if seconds is None else seconds
    return trial.cost(draws) <= ceiling * ground.write_bytes and trial.store_seconds(draws) <= most


def patience(run: Run, trial: Trial, draws: Mapping[str, int]) -> float:
    """Seconds after which storing a trial is given up."""
    if trial.label in run.task.required:
        return math.inf
    return max(LATE * trial.store_seconds(draws), PATIENCE * run.clock.budget)


def read(run: Run, trial: Trial, ceiling: float = CEILING) -> bool:
    """Store a layout and read some selections of each class; False if storing takes over `ceiling` times the room."""
    remote = run.task.target.remote
    draws = trial.draws or trial.plan(1 if remote else DRAWS_READ)
    if not affords(trial, draws, ceiling) or not trial.prepare(draws, patience(run, trial, draws)):
        return False
    for _ in range(1 if remote else REPEATS):
        for one in run.task.classes:
            for number in range(min(draws[one.name], DRAWS_READ)):
                trial.time(one, number)
    return True


def observe(model: CostModel, trial: Trial) -> None:
    """Give the model the times of a trial."""
    for (name, number), times in trial.times.items():
        if times:
            box, factor = trial.part(name, number)
            model.observe(box, trial.layout, float(np.median(times)) / factor)
