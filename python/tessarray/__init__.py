"""Tessarray: N-dimensional arrays cut into tiles, so that any slice is cheap and every write is safe.

>>> import numpy as np, tessarray
>>> a = tessarray.create_array("memory://", shape=(1000, 1000), dtype="float32", chunks=(100, 100), shards=(500, 500))
>>> a[10:20, ::100] = 1
>>> float(a[:, 0].sum())
10.0

Names follow zarr-python 3: `create_array`, `open`, `open_array`, `open_group`, `save`, `load`; `Array` and `Group`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tessarray import codecs, errors, stores
from tessarray._native import ChunkStream, __version__
from tessarray.array_appender import ArrayAppender
from tessarray.arrays import Array
from tessarray.creation import create, create_array, create_group
from tessarray.errors import TessarrayError
from tessarray.filled import (
    array,
    empty,
    empty_like,
    from_array,
    full,
    full_like,
    ones,
    ones_like,
    zeros,
    zeros_like,
)
from tessarray.findings import Finding
from tessarray.groups import Group
from tessarray.hierarchy import create_hierarchy
from tessarray.maintenance import CopyReport, check, consolidate_metadata, copy_store, repair
from tessarray.opening import open, open_array, open_consolidated, open_group
from tessarray.packs import Pack, create_pack, open_pack
from tessarray.saving import load, save, save_array, save_group
from tessarray.sessions import Session, default_session, register_codec
from tessarray.stores import LocalStore, MappingStore, MemoryStore, Store, ZipStore
from tessarray.transactions import Transaction

if TYPE_CHECKING:
    from tessarray.collection import (
        Collection,
        Dataset,
        RaggedArray,
        Variable,
        build_collection,
        create_collection,
        open_collection,
    )
    from tessarray.conversion import convert
    from tessarray.recording import record
    from tessarray.tuner.explain import explain
    from tessarray.tuner.tuning import tune

__all__ = [
    "Array",
    "ArrayAppender",
    "ChunkStream",
    "Collection",
    "CopyReport",
    "Dataset",
    "Finding",
    "Group",
    "LocalStore",
    "MappingStore",
    "MemoryStore",
    "Pack",
    "RaggedArray",
    "Session",
    "Store",
    "TessarrayError",
    "Transaction",
    "Variable",
    "ZipStore",
    "__version__",
    "array",
    "build_collection",
    "check",
    "codecs",
    "consolidate_metadata",
    "convert",
    "copy_store",
    "create",
    "create_array",
    "create_collection",
    "create_group",
    "create_hierarchy",
    "create_pack",
    "default_session",
    "empty",
    "empty_like",
    "errors",
    "explain",
    "from_array",
    "full",
    "full_like",
    "load",
    "ones",
    "ones_like",
    "open",
    "open_array",
    "open_collection",
    "open_consolidated",
    "open_group",
    "open_pack",
    "record",
    "register_codec",
    "repair",
    "save",
    "save_array",
    "save_group",
    "stores",
    "tune",
    "zeros",
    "zeros_like",
]

_OF_COLLECTIONS = {
    "Collection",
    "Dataset",
    "RaggedArray",
    "Variable",
    "build_collection",
    "create_collection",
    "open_collection",
}


def __getattr__(name: str) -> Any:
    # Conversion and collections import more than reading and writing need, so they are loaded when first asked for.
    if name == "convert":
        from tessarray.conversion import convert

        return convert
    if name in _OF_COLLECTIONS:
        from tessarray import collection

        return getattr(collection, name)
    if name == "record":
        from tessarray.recording import record

        return record
    if name == "explain":
        from tessarray.tuner.explain import explain

        return explain
    if name == "tune":
        from tessarray.tuner.tuning import tune

        return tune
    raise AttributeError(f"module 'tessarray' has no attribute {name!r}")


if os.environ.get("TESSARRAY_RECORD"):
    from tessarray.recording import record_as_asked

    record_as_asked()
