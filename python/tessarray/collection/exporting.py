"""A dataset as files that others read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tessarray.conversion import convert
from tessarray.errors import InvalidTypeError

if TYPE_CHECKING:
    from tessarray.collection.collection import Collection


def export(collection: Collection, name: str, dest: Any, overwrite: bool, progress: bool) -> Any:
    """See `Collection.export`."""
    if not isinstance(dest, str | os.PathLike):
        raise InvalidTypeError(f"export: expected a path, found {type(dest).__name__}")
    return convert(collection[name].group, dest, overwrite=overwrite, progress=progress)
