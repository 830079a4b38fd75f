"""Builds a crate with its mutants, finds which test reaches which, and tries each by the tests that reach it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import rust
from planted import COPY, LEAST, PATIENCE, ROOT, Verdict, chosen, part_of


@dataclass(frozen=True)
class Test:
    binary: str
    folder: Path
    name: str
    seconds: float = 0.0


@dataclass
class RustLane:
    """Files of a crate. `tests`: only these of its test binaries (`lib` for those beside the code), and `only`
    tests whose name has this in it."""

    crate: str
    files: list[str]
    tests: list[str] = field(default_factory=list)
    only: str = ""

    def run(self, endings: Sequence[str], part: str, list_only: bool) -> list[Verdict]:
        copy_sources()
        found = chosen([self.find(name) for name in self.files], endings)
        if not found:
            return []
        mutants = self.plant(found)
        print(f"{self.crate}: {len(mutants)} mutants compile in {len(found)} files", flush=True)
        if list_only:
            for mutant in mutants:
                print(f"{mutant.path.relative_to(COPY)}:{mutant.line}: {mutant.what}")
            return []
        reach = reached(self.build())
        wanted = part_of(mutants, part)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            return list(pool.map(lambda mutant: verdict(mutant, reach.get(mutant.number, [])), wanted))

    def find(self, name: str) -> Path:
        """A file of the crate by the end of its path, since folders move."""
        source = COPY / "crates" / self.crate / "src"
        found = [path for path in source.rglob("*.rs") if f"/{path.relative_to(source)}".endswith(f"/{name}")]
        if len(found) != 1:
            raise SystemExit(f"{self.crate}: {len(found)} files end in {name}: expected one")
        return found[0]

    def plant(self, files: Sequence[Path]) -> list[rust.Mutant]:
        """Write the sources with their switches, leaving out the mutants that do not compile."""
        plain = {path: path.read_bytes() for path in files}
        library = COPY / "crates" / self.crate / "src" / "lib.rs"
        head = library.read_bytes()
        left_out: dict[Path, set[tuple[int, str]]] = {path: set() for path in files}
        while True:
            sources, first = [], 0
            for path, text in plain.items():
                source = rust.Source(path, text, first, left_out[path])
                path.write_bytes(source.made())
                sources.append(source)
                first = source.next
            library.write_bytes(head + rust.MODULE.replace("{count}", str(max(first, 1))).encode())
            refused = self.refused()
            if not refused:
                return [mutant for source in sources for mutant in source.mutants]
            for source in sources:
                left_out[source.path] |= {source.places[n] for n in refused if n in source.places}

    def refused(self) -> set[int]:
        """The mutants that the compiler points at."""
        numbers: set[int] = set()
        done = cargo("check", "-p", self.crate, "--lib")
        for line in done.stdout.splitlines():
            said = json.loads(line)
            if said.get("reason") == "compiler-message" and said["message"]["level"] == "error":
                numbers |= pointed_at(said["message"])
        if done.returncode and not numbers:
            raise SystemExit(
                f"{self.crate} does not compile, for another reason than a mutant:\n{done.stderr}"
            )
        return numbers

    def build(self) -> list[Test]:
        """The tests of the crate, built."""
        done = cargo("test", "-p", self.crate, "--no-run")
        if done.returncode:
            raise SystemExit(done.stderr)
        tests = []
        for line in done.stdout.splitlines():
            said = json.loads(line)
            if (
                said.get("reason") != "compiler-artifact"
                or not said["executable"]
                or not said["profile"]["test"]
            ):
                continue
            kind = "lib" if "lib" in said["target"]["kind"] else said["target"]["name"]
            if not self.tests or kind in self.tests:
                tests += listed(said["executable"], Path(said["manifest_path"]).parent)
        return [test for test in tests if self.only in test.name]


def copy_sources() -> None:
    """What git tracks or would track, as it is now, in a folder of its own; what is the same keeps its time."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True).stdout.decode().split("\0")
    for name in filter(None, names):
        source, copy = ROOT / name, COPY / name
        if not source.is_file():
            continue
        if not copy.exists() or source.read_bytes() != copy.read_bytes():
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, copy)
    there = {COPY / name for name in names}
    for path in COPY.rglob("*.rs"):
        if path not in there:
            path.unlink()


def cargo(*arguments: str) -> subprocess.CompletedProcess[str]:
    command = ["cargo", *arguments, "--message-format=json", "--quiet"]
    # A folder of its own, so that nobody waits for the other's cargo.
    environment = os.environ | {
        "CARGO_TARGET_DIR": str(ROOT / "target" / "mutants" / "build"),
        "CARGO_PROFILE_DEV_DEBUG": "line-tables-only",
    }
    return subprocess.run(command, cwd=COPY, env=environment, capture_output=True, text=True, check=False)


def pointed_at(message: dict[str, Any]) -> set[int]:
    """The mutant at each place that an error names: the innermost around it, else those inside it."""
    numbers: set[int] = set()
    for place in message["spans"]:
        path = COPY / place["file_name"]
        if not path.exists():
            continue
        spans = list(rust.spans_of(path.read_bytes()))
        start, end = place["byte_start"], place["byte_end"]
        around = [span for span in spans if span.start <= start < span.end]
        if around:
            numbers.add(max(around, key=lambda span: span.start).number)
        elif place["is_primary"]:
            numbers |= {span.number for span in spans if start <= span.start < end}
    return numbers


def listed(binary: str, folder: Path) -> list[Test]:
    said = subprocess.run([binary, "--list", "--format", "terse"], capture_output=True, text=True, check=True)
    names = [line.removesuffix(": test") for line in said.stdout.splitlines() if line.endswith(": test")]
    return [Test(binary, folder, name) for name in names]


def reached(tests: Sequence[Test]) -> dict[int, list[Test]]:
    """For each mutant the tests that reach it, the quickest first; each must pass as things are."""
    found: dict[int, list[Test]] = {}

    def look(test: Test) -> tuple[Test, set[int]]:
        with tempfile.TemporaryDirectory() as scratch:
            seen = Path(scratch) / "seen"
            start = time.monotonic()
            if not passes(test, None, 3600, {"MUTANTS_SEEN": str(seen)}):
                raise SystemExit(f"{test.binary} {test.name} fails without a mutant")
            numbers = set(map(int, seen.read_text().split())) if seen.exists() else set()
        return Test(test.binary, test.folder, test.name, time.monotonic() - start), numbers

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for test, numbers in pool.map(look, tests):
            for number in numbers:
                found.setdefault(number, []).append(test)
    for each in found.values():
        each.sort(key=lambda test: test.seconds)
    return found


def verdict(mutant: rust.Mutant, tests: Sequence[Test]) -> Verdict:
    caught = any(not passes(test, mutant.number, max(LEAST, PATIENCE * test.seconds), {}) for test in tests)
    print("." if caught else "S", end="", flush=True)
    return Verdict(str(mutant.path.relative_to(COPY)), mutant.line, mutant.what, caught, len(tests))


def passes(test: Test, mutant: int | None, seconds: float, more: dict[str, str]) -> bool:
    environment = os.environ | more | ({} if mutant is None else {"MUTANT": str(mutant)})
    command = [test.binary, "--exact", test.name, "--test-threads", "1"]
    # A mutant may start processes, and may take all the memory there is.
    command = ["sh", "-c", 'ulimit -v 8000000; exec "$@"', "sh", *command]
    process = subprocess.Popen(
        command, cwd=test.folder, env=environment, start_new_session=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        return process.wait(seconds) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.wait()
