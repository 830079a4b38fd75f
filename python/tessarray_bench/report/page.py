"""One self-contained page from results: the rows as they are, and beside them every statistic that the page shows.

    write("report.html", [document], ["laptop"])

The page computes no median, interval or verdict of its own: they come from `results` and `statistics`, for each pair
of systems, so that any of them can be the baseline. It loads nothing from anywhere.
"""

from __future__ import annotations

import base64
import gzip
import itertools
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import resources
from typing import Any

from tessarray.display import page as display
from tessarray.display.markup import Markup, element, json_text
from tessarray_bench.results import (
    Cell,
    Results,
    ResultsFile,
    cells_of_group,
    floor_of,
    from_document,
    judge,
    merge,
)
from tessarray_bench.statistics import Interval, NoiseFloor, Verdict, median, median_interval

# In this order: each builds on those before it.
SCRIPTS = (
    *("base", "state", "figures", "words", "filters", "summary", "table", "draw", "detail"),
    *("bars", "pareto", "lines", "charts", "export", "machine", "main"),
)
NAV = (
    *(("summary", "Summary"), ("results", "Results"), ("charts", "Charts"), ("machines", "Machine")),
    ("reading", "How to read"),
)
OPPOSITE: Mapping[Verdict, Verdict] = {"faster": "slower", "slower": "faster", "equal": "equal"}
Row = Mapping[str, Any]
LARGE = 1 << 20

# Metric -> what a row says of it. Time, rate and stored size come from the cell.
METRICS: Mapping[str, Callable[[Row], float | None]] = {
    "cpu": lambda row: row["cpu_user"] + row.get("cpu_system", 0.0) if "cpu_user" in row else None,
    "peak": lambda row: row.get("peak"),
    "read": lambda row: row.get("read"),
    "written": lambda row: row.get("written"),
    "p99": lambda row: (row.get("latency") or {}).get("p99"),
}


def write(path: str | os.PathLike[str], results: Sequence[dict[str, Any]], labels: Sequence[str]) -> None:
    """Write the page of results documents, in place of one that is there. Raises ResultsError."""
    display.write(path, build(results, labels))


def build(results: Sequence[dict[str, Any]], labels: Sequence[str], large: int = LARGE) -> str:
    """The page as text, for results documents (design note 0005) and what to call each. Raises ResultsError.

    Data of more than `large` characters are compressed: about a seventh.
    """
    found = merge(*(from_document(one, label) for one, label in zip(results, labels, strict=True)))
    parts = resources.files("tessarray_bench.report") / "page"
    return display.build(
        title="Benchmark of array stores",
        nav=Markup("".join(element("button", name, type="button", data_go=key) for key, name in NAV)),
        skip=("results", "Skip to the results"),
        body=Markup((parts / "body.html").read_text(encoding="utf-8")),
        style=(parts / "page.css").read_text(encoding="utf-8"),
        scripts=[(parts / f"{name}.js").read_text(encoding="utf-8") for name in SCRIPTS],
        data=data_element(payload(found), large),
        charts=True,
    )


