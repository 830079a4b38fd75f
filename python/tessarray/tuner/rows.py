"""From what a search measured to the rows of its result, and the reasons for the first of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from tessarray.tuner.board import seconds_of_trial
from tessarray.tuner.constraints import memory_of
from tessarray.tuner.layout import Layout
from tessarray.tuner.prices import Prices, monthly, parse_prices
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.race import class_estimate
from tessarray.tuner.result import Estimate, Row, summed
from tessarray.tuner.search import Found, Search
from tessarray.tuner.trial import Trial
from tessarray.tuner.wording import byte_text, seconds_text

__all__ = ["rows_of", "why"]

MOST_CANDIDATES = 12


def rows_of(search: Search, found: Found, prices: str | None, accesses: float) -> tuple[Row, ...]:
    """The proposal, the labelled layouts, then other measured ones worth seeing: those that nothing else beats."""
    maker = _Maker(search, None if prices is None else parse_prices(prices), accesses)
    rows = [maker.measured(found.finalists[0], "proposal")]
    read = {trial.label: trial for trial in found.others}
    for label, layout in search.task.labelled.items():
        if label in read:
            rows.append(maker.measured(read[label], label))
        elif search.figures:
            rows.append(maker.predicted(layout, label))
    rows += [maker.measured(trial, "candidate") for trial in found.finalists[1:]]
    shown = {one.layout for one in rows}
    rest = [trial for trial in search.board.tried if trial.layout not in shown and trial.times]
    more = _front(rest, search)[:MOST_CANDIDATES]
    rows += [maker.measured(trial, "candidate") for trial in more]
    if more:
        raced = (
            f"the proposal and candidates 1 to {len(found.finalists) - 1}"
            if len(found.finalists) > 1
            else "none"
        )
        found.notes.append(
            f"raced in turns: {raced}; other times are of the search, where a layout is read alone, at fewer places: "
            f"small differences to them say nothing"
        )
    return tuple(rows)


def _front(trials: Sequence[Trial], search: Search) -> list[Trial]:
    """Trials that no other beats in time, size and speed of writing at once; the quickest first."""
    keys = {
        id(trial): (seconds_of_trial(trial, search.task.classes), 1 / trial.ratio, 1 / trial.write_rate)
        for trial in trials
    }
    front = [
        trial
        for trial in trials
        if not any(
            other is not trial and all(a <= b for a, b in zip(keys[id(other)], keys[id(trial)], strict=True))
            for other in trials
        )
    ]
    return sorted(front, key=lambda trial: keys[id(trial)])


class _Maker:
    """Rows of one search."""

    def __init__(self, search: Search, prices: Prices | None, accesses: float) -> None:
        self.search, self.prices, self.accesses = search, prices, accesses
        self.classes = search.task.classes

    def measured(self, trial: Trial, label: str) -> Row:
        """What was measured of a layout; classes that were not read are predicted, and marked so."""
        queries = {}
        for one in self.classes:
            found = class_estimate(trial, one, self.search.task.seed)
            queries[one.name] = found or self._estimate(one, trial.layout)
        return self._row(
            label,
            trial.layout,
            queries,
            write_estimate(trial),
            self.search.task.subject.nbytes / trial.ratio,
            {one.name: _mean(trial.requests.get(one.name)) for one in self.classes},
            {one.name: _mean(trial.fetched.get(one.name)) for one in self.classes},
        )

    def predicted(self, layout: Layout, label: str) -> Row:
        """What the model says of a layout that was not read."""
        model = self.search.model
        requests, fetched = {}, {}
        for one in self.classes:
            touches = [model.touch(box, layout) for box in self.search.ground.boxes[one.name][:2]]
            requests[one.name] = _mean([found.requests for found in touches])
            fetched[one.name] = _mean([found.fetched for found in touches])
        figures = model.figures(layout)
        # What limits the size was stored, and its size is that limit: the probe's blocks would say another.
        ratio = self.search.ratios.get(label, figures.ratio)
        return self._row(
            label,
            layout,
            {one.name: self._estimate(one, layout) for one in self.classes},
            Estimate.predicted(figures.encode),
            self.search.task.subject.nbytes / ratio,
            requests,
            fetched,
        )

    def _estimate(self, query: QueryClass, layout: Layout) -> Estimate:
        boxes = self.search.ground.boxes[query.name][:2]
        return Estimate.predicted(self.search.model.predict(query, boxes, layout))

    def _row(
        self, label: str, layout: Layout, queries: Mapping[str, Estimate], write: Estimate, stored: float,
        requests: Mapping[str, float], fetched: Mapping[str, float],
    ) -> Row:  # fmt: skip
        subject = self.search.task.subject
        files = layout.files(subject.shape)
        money = None
        if self.prices is not None:
            each = sum(one.weight * requests[one.name] for one in self.classes)
            moved = sum(one.weight * fetched[one.name] for one in self.classes)
            money = monthly(self.prices, stored, each, moved, self.accesses, files)
        return Row(
            label=label,
            layout=layout,
            queries=queries,
            read=summed([(one.weight, queries[one.name]) for one in self.classes]),
            write=write,
            stored=round(stored),
            files=files,
            requests=requests,
            fetched=fetched,
            memory=memory_of(
                layout, subject.itemsize, self.search.task.threads, subject.nbytes / max(stored, 1)
            ),
            money=money,
        )


def _mean(values: Sequence[float] | None) -> float:
    return float(np.mean(values)) if values else math.nan


def why(search: Search, found: Found, rows: Sequence[Row]) -> tuple[str, ...]:
    """Why the proposal won, in a few lines of facts."""
    best = rows[0]
    lines = []
    for other in rows[1:]:
        if other.label == "candidate":
            continue
        if other.layout == best.layout:
            lines.append(f"it is the layout of '{other.label}': nothing better was found")
            continue
        times, size = other.read.value / best.read.value, best.stored / max(other.stored, 1)
        said = "" if other.read.measured else " (predicted by the model, not read)"
        lines.append(
            f"an access takes {seconds_text(best.read.value)}, with '{other.label}' "
            f"{seconds_text(other.read.value)}{said}: {times:.3g} times as long; "
            f"the proposal takes {size:.2f} of its size"
        )
    for one in search.task.classes:
        used = math.prod(one.extents) * search.task.subject.itemsize
        lines.append(
            f"{one.name}: {best.requests[one.name]:.3g} requests fetch {byte_text(best.fetched[one.name])} for "
            f"{byte_text(used)} of values"
        )
    lines.append(
        f"{len(search.board.tried)} layouts were stored and read, {len(found.finalists)} of them raced in turns"
    )
    return tuple(lines)


def write_estimate(trial: Trial) -> Estimate:
    """Bytes of values a second that a layout was written with, with the spread over its pieces."""
    rate = trial.write_rate
    rates = sorted(trial.write_rates)
    if len(rates) < 2:
        return Estimate(rate, rate, rate)
    low, high = np.percentile(rates, [10, 90])
    return Estimate(rate, min(float(low), rate), max(float(high), rate))
