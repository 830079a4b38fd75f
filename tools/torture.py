"""The long lanes of the tests of arrays and packs, within a budget of time: `make torture TIME=3600`.

Each round runs every lane with twice as many kills, images, flips and examples as the round before, and new random
numbers (`TESSARRAY_TEST_SCALE` does both). A lane that is still running when the time is over is stopped, and counts
as neither passed nor failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUST = ["cargo", "test", "--release", "--package", "tessarray-pack", "--test"]
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "timeout=0"]
FACADE = ["cargo", "test", "--release", "--package", "tessarray", "--test"]
LANES = {
    "loss of power": [*RUST, "power"],
    "loss of power, traced": [*PYTEST, "tests/python/test_powerloss.py"],
    "damage": [*RUST, "damage"],
    "failing calls": [*RUST, "faults"],
    "schedules": [*RUST, "schedules"],
    "clocks": [*RUST, "clocks"],
    "creation": [*RUST, "create"],
    "lost commits and leftovers": [*RUST, "lost", "--test", "leftovers"],
    "histories of packs": [*RUST, "model"],
    "deletions beside writers": [*FACADE, "deleting"],
    "model": [*PYTEST, "tests/python/test_pack_model.py"],
    "kills and processes": [*PYTEST, "tests/python/test_pack_crash.py"],
    "writers, repairs and expiries": [*PYTEST, "tests/python/test_concurrency.py"],
    "conversions that went on": [*PYTEST, "tests/python/test_convert_resumed.py"],
    "flipped bits of chunks and zips": [
        *PYTEST,
        "tests/python/test_checksum.py",
        "tests/python/test_zip_names.py",
    ],
}


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--time", type=float, default=600, help="seconds in all (default: 600)")
    parser.add_argument("--lane", choices=sorted(LANES), action="append", help="only this one (repeatable)")
    given = parser.parse_args()
    until = time.monotonic() + given.time
    passed, failed, scale = 0, 0, 2
    while time.monotonic() < until:
        for name, command in LANES.items():
            if given.lane and name not in given.lane:
                continue
            started = time.monotonic()
            if started >= until:
                break
            verdict = run(command, scale, until - started)
            print(f"{name}, scale {scale}: {verdict}, {time.monotonic() - started:.0f} s", flush=True)
            passed += verdict == "passed"
            failed += verdict == "failed"
        scale *= 2
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def run(command: list[str], scale: int, seconds: float) -> str:
    environment = os.environ | {"TESSARRAY_TEST_SCALE": str(scale)}
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, timeout=seconds, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return "stopped"
    if done.returncode:
        print(done.stdout[-8000:], done.stderr[-8000:], sep="\n")
    return "failed" if done.returncode else "passed"


if __name__ == "__main__":
    sys.exit(main())
