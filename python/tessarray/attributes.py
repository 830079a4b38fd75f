"""User attributes: a mapping that writes through to the metadata."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from typing import Any, Protocol

__all__ = ["Attributes"]


class _Node(Protocol):
    def _attributes(self) -> dict[str, Any]: ...
    def _set_attributes(self, attributes: Mapping[str, Any]) -> None: ...


class Attributes(MutableMapping[str, Any]):
    """Attributes of an array or a group. Each change rewrites its metadata document, atomically.

    Values are what JSON can hold: None, bool, int (64 bits), finite float, str, list and dict, and NumPy scalars and
    arrays of these. Anything else is an `InvalidArgumentError` that names the place, and nothing is written. Use
    `update` or `put` to change several in one write.

    >>> import tessarray
    >>> group = tessarray.create_group({})
    >>> group.attrs["units"] = "K"
    >>> group.attrs.update(scale=0.5, valid=[0, 100])
    >>> dict(group.attrs)
    {'units': 'K', 'scale': 0.5, 'valid': [0, 100]}
    """

    __slots__ = ("_node",)

    def __init__(self, node: _Node) -> None:
        self._node = node

    def __getitem__(self, key: str) -> Any:
        return self._node._attributes()[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self._node._set_attributes(self._node._attributes() | {key: value})

    def __delitem__(self, key: str) -> None:
        attributes = self._node._attributes()
        del attributes[key]
        self._node._set_attributes(attributes)

    def __iter__(self) -> Iterator[str]:
        return iter(self._node._attributes())

    def __len__(self) -> int:
        return len(self._node._attributes())

    def __contains__(self, key: object) -> bool:
        return key in self._node._attributes()

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Add and replace several, in one write."""
        self._node._set_attributes(self._node._attributes() | dict(*args, **kwargs))

    def clear(self) -> None:
        """Remove all, in one write."""
        self._node._set_attributes({})

    def put(self, attributes: Mapping[str, Any]) -> None:
        """Replace all, in one write."""
        self._node._set_attributes(dict(attributes))

    def asdict(self) -> dict[str, Any]:
        """A copy, as a dict."""
        return self._node._attributes()

    def __repr__(self) -> str:
        return f"Attributes({self._node._attributes()!r})"
