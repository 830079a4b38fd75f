"""Every kind of store that Python can name, and the adapters around stores."""

from __future__ import annotations

import os
import pickle

import numpy as np
import pytest
import zarr
import zarr.storage

import tessarray
from tessarray.stores import (
    FaultStore,
    MappingStore,
    MemoryStore,
    PrefixStore,
    ReadOnlyStore,
    RecordStore,
    ThrottleStore,
    ZipStore,
    store_of,
)

VALUES = np.arange(12, dtype="int32").reshape(3, 4)


def test_a_store_is_a_flat_space_of_named_bytes(tmp_path):
    with ZipStore(tmp_path / "a.zip", "w") as zipped:
        for store in (MemoryStore(), tessarray.LocalStore(tmp_path / "a"), MappingStore({}), zipped):
            store.put("a/b", b"0123456789")
            store.put("c", b"")
            assert store.get("a/b") == b"0123456789"
            assert store.get("a/b", 2, 3) == b"234"
            assert store.get("a/b", 7) == b"789"
            assert store.get("a/b", length=2) == b"89"
            assert store.get("c") == b"" and store.get("d") is None
            assert store.size("a/b") == 10 and "a/b" in store and "a" not in store
            assert store.list() == [("a/b", 10), ("c", 0)]
            assert store.list("a") == [("a/b", 10)]
            with pytest.raises(tessarray.errors.ExistsError):
                store.put("c", b"1", create=True)
            with pytest.raises(tessarray.errors.CorruptError):
                store.get("a/b", 8, 5)
            assert store.delete("c") and not store.delete("c")
            store.delete_prefix("a")
            assert store.list() == []


@pytest.mark.parametrize("key", ["", "/a", "a/", "../a", "a/../b", "a//b", "a\\b", "a\0"])
def test_keys_that_could_lead_elsewhere_are_refused(key):
    with pytest.raises(tessarray.errors.InvalidKeyError):
        MemoryStore().put(key, b"")


def test_addresses_name_local_stores_and_others_say_what_to_do(tmp_path):
    tessarray.save_array(f"file://{tmp_path}/a%20b", VALUES)
    np.testing.assert_array_equal(tessarray.load(tmp_path / "a b"), VALUES)
    assert isinstance(store_of("memory://"), MemoryStore)
    with pytest.raises(tessarray.errors.InvalidArgumentError, match=r"s3://.*get_mapper"):
        tessarray.open("s3://bucket/a")
    with pytest.raises(tessarray.errors.InvalidTypeError, match="int"):
        tessarray.open(3)
    with pytest.raises(tessarray.errors.InvalidArgumentError, match="bogus"):
        tessarray.create_array(tmp_path / "c", data=VALUES, storage_options={"bogus": 1})
    tessarray.create_array(tmp_path / "d", data=VALUES, storage_options={"durable": True})


def test_a_zip_is_in_place_once_it_is_closed(tmp_path):
    path = tmp_path / "a.zip"
    with ZipStore(path, "w") as store:
        tessarray.create_array(store, data=VALUES)
        assert not path.exists()
    np.testing.assert_array_equal(tessarray.load(path), VALUES)
    tessarray.save(path, x=VALUES)
    np.testing.assert_array_equal(tessarray.open_group(path, mode="r")["x"][1], VALUES[1])
    with pytest.raises(tessarray.errors.ExistsError):
        ZipStore(path, "w-")
    with pytest.raises(tessarray.errors.NotFoundError):
        ZipStore(tmp_path / "b.zip")
    with pytest.raises(tessarray.errors.InvalidArgumentError, match="mode"):
        ZipStore(tmp_path / "b.zip", "rw")
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.zip"]


def test_stores_of_zarr_python_are_taken_by_what_they_stand_for(tmp_path):
    for theirs in (zarr.storage.LocalStore(tmp_path / "a"), zarr.storage.MemoryStore()):
        array = tessarray.create_array(theirs, name="x", data=VALUES, chunks=2)
        array[0, 0] = 7
        np.testing.assert_array_equal(zarr.open_array(theirs, path="x", mode="r")[...], array[...])
        zarr.create_array(theirs, name="y", data=VALUES)
        np.testing.assert_array_equal(tessarray.open_array(theirs, path="y", mode="r")[...], VALUES)
    reading = zarr.storage.LocalStore(tmp_path / "a", read_only=True)
    with pytest.raises(PermissionError):
        tessarray.open_array(reading, path="x")[0] = 1


class Failing(dict):
    """A mapping whose values are out of reach."""

    def __getitem__(self, key):
        if key.startswith("c/"):
            raise ConnectionError("the line is dead")
        return super().__getitem__(key)


def test_a_mapping_that_raises_is_an_error_and_never_a_missing_chunk():
    store = Failing()
    array = tessarray.create_array(store, data=VALUES)
    with pytest.raises(tessarray.errors.StoreError, match="the line is dead") as caught:
        array[...]
    assert caught.value.key == "c/0/0"


def test_values_of_a_mapping_may_be_any_buffer():
    store: dict[str, object] = {}
    tessarray.save_array(store, VALUES)
    views = {key: memoryview(value) for key, value in store.items()}
    np.testing.assert_array_equal(tessarray.load(views), VALUES)
    with pytest.raises(tessarray.errors.StoreError, match="c/0/0"):
        tessarray.load(views | {"c/0/0": "text"})


