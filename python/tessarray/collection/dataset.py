"""One dataset of a collection."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tessarray.arrays import Array
from tessarray.collection.keys import Selection
from tessarray.collection.names import unknown
from tessarray.collection.parts import NDArray
from tessarray.errors import NotFoundError
from tessarray.groups import Group
from tessarray.opening import open_group

if TYPE_CHECKING:
    from tessarray.collection.collection import Collection

__all__ = ["Dataset"]


class Dataset(Mapping[str, Array]):
    """A dataset: a mapping from variables (with slashes in groups) to arrays, read-only. Made by `collection[name]`.

    Its arrays hold the stored values, fill values among them; `read` gives what they mean.
    """

    def __init__(self, collection: Collection, name: str) -> None:
        self.collection, self.name = collection, name
        self._group: Group | None = None
        self._variables: dict[str, Array] | None = None

    @property
    def group(self) -> Group:
        """Its group."""
        if self._group is None:
            self._group = open_group(self.collection.store, path=self.name, mode="r")
        return self._group

    @property
    def attrs(self) -> dict[str, Any]:
        """Its attributes."""
        return dict(self.group.attrs)

    def _all(self) -> dict[str, Array]:
        if self._variables is None:
            found = self.group.members(max_depth=None)
            self._variables = {path: node for path, node in found if isinstance(node, Array)}
        return self._variables

    def __getitem__(self, variable: str) -> Array:
        if self._variables is None:
            try:
                node = self.group[variable]
            except NotFoundError:
                node = None
        else:
            node = self._variables.get(variable)
        if not isinstance(node, Array):
            raise unknown("variable", variable, self._all(), f"dataset {self.name!r}")
        return node

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def __contains__(self, variable: object) -> bool:
        return variable in self._all()

    def read(
        self, variable: str, selection: Selection = None, *, decode: bool = True, clip: bool = False
    ) -> NDArray:
        """The values of a variable, or a selection of them; see `Collection.read`.

        >>> import numpy as np, tessarray
        >>> fleet = tessarray.create_collection(tessarray.MemoryStore())
        >>> with fleet.transaction("one") as tx:
        ...     tx.add("a", {"t": ("z", np.array([20.5, 99999.0]), {"_FillValue": 99999.0})})
        >>> fleet["a"].read("t").tolist(), fleet["a"]["t"][...].tolist()
        ([20.5, nan], [20.5, 99999.0])
        """
        if variable not in self:
            raise unknown("variable", variable, self._all(), f"dataset {self.name!r}")
        values = self.collection.read(variable, [self.name], selection, decode=decode, clip=clip)
        return np.asarray(values[0])

    def to_xarray(self, group: str = "", **options: Any) -> Any:
        """The dataset (or a group of it) as an `xarray.Dataset`, lazily, decoded by the CF conventions.

        options: of `xarray.open_dataset`, such as `decode_cf=False` or `chunks={}`.
        """
        import xarray

        from tessarray.collection.backend import Backend

        path = f"{self.name}/{group}".strip("/")
        # xarray hands what it is given to the backend, a path or not.
        given: Any = self.collection
        return xarray.open_dataset(given, engine=Backend, group=path, **options)

    def __repr__(self) -> str:
        shapes = ", ".join(f"{name} {array.shape}" for name, array in self._all().items())
        return f"<Dataset {self.name!r}: {shapes}>"
