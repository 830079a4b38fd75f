"""The intervals hold what they promise on known distributions, and noise is called equal while a change is not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tessarray_bench import statistics

TRIALS = 600


def times(rng, n, median=1.0, sigma=0.05):
    """Times as they come: lognormal, with a long tail to the right."""
    return median * np.exp(rng.normal(0, sigma, n))


@pytest.mark.parametrize(
    ("n", "least", "most"), [(3, 0.70, 0.80), (5, 0.91, 0.96), (7, 0.95, 1.0), (20, 0.93, 0.98)]
)
def test_the_interval_of_a_median_holds_it_as_often_as_it_says(n, least, most):
    rng = np.random.default_rng(n)
    intervals = [statistics.median_interval(times(rng, n, median=3.0)) for _ in range(TRIALS)]
    held = np.mean([interval.covers(3.0) for interval in intervals])
    assert least <= held <= most
    assert held == pytest.approx(intervals[0].level, abs=0.03)


def test_few_values_say_how_sure_they_are():
    assert statistics.median_interval([1.0]) is None
    assert statistics.median_interval([1, 2, 3, 4, 5])[:3] == (1, 5, 1 - 2 / 2**5)
    assert statistics.median_interval([3, 1, 2])[:3] == (1, 3, 0.75)


def test_many_values_have_a_bootstrap_interval_that_holds_too():
    rng = np.random.default_rng(1)
    intervals = [statistics.median_interval(times(rng, 40)) for _ in range(300)]
    assert {interval.method for interval in intervals} == {"bootstrap"}
    assert 0.91 <= np.mean([interval.covers(1.0) for interval in intervals]) <= 0.99


@pytest.mark.parametrize(("n", "least"), [(5, 0.90), (7, 0.93), (20, 0.92)])
def test_the_interval_of_a_ratio_holds_the_true_one(n, least):
    rng = np.random.default_rng(n + 100)
    held = []
    for _ in range(TRIALS):
        drift = times(rng, n, sigma=0.3)  # a busy repeat hits both
        mine, theirs = drift * times(rng, n, 2.0), drift * times(rng, n, 1.0)
        held.append(statistics.ratio(mine, theirs, paired=True).interval.covers(2.0))
    assert least <= np.mean(held) <= 1.0


def test_pairs_are_tighter_than_loose_values_where_the_machine_drifts():
    rng = np.random.default_rng(5)
    widths = {True: [], False: []}
    for _ in range(100):
        drift = times(rng, 7, sigma=0.5)
        mine, theirs = drift * times(rng, 7, 1.3, 0.02), drift * times(rng, 7, 1.0, 0.02)
        for paired in widths:
            interval = statistics.ratio(mine, theirs, paired=paired).interval
            widths[paired].append(math.log(interval.high / interval.low))
    assert np.median(widths[True]) < 0.5 * np.median(widths[False])


def test_repeats_are_paired_by_their_number():
    mine, theirs = {0: 2.0, 1: 4.0, 3: 100.0}, {0: 1.0, 1: 2.0, 2: 50.0}
    found = statistics.ratio_by_repeat(mine, theirs)
    assert (found.value, found.pairs) == (2.0, 2)
    assert statistics.ratio_by_repeat({0: 3.0}, {1: 1.0}).interval is None


def test_unequal_pairs_are_refused():
    with pytest.raises(ValueError, match="pairs need as many"):
        statistics.ratio([1, 2], [1], paired=True)


def run(rng, cells, repeats, factor):
    """A run of `cells` cells: the noise floor of a system against itself, and verdicts on one `factor` slower."""
    medians = rng.uniform(1e-3, 1.0, cells)
    again = [[times(rng, repeats, m) for m in medians] for _ in range(2)]
    floor = statistics.noise_floor([statistics.ratio(a, b).value for a, b in zip(*again, strict=True)])
    verdicts = []
    for median in medians:
        drift = times(rng, repeats, sigma=0.1)
        mine, theirs = drift * times(rng, repeats, median * factor), drift * times(rng, repeats, median)
        found = statistics.ratio(mine, theirs, paired=True)
        verdicts.append(statistics.verdict(found.value, found.interval, floor.factor))
    return floor, verdicts


def test_a_system_against_itself_is_equal():
    rng = np.random.default_rng(8)
    verdicts = [v for _ in range(40) for v in run(rng, 12, 5, 1.0)[1]]
    assert np.mean([v == "equal" for v in verdicts]) >= 0.95


def test_a_third_slower_is_slower():
    rng = np.random.default_rng(9)
    verdicts = [v for _ in range(40) for v in run(rng, 12, 7, 1.3)[1]]
    assert np.mean([v == "slower" for v in verdicts]) >= 0.9
    assert "faster" not in verdicts


def test_the_floor_is_wider_for_fewer_cells_and_withstands_one_wild_cell():
    rng = np.random.default_rng(10)
    ratios = np.exp(rng.normal(0, 0.03, 40))
    floor = statistics.noise_floor(ratios)
    assert 1.03 <= floor.factor <= 1.12 and floor.cells == 40
    assert statistics.noise_floor([*ratios, 9.0]).factor < 1.15
    assert statistics.noise_floor([1.03]).factor > statistics.noise_floor([1.03] * 10).factor > 1.03
    assert statistics.noise_floor([]).cells == 0 and str(statistics.noise_floor([])) == "not measured"


@pytest.mark.parametrize(
    ("value", "interval", "floor", "expected"),
    [
        (0.5, (0.4, 0.6), 1.1, "faster"),
        (1.5, (1.4, 1.6), 1.1, "slower"),
        (1.5, (0.9, 1.6), 1.1, "equal"),
        (1.05, (1.04, 1.06), 1.1, "equal"),
        (0.95, (0.94, 0.96), 1.1, "equal"),
        (2.0, None, 1.1, "slower"),
        (2.0, None, 1.0, "equal"),
    ],
)
def test_what_may_be_said_of_a_ratio(value, interval, floor, expected):
    given = statistics.Interval(*interval) if interval else None
    assert statistics.verdict(value, given, floor) == expected


def test_a_geometric_mean_of_a_double_and_a_half_is_one():
    assert statistics.geometric_mean([2.0, 0.5]) == pytest.approx(1.0)
