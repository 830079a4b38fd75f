"""TileDB dense arrays: one level of tiles, many of them in the one file that each write makes.

The tile is the layout's inner chunk: TileDB's unit of reading and compressing, which its documentation wants in the
shape of the queries. It has no Blosc: the same compressor after a byte or bit shuffle stands for it, and facts say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tessarray_bench.model import Codec, Layout, Workload
from tessarray_bench.systems.base import ArraySpec, Selection, System, Unsupported

GROWN = 1 << 40  # an axis that grows ends here: TileDB's domains are fixed, what is written of them is not


@dataclass
class Opened:
    """An open array, its shape, and how many rows were appended."""

    array: Any
    shape: tuple[int, ...]
    rows: int = 0


class TileDB(System):
    """Dense arrays of TileDB-Py."""

    name = "tiledb"
    title = "TileDB"
    modules = ("tiledb",)
    install = "pip install tiledb"
    sources: ClassVar[dict[str, str]] = {
        "tile": "https://docs.tiledb.com/main/how-to/performance/performance-tips/choosing-tiling-and-cell-layout",
        "cell order": "https://docs.tiledb.com/main/how-to/performance/performance-tips/choosing-tiling-and-cell-layout",
        "threads": "https://docs.tiledb.com/main/background/internal-mechanics/parallelism",
        "configuration": "https://docs.tiledb.com/main/how-to/configuration",
    }
    store = "store.tdb"
    format = "TileDB"
    codecs = ("blosc:lz4", "blosc:zstd", "blosc:zlib", "lz4", "zstd", "gzip", "none")

    def start(self, workers: int | None) -> None:
        import tiledb

        self.tiledb: Any = tiledb
        levels = ("sm.compute_concurrency_level", "sm.io_concurrency_level")
        self.ctx: Any = tiledb.Ctx({} if workers is None else {level: str(workers) for level in levels})

    # ---- one array

    def schema(self, shape: tuple[int, ...], dtype: str, layout: Layout | None, growing: bool = False) -> Any:
        """The schema of an array: tiles are the layout's chunks."""
        tiledb, ctx = self.tiledb, self.ctx
        tiles = layout.chunks if layout is not None else shape
        dimensions = []
        for axis, (length, tile) in enumerate(zip(shape, tiles, strict=True)):
            grows = growing and axis == 0
            domain = (0, GROWN - 1 if grows else length - 1)
            extent = max(1, tile) if grows else min(tile, length)
            dimensions.append(tiledb.Dim(f"dim_{axis}", domain=domain, tile=extent, dtype=np.uint64, ctx=ctx))
        filters = self.filters(layout.codec) if layout is not None else []
        kind, settings = (np.dtype("U0"), {"var": True}) if dtype == "string" else (np.dtype(dtype), {})
        attribute = tiledb.Attr(dtype=kind, filters=tiledb.FilterList(filters, ctx=ctx), ctx=ctx, **settings)
        return tiledb.ArraySchema(domain=tiledb.Domain(*dimensions, ctx=ctx), attrs=[attribute], ctx=ctx)

    def filters(self, codec: Codec) -> list[Any]:
        """The filters of a codec. Raises Unsupported."""
        tiledb, level, name = self.tiledb, codec.level, codec.name
        if name == "blosc":
            name = {"zlib": "gzip"}.get(codec.compressor, codec.compressor)
            if name == "zstd":  # what Blosc's levels are to Zstandard
                level = 22 if level == 9 else 2 * level - 1
        compressors = {"lz4": tiledb.LZ4Filter, "zstd": tiledb.ZstdFilter, "gzip": tiledb.GzipFilter}
        if name == "none":
            return []
        if name not in compressors:
            raise Unsupported(f"TileDB has no filters that amount to {codec}")
        shuffles = {"byte": [tiledb.ByteShuffleFilter()], "bit": [tiledb.BitShuffleFilter()], "none": []}
        return [*shuffles[codec.shuffle], compressors[name](level)]

    def create(self, path: Path, array: ArraySpec) -> Opened:
        schema = self.schema(array.shape, array.dtype, array.layout, array.growing)
        self.tiledb.Array.create(str(path), schema, ctx=self.ctx)
        return Opened(self.tiledb.open(str(path), "w", ctx=self.ctx), array.shape)

    def write(self, handle: Opened, values: Any) -> None:
        handle.array[:] = plain(values)

    def append(self, handle: Opened, values: Any) -> None:
        end = handle.rows + len(values)
        handle.array[handle.rows : end] = plain(values)
        handle.rows = end

    def finish(self, handle: Any) -> None:
        (handle.array if isinstance(handle, Opened) else handle).close()

    def open(self, path: Path) -> Opened:
        array = self.tiledb.open(str(path), ctx=self.ctx)
        filled = array.nonempty_domain() or ()
        return Opened(array, tuple(int(last) + 1 for _, last in filled))

    def read(self, handle: Opened, selection: Selection) -> Any:
        return handle.array[within(selection, handle.shape)]

    def close(self, handle: Any) -> None:
        self.finish(handle)

    def facts(self, path: Path) -> dict[str, Any]:
        """Of a group, its first array's."""
        uri = str(path)
        if self.tiledb.object_type(uri, ctx=self.ctx) == "group":
            uri = next(iter(self.tiledb.Group(uri, "r", ctx=self.ctx))).uri
        schema = self.tiledb.ArraySchema.load(uri, ctx=self.ctx)
        attribute, domain = schema.attr(0), schema.domain
        codec, shuffle, checksum = Codec("none", "", 0, "none"), "none", None
        names = {"LZ4Filter": "lz4", "ZstdFilter": "zstd", "GzipFilter": "gzip"}
        for index in range(len(attribute.filters)):
            stage = attribute.filters[index]
            kind = type(stage).__name__
            shuffle = {"ByteShuffleFilter": "byte", "BitShuffleFilter": "bit"}.get(kind, shuffle)
            checksum = {"ChecksumMD5Filter": "md5", "ChecksumSHA256Filter": "sha256"}.get(kind, checksum)
            if kind in names:
                codec = Codec(names[kind], "", stage.level, shuffle)
        return {
            "chunks": [int(domain.dim(axis).tile) for axis in range(domain.ndim)],
            "shards": None,
            "codec": str(codec),
            "checksum": checksum,
            "dtype": "string" if attribute.isvar else attribute.dtype.str.lstrip("<>=|"),
            "fragments": len(self.tiledb.array_fragments(uri, ctx=self.ctx)),
        }

    # ---- small arrays: a group

    def create_small(self, path: Path, workload: Workload) -> Any:
        self.tiledb.Group.create(str(path), ctx=self.ctx)
        return self.tiledb.Group(str(path), "w", ctx=self.ctx)

    def add_small(self, handle: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        uri = f"{handle.uri}/{name}"
        self.tiledb.Array.create(uri, self.schema(shape, dtype, None), ctx=self.ctx)
        handle.add(name, name, relative=True)
        return uri

    def write_small(self, array: Any, values: Any) -> None:
        with self.tiledb.open(array, "w", ctx=self.ctx) as opened:
            opened[:] = values

    def open_small(self, path: Path, workload: Workload) -> Any:
        return self.tiledb.Group(str(path), "r", ctx=self.ctx)

    def get_small(self, handle: Any, name: str) -> Any:
        return self.tiledb.open(handle[name].uri, ctx=self.ctx)

    def read_small(self, array: Any) -> Any:
        with array:
            return array[:]


def within(selection: Selection, shape: tuple[int, ...]) -> Selection:
    """The same, with ends: `:` would be all of the domain, written or not."""
    full = (*selection, *(slice(None),) * (len(shape) - len(selection)))
    bounded: list[slice | int] = []
    for part, length in zip(full, shape, strict=True):
        if isinstance(part, slice):
            first, last, step = part.indices(length)
            if step != 1:
                raise Unsupported("TileDB reads no strides")
            bounded.append(slice(first, last))
        else:
            bounded.append(part)
    return tuple(bounded)


def plain(values: Any) -> Any:
    """Strings as the objects that TileDB takes; anything else as it is."""
    return values.astype(object) if values.dtype.kind == "T" else values
