"""The cells of the parity tests: dtype x codec chain x sharding x order x shapes that do not divide, as data.

Codec chains are Zarr JSON, which every library under test takes; `data` makes the values of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import ml_dtypes
import numpy as np

Json = dict[str, Any]


def codec(name: str, **configuration: Any) -> Json:
    if configuration or name.startswith("numcodecs."):  # zarr-python wants an empty one from these
        return {"name": name, "configuration": configuration}
    return {"name": name}


def blosc(
    cname: str = "lz4", shuffle: str = "shuffle", clevel: int = 5, typesize: int = 4, blocksize: int = 0
) -> Json:
    return codec("blosc", cname=cname, shuffle=shuffle, clevel=clevel, typesize=typesize, blocksize=blocksize)


LITTLE = codec("bytes", endian="little")
BIG = codec("bytes", endian="big")
CRC32C = codec("crc32c")


@dataclass(frozen=True)
class Cell:
    """One array: how it is laid out and encoded. `dtype` is a name that `dtype_of` understands."""

    name: str
    dtype: str = "int32"
    shape: tuple[int, ...] = (23, 17)
    chunks: tuple[int, ...] = (7, 5)
    shards: tuple[int, ...] | None = None
    filters: tuple[Any, ...] = ()
    serializer: Any = None
    compressors: tuple[Any, ...] = ()
    separator: str = "/"
    key_encoding: str = "default"
    exact: bool = True

    @cached_property
    def numpy_dtype(self) -> np.dtype[Any]:
        return dtype_of(self.dtype)

    @cached_property
    def codec_names(self) -> frozenset[str]:
        """The names of all codecs in the chain, nested ones too, and the dtype as `dtype:NAME`."""
        found: set[str] = set()

        def visit(item: Any) -> None:
            if isinstance(item, dict):
                if "name" in item:
                    found.add(item["name"])
                for value in item.values():
                    visit(value)
            elif isinstance(item, (list, tuple)):
                for value in item:
                    visit(value)

        visit([self.filters, self.serializer, self.compressors])
        return frozenset(found | {f"dtype:{self.dtype}"})

    def arguments(self) -> Json:
        """What create_array of zarr-python and of Tessarray both take."""
        arguments: Json = {
            "shape": self.shape,
            "chunks": self.chunks,
            "shards": self.shards,
            "dtype": self.numpy_dtype,
            "filters": [dict(item) for item in self.filters] or None,
            "compressors": [dict(item) for item in self.compressors] or None,
            "chunk_key_encoding": {
                "name": self.key_encoding,
                "configuration": {"separator": self.separator},
            },
        }
        if self.serializer is not None:
            arguments["serializer"] = dict(self.serializer)
        return arguments


def dtype_of(name: str) -> np.dtype[Any]:
    if name == "string":
        return np.dtypes.StringDType()
    if name == "bfloat16":
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def data(cell: Cell) -> np.ndarray[Any, Any]:
    """Values for a cell: smooth with noise, some special values, and one corner left at zero (the fill value)."""
    dtype, shape = cell.numpy_dtype, cell.shape
    rng = np.random.default_rng(len(cell.name) * 1000 + sum(shape))
    size = int(np.prod(shape, dtype=np.int64))
    ramp = np.arange(size) // 3 + rng.integers(0, 5, size)
    kind = dtype.kind
    if kind == "b":
        values = ramp % 3 == 0
    elif kind in "iu":
        values = (ramp - (40 if kind == "i" else 0)).astype(dtype)
        if size > 2 and cell.exact and "delta" not in " ".join(cell.codec_names):
            values[1], values[2] = np.iinfo(dtype).min, np.iinfo(dtype).max
    elif kind in "Mm":
        values = ramp.astype("int64").view(dtype)
        if size > 1:
            values[1] = np.array("NaT", dtype)
    elif kind == "c":
        values = (ramp * 0.5 + 1j * ramp).astype(dtype)
    elif kind == "S":
        values = np.array([f"b{i % 997}".encode() for i in ramp], dtype)
    elif kind == "U":
        values = np.array([f"é{i % 97}" for i in ramp], dtype)
    elif kind == "T":
        values = np.array(["" if i % 7 == 0 else "žluťoučký " * int(i % 4) + str(i) for i in ramp], dtype)
    elif kind == "V" and dtype.names is None and cell.dtype != "bfloat16":
        values = rng.integers(0, 256, size * dtype.itemsize, dtype=np.uint8).view(dtype)
    else:  # floats, bfloat16 too
        values = (ramp * 0.1).astype(dtype)
        if size > 4 and cell.exact:
            values[1:5] = np.array([np.nan, np.inf, -np.inf, -0.0]).astype(dtype)
    values = np.asarray(values, dtype=dtype).reshape(shape)
    if values.ndim and all(side > 3 for side in shape):
        # The last chunk of each axis holds fill values only: a writer may leave it out, a reader must fill it in.
        corner = tuple(
            slice((side - 1) // chunk * chunk, None) for side, chunk in zip(shape, cell.chunks, strict=True)
        )
        values[corner] = np.zeros((), dtype)
    return values


def sharded(
    cell_name: str, *, dtype: str = "int32", codecs: tuple[Json, ...] = (LITTLE,), **rest: Any
) -> Cell:
    """A cell whose sharding codec is written out, to reach what `shards=` does not."""
    defaults: Json = {"shape": (23, 17), "chunks": (12, 10), "inner": (4, 5), "location": "end"}
    settings = {**defaults, **rest}
    inner, location = settings.pop("inner"), settings.pop("location")
    index = settings.pop("index", (LITTLE, CRC32C))
    serializer = codec(
        "sharding_indexed",
        chunk_shape=list(inner),
        codecs=[dict(item) for item in codecs],
        index_codecs=[dict(item) for item in index],
        index_location=location,
    )
    return Cell(cell_name, dtype=dtype, serializer=serializer, **settings)


def _dtype_cells() -> list[Cell]:
    plain = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64".split()
    plain += "float16 float32 float64 complex64 complex128".split()
    special = ["bfloat16", "datetime64[ns]", "datetime64[D]", "timedelta64[s]", "S5", "U4", "V3", "string"]
    cells = [
        Cell(f"dtype-{name}", dtype=name, compressors=(codec("zstd", level=3, checksum=False),))
        for name in plain
    ]
    cells += [
        Cell(f"dtype-{name}", dtype=name, compressors=(codec("gzip", level=4),), shape=(13, 9), chunks=(5, 4))
        for name in special
    ]
    cells += [
        Cell(f"dtype-{name}-shards", dtype=name, chunks=(4, 5), shards=(8, 10), compressors=(CRC32C,))
        for name in ("bool", "uint16", "float64", "complex64", "datetime64[ns]", "U4", "string")
    ]
    cells += [
        Cell(f"big-endian-{name}", dtype=name, serializer=BIG) for name in ("int16", "float64", "complex128")
    ]
    return cells


def _codec_cells() -> list[Cell]:
    chains: list[tuple[str, str, tuple[Json, ...], Json | None, tuple[Json, ...]]] = [
        ("none", "int32", (), None, ()),
        ("zstd", "int32", (), None, (codec("zstd", level=5, checksum=False),)),
        ("zstd-checksum", "int32", (), None, (codec("zstd", level=1, checksum=True),)),
        ("gzip", "int32", (), None, (codec("gzip", level=6),)),
        ("crc32c", "int32", (), None, (CRC32C,)),
        ("zstd-crc32c", "int32", (), None, (codec("zstd", level=3, checksum=False), CRC32C)),
        ("blosc-blocks", "int32", (), None, (blosc(blocksize=128),)),
        ("blosc-uint16", "uint16", (), None, (blosc("zstd", "shuffle", 3, 2),)),
        ("blosc-float64", "float64", (), None, (blosc("lz4", "bitshuffle", 5, 8),)),
        ("blosc-level-0", "int32", (), None, (blosc(clevel=0),)),
        ("blosc-level-9", "int32", (), None, (blosc("lz4hc", clevel=9),)),
        ("zlib", "int32", (), None, (codec("numcodecs.zlib", level=6),)),
        ("lz4", "int32", (), None, (codec("numcodecs.lz4", acceleration=1),)),
        ("bz2", "int32", (), None, (codec("numcodecs.bz2", level=5),)),
        ("lzma", "int32", (), None, (codec("numcodecs.lzma", preset=1),)),
        (
            "shuffle-zstd",
            "int32",
            (),
            None,
            (codec("numcodecs.shuffle", elementsize=4), codec("zstd", level=3)),
        ),
        ("adler32", "int32", (), None, (codec("numcodecs.adler32"),)),
        ("fletcher32", "int32", (), None, (codec("numcodecs.fletcher32"),)),
        ("delta", "int32", (codec("numcodecs.delta", dtype="<i4"),), None, (codec("gzip", level=1),)),
        ("bitround", "float32", (codec("numcodecs.bitround", keepbits=23),), None, (codec("gzip", level=1),)),
        ("pcodec", "float64", (), codec("numcodecs.pcodec", level=8), ()),
        ("pcodec-int", "int32", (), codec("numcodecs.pcodec", level=8), ()),
    ]
    cells = []
    for name, dtype, filters, serializer, compressors in chains:
        cell = Cell(f"codec-{name}", dtype, filters=filters, serializer=serializer, compressors=compressors)
        cells.append(cell)
        if serializer is None and not filters:
            cells.append(sharded(f"codec-{name}-in-shard", dtype=dtype, codecs=(LITTLE, *compressors)))
    cells.append(
        Cell(
            "codec-fixedscaleoffset",
            "float64",
            filters=(codec("numcodecs.fixedscaleoffset", dtype="<f8", astype="<i4", scale=10, offset=1),),
            compressors=(codec("gzip", level=1),),
            exact=False,
        )
    )
    cells += [
        Cell(f"blosc-{cname}-{shuffle}", compressors=(blosc(cname, shuffle),))
        for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
        for shuffle in ("noshuffle", "shuffle", "bitshuffle")
    ]
    return cells


def _layout_cells() -> list[Cell]:
    zstd = codec("zstd", level=3, checksum=False)
    swap = codec("transpose", order=[1, 0])
    nested = codec(
        "sharding_indexed",
        chunk_shape=[2, 5],
        codecs=[LITTLE, zstd],
        index_codecs=[LITTLE, CRC32C],
        index_location="start",
    )
    return [
        Cell("layout-1d", shape=(101,), chunks=(10,), compressors=(zstd,)),
        Cell("layout-0d", shape=(), chunks=(), compressors=(zstd,)),
        Cell("layout-empty", shape=(0, 7), chunks=(3, 3)),
        Cell("layout-chunk-larger-than-array", shape=(5, 3), chunks=(8, 8), compressors=(zstd,)),
        Cell("layout-one-element-chunks", shape=(4, 5), chunks=(1, 1)),
        Cell("layout-5d", shape=(3, 4, 2, 5, 3), chunks=(2, 3, 1, 2, 2), compressors=(zstd,)),
        Cell("layout-8d", shape=(2,) * 8, chunks=(2, 1) * 4),
        Cell("layout-order-f", filters=(swap,), compressors=(zstd,)),
        Cell("layout-order-f-big", filters=(swap,), serializer=BIG, compressors=(blosc(),)),
        Cell(
            "layout-order-201",
            "float32",
            (7, 9, 11),
            (3, 4, 5),
            filters=(codec("transpose", order=[2, 0, 1]),),
            compressors=(zstd,),
        ),
        Cell("layout-keys-dot", separator=".", compressors=(zstd,)),
        Cell("layout-keys-v2", key_encoding="v2", separator=".", compressors=(zstd,)),
        Cell("layout-keys-v2-slash", key_encoding="v2", separator="/"),
        Cell("shards-index-end", chunks=(4, 5), shards=(12, 10), compressors=(zstd,)),
        sharded("shards-index-start", location="start", codecs=(LITTLE, zstd)),
        sharded("shards-index-no-crc", index=(LITTLE,)),
        sharded("shards-index-big-endian", index=(BIG, CRC32C)),
        sharded("shards-order-f-inside", codecs=(swap, LITTLE, zstd)),
        sharded("shards-blosc-crc", codecs=(LITTLE, blosc("zstd"), CRC32C)),
        sharded("shards-nested", codecs=(nested,)),
        sharded("shards-1d", shape=(101,), chunks=(30,), inner=(6,), codecs=(LITTLE, zstd)),
        sharded("shards-3d", dtype="uint16", shape=(9, 10, 11), chunks=(4, 6, 8), inner=(2, 3, 4)),
        sharded("shards-one-inner-chunk", inner=(12, 10)),
        sharded("shards-larger-than-array", shape=(5, 3), codecs=(LITTLE, zstd)),
    ]


CELLS = _dtype_cells() + _codec_cells() + _layout_cells()
assert len({cell.name for cell in CELLS}) == len(CELLS)


def equal(found: Any, expected: np.ndarray[Any, Any]) -> None:
    """Same shape and same values, NaN and NaT included; strings by value whatever their container."""
    found = np.asarray(found)
    assert found.shape == expected.shape
    if expected.dtype.kind in "TO" or found.dtype.kind in "TO":
        assert found.astype(object).tolist() == expected.astype(object).tolist()
    elif expected.dtype.kind in "fcV" and expected.dtype.names is None:
        both = found.astype(expected.dtype, copy=False)
        assert np.ascontiguousarray(both).tobytes() == np.ascontiguousarray(expected).tobytes()
    else:
        np.testing.assert_array_equal(found, expected)
