"""The log of accesses."""

import os
from pathlib import Path
from typing import Self, final

@final
class AccessLog:
    """A log of accesses that is on from its making until `end`; see `tessarray.record`."""

    def __new__(cls, path: str | os.PathLike[str]) -> Self: ...
    def end(self) -> None: ...
    @property
    def path(self) -> Path: ...
    @property
    def lines(self) -> int: ...
    @property
    def lost(self) -> int: ...
