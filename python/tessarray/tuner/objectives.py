"""What "best" means: one number of a layout's time to read, stored size and speed of writing. Lower is better.

Each objective is a weighted geometric mean, so that units do not matter and a gain of 10 % counts the same anywhere.
The small weights break ties: with `read`, a layout that takes twice the bytes must be 3.5 % faster to win.
"""

from __future__ import annotations

import math

from tessarray.tuner.errors import ConstraintError

__all__ = ["OBJECTIVES", "check_objective", "score_of"]

# objective -> weights of (seconds of an access, bytes stored, seconds to write a byte)
OBJECTIVES: dict[str, tuple[float, float, float]] = {
    "read": (1.0, 0.05, 0.01),
    "size": (0.05, 1.0, 0.02),
    "write": (0.05, 0.05, 1.0),
    "balanced": (0.5, 0.3, 0.2),
}


def check_objective(objective: str) -> None:
    """Raises `ConstraintError` for an objective that is none."""
    if objective not in OBJECTIVES:
        raise ConstraintError(f"objective: expected {', '.join(OBJECTIVES)}, found '{objective}'")


def score_of(objective: str, seconds: float, stored: float, write_rate: float) -> float:
    """The number for a layout: seconds of an access, bytes stored, bytes of values written a second."""
    read, size, write = OBJECTIVES[objective]
    return math.exp(
        read * math.log(max(seconds, 1e-9))
        + size * math.log(max(stored, 1.0))
        - write * math.log(max(write_rate, 1.0))
    )
