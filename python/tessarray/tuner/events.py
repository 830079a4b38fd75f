"""What a run says while it works: stages, and the best so far. The live view and tests listen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["ENDS", "STAGES", "Clock", "Event", "Listener"]

# When each stage of a search ends at the latest, as a share of the budget: two thirds go to reading layouts.
ENDS = {
    "sample": 0.10,
    "calibrate": 0.12,
    "codecs": 0.22,
    "model": 0.36,
    "compare": 0.48,
    "search": 0.72,
    "race": 0.82,
    "refine": 0.88,
    "last race": 0.92,
    "workers": 0.95,
}
STAGES = tuple(name for name in ENDS if name != "last race")  # as a listener is told them


@dataclass(frozen=True)
class Event:
    """A stage, what it is at, the seconds spent and allowed, and the best layout so far with its seconds an access."""

    stage: str
    text: str
    spent: float
    budget: float
    best: str | None = None
    seconds: float | None = None


Listener = Callable[[Event], None]


class Clock:
    """The budget of a run, in seconds from now."""

    def __init__(self, budget: float) -> None:
        self.budget = budget
        self.started = time.perf_counter()

    @property
    def spent(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    def until(self, share: float) -> float:
        """Seconds left until a share of the budget is spent; 0 if it is."""
        return max(self.budget * share - self.spent, 0.0)

    def left(self, stage: str) -> float:
        """Seconds left for a stage of a search; 0 if its time is over."""
        return self.until(ENDS[stage])
