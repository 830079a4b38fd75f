"""Results on the terminal: a table for each suite, the fastest marked, and those that cannot be told from it as well.

Few systems are columns, with workloads and steps as rows; many are rows, with a table for each workload and the steps
as columns. What is too wide even so goes on below: no column is ever cut.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from tessarray.display.units import byte_text, time_text
from tessarray_bench.grid import Grid, Line, grids
from tessarray_bench.results import Cell, Results

SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
SIGN = {"fastest": "*", "equal": "=", "": " "}
STYLE = {"fastest": "bold green", "equal": "green", "": ""}


def show(results: Results, console: Console) -> None:
    """Print everything."""
    several = len(results.groups) > 1
    for grid in grids(results):
        title = f"{grid.suite} ({grid.file})" if several else grid.suite
        console.print(Text(title, style="bold underline"))
        console.print(suite_table(results, grid, console.width))


def suite_table(results: Results, grid: Grid, width: int = 100) -> RenderableType:
    """One suite: its tables, what the signs in them mean, footnotes, and the geometric means of the ratios."""
    notes = Notes()
    systems = [results.title(system) for system in grid.systems]
    rows = [row for workload in grid.workloads() for row in rows_of(grid, workload, notes)]
    by_system = columns(systems, [[row.cells[i] for row in rows] for i in range(len(systems))])
    short = [row.workload.removeprefix(f"{grid.suite}/") for row in rows]
    heads = [
        columns(["workload"], [unrepeated(short)])[0],
        columns(["step"], [[Text(r.label) for r in rows]])[0],
    ]
    parts: list[RenderableType] = []
    if fits(heads + by_system, width):
        parts.append(
            table(heads + by_system, sections=[i for i, name in enumerate(short[1:]) if name != short[i]])
        )
    else:
        names = Column("system", [Text(title) for title in systems])
        for workload in grid.workloads():
            own = [row for row in rows if row.workload == workload]
            parts.append(Text(workload, style="bold"))
            steps = columns([row.label for row in own], [row.cells for row in own])
            parts += [table([names, *part]) for part in cut(steps, width - names.width)]
    parts.append(legend(grid, results, notes))
    parts.append(means(grid, results))
    return Group(*parts)


class Column:
    """A heading and its texts; `width` is what it takes with the gap beside it."""

    def __init__(self, title: str, texts: Sequence[Text]) -> None:
        self.title = title
        self.texts = list(texts)
        self.width = max(len(title), *(text.cell_len for text in texts), 1) + 2


class Row:
    """A line of a table: its workload, its label, a text a system."""

    def __init__(self, workload: str, label: str, cells: list[Text]) -> None:
        self.workload = workload
        self.label = label
        self.cells = cells


class Notes:
    """Footnotes, each text once."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}

    def sign(self, *texts: str) -> str:
        """The numbers of notes, as superscripts; a text that is new gets the next."""
        numbers = [self.numbers.setdefault(text, len(self.numbers) + 1) for text in texts if text]
        return "⁺".join(str(number).translate(SUPERSCRIPT) for number in numbers)


def rows_of(grid: Grid, workload: str, notes: Notes) -> list[Row]:
    """The lines of a workload: times, and what else a step has to say."""
    rows: list[Row] = []
    for line in (line for line in grid.lines if line.workload == workload):
        marks = grid.marks(line)
        texts = [text_of(grid, line, system, marks.get(system, ""), notes) for system in grid.systems]
        rows.append(Row(workload, line.step, texts))
        found = [grid.cell(line, system) for system in grid.systems]
        for label, values in further(line, found, grid.suite):
            rows.append(Row(workload, label, [Text(f"{value} ", style="dim") for value in values]))
    return rows


def further(line: Line, found: Sequence[Cell | None], suite: str) -> list[tuple[str, list[str]]]:
    """What else belongs beside the time: the tails of appends, what was dropped, requests, sizes, memory."""
    cells = [cell if cell is not None and cell.n else None for cell in found]
    figures: list[tuple[str, list[str | None]]] = []
    if line.process == "append":
        for name, label in (("p50", "p50"), ("p99", "p99"), ("p999", "p99.9")):
            figures.append(
                (label, [time_text(c.latency[name]) if c and name in c.latency else None for c in cells])
            )
    for name in ("dropped", "requests"):
        figures.append((name, [f"{c.extra[name]:g}" if c and name in c.extra else None for c in cells]))
    if line.step in ("write", "append"):
        figures.append(("stored", [byte_text(c.stored) if c and c.stored else None for c in cells]))
    if suite == "memory":
        figures.append(("peak", [byte_text(c.peak) if c and c.peak else None for c in cells]))
    return [(f"  {label}", [value or "" for value in values]) for label, values in figures if any(values)]


