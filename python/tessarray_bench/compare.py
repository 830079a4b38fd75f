"""Two results files, an old and a new one: what changed by more than noise, what appeared, vanished, began to fail.

The runs were not interleaved: their repeats are drawn apart, and a difference counts only where it also exceeds the
larger of the two noise floors. What differs between the runs besides the systems is said in `warnings`. Where one
machine was faster as a whole, all systems change: read the baseline's line first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from rich.console import Console
from rich.text import Text

from tessarray.display.units import time_text
from tessarray_bench.results import Cell, Results, ResultsError, cells, floor
from tessarray_bench.statistics import NoiseFloor, Ratio, Verdict, ratio, verdict
from tessarray_bench.tables import Column, cut, spread, table

Kind = Literal["faster", "slower", "equal", "appeared", "vanished", "broke", "mended", "failing"]
Key = tuple[str, str, str, str]  # workload, process, step, system

# Settings that say nothing of what is measured.
SILENT = ("workdir", "out", "resume", "report")


@dataclass(frozen=True)
class Change:
    """One cell in both files. `ratio` is new over old, of times: below 1 is faster."""

    kind: Kind
    old: Cell | None
    new: Cell | None
    ratio: Ratio | None = None

    @property
    def cell(self) -> Cell:
        """The newer cell, or the older one of something that vanished."""
        found = self.new or self.old
        assert found is not None
        return found


@dataclass(frozen=True)
class Comparison:
    """Two results files: what changed, the noise floor of both, and what makes them hard to compare."""

    old: str
    new: str
    changes: tuple[Change, ...]
    floor: NoiseFloor
    warnings: tuple[str, ...]

    def of(self, *kinds: Kind) -> list[Change]:
        """The changes of some kinds."""
        return [change for change in self.changes if change.kind in kinds]

    @property
    def changed(self) -> list[Change]:
        """Everything that is not as it was."""
        return [change for change in self.changes if change.kind not in ("equal", "failing")]

    @property
    def regressions(self) -> list[Change]:
        """Slower by more than noise, or failing since. What vanished was not run: see `changed`."""
        return self.of("slower", "broke")

    @property
    def exit_code(self) -> int:
        """For a command line: 1 where there are regressions."""
        return int(bool(self.regressions))


def compare(old: Results, new: Results) -> Comparison:
    """Compare two results, each of one file, or of files whose rows may be pooled (ResultsError otherwise)."""
    for results in (old, new):
        if len(results.groups) != 1:
            names = ", ".join(file.label for file in results.files)
            raise ResultsError(
                names, "machine, settings, systems", "runs that are alike", f"{len(results.groups)} kinds"
            )
    before, after = by_key(old), by_key(new)
    floors = (floor(old), floor(new))
    widest = max(floors, key=lambda found: found.factor)
    pooled = NoiseFloor(widest.factor, min(found.cells for found in floors))
    changes = [change(before.get(key), after.get(key), pooled) for key in dict.fromkeys([*before, *after])]
    labels = [" + ".join(file.label for file in results.files) for results in (old, new)]
    return Comparison(labels[0], labels[1], tuple(changes), pooled, tuple(warnings(old, new, floors)))


def by_key(results: Results) -> dict[Key, Cell]:
    """Cells; without the baseline's second run, and without the times of checks, of which only failures count."""
    return {(c.workload, c.process, c.step, c.system): c for c in cells(results) if not c.again}


def change(old: Cell | None, new: Cell | None, floor: NoiseFloor) -> Change:
    """What became of a cell, judged with the noise floor; None stands for a cell that is not there."""
    if old is None or new is None:
        return Change("vanished" if new is None else "appeared", old, new)
    if not new.ranks:
        return Change("broke" if old.ranks else "failing", old, new)
    if not old.ranks:
        return Change("mended", old, new)
    if new.process == "check":
        return Change("equal", old, new)
    found = ratio(new.wall, old.wall)
    said: Verdict = verdict(found.value, found.interval, floor.factor)
    return Change(said, old, new, found)


