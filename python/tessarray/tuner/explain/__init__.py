"""Why is this read slow: what it touches, where its time goes, the cause, and the layout that would cure it."""

from __future__ import annotations

from tessarray.tuner.explain.causes import Cause
from tessarray.tuner.explain.result import Diagnosis, Explanation
from tessarray.tuner.explain.run import explain

__all__ = ["Cause", "Diagnosis", "Explanation", "explain"]
