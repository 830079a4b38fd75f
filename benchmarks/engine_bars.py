"""What the engine is held to: every workload against every rival in one interleaved run, and the bars it has to reach.

    .venv/bin/python benchmarks/engine_bars.py                      # all of it: half an hour
    .venv/bin/python benchmarks/engine_bars.py --rows 'sharded*' --scale 0.1

Rivals run in the environments of `tessarray bench install`; those that are absent are left out. Files lie in memory,
warm; each part of each repeat is a process of its own; default threads, the same layout and codec for all (blosc lz4
level 5, byte shuffle), and a checksum of every chunk for ours (inside the blosc frame; of inner chunks of shards, a
crc32c), which the others do without. Answers are verified outside
the timer, stores by an independent reader. Figures are medians of the repeats; a rival that took more than `FAR` times
the best one's time in the first repeat is not asked again, and its figure is that of one repeat.

`--resume` goes on where the results file ends, so that a run can be made in parts; `--table` only prints. The parts
that need no rival (`engine_alone.py`: the machine's limit, growth, plans, what checksums cost) are rows `limit`,
`growth` and `checksum`.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import sys
from pathlib import Path
from statistics import median

import engine_alone
from engine_rows import OURS, PLAIN, STREAM, STREAMERS, bars, scaling, workloads
from engine_table import Document, figures_of, markdown

from tessarray_bench.cli.run import Request, execute
from tessarray_bench.model import Workload
from tessarray_bench.results_file import save

RESULTS = Path(__file__).parent / "results" / "engine-bars.json"
FAR = 2.0


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--rows", action="append", default=[], metavar="PATTERN", help="of workloads: 'planes*'"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of the data; 1 is what the bars are for")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--systems", help="rivals, by commas (default: all that are here)")
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--resume", action="store_true", help="go on where the results file ends")
    parser.add_argument("--table", action="store_true", help="print the table of the results file")
    given = parser.parse_args()
    if not given.table:
        if given.json.exists() and not given.resume:
            given.json.unlink()
        measure(given)
    document = json.loads(given.json.read_text(encoding="utf-8"))
    text = markdown(document)
    given.json.with_suffix(".md").write_text(text, encoding="utf-8")
    print(text)
    return 0


# ---- measure


def measure(given: argparse.Namespace) -> None:
    """Every rival once, then those that are near the best as often as asked, then what needs no rival."""

    def wanted(name: str) -> bool:
        return not given.rows or any(fnmatch.fnmatch(name, pattern) for pattern in given.rows)

    rivals = given.systems.split(",") if given.systems else list(STREAMERS)
    alone = earlier(given.json).get("alone", {})
    raced = [w for w in workloads(given.scale) if wanted(w.id)]
    if raced:
        race(given, raced, [*OURS, *rivals], 1)
        near = contenders(earlier(given.json))
        race(given, raced, [*OURS, *rivals], given.repeats, near)
    scaled = [w for w in scaling(given.scale) if wanted(w.id)]
    if scaled:
        race(given, scaled, [PLAIN], given.repeats)
    for name, part in engine_alone.PARTS.items():
        if wanted(name):
            alone[name] = part(given.scale, given.repeats)
    document = earlier(given.json) or {
        "format": "tessarray-bench/1",
        "rows": [],
        "systems": {},
        "workloads": {},
    }
    save(document | {"alone": alone}, given.json)


def earlier(path: Path) -> Document:
    found: Document = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return found


def race(
    given: argparse.Namespace,
    raced: list[Workload],
    systems: list[str],
    repeats: int,
    near: dict[str, set[str]] | None = None,
) -> None:
    alone = earlier(given.json).get("alone", {})

    def chosen(workload: Workload, system: str) -> bool:
        if system == STREAM and not workload.id.startswith("single"):
            return False
        return near is None or system in OURS or system in near.get(workload.id, ())

    request = Request(
        suites=[],
        systems=",".join(systems),
        scale=given.scale,
        repeats=repeats,
        baseline=PLAIN,
        out=given.json,
        resume=True,
        chosen=chosen,
    )
    document = execute(request, raced, again=False)
    if alone:
        save(document | {"alone": alone}, given.json)


def contenders(document: Document) -> dict[str, set[str]]:
    """Of each workload, the rivals that were within `FAR` of the best one in any of its rows."""
    found: dict[str, set[str]] = {}
    for bar in bars():
        rivals = {name: figures for name in bar.rivals if (figures := figures_of(document, bar, name))}
        best = min((median(figures) for figures in rivals.values()), default=0.0)
        near = {name for name, figures in rivals.items() if median(figures) <= FAR * best}
        found.setdefault(bar.workload, set()).update(near)
    return found


if __name__ == "__main__":
    sys.exit(main())
