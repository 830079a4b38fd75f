"""The chart of each study, drawn from its tables with matplotlib (an optional package)."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from tessarray.errors import MissingPackageError
from tessarray.tuner.errors import TuneError
from tessarray.tuner.plotting import STYLE
from tessarray.tuner.result import Estimate
from tessarray.tuner.studies.model import Cell, Study
from tessarray.tuner.wording import unit_of

__all__ = ["KINDS", "check_path", "draw"]

KINDS = (".png", ".svg", ".pdf")
COLOURS = ("#1f6f8b", "#d1752b", "#5b8c3a", "#8a5fa8", "#b23a48", "#777777")


def draw(study: Study, path: str | os.PathLike[str] | None = None) -> Any:
    """A matplotlib figure of a study, written to `path` (.png, .svg or .pdf) where one is given.

    Raises `MissingPackageError` without matplotlib, `TuneError` for an ending that is no kind of picture.
    """
    if path is not None:
        check_path(path)
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingPackageError("plots need matplotlib: pip install matplotlib") from error
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 4.4), layout="constrained")
        DRAWN[study.name](figure, study)
        if path is not None:
            figure.savefig(Path(path), dpi=160)
    return figure


def check_path(path: str | os.PathLike[str]) -> None:
    """Raises `TuneError` for a path that no chart can be written to, before anything is measured."""
    target = Path(path)
    if target.suffix.lower() not in KINDS:
        raise TuneError(f"plot: expected a name that ends in {', '.join(KINDS)}, found '{path}'")
    if not target.absolute().parent.is_dir():
        raise TuneError(f"plot: no such folder: {target.parent}")


def _value(cell: Cell) -> float:
    return cell.value if isinstance(cell, Estimate) else float(cell or 0)


def _whiskers(cells: Sequence[Cell], factor: float) -> list[list[float]]:
    found = [cell for cell in cells if isinstance(cell, Estimate)]
    return [
        [max(one.value - one.low, 0) / factor for one in found],
        [max(one.high - one.value, 0) / factor for one in found],
    ]


def _chunks(figure: Any, study: Study) -> None:
    """Time of one query class against another's: the two that layouts disagree most on."""
    panel = figure.add_subplot()
    times: dict[str, dict[str, Cell]] = {}
    for row in study.tables[1].records():
        times.setdefault(str(row["query"]), {})[str(row["layout"])] = row["measured"]
    names = list(times)
    labels = [str(label) for label in study.tables[0].column("layout")]
    first, second = names[0], names[-1]
    if len(names) > 2:
        pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
        first, second = max(pairs, key=lambda pair: _spread(times[pair[0]], times[pair[1]], labels))
    for label in labels:
        x, y = times[first][label], times[second][label]
        measured = all(isinstance(one, Estimate) and one.measured for one in (x, y))
        colour = COLOURS[1] if label in ("current", "as in the file") else COLOURS[0]
        panel.plot(
            _value(x) * 1e3,
            _value(y) * 1e3,
            "o",
            color=colour,
            markerfacecolor=colour if measured else "none",
        )
        panel.annotate(
            label, (_value(x) * 1e3, _value(y) * 1e3), xytext=(4, 4), textcoords="offset points", fontsize=7
        )
    panel.set(xscale="log", yscale="log", xlabel=f"{first}, ms", ylabel=f"{second}, ms")
    panel.set_title("Chunk shapes: what is good for one query costs another")


def _spread(one: dict[str, Cell], other: dict[str, Cell], labels: Sequence[str]) -> float:
    """How much layouts disagree on two queries: the range of the ratio of times."""
    ratios = [_value(one[label]) / max(_value(other[label]), 1e-12) for label in labels]
    return max(ratios) / max(min(ratios), 1e-12)


def _codecs(figure: Any, study: Study) -> None:
    for at, way in enumerate(("decode", "encode")):
        panel = figure.add_subplot(1, 2, at + 1)
        for row in study.tables[0].records():
            ratio, speed = row["ratio"], row[way]
            colour = COLOURS[1] if row["front"] else COLOURS[5]
            panel.errorbar(
                _value(ratio), _value(speed) / 1e6, xerr=_whiskers([ratio], 1), yerr=_whiskers([speed], 1e6),
                fmt="o", ms=4, color=colour, elinewidth=0.7,
            )  # fmt: skip
            if row["front"]:
                at_point = (_value(ratio), _value(speed) / 1e6)
                panel.annotate(
                    str(row["codec"]), at_point, xytext=(3, 3), textcoords="offset points", fontsize=6
                )
        panel.set(
            yscale="log", xlabel="ratio", ylabel=f"{way}, MB/s a thread", title=f"{way}: orange is not beaten"
        )


