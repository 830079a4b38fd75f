"""How every study runs: its source, sample, clock and scratch space, which are given back at the end.

A study is a function of a `Room` and its own arguments that gives tables, what they mean, and facts for programs:

    @study("Chunk shapes", draw=_draw, budget="20s")
    def chunks(room: Room, queries: Queries = None, codec: str | None = None) -> Measured: ...

What it becomes is called as `chunks(source, queries, variable=..., progress=..., budget=..., store=...)`: its own
arguments and those of `Budget`, whose defaults `study` may change. `KINDS` lists them all, for the command line.
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Concatenate, ParamSpec

import numpy as np

from tessarray.display.units import extents_text
from tessarray.tuner.errors import TuneError
from tessarray.tuner.events import Clock, Event, Listener
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass, parse_queries
from tessarray.tuner.request import Budget, Queries
from tessarray.tuner.result import read_layout_file
from tessarray.tuner.sampling import Sample, take
from tessarray.tuner.source import Subject, open_subject
from tessarray.tuner.studies.defaults import usual_classes
from tessarray.tuner.studies.model import Study, Table
from tessarray.tuner.target import Scratch, Target

__all__ = ["CODEC", "KINDS", "Kind", "Measured", "Room", "layout_from", "study"]

CODEC = "blosc:zstd:3:shuffle"  # if the array has none that short texts can say
SAMPLE_SHARE = 0.15  # of the budget

P = ParamSpec("P")
Measured = tuple[
    Sequence[Table], Sequence[str], Mapping[str, Any]
]  # tables, their meaning in sentences, facts
LayoutLike = str | os.PathLike[str] | Layout | None


@dataclass(frozen=True)
class Kind:
    """A study: what it is called, how its chart is drawn, its own parameters, and the budget it has by default."""

    name: str
    title: str
    draw: Callable[[Any, Study], None]
    parameters: tuple[inspect.Parameter, ...]
    budget: Budget
    run: Callable[..., Study]


KINDS: dict[str, Kind] = {}


@dataclass
class Room:
    """What a study works with: an open source, a clock, a store to measure on; and its notes for the reader."""

    name: str
    subject: Subject
    clock: Clock
    target: Target
    scratch: Scratch
    seed: int
    threads: int
    listener: Listener | None
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
            self.notes.append(
                f"measured on a sample of {share:.1%} of the values, {extents_text(sample.values.shape)}, repeated if "
                "more is needed: chunks that are longer look smaller than they would be"
            )
        return sample

    def classes(self, queries: Queries) -> tuple[QueryClass, ...]:
        """The query classes asked for, or one of planes and one of lines for every axis."""
        if queries:
            return parse_queries(queries, self.subject.shape, self.subject.spec.dims)
        self.notes.append("no query classes were given, so planes and lines are taken, all as frequent")
        return usual_classes(self.subject.shape, self.subject.itemsize, self.subject.spec.dims)


def study(
    title: str, draw: Callable[[Any, Study], None], **defaults: Any
) -> Callable[[Callable[Concatenate[Room, P], Measured]], Callable[..., Study]]:
    """Make a study of a function; `defaults` are those of its budget."""

    def made(measure: Callable[Concatenate[Room, P], Measured]) -> Callable[..., Study]:
        name, budget = measure.__name__, Budget(**defaults)
        own = inspect.signature(measure)
        parameters = tuple(own.parameters.values())[1:]
        allowed = {one.name for one in fields(Budget)}

        @functools.wraps(measure)
        def run(
            source: Any,
            *args: Any,
            variable: str | None = None,
            progress: Listener | None = None,
            **given: Any,
        ) -> Study:
            cost = Budget(**defaults | {key: value for key, value in given.items() if key in allowed})
            asked = own.bind(None, *args, **{key: one for key, one in given.items() if key not in allowed})
            asked.apply_defaults()
            clock, target, threads = cost.clock(), cost.target(), cost.workers()
            subject = open_subject(source, variable)
            try:
                with Scratch(target) as scratch:
                    room = Room(name, subject, clock, target, scratch, cost.seed, threads, progress)
                    tables, meaning, facts = measure(room, *asked.args[1:], **asked.kwargs)
            finally:
                subject.close()
            request = {"budget": cost.budget, "store": cost.store, "seed": cost.seed, "threads": threads}
            request |= {key: _plain(one) for key, one in asked.arguments.items() if key != "room"}
            return Study(
                name, title, subject.label, subject.variable, subject.shape, subject.dtype.name, tuple(tables),
                tuple(meaning), tuple(room.notes), request, facts, clock.spent,
            )  # fmt: skip

        KINDS[name] = Kind(name, title, draw, parameters, budget, run)
        return run

    return made


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, str | int | float | Mapping | Sequence) else str(value)


def layout_from(given: LayoutLike, shape: tuple[int, ...]) -> Layout:
    """A layout, or that of a `layout.json` for an array of this shape. Raises `LayoutFileError` or `TuneError`."""
    if isinstance(given, Layout):
        return given
    assert given is not None, "asked for by its callers"
    layout = Layout.from_document(read_layout_file(given).get("layout") or {})
    if len(layout.chunks) != len(shape):
        raise TuneError(
            f"{given}: is for an array of {len(layout.chunks)} dimensions, the array has {len(shape)}"
        )
    return layout
