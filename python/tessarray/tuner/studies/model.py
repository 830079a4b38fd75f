"""What every study gives: tables of figures with intervals, what they mean in a few sentences, a document, a chart."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.display import pictures
from tessarray.tuner.errors import TuneError
from tessarray.tuner.result import Estimate

__all__ = [
    "FORMAT",
    "Cell",
    "Column",
    "Study",
    "Table",
    "check_picture",
    "mean_estimate",
    "number",
    "ratio_estimate",
    "whiskers",
]

FORMAT = "tessarray-study/1"
Cell = str | int | float | bool | None | Estimate
DRAWS = 500


@dataclass(frozen=True)
class Column:
    """What stands below one another. kind: `text`, `seconds`, `bytes`, `rate` (bytes per second), `count`, `ratio`,
    `share` (of 1), `bits`, or `mark` (true or false).
    """

    name: str
    kind: str = "text"
    about: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells, one a column. A cell with an interval is an `Estimate`; `None` is nothing to say.

    brief: numbers of the rows that are shown if room is short; all if it is empty.
    """

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    brief: tuple[int, ...] = ()

    def column(self, name: str) -> tuple[Cell, ...]:
        """The cells of a column. Raises `KeyError`."""
        names = [column.name for column in self.columns]
        if name not in names:
            raise KeyError(name)
        at = names.index(name)
        return tuple(row[at] for row in self.rows)

    def records(self) -> list[dict[str, Cell]]:
        """One mapping a row, of column names to cells."""
        return [
            {column.name: cell for column, cell in zip(self.columns, row, strict=True)} for row in self.rows
        ]


@dataclass(frozen=True)
class Study:
    """What a study found. `tables[0]` is the main one; `meaning` is computed from the figures.

    name: that of the command. request: the arguments, for a repeat. seconds: what it took.
    """

    name: str
    title: str
    source: str
    variable: str
    shape: tuple[int, ...]
    dtype: str
    tables: tuple[Table, ...]
    meaning: tuple[str, ...]
    notes: tuple[str, ...] = ()
    request: Mapping[str, Any] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def columns(self) -> tuple[Column, ...]:
        """Of the main table."""
        return self.tables[0].columns

    @property
    def rows(self) -> tuple[tuple[Cell, ...], ...]:
        """Of the main table."""
        return self.tables[0].rows

    def document(self) -> dict[str, Any]:
        """Everything as JSON can hold it. A cell with an interval is `{value, low, high, measured}`."""
        return {
            "format": FORMAT,
            "study": self.name,
            "title": self.title,
            "source": self.source,
            "variable": self.variable,
            "shape": list(self.shape),
            "dtype": self.dtype,
            "tables": [
                {
                    "title": table.title,
                    "columns": [asdict(column) for column in table.columns],
                    "rows": [
                        {name: _plain(cell) for name, cell in record.items()} for record in table.records()
                    ],
                }
                for table in self.tables
            ],
            "meaning": list(self.meaning),
            "notes": list(self.notes),
            "facts": {name: _plain(value) for name, value in self.facts.items()},
            "request": {name: _plain(value) for name, value in self.request.items()},
            "seconds": self.seconds,
        }

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the document as JSON."""
        target = Path(path)
        target.write_text(json.dumps(self.document(), indent=1) + "\n", encoding="utf-8")
        return target

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """The study's chart as a matplotlib figure, written to `path` (.png, .svg, .pdf) if one is given.

        Raises `MissingPackageError` without matplotlib, `TuneError` for an ending that is no kind of picture.
        """
        from tessarray.tuner.studies.runner import KINDS

        if path is not None:
            check_picture(path)
        with pictures.style():
            figure = pictures.new_figure(8.4, 4.4)
            KINDS[self.name].draw(figure, self)
            if path is not None:
                pictures.save(figure, path)
        return figure

    def __str__(self) -> str:
        from tessarray.tuner.studies.render import as_text

        return as_text(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Estimate):
        return {name: _plain(part) for name, part in asdict(value).items()}
    if isinstance(value, Mapping):
        return {str(name): _plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(part) for part in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def mean_estimate(values: Any, seed: int = 0, median: bool = False) -> Estimate:
    """The mean (or median) of repeated figures with a 95 % bootstrap interval."""
    found = np.asarray(values, float)
    centre = np.median if median else np.mean
    value = float(centre(found))
    if len(found) < 2:
        return Estimate(value, value, value)
    picked = np.random.default_rng(seed).integers(0, len(found), (DRAWS, len(found)))
    low, high = np.percentile(centre(found[picked], axis=1), [2.5, 97.5])
    return Estimate(value, min(float(low), value), max(float(high), value))


def ratio_estimate(above: Any, below: Any, seed: int = 0) -> Estimate:
    """Sum over sum of paired figures (bytes over bytes, bytes over seconds), with a 95 % interval over the pairs."""
    over, under = np.asarray(above, float), np.asarray(below, float)
    value = float(over.sum() / max(under.sum(), 1e-12))
    if len(over) < 2:
        return Estimate(value, value, value)
    picked = np.random.default_rng(seed).integers(0, len(over), (DRAWS, len(over)))
    drawn = over[picked].sum(axis=1) / np.maximum(under[picked].sum(axis=1), 1e-12)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(value, min(float(low), value), max(float(high), value))


def number(cell: Cell) -> float:
    """What a chart shows of a cell."""
    return cell.value if isinstance(cell, Estimate) else float(cell or 0)


def whiskers(cells: Sequence[Cell]) -> list[list[float]]:
    """How far the intervals of cells reach down and up, as matplotlib takes it."""
    found = [cell for cell in cells if isinstance(cell, Estimate)]
    return [[max(one.value - one.low, 0) for one in found], [max(one.high - one.value, 0) for one in found]]


def check_picture(path: str | os.PathLike[str]) -> None:
    """Raises `TuneError` for a path that no chart can be written to: asked before anything is measured."""
    target = Path(path)
    if target.suffix.lower() not in pictures.SUFFIXES:
        raise TuneError(f"plot: expected a name that ends in {', '.join(pictures.SUFFIXES)}, found '{path}'")
    if not target.absolute().parent.is_dir():
        raise TuneError(f"plot: no such folder: {target.parent}")
