"""Hard limits that every proposal keeps, and what they say if none can."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tessarray.display.units import byte_text
from tessarray.tuner.errors import ConstraintError
from tessarray.tuner.layout import Layout

__all__ = ["Constraints", "memory_of"]

GROWTH_PARTS = 8  # of an axis that grows by a length that is not known: an object has one at most
CODEC_BYTES = 200 << 10  # what a codec takes for itself, a worker
ZSTD_BYTES = 1300 << 10  # zstd's encoder
Work = Literal["read", "write", "change"]


def memory_of(layout: Layout, itemsize: int, workers: int, ratio: float = 1.0, work: Work = "write") -> int:
    """Peak bytes above the values of a `read`, a `write` of whole objects, or a `change` of parts of them, at most.

    With w workers (one more if there are several, since a finished piece waits to be taken up), a chunk of c bytes
    of values and e encoded, and an object of s bytes encoded: read w (c + e), write w (c + e + s), change
    w (c + e + 2 s), and what codecs take for themselves. `tessarray tune memory` measures it. `ratio`: raw over stored.
    Large chunks that are read or written whole with blosc, or no codec, go block by block, and take less by about c.
    """
    held = workers + (workers > 1)
    chunk = math.prod(layout.chunks) * itemsize
    unit = math.prod(layout.unit) * itemsize / ratio
    objects = {"read": 0, "write": 1, "change": 2}[work]
    encoder = ZSTD_BYTES if "zstd" in layout.codec else CODEC_BYTES
    own = CODEC_BYTES + (encoder if objects else 0)
    return round(held * (chunk + chunk / ratio + objects * unit) + workers * own)


@dataclass(frozen=True)
class Constraints:
    """The limits of one array, in bytes and numbers.

    max_files: objects of the array. max_shard: bytes of values in one object. memory: peak bytes above the values, and
    of the tuner itself. append_axis: the axis that grows, by `append_length` at a time: objects along it divide that,
    so that an append writes new objects only; without a length they are at most an eighth of the axis. readers:
    libraries that must decode it. size_factor: the most bytes of the whole array, as a factor on the smaller of the
    present layout and zarr-python's default; most_stored: the same in bytes; None: any. tolerance: by how
    much `filters` may change values.
    """

    max_files: int = 10_000
    max_shard: int = 256 << 20
    memory: int = 4 << 30
    append_axis: int | None = None
    append_length: int | None = None
    readers: tuple[str, ...] = ()
    size_factor: float | None = None
    most_stored: float | None = None
    tolerance: float = 0.0
    filters: tuple[str, ...] = ()

    def problem(
        self, layout: Layout, shape: Sequence[int], itemsize: int, workers: int, ratio: float = 1.0
    ) -> str | None:
        """Why a layout is not allowed; `None` if it is. Stored bytes are not looked at: they are measured."""
        unit = math.prod(layout.unit) * itemsize
        if unit > self.max_shard:
            return f"an object of {byte_text(unit)}, more than {byte_text(self.max_shard)}"
        files = layout.files(tuple(shape))
        if files > self.max_files:
            return f"{files:,} files, more than {self.max_files:,}"
        memory = memory_of(layout, itemsize, workers, ratio)
        if memory > self.memory:
            return f"{byte_text(memory)} of memory, more than {byte_text(self.memory)}"
        if self.append_axis is not None:
            along, extent = layout.unit[self.append_axis], shape[self.append_axis]
            if self.append_length is not None and self.append_length % along:
                return (
                    f"objects of {along} along the axis that grows, for appends of {self.append_length}: "
                    f"an append would rewrite what is there"
                )
            if self.append_length is None and along > max(extent // GROWTH_PARTS, 1):
                return f"objects of {along} along the axis that grows, which has {extent} now"
        return None

    def check(self, shape: Sequence[int], itemsize: int, workers: int) -> None:
        """Raises `ConstraintError`, with what to change, if the limits contradict each other for this array."""
        nbytes = math.prod(shape) * itemsize
        held = workers + (workers > 1)
        largest = min(self.max_shard, self.memory // held)
        for name, value in (
            ("max-files", self.max_files),
            ("max-shard", self.max_shard),
            ("memory", self.memory),
        ):
            if value < 1:
                raise ConstraintError(f"{name}: expected 1 or more, found {value}")
        if self.append_axis is not None and not -len(shape) <= self.append_axis < len(shape):
            raise ConstraintError(
                f"append-axis: the array has {len(shape)} dimensions, found axis {self.append_axis}"
            )
        if largest < itemsize:
            raise ConstraintError(
                f"limits: not even one element of {itemsize} bytes fits in max-shard and memory"
            )
        if nbytes / largest > self.max_files:
            need = math.ceil(nbytes / self.max_files)
            raise ConstraintError(
                f"limits: {byte_text(nbytes)} in at most {self.max_files:,} files need objects of "
                f"{byte_text(need)} or more, but max-shard and memory allow {byte_text(largest)}: allow "
                f"{math.ceil(nbytes / largest):,} files, or objects of {byte_text(need)} and memory of "
                f"{byte_text(need * 2 * held)}"
            )
