"""Packs: transactions, versions, conflicts, and what users do with their history."""

from __future__ import annotations

import datetime
import pickle
import threading
from pathlib import Path

import numpy as np
import pytest

import tessarray
from tessarray.errors import (
    ConflictError,
    ExistsError,
    InvalidArgumentError,
    NotFoundError,
    PickleError,
    ReadOnlyError,
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ocean.pack"


@pytest.fixture
def pack(folder: Path) -> tessarray.Pack:
    return tessarray.create_pack(folder, durable=False)


def fill(pack: tessarray.Pack, **arrays: object) -> int:
    with pack.transaction("fill") as tx:
        for name, values in arrays.items():
            tx.create_array(name, data=np.asarray(values))
    assert tx.version is not None
    return tx.version


def test_a_transaction_is_all_or_nothing(pack: tessarray.Pack) -> None:
    with pack.transaction("two arrays") as tx:
        a = tx.create_array("g/a", shape=(100, 100), chunks=(10, 10), shards=(50, 50), dtype="f4")
        a[:] = 1.5
        tx.create_array("g/b", data=np.arange(7))
        tx["g"].attrs["ship"] = "Meteor"
        assert list(pack) == [], "nobody else sees it"
    assert sorted(pack["g"]) == ["a", "b"]
    assert pack["g"].attrs["ship"] == "Meteor"
    np.testing.assert_array_equal(pack["g/a"][...], np.full((100, 100), 1.5, "f4"))

    def fails() -> None:
        with pack.transaction("fails") as tx:
            tx["g/a"][0] = 9
            tx.create_array("g/c", data=np.arange(3))
            raise RuntimeError("on purpose")

    with pytest.raises(RuntimeError, match="on purpose"):
        fails()
    assert pack.version == 1
    assert "g/c" not in pack
    assert float(pack["g/a"][0, 0]) == 1.5


def test_a_transaction_sees_its_own_changes_and_ends(pack: tessarray.Pack) -> None:
    fill(pack, a=[1, 2, 3])
    tx = pack.transaction("edit")
    tx["a"][1] = 20
    assert tx["a"].append([4]) == (4,)
    tx.create_group("g")
    assert tx["a"][...].tolist() == [1, 20, 3, 4]
    assert "g" in tx
    del tx["g"]
    assert "g" not in tx
    array = tx["a"]
    assert tx.commit() == 2
    with pytest.raises(InvalidArgumentError, match="committed"):
        tx.commit()
    with pytest.raises(InvalidArgumentError, match="committed"):
        array[0] = 5
    assert pack["a"][...].tolist() == [1, 20, 3, 4]


def test_a_transaction_that_changes_nothing_makes_no_version(pack: tessarray.Pack) -> None:
    with pack.transaction("nothing") as tx:
        pass
    assert tx.version is None
    assert pack.version == 0


def test_resize_delete_and_overwrite(pack: tessarray.Pack) -> None:
    with pack.transaction("make") as tx:
        a = tx.create_array("a", shape=(4, 6), chunks=(2, 2), dtype="i4")
        a[:] = np.arange(24).reshape(4, 6)
    with pack.transaction("wider") as tx:
        tx["a"].resize((6, 9))
        tx["a"][4:, :] = -1
    expected = np.zeros((6, 9), "i4")
    expected[:4, :6] = np.arange(24).reshape(4, 6)
    expected[4:] = -1
    np.testing.assert_array_equal(pack["a"][...], expected)
    with pack.transaction("again") as tx:
        tx.create_array("a", shape=(4, 6), chunks=(2, 2), dtype="i4", overwrite=True)
    assert not pack["a"][...].any(), "chunks of the array that was there before are gone"
    np.testing.assert_array_equal(pack.at(2)["a"][...], expected)
    with pack.transaction("gone") as tx:
        del tx["a"]
    assert "a" not in pack
    assert "a" in pack.at(3)


def test_versions_tags_and_moments(pack: tessarray.Pack, folder: Path) -> None:
    fill(pack, a=[1])
    pack.tag("first")
    between = datetime.datetime.now(datetime.UTC)
    fill(pack, b=[2])
    assert [one.number for one in pack.versions()] == [0, 1, 2]
    last = pack.versions()[-1]
    assert (last.message, last.kind, last.created, last.deleted) == ("fill", "write", 1, 0)
    assert "b" in last.nodes
    for version in (1, "first", between, between.isoformat()[:26]):
        assert sorted(tessarray.open_pack(folder, version)) == ["a"], version
    assert sorted(tessarray.open_pack(folder, between.strftime("%Y-%m-%d"))) == ["a", "b"]
    assert pack.tags() == {"first": 1}
    with pytest.raises(ExistsError):
        pack.tag("first", 2)
    assert pack.untag("first")
    assert not pack.untag("first")
    for missing in (99, "nothing", "1999-01-01"):
        with pytest.raises(NotFoundError):
            tessarray.open_pack(folder, missing)
    pinned = tessarray.open_pack(folder, 1)
    with pytest.raises(ReadOnlyError):
        pinned.transaction("no")
    with pytest.raises(ReadOnlyError):
        pinned["a"][0] = 1


def test_diff_and_rollback(pack: tessarray.Pack) -> None:
    fill(pack, a=np.arange(100), b=[1])
    with pack.transaction("edit") as tx:
        tx["a"][0] = -1
        del tx["b"]
        tx.create_array("c", data=np.arange(3))
    assert {(one.path, one.change) for one in pack.diff(1)} == {
        ("a", "chunks"),
        ("b", "deleted"),
        ("c", "created"),
    }
    assert pack.diff(2) == []
    with pack.transaction("attributes") as tx:
        tx["a"].attrs["units"] = "m"
    assert [(one.path, one.change, one.chunks) for one in pack.diff(2, 3)] == [("a", "metadata", 0)]
    assert pack.rollback(1) == 4
    assert sorted(pack) == ["a", "b"]
    assert int(pack["a"][0]) == 0
    assert pack.diff(1, 4) == []
    assert sorted(pack.at(2)) == ["a", "c"], "nothing is lost"


def test_writers_of_different_things_commit_side_by_side(pack: tessarray.Pack) -> None:
    fill(pack, a=np.zeros(100), b=np.zeros(3))
    one, two, three = (pack.transaction(name) for name in ("one", "two", "three"))
    one["a"][:] = 1
    two["b"][:] = 2
    three.create_array("c", data=np.ones(4))
    assert [one.commit(), two.commit(), three.commit()] == [2, 3, 4]
    assert (float(pack["a"][5]), float(pack["b"][0]), sorted(pack)) == (1.0, 2.0, ["a", "b", "c"])


def test_writers_of_one_thing_conflict_and_the_error_says_where(pack: tessarray.Pack) -> None:
    with pack.transaction("make") as tx:
        tx.create_array("g/a", shape=(8, 8), chunks=(2, 2), shards=(4, 4), dtype="i4")
    one, two, beside = (pack.transaction(name) for name in ("one", "two", "beside"))
    one["g/a"][4:6, 0:2] = 1
    two["g/a"][5, 1] = 2
    beside["g/a"][6, 2] = 3
    one.commit()
    with pytest.raises(ConflictError, match="version 2") as caught:
        two.commit()
    assert caught.value.path == "g/a"
    assert caught.value.region == "inner chunk 0 of shard [1, 0]"
    assert beside.commit() == 3, "another inner chunk of the same shard"
    assert pack["g/a"][4:, :4].tolist() == [[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 3, 0], [0, 0, 0, 0]]


def test_metadata_and_chunks_conflict_where_they_must(pack: tessarray.Pack) -> None:
    with pack.transaction("make") as tx:
        tx.create_array("a", shape=(8, 8), chunks=(2, 2), dtype="i4")

    def race(first: object, second: object) -> bool:
        one, two = pack.transaction("one"), pack.transaction("two")
        first(one)  # type: ignore[operator]
        second(two)  # type: ignore[operator]
        one.commit()
        try:
            two.commit()
        except ConflictError:
            return False
        return True

    def write(tx: tessarray.Transaction) -> None:
        tx["a"][0, 0] = 1

    def attributes(tx: tessarray.Transaction) -> None:
        tx["a"].attrs["n"] = tx.base

    def grow(tx: tessarray.Transaction) -> None:
        shape = tx["a"].shape
        tx["a"].resize((shape[0] + 2, shape[1]))

    def widen(tx: tessarray.Transaction) -> None:
        shape = tx["a"].shape
        tx["a"].resize((shape[0], shape[1] + 2))

    def remake(tx: tessarray.Transaction) -> None:
        tx.create_array("a", shape=(8, 8), chunks=(2, 2), dtype="i4", overwrite=True)

    assert race(attributes, write)
    assert race(write, attributes)
    assert race(grow, write)
    assert race(write, grow)
    assert not race(widen, write)
    assert not race(write, widen)
    assert not race(remake, write)
    assert not race(write, remake)
    assert not race(grow, attributes)
    assert not race(grow, grow), "the same document, and yet two changes"


def test_two_appends_of_fill_values_are_two_appends(pack: tessarray.Pack) -> None:
    with pack.transaction("make") as tx:
        tx.create_array("a", shape=(0,), chunks=(4,), dtype="i8")
    one, two = pack.transaction("one"), pack.transaction("two")
    one["a"].append([0])
    two["a"].append([5])
    two.commit()
    with pytest.raises(ConflictError):
        one.commit()
    assert pack.append("a", [0]) == 3
    assert pack["a"][...].tolist() == [5, 0]


def test_two_who_make_the_same_group_both_land(pack: tessarray.Pack) -> None:
    one, two = pack.transaction("one"), pack.transaction("two")
    one.create_array("g/a", data=[1])
    two.create_array("g/b", data=[2])
    one.commit()
    two.commit()
    assert sorted(pack["g"]) == ["a", "b"]
    one, two = pack.transaction("one"), pack.transaction("two")
    one.create_array("g/c", data=[1])
    two.create_array("g/c", data=[1])
    one.commit()
    with pytest.raises(ConflictError):
        two.commit()


def test_appends_of_many_writers_all_land(pack: tessarray.Pack) -> None:
    with pack.transaction("make") as tx:
        tx.create_array("a", shape=(0,), chunks=(4,), dtype="i8")

    def work(number: int) -> None:
        for i in range(10):
            pack.append("a", [number * 100 + i])

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(pack["a"][...].tolist()) == sorted(n * 100 + i for n in range(4) for i in range(10))


def test_serialized_transactions_wait_for_each_other(pack: tessarray.Pack) -> None:
    fill(pack, n=[0])

    def work() -> None:
        for _ in range(10):
            with pack.transaction("count", serialize=True) as tx:
                tx["n"][0] = int(tx["n"][0]) + 1

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert int(pack["n"][0]) == 30


def test_small_updates_append(pack: tessarray.Pack, folder: Path) -> None:
    values = np.random.default_rng(0).integers(0, 1 << 16, (64, 64, 64), "u2")
    with pack.transaction("make") as tx:
        tx.create_array("a", data=values, chunks=(8, 8, 8), shards=(64, 64, 64))
    before = {path: path.stat().st_size for path in folder.rglob("*") if path.is_file()}
    with pack.transaction("one") as tx:
        tx["a"][3, 4, 5] = 7
    written = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file() and p not in before)
    inner = 8 * 8 * 8 * 2
    segments = [p for p in folder.glob("segments/*") if p not in before]
    assert sum(p.stat().st_size for p in segments) <= 1.1 * inner
    assert written < 20 * inner, "the shard has 512 inner chunks"
    values[3, 4, 5] = 7
    np.testing.assert_array_equal(pack["a"][...], values)


