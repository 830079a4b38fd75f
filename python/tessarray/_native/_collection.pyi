"""The datasets of a pack."""

from collections.abc import Mapping, Sequence
from typing import Any, Self, final

import numpy as np
import numpy.typing as npt

from tessarray._native._pack import PackVersionCore, TransactionCore
from tessarray._native._session import Session

@final
class CollectionCore:
    """The engine's side of a collection, at one version."""

    def __new__(cls, version: PackVersionCore, session: Session | None = None) -> Self: ...
    @property
    def version(self) -> int: ...
    def names(self) -> list[str]: ...
    def __len__(self) -> int: ...
    def __contains__(self, name: str) -> bool: ...
    def variables(self) -> list[tuple[str, int]]: ...
    def find(self, variable: str, names: Sequence[str] | None = None) -> FoundCore: ...
    def value(self, node: str, name: str) -> bytes | None: ...
    def dataset_attributes(self) -> list[str]: ...
    def letter_dimensions(self) -> list[str]: ...
    def statistics(
        self, found: FoundCore
    ) -> list[tuple[int, int, Any, Any, float | None, list[str] | None] | None]: ...

@final
class FoundCore:
    """The arrays of one variable of a collection."""

    def __len__(self) -> int: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def missing(self) -> Sequence[int]: ...
    @property
    def shapes(self) -> list[tuple[int, ...]]: ...
    @property
    def attributes(self) -> list[str]: ...
    @property
    def kinds(self) -> list[tuple[np.dtype[Any], list[str | None] | None, bytes, list[int]]]: ...
    def columns(self) -> list[npt.NDArray[np.int64]]: ...
    def read(
        self,
        keys: Sequence[Any],
        each: bool,
        members: Sequence[int] | None = None,
        out: npt.NDArray[Any] | None = None,
    ) -> tuple[npt.NDArray[Any], list[tuple[int, ...]], npt.NDArray[np.int64]]: ...

@final
class KindCore:
    """What arrays have in common that differ in shape and attributes only."""

    def __new__(cls, arguments: dict[str, Any], session: Session | None = None) -> Self: ...

def add_dataset(
    transaction: TransactionCore,
    name: str,
    attributes: Mapping[str, Any] | None,
    groups: Sequence[tuple[str, Mapping[str, Any]]],
    variables: Sequence[tuple[str, KindCore, Any, Any, bytes | None, list[str] | None]],
    session: Session | None = None,
) -> None: ...
def describe_array(
    transaction: TransactionCore,
    path: str,
    missing: bytes | None = None,
    texts: list[str] | None = None,
    session: Session | None = None,
) -> bool: ...
