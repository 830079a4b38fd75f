"""A run of `tessarray bench` that was interrupted goes on from its results file, or says why it does not.

No process is started here: `fake` stands for the workers.
"""

from __future__ import annotations

import json

import pytest
from bench_liars import Honest

from tessarray_bench.harness import document as documents
from tessarray_bench.harness import process
from tessarray_bench.harness.run import Plan, Runner, run
from tessarray_bench.model import Query, Workload

WORKLOADS = [Workload(f"s/{n}", "s", "array", queries=(Query("points", "points"),)) for n in range(2)]
REFUSED = {"refuses": "write", "refuses-points": "points", "slow": "read"}


def fake(job, *_):
    """The rows of a worker, at once."""
    status = {"slow": "timeout"}.get(job.system, "unsupported")
    steps = {"write": ["write"], "read": ["points"], "check": ["check"]}[job.process]
    if job.system == "slow" and job.process == "read":
        steps = ["points", "read"]
    at = {"workload": job.workload.id, "suite": "s", "system": job.writer, "repeat": job.repeat}
    return [
        {**at, "process": job.process, "step": step, "status": status}
        if REFUSED.get(job.system) == step
        else {**at, "process": job.process, "step": step, "status": "ok", "wall": 1.0}
        for step in steps
    ]


def plan(folder, **more):
    runners = {
        name: Runner(Honest, "", {"title": name, "versions": {"x": "1"}}) for name in ("fine", *REFUSED)
    }
    settings = {"repeats": 3, "baseline": "fine", "seed": 5} | more
    return Plan(WORKLOADS, runners, folder, folder / "results.json", **settings)


def keys(document):
    return sorted(
        (r["workload"], r["system"], r["repeat"], r["process"], r["step"], r["status"])
        for r in document["rows"]
    )


@pytest.mark.parametrize("after", [1, 2, 7, 15, 29])
def test_a_run_that_goes_on_has_the_rows_of_one_that_was_not_interrupted(tmp_path, monkeypatch, after):
    monkeypatch.setattr(process, "run", fake)
    (tmp_path / "whole").mkdir()
    whole = run(plan(tmp_path / "whole"), lambda _: None)
    assert {key[1] for key in keys(whole)} == {"fine", "fine (again)", *REFUSED}

    def stop(progress):
        if progress.done == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(plan(tmp_path), stop)
    kept = json.loads((tmp_path / "results.json").read_text())
    assert kept["finished"] is None
    assert set(keys(kept)) < set(keys(whole))
    found = run(plan(tmp_path), lambda _: None, resume=True)
    assert keys(found) == keys(whole)
    assert found["finished"]
    assert json.loads((tmp_path / "results.json").read_text())["rows"] == found["rows"]
    rows = []
    run(plan(tmp_path), lambda progress: rows.extend(progress.rows), resume=True)
    assert rows == []  # nothing is left to be done


def test_a_refusal_or_a_limit_is_not_run_into_again_but_a_query_refused_is_asked_for(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "run", fake)
    repeats = {}
    for workload, system, repeat, *_ in keys(run(plan(tmp_path), lambda _: None)):
        repeats.setdefault((workload, system), set()).add(repeat)
    for workload in ("s/0", "s/1"):
        assert repeats[workload, "refuses"] == repeats[workload, "slow"] == {0}
        assert repeats[workload, "refuses-points"] == repeats[workload, "fine"] == {0, 1, 2}


def test_a_run_that_is_out_of_time_stops_and_can_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(process, "run", fake)
    document = run(plan(tmp_path, total_limit=-1.0), lambda _: None)
    assert (document["rows"], document["finished"]) == ([], None)
    assert "time limit of -1 s" in document["settings"]["stopped"]
    assert run(plan(tmp_path), lambda _: None, resume=True)["finished"]


@pytest.mark.parametrize(
    ("change", "part"),
    [
        ({"seed": 6}, "seed was 5, is 6"),
        ({"baseline": None}, "baseline was 'fine', is None"),
        ({"scale": 0.5}, "scale was 1.0, is 0.5"),
        ({"drop_caches": True}, "cache was 'warm'"),
    ],
)
def test_another_run_is_not_gone_on_with(tmp_path, monkeypatch, change, part):
    monkeypatch.setattr(process, "run", fake)
    run(plan(tmp_path), lambda _: None)
    before = (tmp_path / "results.json").read_bytes()
    with pytest.raises(documents.ResumeError) as caught:
        run(plan(tmp_path, **change), lambda _: None, resume=True)
    assert part in str(caught.value)
    assert (tmp_path / "results.json").read_bytes() == before


@pytest.mark.parametrize(
    ("change", "part"),
    [
        (lambda d: d["machine"].update(cores=999), "another machine"),
        (lambda d: d["workloads"]["s/1"].update(workers=7), "s/1: the definition changed"),
        (lambda d: d["systems"]["fine"].update(versions={"x": "0"}), "fine: versions"),
        (lambda d: d.update(format="other/9"), "found 'other/9'"),
        (None, "expected a JSON document"),
    ],
)
def test_a_file_of_other_things_is_not_gone_on_with(tmp_path, monkeypatch, change, part):
    monkeypatch.setattr(process, "run", fake)
    given = run(plan(tmp_path), lambda _: None)
    if change:
        change(given)
    text = json.dumps(given) if change else "{"
    (tmp_path / "results.json").write_text(text)
    with pytest.raises(documents.ResumeError) as caught:
        run(plan(tmp_path), lambda _: None, resume=True)
    assert part in str(caught.value)
    assert (tmp_path / "results.json").read_text() == text