def test_paths_lead_into_packs(pack: tessarray.Pack, folder: Path) -> None:
    with pack.transaction("make") as tx:
        tx.create_array("g/a", data=np.arange(5))
    assert tessarray.open(f"{folder}/g/a", mode="r")[...].tolist() == [0, 1, 2, 3, 4]
    assert sorted(tessarray.open_group(folder, mode="r")) == ["g"]
    assert tessarray.open_array(folder / "g" / "a", mode="r").shape == (5,)
    with pytest.raises(NotFoundError):
        tessarray.open(f"{folder}/nothing", mode="r")


def test_writing_outside_a_transaction_commits_each_call(pack: tessarray.Pack, folder: Path) -> None:
    a = tessarray.create_array(
        folder, name="g/a", shape=(0, 4), chunks=(2, 4), dtype="i4", storage_options={"durable": False}
    )
    a.append(np.ones((3, 4), "i4"))
    a[0] = 5
    a.attrs["units"] = "m"
    again = tessarray.open_array(f"{folder}/g/a", mode="r+", storage_options={"durable": False})
    again.append(np.full((1, 4), 7, "i4"))
    assert pack["g/a"][:, 0].tolist() == [5, 1, 1, 7]
    assert pack["g/a"].attrs["units"] == "m"
    assert pack.version > 3


