"""Runs zarr-python's own tests of arrays, groups, the API and indexing against Tessarray's classes.

The tests come from the source distribution of the zarr-python that is installed, which pip downloads into a cache
folder. `zarr_suite_adapter.py` puts our classes in the place of zarr-python's. What fails is compared with
`zarr_suite_expected.txt`, which says of each test that does not apply why. The run fails on

- a test that fails and is not listed,
- a listed test that passes now,
- a list for another version of zarr-python than the one that is installed.

    .venv/bin/python tools/zarr_suite.py                   # all four files, a few minutes
    .venv/bin/python tools/zarr_suite.py indexing api      # some of them
    .venv/bin/python tools/zarr_suite.py --write           # list what fails now; what is new comes under [unsorted]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tarfile
import tempfile
import zlib
from collections.abc import Iterable
from importlib.metadata import version
from pathlib import Path

HERE = Path(__file__).resolve().parent
EXPECTED = HERE / "zarr_suite_expected.txt"
FILES = ("indexing", "group", "api", "array")
UNSORTED = "unsorted"
SETTINGS = """[pytest]
asyncio_mode = auto
asyncio_default_fixture_loop_scope = function
markers =
    gpu: needs a graphics card
    s3: needs an object store
    slow_hypothesis: many random cases
    network: needs a network
"""
# Random documents of any depth as attributes: minutes, for what our own tests do with attributes.
SLOW = ("tests/test_array.py::test_update_attrs",)

Failures = dict[str, set[str]]


def sources(cache: Path, release: str) -> Path:
    """The unpacked source distribution, downloaded once."""
    folder = cache / f"zarr-{release}"
    if not (folder / "tests").is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", "zarr"]
        subprocess.run([*pip, "--dest", str(cache), f"zarr=={release}"], check=True)
        with tarfile.open(cache / f"zarr-{release}.tar.gz") as archive:
            archive.extractall(cache, filter="data")
    return folder


def run(folder: Path, file: str) -> tuple[Failures, int, int]:
    """The tests of one file that fail, by function, how many came to an end, and how many were skipped.

    A test that zarr-python itself expects to fail counts as skipped, as pytest reports it.
    """
    with tempfile.TemporaryDirectory() as scratch:
        notes, settings = Path(scratch) / "notes", Path(scratch) / "pytest.ini"
        notes.touch()
        settings.write_text(SETTINGS)
        paths = [str(HERE), str(folder), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths), "ZARR_SUITE_NOTES": str(notes)}
        command = [sys.executable, "-m", "pytest", "-p", "zarr_suite_adapter", "-p", "no:cacheprovider", "-q"]
        command += [
            "-c",
            str(settings),
            "--rootdir",
            str(folder),
            "--tb=no",
            "--no-summary",
            "--hypothesis-seed=0",
        ]
        command += [f"--deselect={test}" for test in SLOW]
        ended = subprocess.run([*command, f"tests/test_{file}.py"], cwd=folder, env=environment, check=False)
        if ended.returncode not in (0, 1):
            sys.exit(f"zarr-suite: the tests of {file} did not run to their end ({ended.returncode})")
        ran: set[str] = set()
        skipped: set[str] = set()
        failed: Failures = {}
        for line in notes.read_text().splitlines():
            test, outcome, _ = json.loads(line)
            test = re.sub(r"0x[0-9a-f]+", "0x", test)
            (skipped if outcome == "skipped" else ran).add(test)
            if outcome == "failed":
                failed.setdefault(function(test), set()).add(test)
    if not ran:
        sys.exit(f"zarr-suite: no test of {file} ran")
    return failed, len(ran), len(skipped - ran)


def function(test: str) -> str:
    return test.partition("[")[0]


def digest(tests: Iterable[str]) -> str:
    """Tells which cases of a function fail, in a word that a list can hold."""
    return f"{zlib.crc32(chr(10).join(sorted(tests)).encode()):08x}"


class Expected:
    """What does not apply: under each reason the functions, how many of their cases fail, and which."""

    def __init__(self, text: str) -> None:
        self.release = text.split(maxsplit=3)[2] if text else ""
        self.reasons: dict[str, str] = {}
        self.cases: dict[str, tuple[str, int, str]] = {}
        reason = UNSORTED
        for line in text.splitlines()[1:]:
            if line.startswith("["):
                reason, _, why = line[1:].partition("]")
                self.reasons[reason] = why.strip()
            elif line.strip():
                test, count, word = line.split()
                self.cases[test] = (reason, int(count), word)

    def problems(self, failed: Failures, files: Iterable[str]) -> list[str]:
        chosen = tuple(f"tests/test_{file}.py::" for file in files)
        listed = {test: case for test, case in self.cases.items() if test.startswith(chosen)}
        found = []
        for test in sorted(failed.keys() | listed.keys()):
            reason, count, word = listed.get(test, ("", 0, ""))
            now = failed.get(test, set())
            if reason == UNSORTED:
                found.append(f"{test}: listed without a reason")
            elif not now:
                found.append(f"{test}: listed under [{reason}], and passes now")
            elif not count:
                found.append(f"{test}: {len(now)} cases fail, and none is listed")
            elif (count, word) != (len(now), digest(now)):
                found.append(
                    f"{test}: {len(now)} cases fail, and {count} or others are listed under [{reason}]"
                )
        return found

    def write(self, failed: Failures, files: Iterable[str], release: str) -> str:
        chosen = tuple(f"tests/test_{file}.py::" for file in files)
        cases = {test: case for test, case in self.cases.items() if not test.startswith(chosen)}
        for test, now in failed.items():
            cases[test] = (self.cases.get(test, (UNSORTED, 0, ""))[0], len(now), digest(now))
        lines = [
            f"# zarr-python {release} : tests that do not apply to Tessarray, and why (tools/zarr_suite.py)"
        ]
        for reason in sorted({case[0] for case in cases.values()}):
            lines += ["", f"[{reason}] {self.reasons.get(reason, '')}".rstrip()]
            lines += [
                f"{test} {case[1]} {case[2]}" for test, case in sorted(cases.items()) if case[0] == reason
            ]
        return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", default=FILES, metavar="FILE", help=f"of {', '.join(FILES)}")
    parser.add_argument("--cache", type=Path, default=Path.home() / ".cache" / "tessarray" / "zarr-suite")
    parser.add_argument("--write", action="store_true", help="rewrite the list, keeping its reasons")
    given = parser.parse_args()
    if unknown := set(given.files) - set(FILES):
        parser.error(f"no such file of tests: {', '.join(sorted(unknown))}")
    release = version("zarr")
    expected = Expected(EXPECTED.read_text() if EXPECTED.exists() else "")
    if not given.write and expected.release != release:
        sys.exit(f"zarr-suite: the list is for zarr-python {expected.release}, and {release} is installed")
    folder = sources(given.cache, release)
    failed: Failures = {}
    total = skips = 0
    for file in given.files:
        found, ran, skipped = run(folder, file)
        failed |= found
        total += ran
        skips += skipped
    failing = sum(len(tests) for tests in failed.values())
    print(
        f"zarr-suite: {total} tests of zarr-python {release} ran, {total - failing} passed, {failing} failed;"
        f" {skips} more were skipped"
    )
    if given.write:
        EXPECTED.write_text(expected.write(failed, given.files, release))
        return 0
    problems = expected.problems(failed, given.files)
    for problem in problems:
        print(problem)
    print(f"zarr-suite: {len(problems)} differences from {EXPECTED.name}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
