"""Writers at any alignment, in any number of threads and processes, lose nothing; forks and threads read right."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import workers

import tessarray
from tessarray.errors import ConflictError

SPAWN = multiprocessing.get_context("spawn")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="the platform has no fork")


def run_all(jobs) -> None:
    """Start one process for each (function, arguments) and wait; every one must end well."""
    processes = [SPAWN.Process(target=function, args=arguments, daemon=True) for function, arguments in jobs]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
    assert [process.exitcode for process in processes] == [0] * len(processes)


def test_two_processes_writing_the_inner_chunks_of_one_shard_lose_none_of_640(tmp_path):
    path = str(tmp_path / "a")
    # Each round has a shard of its own: 16 inner chunks, of which each process writes 8, at the same time.
    tessarray.create_array(path, shape=(40, 128), chunks=(1, 8), shards=(1, 128), dtype="int64", fill_value=0)
    barrier = SPAWN.Barrier(2)
    run_all([(workers.write_own_chunks, (path, worker, 40, barrier)) for worker in range(2)])
    found = tessarray.open_array(path, mode="r")[...].reshape(40, 16, 8)
    expected = 1 + np.arange(640).reshape(40, 16, 1)
    lost = int((found != expected).any(axis=2).sum())
    assert lost == 0, f"{lost} of 640 inner chunks lost"


@pytest.mark.parametrize("shards", [None, (24, 30)], ids=["chunks", "shards"])
def test_eight_processes_writing_scattered_elements_lose_none(tmp_path, shards):
    path = str(tmp_path / "a")
    shape = (70, 90)
    tessarray.create_array(path, shape=shape, chunks=(8, 10), shards=shards, dtype="int64", fill_value=0)
    owner = np.random.default_rng(5).integers(0, 8, shape)
    barrier = SPAWN.Barrier(8)
    run_all([(workers.write_scattered, (path, 7, owner, worker, barrier)) for worker in range(8)])
    found = tessarray.open_array(path, mode="r")[...]
    expected = np.arange(1, 1 + found.size).reshape(shape)
    assert int((found != expected).sum()) == 0


def random_boxes(rng, shape, count) -> list[tuple[int, int, int, int]]:
    """Disjoint boxes that cover the shape, cut at random places."""
    boxes = [(0, 0, *shape)]
    while len(boxes) < count:
        at = int(rng.integers(len(boxes)))
        top, left, bottom, right = boxes.pop(at)
        if bottom - top > 1 and (right - left < 2 or rng.random() < 0.5):
            cut = int(rng.integers(top + 1, bottom))
            boxes += [(top, left, cut, right), (cut, left, bottom, right)]
        elif right - left > 1:
            cut = int(rng.integers(left + 1, right))
            boxes += [(top, left, bottom, cut), (top, cut, bottom, right)]
        else:
            boxes.append((top, left, bottom, right))
    return boxes


def test_eight_processes_writing_unaligned_boxes_lose_no_element(tmp_path):
    path = str(tmp_path / "a")
    shape = (200, 150)
    tessarray.create_array(path, shape=shape, chunks=(16, 16), shards=(64, 64), dtype="int64", fill_value=0)
    boxes = random_boxes(np.random.default_rng(3), shape, 240)
    barrier = SPAWN.Barrier(8)
    run_all([(workers.write_boxes, (path, boxes[worker::8], barrier)) for worker in range(8)])
    found = tessarray.open_array(path, mode="r")[...]
    assert int((found != np.arange(1, 1 + found.size).reshape(shape)).sum()) == 0


@pytest.mark.parametrize("shared_handle", [True, False], ids=["one-handle", "own-handles"])
def test_threads_writing_unaligned_boxes_lose_no_element(tmp_path, shared_handle):
    shape = (120, 110)
    one = tessarray.create_array(
        tmp_path / "a", shape=shape, chunks=(16, 16), shards=(48, 48), dtype="int64", fill_value=0
    )
    boxes = random_boxes(np.random.default_rng(4), shape, 200)

    def write(share):
        array = one if shared_handle else tessarray.open_array(tmp_path / "a", mode="r+")
        for top, left, bottom, right in share:
            rows, columns = np.mgrid[top:bottom, left:right]
            array[top:bottom, left:right] = rows * shape[1] + columns + 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, [boxes[worker::8] for worker in range(8)]))
    found = one[...]
    assert int((found != np.arange(1, 1 + found.size).reshape(shape)).sum()) == 0


def test_threads_writing_one_array_in_memory_lose_no_element():
    shape = (60, 60)
    array = tessarray.create_array(
        {}, shape=shape, chunks=(8, 8), shards=(32, 32), dtype="int64", fill_value=0
    )
    boxes = random_boxes(np.random.default_rng(6), shape, 120)

    def write(box):
        top, left, bottom, right = box
        rows, columns = np.mgrid[top:bottom, left:right]
        array[top:bottom, left:right] = rows * shape[1] + columns + 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(write, boxes))
    found = array[...]
    assert int((found != np.arange(1, 1 + found.size).reshape(shape)).sum()) == 0


def test_two_processes_appending_at_once_both_land_whole(tmp_path):
    path = str(tmp_path / "a")
    tessarray.create_array(path, shape=(0, 4), chunks=(5, 4), shards=(20, 4), dtype="int64", fill_value=0)
    barrier = SPAWN.Barrier(2)
    run_all([(workers.append_blocks, (path, worker, 40, 3, barrier)) for worker in range(2)])
    found = tessarray.open_array(path, mode="r")[...]
    assert found.shape == (2 * 40 * 3, 4)
    blocks = found.reshape(80, 12)
    assert (blocks == blocks[:, :1]).all(), "an appended block was torn"
    assert sorted(blocks[:, 0]) == list(range(1, 81))
    for worker in range(2):
        own = [number for number in blocks[:, 0] if (number - 1) // 40 == worker]
        assert own == sorted(own), "one writer's appends are in the order it made them"


def test_threads_reading_while_another_writes_see_each_chunk_old_or_new(tmp_path):
    array = tessarray.create_array(
        tmp_path / "a", shape=(64, 1024), chunks=(8, 1024), dtype="int64", fill_value=0
    )
    array[...] = 0
    stop = threading.Event()

    def read():
        reader = tessarray.open_array(tmp_path / "a", mode="r")
        mixed = 0
        while not stop.is_set():
            chunks = reader[...].reshape(8, -1)
            mixed += int((chunks != chunks[:, :1]).any())
        return mixed

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        for value in range(1, 40):
            array[...] = value
        stop.set()
        assert [reader.result() for reader in readers] == [0, 0]


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_fork_while_threads_read_can_read_and_write(tmp_path):
    path = tmp_path / "a"
    array = tessarray.create_array(path, shape=(256, 256), chunks=(16, 16), shards=(64, 64), dtype="int64")
    array[...] = 1
    out = tessarray.create_array(tmp_path / "out", shape=(10,), chunks=(1,), dtype="int64")
    stop = threading.Event()

    def read():
        while not stop.is_set():
            assert int(array[...].sum()) == 65536

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        children = []
        for number in range(10):
            child = os.fork()
            if child == 0:
                status = 1
                try:
                    out[number] = int(array[...].sum())
                    status = 0
                finally:
                    os._exit(status)
            children.append(child)
        statuses = [wait(child) for child in children]
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    assert statuses == [0] * 10
    assert out[...].tolist() == [65536] * 10


def wait(child: int, seconds: float = 60) -> int:
    """The exit status of a forked child; a hang is ended and reported."""
    alarm = threading.Timer(seconds, os.kill, (child, 9))
    alarm.start()
    try:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    finally:
        alarm.cancel()


@needs_fork
def test_an_array_can_be_pickled_to_a_pool_of_processes(tmp_path):
    array = tessarray.create_array(tmp_path / "a", shape=(8, 4), chunks=(2, 2), dtype="int64")
    array[...] = np.arange(32).reshape(8, 4)
    with SPAWN.Pool(2) as pool:
        sums = pool.map(row_sum, [(array, row) for row in range(8)])
    assert sums == array[...].sum(axis=1).tolist()


def row_sum(job) -> int:
    array, row = job
    return int(array[row].sum())


def rows_beside(path, worker, hows, count, tidy) -> np.ndarray:
    """The first column of rows that processes append, each its own numbers, while `tidy` is called again and again."""
    barrier = SPAWN.Barrier(len(hows) + 1)
    jobs = [(path, 1 + number * count, count, how, barrier) for number, how in enumerate(hows)]
    processes = [SPAWN.Process(target=worker, args=arguments, daemon=True) for arguments in jobs]
    for process in processes:
        process.start()
    barrier.wait(60)
    while any(process.is_alive() for process in processes):
        tidy()
    assert [process.exitcode for process in processes] == [0] * len(processes)
    tidy()
    return tessarray.open_array(path, path="a", mode="r")[...]


def lost_of(found, count) -> int:
    """How many of the numbers from 1 to `count` have no whole row."""
    assert len(found) == count
    return len(set(range(1, count + 1)) - set(found[(found == found[:, :1]).all(axis=1), 0].tolist()))


@pytest.mark.parametrize("shards", [None, (6, 2)], ids=["chunks", "shards"])
def test_repairs_beside_appends_of_other_processes_lose_no_row(tmp_path, shards):
    tessarray.create_array(tmp_path, name="a", shape=(0, 2), chunks=(2, 2), shards=shards, dtype="int64")

    def tidy() -> None:
        found = tessarray.repair(tmp_path, apply=True, deep=True)
        assert {finding.kind for finding in found} <= {"out-of-bounds", "leftover"}, found

    count = int(120 * float(os.environ.get("TESSARRAY_TEST_SCALE", "1")))
    hows = ["append", "appender", "append"]
    found = rows_beside(str(tmp_path), workers.append_rows, hows, count, tidy)
    assert lost_of(found, len(hows) * count) == 0


WRITERS = [["transaction", "appender"], ["path", "path"], ["path", "transaction", "appender"]]


@pytest.mark.parametrize("hows", WRITERS, ids="-".join)
def test_compaction_and_expiry_beside_writers_of_a_pack_lose_no_row(tmp_path, hows):
    path = str(tmp_path / "p.pack")
    pack = tessarray.create_pack(path)
    with pack.transaction("make") as tx:
        tx.create_array("a", shape=(0, 2), chunks=(2, 2), dtype="int64")

    def tidy() -> None:
        own = tessarray.open_pack(path)
        with contextlib.suppress(ConflictError):
            own.compact()
        own.expire(keep=3, retention="10s")
        assert own.check(deep=True) == []

    count = int(20 * float(os.environ.get("TESSARRAY_TEST_SCALE", "1")))
    found = rows_beside(path, workers.append_to_pack, hows, count, tidy)
    assert lost_of(found, len(hows) * count) == 0


@pytest.mark.parametrize("shards", [None, (6, 2)], ids=["chunks", "shards"])
@pytest.mark.parametrize(
    "hows", [["path", "transaction"], ["path", "appender"], ["path", "transaction", "appender"]], ids="-".join
)
def test_appends_by_path_beside_other_writers_of_a_pack_lose_no_row(tmp_path, hows, shards):
    path = str(tmp_path / "p.pack")
    pack = tessarray.create_pack(path, durable=False)
    with pack.transaction("make") as tx:
        tx.create_array("a", shape=(0, 2), chunks=(2, 2), shards=shards, dtype="int64")
    count = int(20 * float(os.environ.get("TESSARRAY_TEST_SCALE", "1")))
    found = rows_beside(path, workers.append_to_pack, hows, count, lambda: time.sleep(0.01))
    assert lost_of(found, len(hows) * count) == 0
    for number in range(len(hows)):
        own = found[(found[:, 0] - 1) // count == number, 0]
        assert own.tolist() == sorted(own), "one writer's appends are in the order it made them"
    assert pack.check(deep=True) == []


LAYOUTS = {
    "chunks": {"chunks": (4,)},
    "v2": {"chunks": (4,), "zarr_format": 2},
    "shards": {"chunks": (2,), "shards": (8,)},
    "shard_edge": {"chunks": (4,), "shards": (8,)},
}


def place_of(tmp_path, place: str) -> str:
    if place == "directory":
        return str(tmp_path / "a.zarr")
    tessarray.create_pack(tmp_path / "p.zarr")
    return str(tmp_path / "p.zarr" / "a")


@pytest.mark.parametrize("place", ["directory", "pack"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_write_by_a_handle_that_knows_fewer_rows_keeps_those_that_others_appended(tmp_path, place, layout):
    path = place_of(tmp_path, place)
    tessarray.create_array(path, data=np.array([1, 2, 3], "i4"), **LAYOUTS[layout])
    older, other = tessarray.open_array(path, mode="r+"), tessarray.open_array(path, mode="r+")
    other.append(np.array([9], "i4"))
    older[0:3] = np.array([5, 6, 7], "i4")
    assert tessarray.open_array(path, mode="r")[:].tolist() == [5, 6, 7, 9]
    older[...] = 0
    assert tessarray.open_array(path, mode="r")[:].tolist() == [0, 0, 0, 9]


def test_a_write_by_an_older_handle_of_a_transaction_keeps_appended_rows(tmp_path):
    pack = tessarray.create_pack(tmp_path / "p.zarr")
    with pack.transaction("make") as tx:
        tx.create_array("a", data=np.array([1, 2, 3], "i4"), chunks=(4,))
    with pack.transaction("change") as tx:
        older = tx["a"]
        tx["a"].append(np.array([9], "i4"))
        older[0:3] = np.array([5, 6, 7], "i4")
    assert pack["a"][:].tolist() == [5, 6, 7, 9]


@pytest.mark.parametrize("place", ["directory", "pack"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_rows_appended_while_another_handle_writes_the_rows_that_it_knows_all_stay(tmp_path, place, layout):
    path = place_of(tmp_path, place)
    tessarray.create_array(path, data=np.array([0], "i4"), **LAYOUTS[layout])
    older = tessarray.open_array(path, mode="r+")
    rounds = 40

    def append() -> None:
        other = tessarray.open_array(path, mode="r+")
        for number in range(1, rounds):
            other.append(np.array([number], "i4"))

    with ThreadPoolExecutor(1) as pool:
        appended = pool.submit(append)
        while not appended.done():
            older[...] = -1
        appended.result()
    older[...] = -1
    assert tessarray.open_array(path, mode="r")[:].tolist() == [-1, *range(1, rounds)]


@pytest.mark.parametrize("place", ["directory", "pack"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_write_of_all_rows_replaces_a_damaged_object_at_the_end(tmp_path, place, layout):
    path = place_of(tmp_path, place)
    a = tessarray.create_array(path, shape=(3,), dtype="i8", **LAYOUTS[layout])
    a[:] = np.array([1, 2, 3]) << 40
    folder = tmp_path / ("a.zarr" if place == "directory" else "p.zarr/segments")
    stored = [f for f in folder.rglob("*") if f.is_file() and f.name[0] not in ".z" and f.stat().st_size]
    assert stored
    for file in stored:
        file.write_bytes(bytes(byte ^ 0x55 for byte in file.read_bytes()))
    a = tessarray.open_array(path, mode="r+")
    a[:] = [4, 5, 6]
    assert tessarray.open_array(path, mode="r")[:].tolist() == [4, 5, 6]