def test_many_threads_write_one_shard_of_a_mapping_and_lose_nothing():
    from concurrent.futures import ThreadPoolExecutor

    array = tessarray.create_array({}, shape=(64,), chunks=(2,), shards=(64,), dtype="int32", fill_value=-1)

    def work(start):
        for index in range(start, 64, 4):
            array[index] = index

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))
    np.testing.assert_array_equal(array[...], np.arange(64))


def test_the_record_adapter_counts_what_a_read_costs():
    store = RecordStore(MemoryStore())
    array = tessarray.create_array(store, data=VALUES, chunks=(1, 4))
    store.reset()
    array[1]
    counts = store.counts()
    assert counts["read"]["ranges"] == 1 and counts["total"]["bytes_read"] > 0
    assert counts["put"]["calls"] == counts["update"]["calls"] == 0


def test_the_fault_adapter_fails_the_call_it_is_told_to():
    store = FaultStore(MemoryStore())
    array = tessarray.create_array(store, data=VALUES)
    store.fail(0)
    with pytest.raises(tessarray.errors.StoreError, match="injected"):
        array[...]
    assert store.calls >= 1
    store.clear()
    np.testing.assert_array_equal(array[...], VALUES)
    with pytest.raises(tessarray.errors.InvalidArgumentError, match="when"):
        store.fail(0, when="never")


def test_the_other_adapters_do_what_their_names_say():
    base = MemoryStore()
    array = tessarray.create_array(PrefixStore(base, "x/y"), data=VALUES)
    assert all(key.startswith("x/y/") for key, _ in base.list())
    slow = ThrottleStore(base, first_byte=0.001)
    np.testing.assert_array_equal(tessarray.open_array(slow, path="x/y", mode="r")[...], VALUES)
    kept = ReadOnlyStore(base)
    with pytest.raises(tessarray.errors.ReadOnlyError):
        tessarray.open_array(kept, path="x/y")[0, 0] = 1
    assert tessarray.open(kept, path="x/y").read_only and not array.read_only


def test_stores_pickle_where_another_process_can_reach_them(tmp_path):
    local = tessarray.LocalStore(tmp_path / "a", durable=True)
    tessarray.save_array(local, VALUES)
    tessarray.save_array(tmp_path / "a.zip", VALUES)
    for store in (
        local,
        ReadOnlyStore(local),
        RecordStore(local),
        ZipStore(tmp_path / "a.zip"),
        MappingStore({}),
    ):
        again = pickle.loads(pickle.dumps(store))
        assert type(again) is type(store) and again.list() == store.list()
    for store in (MemoryStore(), ZipStore(tmp_path / "b.zip", "w")):
        with pytest.raises(tessarray.errors.PickleError):
            pickle.dumps(store)
    array = tessarray.open_array(tmp_path / "a.zip", mode="r")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(array))[...], VALUES)


def test_copy_store_copies_bytes_and_documents_last(tmp_path):
    source = MemoryStore()
    tessarray.save(source, x=VALUES, y=VALUES + 1)
    seen: list[tuple[int, int]] = []
    report = tessarray.copy_store(source, tmp_path / "b", progress=lambda done, of: seen.append((done, of)))
    assert report.copied == len(source.list()) and seen[-1][0] == seen[-1][1] == report.bytes_copied
    np.testing.assert_array_equal(tessarray.load(tmp_path / "b")["y"], VALUES + 1)
    with pytest.raises(tessarray.errors.ExistsError):
        tessarray.copy_store(source, tmp_path / "b")
    assert tessarray.copy_store(source, tmp_path / "b", if_exists="skip").copied == 0
    tessarray.copy_store(source, tmp_path / "c.zip", source_path="x", dest_path="deep/er")
    np.testing.assert_array_equal(tessarray.load(tmp_path / "c.zip", path="deep/er"), VALUES)


def test_check_finds_a_torn_chunk_and_repair_leaves_data_alone(tmp_path):
    tessarray.save_array(tmp_path / "a", np.arange(100), chunks=10)
    assert tessarray.check(tmp_path / "a", deep=True) == []
    chunk = tmp_path / "a" / "c" / "3"
    chunk.write_bytes(chunk.read_bytes()[:-3])
    [finding] = tessarray.check(tmp_path / "a", deep=True)
    assert finding.key == "c/3" and finding.chunk == (3,) and not finding.harmless
    assert tessarray.repair(tmp_path / "a", apply=True, deep=True) == [finding]
    assert len(tessarray.check(tmp_path / "a", deep=True)) == 1
    with pytest.raises(tessarray.errors.NotFoundError):
        tessarray.check(tmp_path / "nothing")


@pytest.mark.skipif(not hasattr(os, "symlink"), reason="no symbolic links")
def test_links_out_of_the_root_are_followed_only_where_allowed(tmp_path):
    tessarray.save_array(tmp_path / "outside", VALUES)
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "in").symlink_to(tmp_path / "outside")
    with pytest.raises(tessarray.errors.StoreError, match="follow_links"):
        tessarray.open_array(tmp_path / "root", path="in", mode="r")
    allowed = tessarray.LocalStore(tmp_path / "root", follow_links=True)
    np.testing.assert_array_equal(tessarray.load(allowed, path="in"), VALUES)