def test_arrays_and_packs_travel_to_other_processes(pack: tessarray.Pack) -> None:
    fill(pack, a=np.arange(5))
    array = pickle.loads(pickle.dumps(pack["a"]))
    fill(pack, b=[1])
    assert array[...].tolist() == [0, 1, 2, 3, 4]
    assert pickle.loads(pickle.dumps(pack)).version == 2
    assert pickle.loads(pickle.dumps(pack.at(1))).version == 1
    with pack.transaction("no") as tx, pytest.raises(PickleError):
        pickle.dumps(tx["a"])


def test_compact_and_expire_reclaim_space_and_change_nothing(pack: tessarray.Pack, folder: Path) -> None:
    rng = np.random.default_rng(1)
    values = rng.integers(0, 255, (40, 1000), "u1")
    with pack.transaction("make") as tx:
        for name in ("x", "y"):
            tx.create_array(f"d/{name}", data=values, chunks=(10, 1000))
    for i in range(20):
        with pack.transaction(f"edit {i}") as tx:
            tx["d/x"][...] = values + i
    pack.tag("kept", 5)
    expected = pack["d/x"][...]
    size = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file())
    seen: list[tuple[int, int]] = []
    done = pack.compact(progress=lambda done, total: seen.append((done, total)))
    assert (done.kind, done.number) == ("compact", 22)
    assert seen[-1] == (8, 8)
    np.testing.assert_array_equal(pack["d/x"][...], expected)
    assert pack.diff(21, 22) != [], "the chunks lie elsewhere"
    reader = pack.at(10)["d/x"]
    assert pack.expire(keep=1, retention="1h").versions == (), "all are younger than an hour"
    dry = pack.expire(keep=1, retention=0, dry_run=True)
    assert len(pack.versions()) == 23
    done_expire = pack.expire(keep=1, retention=0)
    assert done_expire == dry
    assert [one.number for one in pack.versions()] == [5, 22]
    np.testing.assert_array_equal(pack["d/x"][...], expected)
    np.testing.assert_array_equal(pack.at("kept")["d/x"][...], values + 3)
    assert sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) < size / 2
    assert pack.check(deep=True) == []
    with pytest.raises(tessarray.errors.CorruptError, match="missing"):
        reader[...]
    with pytest.raises(NotFoundError):
        pack.at(10)


