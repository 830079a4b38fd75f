"""What the studies have in common: an open source, a sample, a clock, and scratch space that is given back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import tessarray
from tessarray.tuner.errors import ConstraintError, TuneError
from tessarray.tuner.events import Clock, Event, Listener
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass, parse_queries
from tessarray.tuner.result import read_layout_file
from tessarray.tuner.sampling import take
from tessarray.tuner.source import Sample, Subject, open_subject
from tessarray.tuner.studies.model import Study, Table
from tessarray.tuner.studies.usual import usual_classes
from tessarray.tuner.target import Scratch, Target, parse_store, seconds_of

__all__ = ["CODEC", "Access", "Setting", "current_or_usual", "layout_from", "setting"]

Access = Mapping[str, Any] | Sequence[str] | None
CODEC = "blosc:zstd:3:shuffle"  # where the array has none that short texts can say
SAMPLE_SHARE = 0.15


@dataclass
class Setting:
    """One run of a study."""

    name: str
    subject: Subject
    clock: Clock
    target: Target
    scratch: Scratch
    seed: int
    threads: int
    listener: Listener | None
    request: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.rng = np.random.default_rng(self.seed)

    def say(self, text: str) -> None:
        """Tell what is being done."""
        if self.listener is not None:
            self.listener(Event(self.name, text, self.clock.spent, self.clock.budget))

    def sample(self, limit: int) -> Sample:
        """Values of the source: at most `limit` bytes, and about a seventh of the budget."""
        self.say("reading a sample of the source")
        sample = take(self.subject, limit, self.clock.budget * SAMPLE_SHARE)
        if not sample.whole:
            share = sample.values.nbytes / self.subject.nbytes
            size = "×".join(map(str, sample.values.shape))
            self.notes.append(
                f"measured on a sample of {share:.1%} of the values, {size}, repeated where more is needed: chunks "
                "that are longer look smaller than they would be"
            )
        return sample

    def classes(self, queries: Access) -> tuple[QueryClass, ...]:
        """The query classes asked for, or one a plane and one a line of every axis."""
        if queries:
            return parse_queries(queries, self.subject.shape, self.subject.spec.dims)
        found = usual_classes(self.subject.shape, self.subject.itemsize, self.subject.spec.dims)
        self.notes.append("no query classes were given, so planes and lines are taken, all as frequent")
        return found

    def study(
        self, title: str, tables: Sequence[Table], meaning: Sequence[str], facts: Mapping[str, Any] | None = None
    ) -> Study:  # fmt: skip
        """The result."""
        return Study(
            self.name, title, self.subject.label, self.subject.variable, self.subject.shape,
            self.subject.dtype.name, tuple(tables), tuple(meaning), tuple(self.notes), self.request,
            dict(facts or {}), self.clock.spent,
        )  # fmt: skip


@contextmanager
def setting(
    name: str,
    source: Any,
    variable: str | None,
    *,
    budget: float | str,
    store: str = "local",
    scratch: str | os.PathLike[str] | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Listener | None = None,
    request: Mapping[str, Any],
) -> Iterator[Setting]:
    """Open the source and make room to measure in; everything is given back at the end, also after Ctrl-C.

    Raises what `open_subject` and `parse_store` raise, and `ConstraintError` for a budget, or threads, below 1.
    """
    clock = Clock(seconds_of(budget, "budget"))
    folder = None if scratch is None else os.fspath(scratch)
    if folder is not None and not Path(folder).is_dir():
        raise ConstraintError(f"scratch: expected a folder, found '{folder}'")
    target = parse_store(store, folder)
    if threads is not None and threads < 1:
        raise ConstraintError(f"threads: expected 1 or more, found {threads}")
    subject = open_subject(source, variable)
    try:
        with Scratch(target) as room:
            workers = threads or tessarray.default_session().threads
            asked = {"budget": budget, "store": store, "seed": seed, "threads": workers, **request}
            yield Setting(name, subject, clock, target, room, seed, workers, progress, asked)
    finally:
        subject.close()


def layout_from(path: str | os.PathLike[str], shape: tuple[int, ...]) -> Layout:
    """The layout of a `layout.json` for an array of this shape. Raises `LayoutFileError` or `TuneError`."""
    document = read_layout_file(path)
    layout = Layout.from_document(document.get("layout") or {})
    if len(layout.chunks) != len(shape):
        raise TuneError(
            f"{path}: is for an array of {len(layout.chunks)} dimensions, the array has {len(shape)}"
        )
    return layout


def current_or_usual(subject: Subject, choose: Callable[[], Layout]) -> tuple[Layout, str]:
    """The layout that the array has, or the one of `choose`; with a word for which."""
    if subject.current is not None:
        return subject.current, "current"
    return choose(), "tessarray's choice"
