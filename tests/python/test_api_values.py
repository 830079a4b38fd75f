"""The Python API: data types and codecs, in every spelling."""

from __future__ import annotations

import json

import ml_dtypes
import numcodecs
import numpy as np
import pytest
import zarr

import tessarray

DTYPES = [
    *"bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split(),
    *"datetime64[D] datetime64[s] datetime64[ns] timedelta64[h] timedelta64[us] S1 S7 U1 U5 V4".split(),
    ml_dtypes.bfloat16,
    np.dtypes.StringDType(),
]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shards", [None, (4,)], ids=["chunks", "shards"])
def test_a_dtype_survives_and_its_missing_chunks_are_empty_values(tmp_path, dtype, shards):
    dtype = np.dtype(dtype)
    array = tessarray.create_array(tmp_path / "a", shape=(7,), chunks=(2,), shards=shards, dtype=dtype)
    again = tessarray.open_array(tmp_path / "a", mode="r+")
    assert again.dtype == dtype
    empty = again[...]
    assert empty.dtype == dtype and empty.shape == (7,)
    values = np.arange(7).astype("int64" if dtype.kind in "mMV" else dtype).astype(dtype)
    again[1:6] = values[1:6]
    assert array[1:6].tolist() == values[1:6].tolist()
    assert array[0:1].tolist() == empty[0:1].tolist()


def test_every_legal_form_of_a_float_fill_value_is_kept(tmp_path):
    for number, fill in enumerate([np.nan, np.inf, -np.inf, -0.0, 1e-310, 0.1]):
        path = tmp_path / str(number)
        tessarray.create_array(path, shape=(3,), chunks=(2,), dtype="float64", fill_value=fill)
        found = tessarray.open_array(path, mode="r")[...]
        assert found.tobytes() == np.full(3, fill).tobytes()
        assert zarr.open_array(path, mode="r")[...].tobytes() == found.tobytes()


@pytest.mark.parametrize(
    ("text", "bits"), [('"0x7fc00001"', 0x7FC00001), ('"NaN"', 0x7FC00000), ("1", 0x3F800000)]
)
def test_float_fill_values_in_hexadecimal_are_read_bit_by_bit(tmp_path, text, bits):
    array = tessarray.create_array(tmp_path / "a", shape=(1,), chunks=(1,), dtype="float32", fill_value=-1)
    assert array[0] == -1
    path = tmp_path / "a" / "zarr.json"
    document = json.loads(path.read_text())
    document["fill_value"] = json.loads(text)
    path.write_text(json.dumps(document))
    found = tessarray.open_array(tmp_path / "a", mode="r")[...]
    assert int(found.view("uint32")[0]) == bits


def test_structured_arrays_are_read(tmp_path):
    dtype = np.dtype([("time", "<i8"), ("value", "<f4"), ("flag", "u1")])
    values = np.array([(1, 2.5, 3), (4, 5.5, 6), (7, 8.5, 9)], dtype)
    for number, zarr_format in enumerate([2, 3]):
        path = tmp_path / str(number)
        theirs = zarr.create_array(path, shape=(3,), chunks=(2,), dtype=dtype, zarr_format=zarr_format)
        theirs[...] = values
        found = tessarray.open_array(path, mode="r")[...]
        assert found.dtype.names == dtype.names
        assert found.tolist() == values.tolist()


def test_strings_and_objects_are_written_to_a_string_array(tmp_path):
    array = tessarray.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype=str)
    texts = ["", "a", "žluťoučký kůň", "x" * 5000]
    for values in [
        texts,
        np.array(texts),
        np.array(texts, dtype=object),
        np.array(texts, np.dtypes.StringDType()),
    ]:
        array[...] = ["?"] * 4
        array[...] = values
        assert array[...].tolist() == texts
    assert zarr.open_array(tmp_path / "a", mode="r")[...].tolist() == texts


def test_values_are_cast_as_numpy_casts_and_what_it_refuses_is_refused(tmp_path):
    array = tessarray.create_array(tmp_path / "a", shape=(4,), chunks=(2,), dtype="int16")
    array[...] = np.array([1, 2, 3, 4], "int64")
    array[0] = 7.0
    array[1:3] = [True, False]
    assert array[...].tolist() == [7, 1, 0, 4]
    with pytest.raises((ValueError, TypeError)):
        array[...] = ["a", "b", "c", "d"]
    with pytest.raises((ValueError, TypeError)):
        array[0] = object()
    assert array[...].tolist() == [7, 1, 0, 4]


