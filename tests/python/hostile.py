"""Stores made by hand, byte by byte, for the hostile-input tests: documents, shards with lying indexes, bombs."""

from __future__ import annotations

import gzip
import json
import struct
from pathlib import Path
from typing import Any

import google_crc32c
import numcodecs
import numpy as np

MIB = 1 << 20
FAR = 1 << 62
EMPTY = (2**64 - 1, 2**64 - 1)


def document(**changes: Any) -> dict[str, Any]:
    """The zarr.json of a good array: 256 bytes in one chunk of uint8, uncompressed."""
    base: dict[str, Any] = {
        "zarr_format": 3,
        "node_type": "array",
        "shape": [16, 16],
        "data_type": "uint8",
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [16, 16]}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "/"}},
        "fill_value": 0,
        "codecs": [{"name": "bytes"}],
        "attributes": {},
    }
    return base | changes


def chunked(*sides: Any) -> dict[str, Any]:
    return {"name": "regular", "configuration": {"chunk_shape": list(sides)}}


def lengths(*axes: Any) -> dict[str, Any]:
    return {"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": list(axes)}}


def make(path: Path, text: Any, **chunks: bytes) -> Path:
    """Write a zarr.json (an object, or any text or bytes) and chunks; `c_0_0` is the key c/0/0."""
    path.mkdir(parents=True)
    if isinstance(text, dict):
        text = json.dumps(text)
    (path / "zarr.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, value in chunks.items():
        file = path / name.replace("_", "/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(value)
    return path


def crc32c(data: bytes) -> bytes:
    return struct.pack("<I", google_crc32c.value(data))


def sharding(**changes: Any) -> dict[str, Any]:
    """A sharding codec of 4 inner chunks of 64 bytes each."""
    configuration = {
        "chunk_shape": [8, 8],
        "codecs": [{"name": "bytes"}],
        "index_codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}],
        "index_location": "end",
    }
    return {"name": "sharding_indexed", "configuration": configuration | changes}


def shard(entries: list[tuple[int, int]], payload: bytes = bytes(range(256))) -> bytes:
    """A shard with this index, which has a right checksum."""
    index = b"".join(struct.pack("<QQ", *entry) for entry in entries)
    return payload + index + crc32c(index)


GOOD_INDEX = [(0, 64), (64, 64), (128, 64), (192, 64)]


def with_first(entry: tuple[int, int]) -> list[tuple[int, int]]:
    return [entry, *GOOD_INDEX[1:]]


# Every index has a right checksum, so that only the entries themselves can give the lie away.
LYING_SHARDS = {
    "starts-past-the-end": shard(with_first((100_000, 64))),
    "ends-past-the-end": shard(with_first((300, 64))),
    "reaches-into-the-index": shard(with_first((224, 64))),
    "offset-2^62": shard(with_first((FAR, 64))),
    "length-2^62": shard(with_first((0, FAR))),
    "wraps-around": shard(with_first((2**64 - 32, 64))),
    "sum-is-2^64": shard(with_first((2**64 - 64, 64))),
    "offset-is-missing-length-is-not": shard(with_first((2**64 - 1, 64))),
    "length-is-missing-offset-is-not": shard(with_first((0, 2**64 - 1))),
    "overlaps-the-next": shard(with_first((32, 64))),
    "is-the-next": shard(with_first((64, 64))),
    "too-short-an-entry": shard(with_first((0, 63))),
    "too-long-an-entry": shard([(0, 65), (65, 64), (129, 64), EMPTY]),
    "empty-entry": shard(with_first((0, 0))),
    "shorter-than-its-index": shard(GOOD_INDEX)[-60:],
    "one-byte": b"\x00",
    "empty-file": b"",
    "cut-in-the-middle": shard(GOOD_INDEX)[:160],
    "last-byte-gone": shard(GOOD_INDEX)[:-1],
    "wrong-index-checksum": shard(GOOD_INDEX)[:-4] + b"\x00\x00\x00\x00",
}


def zstd_without_a_size(blocks: int) -> bytes:
    """A zstd frame that names no size: run-length blocks of 128 KiB of zeros each, 4 bytes a block."""
    header = b"\x28\xb5\x2f\xfd" + b"\x00" + bytes([(17 - 10) << 3])
    size = 128 * 1024
    body = b""
    for number in range(blocks):
        last = int(number == blocks - 1)
        body += struct.pack("<I", last | (1 << 1) | (size << 3))[:3] + b"\x00"
    return header + body


def bombs(size: int = 256 * MIB) -> dict[str, tuple[dict[str, Any], bytes]]:
    """A codec, and a chunk for it that decodes to far more than the 256 bytes declared."""
    zeros = np.zeros(size, "u1")
    member = gzip.compress(bytes(size // 4), 1)
    blosc = {"cname": "lz4", "clevel": 5, "shuffle": "noshuffle", "typesize": 1, "blocksize": 0}
    numcodecs.blosc.set_nthreads(1)
    blosc_bomb = bytes(numcodecs.Blosc("lz4", 5, 0).encode(zeros))
    return {
        "gzip": ({"name": "gzip", "configuration": {"level": 5}}, gzip.compress(zeros.tobytes(), 1)),
        "gzip-4-members": ({"name": "gzip", "configuration": {"level": 5}}, member * 4),
        "gzip-right-then-bomb": (
            {"name": "gzip", "configuration": {"level": 5}},
            gzip.compress(bytes(256)) + member,
        ),
        "zlib": (
            {"name": "numcodecs.zlib", "configuration": {"level": 1}},
            bytes(numcodecs.Zlib(1).encode(zeros)),
        ),
        "bz2": (
            {"name": "numcodecs.bz2", "configuration": {"level": 1}},
            bytes(numcodecs.BZ2(9).encode(zeros[: 96 * MIB])),
        ),
        "zstd": (
            {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
            bytes(numcodecs.Zstd(1).encode(zeros)),
        ),
        "zstd-without-a-size": (
            {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
            zstd_without_a_size(2048),
        ),
        "zstd-lying-size": (
            {"name": "zstd", "configuration": {"level": 1, "checksum": False}},
            b"\x28\xb5\x2f\xfd\xe0" + struct.pack("<Q", FAR) + b"\x01\x00\x00",
        ),
        "blosc": ({"name": "blosc", "configuration": blosc}, blosc_bomb),
        "blosc-lying-size": (
            {"name": "blosc", "configuration": blosc},
            b"\x02\x01\x03\x01" + struct.pack("<III", 0x7FFFFFFF, 0x7FFFFFFF, 64) + bytes(48),
        ),
        "lz4": (
            {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}},
            bytes(numcodecs.LZ4().encode(zeros)),
        ),
        "lz4-lying-size": (
            {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}},
            struct.pack("<I", 0x7FFFFFFF) + b"\x10a",
        ),
    }


GZIP = {"name": "gzip", "configuration": {"level": 5}}
BYTES = {"name": "bytes"}


def nested_shardings(depth: int) -> list[Any]:
    codecs: list[Any] = [BYTES]
    for _ in range(depth):
        codecs = [sharding(codecs=codecs, chunk_shape=[16, 16])]
    return codecs


def text(**changes: Any) -> str:
    return json.dumps(document(**changes))


# Each document is refused when the array is opened; the error names the words beside it.
BAD_DOCUMENTS: dict[str, tuple[Any, str]] = {
    "empty": (b"", "zarr.json"),
    "not-json": ("{", "zarr.json"),
    "not-utf-8": (b'{"zarr_format": 3, "x": "\xff\xfe"}', "zarr.json"),
    "not-an-object": ("[1, 2]", "zarr.json"),
    "a-number": ("3", "zarr.json"),
    "trailing-text": (text() + "x", "zarr.json"),
    "nesting-of-100000": ("[" * 100_000, "zarr.json"),
    "nesting-in-attributes": (
        text().replace('"attributes": {}', '"attributes": {"a": ' + "[" * 5000 + "]" * 5000 + "}"),
        "zarr.json",
    ),
    "duplicate-key": (text().replace('"shape"', '"shape": [1, 1], "shape"', 1), "shape"),
    "duplicate-key-inside": (
        text().replace('"chunk_shape"', '"chunk_shape": [1, 1], "chunk_shape"', 1),
        "chunk_shape",
    ),
    "format-4": (text(zarr_format=4), "zarr_format"),
    "format-as-text": (text(zarr_format="3"), "zarr_format"),
    "no-node-type": (json.dumps({k: v for k, v in document().items() if k != "node_type"}), "node_type"),
    "odd-node-type": (text(node_type="table"), "node_type"),
    "no-shape": (json.dumps({k: v for k, v in document().items() if k != "shape"}), "shape"),
    "shape-null": (text(shape=None), "shape"),
    "shape-number": (text(shape=16), "shape"),
    "shape-negative": (text(shape=[-1, 16]), "shape"),
    "shape-fraction": (text(shape=[1.5, 16]), "shape"),
    "shape-text": (text(shape=["16", 16]), "shape"),
    "shape-bool": (text(shape=[True, 16]), "shape"),
    "shape-2^64": (text(shape=[2**64, 16]), "shape"),
    "shape-1e400": (text(shape=["X", 16]).replace('"X"', "1e400"), "zarr.json"),
    "shape-NaN": (text(shape=["X", 16]).replace('"X"', "NaN"), "zarr.json"),
    "rank-1000": (text(shape=[1] * 1000, chunk_grid=chunked(*[1] * 1000)), "shape"),
    "rank-differs": (text(shape=[16]), "chunk_shape"),
    "chunk-0": (text(chunk_grid=chunked(0, 16)), "chunk_shape"),
    "chunk-negative": (text(chunk_grid=chunked(-16, 16)), "chunk_shape"),
    "chunk-text": (text(chunk_grid=chunked("16", 16)), "chunk_shape"),
    "chunk-product-overflows": (text(chunk_grid=chunked(2**63 - 1, 2**63 - 1)), "chunk"),
    "odd-grid": (text(chunk_grid={"name": "hexagonal", "configuration": {}}), "hexagonal"),
    "lengths-of-no-kind": (text(chunk_grid={"name": "rectilinear", "configuration": {}}), "kind"),
    "lengths-that-are-none": (text(chunk_grid=lengths([], 16)), "chunk_shapes[0]: expected at least one"),
    "length-0": (text(chunk_grid=lengths([16, 0], 16)), "chunk_shapes[0][1]"),
    "length-negative": (text(chunk_grid=lengths([17, -1], 16)), "chunk_shapes[0][1]"),
    "length-fraction": (text(chunk_grid=lengths([15.5, 0.5], 16)), "chunk_shapes[0][0]"),
    "length-bool": (text(chunk_grid=lengths([True, 15], 16)), "chunk_shapes[0][0]"),
    "lengths-too-short": (text(chunk_grid=lengths([8, 7], 16)), "sum of at least 16"),
    "lengths-of-another-rank": (text(chunk_grid=lengths([16])), "expected 2 lengths"),
    "run-of-0": (text(chunk_grid=lengths([[16, 0]], 16)), "chunk_shapes[0][0]"),
    "run-of-2^63": (text(chunk_grid=lengths([[1, 2**63]], 16)), "chunk_shapes[0][0]"),
    "runs-that-overflow": (text(chunk_grid=lengths([[2**40, 2**40], 1], 16)), "sum below 2^63"),
    "lengths-that-are-too-large": (text(chunk_grid=lengths([2**40], 16)), "bytes of a chunk"),
    "grid-without-configuration": (text(chunk_grid={"name": "regular"}), "chunk_grid"),
    "grid-as-text": (text(chunk_grid="regular"), "chunk_grid"),
    "odd-dtype": (text(data_type="float1024"), "float1024"),
    "dtype-number": (text(data_type=8), "data_type"),
    "dtype-object": (text(data_type="object"), "object"),
    "raw-of-0-bits": (text(data_type="r0"), "r0"),
    "raw-of-7-bits": (text(data_type="r7"), "r7"),
    "raw-of-2^40-bits": (text(data_type=f"r{2**40}", fill_value=[0]), "r1099511627776"),
    "fill-NaN-for-an-integer": (text(fill_value="NaN"), "fill_value"),
    "fill-out-of-range": (text(fill_value=256), "fill_value"),
    "fill-negative": (text(fill_value=-1), "fill_value"),
    "fill-object": (text(fill_value={"a": 1}), "fill_value"),
    "fill-of-wrong-length": (text(data_type="r16", fill_value=[1]), "fill_value"),
    "no-fill-value": (json.dumps({k: v for k, v in document().items() if k != "fill_value"}), "fill_value"),
    "no-codecs": (text(codecs=[]), "codecs"),
    "codecs-object": (text(codecs={"name": "bytes"}), "codecs"),
    "no-serializer": (text(codecs=[GZIP]), "codec chain"),
    "two-serializers": (text(codecs=[BYTES, BYTES]), "codec chain"),
    "serializer-last": (text(codecs=[GZIP, BYTES]), "codec chain"),
    "unknown-codec": (text(codecs=[BYTES, {"name": "snake-oil"}]), "snake-oil"),
    "pickle-codec": (text(codecs=[{"name": "numcodecs.pickle", "configuration": {"protocol": 5}}]), "pickle"),
    "pickle-codec-after": (text(codecs=[BYTES, {"name": "pickle"}]), "pickle"),
    "json-object-codec": (text(codecs=[{"name": "numcodecs.json2"}]), "json2"),
    "pickle-in-a-shard": (text(codecs=[sharding(codecs=[{"name": "numcodecs.pickle"}])]), "pickle"),
    "pickle-in-the-index": (
        text(codecs=[sharding(index_codecs=[{"name": "bytes"}, {"name": "numcodecs.pickle"}])]),
        "pickle",
    ),
    "codec-without-name": (text(codecs=[{"configuration": {}}]), "codecs"),
    "gzip-setting-odd": (text(codecs=[BYTES, {"name": "gzip", "configuration": {"lvl": 9}}]), "lvl"),
    "endian-missing": (text(data_type="int32"), "endian"),
    "endian-odd": (text(codecs=[{"name": "bytes", "configuration": {"endian": "middle"}}]), "endian"),
    "transpose-odd": (
        text(codecs=[{"name": "transpose", "configuration": {"order": [0, 0]}}, BYTES]),
        "order",
    ),
    "transpose-rank": (text(codecs=[{"name": "transpose", "configuration": {"order": [0]}}, BYTES]), "order"),
    "inner-chunk-does-not-divide": (text(codecs=[sharding(chunk_shape=[7, 8])]), "chunk_shape"),
    "inner-chunk-0": (text(codecs=[sharding(chunk_shape=[0, 8])]), "chunk_shape"),
    "inner-chunk-rank": (text(codecs=[sharding(chunk_shape=[8])]), "chunk_shape"),
    "index-location-odd": (text(codecs=[sharding(index_location="middle")]), "index_location"),
    "index-codec-of-unknown-size": (
        text(
            codecs=[sharding(index_codecs=[{"name": "bytes", "configuration": {"endian": "little"}}, GZIP])]
        ),
        "index",
    ),
    "index-of-2^31-entries": (
        text(
            shape=[2**31, 1],
            chunk_grid=chunked(2**31, 1),
            codecs=[sharding(chunk_shape=[1, 1])],
            data_type="uint8",
        ),
        "chunk_shape",
    ),
    "nested-sharding-200": (text(codecs=nested_shardings(200)), "codecs[0].configuration"),
    "unknown-must-understand": (text(surprise={"name": "x"}), "surprise"),
    "unknown-must-understand-true": (text(surprise={"must_understand": True}), "surprise"),
    "storage-transformer": (text(storage_transformers=[{"name": "scramble"}]), "storage_transformers"),
    "separator-odd": (
        text(chunk_key_encoding={"name": "default", "configuration": {"separator": "x"}}),
        "separator",
    ),
    "separator-dotdot": (
        text(chunk_key_encoding={"name": "default", "configuration": {"separator": "/../"}}),
        "separator",
    ),
    "key-encoding-odd": (text(chunk_key_encoding={"name": "hash"}), "hash"),
    "dimension-names-too-few": (text(dimension_names=["x"]), "dimension_names"),
    "dimension-names-numbers": (text(dimension_names=[1, 2]), "dimension_names"),
    "attributes-list": (text(attributes=[]), "attributes"),
}

# These are odd and legal.
ODD_DOCUMENTS: dict[str, Any] = {
    "unknown-optional": document(surprise={"must_understand": False, "x": 1}),
    "shape-of-2^63-1": document(shape=[2**63 - 1, 1], chunk_grid=chunked(2**20, 1)),
    "rank-32": document(shape=[1] * 32, chunk_grid=chunked(*[1] * 32)),
    "empty-attributes-absent": {k: v for k, v in document().items() if k != "attributes"},
    "codec-as-a-name": document(codecs=["bytes"]),
    "dimension-names-with-null": document(dimension_names=["y", None]),
    "side-0": document(shape=[0, 16]),
}

BAD_KEYS = [
    "../secret",
    "a/../../secret",
    "..",
    "/etc/passwd",
    "//server/share",
    "a//b",
    "./a",
    "a/./b",
    "a/..",
    "nul\x00byte",
    "line\nbreak",
    "x" * 5000,
]
