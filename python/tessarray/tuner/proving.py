"""Proving a `layout.json` again: the same question to the same source, and whether the answer still stands.

The layout of the file enters the new run as one to compare with, so that both answers are read in the same minutes.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessarray.display.units import time_text
from tessarray.tuner.errors import LayoutFileError
from tessarray.tuner.events import Listener
from tessarray.tuner.request import Options
from tessarray.tuner.result import Row, TuneResult
from tessarray.tuner.source import open_subject
from tessarray.tuner.tuning import tune

__all__ = ["HELD", "Proof", "prove"]

HELD = 1.15  # the earlier proposal stands if it takes at most this many times as long as the new one
LABEL = "layout file"


@dataclass(frozen=True)
class Proof:
    """The new result, the row of the earlier proposal in it, and what the file said then."""

    result: TuneResult
    earlier: Row
    then: Row

    @property
    def ratio(self) -> float:
        """Time of the earlier proposal over that of the new one, both measured now."""
        return self.earlier.read.value / self.result.best.read.value

    @property
    def holds(self) -> bool:
        """Whether the earlier proposal still is within 15 % of the best that was found."""
        return self.earlier.layout == self.result.best.layout or self.ratio <= HELD

    def text(self) -> str:
        """In a line or two."""
        then, now = time_text(self.then.read.value), time_text(self.earlier.read.value)
        verdict = "the proposal stands" if self.holds else "another layout is better now"
        return (
            f"{verdict}: {self.earlier.layout.text()} took {then} an access when it was proposed and takes "
            f"{now} now, {self.ratio:.2f} times the time of what this run proposes"
        )


def prove(
    path: str | os.PathLike[str],
    source: Any = None,
    *,
    budget: float | str | None = None,
    seed: int | None = None,
    progress: Listener | None = None,
) -> Proof:
    """Tune again with the file's request, beside its layout. Raises `LayoutFileError` for a source of another shape.

    Costs the file's budget, or the given one.
    """
    before = TuneResult.load(path)
    # A file of an earlier version may have options that there are no more.
    known = {"objective", "variable", *Options.__annotations__}
    arguments = {name: value for name, value in before.request.items() if name in known}
    queries = before.request["queries"]
    if isinstance(queries, dict):
        queries = {name: one if isinstance(one, str) else tuple(one) for name, one in queries.items()}
    if budget is not None:
        arguments["budget"] = budget
    if seed is not None:
        arguments["seed"] = seed
    if source is None:
        source = before.source
        arguments["variable"] = arguments.get("variable") or before.variable or None
        if not Path(source).expanduser().exists():
            raise LayoutFileError(
                f"{path}: its source '{source}' is not there; name it with --source (source= in Python)"
            )
    subject = open_subject(source, arguments["variable"])
    subject.close()
    if subject.shape != before.shape or subject.dtype.str != before.dtype:
        raise LayoutFileError(
            f"{path}: was tuned for shape {before.shape} and type {before.dtype}, the source has "
            f"{subject.shape} and {subject.dtype.str}"
        )
    result = tune(source, queries, **arguments, compare={LABEL: before.best.layout}, progress=progress)
    earlier = result.row(LABEL) or result.best
    return Proof(result, earlier, before.best)
