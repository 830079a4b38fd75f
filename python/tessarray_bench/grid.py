"""The cells of one suite as a grid, workload and step by system: who is fastest, what failed, means of ratios."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from tessarray_bench.results import Cell, Results, cells, floor_of, judge
from tessarray_bench.statistics import NoiseFloor, geometric_mean

Mark = Literal["fastest", "equal", ""]


class Line(NamedTuple):
    """A row of a table: a step of a process of a workload."""

    workload: str
    process: str
    step: str


class Failure(NamedTuple):
    """`word` is short, for a table: `unsupported`, `crashed 2/5`; `reason` says why, in a line."""

    word: str
    reason: str


@dataclass(frozen=True)
class Mean:
    """The geometric mean of a system's ratios to the baseline, over the `cells` cells that all have; None where this
    system has too few of them, `own`, to be asked for more than that."""

    system: str
    ratio: float | None
    cells: int
    own: int


@dataclass(frozen=True)
class Grid:
    """Cells of one suite and one file (or of several that were pooled). `check` is no line: its failures are shown
    where the system's times would be."""

    suite: str
    file: str
    baseline: str
    floor: NoiseFloor
    cells: Mapping[tuple[Line, str], Cell]

    @cached_property
    def lines(self) -> list[Line]:
        """The lines in which something was measured, those of a workload together."""
        order: dict[str, dict[Line, None]] = {}
        for line, _ in self.cells:
            if line.process != "check":
                order.setdefault(line.workload, {})[line] = None
        return [line for lines in order.values() for line in lines if self.measured(line)]

    def measured(self, line: Line) -> bool:
        """Whether a step is one that a system got done: where none did, its failures are a line only if nothing of
        the workload was measured, so that they are not lost."""
        others = [cell for own in self.of[line.workload].values() for cell in own if cell.process != "check"]
        return any(cell.n for cell in others if cell.step == line.step) or not any(cell.n for cell in others)

    @cached_property
    def of(self) -> dict[str, dict[str, list[Cell]]]:
        """Cells by workload and system."""
        found: dict[str, dict[str, list[Cell]]] = {}
        for (line, system), cell in self.cells.items():
            found.setdefault(line.workload, {}).setdefault(system, []).append(cell)
        return found

    @cached_property
    def every(self) -> list[str]:
        """All systems, in the order of the files, without the run that measures noise."""
        return list(dict.fromkeys(system for (_, system), cell in self.cells.items() if not cell.again))

    @cached_property
    def systems(self) -> list[str]:
        """Those with anything but `absent` and `unsupported` to show."""
        return [system for system in self.every if not self.missing(system)]

    def missing(self, system: str) -> set[Failure]:
        """Why a system has nothing in this suite but `absent` or `unsupported`; empty where it has something."""
        own = [cell for (_, name), cell in self.cells.items() if name == system]
        if any(set(cell.statuses) - {"absent", "unsupported"} for cell in own):
            return set()
        return {Failure(cell.status, reason) for cell in own for reason in cell.reasons or ("",)}

    def workloads(self) -> list[str]:
        """The workloads, in the order of the lines."""
        return list(dict.fromkeys(line.workload for line in self.lines))

    def cell(self, line: Line, system: str) -> Cell | None:
        """The cell of a system in a line; None if the file has none."""
        return self.cells.get((line, system))

    def failure(self, line: Line, system: str) -> Failure | None:
        """What is shown in place of a time; None where the cell ranks, or nobody knows of it."""
        cell = self.cell(line, system)
        if cell is not None and cell.ranks:
            return None
        own = self.of[line.workload].get(system, [])
        if cell is not None and cell.status != "ok":
            return told(cell, "")
        if cell is not None and cell.untrue:
            checks = [c for c in own if c.process == "check"]
            return told(checks[0], "an independent reader: ") if checks else Failure("wrong", "")
        earlier = [c for c in own if c.status != "ok"]
        return told(earlier[0], f"{earlier[0].step}: ") if earlier else None

    def marks(self, line: Line) -> dict[str, Mark]:
        """The fastest of those that rank, and the ones that cannot be told from it."""
        found = [cell for s in self.systems if (cell := self.cell(line, s)) is not None and cell.ranks]
        if not found:
            return {}
        best = min(found, key=lambda cell: cell.median or 0.0)
        marks: dict[str, Mark] = {}
        for cell in found:
            judged = judge(cell, best, self.floor) if self.judges(cell, best) else None
            equal = judged is not None and judged[1] == "equal"
            marks[cell.system] = "fastest" if cell is best else "equal" if equal else ""
        return marks

    def judges(self, *given: Cell) -> bool:
        """Whether differences can be told from noise at all: there is a noise floor, or all of these were repeated."""
        return self.floor.cells > 0 or all(cell.n > 1 for cell in given)

    def means(self) -> list[Mean]:
        """Over the cells that all have: all that have at least half as many as the baseline, the others apart."""
        have: dict[str, dict[Line, float]] = {}
        for s in self.systems:
            own = [(line, self.cell(line, s)) for line in self.lines]
            have[s] = {line: cell.ratio.value for line, cell in own if cell and cell.ranks and cell.ratio}
        wanted = len(have.get(self.baseline, ())) / 2
        asked = [s for s in self.systems if have[s] and len(have[s]) >= wanted]
        common = [line for line in self.lines if asked and all(line in have[s] for s in asked)]
        return [
            Mean(
                s,
                geometric_mean([have[s][line] for line in common]) if s in asked and common else None,
                len(common),
                len(have[s]),
            )
            for s in self.systems
        ]


def told(cell: Cell, where: str) -> Failure:
    """A failed cell in words; `where` begins the reason."""
    failed, repeats = cell.statuses.get(cell.status, 0), sum(cell.statuses.values())
    word = cell.status if failed == repeats else f"{cell.status} {failed}/{repeats}"
    return Failure(word, where + "; ".join(cell.reasons))


def grids(results: Results) -> list[Grid]:
    """A grid for each file (pooled ones count as one) and suite."""
    found: dict[tuple[str, str], dict[tuple[Line, str], Cell]] = {}
    held = cells(results)
    for cell in held:
        line = Line(cell.workload, cell.process, cell.step)
        found.setdefault((cell.file, cell.suite), {})[line, cell.system] = cell
    groups = {" + ".join(file.label for file in group): group for group in results.groups}
    floors = {label: floor_of(c for c in held if c.file == label) for label in groups}
    baselines = {label: str(group[0].settings["baseline"]) for label, group in groups.items()}
    return [Grid(suite, file, baselines[file], floors[file], own) for (file, suite), own in found.items()]
