"""Cells: what the repeats of one step of one workload by one system come to. Failures are results, and are kept.

results = load("results.json")              # or merge(load(a), load(b)): see results_file
for cell in cells(results):
    print(cell.workload, cell.step, cell.system, cell.median, cell.interval, cell.status, cell.rerun)
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tessarray_bench.results_file import (
    AGAIN,
    Results,
    ResultsError,
    ResultsFile,
    from_document,
    load,
    merge,
    save,
    validate,
)
from tessarray_bench.statistics import (
    Interval,
    NoiseFloor,
    Ratio,
    Verdict,
    median,
    median_interval,
    noise_floor,
    ratio_by_repeat,
    verdict,
)

# What else a reader of results files needs comes from here, too.
__all__ = [
    "AGAIN",
    "Cell",
    "Results",
    "ResultsError",
    "ResultsFile",
    "cells",
    "floor",
    "floor_of",
    "from_document",
    "judge",
    "load",
    "merge",
    "save",
    "validate",
]

Row = Mapping[str, Any]
Repeat = tuple[str, int]  # (label of the file, repeat)

# What an independent reader found, that makes the other figures of the system on this workload worthless.
UNTRUE = ("wrong", "failed", "crashed")


@dataclass(frozen=True)
class Cell:
    """One step of one workload by one system. Figures are medians over the repeats that went well, unless said."""

    file: str  # the label of the results file; of all of them, with " + ", where several were pooled
    suite: str
    workload: str
    process: str
    step: str
    system: str
    walls: Mapping[Repeat, float]  # seconds, by repeat
    median: float | None
    interval: Interval | None
    rate: float | None  # GB/s of values, 1e9 bytes
    latency: Mapping[str, float]
    cpu: float | None  # seconds, user and system
    peak: float | None
    nbytes: float | None
    read: float | None
    written: float | None
    stored: float | None  # of the store: on the cells that read it, too
    files: float | None
    extra: Mapping[str, float]  # requests, transferred, offered, dropped, retained: where rows have them
    facts: Mapping[str, Any]
    differs: tuple[str, ...]
    statuses: Mapping[str, int]  # status -> in how many repeats
    reasons: tuple[str, ...]
    checked: (
        str | None
    )  # what the independent reader's row says, the worst of the repeats; None: nobody read it
    rerun: str  # the command that runs this system, and the baseline, on this workload again
    ratio: Ratio | None = field(default=None)  # of times, over the baseline's: below 1 is faster
    verdict: Verdict | None = field(default=None)  # against the baseline

    @property
    def wall(self) -> list[float]:
        """Seconds of each repeat that went well."""
        return list(self.walls.values())

    @property
    def n(self) -> int:
        """How many repeats went well."""
        return len(self.walls)

    @property
    def status(self) -> str:
        """`ok`, or the status of most of the repeats that failed."""
        failed = Counter({status: n for status, n in self.statuses.items() if status != "ok"})
        return failed.most_common(1)[0][0] if failed else "ok"

    @property
    def untrue(self) -> bool:
        """Whether an independent reader could not read back what this system wrote."""
        return self.process != "check" and self.checked in UNTRUE

    @property
    def ranks(self) -> bool:
        """Whether it may be called fastest: every repeat went well, and what was written is what was given."""
        return self.median is not None and self.status == "ok" and not self.untrue

    @property
    def again(self) -> bool:
        """Whether this is the second run of the baseline, which measures noise."""
        return self.system.endswith(AGAIN)


def cells(results: Results) -> list[Cell]:
    """All cells, in the order of the files; rows of files that are alike are pooled, of others kept apart."""
    found: list[Cell] = []
    for group in results.groups:
        found += cells_of_group(group)
    return found


def floor(results: Results) -> NoiseFloor:
    """The noise floor of all files together: the baseline against itself, over all cells that it has twice."""
    return floor_of(cells(results))


def floor_of(found: Iterable[Cell]) -> NoiseFloor:
    """The same of cells; what the independent reader took is no system's time, and does not count."""
    again = (cell for cell in found if cell.again and cell.ranks and cell.process != "check")
    return noise_floor([cell.ratio.value for cell in again if cell.ratio])


def judge(cell: Cell, other: Cell, floor: NoiseFloor) -> tuple[Ratio, Verdict] | None:
    """One cell's times over another's, and what may be said of it; None where either has no times."""
    if cell.median is None or other.median is None:
        return None
    found = ratio_by_repeat(cell.walls, other.walls)
    return found, verdict(found.value, found.interval, floor.factor)


