"""The other tools: sizes, the sums of the test runner, the search for a Python."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).resolve().parent.parent


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TOOLS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_file_of_800_lines_is_refused_and_one_of_799_is_not(tmp_path, capsys):
    sizes = load("check_sizes")
    source = tmp_path / "long.rs"
    source.write_text("\n" * 799)
    assert sizes.main(tmp_path) == 0
    assert "warning: long.rs" in capsys.readouterr().out
    source.write_text("\n" * 800)
    assert sizes.main(tmp_path) == 1


def test_results_over_a_megabyte_are_refused(tmp_path, capsys):
    sizes = load("check_sizes")
    folder = tmp_path / "benchmarks" / "results"
    folder.mkdir(parents=True)
    (folder / "a.json").write_bytes(bytes(600_000))
    assert sizes.main(tmp_path) == 0
    (folder / "b.json").write_bytes(bytes(600_000))
    assert sizes.main(tmp_path) == 1
    assert "1,200,000 bytes" in capsys.readouterr().out


def test_the_runner_adds_up_every_result_line_of_cargo(capfdbinary):
    runner = load("run_tests")
    text = (
        "running 3 tests\n"
        "test result: ok. 3 passed; 0 failed; 0 ignored\n"
        "test result: FAILED. 4 passed; 2 failed; 1 ignored\n"
    )
    status, passed, failed = runner.follow([sys.executable, "-c", f"print({text!r}); raise SystemExit(101)"])
    assert (status, passed, failed) == (101, 7, 2)


def test_a_run_that_is_cut_short_counts_as_a_failure():
    runner = load("run_tests")
    tally = runner.Tally()
    tally.step("a build that fails", False, 0, 0, 0.0)
    assert (tally.passed, tally.failed, tally.broken) == (0, 1, ["a build that fails"])


def test_the_runner_reads_pytests_counts(tmp_path):
    runner = load("run_tests")
    report = tmp_path / "report.xml"
    report.write_text('<testsuites><testsuite tests="10" failures="2" errors="1" skipped="3"/></testsuites>')
    assert runner.junit_counts(report) == (4, 3)


def find_python(**env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sh", str(TOOLS / "find-python")],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell script")
def test_find_python_names_an_interpreter_that_starts_and_is_new_enough():
    found = find_python(PYTHON="")
    assert found.returncode == 0, found.stderr
    version = subprocess.check_output(
        [found.stdout.strip(), "-c", "import sys; print(sys.version_info >= (3, 11))"], text=True
    )
    assert version.strip() == "True"


@pytest.mark.skipif(os.name == "nt", reason="a POSIX shell script")
def test_find_python_refuses_one_that_does_not_start(tmp_path):
    shim = tmp_path / "python3.13"
    shim.write_text("#!/bin/sh\necho 'command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    found = find_python(PYTHON=str(shim))
    assert found.returncode == 1
    assert "not a CPython >= 3.11" in found.stderr


def test_sanitize_says_how_it_is_used_and_refuses_what_it_does_not_know():
    def sanitize(argument: str) -> subprocess.CompletedProcess[str]:
        command = ["sh", str(TOOLS / "sanitize"), argument]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    helped = sanitize("--help")
    assert helped.returncode == 0
    assert "tools/sanitize address" in helped.stdout
    unknown = sanitize("adress")
    assert unknown.returncode == 2
    assert "usage: tools/sanitize" in unknown.stderr
