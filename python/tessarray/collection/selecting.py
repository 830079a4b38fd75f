"""Selection by values of coordinates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tessarray.collection import reading
from tessarray.collection.names import listed
from tessarray.collection.parts import NDArray
from tessarray.collection.ragged import RaggedArray
from tessarray.collection.reading import Missing, find
from tessarray.errors import InvalidArgumentError

if TYPE_CHECKING:
    from tessarray.collection.collection import Collection

__all__ = ["Selected"]


class Selected:
    """The part of a collection that lies within bounds of coordinates. Made by `Collection.sel`.

    >>> import numpy as np, tessarray
    >>> fleet = tessarray.create_collection(tessarray.MemoryStore())
    >>> with fleet.transaction("casts") as tx:
    ...     for name, depth in (("a", [0.0, 10.0, 20.0]), ("b", [5.0, 15.0])):
    ...         tx.add(name, {"z": ("z", np.array(depth)), "t": ("z", np.array(depth) * 2)})
    >>> fleet.sel({"z": slice(5, 15)}).read("t").tolist()
    [[20.0], [10.0, 30.0]]
    """

    def __init__(
        self, collection: Collection, indexers: Mapping[str, Any], names: str | Sequence[str] | None
    ) -> None:
        self._collection = collection.at(collection.version)
        self._names = None if names is None else listed(names)
        self._places = {dim: self._look(dim, value) for dim, value in indexers.items()}

    @property
    def names(self) -> list[str]:
        """Datasets of which something is selected."""
        asked = self._collection.names if self._names is None else self._names
        some = [
            {name for name, place in places.items() if _size(place) > 0} for places in self._places.values()
        ]
        return [name for name in asked if all(name in one for one in some)]

    def _look(self, dim: str, value: Any) -> dict[str, Any]:
        """Where in each dataset the values lie: a slice where they follow each other, else their places."""
        core = self._collection._core()
        _, found = find(core, dim, self._names, "skip")
        # A number beside times is one of the stored numbers, not microseconds since 1970.
        decode: reading.Decode = "numbers" if _is_number(value) else True
        coordinates = reading.read(core, dim, found.names, None, "error", decode, None)
        if coordinates.dtype.kind not in "biufmM":
            raise InvalidArgumentError(
                f"sel: coordinate {dim!r} holds neither numbers nor times: {coordinates.dtype}"
            )
        if (
            coordinates.ndim if isinstance(coordinates, np.ndarray) else coordinates.shapes.shape[1] + 1
        ) != 2:
            raise InvalidArgumentError(f"sel: coordinate {dim!r} has not one dimension")
        return {
            name: _places(np.asarray(part), value, dim)
            for name, part in zip(found.names, coordinates, strict=True)
        }

    def read(
        self,
        variable: str,
        missing: Missing = "error",
        *,
        decode: bool = True,
        out: NDArray | None = None,
    ) -> NDArray | RaggedArray:
        """Read a variable within the bounds; arguments are those of `Collection.read`."""
        names = self.names
        core = self._collection._core()
        asked, found = find(core, variable, names, missing)
        kind = found.columns()[0].tolist()
        kinds = found.kinds
        keys: dict[str, Any] = {}
        for name, number in zip(found.names, kind, strict=True):
            dims = kinds[number][1] or []
            absent = [dim for dim in self._places if dim not in dims]
            if absent and len(absent) == len(self._places):
                keys[name] = ...
                continue
            keys[name] = tuple(
                self._places[dim][name] if dim in self._places else slice(None) for dim in dims
            )
        return self._collection.read(
            variable, asked, lambda name, _: keys[name], missing, decode=decode, out=out
        )

    def __repr__(self) -> str:
        return f"<Selected by {', '.join(self._places)}: {len(self.names)} datasets>"


def _is_number(value: Any) -> bool:
    ends = (value.start, value.stop) if isinstance(value, slice) else (value,)
    return any(
        isinstance(end, int | float | np.number) and not isinstance(end, np.timedelta64) for end in ends
    )


def _size(place: Any) -> int:
    if isinstance(place, slice):
        return int(place.stop - place.start)
    return len(place) if isinstance(place, np.ndarray) else 1


def _places(coordinate: NDArray, value: Any, dim: str) -> Any:
    if not isinstance(value, slice):
        if not coordinate.size:
            return np.empty(0, np.int64)
        distance = np.abs(coordinate - _like(value, coordinate, dim))
        known = np.flatnonzero(distance == distance)
        if not known.size:
            raise InvalidArgumentError(f"sel: coordinate {dim!r} has no value near {value!r}")
        return int(known[np.argmin(distance[known])])
    if value.step is not None:
        raise InvalidArgumentError(f"sel: a slice of coordinate {dim!r} takes no step")
    inside = np.ones(coordinate.shape, bool)
    low, high = (None if end is None else _like(end, coordinate, dim) for end in (value.start, value.stop))
    if low is not None and high is not None and low > high:
        low, high = high, low
    if low is not None:
        inside &= coordinate >= low
    if high is not None:
        inside &= coordinate <= high
    places = np.flatnonzero(inside)
    if not places.size:
        return slice(0, 0)
    if places[-1] - places[0] + 1 == places.size:
        return slice(int(places[0]), int(places[-1]) + 1)
    return places


def _like(value: Any, coordinate: NDArray, dim: str) -> Any:
    """A value to compare with a coordinate: texts become times."""
    if coordinate.dtype.kind == "M" and _is_number(value):
        raise InvalidArgumentError(f"sel: coordinate {dim!r} holds times: expected a date, found {value!r}")
    try:
        found = np.asarray(value, coordinate.dtype if coordinate.dtype.kind in "mM" else None)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"sel: {value!r} is no value of coordinate {dim!r}: {error}") from None
    if found.dtype.kind not in "biufmM":
        raise InvalidArgumentError(f"sel: {value!r} is no value of coordinate {dim!r}, of {coordinate.dtype}")
    return found
