"""Transactions of a collection: datasets are added, changed and removed, and all of it becomes a version at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from tessarray import _native
from tessarray.arrays import Array
from tessarray.collection.decoding import missing_bytes
from tessarray.collection.given import (
    TEXTS,
    Given,
    Lengths,
    dataset_of,
    levels_of,
    stored_attributes,
    texts_of,
    unmasked,
    values_of,
)
from tessarray.collection.kinds import Kinds
from tessarray.conversion.attributes import decode_fill
from tessarray.errors import InvalidArgumentError, NotFoundError, WrongNodeError
from tessarray.groups import Group
from tessarray.sessions import Session
from tessarray.transactions import Transaction
from tessarray.with_block import WithBlock

__all__ = ["CollectionTransaction"]

# Path, kind, attributes, values, elements that stand for no value, distinct texts.
Prepared = tuple[str, _native.KindCore, Any, Any, bytes | None, list[str] | None]


class CollectionTransaction(WithBlock):
    """Changes of a collection that nobody else sees until they are committed. Made by `Collection.transaction`.

    >>> import numpy as np, tessarray
    >>> fleet = tessarray.create_collection(tessarray.MemoryStore())
    >>> with fleet.transaction("one") as tx:
    ...     tx.add("a", {"t": ("z", np.arange(3.0), {"units": "K"})}, attrs={"ship": "Meteor"})
    >>> with fleet.transaction("two") as tx:
    ...     tx.update("a", "t", slice(0, 1), -1)
    ...     tx.append("a", "t", [3.0])
    ...     tx.rename("a", "b")
    >>> fleet.read("t").tolist()
    [[-1.0, 1.0, 2.0, 3.0]]
    """

    def __init__(
        self, transaction: Transaction, chunks: Any, compressors: Any, session: Session | None
    ) -> None:
        self._transaction = transaction
        self._session = session
        self._kinds = Kinds(chunks, compressors, session)
        self._rooted = False

    @property
    def pack(self) -> Transaction:
        """The transaction of the pack."""
        return self._transaction

    @property
    def version(self) -> int | None:
        """The number of the version that the commit made; `None` before it, or where nothing was changed."""
        return self._transaction.version

    def add(self, name: str, dataset: Any, attrs: Mapping[str, Any] | None = None) -> None:
        """Add a dataset under a name that is free.

        dataset: a mapping of names to array-likes, to `(dims, values)`, `(dims, values, attrs)` or `Variable`; an
        `xarray.Dataset` or `DataTree`; or the path of a file that `convert` can read. Names with slashes lie in groups.
        attrs: of the dataset, added to those that it has. Values are taken as stored ones: with a `scale_factor`
        among the attributes, they are packed. They are encoded when this returns, so that they may change after it.

        Masked elements are stored as the `_FillValue`, or NaN.

        Raises `ExistsError` where the name is taken, `InvalidArgumentError` where a dimension has two lengths in one
        group, but for the levels of an OME-Zarr pyramid (`multiscales` among the group's attributes).
        """
        self.add_given(name, dataset_of(dataset, attrs))

    def add_given(self, name: str, given: Given) -> None:
        """The same, for a dataset that was made out."""
        self.put(name, given, self.prepare(given))

    def prepare(self, given: Given) -> list[Prepared]:
        """Variables as the engine takes them: what cannot be stored fails here, before anything is changed."""
        variables = []
        lengths = Lengths(levels_of(given))
        for path, whole in given.variables.items():
            variable = unmasked(path, whole)
            values, dtype = values_of(path, variable)
            lengths.add(path, variable.dims, values.shape)
            attributes, fill = stored_attributes(variable, dtype)
            kind = self._kinds.of(
                path, values.shape, dtype, variable.dims, fill, variable.chunks, variable.compressors
            )
            missing = missing_bytes(attributes or {}, values.dtype)
            if missing is None and isinstance(fill, np.generic):
                missing = fill.astype(values.dtype).tobytes()
            variables.append((path, kind, attributes, values, missing, texts_of(values, dtype)))
        return variables

    def put(self, name: str, given: Given, variables: list[Prepared]) -> None:
        """Put a dataset whose variables were prepared."""
        if not self._rooted:
            _ = self._transaction.root
            self._rooted = True
        _native.add_dataset(
            self._transaction._core, name, given.attrs, given.groups, variables, self._session
        )

    def update(self, name: str, variable: str, selection: Any, values: npt.ArrayLike) -> None:
        """Write values to a selection of a variable, as `array[selection] = values`."""
        self._array(name, variable)[selection] = values
        self._describe(name, variable)

    def append(self, name: str, variable: str, values: npt.ArrayLike, axis: int = 0) -> tuple[int, ...]:
        """Append to a variable along an axis; returns its new shape."""
        shape = self._array(name, variable).append(values, axis=axis)
        self._describe(name, variable)
        return shape

    def set_attributes(self, name: str, attrs: Mapping[str, Any], variable: str | None = None) -> None:
        """Add and replace attributes of a dataset, or of a variable of it."""
        node = self._group(name) if variable is None else self._array(name, variable)
        node.attrs.update(attrs)
        if variable is not None:
            self._describe(name, variable)

    def remove(self, name: str) -> None:
        """Remove a dataset."""
        self._group(name)
        del self._transaction[name]

    def rename(self, name: str, to: str) -> None:
        """Give a dataset another name, which is free. Costs a copy of its stored bytes; nothing is decoded."""
        self._group(name)
        if not to or "/" in to or to.startswith("__"):
            raise InvalidArgumentError(f"dataset name: expected one part of a path, found {to!r}")
        if to in self:
            raise InvalidArgumentError(f"rename: dataset {to!r} is there already")
        store = self._transaction.store
        # Documents before chunks: a pack has to know an array to take its chunks.
        keys = sorted((key for key, _ in store.list(name)), key=lambda key: (not _is_document(key), key))
        statistics = []
        for key in keys:
            value = store.get(key)
            assert value is not None
            if key.endswith("/statistics.json"):
                statistics.append((key, value))
            else:
                store.put(to + key[len(name) :], value)
        for key, value in statistics:
            store.put(to + key[len(name) :], value)
        del self._transaction[name]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and "/" not in name and name in self._transaction

    def __getitem__(self, name: str) -> Group:
        """The group of a dataset, to change it as any group."""
        return self._group(name)

    def _group(self, name: str) -> Group:
        try:
            found = self._transaction[name]
        except NotFoundError:
            raise NotFoundError(f"no dataset {name!r}", path=name) from None
        if "/" in name or not isinstance(found, Group):
            raise WrongNodeError(f"{name!r} is no dataset", path=name)
        return found

    def _array(self, name: str, variable: str) -> Array:
        found = self._group(name)
        try:
            array = found[variable]
        except NotFoundError:
            raise NotFoundError(
                f"dataset {name!r} has no variable {variable!r}", path=f"{name}/{variable}"
            ) from None
        if not isinstance(array, Array):
            raise WrongNodeError(f"{name}/{variable} is a group", path=f"{name}/{variable}")
        return array

    def _describe(self, name: str, variable: str) -> None:
        """Keep what is known of a variable's values true after a change."""
        describe(self._transaction, self._array(name, variable), self._session)

    def commit(self) -> int | None:
        """Make the changes a version and return its number; the `with` block does this."""
        return self._transaction.commit()

    def abandon(self) -> None:
        """Give the changes up."""
        self._transaction.abandon()

    def _end(self, failed: bool) -> None:
        if failed:
            self.abandon()
        else:
            self.commit()

    def __repr__(self) -> str:
        return f"<CollectionTransaction {self._transaction.message!r}>"


def describe(transaction: Transaction, array: Array, session: Session | None) -> bool:
    """Store what the values of an array of a transaction are; `False` for types without an order."""
    missing = texts = None
    if array.dtype.kind in "SUTO":
        if array.size > TEXTS:
            return False
        texts = texts_of(np.asarray(array[...]), array.dtype)
        if texts is None:
            return False
    elif array.dtype.kind in "iuf":
        missing = missing_bytes(dict(array.attrs), array.dtype)
    elif "_FillValue" in array.attrs:
        missing = np.asarray(decode_fill(array.attrs["_FillValue"], array.dtype), array.dtype).tobytes()
    return _native.describe_array(transaction._core, array.path, missing, texts, session)


def _is_document(key: str) -> bool:
    return key.rpartition("/")[2] in ("zarr.json", ".zarray", ".zgroup", ".zattrs")
