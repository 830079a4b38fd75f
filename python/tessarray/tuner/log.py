"""Recorded accesses as query classes: what `tessarray.record` wrote is what the tuner optimises for."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessarray.tuner.errors import AccessError
from tessarray.tuner.log_classes import classes_of
from tessarray.tuner.queries import Box, QueryClass

__all__ = ["FORMAT", "Access", "AccessLog", "LoggedQueries", "queries_from_log", "read_log"]

FORMAT = "tessarray-log/1"
NAMED = 8  # arrays named in the message of an error


@dataclass(frozen=True)
class Access:
    """One line: a call, or a bulk read's share of `arrays` arrays of one shape.

    box: (start, stop, step) an axis, upwards, around what was selected. drops: axes indexed with an integer. points:
    how many single elements, if such were selected; `scattered` also if lists of indices were.
    """

    op: str
    store: str
    path: str
    shape: tuple[int, ...]
    dtype: str
    box: tuple[tuple[int, int, int], ...]
    drops: tuple[int, ...]
    elements: int
    bytes: int
    seconds: float | None
    arrays: int = 1
    points: int | None = None
    scattered: bool = False

    @property
    def text(self) -> str:
        """The array, for messages."""
        return f"{self.path or '/'} {self.shape} in {self.store}"


@dataclass(frozen=True)
class AccessLog:
    """A log as it was read."""

    path: Path
    accesses: tuple[Access, ...]

    @property
    def arrays(self) -> Counter[tuple[str, str, tuple[int, ...]]]:
        """How many accesses there are to each (store, path, shape)."""
        return Counter((one.store, one.path, one.shape) for one in self.accesses)


@dataclass(frozen=True)
class LoggedQueries:
    """The query classes of one array, how many reads they stand for, and what a user should know of them."""

    classes: tuple[QueryClass, ...]
    reads: int
    notes: tuple[str, ...]


def read_log(path: str | os.PathLike[str]) -> AccessLog:
    """Read a log. Raises `AccessError` that names the file, and the line that is none.

    A last line without its end, as a process that was killed leaves it, is left out.
    """
    given = Path(path)
    try:
        text = given.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise AccessError(
            f"{given}: no such log; `with tessarray.record({str(given)!r}): ...` writes one, "
            "and so does a program that runs with TESSARRAY_RECORD set to its name"
        ) from None
    except (UnicodeDecodeError, OSError) as error:
        raise AccessError(f"{given}: expected a log of tessarray.record, found: {error}") from error
    lines = text.split("\n")
    cut = lines.pop()
    accesses = []
    first = True
    for number, line in enumerate(lines, 1):
        if not line:
            continue
        found = _object(given, number, line)
        if first or "format" in found:
            if found.get("format") != FORMAT:
                raise AccessError(
                    f"{given}, line {number}: expected the header of a log of format '{FORMAT}', "
                    f"found {found.get('format', 'none')!r}"
                )
            first = False
            continue
        accesses.append(_access(given, number, found))
    if first:
        what = "nothing" if not text.strip() else f"one unfinished line: {cut[:40]}"
        raise AccessError(f"{given}: expected a log of tessarray.record, found {what}")
    return AccessLog(given, tuple(accesses))


def _object(path: Path, number: int, line: str) -> Mapping[str, Any]:
    try:
        found = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise AccessError(f"{path}, line {number}: expected a JSON object, found {line[:60]!r}") from error
    if not isinstance(found, dict):
        raise AccessError(f"{path}, line {number}: expected a JSON object, found {line[:60]!r}")
    return found


def _access(path: Path, number: int, line: Mapping[str, Any]) -> Access:
    try:
        box = tuple((int(start), int(stop), int(step)) for start, stop, step in line["box"])
        shape = tuple(int(n) for n in line["shape"])
        seconds = line["seconds"]
        points = line.get("points")
        access = Access(
            op=str(line["op"]),
            store=str(line["store"]),
            path=str(line["path"]),
            shape=shape,
            dtype=str(line["dtype"]),
            box=box,
            drops=tuple(int(axis) for axis in line["drops"]),
            elements=int(line["elements"]),
            bytes=int(line["bytes"]),
            seconds=None if seconds is None else float(seconds),
            arrays=int(line.get("arrays", 1)),
            points=None if points is None else int(points),
            scattered=points is not None or "counts" in line,
        )
    except (KeyError, TypeError, ValueError) as error:
        raise AccessError(
            f"{path}, line {number}: expected an access, found a line with a bad {error}"
        ) from error
    if len(box) != len(shape) or any(not 0 <= start <= stop or step < 1 for start, stop, step in box):
        raise AccessError(f"{path}, line {number}: the box {box} does not fit an array of shape {shape}")
    return access


def queries_from_log(
    log: AccessLog | str | os.PathLike[str],
    shape: Sequence[int],
    array: str = "",
    store: str | None = None,
    dims: Sequence[str | None] | None = None,
    op: str = "read",
) -> LoggedQueries:
    """How an array was read, as at most 8 query classes with the recorded boxes and their shares of the calls.

    `array` is its path, `store` what `store.describe()` says. The accesses are those to this path and shape; if
    there are none, those to this path with another extent (the array has grown); else those to the only array of this
    shape (the source may be a copy). Raises `AccessError` that names the arrays of the log if nothing fits.
    """
    found = log if isinstance(log, AccessLog) else read_log(log)
    extents = tuple(int(n) for n in shape)
    if not found.accesses:
        raise AccessError(f"{found.path}: the log has no access in it; was anything read while it was on?")
    chosen, notes = _chosen(found, extents, array.strip("/"), store)
    reads = [one for one in chosen if one.op == op and one.elements]
    ops = Counter(one.op for one in chosen)
    if left := {name: count for name, count in ops.items() if name != op}:
        notes.append(
            "not counted: " + ", ".join(f"{count} of op '{name}'" for name, count in sorted(left.items()))
        )
    if not reads:
        raise AccessError(
            f"{found.path}: the log has no {op} of {array or 'the array'} that gave elements; it has "
            + ", ".join(f"{count} of op '{name}'" for name, count in sorted(ops.items()))
        )
    if scattered := sum(one.scattered for one in reads):
        notes.append(
            f"{scattered} of {len(reads)} selected by lists or points: taken as the boxes around them"
        )
    if stepped := sum(any(step > 1 for *_, step in one.box) for one in reads):
        notes.append(f"{stepped} of {len(reads)} had steps: taken as the boxes around them")
    boxes = [(_fitted(one, extents), one.drops) for one in reads]
    kept = [(box, drops) for box, drops in boxes if box is not None]
    if len(kept) < len(boxes):
        notes.append(f"{len(boxes) - len(kept)} of {len(boxes)} lie outside the array as it is now: left out")
    if not kept:
        raise AccessError(
            f"{found.path}: every {op} of {array or 'the array'} lies outside its shape {extents}"
        )
    classes, more = classes_of(kept, extents, dims)
    return LoggedQueries(classes, len(kept), (*notes, *more))


def _chosen(
    log: AccessLog, shape: tuple[int, ...], path: str, store: str | None
) -> tuple[list[Access], list[str]]:
    """The accesses of one array, and how they were found."""
    named = [one for one in log.accesses if _same_path(one.path, path)]
    if store is not None and any(one.store == store for one in named):
        named = [one for one in named if one.store == store]
    exact = [one for one in named if one.shape == shape]
    if exact:
        return exact, []
    if grown := [one for one in named if len(one.shape) == len(shape)]:
        shapes = sorted({one.shape for one in grown})
        return grown, [
            f"recorded of '{path}' with another shape: {', '.join(map(str, shapes[:3]))}, now {shape}"
        ]
    alike = [one for one in log.accesses if one.shape == shape]
    if len({(one.store, one.path) for one in alike}) == 1:
        return alike, [f"recorded of another array of this shape: {alike[0].text}"]
    listed = "; ".join(
        f"{place or '/'} {extents} in {holder} ({count})"
        for (holder, place, extents), count in log.arrays.most_common(NAMED)
    )
    more = f"; and {len(log.arrays) - NAMED} more" if len(log.arrays) > NAMED else ""
    raise AccessError(
        f"{log.path}: no access to {path or 'the root array'} of shape {shape}; the log has: {listed}{more}"
    )


def _same_path(recorded: str, path: str) -> bool:
    """`*/x` stands for `x` of any dataset of a collection."""
    if recorded.startswith("*/"):
        return path == recorded[2:] or path.endswith(recorded[1:])
    return recorded == path


def _fitted(access: Access, shape: tuple[int, ...]) -> Box | None:
    """The box in an array of this shape: whole axes stay whole; `None` where it lies outside."""
    return None if None in (box := tuple(_spans(access, shape))) else tuple(span for span in box if span)


def _spans(access: Access, shape: tuple[int, ...]) -> Iterator[tuple[int, int] | None]:
    for (start, stop, _), was, now in zip(access.box, access.shape, shape, strict=True):
        if (start, stop) == (0, was):
            yield (0, now)
        else:
            yield (start, min(stop, now)) if start < min(stop, now) else None
