"""From what a search measured to the rows of its result, and the reasons for the first of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from tessarray.display.units import byte_text, time_text
from tessarray.tuner.constraints import memory_of
from tessarray.tuner.finalists import class_estimate
from tessarray.tuner.layout import Layout
from tessarray.tuner.leaderboard import seconds_of_trial
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.reading import Task
from tessarray.tuner.result import Estimate, Row, summed
from tessarray.tuner.search import Found
from tessarray.tuner.trial import Trial

__all__ = ["reasons", "rows_of"]

MOST_CANDIDATES = 12


def rows_of(task: Task, found: Found) -> tuple[Row, ...]:
    """The proposal, the labelled layouts, then other measured ones worth seeing: those that nothing else beats."""
    rows = [_measured(task, found, found.finalists[0], "proposal")]
    read = {trial.label: trial for trial in found.others}
    for label, layout in task.labelled.items():
        if label in read:
            rows.append(_measured(task, found, read[label], label))
        else:
            rows.append(_predicted(task, found, layout, label))
    rows += [_measured(task, found, trial, "candidate") for trial in found.finalists[1:]]
    shown = {one.layout for one in rows}
    # A layout that was read twice counts as it was read last, at more places.
    rest = {trial.layout: trial for trial in found.tried if trial.layout not in shown and trial.times}
    more = _front(list(rest.values()), task.classes)[:MOST_CANDIDATES]
    rows += [_measured(task, found, trial, "candidate") for trial in more]
    if more:
        count = len(found.finalists) - 1
        raced = f"the proposal and candidates 1 to {count}" if count else "none"
        found.notes.append(
            f"read in turns: {raced}; other times are of the search, where a layout is read alone, at fewer places: "
            f"small differences to them say nothing"
        )
    return tuple(rows)


def _front(trials: Sequence[Trial], classes: Sequence[QueryClass]) -> list[Trial]:
    """Trials that no other beats in time, size and speed of writing at once; the quickest first."""
    keys = {
        id(trial): (seconds_of_trial(trial, classes), 1 / trial.ratio, 1 / trial.write_rate)
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


def _measured(task: Task, found: Found, trial: Trial, label: str) -> Row:
    """What was measured of a layout; classes that were not read are predicted, and marked so."""
    queries = {
        one.name: class_estimate(trial, one, task.seed) or _estimate(found, one, trial.layout)
        for one in task.classes
    }
    requests = {one.name: _mean(trial.requests.get(one.name)) for one in task.classes}
    fetched = {one.name: _mean(trial.fetched.get(one.name)) for one in task.classes}
    stored = task.subject.nbytes / trial.ratio
    return _row(task, label, trial.layout, queries, _write_estimate(trial), stored, requests, fetched)


def _predicted(task: Task, found: Found, layout: Layout, label: str) -> Row:
    """What the model says of a layout that was not read."""
    assert found.model is not None and found.ground is not None, "something was measured"
    touches = {
        one.name: [found.model.touch(box, layout) for box in found.ground.boxes[one.name][:2]]
        for one in task.classes
    }
    figures = found.model.figures(layout)
    # What limits the size was stored, and its size is that limit: the probe's blocks would say another.
    ratio = found.reference_ratios.get(label, figures.ratio)
    return _row(
        task,
        label,
        layout,
        {one.name: _estimate(found, one, layout) for one in task.classes},
        Estimate.predicted(figures.encode),
        task.subject.nbytes / ratio,
        {name: _mean([one.requests for one in found]) for name, found in touches.items()},
        {name: _mean([one.fetched for one in found]) for name, found in touches.items()},
    )


def _estimate(found: Found, query: QueryClass, layout: Layout) -> Estimate:
    assert found.model is not None and found.ground is not None, "something was measured"
    return Estimate.predicted(found.model.predict(query, found.ground.boxes[query.name][:2], layout))


def _row(
    task: Task, label: str, layout: Layout, queries: Mapping[str, Estimate], write: Estimate, stored: float,
    requests: Mapping[str, float], fetched: Mapping[str, float],
) -> Row:  # fmt: skip
    subject = task.subject
    return Row(
        label=label,
        layout=layout,
        queries=queries,
        read=summed([(one.weight, queries[one.name]) for one in task.classes]),
        write=write,
        stored=round(stored),
        files=layout.files(subject.shape),
        requests=requests,
        fetched=fetched,
        memory=memory_of(layout, subject.itemsize, task.threads, subject.nbytes / max(stored, 1)),
    )


def _mean(values: Sequence[float] | None) -> float:
    return float(np.mean(values)) if values else math.nan


def reasons(task: Task, found: Found, rows: Sequence[Row]) -> tuple[str, ...]:
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
            f"an access takes {time_text(best.read.value)}, with '{other.label}' "
            f"{time_text(other.read.value)}{said}: {times:.3g} times as long; "
            f"the proposal takes {size:.2f} of its size"
        )
    for one in task.classes:
        used = math.prod(one.extents) * task.subject.itemsize
        lines.append(
            f"{one.name}: {best.requests[one.name]:.3g} requests fetch {byte_text(best.fetched[one.name])} for "
            f"{byte_text(used)} of values"
        )
    lines.append(f"{len(found.tried)} layouts were stored and read, {len(found.finalists)} of them in turns")
    return tuple(lines)


def _write_estimate(trial: Trial) -> Estimate:
    """Bytes of values a second that a layout was written with, with the spread over its pieces."""
    rate = trial.write_rate
    rates = sorted(trial.write_rates)
    if len(rates) < 2:
        return Estimate(rate, rate, rate)
    low, high = np.percentile(rates, [10, 90])
    return Estimate(rate, min(float(low), rate), max(float(high), rate))
