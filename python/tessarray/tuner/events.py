"""What a run says while it works: stages, and the best so far. The live view and tests listen."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["STAGES", "Clock", "Event", "Listener"]

STAGES = ("sample", "calibrate", "codecs", "model", "compare", "search", "race", "refine", "workers")


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
        """Seconds left until a share of the budget is spent; 0 where it is."""
        return max(self.budget * share - self.spent, 0.0)