def test_big_endian_and_strided_and_fortran_values_are_written_right(tmp_path):
    values = np.arange(24).reshape(4, 6)
    array = tessarray.create_array(tmp_path / "a", shape=(4, 6), chunks=(3, 4), dtype="int32")
    for form in [
        values.astype(">i4"),
        np.asfortranarray(values),
        values[::-1][::-1],
        values.repeat(2, 1)[:, ::2],
    ]:
        array[...] = 0
        array[...] = form
        np.testing.assert_array_equal(array[...], values)


SPELLINGS = {
    "short-zstd": ("zstd:3", "zstd"),
    "short-blosc": ("blosc:lz4:5:shuffle", "blosc"),
    "short-list": (["zstd:3", "crc32c"], "crc32c"),
    "json": ({"name": "gzip", "configuration": {"level": 2}}, "gzip"),
    "json-list": ([{"name": "zstd", "configuration": {"level": 2, "checksum": True}}], "zstd"),
    "zarr-python": (
        zarr.codecs.BloscCodec(cname="zstd", clevel=3, shuffle="bitshuffle", typesize=4),
        "blosc",
    ),
    "zarr-python-list": ([zarr.codecs.ZstdCodec(level=2), zarr.codecs.Crc32cCodec()], "crc32c"),
    "numcodecs-zlib": (numcodecs.Zlib(level=3), "zlib"),
    "numcodecs-blosc": (numcodecs.Blosc(cname="lz4", clevel=5, shuffle=1), "blosc"),
    "none": (None, ""),
    "empty": ([], ""),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_a_codec_may_be_spelled_in_every_way(tmp_path, name):
    compressors, word = SPELLINGS[name]
    array = tessarray.create_array(
        tmp_path / "a", shape=(9,), chunks=(4,), dtype="int32", compressors=compressors
    )
    array[...] = np.arange(9)
    document = json.loads((tmp_path / "a" / "zarr.json").read_text())
    names = " ".join(codec["name"] for codec in document["codecs"])
    assert word in names
    if not word:
        assert names == "bytes"
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "a", mode="r")[...], np.arange(9))


class Xor:
    """A codec in Python: every byte xor a key."""

    def __init__(self, key=90):
        self.key = key

    @classmethod
    def from_config(cls, config):
        return cls(**config)

    def get_config(self):
        return {"key": self.key}

    def encode(self, data):
        return bytes(byte ^ self.key for byte in bytes(data))

    def decode(self, data, size):
        return bytes(byte ^ self.key for byte in bytes(data))


@pytest.mark.parametrize("shards", [None, (8,)], ids=["chunks", "shards"])
def test_a_codec_registered_from_python_by_name_encodes_and_decodes(tmp_path, shards):
    tessarray.register_codec("test.xor", Xor)
    array = tessarray.create_array(
        tmp_path / "a",
        shape=(9,),
        chunks=(4,),
        shards=shards,
        dtype="uint8",
        compressors={"name": "test.xor", "configuration": {"key": 15}},
    )
    array[...] = np.arange(9)
    np.testing.assert_array_equal(tessarray.open_array(tmp_path / "a", mode="r")[...], np.arange(9))
    if shards is None:
        assert (tmp_path / "a" / "c" / "0").read_bytes()[:4] == bytes([15, 14, 13, 12])


def test_a_codec_in_python_that_raises_is_an_error_and_not_an_abort(tmp_path):
    class Broken(Xor):
        def decode(self, data, size):
            raise RuntimeError("the codec is out of order")

    tessarray.register_codec("test.broken", Broken)
    array = tessarray.create_array(
        tmp_path / "a",
        shape=(9,),
        chunks=(4,),
        dtype="uint8",
        compressors={"name": "test.broken", "configuration": {}},
    )
    array[...] = np.arange(9)
    with pytest.raises(tessarray.errors.TessarrayError, match="out of order"):
        tessarray.open_array(tmp_path / "a", mode="r")[...]
