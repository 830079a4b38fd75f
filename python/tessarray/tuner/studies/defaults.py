"""What a study takes if it is not told: how arrays are usually read, and a small ladder of chunk shapes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tessarray.conversion.layout import grow
from tessarray.tuner.baselines import defaults
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass, parse_template

__all__ = ["ladder_of_layouts", "sharded", "usual_classes"]

Extents = tuple[int, ...]
PLANE_BYTES = 32 << 20
INNER = 64 << 10
MIDDLE = 1 << 20
LARGE = 8 << 20
SLAB = 32 << 20
SHARD = 32 << 20


def usual_classes(shape: Extents, itemsize: int, dims: Sequence[str] | None = None) -> tuple[QueryClass, ...]:
    """A plane across every axis and a line along every axis, all as frequent; of vectors a run and the whole.

    Planes are cut to runs if they would be larger than 32 MiB.
    """
    names = [dims[axis] if dims else f"axis {axis}" for axis in range(len(shape))]
    wide = [axis for axis, extent in enumerate(shape) if extent > 1] or [0]
    found: dict[str, str] = {}
    if len(wide) == 1:
        (axis,) = wide
        run = max(shape[axis] // 100, 1)
        found[f"run along {names[axis]}"] = _template(shape, {axis: f":{run}"})
        found["whole"] = _template(shape, {axis: _cut(shape[axis], PLANE_BYTES // itemsize)})
    else:
        if len(wide) > 2:
            for axis in wide:
                found[f"plane across {names[axis]}"] = _plane(shape, itemsize, axis)
        for axis in wide:
            line = {one: ":" if one == axis else "i" for one in wide}
            found[f"line along {names[axis]}"] = _template(shape, line)
    return tuple(
        QueryClass(name, 1 / len(found), text, shape, parse_template(text, shape))
        for name, text in found.items()
    )


def _template(shape: Extents, entries: dict[int, str]) -> str:
    return f"[{', '.join(entries.get(axis, ':') for axis in range(len(shape)))}]"


def _cut(extent: int, most: int) -> str:
    return ":" if extent <= most else f":{max(most, 1)}"


def _plane(shape: Extents, itemsize: int, across: int) -> str:
    lengths = [1 if axis == across else extent for axis, extent in enumerate(shape)]
    while math.prod(lengths) * itemsize > PLANE_BYTES and max(lengths) > 1:
        longest = lengths.index(max(lengths))
        lengths[longest] = -(-lengths[longest] // 2)
    entries = {
        axis: "i" if axis == across else ":" if length == shape[axis] else f":{length}"
        for axis, length in enumerate(lengths)
    }
    return _template(shape, entries)


def ladder_of_layouts(
    shape: Extents, itemsize: int, codec: str, known: dict[str, Extents | Layout], checksum: bool = True
) -> dict[str, Layout]:
    """Layouts by label, all with one codec: the `known` ones (chunks, or a layout whose shapes are taken), other
    libraries' defaults, a slab, a column, cubes of three sizes, and shards of small chunks. Of equal ones the first is
    kept.
    """

    def room(nbytes: int) -> int:
        return max(nbytes // itemsize, 1)

    ones = (1,) * len(shape)
    shapes: dict[str, tuple[Extents, Extents | None]] = {
        label: (one.chunks, one.shards) if isinstance(one, Layout) else (one, None)
        for label, one in known.items()
    }
    shapes |= {label: (one.chunks, one.shards) for label, one in defaults(shape, itemsize).items()}
    if len(shape) > 1:
        slab = grow(ones, (1, *shape[1:]), room(SLAB))
        shapes["thin slab"] = (slab, None)
        column = (min(shape[0], room(MIDDLE)), *ones[1:])
        shapes["column"] = (grow(column, shape, room(MIDDLE)), None)
    cubes = {size: grow(ones, shape, room(size)) for size in (INNER, MIDDLE, LARGE)}
    names = {INNER: "small cube", MIDDLE: "middle cube", LARGE: "large cube"}
    shapes |= {names[size]: (cube, None) for size, cube in cubes.items()}
    shapes["small cubes in shards"] = (cubes[INNER], sharded(cubes[INNER], shape, itemsize))
    found: dict[Layout, str] = {}
    for label, (chunks, shards) in shapes.items():
        found.setdefault(Layout(chunks, shards, codec, checksum), label)
    return {label: layout for layout, label in found.items()}


def sharded(chunks: Extents, shape: Extents, itemsize: int, size: int = SHARD) -> Extents | None:
    """Shards of whole chunks of about `size` bytes; None if one would be a single chunk."""
    grid = tuple(-(-n // c) for n, c in zip(shape, chunks, strict=True))
    counts = grow((1,) * len(grid), grid, max(size // (math.prod(chunks) * itemsize), 1))
    if math.prod(counts) == 1:
        return None
    return tuple(c * k for c, k in zip(chunks, counts, strict=True))
