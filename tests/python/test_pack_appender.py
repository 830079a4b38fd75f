"""The streaming writer of packs."""

from __future__ import annotations

import contextlib
import threading
import time

import numpy as np
import pytest

import tessarray
from tessarray.errors import InvalidArgumentError, NotFoundError, StoreError, WrongNodeError


@pytest.fixture
def pack() -> tessarray.Pack:
    pack = tessarray.create_pack(tessarray.MemoryStore())
    with pack.transaction("make") as tx:
        tx.create_array("g/t", shape=(0,), chunks=(10,), dtype="i8")
        tx.create_array("g/x", shape=(0, 3), chunks=(4, 3), dtype="f4")
        tx.create_array("wide", shape=(2, 0), chunks=(2, 5), dtype="u1")
    return pack


def test_records_are_committed_by_rows(pack):
    with pack.appender("g/t", flush=5) as writer:
        for i in range(12):
            writer.append(i)
            assert pack["g/t"].shape[0] == (i + 1) // 5 * 5
    assert pack["g/t"][...].tolist() == list(range(12))
    assert pack.version == 1 + 3


def test_records_are_committed_by_time(pack):
    with pack.appender("g/t", flush="30ms") as writer:
        writer.append([1, 2])
        until = time.monotonic() + 10
        while pack["g/t"].shape[0] < 2 and time.monotonic() < until:
            time.sleep(0.01)
        assert pack["g/t"][...].tolist() == [1, 2]
        writer.append(3)
    assert pack["g/t"][...].tolist() == [1, 2, 3]


def test_arrays_of_a_group_advance_together(pack):
    with pack.appender(["g/t", "g/x"], flush=3) as writer:
        for i in range(7):
            writer.append({"g/t": i, "g/x": np.full((1, 3), i)})
            at = pack.at(pack.version)
            assert at["g/t"].shape[0] == at["g/x"].shape[0]
    assert pack["g/x"][:, 1].tolist() == list(range(7))


def test_other_axes_and_memory_bound(pack):
    with pack.appender("wide", axis=1, flush="1h", max_bytes=8) as writer:
        for i in range(9):
            writer.append([[i, i], [i, i]])
            assert pack["wide"].shape[1] >= 2 * i - 2, "eight bytes are committed before more are taken"
    assert pack["wide"][1].tolist() == [i for i in range(9) for _ in range(2)]


def test_threads_may_append_to_one_appender_and_two_appenders_to_one_array(pack):
    writers = [pack.appender("g/t", flush="5ms") for _ in range(2)]

    def work(number: int) -> None:
        for i in range(50):
            writers[number % 2].append(number * 50 + i)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for writer in writers:
        writer.close()
    found = pack["g/t"][...].tolist()
    assert sorted(found) == list(range(200))
    for number in range(4):
        own = [value for value in found if value // 50 == number]
        assert own == sorted(own), "a thread's records keep their order"


def test_what_is_wrong_is_said_before_anything_is_taken(pack):
    with pytest.raises(NotFoundError):
        pack.appender("nothing")
    with pytest.raises(WrongNodeError):
        pack.appender("g")
    with pytest.raises(InvalidArgumentError, match="axis"):
        pack.appender("g/t", axis=1)
    with pytest.raises(InvalidArgumentError, match="flush"):
        pack.appender("g/t", flush="soon")
    with pack.appender(["g/t", "g/x"], flush=100) as writer:
        for wrong in ({"g/t": 1}, {"g/t": [1, 2], "g/x": [[0, 0, 0]]}, {"g/t": 1, "g/x": [1, 2]}, 7):
            with pytest.raises(InvalidArgumentError):
                writer.append(wrong)
        writer.append({"g/t": 1, "g/x": [1, 2, 3]})
    assert pack["g/x"][...].tolist() == [[1, 2, 3]]
    with pytest.raises(InvalidArgumentError, match="closed"):
        writer.append({"g/t": 1, "g/x": [1, 2, 3]})


def test_an_exception_in_the_block_keeps_the_records_that_were_taken(pack):
    def fails():
        with pack.appender("g/t", flush="1h") as writer:
            writer.append([1, 2, 3])
            raise RuntimeError("sensor unplugged")

    with pytest.raises(RuntimeError):
        fails()
    assert pack["g/t"][...].tolist() == [1, 2, 3]


@contextlib.contextmanager
def full(folder):
    """A folder of a pack takes nothing meanwhile."""
    kept = folder.rename(folder.with_name("kept"))
    folder.write_text("")
    try:
        yield
    finally:
        folder.unlink()
        kept.rename(folder)


@pytest.mark.parametrize("flush", [2, "20ms"])
def test_what_a_failed_commit_was_to_store_is_kept_and_committed_later(tmp_path, flush):
    pack = tessarray.create_pack(tmp_path / "a.pack", durable=False)
    with pack.transaction("make") as tx:
        tx.create_array("t", shape=(0,), chunks=(1,), dtype="i8")
    # 0 is the fill value, and not stored.
    taken = 1

    def append_until_refused():
        nonlocal taken
        while True:
            writer.append(taken + 1)
            taken += 1
            time.sleep(0.001)

    with pack.appender("t", flush=flush) as writer:
        writer.append(1)
        writer.flush()
        with full(tmp_path / "a.pack" / "segments"):
            with pytest.raises(StoreError):
                append_until_refused()
            with pytest.raises(StoreError):
                writer.flush()
            with pytest.raises(StoreError):
                writer.append(-1)
        writer.flush()
        writer.append(taken + 1)
    assert taken > 1
    assert pack["t"][...].tolist() == list(range(1, taken + 2))
