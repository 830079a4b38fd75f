"""What a tuning run found: rows of measured layouts, the best of them, the Pareto front, and files of it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal

from tessarray.tuner.errors import LayoutFileError
from tessarray.tuner.layout import Layout

__all__ = [
    "FORMAT",
    "CodecFigures",
    "Estimate",
    "Row",
    "Rows",
    "TuneResult",
    "WorkerFigures",
    "read_layout_file",
]

FORMAT = "tessarray-layout/1"
Objective = Literal["read", "size", "write", "balanced"]


@dataclass(frozen=True)
class Estimate:
    """A figure with its 95 % interval; `measured` is False if the model gave it."""

    value: float
    low: float
    high: float
    measured: bool = True

    @classmethod
    def predicted(cls, value: float) -> Estimate:
        """A figure of the model's, with the error that the model has at a median: 30 %."""
        return cls(value, value * 0.7, value * 1.3, False)


@dataclass(frozen=True)
class Row:
    """One layout and what it costs.

    label: what it is ("proposal", "current", "zarr-python auto", ... or "candidate"). queries: seconds of one
    selection, by class. read: seconds of one access, the weighted mean over classes. write: bytes of values a second.
    stored: bytes of the whole array, estimated from what was encoded. requests and fetched: of one selection, by
    class; fetched in bytes. memory: peak bytes above input or output, by the formula.
    """

    label: str
    layout: Layout
    queries: Mapping[str, Estimate]
    read: Estimate
    write: Estimate
    stored: int
    files: int
    requests: Mapping[str, float]
    fetched: Mapping[str, float]
    memory: int


class Rows(tuple[Row, ...]):
    """Rows that print as a table. `records()` gives plain dictionaries, as `pandas.DataFrame` takes them."""

    def records(self) -> list[dict[str, Any]]:
        """A flat dictionary a row: seconds by class, bytes, files."""
        return [
            {
                "label": row.label,
                "layout": row.layout.text(),
                "read_s": row.read.value,
                **{f"{name}_s": one.value for name, one in row.queries.items()},
                "write_B_per_s": row.write.value,
                "stored_B": row.stored,
                "files": row.files,
                "memory_B": row.memory,
                "measured": row.read.measured,
            }
            for row in self
        ]

    def __repr__(self) -> str:
        lines = [
            f"{row.label:<18} {row.layout.text():<60} {row.read.value * 1e3:>10.3g} ms  {row.stored / 1e6:>10.4g} MB  "
            f"{row.write.value / 1e6:>8.3g} MB/s  {row.files:>8,} files"
            for row in self
        ]
        return "\n".join(lines)


@dataclass(frozen=True)
class CodecFigures:
    """One codec on real blocks of the array: bytes of values a second, on one thread; ratio is raw over stored."""

    codec: str
    ratio: float
    encode: float
    decode: float


@dataclass(frozen=True)
class WorkerFigures:
    """One number of workers: seconds of the weighted access, the speed-up over one worker, and that over workers."""

    workers: int
    seconds: float
    speedup: float
    efficiency: float