def test_a_writer_that_began_before_a_compaction_commits_on_top_of_it(pack: tessarray.Pack) -> None:
    fill(pack, a=np.zeros(10), b=np.zeros(3))
    tx = pack.transaction("before")
    tx["a"][...] = 1
    pack.compact()
    assert tx.commit() == 3
    assert (float(pack["a"][0]), float(pack["b"][0])) == (1.0, 0.0)


def test_damage_is_found_and_the_rest_is_saved(pack: tessarray.Pack, folder: Path) -> None:
    values = np.random.default_rng(2).integers(0, 255, (10, 1000), "u1")
    with pack.transaction("make") as tx:
        tx.create_array("a", data=values, chunks=(1, 1000), compressors=None)
        tx.create_array("b", data=values, chunks=(1, 1000), compressors=None)
    assert pack.check(deep=True) == []
    (segment,) = folder.glob("segments/*.seg")
    content = bytearray(segment.read_bytes())
    content[2500] ^= 1
    segment.write_bytes(content)
    assert pack.check() == [], "bytes are looked at by deep checks"
    (found,) = pack.check(deep=True)
    assert found.path in ("a", "b")
    assert found.file == f"segments/{segment.name}"
    with pytest.raises(tessarray.errors.CorruptError, match="checksum"):
        pack[str(found.path)][...]
    plan = pack.repair()
    assert (plan.version, plan.lost) == (None, 1)
    assert pack.version == 1
    done = pack.repair(apply=True)
    assert (done.version, done.lost) == (2, 1)
    again = tessarray.open_pack(folder)
    rows = [row for row in range(10) if not (again[str(found.path)][row] == values[row]).all()]
    assert len(rows) == 1
    assert not again[str(found.path)][rows[0]].any()
    # The version before the repair stays damaged, which is said, and nothing is done about it.
    (older,) = pack.check(deep=True)
    assert (older.path, older.versions) == (found.path, (1,))
    assert pack.repair(apply=True) == tessarray.pack_reports.Repaired((older,), None, 0)


