"""What can go wrong when tuning, as exceptions that say what to change."""

from __future__ import annotations

from tessarray.errors import TessarrayError

__all__ = [
    "AccessError",
    "ConstraintError",
    "LayoutFileError",
    "TuneError",
    "UntunableError",
]


class TuneError(TessarrayError, ValueError):
    """The root of the tuner's exceptions."""


class AccessError(TuneError):
    """A query class, a weight or a log that cannot be used."""


class ConstraintError(TuneError):
    """Limits that no layout keeps, or that are none."""


class UntunableError(TuneError):
    """An array that there is nothing to tune about: no elements, no dimensions, values that are no numbers."""


class LayoutFileError(TuneError):
    """A `layout.json` that is none, or of another array."""
