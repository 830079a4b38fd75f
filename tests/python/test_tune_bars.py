"""The command that measures the tuner: its arithmetic on fabricated figures, and one run of it at a tiny size."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest
from support import ROOT

pytest.importorskip("matplotlib")
sys.path.append(str(ROOT / "benchmarks"))

import tune_bars
import tune_cases
import tune_duel
import tune_gain
import tune_grid
import tune_model
import tune_report
import tune_state

from tessarray.tuner.baselines import ZARR
from tessarray.tuner.layout import Layout
from tessarray.tuner.target import Scratch, parse_store

OURS, OTHER = Layout((4, 4), None, "none"), Layout((2, 8), None, "zstd:1")


def duel_of(ours, other):
    """Two layouts with the given times of one place of a class."""
    return tune_duel.Duel([OURS, OTHER], {"map": 1.0}, [{("map", 0): ours}, {("map", 0): other}])


def test_regret_is_the_time_of_ours_over_that_of_the_best_less_one():
    assert tune_duel.regret(1.1, 1.0) == pytest.approx(0.1)
    assert tune_duel.regret(0.5, 1.0) == -0.5


def test_a_proposal_that_beats_the_search_counts_as_no_regret():
    assert tune_duel.summary([-0.3, 0.1, 0.2]) == (0.1, 0.2)
    assert tune_duel.summary([-0.3, -0.1, -0.2]) == (0.0, 0.0)


def test_a_duel_weighs_classes_and_takes_medians_by_place():
    times = {("map", 0): [1.0, 1.0, 9.0], ("map", 1): [3.0], ("box", 0): [10.0]}
    found = tune_duel.Duel([OURS], {"map": 0.75, "box": 0.25}, [times])
    assert found.seconds(0) == pytest.approx(0.75 * 2 + 0.25 * 10)


def test_the_best_is_chosen_by_one_half_of_the_rounds_and_timed_by_the_other(monkeypatch):
    # The other layout was lucky in the first half; its time is that of the second.
    monkeypatch.setattr(tune_duel, "duel", lambda *_: duel_of([2.0, 2.0, 2.0, 2.0], [1.0, 1.0, 1.6, 1.6]))
    found = tune_duel.against_best(None, OURS, [OTHER, OURS], {"map": 1.0}, 1.0)
    assert Layout.from_document(found["best"]) == OTHER
    assert found["regret"] == pytest.approx(0.25)
    assert found["raced"] == 2


def test_gains_are_geometric_means_over_cases():
    rows = {
        "a": {
            "seconds": 1.0,
            "own": {ZARR: 2.0, "h5py auto": 4.0},
            "stored": 11.0,
            "stored_own": {ZARR: 10.0},
        },
        "b": {
            "seconds": 1.0,
            "own": {ZARR: 8.0, "h5py auto": 1.0},
            "stored": 9.0,
            "stored_own": {ZARR: 10.0},
        },
    }
    found = tune_gain.gains(rows, "own")
    assert found["zarr"] == pytest.approx(4.0)
    assert found["best"] == pytest.approx(math.sqrt(2.0))
    assert found["size_worst"] == pytest.approx(1.1)


def test_leaders_keep_the_size_limit_and_are_the_fastest_for_the_load():
    found = [
        tune_grid.Measured(OURS, {"map": 1.0, "box": 5.0}, 100.0),
        tune_grid.Measured(OTHER, {"map": 2.0, "box": 1.0}, 100.0),
        tune_grid.Measured(Layout((8, 8), None, "none"), {"map": 0.1, "box": 0.1}, 120.0),
    ]
    assert tune_grid.leaders(found, {"map": 1.0}, 110.0, 1)[0].layout == OURS
    assert tune_grid.leaders(found, {"map": 0.5, "box": 0.5}, 110.0, 1)[0].layout == OTHER
    assert tune_grid.leaders(found[2:], {"map": 1.0}, 110.0, 1)[0].stored == 120.0


def test_every_synthetic_case_makes_its_array_and_its_queries():
    synthetic = [case for case in tune_cases.CASES.values() if case.read is None]
    assert len(synthetic) >= 12
    for case in synthetic:
        values = case.values(1e-4)
        assert values is not None and values.dtype == case.dtype
        assert len(case.loads) == 3
        for load, weights in case.loads.items():
            assert sum(weights.values()) == pytest.approx(1.0)
            assert set(case.queries(values.shape, load)) == set(weights)


def test_the_grid_keeps_the_limits(tmp_path):
    case = tune_cases.CASES["camera stack, u2, appended"]
    with Scratch(parse_store("memory")) as scratch:
        field = tune_grid.Field(case, case.values(1e-3), scratch, 0)
        space = field.space(["none", "zstd:1"])
        grid = list(tune_grid.coarse(space, ["none", "zstd:1"], 60))
        assert 3 <= len(grid) <= 60
        assert all(16 % layout.unit[0] == 0 for layout in grid)
        one = tune_grid.measured(field, grid[0])
        assert one is not None and set(one.seconds) == {query.name for query in field.classes}
        assert tune_grid.Measured.of(json.loads(json.dumps(one.document()))) == one


def test_errors_of_the_model_are_medians_of_relative_errors():
    assert tune_model.within([(1.0, 1.0), (1.3, 1.0), (0.5, 1.0)]) == pytest.approx(0.3)


def test_the_chart_is_small(tmp_path):
    state = tune_state.State(tmp_path / "tune.json", resume=False)
    times = np.random.default_rng(0).lognormal(-6, 1.5, (3000, 2)).tolist()
    state.found["proposals"] = {"a / mixed": {"predictions": times}}
    state.found["remote"] = {"a": {"predictions": times}}
    tune_model.chart(state, tmp_path / "chart.png")
    assert 0 < (tmp_path / "chart.png").stat().st_size < 80_000


def test_the_page_says_which_bars_are_missed(tmp_path):
    state = tune_state.State(tmp_path / "tune.json", resume=False)
    state.found["proposals"] = {"a / mixed": {"text": OURS.text(), "predictions": [[1.0, 2.0]]}}
    state.found["grids"] = {"a": {"measured": 7}}
    state.found["regrets"] = {
        "a / mixed": {"regret": 0.5, "seconds": 1.5, "best_seconds": 1.0, "best": OTHER.document()}
    }
    page = tune_report.page(state)
    assert "| regret, worst | 50.0% | <= 40 % | **missed** |" in page
    assert "median error of 1 reads | 50% | <= 30 % | **missed**" in page
    assert "| a | mixed | chunks 4×4, none | 1.5e+03 | chunks 2×8, zstd:1 | 1e+03 | 50.0% |" in page


def test_the_command_measures_one_small_case_and_goes_on_where_it_ended(tmp_path):
    out = tmp_path / "tune.json"
    command = [
        sys.executable, str(ROOT / "benchmarks" / "tune_bars.py"), "regret", "report", "--cases", "sparse",
        "--loads", "mixed", "--budget", "2", "--scale", "0.002", "--candidates", "6", "--grid-seconds", "1",
        "--duel-seconds", "0.3",
        "--folder", str(tmp_path), "--out", str(out), "--docs", str(tmp_path / "docs"), "--resume",
    ]  # fmt: skip
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    found = json.loads(out.read_text())
    row = found["regrets"]["sparse, f4 / mixed"]
    assert row["regret"] == pytest.approx(row["seconds"] / row["best_seconds"] - 1)
    assert row["allowed"]
    assert set(found["gains"]["sparse, f4"]["own"]) == set(tune_gain.LABELS)
    assert "sparse, f4" in (tmp_path / "docs" / "tuning-regret.md").read_text()
    again = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    assert json.loads(out.read_text())["regrets"] == found["regrets"]
    assert "regret " not in again.stdout


def test_a_case_that_is_not_there_is_named():
    with pytest.raises(SystemExit, match="no case begins with 'nothing'"):
        tune_cases.chosen("nothing")
    assert tune_bars.arguments().parse_args([]).budget == 12.0
    assert np.isfinite(tune_duel.geometric_mean([2.0, 8.0]))
