"""The Python API: what a user of zarr-python expects to find, under the names they know."""

from __future__ import annotations

import json
import pickle

import ml_dtypes
import numcodecs
import numpy as np
import pytest
import zarr

import tessarray


@pytest.fixture
def array(tmp_path):
    array = tessarray.create_array(
        tmp_path / "a",
        shape=(10, 12),
        chunks=(2, 3),
        shards=(4, 6),
        dtype="float32",
        fill_value=np.nan,
        attributes={"units": "K", "nested": {"a": [1, 2.5, None, True]}},
        dimension_names=["y", "x"],
    )
    array[...] = np.arange(120).reshape(10, 12)
    return array


# Arrays ---------------------------------------------------------------------------------------------------------------


def test_an_array_has_zarr_pythons_attributes(array):
    assert array.shape == (10, 12)
    assert array.ndim == 2
    assert array.size == 120
    assert array.dtype == np.dtype("float32")
    assert array.chunks == (2, 3)
    assert array.shards == (4, 6)
    assert tuple(array.dimension_names) == ("y", "x")
    assert np.isnan(array.fill_value)
    assert array.nbytes == 480
    assert array.nbytes_stored() > 0
    assert array.attrs["units"] == "K"
    assert len(array) == 10
    assert array.zarr_format == 3
    assert array.order == "C"
    assert len(array.codecs) >= 1


def test_opened_again_an_array_has_the_same_attributes(array, tmp_path):
    again = tessarray.open_array(tmp_path / "a", mode="r")
    for name in ("shape", "dtype", "chunks", "shards", "dimension_names", "nbytes"):
        assert getattr(again, name) == getattr(array, name), name
    assert again.nbytes_stored() == array.nbytes_stored()
    assert dict(again.attrs) == dict(array.attrs)
    np.testing.assert_array_equal(again[...], array[...])


def test_repr_info_and_html_say_what_matters(array):
    text = repr(array)
    assert "(10, 12)" in text and "float32" in text
    info = str(array.info)
    for word in ("10", "12", "float32", "2, 3", "4, 6", "crc32c", "nan"):
        assert word in info, info
    assert "np.float" not in info, info
    html = array._repr_html_()
    assert "<" in html and "float32" in html and "(10, 12)" in html


def test_html_does_not_carry_the_markup_of_attributes(tmp_path):
    array = tessarray.create_array(
        tmp_path / "a",
        shape=(1,),
        chunks=(1,),
        dtype="int8",
        attributes={"<script>": "<script>alert(1)</script>"},
        dimension_names=["<script>"],
    )
    assert "<script" not in array._repr_html_()


def test_an_array_pickles_and_opens_again(array):
    again = pickle.loads(pickle.dumps(array))
    np.testing.assert_array_equal(again[...], array[...])
    again[0, 0] = 77
    assert array[0, 0] == 77


def test_numpy_takes_an_array_as_one(array):
    assert np.asarray(array).shape == (10, 12)
    assert np.asarray(array, dtype="float64").dtype == np.float64
    assert float(np.sum(array)) == 7140.0
    assert np.array(array, copy=True).flags.owndata


def test_attributes_change_and_stay_changed(array, tmp_path):
    array.attrs["new"] = [1, 2, 3]
    array.attrs.update({"units": "C", "π": "ě"})
    del array.attrs["nested"]
    found = dict(tessarray.open_array(tmp_path / "a", mode="r").attrs)
    assert found == {"units": "C", "new": [1, 2, 3], "π": "ě"}
    assert dict(zarr.open_array(tmp_path / "a", mode="r").attrs) == found


def test_a_read_into_a_buffer_returns_it_and_refuses_one_of_another_shape_or_dtype(array):
    out = np.empty((3, 12), "float32")
    found = array.read((slice(2, 5),), out=out)
    assert found is out or np.shares_memory(found, out)
    np.testing.assert_array_equal(out, array[2:5])
    with pytest.raises(ValueError):
        array.read((slice(2, 5),), out=np.empty((3, 11), "float32"))
    with pytest.raises((ValueError, TypeError)):
        array.read((slice(2, 5),), out=np.empty((3, 12), "int16"))
    locked = np.empty((3, 12), "float32")
    locked.flags.writeable = False
    with pytest.raises((ValueError, TypeError)):
        array.read((slice(2, 5),), out=locked)


