"""What can go wrong, as exceptions a caller can decide on.

Every exception of this package is a `TessarrayError`, and also the built-in one that fits it: a selection outside an
array is an `IndexError`, a path with nothing there a `FileNotFoundError` and a `KeyError`. Messages name the key or
the coordinates, what was expected and what was found; the same facts are attributes where they are known.

>>> import tessarray
>>> try:
...     tessarray.open_array(tessarray.MemoryStore(), mode="r")
... except FileNotFoundError as error:
...     print(type(error).__name__)
NotFoundError
"""

from __future__ import annotations

__all__ = [
    "CodecError",
    "ConflictError",
    "CorruptError",
    "ExistsError",
    "InvalidArgumentError",
    "InvalidKeyError",
    "InvalidTypeError",
    "MetadataError",
    "MissingChunkError",
    "MissingPackageError",
    "NotFoundError",
    "OutOfMemoryError",
    "PickleError",
    "ReadOnlyError",
    "SelectionError",
    "StoreError",
    "TessarrayError",
    "ThreadsError",
    "UnknownOutcomeError",
    "WrongNodeError",
]


class TessarrayError(Exception):
    """The root of all exceptions of this package.

    Attributes, each `None` where it does not apply: `key` of the store, `path` of the array or group, `chunk`
    coordinates, `region` of a conflict, what was `expected` and what was `found`.
    """

    key: str | None
    path: str | None
    chunk: tuple[int, ...] | None
    expected: str | None
    found: str | None
    region: str | None

    def __init__(
        self,
        message: str = "",
        *,
        key: str | None = None,
        path: str | None = None,
        chunk: tuple[int, ...] | None = None,
        expected: str | None = None,
        found: str | None = None,
        region: str | None = None,
        errno: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.key, self.path, self.chunk, self.expected, self.found = key, path, chunk, expected, found
        self.region = region
        if errno is not None and isinstance(self, OSError):
            object.__setattr__(self, "errno", errno)

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message,), self.__dict__)


class SelectionError(TessarrayError, IndexError):
    """An index or selection that is none, or that does not fit the array."""


class NotFoundError(TessarrayError, FileNotFoundError, KeyError):
    """There is no array or group at the path."""


class MissingChunkError(TessarrayError, FileNotFoundError, KeyError):
    """A chunk is not stored, of an array that was opened with `config={"read_missing_chunks": False}`."""


class WrongNodeError(TessarrayError, ValueError):
    """There is a group where an array was expected, or an array where a group was."""


class ExistsError(TessarrayError, FileExistsError):
    """Something is there already; `overwrite=True` or mode `"w"` replaces it."""


class MetadataError(TessarrayError, ValueError):
    """A metadata document is not acceptable. The message names the document and the place in it."""


class CodecError(TessarrayError, ValueError):
    """A codec is unknown, is set up wrongly, cannot hold the data type, or failed to encode."""


class CorruptError(TessarrayError, ValueError, OSError):
    """Stored bytes are not what was written: truncated, changed, or with an index that lies."""


class StoreError(TessarrayError, OSError):
    """The store refused or failed; `errno` is set where the operating system said so."""


class ReadOnlyError(TessarrayError, PermissionError, ValueError):
    """A change to something that was opened for reading."""


class ConflictError(TessarrayError, RuntimeError):
    """Another writer changed the same value, or array region, at the same time; read it again and decide anew."""


class UnknownOutcomeError(TessarrayError, OSError):
    """A commit may or may not have taken place, wholly or not at all: the store failed before it said so. Open the pack
    again and look."""


class InvalidArgumentError(TessarrayError, ValueError):
    """An argument of the call makes no sense here."""


class UnequalChunksError(TessarrayError, NotImplementedError):
    """One shape of all chunks was asked for, of an array whose chunks have unequal lengths (a rectilinear grid)."""


class InvalidKeyError(InvalidArgumentError, KeyError):
    """A path or key that no store takes: absolute, empty, or with `..` in it."""


class InvalidTypeError(TessarrayError, TypeError):
    """An argument, or an element of one, is of the wrong type."""


class PickleError(TessarrayError, TypeError):
    """The object lives in this process only and cannot be pickled."""


class OutOfMemoryError(TessarrayError, MemoryError):
    """Memory for a buffer cannot be had; nothing was changed by what needed it."""


class ThreadsError(TessarrayError, RuntimeError):
    """Worker threads cannot be started: the limit of processes or of memory is reached. Fewer threads need less."""


class MissingPackageError(TessarrayError, ImportError):
    """An optional package is needed for this; the message names it."""
