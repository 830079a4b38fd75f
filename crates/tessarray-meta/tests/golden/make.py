"""Writes the golden documents with zarr-python (3.4.2): `python make.py` beside this file.

Each line of `v3.jsonl` and `v2.jsonl` is one array: its documents as zarr-python wrote them, and the fill value's
bytes as NumPy holds them (little-endian, hexadecimal), so that the reader is checked against values, not itself.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import zarr
from zarr.codecs import BloscCodec, GzipCodec, TransposeCodec, ZstdCodec
from zarr.dtype import VariableLengthBytes, VariableLengthUTF8
from zarr.storage import MemoryStore

warnings.simplefilter("ignore")
HERE = Path(__file__).parent
STRUCT = np.dtype([("a", "<i4"), ("b", "<f4"), ("c", "S3"), ("d", [("e", "<u2"), ("f", "<M8[ns]")])])

CASES = [
    *[(t, v) for t in ("i1", "i2", "i4", "i8") for v in (0, np.iinfo(t).min, np.iinfo(t).max)],
    *[(t, v) for t in ("u1", "u2", "u4", "u8") for v in (1, np.iinfo(t).max)],
    *[(t, v) for t in ("f2", "f4", "f8") for v in (0.0, -0.0, 0.1, np.nan, np.inf, -np.inf)],
    ("f8", 1e300),
    ("f8", 5e-324),
    ("f4", 3.4028234663852886e38),
    ("f2", 65504.0),
    *[(t, v) for t in ("c8", "c16") for v in (0, complex(1.5, np.nan), complex(-np.inf, 0.1))],
    ("?", True),
    ("?", False),
    ("M8[ns]", 5),
    ("M8[10us]", "NaT"),
    ("M8[D]", -3),
    ("m8[s]", 7),
    ("m8", "NaT"),
    ("S5", b"ab\xff"),
    ("S1", b""),
    ("U3", "é😀"),
    ("U1", ""),
    ("V3", b"a\x00c"),
    (STRUCT, (1, 0.5, b"xy", (7, 9))),
]
VARIABLE = [(VariableLengthUTF8(), "hé"), (VariableLengthUTF8(), ""), (VariableLengthBytes(), b"ab\xff")]


def documents(fmt, **kwargs):
    store = MemoryStore()
    zarr.create_array(store, zarr_format=fmt, **kwargs)
    return {key: value.to_bytes().decode() for key, value in store._store_dict.items()}


def fill_bytes(dtype, value):
    dtype = np.dtype(dtype)
    if dtype.kind == "V" and dtype.fields is None:
        return np.void(value), value
    if dtype.kind in "mM":
        unit = np.datetime_data(dtype)
        scalar = np.array(np.iinfo("i8").min if value == "NaT" else value, "i8").view(dtype)[()]
        return scalar, scalar.tobytes()
    array = np.array([value], dtype)
    return array[0], array.tobytes()


def cases(fmt):
    for dtype, value in CASES:
        scalar, raw = fill_bytes(dtype, value)
        yield documents(fmt, shape=(4, 6), chunks=(2, 3), dtype=dtype, fill_value=scalar), raw
    for dtype, value in VARIABLE:
        raw = value.encode() if isinstance(value, str) else value
        yield documents(fmt, shape=(5,), chunks=(2,), dtype=dtype, fill_value=value), raw


def write(name, rows):
    with open(HERE / name, "w", encoding="utf-8") as out:
        for docs, raw in rows:
            out.write(json.dumps({"documents": docs, "fill": raw.hex()}) + "\n")


v3 = list(cases(3))
zero4 = bytes(4)
shard = dict(shape=(40, 80), chunks=(2, 4), shards=(20, 40), dtype="f4")
v3 += [
    (documents(3, shape=(), dtype="f4"), zero4),
    (documents(3, shape=(0, 3), chunks=(1, 3), dtype="f4"), zero4),
    (
        documents(3, **shard, dimension_names=("y", None), attributes={"units": "m", "n": [1, {"é": None}]}),
        zero4,
    ),
    (
        documents(
            3,
            **shard,
            filters=[TransposeCodec(order=(1, 0))],
            compressors=[BloscCodec(cname="zstd"), GzipCodec()],
        ),
        zero4,
    ),
    (
        documents(
            3,
            shape=(4,),
            chunks=(2,),
            dtype="f4",
            compressors=None,
            chunk_key_encoding={"name": "v2", "separator": "/"},
        ),
        zero4,
    ),
    (
        documents(
            3,
            shape=(4,),
            chunks=(2,),
            dtype="f4",
            compressors=ZstdCodec(level=3, checksum=True),
            chunk_key_encoding={"name": "default", "separator": "."},
        ),
        zero4,
    ),
]
write("v3.jsonl", v3)

import numcodecs  # noqa: E402

v2 = list(cases(2))
v2 += [
    (documents(2, shape=(), dtype="f4"), zero4),
    (
        documents(
            2,
            shape=(4, 6),
            chunks=(2, 3),
            dtype=">f4",
            order="F",
            fill_value=1.0,
            attributes={"_ARRAY_DIMENSIONS": ["y", "x"], "a": 1},
        ),
        np.float32(1).tobytes(),
    ),
    (documents(2, shape=(4, 6), chunks=(2, 3), dtype="f4", fill_value=None), zero4),
    (
        documents(
            2,
            shape=(4, 6),
            chunks=(2, 3),
            dtype="f4",
            compressors=None,
            chunk_key_encoding={"name": "v2", "separator": "/"},
        ),
        zero4,
    ),
    (
        documents(
            2,
            shape=(4, 6),
            chunks=(2, 3),
            dtype="i4",
            filters=[numcodecs.Delta("<i4"), numcodecs.Shuffle(4), numcodecs.Fletcher32()],
            compressors=numcodecs.Blosc("zstd", 3, 2),
        ),
        zero4,
    ),
    (
        documents(
            2,
            shape=(4, 6),
            chunks=(2, 3),
            dtype="f4",
            filters=[numcodecs.FixedScaleOffset(0, 10, "<f4", ">i2")],
            compressors=numcodecs.GZip(5),
        ),
        zero4,
    ),
    (
        documents(
            2,
            shape=(4, 6),
            chunks=(2, 3),
            dtype="?",
            filters=[numcodecs.PackBits()],
            compressors=numcodecs.LZ4(),
        ),
        b"\0",
    ),
    (
        documents(
            2,
            shape=(4, 6),
            chunks=(2, 3),
            dtype="f4",
            filters=[numcodecs.BitRound(9)],
            compressors=numcodecs.BZ2(),
        ),
        zero4,
    ),
]
write("v2.jsonl", v2)

for fmt in (3, 2):
    store = MemoryStore()
    root = zarr.open_group(store, mode="w", zarr_format=fmt, attributes={"title": "t"})
    root.create_array("b", shape=(4,), dtype="i1", attributes={"u": "m"})
    root.create_group("a", attributes={"q": 1}).create_array("z", shape=(2, 2), dtype="f8")
    zarr.consolidate_metadata(store)
    key = "zarr.json" if fmt == 3 else ".zmetadata"
    (HERE / f"consolidated_v{fmt}.json").write_bytes(store._store_dict[key].to_bytes())

# Numbers that JSON does not have, in the attributes of every kind of document.
nan, inf = float("nan"), float("inf")
ODD = {
    "missing_value": nan,
    "valid_range": [-inf, inf],
    "nested": {"x": [1, nan, "NaN"]},
    "text": 'a "NaN" \\',
}
with open(HERE / "non_finite.json", "w", encoding="utf-8") as out:
    rows = {}
    for fmt in (3, 2):
        store = MemoryStore()
        root = zarr.open_group(store, mode="w", zarr_format=fmt, attributes=ODD)
        root.create_array("a", shape=(4,), dtype="f4", fill_value=nan, attributes=ODD)
        zarr.consolidate_metadata(store)
        rows[fmt] = {key: value.to_bytes().decode() for key, value in store._store_dict.items()}
    json.dump(rows, out, indent=1)
    out.write("\n")
