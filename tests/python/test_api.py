"""The Python API: arrays, groups and modes under the names that a user of zarr-python knows."""

from __future__ import annotations

import json
import pickle

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


def test_the_default_chain_is_a_typed_shuffle_and_a_fast_codec(tmp_path):
    tessarray.create_array(tmp_path / "a", shape=(1000, 1000), dtype="int32")
    document = json.loads((tmp_path / "a" / "zarr.json").read_text())
    plain, blosc = document["codecs"]
    assert plain["name"] == "bytes" and blosc["name"] == "blosc"
    assert (blosc["configuration"]["shuffle"], blosc["configuration"]["typesize"]) == ("shuffle", 4)
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
