"""What arrays and groups have in common: a place in a store, attributes, a metadata document."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

from tessarray import _native
from tessarray.attributes import Attributes

if TYPE_CHECKING:
    from tessarray._native import Store

__all__ = ["StoredNode"]


class StoredNode:
    """The part of `Array` and `Group` that is one; beside it stands the engine's side of either."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def path(self) -> str:
            """Where it is in the store; empty for the root."""

        @property
        def store(self) -> Store:
            """What holds it."""

        def _attributes(self) -> dict[str, Any]: ...
        def _set_attributes(self, attributes: Mapping[str, Any]) -> None: ...
        def _documents(self) -> list[bytes]: ...

    @property
    def attrs(self) -> Attributes:
        """The user's attributes, as a mapping that writes through."""
        return Attributes(self)

    def update_attributes(self, attributes: Mapping[str, Any]) -> Self:
        """Add and replace attributes in one write; returns the array or group."""
        self.attrs.update(attributes)
        return self

    @property
    def name(self) -> str:
        """The path with a slash in front, as zarr-python has it."""
        return f"/{self.path}"

    @property
    def basename(self) -> str:
        """The last part of the path."""
        return self.path.rpartition("/")[2]

    @property
    def metadata(self) -> dict[str, Any]:
        """The metadata document, as it would be written now: `zarr.json`, or that of v2 with its `attributes`."""
        documents: list[dict[str, Any]] = [_native.parse_json(document) for document in self._documents()]
        return documents[0] if len(documents) == 1 else documents[0] | {"attributes": documents[1]}

    @property
    def read_only(self) -> bool:
        """Whether changes are refused."""
        return self.store.read_only
