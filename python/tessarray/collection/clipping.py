"""Selections that take what there is: slices end where an array ends, as in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tessarray.errors import InvalidArgumentError

CURE = "clip=True (`--clip` in commands) takes what there is, as NumPy does"


def clipped(selection: Any) -> Callable[[str, tuple[int, ...]], Any]:
    """The selection for each array, whose slices end within it. Single places are not moved."""

    def cut(name: str, shape: tuple[int, ...]) -> Any:
        key = selection(name, shape) if callable(selection) else selection
        items = key if isinstance(key, tuple) else (key,)
        for item in items:
            if item is not ... and not isinstance(item, slice | int | np.integer):
                raise InvalidArgumentError(
                    f"clip: goes with slices and single places, and not with {type(item).__name__}"
                )
        rest = len(shape) - sum(item is not ... for item in items)
        axis, result = 0, []
        for item in items:
            # Too many places are for the engine to refuse.
            if isinstance(item, slice) and axis < len(shape):
                item = _within(item, shape[axis])
            result.append(item)
            axis += max(rest, 0) if item is ... else 1
        return tuple(result)

    return cut


def _within(part: slice, length: int) -> slice:
    if part.step is not None and part.step <= 0:
        raise InvalidArgumentError(f"clip: expected a slice that goes forwards, found step {part.step}")
    begin, end, step = part.indices(length)
    return slice(begin, max(begin, end), step)
