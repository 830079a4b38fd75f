"""Results as CSV, for a spreadsheet or pandas: a line for each cell, and a line for each raw row."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from tessarray_bench.results import Cell, Results, cells

LATENCY = ("p50", "p99", "p999", "max", "first")
EXTRA = ("requests", "transferred", "offered", "dropped", "retained")


def write_cells(results: Results, path: str | os.PathLike[str]) -> None:
    """A line for each cell: seconds, bytes, GB/s; ratios are of times over the baseline's, below 1 is faster."""
    write(path, [line_of(cell) for cell in cells(results)])


def write_rows(results: Results, path: str | os.PathLike[str]) -> None:
    """A line for each row of the files, with the keys of `latency` as `latency.p50`; lists and objects as JSON."""
    write(path, [{"file": file.label, **flat(row)} for file in results.files for row in file.rows])


def line_of(cell: Cell) -> dict[str, Any]:
    """A cell as a line of the table."""
    interval, ratio = cell.interval, cell.ratio
    within = ratio.interval if ratio else None
    return {
        "file": cell.file,
        "suite": cell.suite,
        "workload": cell.workload,
        "process": cell.process,
        "step": cell.step,
        "system": cell.system,
        "status": cell.status,
        "ranks": cell.ranks,
        "n": cell.n,
        "median_s": cell.median,
        "low_s": interval.low if interval else None,
        "high_s": interval.high if interval else None,
        "interval_level": interval.level if interval else None,
        "interval_method": interval.method if interval else None,
        "ratio": ratio.value if ratio else None,
        "ratio_low": within.low if within else None,
        "ratio_high": within.high if within else None,
        "verdict": cell.verdict,
        "rate_GB_per_s": cell.rate,
        "cpu_s": cell.cpu,
        "peak_bytes": cell.peak,
        "nbytes": cell.nbytes,
        "read_bytes": cell.read,
        "written_bytes": cell.written,
        "stored_bytes": cell.stored,
        "files": cell.files,
        **{f"latency_{name}_s": cell.latency.get(name) for name in LATENCY},
        **{name: cell.extra.get(name) for name in EXTRA},
        "checked": cell.checked,
        "statuses": json.dumps(cell.statuses),
        "reasons": "; ".join(cell.reasons),
        "differs": "; ".join(cell.differs),
        "facts": json.dumps(cell.facts) if cell.facts else None,
        "walls_s": " ".join(f"{wall:.9g}" for wall in cell.wall),
        "rerun": cell.rerun,
    }


def flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row of a results file without nesting."""
    latency = {f"latency.{name}": value for name, value in (row.get("latency") or {}).items()}
    plain = {key: value for key, value in row.items() if key != "latency"}
    return {
        key: json.dumps(value) if isinstance(value, list | dict) else value
        for key, value in (plain | latency).items()
    }


def write(path: str | os.PathLike[str], lines: Iterable[Mapping[str, Any]]) -> None:
    """A CSV file with the columns of all lines."""
    held = list(lines)
    names = list(dict.fromkeys(name for line in held for name in line))
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        writer.writerows(held)