def text_of(grid: Grid, line: Line, system: str, mark: str, notes: Notes) -> Text:
    """A cell in words and colours, or the word for why there is none."""
    failure = grid.failure(line, system)
    if failure is not None:
        word = failure.word.split()[0]
        return Text(
            failure.word + notes.sign(f"{word}: {failure.reason}" if failure.reason else ""), style="red"
        )
    cell = grid.cell(line, system)
    if cell is None or cell.median is None:
        return Text("")
    note = notes.sign("layout: " + "; ".join(cell.differs) if cell.differs else "")
    about = "~" if cell.extra.get("sampled") else ""
    return Text(f"{note}{about}{time_text(cell.median)} {spread(cell):>4}{SIGN[mark]}", style=STYLE[mark])


def columns(titles: Sequence[str], texts: Sequence[Sequence[Text]]) -> list[Column]:
    """Columns of titles and texts."""
    return [Column(title, held) for title, held in zip(titles, texts, strict=True)]


def unrepeated(names: Sequence[str]) -> list[Text]:
    """Names, blank when they repeat the one above."""
    return [Text("" if i and names[i - 1] == name else name) for i, name in enumerate(names)]


def fits(given: Sequence[Column], width: int) -> bool:
    """Whether columns fit side by side."""
    return sum(column.width for column in given) + 2 <= width


def cut(given: Sequence[Column], width: int) -> list[list[Column]]:
    """As many columns side by side as fit, the others below."""
    parts: list[list[Column]] = [[]]
    for column in given:
        if parts[-1] and not fits([*parts[-1], column], width):
            parts.append([])
        parts[-1].append(column)
    return parts


def table(given: Sequence[Column], sections: Sequence[int] = ()) -> Table:
    """A rich table of columns, with a line below the rows of `sections`."""
    found = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for column in given:
        right = column.title not in ("workload", "step", "system")
        found.add_column(
            column.title, justify="right" if right else "left", no_wrap=True, min_width=column.width - 2
        )
    for i, texts in enumerate(zip(*(column.texts for column in given), strict=True)):
        found.add_row(*texts, end_section=i in sections)
    return found


def legend(grid: Grid, results: Results, notes: Notes) -> Text:
    """What the signs of a grid's table mean, with its noise floor and its notes."""
    shown = [cell for cell in grid.cells.values() if cell.n]
    lines = ["median ± the farther end of its 95 % interval; * fastest, = equal to it within noise"]
    if not grid.judges(*shown):
        lines = ["one repeat and no noise floor: differences cannot be judged; * fastest this time"]
    lines.append(f"noise floor: {grid.floor}")
    if any(cell.extra.get("sampled") for cell in shown):
        lines.append(
            "~ in proportion: only a part of the calls was made, in the time that a query class is given"
        )
    lines += [f"{str(number).translate(SUPERSCRIPT)} {text}" for text, number in notes.numbers.items()]
    for system in grid.every:
        for word, reason in sorted(grid.missing(system)):
            lines.append(
                f"{results.title(system)} {word}: {reason}" if reason else f"{results.title(system)} {word}"
            )
    return Text("\n".join(lines) + "\n")


def means(grid: Grid, results: Results) -> Text:
    """Ratios of times to the baseline: below 1 is faster. Of this suite only: there is no mean over suites."""
    found = grid.means()
    common = max((mean.cells for mean in found), default=0)
    text = Text(
        f"times over those of {results.title(grid.baseline)}, geometric mean of the {common} cells all have:\n"
    )
    wide = max((len(results.title(mean.system)) for mean in found), default=0)
    for mean in found:
        told = f"{mean.ratio:8.3g}" if mean.ratio is not None else f"left out: it has {mean.own} cells"
        text.append(f"  {results.title(mean.system):<{wide}} {told}\n")
    return text


def spread(cell: Cell) -> str:
    """How far the farther end of the median's interval is, in per cent; blank for a single repeat."""
    if cell.interval is None or not cell.median:
        return ""
    farther = max(cell.interval.high - cell.median, cell.median - cell.interval.low) / cell.median
    return f"±{farther:.0%}"
