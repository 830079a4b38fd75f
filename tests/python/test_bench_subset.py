"""A small run of every suite on every system that is here: each answer verified, each store read back by another.

`make test` brings the systems into `.bench`; where that is not so, the systems of the test environment run alone.
"""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest

from tessarray_bench.cli import run as running
from tessarray_bench.suites import tour

pytestmark = pytest.mark.serial  # it runs two systems at a time already

HERE = Path(__file__).resolve().parent.parent.parent / ".bench"
HOME = Path(os.environ.get("TESSARRAY_BENCH_HOME") or HERE)

# What these systems cannot do although they say that they can; each is a row of every run, with its reason.
KNOWN: set[tuple[str, str]] = set()


@pytest.fixture(scope="module")
def systems():
    if not HOME.is_dir():
        pytest.skip("the systems are not here: `make .bench/.installed` brings them")
    candidates = running.adapters_of([])
    request = running.Request(suites=[], home=HOME)
    runners, absent = running.choose_systems(request)
    assert set(runners) == set(candidates), absent
    return runners


@pytest.mark.timeout(600)
@pytest.mark.parametrize("suite", list(tour.PICKS))
def test_every_system_gives_right_answers_in_every_suite(suite, systems, tmp_path):
    (workload,) = [w for w in tour.workloads(smaller=0.1) if w.suite == suite]

    def half(number):
        """Nobody looks at the times here, so half of the systems run beside the other half."""
        folder = tmp_path / str(number)
        folder.mkdir()
        request = running.Request(
            suites=[], repeats=1, out=folder / "out.json", home=HOME, time_limit=90, quiet=True, workdir=folder,
            systems=",".join(list(systems)[number::2]),
        )  # fmt: skip
        document = running.execute(request, [replace(workload, queries=workload.queries[:3])], again=False)
        assert json.loads((folder / "out.json").read_text())["finished"]
        return document["rows"]

    with ThreadPoolExecutor(2) as pool:
        rows = [row for rows in pool.map(half, range(2)) for row in rows]
    wrong = [
        f"{row['system']}: {row['process']}/{row['step']}: {row['status']}: {row.get('reason')}"
        for row in rows
        if row["status"] not in ("ok", "unsupported") and (row["system"], suite) not in KNOWN
    ]
    assert not wrong, "\n".join(wrong)
    done = {row["system"] for row in rows if row["status"] == "ok"}
    assert "tessarray" in done or suite == "remote"
    assert len(done) >= 3, f"only {sorted(done)} could do {suite}"
    for system in done:
        checks = [r for r in rows if r["system"] == system and r["step"] == "check"]
        assert checks and all(r["verified"] and r["reader"] for r in checks), system
        reads = [r for r in rows if r["system"] == system and r["process"] == "read"]
        assert all(
            r.get("verified") or r["step"] in ("open", "close") for r in reads if r["status"] == "ok"
        ), reads


def test_a_run_ends_in_tables_and_a_page(systems, tmp_path, capsys):
    from tessarray_bench import results_file
    from tessarray_bench.cli import report

    request = running.Request(
        suites=["planes"], workloads=["planes/2d/smooth"], scale=0.003, repeats=2, out=tmp_path / "out.json",
        home=HOME, quiet=True, systems="tessarray,zarr-python,tensorstore", baseline="tensorstore",
    )  # fmt: skip
    running.run(request)
    results = results_file.load(tmp_path / "out.json")
    labels = {row["system"] for row in results.files[0].rows}
    assert labels == {"tessarray", "zarr-python", "tensorstore", "tensorstore (again)"}
    report.show([tmp_path / "out.json"], [])
    shown = capsys.readouterr().out
    assert "axis 0" in shown and "TensorStore" in shown
    report.run([tmp_path / "out.json"], tmp_path / "page.html", None, tmp_path / "csv")
    assert (tmp_path / "page.html").stat().st_size > 10_000
    assert (tmp_path / "csv" / "cells.csv").read_text().count("\n") > 10
