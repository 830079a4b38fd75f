"""Boxes grouped into query classes: alike are those that take each axis alike.

1. The signature of a box says of each axis: whole, one index, or a run, by the power of two nearest to its length.
2. The most frequent signatures are classes. Each further one joins the class that is nearest in the logarithms of the
   lengths, if that is near; far ones that are rare are left out, with a note.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from tessarray.tuner.queries import Axis, Box, QueryClass, rescaled

__all__ = ["MOST_BOXES", "MOST_CLASSES", "classes_of"]

MOST_CLASSES = 8
MOST_BOXES = 1000  # boxes kept of a class, evenly spread over the log
NEAR = 4.0  # powers of two, over all axes
RARE = 0.02  # share of calls

# Of an axis: "whole", "index", or the power of two of a run. Axes that are dropped are told apart.
Signature = tuple[tuple[str | int, bool], ...]
Taken = tuple[Box, tuple[int, ...]]


def classes_of(
    boxes: Sequence[Taken], shape: tuple[int, ...], dims: Sequence[str | None] | None = None
) -> tuple[tuple[QueryClass, ...], list[str]]:
    """Query classes of recorded boxes, most frequent first, and notes. `boxes` are (box, axes that were dropped)."""
    groups: dict[Signature, list[Taken]] = defaultdict(list)
    for box, drops in boxes:
        groups[_signature(box, drops, shape)].append((box, drops))
    order = sorted(groups, key=lambda one: -len(groups[one]))
    kept, rest = order[:MOST_CLASSES], order[MOST_CLASSES:]
    merged, lost = 0, 0
    for other in rest:
        nearest = min(kept, key=lambda one: _distance(one, other, shape))
        if _distance(nearest, other, shape) <= NEAR or len(groups[other]) > RARE * len(boxes):
            groups[nearest] = groups[nearest] + groups[other]
            merged += 1
        else:
            lost += len(groups[other])
    notes = []
    if merged:
        notes.append(
            f"{len(order)} kinds of selections: {merged} joined the nearest of the {len(kept)} most frequent"
        )
    if lost:
        notes.append(f"{lost} of {len(boxes)} selections are unlike all frequent ones: left out")
    total = sum(len(groups[one]) for one in kept)
    classes = [_class(groups[one], one, len(groups[one]) / total, shape, dims) for one in kept]
    classes.sort(key=lambda one: -one.weight)
    return rescaled(_told_apart(classes)), notes


def _signature(box: Box, drops: tuple[int, ...], shape: tuple[int, ...]) -> Signature:
    def kind(axis: int) -> str | int:
        (start, stop), extent = box[axis], shape[axis]
        if axis in drops:
            return "index"
        if stop - start == extent:
            return "whole"
        return "index" if stop - start == 1 else round(math.log2(stop - start))

    return tuple((kind(axis), axis in drops) for axis in range(len(shape)))


def _distance(one: Signature, other: Signature, shape: tuple[int, ...]) -> float:
    def size(kind: str | int, extent: int) -> float:
        return math.log2(max(extent, 1)) if kind == "whole" else 0.0 if kind == "index" else float(kind)

    return sum(
        abs(size(a, extent) - size(b, extent))
        for (a, _), (b, _), extent in zip(one, other, shape, strict=True)
    )


def _class(
    taken: Sequence[Taken],
    signature: Signature,
    weight: float,
    shape: tuple[int, ...],
    dims: Sequence[str | None] | None,
) -> QueryClass:
    step = max(len(taken) / MOST_BOXES, 1.0)
    some = [taken[int(i * step)] for i in range(min(len(taken), MOST_BOXES))]
    axes, name, text = [], [], []
    for number, ((kind, dropped), extent) in enumerate(zip(signature, shape, strict=True)):
        lengths = [box[number][1] - box[number][0] for box, _ in some]
        mean = math.ceil(sum(lengths) / len(lengths))
        varies = min(lengths) < max(lengths)
        if kind == "whole" and not varies:
            axes.append(Axis("whole", extent))
            name.append(":")
            text.append(":")
        elif kind == "index" and not varies:
            axes.append(Axis("point", 1, drops=dropped))
            letter = _letter(number, dims)
            name.append(letter if dropped else ":1")
            text.append(letter if dropped else ":1")
        else:
            axes.append(Axis("run", mean))
            name.append(f"~{mean}" if varies else f":{mean}")
            text.append(f":{mean}")
    # An index is what an axis is in all selections of a class, or a run of 1.
    mixed = Counter(drops for _, drops in some)
    if len(mixed) > 1:
        always = set.intersection(*(set(drops) for drops in mixed))
        axes = [
            Axis("run", axis.length) if axis.drops and number not in always else axis
            for number, axis in enumerate(axes)
        ]
    return QueryClass(
        f"[{', '.join(name)}]",
        weight,
        f"[{', '.join(text)}]",
        shape,
        tuple(axes),
        tuple(box for box, _ in some),
    )


def _letter(number: int, dims: Sequence[str | None] | None) -> str:
    """The name of an index along an axis: that of the dimension, or i, j, k, ..."""
    name = dims[number] if dims and number < len(dims) else None
    if name and name.isidentifier():
        return name
    return "ijklmnopqr"[number] if number < 10 else f"i{number}"


def _told_apart(classes: Sequence[QueryClass]) -> list[QueryClass]:
    """Names that differ: those that do not get a number."""
    from dataclasses import replace

    seen: Counter[str] = Counter()
    found = []
    for one in classes:
        seen[one.name] += 1
        again = seen[one.name] > 1
        found.append(replace(one, name=f"{one.name} #{seen[one.name]}") if again else one)
    return found