def _workers(figure: Any, study: Study) -> None:
    panel = figure.add_subplot(1, 2, 1)
    rows = study.tables[0].records()
    for colour, work in zip(COLOURS, dict.fromkeys(str(row["work"]) for row in rows), strict=False):
        mine = [row for row in rows if row["work"] == work]
        counts = [_value(row["workers"]) for row in mine]
        cells = [row["speed-up"] for row in mine]
        panel.errorbar(
            counts, list(map(_value, cells)), yerr=_whiskers(cells, 1), fmt="o-", color=colour, label=work
        )
    panel.plot(counts, counts, ":", color=COLOURS[5], label="ideal")
    panel.set(xlabel="workers", ylabel="speed-up", title="More workers", xticks=counts)
    panel.legend(frameon=False)
    sizes = study.tables[1].records()
    if not sizes:
        return
    panel = figure.add_subplot(1, 2, 2)
    for colour, name in zip(COLOURS, ("one worker", "all workers"), strict=False):
        cells = [row[name] for row in sizes]
        panel.errorbar(
            [_value(row["selection"]) / 1e6 for row in sizes], [_value(cell) * 1e3 for cell in cells],
            yerr=_whiskers(cells, 1e-3), fmt="o-", color=colour, label=name,
        )  # fmt: skip
    panel.set(xscale="log", yscale="log", xlabel="values read, MB", ylabel="ms", title="One or all, by size")
    panel.legend(frameon=False)


def _memory(figure: Any, study: Study) -> None:
    rows = study.tables[0].records()
    works = list(dict.fromkeys(str(row["work"]) for row in rows))
    for at, work in enumerate(works):
        panel = figure.add_subplot(1, len(works), at + 1)
        for colour, cut in zip(COLOURS * 3, dict.fromkeys(str(row["chunks"]) for row in rows), strict=False):
            mine = [row for row in rows if row["work"] == work and row["chunks"] == cut]
            counts = [_value(row["workers"]) for row in mine]
            panel.plot(counts, [_value(row["peak"]) / 1e6 for row in mine], "o", color=colour, label=cut)
            panel.plot(counts, [_value(row["formula"]) / 1e6 for row in mine], "-", color=colour, lw=0.8)
        panel.set(
            xlabel="workers",
            ylabel="MB above the values" if at == 0 else "",
            title=work,
            yscale="log",
            xticks=counts,
        )
        if at == 0:
            panel.legend(frameon=False, fontsize=6)
    figure.suptitle("Peak memory: measured (dots) and by the formula (lines)")


def _bars(
    figure: Any, labels: Sequence[str], parts: Mapping[str, Sequence[float]], xlabel: str, title: str
) -> None:
    panel = figure.add_subplot()
    left = [0.0] * len(labels)
    for colour, (name, values) in zip(COLOURS, parts.items(), strict=False):
        panel.barh(labels, values, left=left, color=colour, label=name)
        left = [a + b for a, b in zip(left, values, strict=True)]
    panel.invert_yaxis()
    panel.set(xlabel=xlabel, title=title)
    panel.legend(frameon=False)


def _cost(figure: Any, study: Study) -> None:
    table = study.tables[0]
    names = {"storage": "storage", "requests cost": "requests", "transfer": "transfer"}
    parts = {words: [_value(cell) for cell in table.column(name)] for name, words in names.items()}
    unit = str(study.facts.get("currency", ""))
    _bars(figure, [str(cell) for cell in table.column("layout")], parts, f"{unit} a month", table.title)


def _where(figure: Any, study: Study) -> None:
    table = study.tables[0]
    times = [_value(cell) for cell in table.column("time")]
    factor, unit = unit_of("seconds", max(times))
    parts = {
        stage: [_value(cell) * time / factor for cell, time in zip(table.column(stage), times, strict=True)]
        for stage in ("I/O", "decoding", "assembly", "the rest")
    }
    _bars(figure, [str(cell) for cell in table.column("query")], parts, f"{unit} of a warm read", study.title)


DRAWN: dict[str, Callable[[Any, Study], None]] = {
    "chunks": _chunks, "codecs": _codecs, "workers": _workers, "memory": _memory, "cost": _cost, "where": _where,
}  # fmt: skip