def data_element(value: Any, large: int) -> Markup:
    """The script element that holds the data: JSON, or the same compressed."""
    text = json.dumps(finite(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    if len(text) > large:
        packed = base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()
        return element("script", packed, type="application/gzip", id="data")
    return element("script", json_text(text), type="application/json", id="data")


def finite(value: Any) -> Any:
    """Infinities and NaN have no place in JSON: null stands for them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: finite(one) for key, one in value.items()}
    return [finite(one) for one in value] if isinstance(value, list | tuple) else value


def payload(results: Results) -> dict[str, Any]:
    """`sources`: the documents as they came. `files`: what may be pooled of them, with its cells."""
    places = {file.label: number for number, file in enumerate(results.files)}
    return {
        "format": "tessarray-bench-page/1",
        "sources": [{"label": file.label, "results": file.document} for file in results.files],
        "files": [of_group(group, [places[file.label] for file in group]) for group in results.groups],
    }


def of_group(group: Sequence[ResultsFile], sources: list[int]) -> dict[str, Any]:
    """The cells of files that are pooled, each judged against all others of its step."""
    found = cells_of_group(group)
    noise = floor_of(cell for cell in found if cell.process != "check")
    rows: dict[tuple[str, ...], list[Row]] = {}
    for row in (row for file in group for row in file.rows):
        rows.setdefault((row["workload"], row["process"], row["step"], row["system"]), []).append(row)
    together: dict[tuple[str, ...], list[Cell]] = {}
    for cell in found:
        together.setdefault((cell.workload, cell.process, cell.step), []).append(cell)
    return {
        "label": " + ".join(file.label for file in group),
        "sources": sources,
        "floor": {"factor": noise.factor, "cells": noise.cells},
        "cells": [
            shown(cell, rows[(*key, cell.system)], ratios[cell.system])
            for key, rivals in together.items()
            for ratios in [pairs(rivals, noise, group[0].settings["baseline"])]
            for cell in rivals
        ],
    }


def shown(cell: Cell, rows: Sequence[Row], ratios: Mapping[str, Any]) -> dict[str, Any]:
    """A cell as the page reads it. Figures are [value, low, high, level of the interval]."""
    return {
        "workload": cell.workload,
        "process": cell.process,
        "step": cell.step,
        "system": cell.system,
        "n": cell.n,
        "status": cell.status,
        "statuses": dict(cell.statuses),
        "reasons": list(cell.reasons),
        "ranks": cell.ranks,
        "untrue": cell.untrue,
        "checked": cell.checked,
        "reader": next((row["reader"] for row in rows if row.get("reader")), None),
        "differs": list(cell.differs),
        "facts": dict(cell.facts),
        "files": cell.files,
        "extra": dict(cell.extra),
        "metrics": dict(figures(cell, rows)),
        "ratios": ratios,
        "rerun": cell.rerun,
    }


def figures(cell: Cell, rows: Sequence[Row]) -> Iterator[tuple[str, list[float | None]]]:
    """The figures of a cell by the name of their metric."""
    if cell.median is not None:
        yield "wall", figure(cell.median, cell.interval)
        if cell.rate is not None:
            # At the same number of bytes a rate's interval is the time's, turned round.
            turned = cell.interval and cell.interval._replace(
                low=cell.rate * cell.median / cell.interval.high * 1e9,
                high=cell.rate * cell.median / cell.interval.low * 1e9,
            )
            yield "rate", figure(cell.rate * 1e9, turned)
    if cell.stored is not None:
        yield "stored", [cell.stored, None, None, None]
    good = [row for row in rows if row["status"] == "ok"]
    for name, value in METRICS.items():
        values = [float(one) for row in good if (one := value(row)) is not None]
        if values:
            yield name, figure(median(values), median_interval(values))


def figure(value: float, interval: Interval | None) -> list[float | None]:
    """[value, low, high, level] as the page reads it."""
    if interval is None:
        return [rounded(value), None, None, None]
    return [rounded(value), rounded(interval.low), rounded(interval.high), interval.level]


def rounded(value: float | None) -> float | None:
    """Six digits: the page shows three."""
    return None if value is None else float(f"{value:.6g}")


def pairs(rivals: Sequence[Cell], noise: NoiseFloor, baseline: str) -> dict[str, dict[str, Any]]:
    """System -> other system -> [ratio of their times, low, high, verdict]. Each pair is judged once, then turned."""
    found: dict[str, dict[str, Any]] = {cell.system: {} for cell in rivals}
    # The baseline comes first, so that what is said over it is what `results` says, to the last digit.
    ordered = sorted(rivals, key=lambda cell: cell.system != baseline)
    for other, cell in itertools.combinations(ordered, 2):
        judged = None if cell.process == "check" else judge(cell, other, noise)
        if judged is None:
            continue
        ratio, said = judged
        value = ratio.value
        low, high = ratio.interval[:2] if ratio.interval else (None, None)
        turned = (1 / high, 1 / low) if low and high else (None, None)
        found[cell.system][other.system] = [*map(rounded, (value, low, high)), said]
        found[other.system][cell.system] = [*map(rounded, (1 / value, *turned)), OPPOSITE[said]]
    return found
