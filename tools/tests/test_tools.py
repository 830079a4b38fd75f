"""The other tools: sizes, the sums of the test runner, the search for a Python."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
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
    sys.modules[name] = module  # dataclasses look there
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


def test_jobs_that_run_side_by_side_are_summed_and_a_job_that_dies_counts_as_a_failure(tmp_path, capfdbinary):
    runner = load("run_tests")

    def job(title: str, code: str, **options: bool):
        return runner.Job(title, [sys.executable, "-c", code], tmp_path, **options)

    tally = runner.Tally()
    runner.side_by_side(
        [
            job("whole", "print('test result: ok. 3 passed; 0 failed; 0 ignored')"),
            job("half", "print('test result: FAILED. 1 passed; 2 failed; 0 ignored'); raise SystemExit(101)"),
            job("dead", "import os; os.abort()"),
            job("example", "open('made', 'w')", counted=False),
            job("bad example", "raise SystemExit(1)", counted=False),
        ],
        tally,
    )
    assert (tally.passed, tally.failed, tally.broken) == (5, 4, ["dead"])
    assert not (tmp_path / "made").exists(), "an example runs in a folder that goes away"
    assert b"-- half: 1 passed, 2 failed" in capfdbinary.readouterr().out


def test_the_runner_takes_tests_and_examples_from_what_cargo_says(tmp_path):
    runner = load("run_tests")

    def made(kind: str, name: str, test: bool, executable: str | None = "/x") -> bytes:
        return json.dumps(
            {
                "reason": "compiler-artifact",
                "executable": executable,
                "manifest_path": "/w/crates/tessarray-grid/Cargo.toml",
                "target": {"kind": [kind], "name": name},
                "profile": {"test": test},
            }
        ).encode()

    test = runner.job_of(made("test", "axes", True))
    assert (test.title, test.folder, test.counted) == (
        "tessarray-grid axes",
        Path("/w/crates/tessarray-grid"),
        True,
    )
    assert runner.job_of(made("example", "slice", False)).counted is False
    for other in (
        made("example", "limit", False),
        made("bin", "tool", False),
        made("lib", "grid", False, None),
        b'{"reason": "build-finished", "success": true}',
    ):
        assert runner.job_of(other) is None


@pytest.mark.skipif(shutil.which("cargo") is None, reason="cargo is not on PATH")
def test_the_wheel_that_is_tested_takes_every_crate_from_the_build_of_the_rust_tests():
    def crates(*arguments: str) -> set[str]:
        """Crates of others with their versions and features; one line of features that differ is a second build."""
        command = ["cargo", "tree", "--locked", "--prefix", "none", "--format", "{p} {f}", *arguments]
        said = subprocess.run(command, cwd=TOOLS.parent, capture_output=True, text=True, check=True)
        lines = {
            line.replace(" (*)", "").replace(" (proc-macro)", "").strip() for line in said.stdout.splitlines()
        }
        return {line for line in lines if str(TOOLS.parent) not in line}

    wheel = crates("--package", "tessarray-python", "--features", "as-tested", "--edges", "normal,build")
    assert wheel - crates("--workspace") == set()


def test_lanes_say_how_they_are_used_and_refuse_what_they_do_not_know():
    def lanes(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["sh", str(TOOLS / "lanes"), *arguments], capture_output=True, text=True, check=False
        )

    helped = lanes("--help")
    assert helped.returncode == 0 and "msrv" in helped.stdout
    for arguments in ([], ["msvr"], ["rustdoc", "usage"]):
        refused = lanes(*arguments)
        assert refused.returncode == 2 and "usage: tools/lanes" in refused.stderr, arguments


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
