"""The one protocol between sources and destinations: groups and arrays with NumPy-like types and CF attributes.

A source lists what it has and reads rectangular regions. `_FillValue` in `attrs` is the raw value, with the array's
type, whatever the format does with it; dimension names are bare (`time`, not `/group/time`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

NDArray = npt.NDArray[Any]
Region = tuple[slice, ...]


@dataclass(frozen=True)
class ArraySpec:
    """One array of a source. `path` is relative, with `/` between groups; `""` is an array that is the whole source."""

    path: str
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    dims: tuple[str, ...] | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    fill_value: Any = None
    # The block that the source reads at no waste: its chunk, its page, or one leading row of a flat file.
    chunk: tuple[int, ...] | None = None

    @property
    def itemsize(self) -> int:
        """Bytes of an element; strings of variable length count as 32."""
        return 32 if self.dtype.kind in "OT" else max(self.dtype.itemsize, 1)

    @property
    def nbytes(self) -> int:
        """Bytes of the array, not encoded."""
        size = self.itemsize
        for extent in self.shape:
            size *= extent
        return size


@dataclass(frozen=True)
class Skipped:
    """An object of a source that cannot be converted, and why. damaged: it should be readable and is not."""

    path: str
    reason: str
    damaged: bool = False


@dataclass(frozen=True)
class GroupSpec:
    """One group of a source. `unlimited` are dimensions of it that can grow in formats that tell them apart."""

    path: str
    attrs: Mapping[str, Any] = field(default_factory=dict)
    unlimited: tuple[str, ...] = ()


class Source(Protocol):
    """What a format gives to be convertible. `lock` is held around `read`; it does nothing if reads may overlap."""

    label: str
    kind: str
    lock: AbstractContextManager[Any]
    warnings: list[str]
    # Complete once `arrays` was called.
    skipped: list[Skipped]

    def groups(self) -> Sequence[GroupSpec]:
        """Every group, parents first; none if the source is one bare array."""

    def arrays(self) -> Sequence[ArraySpec]:
        """Every array, in the source's order."""

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region (slices with bounds, step 1), raw: not unpacked, not masked, not joined to strings."""

    def keep(self, nbytes: int) -> int:
        """Let the reader keep decoded chunks of at most `nbytes`; returns how much of that it may come to use."""

    def identity(self) -> dict[str, Any]:
        """What must not change between a run and its resumption, JSON-ready."""

    def state(self) -> Any:
        """What is another one, JSON-ready, whenever values may have changed since; None where nothing tells."""

    def close(self) -> None:
        """Give files back."""


@dataclass(frozen=True)
class Progress:
    """Where a conversion stands. `phase` is "resume", "copy" or "verify"; bytes are of raw values."""

    phase: str
    done: int
    total: int
    array: str


@dataclass(frozen=True)
class ConversionReport:
    """What a conversion did. Bytes are of raw values; `stored` is what lies at the destination; `rate` is bytes/s.

    `skipped` are the objects of the source that are not in the copy, each with the reason; `warnings` is what of the
    others was not kept.
    """

    source: str
    destination: str
    format: str
    arrays: int
    groups: int
    bytes: int
    stored: int
    seconds: float
    rate: float
    verified: bool
    resumed_bytes: int = 0
    warnings: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
