"""Query classes: how an array is read, as templates of selections with weights.

A template has one entry an axis, in the order of the axes: `[t, :, :30]`. A name stands for one random index, `:` for
the whole axis, `:n` for a run of n at a random place, `a:b` and whole numbers for fixed places, `...` for whole axes.
Axes can also be named, if the array names them: `[time=t, lat=:30]`; those left out are whole. A weight is the
share of calls that are of the class; weights add up to 1.

A recorded log (see `tessarray.record`) gives classes whose selections are the recorded ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tessarray.tuner.errors import AccessError

__all__ = ["Axis", "Box", "QueryClass", "parse_access", "parse_queries", "parse_template", "selection_of"]

# One (start, stop) an axis, in elements.
Box = tuple[tuple[int, int], ...]
Kind = Literal["whole", "point", "run", "fixed"]
TOLERANCE = 1e-3


@dataclass(frozen=True)
class Axis:
    """How a query class takes one axis. `drops`: the result has no such axis (an index, not a slice)."""

    kind: Kind
    length: int
    start: int = 0
    drops: bool = False


@dataclass(frozen=True)
class QueryClass:
    """One way to read an array, for one shape. `boxes`, if given, are recorded selections to draw from."""

    name: str
    weight: float
    text: str
    shape: tuple[int, ...]
    axes: tuple[Axis, ...]
    boxes: tuple[Box, ...] = ()

    @property
    def extents(self) -> tuple[int, ...]:
        """How many elements along each axis one selection has; of recorded ones the mean, rounded up."""
        if self.boxes:
            sizes = np.array([[stop - start for start, stop in box] for box in self.boxes], float)
            return tuple(math.ceil(mean) for mean in sizes.mean(axis=0))
        return tuple(axis.length for axis in self.axes)

    @property
    def elements(self) -> int:
        """Elements of one selection."""
        return math.prod(self.extents)

    def draw(self, rng: np.random.Generator, count: int) -> list[Box]:
        """`count` selections at random places; recorded ones are drawn without repeats as long as there are any."""
        if self.boxes:
            rounds = -(-count // len(self.boxes))
            order = np.concatenate([rng.permutation(len(self.boxes)) for _ in range(rounds)])
            return [self.boxes[i] for i in order[:count]]
        return [
            tuple(_place(axis, extent, rng) for axis, extent in zip(self.axes, self.shape, strict=True))
            for _ in range(count)
        ]

    def selection(self, box: Box) -> tuple[int | slice, ...]:
        """What to index with for a box: whole numbers if the class drops the axis."""
        return selection_of(box, tuple(axis.drops for axis in self.axes))


def selection_of(box: Box, drops: Sequence[bool] = ()) -> tuple[int | slice, ...]:
    """The index of a box: slices, and whole numbers for the axes that are dropped."""
    dropped = drops or (False,) * len(box)
    return tuple(
        start if drop else slice(start, stop) for (start, stop), drop in zip(box, dropped, strict=True)
    )


def _place(axis: Axis, extent: int, rng: np.random.Generator) -> tuple[int, int]:
    start = (
        axis.start if axis.kind in ("fixed", "whole") else int(rng.integers(max(extent - axis.length, 0) + 1))
    )
    return start, start + axis.length


def parse_template(text: str, shape: tuple[int, ...], dims: Sequence[str] | None = None) -> tuple[Axis, ...]:
    """The axes of a template. Raises `AccessError` naming the axis that cannot be read."""
    inner = text.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        raise AccessError(f"access '{text}': expected a selection in brackets, such as '[t, :, :30]'")
    parts = [part.strip() for part in inner[1:-1].split(",") if part.strip()]
    if any("=" in part for part in parts):
        return _named(text, parts, shape, dims)
    if parts.count("...") > 1:
        raise AccessError(f"access '{text}': expected at most one '...'")
    if "..." in parts:
        at = parts.index("...")
        parts[at : at + 1] = [":"] * max(len(shape) - len(parts) + 1, 0)
    if len(parts) != len(shape):
        named = f" ({', '.join(dims)})" if dims else ""
        raise AccessError(
            f"access '{text}': the array has {len(shape)} dimensions{named}, the selection has {len(parts)}"
        )
    return tuple(
        _axis(text, part, extent, number)
        for number, (part, extent) in enumerate(zip(parts, shape, strict=True))
    )


def _named(
    text: str, parts: Sequence[str], shape: tuple[int, ...], dims: Sequence[str] | None
) -> tuple[Axis, ...]:
    if not dims:
        raise AccessError(
            f"access '{text}': the array's dimensions have no names; give one entry an axis: {len(shape)} of them"
        )
    found = [":"] * len(shape)
    for part in parts:
        name, given, entry = (piece.strip() for piece in part.partition("="))
        if not given or name not in dims:
            raise AccessError(f"access '{text}': unknown dimension '{name}'; the array has {', '.join(dims)}")
        found[list(dims).index(name)] = entry
    return tuple(
        _axis(text, part, extent, number)
        for number, (part, extent) in enumerate(zip(found, shape, strict=True))
    )


def _axis(text: str, part: str, extent: int, number: int) -> Axis:
    if part == ":":
        return Axis("whole", extent)
    if part.isidentifier():
        return Axis("point", 1, drops=True)
    if run := re.fullmatch(r":(\d+)", part):
        length = int(run[1])
        if 1 <= length <= extent:
            return Axis("run", length) if length < extent else Axis("whole", extent)
        raise AccessError(f"access '{text}': axis {number}: expected a run of 1 to {extent}, found {length}")
    if fixed := re.fullmatch(r"(\d+):(\d+)", part):
        start, stop = int(fixed[1]), int(fixed[2])
        if start < stop <= extent:
            return Axis("fixed", stop - start, start)
        raise AccessError(
            f"access '{text}': axis {number}: expected a range within 0:{extent} that holds something, found {part}"
        )
    if part.isdecimal():
        if int(part) < extent:
            return Axis("fixed", 1, int(part), drops=True)
        raise AccessError(f"access '{text}': axis {number}: expected an index below {extent}, found {part}")
    raise AccessError(
        f"access '{text}': axis {number}: expected a name (a random index), ':', ':n' (a run of n at a random "
        f"place), 'a:b' or a whole number, found '{part}'"
    )


def parse_access(text: str, number: int = 0) -> tuple[str, str, float | None]:
    """`map: [t, :, :] x 0.5` as its name, template and weight (None if left out)."""
    match = re.fullmatch(
        r"\s*(?:(?P<name>[^\[\]:]+?)\s*:)?\s*(?P<template>\[.*\])\s*(?:[x×*]\s*(?P<weight>\S+))?\s*", text
    )
    if not match:
        raise AccessError(
            f"access '{text}': expected 'NAME: [SELECTION] x WEIGHT', as 'map: [t, :, :] x 0.5'"
        )
    weight = match["weight"]
    try:
        found = None if weight is None else float(weight)
    except ValueError:
        raise AccessError(f"access '{text}': the weight is no number: '{weight}'") from None
    return match["name"] or f"query {number + 1}", match["template"], found


def parse_queries(
    given: Mapping[str, Any] | Sequence[str], shape: tuple[int, ...], dims: Sequence[str] | None = None
) -> tuple[QueryClass, ...]:
    """Query classes from texts (`"map: [t, :, :] x 0.5"`) or a mapping of names to templates, or to
    (template, weight). Where no weight is given at all they are equal.

    Raises `AccessError` for templates that do not fit the array, and for weights that do not add up to 1.
    """
    entries = list(_entries(given))
    if not entries:
        raise AccessError("access: expected at least one query class, such as 'map: [t, :, :] x 0.5'")
    names = [name for name, _, _ in entries]
    if twice := {name for name in names if names.count(name) > 1}:
        raise AccessError(f"access: expected names that differ, found '{min(twice)}' twice")
    weights = [weight for _, _, weight in entries]
    if all(weight is None for weight in weights):
        weights = [1 / len(entries)] * len(entries)
    if missing := [name for name, weight in zip(names, weights, strict=True) if weight is None]:
        raise AccessError(f"access: '{missing[0]}' has no weight; give one to all classes, or to none")
    numbers = [float(weight or 0) for weight in weights]
    for name, weight in zip(names, numbers, strict=True):
        if not math.isfinite(weight) or weight <= 0:
            raise AccessError(f"access '{name}': expected a weight above 0, found {weight:g}")
    if abs(sum(numbers) - 1) > TOLERANCE:
        shares = ", ".join(
            f"{name} x {weight / sum(numbers):.3g}" for name, weight in zip(names, numbers, strict=True)
        )
        raise AccessError(
            f"access: expected weights that add up to 1, found a sum of {sum(numbers):g}; "
            f"in these proportions: {shares}"
        )
    return tuple(
        QueryClass(name, weight / sum(numbers), template, shape, parse_template(template, shape, dims))
        for (name, template, _), weight in zip(entries, numbers, strict=True)
    )


def _entries(given: Mapping[str, Any] | Sequence[str]) -> Iterator[tuple[str, str, float | None]]:
    if isinstance(given, str):
        given = [given]
    if not isinstance(given, Mapping):
        yield from (parse_access(text, number) for number, text in enumerate(given))
        return
    for name, value in given.items():
        if isinstance(value, str):
            yield str(name), value, None
            continue
        try:
            template, weight = value
            yield str(name), str(template), float(weight)
        except (TypeError, ValueError):
            raise AccessError(
                f"access '{name}': expected a selection, or (selection, weight), found {value!r}"
            ) from None


def rescaled(classes: Sequence[QueryClass]) -> tuple[QueryClass, ...]:
    """The same classes with weights that add up to 1."""
    total = sum(one.weight for one in classes)
    return tuple(replace(one, weight=one.weight / total) for one in classes)
