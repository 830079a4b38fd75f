"""The stages of the search, on trials that are made up: which layouts come next, and which of the last few wins."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tessarray.tuner import tune
from tessarray.tuner.constraints import Constraints
from tessarray.tuner.events import ENDS, STAGES
from tessarray.tuner.exploration import FIRST, PER_SHAPE, first_choices
from tessarray.tuner.finalists import race
from tessarray.tuner.layout import Layout
from tessarray.tuner.layout_space import LayoutSpace
from tessarray.tuner.queries import parse_queries
from tessarray.tuner.request import Access, Budget, Limits, Options, Request

SHAPE = (64, 48, 32)
CLASSES = parse_queries({"map": ("[t, :, :]", 0.5), "series": ("[:, y, x]", 0.5)}, SHAPE)


def space(**limits) -> LayoutSpace:
    return LayoutSpace(SHAPE, 4, CLASSES, ("none", "zstd:1"), Constraints(**limits), 1)


class Timed:
    """A trial that always takes so long. `clock`: seconds that pass in all of them."""

    def __init__(self, seconds: float, clock: list[float]) -> None:
        self.draws = {"map": 1, "series": 1}
        self.seconds, self.clock, self.read = seconds, clock, 0

    def time(self, query, place) -> float:
        self.read += 1
        self.clock[0] += self.seconds
        return self.seconds


@pytest.mark.parametrize("seconds", [0.0, 1.0, 3.0, 8.0, 1e6])
@pytest.mark.parametrize("seed", range(4))
def test_the_fastest_of_the_last_few_wins_whenever_time_ends(monkeypatch, seconds, seed):
    """Time may end within a round, when some were read once more than others."""
    clock = [0.0]
    monkeypatch.setattr(
        "tessarray.tuner.finalists.time", SimpleNamespace(perf_counter=lambda: clock[0]), raising=True
    )
    trials = [Timed(took, clock) for took in (0.5, 0.2, 0.9)]
    left, out = race(trials, CLASSES, seconds, np.random.default_rng(seed), None, lambda one: one.seconds)
    assert min(left, key=lambda one: one.seconds) is trials[1]
    assert {id(one) for one in (*left, *out)} == {id(one) for one in trials}
    assert all(one.read >= 2 for one in trials)


def test_what_is_far_behind_is_not_read_to_the_end():
    trials = [Timed(took, [0.0]) for took in (0.1, 0.5)]
    left, out = race(trials, CLASSES, 1e6, np.random.default_rng(0), None, lambda one: one.seconds)
    assert left == trials[:1] and out == trials[1:]
    assert trials[1].read < trials[0].read


def test_neighbours_differ_in_one_choice_and_are_in_the_space():
    there = space()
    here = there.layout((16, 12, 8), there.shardings[2], "none")
    near = set(there.neighbours(here))
    assert Layout(here.chunks, here.shards, "zstd:1") in near
    ladder = there.ladder(0)
    longer, shorter = ladder[ladder.index(16) + 1], ladder[ladder.index(16) - 1]
    assert {one.chunks for one in near} > {(longer, 12, 8), (shorter, 12, 8)}
    for one in near:
        steps = [
            there.ladder(axis).index(a) - there.ladder(axis).index(b)
            for axis, (a, b) in enumerate(zip(one.chunks, here.chunks, strict=True))
        ]
        assert sum(map(abs, steps)) <= 2 and abs(sum(steps)) <= 1
        assert sum(map(abs, steps)) == 0 or one.codec == here.codec
    assert not list(there.neighbours(Layout((17, 12, 8), None, "none"))), "not in the space"
    assert not list(there.neighbours(Layout((16, 12, 8), None, "gzip:6")))


def test_the_first_choices_are_of_several_shapes_and_have_those_that_are_selected():
    there = space()
    ranked = [
        layout for axis in there.ladder(0)[3:] for layout in there.variants((axis, 12, 8), there.codecs)
    ] + list(there.variants((1, 48, 32), there.codecs))
    found = first_choices(ranked, [(1, 48, 32)])
    assert found[:PER_SHAPE] == ranked[:PER_SHAPE]
    assert [one.chunks for one in found].index((1, 48, 32)) == PER_SHAPE
    assert all(
        sum(one.chunks == chunks for one in found) <= PER_SHAPE for chunks in {(8, 12, 8), (16, 12, 8)}
    )
    assert len(found) <= FIRST + 2 and len(set(found)) == len(found)


def test_time_that_is_left_goes_to_what_was_too_much_to_store_and_to_the_whole_space(monkeypatch):
    """A slow codec may make all of the model's best too much to store beside so many others."""
    asked = []

    def none_but_the_patient(trial, draws, ceiling=2.0, seconds=None):
        asked.append((trial.layout, seconds))
        return seconds is not None

    monkeypatch.setattr("tessarray.tuner.exploration.affords", none_but_the_patient)
    values = np.random.default_rng(0).integers(0, 99, SHAPE, dtype="i4")
    tune(values, {"map": ("[t, :, :]", 1.0)}, budget=4, store="memory")
    patient = [layout for layout, seconds in asked if seconds is not None]
    assert patient[0] in {layout for layout, seconds in asked if seconds is None}
    assert len(set(patient)) > 5


def test_shares_of_the_budget_ascend_and_name_every_stage():
    assert list(ENDS.values()) == sorted(ENDS.values()) and max(ENDS.values()) < 1
    assert set(STAGES) < set(ENDS)


def test_the_keywords_of_the_call_are_the_fields_of_the_values():
    fields = {name for kind in (Access, Limits, Budget) for name in kind.__dataclass_fields__}
    assert set(Options.__annotations__) == fields - {"queries"}
    given = Request.of(["[i] x 1"], "size", "t2m", {"max_files": 7, "seed": 3, "log": None})
    assert (given.limits.max_files, given.budget.seed, given.access.queries) == (7, 3, ["[i] x 1"])
    again = dict(given.document())
    assert Request.of(again.pop("queries"), again.pop("objective"), again.pop("variable"), again) == given


def test_a_keyword_that_is_none_of_them_is_named():
    with pytest.raises(TypeError, match=r"unknown argument 'max_fils'.*max_files"):
        tune(np.zeros((4, 4)), ["[i, j] x 1"], max_fils=3)  # type: ignore[call-arg]
