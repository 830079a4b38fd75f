"""The engine behind the conversion: tessarray, or zarr-python as a stand-in while the engine is being built."""

from __future__ import annotations

from typing import Any

import zarr
from zarr import consolidate_metadata, create_array, create_group, open, open_array, open_group
from zarr.codecs import BloscCodec, BloscShuffle


class TessarrayError(Exception):
    """Stand-in root."""


def codec(text: str) -> Any:
    parts = text.split(":")
    return BloscCodec(cname=parts[1], clevel=int(parts[2]), shuffle=BloscShuffle[parts[3]])


Array = zarr.Array
Group = zarr.Group
__all__ = ["TessarrayError", "consolidate_metadata", "create_array", "create_group", "open", "open_array", "open_group", "Array", "Group"]
