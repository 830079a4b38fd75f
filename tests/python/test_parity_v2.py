"""Zarr v2, both directions: numcodecs filters and compressors, order F, both separators, consolidated metadata."""

from __future__ import annotations

import json
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import tensorstore
import zarr
from cells import equal

import tessarray


@dataclass(frozen=True)
class Cell2:
    name: str
    dtype: str = "<i4"
    shape: tuple[int, ...] = (23, 17)
    chunks: tuple[int, ...] = (7, 5)
    order: str = "C"
    separator: str = "."
    compressor: Any = None
    filters: tuple[Any, ...] = ()
    tensorstore: bool = True

    def values(self) -> np.ndarray:
        rng = np.random.default_rng(len(self.name))
        size = int(np.prod(self.shape))
        ramp = np.arange(size) + rng.integers(0, 5, size)
        dtype = np.dtype(self.dtype)
        if dtype.kind == "S":
            return np.array([f"b{i % 97}".encode() for i in ramp], dtype).reshape(self.shape)
        if dtype.kind == "U":
            return np.array([f"é{i % 97}" for i in ramp], dtype).reshape(self.shape)
        if dtype.kind in "mM":
            return ramp.astype("i8").astype(dtype).reshape(self.shape)
        return (ramp % 100).astype(dtype).reshape(self.shape)


ZLIB = numcodecs.Zlib(level=3)
CELLS = [
    Cell2("raw"),
    Cell2("order-f", order="F"),
    Cell2("order-f-zlib-3d", order="F", shape=(5, 6, 7), chunks=(2, 4, 3), compressor=ZLIB),
    Cell2("separator-slash", separator="/"),
    Cell2("separator-slash-order-f", separator="/", order="F", compressor=ZLIB),
    Cell2("0d", shape=(), chunks=()),
    Cell2("1d", shape=(101,), chunks=(10,), compressor=ZLIB),
    *(
        Cell2(f"dtype-{dtype[1:]}", dtype, compressor=ZLIB)
        for dtype in "|b1 |i1 |u1 <i2 <u2 <u4 <i8 <u8".split()
    ),
    *(Cell2(f"dtype-{dtype[1:]}", dtype, compressor=ZLIB) for dtype in "<f2 <f4 <f8 <c8 <c16".split()),
    *(Cell2(f"big-endian-{dtype[1:]}", dtype, compressor=ZLIB) for dtype in ">i2 >i4 >f4 >f8".split()),
    *(
        Cell2(f"dtype-{dtype[1:]}", dtype, compressor=ZLIB, tensorstore=False)
        for dtype in "|S5 <U4 >U3 <M8[ns] <M8[D] <m8[s] >M8[s]".split()
    ),
    *(
        Cell2(f"blosc-{cname}-{shuffle}", compressor=numcodecs.Blosc(cname=cname, clevel=5, shuffle=shuffle))
        for cname in ("blosclz", "lz4", "lz4hc", "zlib", "zstd")
        for shuffle in (0, 1, 2)
    ),
    Cell2("zstd", compressor=numcodecs.Zstd(level=3)),
    Cell2("gzip", compressor=numcodecs.GZip(level=3), tensorstore=False),
    Cell2("bz2", compressor=numcodecs.BZ2(level=3)),
    *(
        Cell2(f"lzma-{i}", compressor=compressor, tensorstore=False)
        for i, compressor in enumerate(
            [
                numcodecs.LZMA(),
                numcodecs.LZMA(format=2, preset=1),
                numcodecs.LZMA(check=10, preset=9),
                numcodecs.LZMA(format=3, filters=[{"id": 3, "dist": 4}, {"id": 33, "preset": 1}]),
                numcodecs.LZMA(format=3, filters=[{"id": 0x4000000000000001, "lc": 2, "dict_size": 8192}]),
                numcodecs.LZMA(format=3, filters=[{"id": 4}, {"id": 33, "preset": 3}]),
            ]
        )
    ),
    Cell2("lz4", compressor=numcodecs.LZ4(), tensorstore=False),
    Cell2("delta", compressor=ZLIB, filters=(numcodecs.Delta(dtype="<i4"),), tensorstore=False),
    Cell2(
        "delta-astype",
        compressor=ZLIB,
        filters=(numcodecs.Delta(dtype="<i4", astype="<i2"),),
        tensorstore=False,
    ),
    Cell2(
        "fixedscaleoffset",
        "<f8",
        compressor=ZLIB,
        filters=(numcodecs.FixedScaleOffset(offset=5, scale=10, dtype="<f8", astype="<i4"),),
        tensorstore=False,
    ),
    Cell2("shuffle", compressor=ZLIB, filters=(numcodecs.Shuffle(elementsize=4),), tensorstore=False),
    Cell2("bitround", "<f4", compressor=ZLIB, filters=(numcodecs.BitRound(keepbits=20),), tensorstore=False),
    Cell2("crc32", compressor=ZLIB, filters=(numcodecs.CRC32(),), tensorstore=False),
    Cell2("adler32", compressor=ZLIB, filters=(numcodecs.Adler32(),), tensorstore=False),
    Cell2("fletcher32", compressor=ZLIB, filters=(numcodecs.Fletcher32(),), tensorstore=False),
    Cell2(
        "two-filters",
        compressor=ZLIB,
        filters=(numcodecs.Delta(dtype="<i4"), numcodecs.Shuffle(elementsize=4)),
        tensorstore=False,
    ),
]
IDS = [pytest.param(cell, id=cell.name) for cell in CELLS]


