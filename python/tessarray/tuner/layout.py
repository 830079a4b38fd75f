"""Layouts: how an array is cut and coded, as a value that can be raced, written to a file and applied.

Chunks are what is read (inner chunks, if there are shards), shards what is stored as one object.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import tessarray
from tessarray.conversion.layout_file import codec_arguments
from tessarray.errors import TessarrayError
from tessarray.tuner.errors import LayoutFileError

__all__ = ["Layout", "layout_of", "stored_units"]

Extents = tuple[int, ...]


@dataclass(frozen=True)
class Layout:
    """Chunks, shards (None: every chunk is an object), codecs as short texts, and whether checksums are stored.

    codec: bytes to bytes, as `create_array` takes it ("blosc:lz4:5:shuffle", "zstd:3"), "none", or "pcodec:8" (which
    is array to bytes). filters: array to array, JSON texts or names; only lossy proposals have any.
    """

    chunks: Extents
    shards: Extents | None
    codec: str
    checksum: bool = True
    filters: tuple[str, ...] = ()

    @property
    def unit(self) -> Extents:
        """What one stored object holds."""
        return self.shards or self.chunks

    def arguments(self) -> dict[str, Any]:
        """What to give `tessarray.create_array` for it."""
        return {"chunks": self.chunks, "shards": self.shards} | codec_arguments(
            self.codec, self.checksum, self.filters, sharded=self.shards is not None
        )

    def create(self, store: Any, shape: Extents, dtype: Any, **more: Any) -> Any:
        """An array of this layout."""
        return tessarray.create_array(store, shape=shape, dtype=dtype, **self.arguments(), **more)

    def metadata(self, shape: Extents, dtype: Any, **more: Any) -> dict[str, Any]:
        """The exact Zarr metadata of an array of this layout. Raises what `create_array` raises."""
        found: dict[str, Any] = self.create({}, shape, dtype, **more).metadata
        return found

    def files(self, shape: Extents) -> int:
        """Objects that an array of this shape has in it, its metadata apart."""
        return stored_units(shape, self.unit)

    def text(self) -> str:
        """For people: `shards 64×512×512 of 16×64×64, zstd:3`."""
        cut = _sizes(self.chunks)
        cut = f"shards {_sizes(self.shards)} of {cut}" if self.shards else f"chunks {cut}"
        lossy = f", {len(self.filters)} lossy filter" if self.filters else ""
        return f"{cut}, {self.codec}{lossy}"

    def document(self) -> dict[str, Any]:
        """As it stands in `layout.json`."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> Layout:
        """The opposite. Raises `LayoutFileError`."""
        try:
            shards = document["shards"]
            return cls(
                tuple(int(n) for n in document["chunks"]),
                None if shards is None else tuple(int(n) for n in shards),
                str(document["codec"]),
                bool(document.get("checksum", True)),
                tuple(str(text) for text in document.get("filters", ())),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise LayoutFileError(f"layout: expected chunks, shards and codec, found {document!r}") from error


def _sizes(extents: Extents) -> str:
    return "×".join(map(str, extents))


def stored_units(shape: Extents, unit: Extents) -> int:
    """How many objects of `unit` an array of `shape` has."""
    return math.prod(-(-n // u) for n, u in zip(shape, unit, strict=True))


def layout_of(array: Any) -> Layout | None:
    """The layout that a Tessarray array has; None if short texts cannot say it."""
    try:
        codec, checksum = _codec_text(array)
        found = Layout(tuple(array.chunks), tuple(array.shards) if array.shards else None, codec, checksum)
        found.metadata(tuple(array.shape), array.dtype)
    except (LookupError, TypeError, ValueError, TessarrayError):
        return None
    return found


def _codec_text(array: Any) -> tuple[str, bool]:
    """The compressor of an array as a short text, and whether it has a checksum. Raises LookupError for others."""
    names = [codec["name"] for codec in array.compressors]
    checksum = names[-1:] == ["crc32c"]
    rest = array.compressors[:-1] if checksum else array.compressors
    if not array.shards and names:
        inside = names[-1] == "zstd" and rest[-1].get("configuration", {}).get("checksum", False)
        checksum = checksum or inside or names[-1] in ("blosc", "gzip")
    if array.filters:
        raise LookupError("filters")
    if array.serializer["name"] == "numcodecs.pcodec":
        return f"pcodec:{array.serializer.get('configuration', {}).get('level', 8)}", checksum
    if not rest:
        return "none", checksum
    (codec,) = rest
    settings = codec.get("configuration", {})
    match codec["name"]:
        case "blosc":
            shuffle = settings["shuffle"]
            return f"blosc:{settings['cname']}:{settings['clevel']}:{shuffle}", checksum
        case "zstd":
            return f"zstd:{settings.get('level', 0)}", checksum
        case "gzip":
            return f"gzip:{settings.get('level', 6)}", checksum
    raise LookupError(codec["name"])
