"""Iterating over chunks."""

from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self, final

import numpy.typing as npt

from tessarray._native._array import ArrayCore

@final
class ChunkStream:
    """Iterates over `(region, values)`; see `Array.chunk_stream`. Also a context manager that stops it."""

    def __iter__(self) -> Iterator[tuple[tuple[slice, ...], npt.NDArray[Any]]]: ...
    def __next__(self) -> tuple[tuple[slice, ...], npt.NDArray[Any]]: ...
    def __len__(self) -> int: ...
    def close(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

def chunk_stream(
    array: ArrayCore, selection: Any, ordered: bool, prefetch: int | None, by_shard: bool
) -> ChunkStream: ...