def cells_of_group(group: Sequence[ResultsFile]) -> list[Cell]:
    """The cells of files that are alike, their rows pooled."""
    settings = group[0].settings
    label = " + ".join(file.label for file in group)
    by_cell: dict[tuple[str, str, str, str], list[tuple[str, Row]]] = {}
    of_store: dict[tuple[str, str], list[Row]] = {}
    for file in group:
        for row in file.rows:
            key = (row["workload"], row["process"], row["step"], row["system"])
            by_cell.setdefault(key, []).append((file.label, row))
            of_store.setdefault((row["workload"], row["system"]), []).append(row)
    stores = {key: Store.of(rows) for key, rows in of_store.items()}
    repeats = max(int(file.settings["repeats"]) for file in group)
    plain = [
        cell_of(label, rows, stores[key[0], key[3]], rerun(rows[0][1], settings, repeats))
        for key, rows in by_cell.items()
    ]
    baseline = {(c.workload, c.process, c.step): c for c in plain if c.system == settings["baseline"]}
    return with_ratios(plain, baseline)


def with_ratios(plain: list[Cell], baseline: Mapping[tuple[str, str, str], Cell]) -> list[Cell]:
    """1. Ratios to the baseline. 2. The noise floor, from the baseline's own. 3. Verdicts, which need the floor."""
    rated = []
    for cell in plain:
        other = baseline.get((cell.workload, cell.process, cell.step))
        known = other is not None and other.median is not None and cell.median is not None
        rated.append(
            replaced(cell, ratio=ratio_by_repeat(cell.walls, other.walls) if known and other else None)
        )
    factor = floor_of(rated).factor
    return [
        replaced(cell, verdict=verdict(cell.ratio.value, cell.ratio.interval, factor)) if cell.ratio else cell
        for cell in rated
    ]


def replaced(cell: Cell, **changes: Any) -> Cell:
    """The cell with some attributes changed."""
    return Cell(**{**cell.__dict__, **changes})


@dataclass(frozen=True)
class Store:
    """What is the same for all steps of one system on one workload: of the rows that say it."""

    stored: float | None
    files: float | None
    facts: Mapping[str, Any]
    differs: tuple[str, ...]
    checked: str | None

    @classmethod
    def of(cls, rows: Sequence[Row]) -> Store:
        """What the rows of a system's store say of it."""
        facts: dict[str, Any] = {}
        for row in rows:
            facts |= row.get("facts") or {}
        checks = [row["status"] for row in rows if row["process"] == "check"]
        bad = [status for status in checks if status != "ok"]
        return cls(
            middle(rows, "stored"),
            middle(rows, "files"),
            facts,
            tuple(dict.fromkeys(text for row in rows for text in row.get("differs") or ())),
            min(bad, key=lambda s: UNTRUE.index(s) if s in UNTRUE else 9)
            if bad
            else "ok"
            if checks
            else None,
        )


def cell_of(label: str, labelled: Sequence[tuple[str, Row]], store: Store, again: str) -> Cell:
    """The cell of some rows: medians, interval, statuses."""
    rows = [row for _, row in labelled]
    good = [row for row in rows if row["status"] == "ok"]
    walls = {(file, row["repeat"]): float(row["wall"]) for file, row in labelled if row["status"] == "ok"}
    wall = list(walls.values())
    nbytes = middle(good, "nbytes")
    time = median(wall) if wall else None
    latencies: list[Row] = [row["latency"] for row in good if row.get("latency")]
    names = dict.fromkeys(name for latency in latencies for name in latency)
    cpu = [row.get("cpu_user", 0.0) + row.get("cpu_system", 0.0) for row in good if "cpu_user" in row]
    extra = {
        key: middle(good, key)
        for key in ("requests", "transferred", "offered", "dropped", "retained", "sampled")
    }
    return Cell(
        file=label,
        suite=rows[0]["suite"],
        workload=rows[0]["workload"],
        process=rows[0]["process"],
        step=rows[0]["step"],
        system=rows[0]["system"],
        walls=walls,
        median=time,
        interval=median_interval(wall),
        rate=nbytes / time / 1e9 if nbytes and time else None,
        latency={name: value for name in names if (value := middle(latencies, name)) is not None},
        cpu=median(cpu) if cpu else None,
        peak=middle(good, "peak"),
        nbytes=nbytes,
        read=middle(good, "read"),
        written=middle(good, "written"),
        stored=store.stored,
        files=store.files,
        extra={key: value for key, value in extra.items() if value is not None},
        facts=store.facts,
        differs=store.differs,
        statuses=dict(Counter(row["status"] for row in rows)),
        reasons=tuple(
            dict.fromkeys(row["reason"] for row in rows if row["status"] != "ok" and row.get("reason"))
        ),
        checked=store.checked,
        rerun=again,
    )


def middle(rows: Sequence[Row], key: str) -> float | None:
    """The median of what the rows say under a key; None if none of them does."""
    values = [float(row[key]) for row in rows if row.get(key) is not None]
    return median(values) if values else None


def rerun(row: Row, settings: Mapping[str, Any], repeats: int) -> str:
    """The command that measures a row again, beside the baseline."""
    name, baseline = row["system"].removesuffix(AGAIN), settings["baseline"]
    systems = name if name == baseline else f"{name},{baseline}"
    words = ["tessarray", "bench", "run", row["suite"], "--workloads", row["workload"], "--systems", systems]
    words += ["--repeats", str(repeats), "--scale", f"{settings['scale']:g}", "--seed", str(settings["seed"])]
    return shlex.join(words)
