"""What the Zarr systems share: codecs as Zarr v3 JSON, a store's own metadata as `facts`, and groups of many arrays.

Every system is given the same JSON for a codec, so that typesize, shuffle and block size are the same for all.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tessarray_bench.model import Codec, Layout, Workload
from tessarray_bench.systems.base import Selection, System, Unsupported

JSON = dict[str, Any]

SHUFFLES = {"byte": "shuffle", "bit": "bitshuffle", "none": "noshuffle"}
KINDS = {"int": "i", "uint": "u", "float": "f", "complex": "c"}


def compressors(codec: Codec, dtype: str) -> list[JSON]:
    """The bytes-to-bytes codecs that a codec of the benchmark means."""
    itemsize = 1 if dtype == "string" else np.dtype(dtype).itemsize
    found: list[JSON] = []
    if codec.name == "blosc":
        settings = {"cname": codec.compressor, "clevel": codec.level, "shuffle": SHUFFLES[codec.shuffle]}
        return [named("blosc", **settings, typesize=itemsize, blocksize=0)]
    if codec.shuffle == "byte":
        found.append(named("numcodecs.shuffle", elementsize=itemsize))
    elif codec.shuffle != "none":
        raise Unsupported(f"a {codec.shuffle} shuffle before {codec.name}: Zarr has it within blosc only")
    if codec.name == "zstd":
        found.append(named("zstd", level=codec.level, checksum=False))
    elif codec.name == "gzip":
        found.append(named("gzip", level=codec.level))
    elif codec.name == "lz4":
        found.append(named("numcodecs.lz4", acceleration=max(codec.level, 1)))
    elif codec.name != "none":
        raise Unsupported(f"the codec {codec}: Zarr has no such one")
    return found


def named(name: str, **configuration: Any) -> JSON:
    """A codec's or grid's part of the metadata."""
    return {"name": name, "configuration": configuration}


def metadata(shape: Sequence[int], dtype: str, layout: Layout) -> JSON:
    """The metadata of an array, for systems that take it whole. The index of a shard: at its end, with a crc32c."""
    plain = named("bytes", endian="little")
    codecs = [plain, *compressors(layout.codec, dtype)]
    if layout.shards:
        index = [plain, {"name": "crc32c"}]
        sharding = {"chunk_shape": layout.chunks, "index_codecs": index, "index_location": "end"}
        codecs = [named("sharding_indexed", codecs=codecs, **sharding)]
    return {
        "shape": list(shape),
        "data_type": np.dtype(dtype).name,
        "chunk_grid": named("regular", chunk_shape=layout.outer),
        "codecs": codecs,
    }


def refusal(system: type[System], workload: Workload, strings: bool = True) -> str | None:
    """Why a Zarr system cannot do a workload: its data type, or a codec that it has not got."""
    if not strings and workload.data is not None and workload.data.dtype == "string":
        return "strings of variable length"
    if workload.layout is None:
        return None
    codec = workload.layout.codec
    known = codec.name in system.codecs or f"{codec.name}:{codec.compressor}" in system.codecs
    return None if known else f"the codec {codec}"


# ---- facts


def facts(path: Path) -> JSON:
    """The layout of an array, as its `zarr.json` has it; of a group, that of the first array below it."""
    document = json.loads((path / "zarr.json").read_bytes())
    while document["node_type"] == "group":
        path = min(child for child in path.iterdir() if (child / "zarr.json").exists())
        document = json.loads((path / "zarr.json").read_bytes())
    return facts_of(document)


def facts_of(document: JSON) -> JSON:
    """The layout that a metadata document of Zarr v3 describes."""
    chunks = document["chunk_grid"]["configuration"]["chunk_shape"]
    shards = None
    codecs = document["codecs"]
    if codecs[0]["name"] == "sharding_indexed":
        shards, settings = chunks, codecs[0]["configuration"]
        chunks, codecs = settings["chunk_shape"], settings["codecs"]
    found: JSON = {"chunks": list(chunks), "shards": None if shards is None else list(shards)}
    found["dtype"] = _short(document["data_type"])
    found |= _codec(codecs, found["dtype"])
    if shards is not None and settings.get("index_location", "end") != "end":
        found["index"] = settings["index_location"]
    return found


def _short(name: Any) -> str:
    """`u2` for `uint16`; others by the name that Zarr gives them."""
    text = name if isinstance(name, str) else str(name.get("name"))
    kind = text.rstrip("0123456789")
    return f"{KINDS[kind]}{int(text[len(kind) :]) // 8}" if kind in KINDS and kind != text else text


def _codec(codecs: Sequence[JSON], dtype: str) -> JSON:
    """The compressor as `Codec` writes it, the checksum, and what else is out of the ordinary."""
    words: list[str] = []
    found: JSON = {"checksum": None}
    shuffle = "none"
    for codec in codecs:
        name, settings = codec["name"], codec.get("configuration") or {}
        if name in ("bytes", "endian", "vlen-utf8"):
            continue
        if name == "crc32c":
            found["checksum"] = "crc32c"
        elif name == "blosc":
            inner = {word: key for key, word in SHUFFLES.items()}[settings["shuffle"]]
            words.append(str(Codec("blosc", settings["cname"], settings["clevel"], inner)))
            if inner != "none" and dtype[1:].isdigit() and settings.get("typesize") != int(dtype[1:]):
                found["typesize"] = settings.get("typesize")
            if settings.get("blocksize"):
                found["blocksize"] = settings["blocksize"]
        elif name == "numcodecs.shuffle":
            shuffle = "byte"
        elif name in ("zstd", "gzip"):
            words.append(str(Codec(name, "", settings["level"], shuffle)))
            if settings.get("checksum"):
                found["checksum"] = "xxh64 of zstd"
        elif name == "numcodecs.lz4":
            words.append(str(Codec("lz4", "", settings.get("acceleration", 1), shuffle)))
        else:
            words.append(name)
    return found | {"codec": "+".join(words) or "none"}


# ---- groups


def head(shape: Sequence[int], share: float) -> tuple[slice, ...]:
    """Of every axis the first `ceil(share * length)` elements."""
    return tuple(slice(0, math.ceil(share * length)) for length in shape)


class ZarrGroups(System):
    """Fleets (a group a dataset, an array a variable) and files of small arrays (a group), for zarr-python's API."""

    def new_group(self, path: Path) -> Any:
        """A new group at a path, for writing."""
        raise NotImplementedError

    def old_group(self, path: Path) -> Any:
        """The group at a path, for reading."""
        raise NotImplementedError

    def arguments(self, dtype: str, layout: Layout | None) -> dict[str, Any]:
        """The arguments of `create_array` beside name, shape and dtype."""
        raise NotImplementedError

    def read(self, handle: Any, selection: Selection) -> Any:
        return np.asarray(handle[selection])

    def read_points(self, handle: Any, coordinates: tuple[Any, ...]) -> Any:
        return handle.vindex[coordinates]

    def write_fleet(
        self, path: Path, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> None:
        root = self.new_group(path)
        for name, arrays in datasets:
            group = root.create_group(name)
            for variable, values in arrays.items():
                arguments = self.arguments(values.dtype.str, workload.layout)
                array = group.create_array(variable, shape=values.shape, dtype=values.dtype, **arguments)
                array[...] = values
        self.finish(root)

    def open_fleet(self, path: Path, workload: Workload) -> Any:
        return self.old_group(path)

    def read_fleet(self, handle: Any, variable: str, names: Sequence[str], share: float) -> list[Any]:
        arrays = (handle[f"{name}/{variable}"] for name in names)
        return [array[head(array.shape, share)] for array in arrays]

    def read_dataset(self, handle: Any, name: str) -> dict[str, Any]:
        return {variable: array[...] for variable, array in handle[name].arrays()}

    def create_small(self, path: Path, workload: Workload) -> Any:
        return self.new_group(path)

    def add_small(self, handle: Any, name: str, shape: tuple[int, ...], dtype: str) -> Any:
        return handle.create_array(name, shape=shape, dtype=dtype)

    def write_small(self, array: Any, values: Any) -> None:
        array[...] = values

    def open_small(self, path: Path, workload: Workload) -> Any:
        return self.old_group(path)

    def get_small(self, handle: Any, name: str) -> Any:
        return handle[name]

    def read_small(self, array: Any) -> Any:
        return array[...]
