"""Collections: thousands to millions of datasets in one pack, read across in one call.

>>> import numpy as np, tessarray
>>> fleet = tessarray.create_collection(tessarray.MemoryStore())
>>> with fleet.transaction("three casts") as tx:
...     for i, depths in enumerate((3, 3, 2)):
...         tx.add(f"cast-{i}", {"temperature": np.arange(depths) + 10.0 * i}, attrs={"ship": "Meteor"})
>>> fleet.read("temperature", ["cast-0", "cast-1"])
array([[ 0.,  1.,  2.],
       [10., 11., 12.]])
>>> fleet.read("temperature").row_sizes
array([3, 3, 2])
>>> fleet["cast-2"]["temperature"][:1].tolist(), fleet["cast-2"].attrs["ship"]
([20.0], 'Meteor')

A collection is a pack whose groups at the top are the datasets; what packs can do, collections can: versions, tags,
several writers, `compact`, `check`. Any Zarr library reads a dataset of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tessarray.collection.collection import Collection
from tessarray.collection.dataset import Dataset
from tessarray.collection.given import Variable
from tessarray.collection.opening import create_collection, open_collection
from tessarray.collection.ragged import RaggedArray
from tessarray.collection.transaction import CollectionTransaction

if TYPE_CHECKING:
    from tessarray.collection.building import BuildReport, build_collection

__all__ = [
    "BuildReport",
    "Collection",
    "CollectionTransaction",
    "Dataset",
    "RaggedArray",
    "Variable",
    "build_collection",
    "create_collection",
    "open_collection",
]


def __getattr__(name: str) -> Any:
    # To build imports the readers of other formats.
    if name in ("BuildReport", "build_collection"):
        from tessarray.collection import building

        return getattr(building, name)
    raise AttributeError(f"module 'tessarray.collection' has no attribute {name!r}")
