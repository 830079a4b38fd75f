"""Names of variables, or patterns for them."""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence


def patterns(given: str | Sequence[str] | None) -> list[str] | None:
    """What a user gave, as a list."""
    return None if given is None else [given] if isinstance(given, str) else list(given)


def matches(path: str, wanted: Sequence[str]) -> bool:
    """Whether a path is one of these, fits a pattern, or lies in a group of that name."""
    return any(fnmatch.fnmatchcase(path, pattern) or path.startswith(f"{pattern}/") for pattern in wanted)


def chosen(path: str, include: Sequence[str] | None, exclude: Sequence[str] | None) -> bool:
    """Whether a variable is to be taken."""
    return (include is None or matches(path, include)) and not (exclude and matches(path, exclude))
