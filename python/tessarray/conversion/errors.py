"""What can go wrong in a conversion. Each message names the file and, where there is one, the variable."""

from __future__ import annotations

from tessarray.errors import TessarrayError


class ConversionError(TessarrayError):
    """The root of every error of a conversion."""


class SourceNotFoundError(ConversionError, FileNotFoundError):
    """Nothing is at the source path."""


class FormatError(ConversionError, ValueError):
    """The source is of no known format, is damaged, or needs a package that is not installed."""


class UnsupportedVariableError(ConversionError, TypeError):
    """A variable has a type that the destination cannot hold; leave it out with `exclude`."""


class OptionError(ConversionError, ValueError):
    """An option, or two together, make no sense for this source."""


class LayoutError(OptionError):
    """A layout file that is none, or that was found for another array; `expected` and `found` say what differs."""


class DestinationExistsError(ConversionError, FileExistsError):
    """Something is at the destination, and `overwrite` was not asked for (or would remove what is no array store)."""


class NoSpaceError(ConversionError, OSError):
    """The disk of the destination is full; `errno` is `errno.ENOSPC`."""


class ResumeError(ConversionError, ValueError):
    """The unfinished copy was made from another source, or with other settings."""


class VerificationError(ConversionError, ValueError):
    """A stored value differs from the source's."""
