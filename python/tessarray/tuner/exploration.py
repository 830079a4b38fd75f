"""Stage 4 of the search: what to read next, and when to give a layout up.

1. The model's best come first, at most a few of one chunk shape, so that shapes get their chance too.
2. Whenever a layout is the best so far, all that is one step from it comes next, in the model's order.
3. When nothing waits, the neighbours of the next best that was measured follow, and then the rest of the model's list.

A layout that the model puts far behind the best is not stored. One that is behind the best on the same selections,
beyond doubt, is given up before all of them are read.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
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

Place = tuple[str, int]  # a class, and which of its selections


def explore(run: Run, ranking: Ranking, ranked: Ranked, predictions: list[dict[str, Any]]) -> None:
    """Read layouts until the stage's time is over or none is left to try. They are on the leaderboard then;
    `predictions` is added to.
    """
    explorer = Explorer(run, ranking, predictions)
    waiting = deque(first_choices(ranked, ranking.selected()))
    rest = iter(ranked)
    expanded: set[Layout] = set()
    while run.clock.left("search") > 0:
        if not waiting:
            waiting.extend(_unexpanded(explorer, expanded))
        layout = waiting.popleft() if waiting else next(rest, None)
        if layout is None:
            return
        if explorer.worth(layout):
            explorer.read(layout)
            if run.board.best is not None and run.board.best.layout == layout:
                expanded.add(layout)
                waiting.extend(explorer.neighbours(layout))


def _unexpanded(explorer: Explorer, expanded: set[Layout]) -> list[Layout]:
    """The neighbours of the best measured layout whose neighbours were not looked at; none if there is no such."""
    board = explorer.run.board
    for trial in board.leaders(len(board.tried)):
        if trial.layout not in expanded:
            expanded.add(trial.layout)
            if found := explorer.neighbours(trial.layout):
                return found
    return []


def first_choices(ranked: Ranked, selected: Sequence[tuple[int, ...]] = ()) -> list[Layout]:
    """The model's best, at most `PER_SHAPE` of one chunk shape. Chunks that are what a class selects come second:
    folklore's answer, which is right where a class is alone.
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
    """Stores and reads one layout after another, and remembers what was tried."""

    def __init__(self, run: Run, ranking: Ranking, predictions: list[dict[str, Any]]) -> None:
        self.run, self.ranking, self.predictions = run, ranking, predictions
        self._known: set[Layout] = set()
        self._scores: dict[Layout, float] = {}
        self._reads: dict[Layout, dict[Place, float]] = {}

    def score(self, layout: Layout) -> float:
        """The model's."""
        if layout not in self._scores:
            self._scores[layout] = self.ranking.score(layout)
        return self._scores[layout]

    def worth(self, layout: Layout) -> bool:
        """Whether a layout is new, keeps the limits, and is not put far behind the best by the model."""
        if layout in self._known or not self.ranking.space.allowed(layout):
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
        if not affords(trial, draws):
            draws = dict.fromkeys(draws, 1)
            if not affords(trial, draws):
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