def test_append_returns_and_shows_the_new_shape(array):
    array.append(np.ones((3, 12), "float32"), axis=0)
    assert array.shape == (13, 12)
    array.append(np.zeros((13, 1), "float32"), axis=1)
    assert array.shape == (13, 13)
    assert (array[10:, :12] == 1).all() and (array[:, 12] == 0).all()
    with pytest.raises(ValueError):
        array.append(np.ones((3, 12), "float32"), axis=0)
    assert array.shape == (13, 13)


def test_a_read_only_array_refuses_every_change(array, tmp_path):
    reader = tessarray.open_array(tmp_path / "a", mode="r")
    for change in [
        lambda: reader.__setitem__(..., 0),
        lambda: reader.append(np.ones((1, 12), "float32"), axis=0),
        lambda: reader.resize((1, 1)),
        lambda: reader.attrs.__setitem__("a", 1),
    ]:
        with pytest.raises((tessarray.errors.ReadOnlyError, ValueError)):
            change()
    assert array.shape == (10, 12) and "a" not in array.attrs


def test_blocks_are_zarr_pythons(array, tmp_path):
    theirs = zarr.open_array(tmp_path / "a", mode="r")
    for block in [(0, 0), (1, 1), (2, slice(0, 2))]:
        np.testing.assert_array_equal(array.blocks[block], theirs.blocks[block])


def test_the_default_chain_is_a_typed_shuffle_a_fast_codec_and_a_checksum(tmp_path):
    tessarray.create_array(tmp_path / "a", shape=(1000, 1000), dtype="int32")
    document = json.loads((tmp_path / "a" / "zarr.json").read_text())
    text = json.dumps(document["codecs"])
    assert "shuffle" in text and "crc32c" in text
    assert all(1 <= side <= 1000 for side in document["chunk_grid"]["configuration"]["chunk_shape"])


def test_data_gives_shape_and_dtype(tmp_path):
    values = np.arange(30, dtype="int16").reshape(5, 6)
    array = tessarray.create_array(tmp_path / "a", data=values, chunks=(2, 2))
    assert array.shape == (5, 6) and array.dtype == np.int16
    np.testing.assert_array_equal(array[...], values)


def test_overwrite_replaces_and_its_absence_refuses(array, tmp_path):
    with pytest.raises(tessarray.errors.ExistsError):
        tessarray.create_array(tmp_path / "a", shape=(1,), dtype="int8")
    assert array[0, 1] == 1
    again = tessarray.create_array(tmp_path / "a", shape=(3,), chunks=(3,), dtype="int8", overwrite=True)
    assert again[...].tolist() == [0, 0, 0]


# Modes ----------------------------------------------------------------------------------------------------------------


def test_mode_r_wants_something_and_changes_nothing(tmp_path):
    with pytest.raises(FileNotFoundError):
        tessarray.open_array(tmp_path / "none", mode="r")
    with pytest.raises(FileNotFoundError):
        tessarray.open_group(tmp_path / "none", mode="r")
    with pytest.raises(FileNotFoundError):
        tessarray.open(tmp_path / "none", mode="r")
    assert list(tmp_path.iterdir()) == []


def test_mode_r_plus_wants_something_and_writes(array, tmp_path):
    tessarray.open_array(tmp_path / "a", mode="r+")[0, 0] = 9
    assert array[0, 0] == 9
    with pytest.raises(FileNotFoundError):
        tessarray.open_array(tmp_path / "none", mode="r+")


def test_mode_a_opens_or_creates(tmp_path):
    first = tessarray.open_array(tmp_path / "b", mode="a", shape=(3,), chunks=(2,), dtype="int32")
    first[...] = 5
    second = tessarray.open_array(tmp_path / "b", mode="a", shape=(3,), chunks=(2,), dtype="int32")
    assert second[...].tolist() == [5, 5, 5]


