"""The table of `engine_bars.py`: rows of a results document, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import median
from typing import Any

from engine_rows import OURS, PLAIN, Bar, bars

from tessarray.display.units import byte_text, rate_text, time_text

MIB = 1 << 20

Document = dict[str, Any]
Line = tuple[str, str, str, str, str, str]  # row, ours, rivals, ratio, bar, met or missed


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
            f"{name} {time_text(seconds)}{'' if n > 1 else ' (once)'}"
            for name, (seconds, n) in sorted(self.rivals.items(), key=lambda item: item[1])
        )
        ours = time_text(self.ours)
        if bar.whole or (bar.figure == "wall" and "frame" in bar.name):
            ours += f", {rate_text(self.nbytes / self.ours)}"
        if best is None:
            return (bar.name, ours, "none here", "", f"{bar.least:g}", "")
        ratio = self.rivals[best][0] / self.ours
        word = "missed" if ratio < bar.least else "met" if ratio < (bar.stretch or 1e9) else "stretch met"
        return (bar.name, ours, others, f"**{ratio:.2f}**", bar_text(bar), word)


def bar_text(bar: Bar) -> str:
    return f"{bar.least:g}" + (f" ({bar.stretch:g})" if bar.stretch else "")


def met(value: bool) -> str:
    return "met" if value else "missed"


def markdown(document: Document) -> str:
    """The table of a results document, and below it the lines that are not about time."""
    found = {bar.name: f for bar in bars() if (f := Found.of(document, bar))}
    told = {name: about.get("versions", {}) for name, about in document.get("systems", {}).items()}
    of_system = {name: [f"{k} {v}" for k, v in found.items() if k != "numpy"] for name, found in told.items()}
    systems = "; ".join(f"{n}: {', '.join(v)}" for n, v in of_system.items() if v and n not in OURS)
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
                time_text(turned.ours),
                f"C: {time_text(plain.ours)}",
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
            most, what = 1.05 * row.nbytes + 64 * MIB, f"output + 5 % + {byte_text(64 * MIB)}"
        else:
            most, what = (
                max(0.1 * row.nbytes, workers * size + 64 * MIB),
                f"0.1 × data, workers × shard + {byte_text(64 * MIB)}",
            )
        share = f"{byte_text(peak)} of {byte_text(row.nbytes)} of data"
        yield (
            f"memory, {bar.name}",
            share,
            what,
            f"{peak / most:.2f} of it",
            byte_text(most),
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
                time_text(ours),
                f"{row.best} {time_text(theirs)}",
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
                times = f"1: {time_text(rates[1])}"
                yield (
                    f"{step}, {count} workers over 1",
                    time_text(seconds),
                    times,
                    f"{gain:.2f}",
                    f"{least:g}",
                    met(gain >= least),
                )
    for lines in document.get("alone", {}).values():
        for name, ours, what, ratio, bar, good in lines:
            yield (name, ours, what, ratio, bar, "" if good is None else met(good))