def test_what_is_no_pack_is_said_so(tmp_path: Path, pack: tessarray.Pack, folder: Path) -> None:
    with pytest.raises(NotFoundError, match="not a pack"):
        tessarray.open_pack(tmp_path / "nothing")
    with pytest.raises(ExistsError):
        tessarray.create_pack(folder)
    (folder / "format.json").write_text(
        '{"format": "tessarray-pack", "version": 9, "id": "' + "0" * 32 + '"}'
    )
    with pytest.raises(tessarray.errors.MetadataError, match="upgrade"):
        tessarray.open_pack(folder)


def test_export_is_plain_zarr(pack: tessarray.Pack, tmp_path: Path) -> None:
    import zarr

    values = np.random.default_rng(3).random((32, 32)).astype("f4")
    with pack.transaction("make") as tx:
        tx.create_array("g/a", data=values, chunks=(8, 8), shards=(16, 16))
        tx["g"].attrs["n"] = 1
    with pack.transaction("edit") as tx:
        tx["g/a"][0, 0] = 2
    values[0, 0] = 2
    report = pack.export(tmp_path / "plain.zarr")
    assert report.copied == 4 + 3
    group = zarr.open_group(tmp_path / "plain.zarr", mode="r")
    np.testing.assert_array_equal(group["g/a"][...], values)
    assert dict(group["g"].attrs) == {"n": 1}


def test_the_catalogue_is_parquet_and_takes_queries(pack: tessarray.Pack) -> None:
    duckdb = pytest.importorskip("duckdb")
    assert duckdb
    with pack.transaction("make") as tx:
        tx.create_array("d1/x", data=np.zeros((3, 4), "f4"))
        tx.create_array("d2/x", data=np.zeros((5, 4), "f8"))
    names, rows = pack.catalogue(
        "select node, dtype, shape from catalogue where kind = 'array' order by node"
    )
    assert names == ["node", "dtype", "shape"]
    assert [(node, dtype) for node, dtype, _ in rows] == [("d1/x", "float32"), ("d2/x", "float64")]


def test_conversion_into_a_pack_is_one_transaction(tmp_path: Path) -> None:
    np.savez(tmp_path / "source.npz", a=np.arange(12).reshape(3, 4), b=np.ones(5))
    target = tmp_path / "fleet.pack"
    report = tessarray.convert(tmp_path / "source.npz", target, verify=True)
    assert report.verified and report.stored > 0
    pack = tessarray.open_pack(target)
    assert pack.version == 1
    assert sorted(pack) == ["a", "b"]
    tessarray.convert(tmp_path / "source.npz", target / "deeper" / "cast", verify=True)
    assert pack["deeper/cast/a"][...].tolist() == np.arange(12).reshape(3, 4).tolist()
    with pytest.raises(tessarray.conversion.errors.DestinationExistsError):
        tessarray.convert(tmp_path / "source.npz", target / "deeper" / "cast")
    assert pack.version == 2
    tessarray.convert(tmp_path / "source.npz", target / "deeper" / "cast", include="b", overwrite=True)
    assert sorted(pack["deeper/cast"]) == ["b"]
    assert sorted(pack.at(2)["deeper/cast"]) == ["a", "b"]