def zarr_write(path: Path, cell: Cell2, values: np.ndarray) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.create_array(
            path,
            zarr_format=2,
            shape=cell.shape,
            chunks=cell.chunks,
            dtype=cell.dtype,
            order=cell.order,
            compressors=cell.compressor,
            filters=list(cell.filters) or None,
            chunk_key_encoding={"name": "v2", "separator": cell.separator},
            fill_value=np.zeros((), cell.dtype)[()],
        )
        array[...] = values


def ours(path: Path, cell: Cell2, values: np.ndarray) -> None:
    array = tessarray.create_array(
        path,
        zarr_format=2,
        shape=cell.shape,
        chunks=cell.chunks,
        dtype=cell.dtype,
        order=cell.order,
        compressors=cell.compressor,
        filters=list(cell.filters) or None,
        chunk_key_encoding={"name": "v2", "separator": cell.separator},
        fill_value=np.zeros((), cell.dtype)[()],
    )
    array[...] = values


@pytest.mark.parametrize("cell", IDS)
def test_v2_what_zarr_python_writes_we_read_back_equal(tmp_path, cell):
    values = cell.values()
    zarr_write(tmp_path / "a", cell, values)
    array = tessarray.open_array(tmp_path / "a", mode="r")
    equal(array[...], values)
    part = tuple(slice(side // 3, side - 1) for side in cell.shape)
    equal(array[part], values[part])
    assert array.dtype == values.dtype.newbyteorder("=")


@pytest.mark.parametrize("cell", IDS)
def test_v2_what_we_write_zarr_python_reads_back_equal(tmp_path, cell):
    values = cell.values()
    ours(tmp_path / "a", cell, values)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        equal(zarr.open_array(tmp_path / "a", mode="r")[...], values)
    document = json.loads((tmp_path / "a" / ".zarray").read_text())
    assert document["zarr_format"] == 2 and document["order"] == cell.order
    assert document["dtype"] == np.dtype(cell.dtype).str


@pytest.mark.parametrize("cell", [param for param in IDS if param.values[0].tensorstore])
def test_v2_what_we_write_tensorstore_reads_back_equal(tmp_path, cell):
    values = cell.values()
    ours(tmp_path / "a", cell, values)
    spec = {"driver": "zarr", "kvstore": {"driver": "file", "path": str(tmp_path / "a")}}
    equal(tensorstore.open(spec, open=True).result().read().result(), values)


def without_checksum(config: dict[str, Any]) -> dict[str, Any]:
    """TensorStore refuses the `checksum` that numcodecs gives its zstd, which is false."""
    return {key: value for key, value in config.items() if key != "checksum"}


@pytest.mark.parametrize("cell", [param for param in IDS if param.values[0].tensorstore])
def test_v2_what_tensorstore_writes_we_read_back_equal(tmp_path, cell):
    values = cell.values()
    metadata = {
        "shape": list(cell.shape),
        "chunks": list(cell.chunks),
        "dtype": cell.dtype,
        "order": cell.order,
        "compressor": cell.compressor and without_checksum(cell.compressor.get_config()),
        "dimension_separator": cell.separator,
        "filters": None,
        "fill_value": None,
        "zarr_format": 2,
    }
    spec = {
        "driver": "zarr",
        "kvstore": {"driver": "file", "path": str(tmp_path / "a")},
        "metadata": metadata,
    }
    tensorstore.open(spec, create=True).result().write(values).result()
    equal(tessarray.open_array(tmp_path / "a", mode="r")[...], values)


def test_v2_strings_of_any_length_are_read(tmp_path):
    values = np.array(["", "a", "žluťoučký kůň", "x" * 1000], dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        array = zarr.create_array(tmp_path / "a", shape=4, chunks=3, dtype=str, zarr_format=2)
        array[...] = values.astype(np.dtypes.StringDType())
    equal(tessarray.open_array(tmp_path / "a", mode="r")[...], values)


def test_v2_no_fill_value_and_missing_chunks_read_as_zeros(tmp_path):
    (tmp_path / ".zarray").write_text(
        json.dumps(
            {
                "zarr_format": 2,
                "shape": [5],
                "chunks": [2],
                "dtype": "<i4",
                "compressor": None,
                "fill_value": None,
                "order": "C",
                "filters": None,
            }
        )
    )
    equal(tessarray.open_array(tmp_path, mode="r")[...], np.zeros(5, "i4"))


@pytest.mark.parametrize("fill", ["NaN", "Infinity", "-Infinity", 1.5])
def test_v2_every_form_of_a_fill_value_is_read(tmp_path, fill):
    document = {
        "zarr_format": 2,
        "shape": [3],
        "chunks": [2],
        "dtype": "<f8",
        "compressor": None,
        "fill_value": fill,
        "order": "C",
        "filters": None,
    }
    (tmp_path / ".zarray").write_text(json.dumps(document))
    equal(tessarray.open_array(tmp_path, mode="r")[...], np.full(3, float(fill)))


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_that_zarr_python_wrote_is_read(tmp_path, zarr_format):
    root = zarr.create_group(tmp_path, zarr_format=zarr_format)
    root.attrs["title"] = "T"
    inner = root.create_group("inner")
    array = inner.create_array("a", shape=(4,), chunks=(2,), dtype="i4")
    array[...] = [1, 2, 3, 4]
    array.attrs["units"] = "m"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        zarr.consolidate_metadata(tmp_path)
    group = tessarray.open_group(tmp_path, mode="r")
    assert dict(group.attrs) == {"title": "T"}
    equal(group["inner/a"][...], np.array([1, 2, 3, 4], "i4"))
    assert group["inner"]["a"].attrs["units"] == "m"


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_that_we_write_zarr_python_reads(tmp_path, zarr_format):
    root = tessarray.create_group(tmp_path, zarr_format=zarr_format, attributes={"title": "T"})
    array = root.create_array("inner/a", shape=(4,), chunks=(2,), dtype="i4", attributes={"units": "m"})
    array[...] = [1, 2, 3, 4]
    tessarray.consolidate_metadata(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        group = zarr.open_consolidated(tmp_path, mode="r")
    assert dict(group.attrs) == {"title": "T"}
    assert group["inner/a"].attrs["units"] == "m"
    equal(group["inner/a"][...], np.array([1, 2, 3, 4], "i4"))
