"""What can go wrong in the demonstration."""

from __future__ import annotations

from tessarray.conversion.errors import ConversionError


class DemoError(ConversionError, ValueError):
    """The file has nothing to slice, an option is unknown, or two libraries disagree."""
