"""`with` blocks of things that end in one of two ways: well, or because something failed in the block."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self

__all__ = ["WithBlock"]


class WithBlock(ABC):
    """A context manager that gives itself, and ends once. An exception of the block goes on."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._end(failed=kind is not None)

    @abstractmethod
    def _end(self, failed: bool) -> None:
        """What happens at the end of the block. failed: an exception ended it."""
