"""Blosc2 NDim arrays (`.b2nd`), the living successor of Caterva: chunks of blocks, one contiguous frame a file.

A layout with shards is Blosc2's own double partitioning: its chunk is the shard, its block the inner chunk. Without
shards the chunk is as asked and Blosc2 chooses the blocks in it, as its documentation advises; `facts` say which.
"""

from __future__ import annotations

import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from tessarray_bench.model import Codec, Workload
from tessarray_bench.systems.base import ArraySpec, Selection, System, Unsupported

COMPRESSORS = {"blosclz": "BLOSCLZ", "lz4": "LZ4", "lz4hc": "LZ4HC", "zlib": "ZLIB", "zstd": "ZSTD"}
FILTERS = {"byte": "SHUFFLE", "bit": "BITSHUFFLE", "none": "NOFILTER"}


@dataclass
class Created:
    """An array that is to be written: fixed ones come into being with their values."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    settings: dict[str, Any]
    array: Any = None


@dataclass
class Tree:
    """A tree of arrays that is being written, and where it goes when it is whole."""

    path: Path
    zipped: Path
    store: Any


class Blosc2(System):
    """NDim arrays of python-blosc2, a file each."""

    name = "blosc2"
    title = "Blosc2 NDim"
    modules = ("blosc2",)
    install = "pip install blosc2"
    sources: ClassVar[dict[str, str]] = {
        "blocks": "https://www.blosc.org/posts/blosc2-ndim-intro/",
        "contiguous": "https://blosc.org/python-blosc2/reference/autofiles/storage/blosc2.Storage.html",
        "mmap_mode": "https://www.blosc.org/python-blosc2/reference/autofiles/top_level/blosc2.open.html",
        "points": "https://www.blosc.org/posts/blosc2-fancy-indexing",
        "small arrays": "https://www.blosc.org/python-blosc2/reference/tree_store.html",
        "threads": "https://github.com/Blosc/c-blosc2/blob/main/README_THREADED.rst",
    }
    store = "store.b2nd"
    format = "b2nd"
    codecs = ("blosc", *(f"blosc:{inner}" for inner in COMPRESSORS), "lz4", "zstd", "gzip", "none")
    double_partitioning = True

    @classmethod
    def variables(cls, workers: int | None) -> dict[str, str]:
        names = ("BLOSC_NTHREADS", "NUMEXPR_NUM_THREADS")
        return {} if workers is None else dict.fromkeys(names, str(workers))

    def start(self, workers: int | None) -> None:
        import blosc2

        self.blosc2: Any = blosc2
        if workers is not None:
            blosc2.set_nthreads(workers)

    # ---- one array

    def create(self, path: Path, array: ArraySpec) -> Created:
        if array.dtype == "string":
            raise Unsupported(
                "Blosc2 has variable-length strings in one-dimensional columns only, not in arrays"
            )
        settings: dict[str, Any] = {"mode": "w", "contiguous": True}
        if array.layout is not None:
            settings["chunks"] = fitted(array.layout.outer, array)
            settings["blocks"] = fitted(array.layout.chunks, array) if array.layout.shards else None
            settings["cparams"] = self.parameters(array.layout.codec)
        elif array.growing:  # no rows have no natural chunk: take what Blosc2 would choose for all of them
            found = self.blosc2.compute_chunks_blocks(array.shape, dtype=np.dtype(array.dtype))
            settings["chunks"], settings["blocks"] = found
        made = Created(str(path), array.shape, array.dtype, settings)
        if array.growing:
            made.array = self.empty(made, (0, *array.shape[1:]))
        return made

    def empty(self, made: Created, shape: tuple[int, ...]) -> Any:
        """A new array on disk, without values."""
        return self.blosc2.empty(shape, dtype=np.dtype(made.dtype), urlpath=made.path, **made.settings)

    def parameters(self, codec: Codec) -> Any:
        """The compression parameters of a codec. Raises Unsupported."""
        blosc2, level, inner = self.blosc2, codec.level, codec.compressor
        if codec.name == "zstd":  # Blosc's level n is Zstandard's 2 n - 1
            inner, level = "zstd", min(9, max(1, (codec.level + 1) // 2))
        elif codec.name != "blosc":
            inner = {"gzip": "zlib", "lz4": "lz4", "none": "lz4"}.get(codec.name, "")
            level = {"lz4": 9, "none": 0}.get(codec.name, level)  # LZ4 itself has Blosc's fewest shortcuts: 9
        if inner not in COMPRESSORS:
            raise Unsupported(f"Blosc2 has no codec {codec}")
        return blosc2.CParams(
            codec=getattr(blosc2.Codec, COMPRESSORS[inner]),
            clevel=level,
            filters=[getattr(blosc2.Filter, FILTERS[codec.shuffle])],
            nthreads=blosc2.nthreads,
        )

    def write(self, handle: Created, values: Any) -> None:
        if values.flags.c_contiguous:
            handle.array = self.empty(handle, handle.shape)
            handle.array[...] = values
        else:  # takes one chunk at a time out of any array, without a copy of the whole
            handle.array = self.blosc2.asarray(values, urlpath=handle.path, **handle.settings)

    def append(self, handle: Created, values: Any) -> None:
        array = handle.array
        begin = array.shape[0]
        array.resize((begin + len(values), *array.shape[1:]))
        array[begin:] = np.ascontiguousarray(values)

    def finish(self, handle: Any) -> None:
        if isinstance(handle, Tree):
            handle.store.close()
            handle.zipped.replace(handle.path)
        else:
            handle.array = None  # every change of a frame is in the file when the call returns

    def open(self, path: Path) -> Any:
        return self.blosc2.open(str(path), mmap_mode="r")

    def open_url(self, url: str) -> Any:
        return self.blosc2.open(url, lazy=True)

    def read(self, handle: Any, selection: Selection) -> Any:
        return handle[selection]

    def read_points(self, handle: Any, coordinates: tuple[Any, ...]) -> Any:
        return handle[coordinates]

    def close(self, handle: Any) -> None:
        if hasattr(handle, "close"):  # a tree; an array has nothing to close
            handle.close()

    def facts(self, path: Path) -> dict[str, Any]:
        """Of a tree, its first array's."""
        if zipfile.is_zipfile(path):
            tree = self.blosc2.TreeStore(str(path), mode="r")
            array = tree[next(iter(tree.keys()))]
        else:
            array = self.blosc2.open(str(path))
        used = array.cparams
        inner = next((name for name, ours in COMPRESSORS.items() if ours == used.codec.name), used.codec.name)
        kinds = {getattr(self.blosc2.Filter, ours): name for name, ours in FILTERS.items() if name != "none"}
        shuffle = next((kinds[kind] for kind in used.filters if kind in kinds), "none")
        blocks, chunks = list(array.blocks), list(array.chunks)
        return {
            "chunks": blocks,
            "shards": chunks if blocks != chunks else None,
            "codec": str(Codec("blosc", inner, used.clevel, shuffle)) if used.clevel else "none",
            "checksum": None,
            "dtype": array.dtype.str.lstrip("<>=|"),
        }

    # ---- small arrays: one zip of frames; an array comes into being when its values are assigned

    def create_small(self, path: Path, workload: Workload) -> Tree:
        zipped = path.with_suffix(".b2z")  # this suffix is what tells Blosc2 to make one file
        return Tree(path, zipped, self.blosc2.TreeStore(str(zipped), mode="w"))

    def add_small(self, handle: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        return handle.store, f"/{name}"

    def write_small(self, array: Any, values: Any) -> None:
        store, key = array
        store[key] = values

    def open_small(self, path: Path, workload: Workload) -> Any:
        return self.blosc2.TreeStore(str(path), mode="r", mmap_mode="r")

    def get_small(self, handle: Any, name: str) -> Any:
        return handle[f"/{name}"]

    def read_small(self, array: Any) -> Any:
        return array[...]


def fitted(shape: tuple[int, ...], array: ArraySpec) -> tuple[int, ...]:
    """No chunk is longer than its axis; an axis that grows has no length yet."""
    free = 1 if array.growing else 0
    return (*shape[:free], *map(min, shape[free:], array.shape[free:]))
