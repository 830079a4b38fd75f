"""Run the Rust and the Python tests, show their output as it comes, and end with one line that sums both.

Exit status 0 means that every step ended well; a build that fails, or a run that is cut short, counts as one failure.
The Rust tests run in cargo's dev profile: our crates with overflow and debug checks on, dependencies optimised.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ElementTree
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUST_RESULT = re.compile(rb"^test result: \w+\. (\d+) passed; (\d+) failed;")
# Examples that measure rather than show; `make limit` runs it in the release profile.
NOT_EXAMPLES = {"limit"}


class Tally:
    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.broken: list[str] = []

    def step(self, title: str, ended_well: bool, passed: int, failed: int, seconds: float) -> None:
        self.passed += passed
        self.failed += failed
        if not ended_well and failed == 0:
            self.failed += 1
            self.broken.append(title)
        print(f"-- {title}: {passed} passed, {failed} failed, {seconds:.0f} s", flush=True)


def follow(command: list[str], cwd: Path = ROOT) -> tuple[int, int, int]:
    """Run a command, echo what it prints, and add up the `test result:` lines in it."""
    print("$", " ".join(command), flush=True)
    passed = failed = 0
    with subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
            if match := RUST_RESULT.match(line):
                passed += int(match[1])
                failed += int(match[2])
    return process.returncode, passed, failed


def examples(folder: Path) -> list[str]:
    """The names cargo gives to the example programs of a crate."""
    names = [path.stem for path in folder.glob("*.rs")] + [
        path.parent.name for path in folder.glob("*/main.rs")
    ]
    return sorted(set(names) - NOT_EXAMPLES)


def rust(tally: Tally) -> None:
    # The binding is tested from Python; as a cdylib it has no Rust tests.
    scope = ["--workspace", "--exclude", "tessarray-python"]
    start = time.monotonic()
    status, passed, failed = follow(["cargo", "test", *scope, "--no-fail-fast"])
    tally.step("Rust tests and doc tests", status == 0, passed, failed, time.monotonic() - start)
    for name in examples(ROOT / "crates" / "tessarray" / "examples"):
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as scratch:
            manifest = str(ROOT / "Cargo.toml")
            command = ["cargo", "run", "--quiet", "--manifest-path", manifest, "--package", "tessarray"]
            status, _, _ = follow([*command, "--example", name], cwd=Path(scratch))
        tally.step(
            f"example {name}", status == 0, int(status == 0), int(status != 0), time.monotonic() - start
        )


def junit_counts(report: Path) -> tuple[int, int]:
    suites = ElementTree.parse(report).getroot().iter("testsuite")
    passed = failed = 0
    for suite in suites:
        bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        failed += bad
        passed += int(suite.get("tests", 0)) - bad - int(suite.get("skipped", 0))
    return passed, failed


def python(tally: Tally, extra: list[str]) -> None:
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        status, _, _ = follow([sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *extra])
        passed, failed = junit_counts(report) if report.exists() else (0, 0)
    tally.step("Python tests", status == 0, passed, failed, time.monotonic() - start)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rust", action="store_true", help="the Rust tests only")
    parser.add_argument("--python", action="store_true", help="the Python tests only")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    chosen = parser.parse_args()
    tally = Tally()
    for step in os.environ.get("TESSARRAY_ALSO_FAILED", "").split():
        tally.step(step, False, 0, 0, 0.0)  # what CI ran before and wants in the sum
    if chosen.rust or not chosen.python:
        rust(tally)
    if chosen.python or not chosen.rust:
        python(tally, chosen.pytest)
    for title in tally.broken:
        print(f"{title}: did not end well (see above)")
    print(f"{tally.passed} passed, {tally.failed} failed")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