def test_mode_w_starts_anew_and_w_minus_refuses_what_exists(array, tmp_path):
    with pytest.raises(FileExistsError):
        tessarray.open_array(tmp_path / "a", mode="w-", shape=(3,), dtype="int32")
    anew = tessarray.open_array(tmp_path / "a", mode="w", shape=(3,), chunks=(2,), dtype="int32")
    assert anew[...].tolist() == [0, 0, 0]


def test_an_unknown_mode_is_refused(tmp_path):
    with pytest.raises(ValueError, match="mode"):
        tessarray.open(tmp_path, mode="x")


def test_open_tells_arrays_from_groups(array, tmp_path):
    tessarray.create_group(tmp_path / "g")
    assert isinstance(tessarray.open(tmp_path / "a", mode="r"), tessarray.Array)
    assert isinstance(tessarray.open(tmp_path / "g", mode="r"), tessarray.Group)
    with pytest.raises(tessarray.errors.TessarrayError):
        tessarray.open_array(tmp_path / "g", mode="r")
    with pytest.raises(tessarray.errors.TessarrayError):
        tessarray.open_group(tmp_path / "a", mode="r")


def test_save_array_and_load_are_each_others_inverse(tmp_path):
    values = np.random.default_rng(0).normal(size=(20, 30))
    tessarray.save_array(tmp_path / "a", values)
    np.testing.assert_array_equal(tessarray.load(tmp_path / "a"), values)
    np.testing.assert_array_equal(zarr.load(tmp_path / "a"), values)


# Groups ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_group_is_a_mapping_of_arrays_and_groups(tmp_path, zarr_format):
    root = tessarray.create_group(tmp_path, zarr_format=zarr_format, attributes={"title": "T"})
    root.create_array("a", shape=(4,), chunks=(2,), dtype="int32")[...] = [1, 2, 3, 4]
    inner = root.create_group("inner/deep")
    inner.create_array("b", shape=(2,), chunks=(2,), dtype="int8")
    assert sorted(root) == ["a", "inner"]
    assert len(root) == 2
    assert "a" in root and "inner/deep/b" in root and "nothing" not in root
    assert root["a"][...].tolist() == [1, 2, 3, 4]
    assert isinstance(root["inner"], tessarray.Group)
    assert root["inner/deep/b"].shape == (2,)
    assert {name for name, _ in root.arrays()} == {"a"}
    assert {name for name, _ in root.groups()} == {"inner"}
    with pytest.raises(KeyError):
        root["nothing"]
    theirs = zarr.open_group(tmp_path, mode="r")
    assert sorted(theirs) == ["a", "inner"]
    assert theirs["a"][...].tolist() == [1, 2, 3, 4]
    del root["inner"]
    assert sorted(root) == ["a"]
    with pytest.raises(KeyError):
        del root["inner"]


def test_a_tree_shows_every_node(tmp_path):
    root = tessarray.create_group(tmp_path)
    root.create_array("x/y/z", shape=(4, 5), chunks=(2, 5), dtype="int32")
    text = str(root.tree())
    for word in ("x", "y", "z", "(4, 5)", "int32"):
        assert word in text


def test_a_group_pickles_and_opens_again(tmp_path):
    root = tessarray.create_group(tmp_path, attributes={"a": 1})
    root.create_array("a", shape=(4,), chunks=(2,), dtype="int32")[...] = 3
    again = pickle.loads(pickle.dumps(root))
    assert dict(again.attrs) == {"a": 1}
    assert again["a"][...].tolist() == [3] * 4


def test_consolidated_metadata_spares_a_remote_store_the_reading_of_members():
    store = {}
    root = tessarray.create_group(store)
    for number in range(5):
        root.create_array(f"a{number}", shape=(4,), chunks=(2,), dtype="int32")[...] = number
    tessarray.consolidate_metadata(store)
    for number in range(5):
        del store[f"a{number}/zarr.json"]
    group = tessarray.open_group(store, mode="r")
    assert [int(group[f"a{number}"][0]) for number in range(5)] == [0, 1, 2, 3, 4]


