"""The leaderboard of a search: every layout that was stored and read, what the objective makes of it, and the best."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tessarray.tuner.layout import Layout
from tessarray.tuner.objectives import score_of
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.trial import Trial

__all__ = ["Leaderboard", "seconds_of_trial"]

KEPT = 5  # trials whose objects stay stored: those that are read again
SLACK = 1.001  # of the size limit, for rounding


def seconds_of_trial(trial: Trial, classes: Sequence[QueryClass]) -> float:
    """Seconds of one access: the weighted sum over classes of the mean over selections of their median times."""
    total = 0.0
    for one in classes:
        values = [np.median(times) for (name, _), times in trial.times.items() if name == one.name and times]
        total += one.weight * float(np.mean(values)) if values else 0.0
    return total


class Leaderboard:
    """Trials and their values; lower is better. Only the best few keep what they stored.

    most_stored: bytes that the whole array may take; layouts beyond it never win. None: no limit.
    """

    def __init__(
        self, classes: Sequence[QueryClass], objective: str, nbytes: int, most_stored: float | None = None
    ) -> None:
        self.classes, self.objective, self.nbytes, self.most_stored = classes, objective, nbytes, most_stored
        self.tried: list[Trial] = []
        self.best: Trial | None = None
        self._values: dict[int, float] = {}

    def score(self, trial: Trial, seconds: float) -> float:
        """What the objective makes of a trial that takes `seconds` an access; infinite if it is too large."""
        stored = self.nbytes / trial.ratio
        if self.too_large(stored):
            return math.inf
        return score_of(self.objective, seconds, stored, trial.write_rate)

    def value(self, trial: Trial) -> float:
        """The score at the times that the trial was read in."""
        return self.score(trial, seconds_of_trial(trial, self.classes))

    def note(self, trial: Trial) -> float:
        """Enter a trial that was read; returns its value."""
        self.tried.append(trial)
        self._values[id(trial)] = self.value(trial)
        stored = sorted((one for one in self.tried if one.store is not None), key=self._value)
        for loser in stored[KEPT:]:
            loser.close()
        if stored and math.isfinite(self._value(stored[0])):
            self.best = stored[0]
        return self._value(trial)

    def ratios(self, codec: str) -> list[float]:
        """The ratios that were measured with a codec, by layout."""
        return [trial.ratio for trial in self.tried if trial.layout.codec == codec and trial.units]

    def too_large(self, stored: float) -> bool:
        """Whether so many bytes of the whole array break the size limit."""
        return self.most_stored is not None and stored > self.most_stored * SLACK

    @property
    def best_value(self) -> float:
        """The value of the best; infinite as long as there is none."""
        return math.inf if self.best is None else self._values.get(id(self.best), math.inf)

    def renew(self, trials: Sequence[Trial]) -> None:
        """Value trials anew that were read again; the first of them is the best."""
        for trial in trials:
            self._values[id(trial)] = self.value(trial)
        self.best = trials[0]

    def leaders(self, count: int = KEPT) -> list[Trial]:
        """The best trials, one a layout; if none keeps the size limit, the one that comes nearest to it."""
        distinct: dict[Layout, Trial] = {}
        for trial in sorted(self.tried, key=self._value):
            if math.isfinite(self._value(trial)):
                distinct.setdefault(trial.layout, trial)
        smallest = sorted(self.tried, key=lambda one: -one.ratio)
        return list(distinct.values())[:count] or smallest[:1]

    def _value(self, trial: Trial) -> float:
        return self._values[id(trial)]
