"""What the engine is held to: every workload against every rival in one interleaved run, and the bars it has to reach.

    .venv/bin/python benchmarks/engine_bars.py                      # all of it: half an hour
    .venv/bin/python benchmarks/engine_bars.py --rows 'sharded*' --scale 0.1

Rivals run in the environments of `tessarray bench install`; those that are absent are left out. Files lie in memory,
warm; each part of each repeat is a process of its own; default threads, the same layout and codec for all (blosc lz4
level 5, byte shuffle), and a crc32c of every chunk for ours, which the others do without. Answers are verified outside
the timer, stores by an independent reader. Figures are medians of the repeats; a rival that took more than `FAR` times
the best one's time in the first repeat is not asked again, and its figure is that of one repeat.

`--resume` goes on where the results file ends, so that a run can be made in parts; `--table` only prints. The parts
that need no rival (`engine_alone.py`: the machine's limit, growth, the cost of a plan) are rows `limit` and `growth`.
"""

from __future__ import annotations

import argparse
import fnmatch
import json
import statistics
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import engine_alone
from engine_rows import DOUBLE, OURS, PLAIN, RIVALS, STREAM, STREAMERS, Bar, bars, scaling, workloads

from tessarray_bench.cli.run import Request, execute
from tessarray_bench.model import Workload
from tessarray_bench.results_file import save

RESULTS = Path(__file__).parent / "results" / "engine-bars.json"
FAR = 2.0
MIB = 1 << 20

Document = dict[str, Any]
Line = tuple[str, str, str, str, str, str]  # row, ours, rivals, ratio, bar, met or missed


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


def rows_of(document: Document, workload: str, step: str, system: str) -> list[dict[str, Any]]:
    """The rows of a step that went well, of a store that was read back right."""
    rows = [r for r in document["rows"] if r["workload"] == workload and r["system"] == system]
    if any(row["status"] in ("wrong", "crashed") for row in rows):
        return []
    return [row for row in rows if row["step"] == step and row["status"] == "ok"]


def figures_of(document: Document, bar: Bar, system: str) -> list[float]:
    rows = rows_of(document, bar.workload, bar.step, system)
    return [
        row["wall"] / row_calls(row) if bar.figure == "wall" else row["latency"][bar.figure] for row in rows
    ]


def row_calls(row: dict[str, Any]) -> int:
    """Calls that each read all of it, where a step makes several; for others the sum is the figure."""
    return int(row["calls"]) if row["step"] in ("read all", "points") else 1


median = statistics.median


# ---- the table


@dataclass(frozen=True)
class Found:
    """One row: ours, and the figures of all rivals with the number of repeats they are of."""

    bar: Bar
    ours: float
    nbytes: float
    rivals: dict[str, tuple[float, int]]

    @classmethod
    def of(cls, document: Document, bar: Bar) -> Found | None:
        ours = figures_of(document, bar, bar.ours)
        if not ours:
            return None
        rivals = {name: f for name in bar.rivals if (f := figures_of(document, bar, name))}
        row = rows_of(document, bar.workload, bar.step, bar.ours)[0]
        nbytes = row["nbytes"] / row_calls(row)
        return cls(bar, median(ours), nbytes, {name: (median(f), len(f)) for name, f in rivals.items()})

    @property
    def best(self) -> str | None:
        return min(self.rivals, key=lambda name: self.rivals[name][0], default=None)

    def line(self) -> Line:
        bar, best = self.bar, self.best
        others = ", ".join(
            f"{name} {time(seconds)}{'' if n > 1 else ' (once)'}"
            for name, (seconds, n) in sorted(self.rivals.items(), key=lambda item: item[1])
        )
        ours = time(self.ours)
        if bar.whole or (bar.figure == "wall" and "frame" in bar.name):
            ours += f", {self.nbytes / self.ours / 1e9:.2f} GB/s"
        if best is None:
            return (bar.name, ours, "none here", "", f"{bar.least:g}", "")
        ratio = self.rivals[best][0] / self.ours
        word = "missed" if ratio < bar.least else "met" if ratio < (bar.stretch or 1e9) else "stretch met"
        return (bar.name, ours, others, f"**{ratio:.2f}**", bar_text(bar), word)


def bar_text(bar: Bar) -> str:
    return f"{bar.least:g}" + (f" ({bar.stretch:g})" if bar.stretch else "")


