"""Do the tests see a fault? Plants faults ("mutants") in chosen files one at a time, and runs the tests of their crate.

    python tools/mutants                      # every lane
    python tools/mutants pack grid            # some of them
    python tools/mutants pack --file conflict.rs

Each mutant is caught if a test fails, dies or takes ten times as long. Lanes of Rust build once: every mutant is behind
a switch (`rust.py`). A first run of each test says which mutants it reaches, so a mutant is tried by those alone, the
quickest first. The result is a line for each survivor and one for each file; exit status 1 below the bar.
Needs `pip install tree-sitter tree-sitter-rust`; works in a copy of the sources, `target/mutants`.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import lanes
from planted import Verdict

BAR = 85.0


def report(verdicts: Iterable[Verdict], seconds: float) -> float:
    """Print survivors and shares by file; the share of caught mutants in all, in percent."""
    by_file: dict[str, list[Verdict]] = {}
    for verdict in verdicts:
        by_file.setdefault(verdict.file, []).append(verdict)
        if not verdict.caught:
            print(f"survives: {verdict.file}:{verdict.line}: {verdict.what} ({verdict.tests} tests reach it)")
    caught = sum(verdict.caught for each in by_file.values() for verdict in each)
    total = sum(map(len, by_file.values()))
    for file, each in sorted(by_file.items()):
        own = sum(verdict.caught for verdict in each)
        print(f"{file}: {own} of {len(each)} caught, {100 * own / len(each):.1f} %")
    share = 100 * caught / total if total else 100.0
    print(f"in all: {caught} of {total} caught, {share:.1f} %, {seconds:.0f} s")
    return share


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("lane", nargs="*", choices=[[], *sorted(lanes.LANES)], help="which (default: all)")
    parser.add_argument("--file", action="append", help="only files whose path ends so (repeatable)")
    parser.add_argument(
        "--part", default="1/1", help="of the mutants: 2/10 is every tenth, from the second on"
    )
    parser.add_argument("--list", action="store_true", help="build, and list the mutants that compile")
    given = parser.parse_args()
    start, verdicts = time.monotonic(), []
    for name in given.lane or sorted(lanes.LANES):
        verdicts += lanes.LANES[name].run(given.file or [], given.part, given.list)
    return 0 if report(verdicts, time.monotonic() - start) >= BAR or given.list else 1


if __name__ == "__main__":
    sys.exit(main())
