"""Results files: validated with typed errors, merged, turned into cells; compared; shown; exported."""

from __future__ import annotations

import copy
import csv
import io
import json
import lzma
import math
import shlex

import pytest
import typer.testing
from bench_samples import AGAIN, BASELINE, sample
from rich.console import Console

from tessarray_bench import compare, results, results_file, tables
from tessarray_bench.cli import app as commands
from tessarray_bench.report import table_csv


@pytest.fixture(scope="module")
def document():
    return sample()


def loaded(document, label="one"):
    return results_file.from_document(document, label)


def damaged(document, path, value):
    made = copy.deepcopy(document)
    place = made
    for key in path[:-1]:
        place = place[key]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return made


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("format",), "other/2", ("format", "tessarray-bench/1", "other/2")),
        (("rows",), {"a": 1}, ("rows", "list")),
        (("settings", "baseline"), 3, ("baseline", "str", "3")),
        (("rows", 0, "status"), "fine", ("rows[0].status", "fine")),
        (("rows", 0, "workload"), "nothing/of/it", ("workload", "nothing/of/it")),
        (("rows", 1, "wall"), "long", ("rows[1].wall", "long")),
        (("rows", 1, "step"), None, ("rows[1].step",)),
    ],
)
def test_what_is_wrong_in_a_file_is_named(document, path, value, words):
    with pytest.raises(results_file.ResultsError) as caught:
        loaded(damaged(document, path, value), "broken.json")
    assert "broken.json" in str(caught.value)
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_a_file_that_is_no_json_is_named(tmp_path):
    path = tmp_path / "half.json"
    path.write_text('{"format": "tessar')
    with pytest.raises(results_file.ResultsError, match=r"half\.json"):
        results_file.load(path)


def test_what_is_saved_is_loaded(document, tmp_path):
    results_file.save(document, tmp_path / "out.json")
    assert results_file.load(tmp_path / "out.json").files[0].document == json.loads(json.dumps(document))
    assert [path.name for path in tmp_path.iterdir()] == ["out.json"]


