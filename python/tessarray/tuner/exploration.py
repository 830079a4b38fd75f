"""Stage 4 of the search: what to read next, and when to give a layout up.

1. The model's best come first, at most a few of one chunk shape, so that shapes get their chance too.
2. Whenever a layout is the best so far, all that is one step from it comes next, in the model's order.
3. When nothing waits, the neighbours of the next best that was measured follow, and then the rest of the model's list.
4. If time is left, what was too much to store beside so many others comes again, and may take half of that time; then
   layouts drawn from the whole space.

A layout that the model puts far behind the best is not stored. One that is behind the best on the same selections,
beyond doubt, is given up before all of them are read.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tessarray.tuner.finalists import behind
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.ranking import Ranked, Ranking
from tessarray.tuner.reading import Run, affords, observe, patience
from tessarray.tuner.trial import Trial

__all__ = ["Explorer", "explore", "first_choices"]

FIRST = 24  # layouts of the model's list that are read before any neighbour
PER_SHAPE = 3  # of them with the same chunks
SELECTIONS = 4  # of each class that a layout is read at
HOPELESS = 2.0  # times the best score, by the model, beyond which a layout is not stored
MOST_PREDICTIONS = 400  # kept for the report
DOUBT = 0.1  # of the paired test that gives a layout up
LEAST_PAIRS = 4  # reads that it needs: with fewer it cannot be sure
PATIENT_CEILING = 4.0  # times the room of a trial that a layout may take at the end
DRAWN = 2000  # layouts of the whole space: most are known, forbidden or hopeless

Place = tuple[str, int]  # a class, and which of its selections


def explore(run: Run, ranking: Ranking, ranked: Ranked, predictions: list[dict[str, Any]]) -> None:
    """Read layouts until the stage's time is over or none is left to try. They are on the leaderboard then;
    `predictions` is added to.
    """
    explorer = Explorer(run, ranking, predictions)
    explorer.follow(first_choices(ranked, ranking.selected()), iter(ranked))
    explorer.patient = True
    again = sorted(explorer.postponed, key=explorer.score)
    explorer.follow(again, (ranking.space.drawn(run.rng) for _ in range(DRAWN)))


def first_choices(ranked: Ranked, selected: Sequence[tuple[int, ...]] = ()) -> list[Layout]:
    """The model's best, at most `PER_SHAPE` of one chunk shape. Chunks that are what a class selects come second:
    folklore's answer, which is right if a class is alone.
    """
    found: list[Layout] = []
    seen: dict[tuple[int, ...], int] = {}
    for layout in ranked:
        if seen.get(layout.chunks, 0) < PER_SHAPE:
            seen[layout.chunks] = seen.get(layout.chunks, 0) + 1
            found.append(layout)
        if len(found) == FIRST:
            break
    folklore = [
        layout
        for chunks in selected
        for layout in [one for one in ranked if one.chunks == chunks][:2]
        if layout not in found
    ]
    return found[:PER_SHAPE] + folklore + found[PER_SHAPE:]


class Explorer:
    """Stores and reads one layout after another, and remembers what was tried.

    postponed: layouts that were too much to store; once it is `patient`, one may take half of the time that is left.
    """

    def __init__(self, run: Run, ranking: Ranking, predictions: list[dict[str, Any]]) -> None:
        self.run, self.ranking, self.predictions = run, ranking, predictions
        self.postponed: list[Layout] = []
        self.patient = False
        self._known: set[Layout] = set()
        self._expanded: set[Layout] = set()
        self._scores: dict[Layout, float] = {}
        self._reads: dict[Layout, dict[Place, float]] = {}

    def follow(self, first: Sequence[Layout], rest: Iterator[Layout]) -> None:
        """Read the first, the neighbours of every new best, those of the next best ones, and the rest."""
        board, waiting = self.run.board, deque(first)
        while self.run.clock.left("search") > 0:
            if not waiting:
                waiting.extend(self._unexpanded())
            layout = waiting.popleft() if waiting else next(rest, None)
            if layout is None:
                return
            if self.worth(layout):
                self.read(layout)
                if board.best is not None and board.best.layout == layout:
                    self._expanded.add(layout)
                    waiting.extend(self.neighbours(layout))

    def _unexpanded(self) -> list[Layout]:
        """The neighbours of the best measured layout whose neighbours were not looked at; none if there is no such."""
        for trial in self.run.board.leaders(len(self.run.board.tried)):
            if trial.layout not in self._expanded:
                self._expanded.add(trial.layout)
                if found := self.neighbours(trial.layout):
                    return found
        return []

    def score(self, layout: Layout) -> float:
        """The model's."""
        if layout not in self._scores:
            self._scores[layout] = self.ranking.score(layout)
        return self._scores[layout]

    def worth(self, layout: Layout) -> bool:
        """Whether a layout is new, keeps the limits, and is not put far behind the best by the model."""
        known = layout in self._known or (layout in self.postponed and not self.patient)
        if known or not self.ranking.space.allowed(layout):
            return False
        board = self.run.board
        return board.best is None or self.score(layout) <= HOPELESS * board.best_value

    def neighbours(self, layout: Layout) -> list[Layout]:
        """What is one step away and worth reading, in the model's order."""
        near = dict.fromkeys(self.ranking.space.neighbours(layout))
        return sorted((one for one in near if self.worth(one)), key=self.score)

    def read(self, layout: Layout) -> float:
        """The objective's value of a layout, read for real; infinite if it was given up or breaks a limit."""
        run = self.run
        run.say("search", layout.text())
        self._known.add(layout)
        remote = run.task.target.remote
        trial = Trial(layout, self.ranking.ground)
        draws = trial.plan(1 if remote else SELECTIONS)
        if not self._affords(trial, draws):
            draws = dict.fromkeys(draws, 1)
            if not self._affords(trial, draws):
                if not self.patient:
                    self._known.discard(layout)
                    self.postponed.append(layout)
                return math.inf
        if not trial.prepare(draws, patience(run, trial, draws)):
            return math.inf
        reads = self._reads[layout] = {}
        for number in range(max(draws.values())):
            for one in run.task.classes:
                place = number % draws[one.name]
                reads[one.name, number] = min(trial.time(one, place) for _ in range(1 if remote else 2))
                if number == 0:
                    self._note(one, trial)
            if number and self._behind(reads):
                trial.close()
                return math.inf
        value = run.board.note(trial)
        observe(self.ranking.model, trial)
        return value

    def _affords(self, trial: Trial, draws: Mapping[str, int]) -> bool:
        if affords(trial, draws):
            return True
        most = self.run.clock.left("search") / 2
        return self.patient and affords(trial, draws, PATIENT_CEILING, most)

    def _behind(self, reads: dict[Place, float]) -> bool:
        """Whether these reads are slower than those of the best layout at the same places, beyond doubt."""
        best = self.run.board.best
        other = {} if best is None else self._reads.get(best.layout, {})
        both = [place for place in reads if place in other]
        mine, theirs = (np.array([one[place] for place in both]) for one in (reads, other))
        return behind(mine, theirs, DOUBT, LEAST_PAIRS)

    def _note(self, query: QueryClass, trial: Trial) -> None:
        """Keep what the model said of a read before it was made, beside what it took."""
        if len(self.predictions) < MOST_PREDICTIONS:
            box, factor = trial.part(query.name, 0)
            self.predictions.append(
                {
                    "query": query.name,
                    "layout": trial.layout.text(),
                    "predicted": self.ranking.model.predict(query, [box], trial.layout) * factor,
                    "measured": float(np.median(trial.times[query.name, 0])),
                }
            )
