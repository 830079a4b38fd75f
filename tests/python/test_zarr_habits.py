"""Names and manners of zarr-python and NumPy that users bring along."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest
import zarr
from hypothesis import given
from hypothesis import strategies as st

import tessarray
from tessarray.stores import PrefixStore, ReadOnlyStore

VALUES = np.arange(60).reshape(6, 10)


@pytest.fixture
def array() -> tessarray.Array:
    return tessarray.create_array({}, data=VALUES, chunks=(2, 3))


@pytest.mark.parametrize("shape", [(4, 6), np.array([4, 6]), [np.int64(4), np.uint8(6)]])
@pytest.mark.parametrize("chunks", [(2, 3), np.array([2, 3]), [np.int32(2), 3]])
@pytest.mark.parametrize("shards", [None, np.array([4, 6])])
def test_shapes_are_sequences_and_arrays_of_integers(shape: Any, chunks: Any, shards: Any) -> None:
    array = tessarray.create_array({}, shape=shape, chunks=chunks, shards=shards, dtype="int8")
    assert (array.shape, array.chunks, array.shards) == ((4, 6), (2, 3), None if shards is None else (4, 6))


def test_an_integer_of_numpy_is_one_length() -> None:
    array = tessarray.create_array({}, shape=np.array(9), chunks=np.array(4), dtype="int8")
    assert (array.shape, array.chunks) == ((9,), (4,))


@pytest.mark.parametrize("wrong", [np.array([1.5, 2.0]), np.zeros((2, 2), int), "ab", [1, None]])
def test_a_shape_of_anything_else_is_refused(wrong: Any) -> None:
    with pytest.raises(TypeError, match="shape: expected an integer or a sequence"):
        tessarray.create_array({}, shape=wrong, dtype="int8")


def test_resize_takes_an_integer_and_an_array() -> None:
    array = tessarray.create_array({}, data=np.arange(10))
    array.resize(20)
    assert array[8:12].tolist() == [8, 9, 0, 0]
    array.resize(np.array([5]))
    assert array.shape == (5,)
    with pytest.raises(tessarray.errors.InvalidArgumentError):
        array.resize(-1)


@given(st.integers(-9, 9) | st.none(), st.integers(-9, 9) | st.none())
def test_a_slice_of_blocks_starts_in_the_grid_or_is_refused(start: int | None, stop: int | None) -> None:
    ours = tessarray.create_array({}, data=np.arange(10), chunks=3)
    theirs = zarr.create_array({}, data=np.arange(10), chunks=(3,))
    try:
        # zarr-python does not check an end before the first block.
        expected = theirs.blocks[start:stop] if stop is None or stop >= -4 else theirs.blocks[start:0]
    except IndexError:
        with pytest.raises(tessarray.errors.SelectionError, match="blocks starts at"):
            ours.blocks[start:stop]
        with pytest.raises(IndexError):
            ours.blocks[start:stop] = 1
        with pytest.raises(IndexError):
            ours.set_block_selection(slice(start, stop), 1)
    else:
        np.testing.assert_array_equal(ours.blocks[start:stop], expected)


SELECTIONS = {
    "basic": (slice(1, 4), slice(None, None, 2)),
    "orthogonal": ([0, 5], [1, 2, 9]),
    "coordinate": ([0, 5, 3], [1, 2, 9]),
    "mask": VALUES % 7 == 3,
    "block": (slice(1, 3), 2),
}


@pytest.mark.parametrize("kind", SELECTIONS)
def test_every_selection_reads_into_memory_of_the_caller(array: tessarray.Array, kind: str) -> None:
    select = getattr(array, f"get_{kind}_selection")
    expected = select(SELECTIONS[kind])
    room = np.full((2 * expected.shape[0], *expected.shape[1:]), -1)[::2]
    found = select(SELECTIONS[kind], out=room)
    np.testing.assert_array_equal(room, expected)
    assert np.shares_memory(found, room)
    with pytest.raises(ValueError, match="out"):
        select(SELECTIONS[kind], out=np.empty((7, 7), VALUES.dtype))
    with pytest.raises(ValueError, match="out"):
        select(SELECTIONS[kind], out=np.empty(expected.shape, "int8"))


def test_texts_are_read_into_memory_of_the_caller_too() -> None:
    array = tessarray.create_array({}, data=np.array(["a", "bcd", ""], np.dtypes.StringDType()))
    room = np.empty(2, np.dtypes.StringDType())
    array.get_orthogonal_selection([1, 0], out=room)
    assert room.tolist() == ["bcd", "a"]


def stores(tmp_path: Path) -> list[tessarray.Store]:
    tessarray.save_array(tmp_path / "a.zip", VALUES)
    tessarray.create_pack(tmp_path / "a.pack")
    local = tessarray.LocalStore(tmp_path)
    mapper = tessarray.MappingStore(fsspec.get_mapper(str(tmp_path)))
    return [
        local,
        tessarray.LocalStore(tmp_path, read_only=True),
        tessarray.LocalStore(tmp_path / "b"),
        PrefixStore(local, "b"),
        PrefixStore(local, "c"),
        ReadOnlyStore(local),
        tessarray.ZipStore(tmp_path / "a.zip"),
        tessarray.open_pack(tmp_path / "a.pack").store,
        mapper,
    ]


def test_a_store_is_equal_to_its_copy_and_to_no_other(tmp_path: Path) -> None:
    every = stores(tmp_path)
    for i, store in enumerate(every):
        again = pickle.loads(pickle.dumps(store))
        assert again is not store
        for j, other in enumerate(every):
            assert (again == other) is (i == j), (i, j)
        assert hash(again) == hash(store)
        assert len({again, store}) == 1
        assert store != "store"


def test_what_lives_in_this_process_is_equal_to_itself_only() -> None:
    mapping: dict[str, bytes] = {}
    assert tessarray.MemoryStore() != tessarray.MemoryStore()
    assert tessarray.MappingStore(mapping) == tessarray.MappingStore(mapping)
    assert tessarray.MappingStore(mapping) != tessarray.MappingStore({})
    assert tessarray.MappingStore(mapping) != tessarray.MappingStore(mapping, read_only=True)


def test_arrays_and_groups_are_equal_to_their_copies(tmp_path: Path) -> None:
    group = tessarray.open_group(tmp_path / "g", mode="w")
    array = group.create_array("a", data=VALUES)
    for node in (group, array):
        again = pickle.loads(pickle.dumps(node))
        assert again == node
        assert hash(again) == hash(node)
        assert copy.deepcopy(node) == node
        assert node != 5
    assert array != group
    assert array != group.create_array("b", data=VALUES)
    stale = tessarray.open_array(tmp_path / "g", path="a")
    assert stale == tessarray.open_array(tmp_path / "g", path="a") == array
    array.resize((7, 10))
    assert stale != array  # a handle with the old shape
    stale.refresh()
    assert stale == array


def test_an_array_compared_with_numpy_is_compared_by_element(array: tessarray.Array) -> None:
    assert (array == VALUES).all()


def test_an_array_in_a_pack_opened_by_path_survives_a_pickle(tmp_path: Path) -> None:
    with tessarray.create_pack(tmp_path / "a.pack").transaction("data") as tx:
        tx.create_array("x/y", data=VALUES)
    array = tessarray.open_array(tmp_path / "a.pack" / "x", path="y", mode="r")
    again = pickle.loads(pickle.dumps(array))
    assert again == array
    np.testing.assert_array_equal(again[...], VALUES)


def test_a_store_for_zarr_python_is_equal_to_its_copy(tmp_path: Path) -> None:
    store = tessarray.create_pack(tmp_path / "a.pack").zarr_store()
    assert pickle.loads(pickle.dumps(store)) == store


def test_a_refused_write_is_a_value_error_as_in_zarr_python(tmp_path: Path) -> None:
    tessarray.save_array(tmp_path / "a", VALUES)
    array = tessarray.open_array(tmp_path / "a", mode="r")
    for kind in (ValueError, PermissionError, tessarray.errors.ReadOnlyError):
        with pytest.raises(kind):
            array[0] = 1


MAKERS = {"zeros": (), "ones": (), "empty": (), "full": (7,)}


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("dtype", ["int16", "float32", "complex64", None])
def test_filled_arrays_hold_what_numpy_makes(name: str, dtype: str | None) -> None:
    expected = getattr(np, name)((3, 4), *MAKERS[name], dtype=dtype)
    if name == "empty":
        expected = np.zeros_like(expected)
    group = tessarray.create_group({})
    for made in (
        getattr(tessarray, name)((3, 4), *MAKERS[name], dtype=dtype, chunks=2),
        getattr(group, name)("a", (3, 4), *MAKERS[name], **({"dtype": dtype} if dtype else {})),
    ):
        np.testing.assert_array_equal(made[...], expected, strict=True)
        assert made.nchunks_initialized == 0
        np.testing.assert_array_equal(
            getattr(tessarray, f"{name}_like")(made, *MAKERS[name])[...], expected, strict=True
        )


@pytest.mark.parametrize("name", MAKERS)
def test_arrays_like_another_have_its_layout_and_not_its_attributes(name: str) -> None:
    model = tessarray.create_array(
        {}, data=VALUES, chunks=(2, 5), shards=(4, 10), compressors="zstd:3", order="F", attributes={"a": 1},
        dimension_names=("y", "x"), fill_value=3,
    )  # fmt: skip
    group = tessarray.create_group({})
    for made in (
        getattr(tessarray, f"{name}_like")(model, *MAKERS[name]),
        getattr(group, f"{name}_like")("a", model, *MAKERS[name]),
    ):
        assert (made.chunks, made.shards, made.codecs) == (model.chunks, model.shards, model.codecs)
        assert (made.dtype, made.order, made.dimension_names) == (model.dtype, "F", ("y", "x"))
        assert dict(made.attrs) == {}
        assert made[0, 0] == {"zeros": 0, "ones": 1, "empty": 3, "full": 7}[name]


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize(
    "target",
    [
        {},
        {"zarr_format": None},
        {"chunks": (4, 7)},
        {"chunks": (1, 2), "shards": (3, 10)},
        {"zarr_format": 2},
    ],
)
def test_an_array_from_an_array_has_its_values_and_metadata(zarr_format: Any, target: dict[str, Any]) -> None:
    source = tessarray.create_array(
        {}, data=VALUES, chunks=(2, 3), compressors="zstd:3", zarr_format=zarr_format, fill_value=9,
        attributes={"units": "m"}, chunk_key_encoding="." if zarr_format == 3 else "/",
    )  # fmt: skip
    if "shards" in target and zarr_format == 2:
        target = target | {"zarr_format": 3}
    kept = tessarray.from_array({}, data=source, **target)
    np.testing.assert_array_equal(kept[...], VALUES)
    assert (kept.fill_value, dict(kept.attrs)) == (9, {"units": "m"})
    if kept.zarr_format == source.zarr_format and not {"chunks", "shards"} & target.keys():
        assert kept.metadata == source.metadata


@pytest.mark.parametrize(("source", "target"), [("a", "a"), ("g/a", "g"), ("g/a", ""), ("a", "a/c")])
@pytest.mark.parametrize("kind", ["local", "mapping", "fsspec", "prefix", "pack", "zarr"])
def test_an_array_is_never_replaced_by_its_own_copy(
    tmp_path: Path, kind: str, source: str, target: str
) -> None:
    mapping: dict[str, bytes] = {}
    theirs = zarr.storage.MemoryStore()
    store: Any = {
        "local": tmp_path,
        "mapping": mapping,
        "fsspec": fsspec.get_mapper(str(tmp_path)),
        "prefix": PrefixStore(tessarray.LocalStore(tmp_path), "x/y"),
        "pack": tmp_path / "a.pack",
        "zarr": theirs,
    }[kind]
    if kind == "pack":
        tessarray.create_pack(store)
    tessarray.create_array(store, name=source, data=VALUES)
    places = [store]
    if kind == "prefix":
        places = [tmp_path / "x" / "y", tessarray.LocalStore(tmp_path / "x" / "y")]
    data = [
        tessarray.open_array(store, path=source, mode="r"),
        tessarray.open_array(store, path=source, mode="r+"),
    ]
    if kind == "zarr":
        data.append(zarr.open_array(theirs, path=source))
    for place in places:
        for values in data if kind != "pack" else data[1:]:
            with pytest.raises(ValueError, match="overlaps"):
                tessarray.from_array(place, name=target, data=values, overwrite=True)
    np.testing.assert_array_equal(tessarray.open_array(store, path=source, mode="r")[...], VALUES)
    tessarray.from_array(store, name="b", data=data[0], overwrite=True)
    tessarray.from_array(store, name="b", data=data[0], overwrite=True)
    np.testing.assert_array_equal(tessarray.open_array(store, path="b", mode="r")[...], VALUES)


def test_an_array_is_copied_whatever_its_data_type() -> None:
    for data in (
        np.array([(1.5, 2)], [("a", "f8"), ("b", "i1")]),
        np.array(["a", "bc"], np.dtypes.StringDType()),
        np.array([b"ab", b"c"]),
        np.array(["ab", "c"]),
        np.array(["2001-01-01", "NaT"], "datetime64[s]"),
        np.array([True, False]),
    ):
        source = tessarray.array(data)
        copied = tessarray.from_array({}, data=source)
        assert copied.metadata == source.metadata
        assert copied[...].tolist() == data.tolist()
        assert tessarray.zeros_like(source).dtype == source.dtype


@pytest.mark.parametrize("bytes_at_a_time", [1, 64, 200, 1 << 20])
@pytest.mark.parametrize("chunks", [(2, 3), (6, 10), (1, 1), (4, 7)])
def test_values_are_copied_in_whole_objects_of_bounded_size(
    bytes_at_a_time: int, chunks: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    from tessarray import filled

    monkeypatch.setattr(filled, "COPY_BYTES", bytes_at_a_time)
    read: list[int] = []

    class Source:
        shape, dtype = VALUES.shape, VALUES.dtype

        def __getitem__(self, box: Any) -> Any:
            read.append(VALUES[box].nbytes)
            return VALUES[box]

    made = tessarray.from_array({}, data=Source(), chunks=chunks)
    np.testing.assert_array_equal(made[...], VALUES)
    assert sum(read) == VALUES.nbytes  # each element once
    assert max(read) <= max(bytes_at_a_time, chunks[0] * chunks[1] * VALUES.itemsize)


def test_arrays_are_made_from_anything_like_an_array() -> None:
    theirs = zarr.create_array({}, data=VALUES, chunks=(2, 3), fill_value=4, attributes={"a": 1})
    made = tessarray.from_array({}, data=theirs)
    assert (made.chunks, made.fill_value, dict(made.attrs)) == ((2, 3), 4, {"a": 1})
    np.testing.assert_array_equal(made[...], VALUES)
    assert tessarray.array([[1, 2], [3, 4]], chunks=1)[...].tolist() == [[1, 2], [3, 4]]
    assert tessarray.array(5)[()] == 5
    assert tessarray.from_array({}, data=VALUES, write_data=False).nchunks_initialized == 0
    assert tessarray.array(np.zeros((0, 3))).shape == (0, 3)
    with pytest.raises(tessarray.errors.ExistsError):
        tessarray.from_array(made.store, data=VALUES)


def test_members_are_had_by_kind() -> None:
    group = tessarray.create_group({})
    array = group.create_array("x/a", data=VALUES)
    inner = group["x"]
    assert group.get_array("x/a") == array
    assert group.get_group("x") == inner
    assert list(inner.array_values()) == [array]
    assert list(group.group_values()) == [inner]
    with pytest.raises(tessarray.errors.WrongNodeError, match="is a group"):
        group.get_array("x")
    with pytest.raises(tessarray.errors.WrongNodeError, match="is an array"):
        group.get_group("x/a")
    with pytest.raises(KeyError):
        group.get_array("y")
    assert [g.path for g in group.require_groups("x", "z")] == ["x", "z"]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_hierarchy_is_made_from_metadata(zarr_format: Any) -> None:
    model = tessarray.create_array(
        {}, shape=(3, 4), chunks=(2, 2), dtype="int16", attributes={"a": 1}, zarr_format=zarr_format
    )
    nodes = {
        "p/q/a": model.metadata,
        "p": {"zarr_format": zarr_format, "attributes": {"b": 2}},
        "/c": model.metadata,
    }
    store = tessarray.MemoryStore()
    made = dict(tessarray.create_hierarchy(store, nodes))
    assert list(made) == ["", "c", "p", "p/q", "p/q/a"]
    root = tessarray.open_group(store, mode="r")
    assert {path: node.metadata for path, node in root.members(None)} == {
        path: node.metadata for path, node in made.items() if path
    }
    assert root["p/q/a"].metadata == model.metadata
    assert dict(root["p"].attrs) == {"b": 2}
    made["c"][...] = 5
    with pytest.raises(tessarray.errors.ExistsError, match="'c'"):
        tessarray.create_hierarchy(store, {"new": model.metadata, "c": model.metadata})
    assert "new" not in root  # looked at before anything is written
    kept = dict(
        tessarray.create_hierarchy(store, {"p/z": model.metadata, "c": model.metadata}, overwrite=True)
    )
    assert list(kept) == ["", "c", "p", "p/z"]
    assert not root["c"][...].any()
    assert "p/q/a" in root  # a group that lies between is not replaced


def test_full_like_keeps_the_value_that_is_not_given_and_groups_keep_one_format() -> None:
    model = tessarray.full(3, 7)
    group = tessarray.create_group({}, zarr_format=2)
    assert tessarray.full_like(model)[...].tolist() == group.full_like("a", model)[...].tolist() == [7, 7, 7]
    with pytest.raises(ValueError, match="expected zarr_format 2"):
        group.create_hierarchy({"b": model.metadata})
    assert list(group) == ["a"]


def test_a_hierarchy_that_cannot_be_is_refused_whole() -> None:
    model = tessarray.create_array({}, shape=3, dtype="int16").metadata
    store = tessarray.MemoryStore()
    for nodes in (
        {"a": model, "a/b": model},
        {"a": model, "b": {"zarr_format": 2}},
        {"a": model, "b": {"shape": 3}},
        {"a": model, "b": model | {"data_type": "int17"}},
        {"a": model, "b": 5},
    ):
        with pytest.raises(ValueError):
            tessarray.create_hierarchy(store, nodes)
    assert store.list("") == []
    tessarray.create_hierarchy(store, {"a": model})
    with pytest.raises(tessarray.errors.WrongNodeError):
        tessarray.create_hierarchy(store, {"b": model, "a/c": model}, overwrite=True)
    assert tessarray.open_array(store, path="a", mode="r").shape == (3,)
    assert "b" not in tessarray.open_group(store, mode="r")


def test_a_group_makes_a_hierarchy_below_itself() -> None:
    model = tessarray.create_array({}, shape=3, dtype="int16")
    theirs = zarr.create_array({}, shape=(3,), dtype="int16").metadata
    group = tessarray.create_group({}).create_group("top")
    made = dict(group.create_hierarchy({"x/a": model.metadata, "b": theirs}))
    assert sorted(made) == ["b", "x", "x/a"]
    assert sorted(path for path, _ in group.members(None)) == ["b", "x", "x/a"]
    with pytest.raises(ValueError, match="empty path"):
        group.create_hierarchy({"": model.metadata})


def test_a_consolidated_copy_that_cannot_be_read_is_as_good_as_none() -> None:
    mapping: dict[str, bytes] = {}
    tessarray.open_group(mapping, mode="w", zarr_format=2).create_array("a", data=VALUES)
    for document in (b"", b"{}", b'{"zarr_consolidated_format": 1, "metadata": {"a/.zarray": 5}}'):
        mapping[".zmetadata"] = document
        assert sorted(tessarray.open_group(mapping, mode="r")) == ["a"]
        with pytest.raises(ValueError, match="no consolidated metadata"):
            tessarray.open_consolidated(mapping)


def mapping_of_zarr(mapping: dict[str, bytes]) -> zarr.storage.MemoryStore:
    return zarr.storage.MemoryStore(
        {key: zarr.core.buffer.cpu.Buffer.from_bytes(mapping[key]) for key in mapping}
    )


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_consolidated_metadata_are_used_as_asked(zarr_format: Any) -> None:
    mapping: dict[str, bytes] = {}
    group = tessarray.open_group(mapping, mode="w", zarr_format=zarr_format)
    group.create_array("a", data=VALUES)
    with pytest.raises(ValueError, match="no consolidated metadata"):
        tessarray.open_consolidated(mapping)
    other = 5 - zarr_format
    with pytest.raises(ValueError, match=f"zarr_format: expected {other}"):
        tessarray.consolidate_metadata(mapping, zarr_format=other)
    tessarray.consolidate_metadata(mapping, zarr_format=zarr_format)
    tessarray.open_group(mapping, use_consolidated=False).create_array("b", data=VALUES)
    assert sorted(tessarray.open_consolidated(mapping)) == ["a"]
    assert sorted(tessarray.open_group(mapping, mode="r")) == ["a"]
    assert sorted(tessarray.open_group(mapping, mode="r", use_consolidated=True)) == ["a"]
    assert sorted(tessarray.open_group(mapping, mode="r", use_consolidated=False)) == ["a", "b"]
    assert sorted(tessarray.open(mapping, mode="r", use_consolidated=False)) == ["a", "b"]
    tessarray.open_group(mapping).attrs["since"] = 1
    assert zarr.open_group(mapping_of_zarr(mapping), use_consolidated=True).attrs["since"] == 1
    assert sorted(tessarray.open_consolidated(mapping)) == ["a"]  # attributes do not consolidate anew
    with pytest.raises(ValueError, match="expected True, False or None"):
        tessarray.open_group(mapping, use_consolidated=".zmetadata")
    with pytest.raises(FileNotFoundError):
        tessarray.open_group({}, use_consolidated=True)