def time(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1 or unit == "µs":
            return f"{seconds * factor:.3g} {unit}"
    raise AssertionError


def met(value: bool) -> str:
    return "met" if value else "missed"


def markdown(document: Document) -> str:
    """The table of a results document, and below it the lines that are not about time."""
    found = {bar.name: f for bar in bars() if (f := Found.of(document, bar))}
    versions = {name: about.get("versions", {}) for name, about in document.get("systems", {}).items()}
    systems = ", ".join(f"{n} {next(iter(v.values()))}" for n, v in versions.items() if v and n not in OURS)
    head = f"Scale {document.get('settings', {}).get('scale', 1):g}; {systems}.\n\n"
    parts = [head, table("best rival's time / ours", (f.line() for f in found.values()))]
    own = [*fortran(found), *memory(document, found), *processor(document, found), *alone(document)]
    parts.append("\n" + table("found", own))
    return "".join(parts)


def table(ratio: str, lines: Iterator[Line] | list[Line]) -> str:
    titles = ("row", "ours", "others", ratio, "bar (stretch)", "")
    rows = [titles, ("---",) * len(titles), *lines]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows)


def fortran(found: dict[str, Found]) -> Iterator[Line]:
    """Fortran order against our own C order."""
    for name in ("sharded", "chunked"):
        turned, plain = found.get(f"Fortran order, {name}: write"), found.get(f"{name}: write")
        if turned and plain:
            ratio = turned.ours / plain.ours
            yield (
                f"Fortran order, {name}: write, over our C order",
                time(turned.ours),
                f"C: {time(plain.ours)}",
                f"{ratio:.2f}",
                "at most 1.2",
                met(ratio <= 1.2),
            )


def memory(document: Document, found: dict[str, Found]) -> Iterator[Line]:
    """Peak memory above what was resident before: above the input of a write, with the output of a read."""
    for row in found.values():
        bar = row.bar
        if not bar.whole:
            continue
        rows = rows_of(document, bar.workload, bar.step, bar.ours)
        layout, array = (document["workloads"][bar.workload][key] for key in ("layout", "data"))
        size = int(array["dtype"][-1])
        for extent in layout["shards"] or layout["chunks"]:
            size *= extent
        peak = median([r["peak"] for r in rows])
        workers = document["machine"]["cores"]
        if bar.step == "read all":
            most, what = 1.05 * row.nbytes + 64 * MIB, "output + 5 % + 64 MiB"
        else:
            most, what = (
                max(0.1 * row.nbytes, workers * size + 64 * MIB),
                "0.1 × data, workers × shard + 64 MiB",
            )
        share = f"{peak / MIB:.0f} of {row.nbytes / MIB:.0f} MiB of data"
        yield (
            f"memory, {bar.name}",
            share,
            what,
            f"{peak / most:.2f} of it",
            f"{most / MIB:.0f} MiB",
            met(peak <= most),
        )


def processor(document: Document, found: dict[str, Found]) -> Iterator[Line]:
    """Processor time, user and system, against the fastest rival's of the row."""
    for row in found.values():
        if row.bar.whole and row.best:

            def used(name: str, bar: Bar = row.bar) -> float:
                rows = rows_of(document, bar.workload, bar.step, name)
                return median([(r["cpu_user"] + r["cpu_system"]) / row_calls(r) for r in rows])

            ours, theirs = used(row.bar.ours), used(row.best)
            share = ours / theirs if theirs else 0.0
            name = f"processor time, {row.bar.name}"
            yield (
                name,
                time(ours),
                f"{row.best} {time(theirs)}",
                f"{share:.2f}",
                "at most 0.8",
                met(share <= 0.8),
            )


def alone(document: Document) -> Iterator[Line]:
    """Workers, the machine's limit, growth: ours alone."""
    for step in ("write", "read all"):
        rates = {}
        for name in document["workloads"]:
            if name.startswith("workers-") and (rows := rows_of(document, name, step, PLAIN)):
                rates[int(name.split("-")[1])] = median([r["wall"] for r in rows])
        for count, seconds in rates.items():
            if count in (2, 16) and 1 in rates:
                gain, least = rates[1] / seconds, 1.8 if count == 2 else 0.7 * 16
                times = f"1: {time(rates[1])}"
                yield (
                    f"{step}, {count} workers over 1",
                    time(seconds),
                    times,
                    f"{gain:.2f}",
                    f"{least:g}",
                    met(gain >= least),
                )
    for lines in document.get("alone", {}).values():
        for name, ours, what, ratio, bar, good in lines:
            yield (name, ours, what, ratio, bar, "" if good is None else met(good))


if __name__ == "__main__":
    assert RIVALS
    assert DOUBLE
    sys.exit(main())