@dataclass(frozen=True)
class TuneResult:
    """What a run of `tessarray.tune` found. `rows[0]` is the proposal."""

    source: str
    variable: str
    shape: tuple[int, ...]
    dtype: str
    dims: tuple[str, ...] | None
    objective: Objective
    rows: tuple[Row, ...]
    why: tuple[str, ...]
    workers: int
    request: Mapping[str, Any]  # the arguments, so that `rerun` can repeat them
    seconds: float
    codecs: tuple[CodecFigures, ...] = ()
    scaling: tuple[WorkerFigures, ...] = ()
    calibration: Mapping[str, Any] = field(default_factory=dict)
    searched: int = 0
    predictions: tuple[Mapping[str, Any], ...] = ()
    interrupted: bool = False
    notes: tuple[str, ...] = ()

    @property
    def best(self) -> Row:
        """The proposal."""
        return self.rows[0]

    @property
    def front(self) -> Rows:
        """The measured rows that no other beats in reading, writing and size at once, by time of reading."""
        measured = [row for row in self.rows if row.read.measured]
        kept = [row for row in measured if not any(_beats(other, row) for other in measured)]
        return Rows(sorted(kept, key=lambda row: row.read.value))

    def row(self, label: str) -> Row | None:
        """The row of a label, if there is one."""
        return next((row for row in self.rows if row.label == label), None)

    def document(self) -> dict[str, Any]:
        """What `save` writes: the layout, its exact Zarr metadata, what was asked, and what was measured."""
        own = {one.name: getattr(self, one.name) for one in fields(self)}
        own |= {name: [asdict(one) for one in own[name]] for name in ("rows", "codecs", "scaling")}
        document = {
            "format": FORMAT,
            "layout": self.best.layout.document(),
            "zarr": self.best.layout.metadata(self.shape, self.dtype, dimension_names=self.dims),
            **own,
        }
        # What JSON makes of it: lists for tuples, numbers for NumPy's.
        return dict(json.loads(json.dumps(document, default=_plain)))

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write `layout.json`: what `convert --layout`, `tune rerun` and `TuneResult.load` read."""
        target = Path(path)
        partial = target.with_name(target.name + ".partial")
        partial.write_text(json.dumps(self.document(), indent=1) + "\n", encoding="utf-8")
        partial.replace(target)
        return target

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> TuneResult:
        """Read what `save` wrote. Raises `LayoutFileError`."""
        return from_document(read_layout_file(path))

    def apply(self, dst: str | os.PathLike[str], src: Any = None, **convert: Any) -> Any:
        """Write the source into `dst` in the proposed layout; the arguments are those of `tessarray.convert`."""
        from tessarray.tuner.applying import apply

        return apply(self, dst, src, **convert)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Any:
        """The Pareto chart as a matplotlib figure, written to `path` if one is given."""
        from tessarray.tuner.plotting import pareto

        return pareto(self, path)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Write one self-contained HTML page."""
        from tessarray.tuner.report import write

        return write(self, path)


def _beats(one: Row, other: Row) -> bool:
    ours = (one.read.value, -one.write.value, one.stored)
    theirs = (other.read.value, -other.write.value, other.stored)
    return ours != theirs and all(a <= b for a, b in zip(ours, theirs, strict=True))


def _plain(value: Any) -> Any:
    return value.item() if hasattr(value, "item") else str(value)


def read_layout_file(path: str | os.PathLike[str]) -> dict[str, Any]:
    """A `layout.json` as it stands. Raises `LayoutFileError` if it is none."""
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LayoutFileError(f"{path}: no such file; `tessarray tune SRC --out {path}` writes one") from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise LayoutFileError(
            f"{path}: expected a layout file (JSON), found something else: {error}"
        ) from error
    found = document.get("format") if isinstance(document, dict) else None
    if found != FORMAT:
        raise LayoutFileError(f"{path}: expected a layout file of format '{FORMAT}', found {found!r}")
    return dict(document)


def from_document(document: Mapping[str, Any]) -> TuneResult:
    """A result from what `TuneResult.document` gave. Raises `LayoutFileError`."""
    try:
        found = {one.name: document[one.name] for one in fields(TuneResult)}
        for name in ("shape", "dims", "why", "predictions", "notes"):
            found[name] = None if found[name] is None else tuple(found[name])
        found["rows"] = tuple(_row(one) for one in found["rows"])
        found["codecs"] = tuple(CodecFigures(**one) for one in found["codecs"])
        found["scaling"] = tuple(WorkerFigures(**one) for one in found["scaling"])
        return TuneResult(**found)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise LayoutFileError(
            f"layout file: expected what `tessarray tune` writes, found no {error}"
        ) from error


def _row(one: Mapping[str, Any]) -> Row:
    known = {field.name for field in fields(Row)}
    given: dict[str, Any] = {name: value for name, value in one.items() if name in known}
    given["layout"] = Layout.from_document(given["layout"])
    given["queries"] = {name: Estimate(**value) for name, value in given["queries"].items()}
    given["read"], given["write"] = Estimate(**given["read"]), Estimate(**given["write"])
    return Row(**given)


def summed(figures: Sequence[tuple[float, Estimate]]) -> Estimate:
    """The weighted mean of estimates; their errors are taken to be independent."""
    value = sum(weight * one.value for weight, one in figures)
    below = sum((weight * (one.value - one.low)) ** 2 for weight, one in figures) ** 0.5
    above = sum((weight * (one.high - one.value)) ** 2 for weight, one in figures) ** 0.5
    return Estimate(value, max(value - below, 0.0), value + above, all(one.measured for _, one in figures))
