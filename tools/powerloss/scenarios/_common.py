"""What the scenarios share: states that tell by their values at which step they were made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

Acknowledge = Callable[[str], object]
SHAPE = (6, 40)
CHUNKS = (2, 20)


def state(step: int) -> np.ndarray:
    """No two elements of one step are equal, and no two steps share one; none is the fill value."""
    return np.arange(np.prod(SHAPE), dtype="i8").reshape(SHAPE) * 1000 + step + 1


def step_of(values: np.ndarray) -> int:
    """The step that these values are of, all of them."""
    step = int(values.flat[0]) - 1
    if not np.array_equal(values, state(step)):
        raise AssertionError(f"values that never were: {values.tolist()}")
    return step


def last(acknowledged: list[str], kind: str = "") -> int:
    """The last step that was acknowledged; -1 where none was."""
    steps = [int(text.split()[-1]) for text in acknowledged if text.startswith(kind)]
    return max(steps, default=-1)


def newest_readable(root: Path, node: str = "a") -> int:
    """The step that the newest version of a pack shows which can be read; -1 where there is none.

    A version that was not durable may be damaged, and hide those before it until they are asked for by number.
    """
    import tessarray

    numbers = [int(path.stem) for path in (root / "commits").glob("*.json")]
    for number in sorted(numbers, reverse=True):
        try:
            version = tessarray.open_pack(root, version=number)
            return step_of(version[node][...]) if node in version else -1
        except (tessarray.TessarrayError, OSError):
            continue
    return -1
