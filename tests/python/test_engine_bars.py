"""The table of what the engine is held to: the command works, at a tiny scale, with whichever rivals are here."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from support import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))

import engine_rows
import engine_table

from tessarray_bench.harness import environments
from tessarray_bench.systems import adapter

pytestmark = pytest.mark.serial  # it measures


def here(*names: str) -> list[str]:
    found = environments.probe([adapter(name) for name in names])
    return [name for name, place in found.items() if place.python is not None]


def command(path, *arguments: str) -> str:
    done = subprocess.run(
        [sys.executable, str(ROOT / "benchmarks" / "engine_bars.py"), "--json", str(path), *arguments],
        check=True,
        capture_output=True,
        text=True,
        env=os.environ.copy(),
    )
    return done.stdout


def test_every_row_has_a_workload_and_every_workload_a_row():
    workloads = {workload.id: workload for workload in engine_rows.workloads(1)}
    bars = engine_rows.bars()
    assert {bar.workload for bar in bars} == set(workloads)
    assert len({bar.name for bar in bars}) == len(bars)
    steps = {"write", "append", "open + element"}
    for bar in bars:
        assert bar.step in steps | {query.name for query in workloads[bar.workload].queries}


def test_the_command_measures_and_prints_at_a_tiny_scale(tmp_path):
    rivals = here("tensorstore", "acquire-zarr")
    path = tmp_path / "bars.json"
    arguments = ["--scale", "0.001", "--repeats", "2", "--systems", ",".join(rivals or ["tensorstore"])]
    text = command(path, *arguments, "--rows", "single-image", "--rows", "chunked")
    assert "| single-image, one frame a call (streamed): p99 |" in text
    assert "| chunked: read all |" in text
    assert "| memory, chunked: write |" in text
    assert text == path.with_suffix(".md").read_text(encoding="utf-8") + "\n"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"]
    ours = [row for row in rows if row["system"].startswith("tessarray")]
    assert {row["repeat"] for row in ours} == {0, 1}
    assert [row["reason"] for row in rows if row["status"] not in ("ok", "unsupported")] == []
    if rivals:
        assert "met" in text or "missed" in text
    # A second run goes on where the first one ended, and adds what is new.
    again = command(path, *arguments, "--resume", "--rows", "single-image", "--rows", "growth")
    assert "| chunked: read all |" in again
    assert "| plan and read of it |" in again
    assert command(path, "--table") == again


def test_ratios_are_the_best_rivals_time_over_ours():
    def row(system: str, wall: float, status: str = "ok") -> dict[str, object]:
        where = {"workload": "write-random", "process": "write", "step": "write", "repeat": 0}
        return {**where, "system": system, "wall": wall, "status": status, "calls": 1, "nbytes": 100}

    rows = [row("tessarray", 1), row("zarrs", 3), row("tensorstore", 2), row("blosc2", 0.1, "wrong")]
    (bar,) = (bar for bar in engine_rows.bars() if bar.workload == "write-random")
    found = engine_table.Found.of({"rows": rows}, bar)
    assert found is not None
    assert found.best == "tensorstore"
    assert found.line()[3:] == ("**2.00**", "1.5 (2.2)", "met")
