"""What is asked of the tuner, as values that the call and the command both make: how the array is read (`Access`), what
a proposal keeps to (`Limits`), and what tuning may cost (`Budget`).

The options of the command are made of their fields, by name (`tessarray.cli.tune_options`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypedDict

import tessarray
from tessarray.conversion.size import parse_size
from tessarray.tuner import probe
from tessarray.tuner.constraints import Constraints
from tessarray.tuner.errors import AccessError, ConstraintError
from tessarray.tuner.events import Clock
from tessarray.tuner.lossy import lossy_filters
from tessarray.tuner.objectives import check_objective
from tessarray.tuner.queries import QueryClass, parse_queries, rescaled
from tessarray.tuner.source import Subject
from tessarray.tuner.target import Target, parse_store, seconds_of

__all__ = ["Access", "Budget", "Limits", "Options", "Queries", "Request"]

Queries = Mapping[str, Any] | Sequence[str] | None
Place = str | os.PathLike[str]


class Options(TypedDict, total=False):
    """The keywords of `tessarray.tune` that are fields of the values here."""

    log: Place | None
    max_files: int
    max_shard: int | str
    max_size: int | str | None
    append_axis: int | str | None
    append_length: int | None
    readers: Sequence[str] | str
    memory: int | str
    lossy: str | float | None
    budget: float | str
    store: str
    scratch: Place | None
    threads: int | None
    seed: int


@dataclass(frozen=True)
class Access:
    """How an array is read: query classes (`tessarray.tuner.queries`), or a log of `tessarray.record`."""

    queries: Queries = None
    log: Place | None = None

    def classes(self, subject: Subject) -> tuple[tuple[QueryClass, ...], tuple[str, ...]]:
        """The query classes, and what a log had that is not in them. Raises `AccessError` if there are none."""
        if self.log is not None and self.queries:
            raise AccessError("access: expected query classes or a log, found both")
        dims = subject.spec.dims
        if self.log is not None:
            from tessarray.tuner.log import queries_from_log

            logged = queries_from_log(self.log, subject.shape, subject.variable, dims=dims)
            return rescaled(logged.classes), tuple(logged.notes)
        if not self.queries:
            raise AccessError(
                "access: say how the array is read, such as 'map: [t, :, :] x 0.5' and 'series: [:, y, x] x 0.5', or "
                "give a log that tessarray.record wrote"
            )
        return parse_queries(self.queries, subject.shape, dims), ()


@dataclass(frozen=True)
class Limits:
    """What every proposal keeps to, as it is given: sizes as bytes or texts, an axis by number or name."""

    max_files: int = 10_000
    max_shard: int | str = "256MB"
    max_size: int | str | None = "1.1x"
    append_axis: int | str | None = None
    append_length: int | None = None
    readers: Sequence[str] | str = ",".join(probe.DEFAULT_READERS)
    memory: int | str = "4GB"
    lossy: str | float | None = None

    def names(self) -> tuple[str, ...]:
        """The readers. Raises `ConstraintError` for one that is not known."""
        given = self.readers.split(",") if isinstance(self.readers, str) else self.readers
        found = tuple(name.strip() for name in given if name.strip())
        probe.readable((), found)
        return found

    def of(self, subject: Subject, workers: int) -> Constraints:
        """The limits in bytes and numbers for one array. Raises `ConstraintError` for those that contradict it."""
        axis, length = self._growth(subject)
        factor, stored = self._stored()
        tolerance, filters = lossy_filters(self.lossy, subject.dtype)
        found = Constraints(
            self.max_files, parse_size(self.max_shard), parse_size(self.memory), axis, length, readers=self.names(),
            size_factor=factor, most_stored=stored, tolerance=tolerance, filters=filters,
        )  # fmt: skip
        found.check(subject.shape, subject.itemsize, workers)
        return found

    def _growth(self, subject: Subject) -> tuple[int | None, int | None]:
        """The axis that grows and by how much; "time:16" says both."""
        length = self.append_length
        if self.append_axis is None:
            return None, length
        name, colon, text = str(self.append_axis).partition(":")
        axis = _axis(name.strip(), subject)
        if length is None and colon:
            if not text.isdecimal() or int(text) < 1:
                raise ConstraintError(
                    f"append-axis: expected AXIS or AXIS:LENGTH, found '{self.append_axis}'"
                )
            length = int(text)
        if length is not None and length < 1:
            raise ConstraintError(f"append-length: expected 1 or more, found {length}")
        return axis, length

    def _stored(self) -> tuple[float | None, float | None]:
        """The most that the whole array may take: as a factor on what there is, or in bytes."""
        given = self.max_size
        if given is None or given == "none":
            return None, None
        if isinstance(given, str) and given.rstrip().endswith("x"):
            try:
                factor = float(given.rstrip()[:-1])
            except ValueError:
                factor = math.nan
            if not factor > 0:
                raise ConstraintError(
                    f"max-size: expected a factor such as 1.1x, a size such as 2GB, or none, found '{given}'"
                )
            return factor, None
        return None, float(parse_size(given))


def _axis(name: str, subject: Subject) -> int:
    dims, dimensions = subject.spec.dims or (), len(subject.shape)
    if name in dims:
        return dims.index(name)
    if not name.lstrip("-").isdecimal():
        known = f"{', '.join(dims)}, or " if dims else ""
        raise ConstraintError(
            f"append-axis: unknown dimension '{name}'; expected {known}0 to {dimensions - 1}"
        )
    if not -dimensions <= int(name) < dimensions:
        raise ConstraintError(f"append-axis: the array has {dimensions} dimensions, found axis {int(name)}")
    return int(name) % dimensions


@dataclass(frozen=True)
class Budget:
    """What tuning, or a study, may cost: seconds for everything, the store it measures on, the workers it uses."""

    budget: float | str = "60s"
    store: str = "local"
    scratch: Place | None = None
    threads: int | None = None
    seed: int = 0

    def clock(self) -> Clock:
        """A clock that has begun. Raises `ConstraintError` for what is no time."""
        return Clock(seconds_of(self.budget, "budget"))

    def target(self) -> Target:
        """The store. Raises `ConstraintError` for one that is not known, and for a folder that is not there."""
        folder = None if self.scratch is None else os.fspath(self.scratch)
        if folder is not None and not Path(folder).is_dir():
            raise ConstraintError(f"scratch: expected a folder, found '{folder}'")
        return parse_store(self.store, folder)

    def workers(self) -> int:
        """How many. Raises `ConstraintError` for fewer than 1."""
        if self.threads is not None and self.threads < 1:
            raise ConstraintError(f"threads: expected 1 or more, found {self.threads}")
        return self.threads or tessarray.default_session().threads


@dataclass(frozen=True)
class Request:
    """All of a question. `document` is what a result keeps of it, for `rerun`."""

    access: Access
    limits: Limits
    budget: Budget
    objective: str = "read"
    variable: str | None = None

    @classmethod
    def of(
        cls, queries: Queries, objective: str, variable: str | None, options: Mapping[str, Any]
    ) -> Request:
        """From the keywords of a call. Raises `TypeError` for one that is not known, `ConstraintError` for a wrong
        objective.
        """
        check_objective(objective)
        parts: dict[type, set[str]] = {
            kind: {one.name for one in fields(kind)} for kind in (Access, Limits, Budget)
        }
        known = set().union(*parts.values()) - {"queries"}
        if unknown := sorted(set(options) - known):
            raise TypeError(
                f"tune: unknown argument '{unknown[0]}'; expected some of {', '.join(sorted(known))}"
            )

        def given(kind: type) -> dict[str, Any]:
            return {name: value for name, value in options.items() if name in parts[kind]}

        access = Access(queries, options.get("log"))
        return cls(access, Limits(**given(Limits)), Budget(**given(Budget)), objective, variable)

    def document(self) -> dict[str, Any]:
        """The keywords of the same call, as JSON holds them."""
        values = {**asdict(self.limits), **asdict(self.budget), "objective": self.objective}
        found = {
            "queries": _plain(self.access.queries),
            "log": self.access.log,
            "variable": self.variable,
            **values,
        }
        return {name: os.fspath(one) if isinstance(one, os.PathLike) else one for name, one in found.items()}


def _plain(queries: Any) -> Any:
    if queries is None or isinstance(queries, str):
        return queries
    if isinstance(queries, Mapping):
        return {str(name): one if isinstance(one, str) else list(one) for name, one in queries.items()}
    return [str(one) for one in queries]
