"""`tune`: from an array, how it is read, and where it lies, to a layout that was measured to be good."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

from tessarray.conversion.size import format_size, parse_size
from tessarray.tuner import probe
from tessarray.tuner.baselines import defaults
from tessarray.tuner.constraints import Constraints
from tessarray.tuner.errors import AccessError, ConstraintError
from tessarray.tuner.events import Clock, Listener
from tessarray.tuner.layout import Layout
from tessarray.tuner.lossy import lossy_filters
from tessarray.tuner.objectives import check_objective
from tessarray.tuner.queries import QueryClass, parse_queries, rescaled
from tessarray.tuner.result import TuneResult
from tessarray.tuner.rows import rows_of, why
from tessarray.tuner.search import Search, Task
from tessarray.tuner.source import Subject, open_subject
from tessarray.tuner.target import Scratch, parse_store, seconds_of

__all__ = ["tune"]

SIZE_LIMIT = "1.1x"


def tune(
    source: Any,
    queries: Mapping[str, Any] | Sequence[str] | None = None,
    *,
    variable: str | None = None,
    log: str | os.PathLike[str] | None = None,
    objective: str = "read",
    budget: float | str = 60,
    store: str = "local",
    scratch: str | os.PathLike[str] | None = None,
    max_files: int = 10_000,
    max_shard: int | str = "256MB",
    max_size: int | str | None = SIZE_LIMIT,
    append_axis: int | str | None = None,
    append_length: int | None = None,
    readers: Sequence[str] = probe.DEFAULT_READERS,
    memory: int | str = "4GB",
    lossy: str | float | None = None,
    prices: str | None = None,
    accesses: float = 1e6,
    threads: int | None = None,
    seed: int = 0,
    compare: Mapping[str, Layout] | None = None,
    progress: Listener | None = None,
) -> TuneResult:
    """Measure layouts of an array for the way it is read, and propose one. The source is only read.

    source: a path (`"fields.nc:t2m"`, any format that `convert` reads), an open array, an xarray object, or a NumPy
    array; variable: which array of it. queries: query classes, as `{"map": ("[t, :, :]", 0.5), ...}` or
    `["map: [t, :, :] x 0.5", ...]`; see `tessarray.tuner.queries`. log: a log of `tessarray.record` in their place.
    objective: `read`, `size`, `write` or `balanced`. budget: seconds for everything (`60`, `"2min"`).
    store: `local`, `memory` or `s3-like(ttfb=30ms,bw=200MB/s)`; scratch: the folder that `local` measures in (the
    system's for temporary files where left out: name one on the disk that matters).

    Hard limits: max_files objects in the array; max_shard bytes of values in an object; max_size of the whole array,
    in bytes or as a factor on the smaller of what it takes now and what zarr-python's default would (`"1.1x"`; None:
    no limit); append_axis (its number or name) and append_length: appends of that length write new objects only;
    readers: libraries that must decode it; memory: peak above the values of a read or write, and of the tuner itself.
    lossy: `"tolerance=1e-3"` allows values to change by that much. prices: of a priced store, for `accesses` a month.

    threads: workers to measure with (one a core where left out). seed: the same draws again. compare: further layouts
    to read beside the present one and other libraries' defaults, by label. progress: called with an `Event` as work
    goes on. Ctrl-C ends it with the best so far.

    Costs `budget` within 10 %, a sample of the array of at most 256 MB or an eighth of `memory`, and scratch space of
    some hundred MB. Raises `AccessError`, `ConstraintError`, `UntunableError`, and what `convert` raises for a source.

    >>> import numpy as np, tessarray
    >>> values = np.arange(64 * 64 * 64, dtype="i4").reshape(64, 64, 64)
    >>> found = tessarray.tune(values, {"map": ("[t, :, :]", 0.5), "series": ("[:, y, x]", 0.5)}, budget=3)
    >>> found.best.layout.files(values.shape) <= 10_000
    True
    """
    import tessarray

    request = {
        "queries": _plain(queries), "variable": variable, "log": None if log is None else os.fspath(log),
        "objective": objective, "budget": budget, "store": store,
        "scratch": None if scratch is None else os.fspath(scratch), "max_files": max_files, "max_shard": max_shard,
        "max_size": max_size, "append_axis": append_axis, "append_length": append_length, "readers": list(readers),
        "memory": memory, "lossy": lossy, "prices": prices, "accesses": accesses, "threads": threads, "seed": seed,
    }  # fmt: skip
    clock = Clock(seconds_of(budget, "budget"))
    check_objective(objective)
    target = parse_store(store, None if scratch is None else os.fspath(scratch))
    workers = threads or tessarray.default_session().threads
    probe.readable((), readers)
    subject = open_subject(source, variable)
    try:
        classes, notes = classes_of(subject, queries, log)
        limits = _limits(subject, max_files, max_shard, memory, append_axis, append_length, readers, workers)
        tolerance, filters = lossy_filters(lossy, subject.dtype)
        factor, fixed = _size_limit(max_size)
        task = Task(
            subject=subject,
            classes=classes,
            objective=objective,
            target=target,
            limits=limits,
            threads=workers,
            seed=seed,
            readers=tuple(readers),
            labelled=dict(compare or {}) | _labelled(subject),
            required=frozenset(compare or ()),
            size_limit=factor,
            most_stored=fixed,
            filters=filters,
            tolerance=tolerance,
        )
        search = Search(task, clock, progress)
        search.found.notes.extend(notes)
        with Scratch(target) as room:
            found = search.run(room)
            rows = rows_of(search, found, prices, accesses)
        if fixed is not None and rows[0].stored > fixed * 1.001:
            raise ConstraintError(
                f"max-size: the smallest that was measured takes {format_size(rows[0].stored)}, more than "
                f"{format_size(fixed)}: allow more, use objective 'size', or allow --lossy"
            )
        return TuneResult(
            source=subject.label,
            variable=subject.variable,
            shape=subject.shape,
            dtype=subject.dtype.str,
            dims=subject.spec.dims,
            objective=objective,  # type: ignore[arg-type] # checked above
            rows=rows,
            why=why(search, found, rows),
            workers=found.workers,
            request=request,
            seconds=clock.spent,
            codecs=tuple(found.codecs),
            scaling=tuple(found.scaling),
            calibration=found.calibration,
            searched=len(search.board.tried),
            predictions=tuple(found.predictions),
            interrupted=found.interrupted,
            notes=tuple(found.notes),
        )
    finally:
        subject.close()


def classes_of(
    subject: Subject, queries: Mapping[str, Any] | Sequence[str] | None, log: str | os.PathLike[str] | None
) -> tuple[tuple[QueryClass, ...], tuple[str, ...]]:
    """The query classes of a call, and what a log had that is not in them. Raises `AccessError` where none are."""
    if log is not None and queries:
        raise AccessError("access: expected query classes or a log, found both")
    if log is not None:
        from tessarray.tuner.log import queries_from_log

        logged = queries_from_log(log, subject.shape, subject.variable, dims=subject.spec.dims)
        return rescaled(logged.classes), tuple(logged.notes)
    if not queries:
        raise AccessError(
            "access: say how the array is read, such as 'map: [t, :, :] x 0.5' and 'series: [:, y, x] x 0.5', or "
            "give a log that tessarray.record wrote"
        )
    return parse_queries(queries, subject.shape, subject.spec.dims), ()


def _limits(
    subject: Subject, max_files: int, max_shard: int | str, memory: int | str, append_axis: int | str | None,
    append_length: int | None, readers: Sequence[str], workers: int,
) -> Constraints:  # fmt: skip
    axis = _axis(append_axis, subject)
    if axis is not None and append_length is None and isinstance(append_axis, str) and ":" in append_axis:
        text = append_axis.partition(":")[2]
        if not text.isdecimal() or int(text) < 1:
            raise ConstraintError(f"append-axis: expected AXIS or AXIS:LENGTH, found '{append_axis}'")
        append_length = int(text)
    if append_length is not None and append_length < 1:
        raise ConstraintError(f"append-length: expected 1 or more, found {append_length}")
    limits = Constraints(max_files, parse_size(max_shard), parse_size(memory), axis, append_length)
    limits.check(subject.shape, subject.itemsize, workers)
    return limits


def _axis(given: int | str | None, subject: Subject) -> int | None:
    if given is None:
        return None
    name = str(given).partition(":")[0].strip()
    dims = subject.spec.dims or ()
    if name in dims:
        return dims.index(name)
    if not name.lstrip("-").isdecimal():
        known = f"{', '.join(dims)}, or " if dims else ""
        raise ConstraintError(
            f"append-axis: unknown dimension '{name}'; expected {known}0 to {len(subject.shape) - 1}"
        )
    axis = int(name)
    if not -len(subject.shape) <= axis < len(subject.shape):
        raise ConstraintError(
            f"append-axis: the array has {len(subject.shape)} dimensions, found axis {axis}"
        )
    return axis % len(subject.shape)


def _size_limit(given: int | str | None) -> tuple[float | None, float | None]:
    """As a factor on what there is, or in bytes."""
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


def _labelled(subject: Subject) -> dict[str, Layout]:
    found = {"current": subject.current} if subject.current is not None else {}
    return found | defaults(subject.shape, subject.dtype)


def _plain(queries: Any) -> Any:
    if queries is None or isinstance(queries, str):
        return queries
    if isinstance(queries, Mapping):
        return {
            str(name): value if isinstance(value, str) else list(value) for name, value in queries.items()
        }
    return [str(one) for one in queries]