# Data types -----------------------------------------------------------------------------------------------------------

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


# Codecs ---------------------------------------------------------------------------------------------------------------

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


# Stores ---------------------------------------------------------------------------------------------------------------


def in_dict(tmp_path):
    return {}


def in_memory(tmp_path):
    return tessarray.MemoryStore()


def in_folder(tmp_path):
    return tmp_path / "a"


def in_folder_by_text(tmp_path):
    return str(tmp_path / "a")


def in_local_store(tmp_path):
    return tessarray.LocalStore(tmp_path / "a")


def in_zip(tmp_path):
    return tmp_path / "a.zip"


def in_fsspec(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    return fsspec.get_mapper(f"file://{tmp_path}/a", create=True)


STORES = [in_dict, in_memory, in_folder, in_folder_by_text, in_local_store, in_zip, in_fsspec]


@pytest.mark.parametrize("make", STORES, ids=lambda make: make.__name__)
def test_every_store_keeps_an_array_and_a_group(tmp_path, make):
    store = make(tmp_path)
    root = tessarray.create_group(store)
    array = root.create_array("x/a", shape=(10, 10), chunks=(3, 3), shards=(6, 6), dtype="int32")
    values = np.arange(100).reshape(10, 10)
    array[...] = values
    array[2:4, 5:9] = -1
    values[2:4, 5:9] = -1
    array.append(np.ones((2, 10), "int32"), axis=0)
    del array, root
    group = tessarray.open_group(store, mode="r")
    found = group["x/a"][...]
    np.testing.assert_array_equal(found[:10], values)
    assert (found[10:] == 1).all()
    assert list(group) == ["x"]


def test_a_zip_that_zarr_python_wrote_is_read_and_the_other_way_round(tmp_path):
    store = zarr.storage.ZipStore(tmp_path / "theirs.zip", mode="w")
    theirs = zarr.create_array(store, shape=(5,), chunks=(2,), dtype="int32")
    theirs[...] = [1, 2, 3, 4, 5]
    store.close()
    assert tessarray.open_array(tmp_path / "theirs.zip", mode="r")[...].tolist() == [1, 2, 3, 4, 5]
    ours = tessarray.create_array(tmp_path / "ours.zip", shape=(5,), chunks=(2,), dtype="int32")
    ours[...] = [5, 4, 3, 2, 1]
    del ours
    store = zarr.storage.ZipStore(tmp_path / "ours.zip", mode="r")
    assert zarr.open_array(store, mode="r")[...].tolist() == [5, 4, 3, 2, 1]


def test_a_name_puts_the_array_into_a_store_of_many(tmp_path):
    for name in ("one", "deep/two"):
        tessarray.create_array(tmp_path, name=name, shape=(3,), chunks=(2,), dtype="int32")[...] = 4
    assert tessarray.open_array(tmp_path / "deep" / "two", mode="r")[...].tolist() == [4, 4, 4]


# The package ----------------------------------------------------------------------------------------------------------


def test_the_package_says_its_version_and_is_typed():
    from importlib.metadata import version
    from importlib.resources import files

    assert tessarray.__version__ == version("tessarray")
    assert files("tessarray").joinpath("py.typed").is_file()
    assert files("tessarray").joinpath("_native.pyi").is_file()


def test_everything_the_package_exports_exists_and_is_documented():
    for name in tessarray.__all__:
        item = getattr(tessarray, name)
        if callable(item):
            assert item.__doc__, name


def test_importing_the_package_loads_no_other_array_library():
    from support import in_new_process

    found = in_new_process("answer(loaded=sorted(sys.modules))")["loaded"]
    for heavy in ("zarr", "xarray", "pandas", "netCDF4", "h5py", "dask", "matplotlib", "typer", "numcodecs"):
        assert heavy not in found


def test_threads_can_be_set_by_the_session_and_by_the_environment():
    from support import in_new_process

    assert tessarray.Session(threads=3).threads == 3
    code = "answer(threads=tessarray.Session().threads)"
    assert in_new_process(code, TESSARRAY_THREADS="5")["threads"] == 5