def test_a_compressed_file_loads_like_the_plain_one_and_a_broken_one_is_named(document, tmp_path):
    packed = lzma.compress(json.dumps(document).encode())
    (tmp_path / "out.json.xz").write_bytes(packed)
    (file,) = results_file.load(tmp_path / "out.json.xz").files
    assert (file.label, file.document) == ("out", json.loads(json.dumps(document)))
    (tmp_path / "half.json.xz").write_bytes(packed[: len(packed) // 2])
    with pytest.raises(results_file.ResultsError, match=r"half\.json\.xz"):
        results_file.load(tmp_path / "half.json.xz")


def test_a_cell_has_the_figures_of_its_rows(document):
    rows = [
        r
        for r in document["rows"]
        if (r["workload"], r["step"], r["system"]) == ("planes/2d/random", "axis 0", "blosc2")
    ]
    (cell,) = [
        c
        for c in results.cells(loaded(document))
        if (c.workload, c.step, c.system) == ("planes/2d/random", "axis 0", "blosc2")
    ]
    walls = sorted(row["wall"] for row in rows)
    assert cell.n == 5 and cell.median == walls[2] and tuple(cell.interval[:2]) == (walls[0], walls[4])
    assert cell.rate == pytest.approx(rows[0]["nbytes"] / walls[2] / 1e9)
    base = sorted(
        r["wall"]
        for r in document["rows"]
        if (r["workload"], r["step"], r["system"]) == ("planes/2d/random", "axis 0", BASELINE)
    )
    assert cell.ratio.value == pytest.approx(walls[2] / base[2])
    assert cell.verdict == "faster"  # it was made 0.8 times as slow


def test_failures_stay_in_their_cells(document):
    cells = results.cells(loaded(document))
    statuses = {status for cell in cells for status in cell.statuses}
    assert statuses == set(results_file.STATUSES)
    crashed = [
        c
        for c in cells
        if c.system == "tiledb" and c.workload == "planes/2d/random" and "crashed" in c.statuses
    ]
    assert crashed and not any(cell.ranks for cell in crashed)
    untrue = [
        c for c in cells if c.system == "h5py" and c.workload == "planes/2d/random" and c.process != "check"
    ]
    assert untrue and all(cell.untrue and not cell.ranks for cell in untrue)


def test_the_command_of_a_cell_is_one_that_the_command_line_takes(document, monkeypatch):
    cell = next(c for c in results.cells(loaded(document)) if c.system == "tessarray")
    words = shlex.split(cell.rerun)
    assert words[:3] == ["tessarray", "bench", "run"]
    given = {}
    from tessarray_bench.cli import run

    monkeypatch.setattr(run, "run", lambda request, only_list: given.update(vars(request)))
    outcome = typer.testing.CliRunner().invoke(commands.app, words[2:])
    assert outcome.exit_code == 0, outcome.output
    assert given["workloads"] == [cell.workload]
    assert given["systems"] == f"tessarray,{BASELINE}" and given["repeats"] == 5 and given["scale"] == 1.0


def test_files_of_one_machine_are_pooled_and_of_two_kept_apart(document):
    more = sample(seed=1)
    more["settings"]["seed"] = document["settings"]["seed"]
    pooled = results_file.merge(loaded(document, "a"), loaded(more, "b"))
    assert max(cell.n for cell in results.cells(pooled)) == 10
    other = damaged(more, ("machine", "processor"), "Another Processor")
    apart = results_file.merge(loaded(document, "a"), loaded(other, "b"))
    assert {cell.file for cell in results.cells(apart)} == {"a", "b"}
    assert max(cell.n for cell in results.cells(apart)) == 5


def test_a_run_against_itself_is_unchanged_and_a_slower_system_is_found(document):
    same = compare.compare(loaded(document), loaded(sample(seed=3)))
    judged = [c for c in same.changes if c.ratio is not None]
    assert sum(c.kind in ("slower", "faster") for c in judged) <= 0.05 * len(judged)
    slower = compare.compare(loaded(document), loaded(sample(seed=3, factors={"blosc2": 2.0})))
    names = {c.cell.system for c in slower.of("slower")}
    assert "blosc2" in names and slower.exit_code == 1
    found = [c for c in slower.changes if c.cell.system == "blosc2" and c.ratio is not None]
    assert sum(c.kind == "slower" for c in found) >= 0.9 * len(found)
    assert found[0].ratio.value == pytest.approx(2.0, rel=0.3)


def test_what_appears_vanishes_breaks_and_mends_is_said(document):
    new = copy.deepcopy(document)
    new["rows"] = [r for r in new["rows"] if r["system"] != "netcdf4"]
    for row in new["rows"]:
        if row["system"] == "blosc2" and row["step"] == "axis 0":
            row |= {"status": "crashed", "reason": "signal 11"}
    found = compare.compare(loaded(document), loaded(new))
    assert {c.cell.system for c in found.of("vanished")} == {"netcdf4"}
    assert {(c.cell.system, c.cell.step) for c in found.of("broke")} == {("blosc2", "axis 0")}
    back = compare.compare(loaded(new), loaded(document))
    assert {c.cell.system for c in back.of("appeared")} == {"netcdf4"} and back.of("mended")


def test_runs_that_differ_in_more_than_time_are_warned_of(document):
    other = damaged(document, ("machine", "cores"), 64)
    other["settings"]["scale"] = 0.5
    text = " ".join(compare.compare(loaded(document), loaded(other)).warnings)
    assert "cores" in text and "scale" in text


def shown(document, width):
    out = io.StringIO()
    tables.show(loaded(document), Console(file=out, width=width, highlight=False))
    return out.getvalue()


@pytest.mark.parametrize("width", [80, 120, 200])
def test_tables_fit_and_cut_no_number(document, width):
    text = shown(document, width)
    assert max(len(line) for line in text.splitlines() if "¹" not in line and ":" not in line) <= width
    assert "…" not in text
    for suite in loaded(document).suites:
        assert suite in text
    for word in ("unsupported", "timeout", "crashed", "noise floor: a factor of"):
        assert word in text, word
    assert AGAIN not in text


def test_one_repeat_without_a_floor_is_not_judged():
    document = sample(repeats=1)
    document["rows"] = [r for r in document["rows"] if r["system"] != AGAIN]
    text = shown(document, 160)
    assert "differences cannot be judged" in text and " = " not in text.replace("= equal", "")
    assert "differences cannot be judged" not in shown(sample(repeats=2), 160)


def test_times_in_proportion_are_marked(document):
    changed = copy.deepcopy(document)
    for row in changed["rows"]:
        if row["step"] == "axis 0" and row["system"] == "tessarray":
            row["sampled"] = 7
    assert "~ in proportion" in shown(changed, 160) and "~ in proportion" not in shown(document, 160)


def test_csv_has_a_line_for_each_cell_and_row(document, tmp_path):
    given = loaded(document)
    table_csv.write_cells(given, tmp_path / "cells.csv")
    table_csv.write_rows(given, tmp_path / "rows.csv")
    with (tmp_path / "cells.csv").open(newline="") as file:
        cells = list(csv.DictReader(file))
    assert len(cells) == len(results.cells(given))
    with (tmp_path / "rows.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(document["rows"])
    walls = [float(row["wall"]) for row in rows if row["wall"]]
    assert math.isclose(
        sum(walls), sum(row["wall"] for row in document["rows"] if "wall" in row), rel_tol=1e-9
    )


def test_every_system_looks_different_in_points_and_in_bars():
    from tessarray_bench.report.figure_style import KNOWN, look
    from tessarray_bench.systems import ADAPTERS

    assert set(KNOWN) == set(ADAPTERS)
    looks = [look(name, place) for place, name in enumerate(KNOWN)]
    for kinds in (lambda one: (one.colour, one.marker), lambda one: (one.colour, one.hatch)):
        assert len(set(map(kinds, looks))) == len(looks)


def test_figures_are_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    from tessarray_bench.report import figures

    document = sample(repeats=3)
    document["rows"] = [row for row in document["rows"] if row["suite"] in ("codecs", "parallel")]
    paths = figures.draw(loaded(document), tmp_path)
    assert {path.suffix for path in paths} == {".png", ".svg"}
    assert all(path.stat().st_size > 2000 for path in paths)
    names = {path.stem for path in paths}
    assert any("bars" in name for name in names) and any("pareto" in name for name in names), names
