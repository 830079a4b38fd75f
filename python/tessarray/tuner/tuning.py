"""`tune`: from an array, how it is read, and where it lies, to a layout that was measured to be good."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Unpack

from tessarray.display.units import byte_text
from tessarray.tuner.baselines import defaults
from tessarray.tuner.errors import ConstraintError
from tessarray.tuner.events import Listener
from tessarray.tuner.layout import Layout
from tessarray.tuner.request import Options, Queries, Request
from tessarray.tuner.result import TuneResult
from tessarray.tuner.result_rows import reasons, rows_of
from tessarray.tuner.search import Task, search
from tessarray.tuner.source import Subject, open_subject
from tessarray.tuner.target import Scratch

__all__ = ["tune"]


def tune(
    source: Any,
    queries: Queries = None,
    *,
    variable: str | None = None,
    objective: str = "read",
    compare: Mapping[str, Layout] | None = None,
    progress: Listener | None = None,
    **options: Unpack[Options],
) -> TuneResult:
    """Measure layouts of an array for the way it is read, and propose one. The source is only read.

    source: a path (`"fields.nc:t2m"`, any format that `convert` reads), an open array, an xarray object, or a NumPy
    array; variable: which array of it. queries: query classes, as `{"map": ("[t, :, :]", 0.5), ...}` or
    `["map: [t, :, :] x 0.5", ...]`; see `tessarray.tuner.queries`. objective: `read`, `size`, `write` or `balanced`.
    compare: further layouts to read beside the present one and other libraries' defaults, by label. progress: called
    with an `Event` as work goes on. Ctrl-C ends it with the best so far.

    The options, all keywords:

    - log: a log of `tessarray.record` in place of the query classes.
    - budget: seconds for everything ("60s", `90`, "2min"). store: `local`, `memory` or
      `s3-like(ttfb=30ms,bw=200MB/s)`; scratch: the folder that `local` measures in (the system's for temporary files if
      left out: name one on the disk that matters). threads: workers to measure with (one per core if left out). seed:
      the same draws again.
    - Hard limits: max_files (10,000) objects in the array; max_shard ("256MB") of values in an object; max_size of the
      whole array, in bytes or as a factor on the smaller of what it takes now and what zarr-python's default would
      ("1.1x"; None: no limit); append_axis (its number or name) and append_length: appends of that length write new
      objects only; readers: libraries that must decode it; memory ("4GB"): peak above the values of a read or write,
      and of the tuner itself. lossy: `"tolerance=1e-3"` allows values to change by that much.

    Costs `budget` within 10 %, a sample of the array of at most 256 MB or an eighth of `memory`, and scratch space of
    some hundred MB. Raises `AccessError`, `ConstraintError`, `UntunableError`, and what `convert` raises for a source.

    >>> import numpy as np, tessarray
    >>> values = np.arange(64 * 64 * 64, dtype="i4").reshape(64, 64, 64)
    >>> found = tessarray.tune(values, {"map": ("[t, :, :]", 0.5), "series": ("[:, y, x]", 0.5)}, budget=3)
    >>> found.best.layout.files(values.shape) <= 10_000
    True
    """
    request = Request.of(queries, objective, variable, options)
    clock, target, workers = request.budget.clock(), request.budget.target(), request.budget.workers()
    request.limits.names()
    subject = open_subject(source, variable)
    try:
        classes, notes = request.access.classes(subject)
        task = Task(
            subject=subject,
            classes=classes,
            objective=objective,
            target=target,
            limits=request.limits.of(subject, workers),
            threads=workers,
            seed=request.budget.seed,
            labelled=dict(compare or {}) | _labelled(subject),
            required=frozenset(compare or ()),
        )
        with Scratch(target) as room:
            found = search(task, room, clock, progress)
            rows = rows_of(task, found)
        most = task.limits.most_stored
        if most is not None and rows[0].stored > most * 1.001:
            raise ConstraintError(
                f"max-size: the smallest that was measured takes {byte_text(rows[0].stored)}, more than "
                f"{byte_text(most)}: allow more, use objective 'size', or allow --lossy"
            )
        return TuneResult(
            source=subject.label,
            variable=subject.variable,
            shape=subject.shape,
            dtype=subject.dtype.str,
            dims=subject.spec.dims,
            objective=objective,  # type: ignore[arg-type] # checked above
            rows=rows,
            why=reasons(task, found, rows),
            workers=found.workers,
            request=request.document(),
            seconds=clock.spent,
            codecs=tuple(found.codecs),
            scaling=tuple(found.scaling),
            calibration=found.calibration,
            searched=len(found.tried),
            predictions=tuple(found.predictions),
            interrupted=found.interrupted,
            notes=(*notes, *found.notes),
        )
    finally:
        subject.close()


def _labelled(subject: Subject) -> dict[str, Layout]:
    found = {"current": subject.current} if subject.current is not None else {}
    return found | defaults(subject.shape, subject.dtype)
