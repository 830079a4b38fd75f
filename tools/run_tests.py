"""Run the Rust and the Python tests and examples on every core, and end with one line that sums them all.

The Rust tests are built by one cargo command, in the dev profile (our crates with overflow and debug checks on,
dependencies optimised); their binaries then run side by side, as many as there are cores, each with one test at a
time. The Python tests run in as many workers; those marked `serial` (they measure, or start a cluster) come after
the others, one at a time. What runs beside others is printed when it ends, with its wall and processor seconds.

Exit status 0 means that every step ended well; a build that fails, or a run that is cut short, counts as one failure.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests" / "python"
RUST_RESULT = re.compile(rb"^test result: \w+\. (\d+) passed; (\d+) failed;")
# The binding has no Rust tests; with it clippy, the tests and the wheel share the features of their dependencies.
SCOPE = ["--workspace"]
# Examples that measure rather than show, and the seeds of the fuzzer.
NOT_EXAMPLES = {"limit", "seeds"}
# What takes longest begins first, so that no core waits for it at the end.
LONG = ["documentation", "replay", "power", "schedules", "model", "damage", "tessarray_codec"]


class Tally:
    def __init__(self) -> None:
        self.passed = 0
        self.failed = 0
        self.broken: list[str] = []

    def step(
        self, title: str, ended_well: bool, passed: int, failed: int, seconds: float, cpu: float | None = None
    ) -> None:
        self.passed += passed
        self.failed += failed
        if not ended_well and failed == 0:
            self.failed += 1
            self.broken.append(title)
        spent = f"{seconds:.0f} s" if cpu is None else f"{seconds:.0f} s, {cpu:.0f} s of processors"
        print(f"-- {title}: {passed} passed, {failed} failed, {spent}", flush=True)


@dataclass
class Job:
    """A command that runs beside others, in a folder, with environment variables of its own."""

    title: str
    command: list[str]
    folder: Path = ROOT
    environment: dict[str, str] = field(default_factory=dict)
    counted: bool = True  # it prints `test result:` lines; else it counts as one test


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


def run(job: Job, tally: Tally, lock: threading.Lock) -> None:
    """Run a job to its end, then print what it said and count it."""
    start = time.monotonic()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryDirectory() as scratch:
        process = subprocess.Popen(
            job.command,
            cwd=job.folder if job.counted else scratch,
            env=os.environ | job.environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        cpu = finish(process)
        output.seek(0)
        said = output.read()
    counts = [match for line in said.splitlines() if (match := RUST_RESULT.match(line))]
    passed = sum(int(match[1]) for match in counts) if job.counted else int(process.returncode == 0)
    failed = sum(int(match[2]) for match in counts) if job.counted else int(process.returncode != 0)
    with lock:
        print("$", " ".join(job.command), flush=True)
        sys.stdout.buffer.write(said)
        tally.step(job.title, process.returncode == 0, passed, failed, time.monotonic() - start, cpu)


def finish(process: subprocess.Popen[bytes]) -> float | None:
    """Wait for a process; the processor seconds that it and its children took, where the system says."""
    if not hasattr(os, "wait4"):
        process.wait()
        return None
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime


def side_by_side(jobs: Iterable[Job], tally: Tally) -> None:
    """Run jobs, as many at once as there are cores, the long ones first."""

    def rank(job: Job) -> int:
        return next((place for place, name in enumerate(LONG) if name in job.title), len(LONG))

    waiting = sorted(jobs, key=rank, reverse=True)
    lock = threading.Lock()

    def work() -> None:
        while True:
            with lock:
                if not waiting:
                    return
                job = waiting.pop()
            run(job, tally, lock)

    workers = [threading.Thread(target=work, daemon=True) for _ in range(cores())]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def build() -> tuple[bool, list[Job]]:
    """Build every Rust test and example; whether that went well, and a job for each of them."""
    command = ["cargo", "test", *SCOPE, "--no-run", "--message-format=json-render-diagnostics"]
    print("$", " ".join(command), flush=True)
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    return done.returncode == 0, list(filter(None, map(job_of, done.stdout.splitlines())))


def job_of(message: bytes) -> Job | None:
    """The job of a test or an example, from what cargo says of a binary that it made."""
    said: dict[str, Any] = json.loads(message)
    if said["reason"] != "compiler-artifact" or not said["executable"]:
        return None
    target, folder = said["target"], Path(said["manifest_path"]).parent
    if said["profile"]["test"]:
        environment = {"RUST_TEST_THREADS": "1", "CARGO_MANIFEST_DIR": str(folder)}
        return Job(f"{folder.name} {target['name']}", [said["executable"]], folder, environment)
    if target["kind"] == ["example"] and target["name"] not in NOT_EXAMPLES:
        return Job(f"example {target['name']}", [said["executable"]], counted=False)
    return None


def rust(tally: Tally) -> None:
    start = time.monotonic()
    built, jobs = build()
    tally.step("build of the Rust tests", built, 0, 0, time.monotonic() - start)
    if built:
        documentation = ["cargo", "test", *SCOPE, "--doc", "--no-fail-fast"]
        side_by_side([Job("Rust documentation", documentation), *jobs], tally)


def junit_counts(report: Path) -> tuple[int, int]:
    suites = ElementTree.parse(report).getroot().iter("testsuite")
    passed = failed = 0
    for suite in suites:
        bad = int(suite.get("failures", 0)) + int(suite.get("errors", 0))
        failed += bad
        passed += int(suite.get("tests", 0)) - bad - int(suite.get("skipped", 0))
    return passed, failed


def pytest(tally: Tally, title: str, arguments: list[str]) -> None:
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "report.xml"
        status, _, _ = follow([sys.executable, "-m", "pytest", "-q", f"--junitxml={report}", *arguments])
        passed, failed = junit_counts(report) if report.exists() else (0, 0)
    tally.step(title, status == 0, passed, failed, time.monotonic() - start)


def python(tally: Tally, extra: list[str]) -> None:
    if extra or cores() == 1 or importlib.util.find_spec("xdist") is None:
        pytest(tally, "Python tests", extra)
        return
    workers = ["-n", str(cores()), "--dist", "worksteal", "-m", "not serial"]
    pytest(tally, f"Python tests in {cores()} workers", workers)
    alone = [
        str(path) for path in sorted(TESTS.glob("test_*.py")) if "mark.serial" in path.read_text("utf-8")
    ]
    pytest(tally, "Python tests one at a time", ["-m", "serial", *alone])


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rust", action="store_true", help="the Rust tests only")
    parser.add_argument("--python", action="store_true", help="the Python tests only")
    parser.add_argument("--build", action="store_true", help="build the Rust tests, and run nothing")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest, after --")
    chosen = parser.parse_args()
    if chosen.build:
        return 0 if build()[0] else 1
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
