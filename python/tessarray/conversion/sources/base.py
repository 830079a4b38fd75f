"""What the sources share: the identity of a file, the lock of the HDF5 libraries, and imports that may fail."""

from __future__ import annotations

import contextlib
import importlib
import threading
from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region, Skipped

# The netCDF and HDF5 C libraries are not safe to call from two threads, whatever the file.
LIBRARY_LOCK: AbstractContextManager[Any] = threading.RLock()


class BaseSource:
    """A source of no file whose reads may overlap; formats override what differs."""

    kind = "values"
    lock: AbstractContextManager[Any] = contextlib.nullcontext()

    def __init__(self, label: str) -> None:
        self.label = label
        self.warnings: list[str] = []
        self.skipped: list[Skipped] = []

    def groups(self) -> Sequence[GroupSpec]:
        """Every group, parents first. Each format has its own."""
        raise NotImplementedError

    def arrays(self) -> Sequence[ArraySpec]:
        """Every array, in the source's order. Each format has its own."""
        raise NotImplementedError

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region, as they are stored. Each format has its own."""
        raise NotImplementedError

    def keep(self, nbytes: int) -> int:
        """Nothing is kept."""
        return 0

    def identity(self) -> dict[str, Any]:
        """The name alone."""
        return {"source": self.label}

    def state(self) -> Any:
        """`None`: nothing tells whether values in memory have changed."""
        return None

    def close(self) -> None:
        """There is nothing to close."""


class FileSource(BaseSource):
    """A source that is one file or directory."""

    def __init__(self, path: Path) -> None:
        super().__init__(str(path))
        self.path = path

    def identity(self) -> dict[str, Any]:
        """Size and times of the file."""
        return identity_of(self.path)

    def state(self) -> Any:
        """The file's number and the time of its last change, as the file system has them."""
        return state_of(self.path)


def identity_of(path: Path) -> dict[str, Any]:
    """What tells a file from what it may become."""
    found = path.stat()
    return {"source": str(path.resolve()), "size": found.st_size, "mtime_ns": found.st_mtime_ns}


def state_of(path: Path) -> dict[str, Any]:
    """What changes with every change of a file, whatever its times were set to; and with some that change nothing."""
    found = path.stat()
    return {"inode": found.st_ino, "ctime_ns": found.st_ctime_ns}


def need(module: str, what: str) -> Any:
    """Import an optional package, or say which one reads `what`."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise FormatError(f"{what}: reading it needs {module}; install tessarray[convert]") from error


def contiguous_chunk(shape: tuple[int, ...]) -> tuple[int, ...]:
    """The natural chunk of values that lie flat: one slab along the first axis."""
    return (
        (1, *(max(extent, 1) for extent in shape[1:])) if len(shape) > 1 else tuple(max(n, 1) for n in shape)
    )