def warnings(old: Results, new: Results, floors: tuple[NoiseFloor, NoiseFloor]) -> list[str]:
    """What differs besides the times, in lines for the reader."""
    one, other = old.files[0].document, new.files[0].document
    found = differences("machine", one["machine"], other["machine"])
    found += differences("setting", one["settings"], other["settings"])
    for name in one["systems"].keys() & other["systems"].keys():
        a, b = one["systems"][name], other["systems"][name]
        found += differences(f"version of {name}:", a.get("versions") or {}, b.get("versions") or {})
        found += differences(f"{name}:", {"python": a.get("python")}, {"python": b.get("python")})
    for name in sorted(one["workloads"].keys() & other["workloads"].keys()):
        if one["workloads"][name] != other["workloads"][name]:
            found.append(f"workload {name} is not defined alike")
    for results, measured in zip((old, new), floors, strict=True):
        if not measured.cells:
            found.append(f"{results.files[0].label}: no noise floor: no baseline ran twice")
        if any(file.document.get("finished") is None for file in results.files):
            found.append(f"{results.files[0].label}: the run did not finish")
    return found


def differences(what: str, one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The keys in which two mappings differ, in words."""
    keys = [key for key in dict.fromkeys([*one, *other]) if key not in SILENT]
    told = {key: tuple("nothing" if v is None else v for v in (one.get(key), other.get(key))) for key in keys}
    return [f"{what} {key}: {a}, then {b}" for key, (a, b) in told.items() if a != b]


def show(comparison: Comparison, console: Console, *, everything: bool = False) -> None:
    """Print what changed (`everything`: what did not, too)."""
    for line in comparison.warnings:
        console.print(Text(f"warning: {line}", style="yellow"))
    shown = list(comparison.changes) if everything else comparison.changed
    for workload in dict.fromkeys(change.cell.workload for change in shown):
        own = [change for change in shown if change.cell.workload == workload]
        console.print(Text(workload, style="bold"))
        heads = [texts_of("step", own), texts_of("system", own)]
        rest = [texts_of(title, own) for title in ("old", "new", "new / old", "verdict")]
        # On a narrow terminal the figures go below, with the step and the system again.
        for part in cut(rest, console.width - sum(column.width for column in heads)):
            console.print(table([*heads, *part]))
    console.print(Text(summary(comparison)))


def texts_of(title: str, changes: list[Change]) -> Column:
    """A column of the table of changes."""
    styles = {"slower": "red", "broke": "bold red", "faster": "green", "mended": "green"}
    return Column(title, [Text(text(title, change), style=styles.get(change.kind, "")) for change in changes])


def text(title: str, change: Change) -> str:
    """A change under a heading of the table."""
    if title in ("step", "system"):
        return str(getattr(change.cell, title))
    if title == "verdict":
        return change.kind
    if title == "new / old":
        if change.ratio is None or change.ratio.interval is None:
            return "" if change.ratio is None else f"{change.ratio.value:.2f}"
        return f"{change.ratio.value:.2f} [{change.ratio.interval.low:.2f}, {change.ratio.interval.high:.2f}]"
    cell = change.old if title == "old" else change.new
    if cell is None:
        return "-"
    if not cell.ranks or cell.median is None:
        return cell.status if cell.status != "ok" else f"{cell.checked} (check)"
    return f"{time_text(cell.median)} {spread(cell):>4}"


def summary(comparison: Comparison) -> str:
    """How many changes of each kind there are, in a line."""
    kinds: tuple[Kind, ...] = (
        "slower",
        "faster",
        "broke",
        "mended",
        "appeared",
        "vanished",
        "equal",
        "failing",
    )
    counts = [f"{len(found)} {kind}" for kind in kinds if (found := comparison.of(kind))]
    return f"{comparison.old}, then {comparison.new}: {', '.join(counts)}\nnoise floor: {comparison.floor}"
