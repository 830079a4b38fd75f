"""Many arrays and groups at once, from their metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from tessarray import _native
from tessarray._native import Store
from tessarray.arrays import Array
from tessarray.errors import ExistsError, InvalidArgumentError
from tessarray.groups import Group
from tessarray.stores import StoreLike, store_of

__all__ = ["create_hierarchy"]

Documents = dict[str, dict[str, Any]]
# An array or group that is there or can be made as it is, or the document of a group to make.
Node = Array | Group | dict[str, Any]


def create_hierarchy(
    store: StoreLike, nodes: Mapping[str, Any], *, overwrite: bool = False
) -> Iterator[tuple[str, Array | Group]]:
    """Create arrays and groups from their metadata, and the groups between them; gives paths and nodes, sorted.

    `nodes` are metadata by path, as `Array.metadata` and `Group.metadata` are, or zarr-python's objects of metadata.
    All of them are looked at before the first is written: metadata that are not acceptable, a member of an array, two
    formats, and something that is there already (unless `overwrite` replaces it, with everything below) are errors
    then. The hierarchy as a whole is not atomic, except in a transaction of a pack.

    >>> import tessarray
    >>> model = tessarray.create_array({}, shape=(2, 3), dtype="int16").metadata
    >>> made = dict(tessarray.create_hierarchy(tessarray.MemoryStore(), {"ocean/depth": model}))
    >>> sorted(made), made["ocean/depth"].shape
    (['', 'ocean', 'ocean/depth'], (2, 3))
    """
    opened = store_of(store)
    given = {path.strip("/"): _document(path, node) for path, node in nodes.items()}
    ready = {path: _checked(opened, path, document) for path, document in _complete(given).items()}
    for path in ready:
        if path not in given and _is_there(opened, path):
            # What lies between must be a group; it stays as it is.
            ready[path] = Group(_native.open_node(opened, path, "group"), opened)
        elif not overwrite and _is_there(opened, path):
            raise ExistsError(f"{opened.describe()}: something is at {path!r}; pass overwrite", path=path)
    return iter([(path, _made(opened, path, node, overwrite)) for path, node in ready.items()])


def _document(path: str, node: Any) -> dict[str, Any]:
    document = node.to_dict() if hasattr(node, "to_dict") else node
    if not isinstance(document, Mapping) or document.get("zarr_format") not in (2, 3):
        raise InvalidArgumentError(
            f"{path!r}: expected metadata with zarr_format 2 or 3, found {node!r}", path=path
        )
    return dict(document)


def _is_array(document: Mapping[str, Any]) -> bool:
    return "shape" in document


def _complete(documents: Documents) -> Documents:
    """With the groups that lie between, in the order in which they can be made."""
    formats = {document["zarr_format"] for document in documents.values()}
    if len(formats) > 1:
        raise InvalidArgumentError("nodes: expected one zarr_format, found 2 and 3")
    whole = dict(documents)
    for path in documents:
        above = path
        while above:
            above = above.rpartition("/")[0]
            if _is_array(whole.setdefault(above, {"zarr_format": next(iter(formats)), "attributes": {}})):
                raise InvalidArgumentError(
                    f"{path!r}: {above!r} is an array, which has no members", path=path
                )
    return dict(sorted(whole.items(), key=lambda item: item[0].split("/") if item[0] else []))


def _checked(store: Store, path: str, document: dict[str, Any]) -> Node:
    """An array with this metadata, for which nothing was written yet; a group's document as it is."""
    if not _is_array(document):
        return document
    parts = [document]
    if document["zarr_format"] == 2:
        attributes = document.pop("attributes", {})
        parts = [document, dict(attributes)]
    texts = [json.dumps(part, default=_plain).encode() for part in parts]
    return Array(_native.array_from_documents(store, path, texts), store)


def _plain(value: Any) -> Any:
    """What zarr-python leaves in its dictionaries."""
    if hasattr(value, "to_dict"):
        return value.to_dict()
    return value.tolist() if hasattr(value, "tolist") else list(value)


def _is_there(store: Store, path: str) -> bool:
    at = f"{path}/" if path else ""
    return any(store.get(f"{at}{name}") is not None for name in ("zarr.json", ".zarray", ".zgroup"))


def _made(store: Store, path: str, node: Node, overwrite: bool) -> Array | Group:
    if isinstance(node, Group):
        return node
    if not isinstance(node, Array):
        attributes = node.get("attributes", {})
        return Group(_native.create_group(store, path, node["zarr_format"], attributes, overwrite), store)
    at = f"{path}/" if path else ""
    if overwrite:
        # Removes what is there with everything below.
        _native.create_group(store, path, node.zarr_format, None, True)
        for name in ("zarr.json", ".zgroup"):
            store.delete(f"{at}{name}")
    names = ("zarr.json",) if node.zarr_format == 3 else (".zarray", ".zattrs")
    # The document that makes it an array comes last.
    for name, document in reversed(list(zip(names, node._documents(), strict=True))):
        store.put(f"{at}{name}", document)
    return node
