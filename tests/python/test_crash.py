"""A killed writer or a full disk leaves every chunk old or new, and a reader never sees a row that was not written."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import workers
from support import scaled

import tessarray

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kill -9 and fork servers are POSIX")

KILLS = scaled(50)  # each of two tests: 100 in all


@contextmanager
def writer(function, *arguments):
    """A process that runs function(*arguments, pipe), from a server that has imported everything, killed at the end."""
    server = multiprocessing.get_context("forkserver")
    server.set_forkserver_preload(["workers"])
    pipe, child_pipe = server.Pipe()
    process = server.Process(target=function, args=(*arguments, child_pipe), daemon=True)
    process.start()
    child_pipe.close()
    try:
        yield process, pipe
    finally:
        process.kill()
        process.join()
        pipe.close()


def messages(pipe):
    """Everything a killed writer had said."""
    while True:
        try:
            if not pipe.poll():
                return
            yield pipe.recv()
        except (EOFError, OSError):
            return


def kill_soon(process, rng, longest) -> None:
    time.sleep(rng.uniform(0, longest))
    process.kill()
    process.join()


def test_kill_9_during_shard_overwrites_leaves_every_inner_chunk_old_or_new(tmp_path):
    path = str(tmp_path / "a")
    tessarray.create_array(path, shape=(65536,), chunks=(4096,), shards=(16384,), dtype="int64", fill_value=0)
    tessarray.open_array(path, mode="r+")[...] = 0
    rng = random.Random(20)
    allowed = [{0} for _ in range(16)]
    cut_short = 0
    first = 0
    for seed in range(KILLS):
        with writer(workers.overwrite_for_ever, path, seed, first) as (process, pipe):
            assert pipe.recv() == ("ready",)
            kill_soon(process, rng, 0.02)
            for message, value, chunks in messages(pipe):
                first = value
                for chunk in chunks:
                    allowed[chunk] = {value} if message == "did" else allowed[chunk] | {value}
        # A write starts when its message has been sent, so a message that the kill cut off means no write.
        found = tessarray.open_array(path, mode="r")[...].reshape(16, 4096)
        assert (found == found[:, :1]).all(), f"kill {seed}: an inner chunk is torn"
        for chunk, value in enumerate(found[:, 0].tolist()):
            assert value in allowed[chunk], f"kill {seed}: inner chunk {chunk} is {value}"
            cut_short += len(allowed[chunk]) > 1
            allowed[chunk] = {value}
    assert cut_short > 0, "no kill fell within a write: the test shows nothing"
    assert tessarray.open_array(path, mode="r+").shape == (65536,)


def test_kill_9_during_appends_keeps_what_was_acknowledged_and_never_shows_unwritten_rows(tmp_path):
    path = str(tmp_path / "a")
    tessarray.create_array(
        path, shape=(0, 16), chunks=(32, 16), shards=(128, 16), dtype="int64", fill_value=-1
    )
    rng = random.Random(21)
    stop = threading.Event()
    wrong: list[str] = []
    polls = 0

    def watch():
        nonlocal polls
        while not stop.is_set():
            array = tessarray.open_array(path, mode="r")
            rows = array[max(0, array.shape[0] - 300) :]
            first = array.shape[0] - len(rows)
            expected = np.arange(first + 1, first + 1 + len(rows))[:, None]
            if not (rows == expected).all():
                wrong.append(f"of {array.shape[0]} rows some of the last {len(rows)} were not written")
            polls += 1

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        acknowledged = 0
        for seed in range(KILLS):
            with writer(workers.append_for_ever, path, seed) as (process, pipe):
                kind, rows = pipe.recv()
                assert kind == "ready" and rows >= acknowledged, f"kill {seed}: acknowledged rows are gone"
                kill_soon(process, rng, 0.03)
                for _, rows in messages(pipe):
                    acknowledged = rows
            found = tessarray.open_array(path, mode="r")
            assert found.shape[0] >= acknowledged, f"kill {seed}: acknowledged rows are gone"
        values = tessarray.open_array(path, mode="r")[...]
    finally:
        stop.set()
        watcher.join()
    assert wrong == []
    assert polls > 0 and len(values) > 0
    np.testing.assert_array_equal(values, np.repeat(np.arange(1, 1 + len(values))[:, None], 16, axis=1))


def test_the_next_writer_goes_on_at_once_after_the_holder_of_a_lock_was_killed(tmp_path):
    path = str(tmp_path / "a")
    tessarray.create_array(path, shape=(65536,), chunks=(4096,), shards=(16384,), dtype="int64", fill_value=0)
    with writer(workers.overwrite_for_ever, path, 1, 0) as (process, pipe):
        assert pipe.recv() == ("ready",)
        kill_soon(process, random.Random(1), 0.02)
    start = time.monotonic()
    array = tessarray.open_array(path, mode="r+")
    array[100:20000] = 7
    assert time.monotonic() - start < 5
    assert (array[100:20000] == 7).all()


def left_behind(path: Path) -> list[str]:
    """Files in a store that are neither chunks nor metadata."""
    return [item.name for item in path.rglob("*") if "tmp" in item.name.lower() or item.name.endswith("~")]


def test_a_full_disk_is_a_typed_error_and_the_old_values_stay(tmp_path):
    path = str(tmp_path / "a")
    array = tessarray.create_array(path, shape=(4096,), chunks=(256,), shards=(4096,), dtype="int64")
    array[...] = np.arange(4096)
    # The new values do not compress: a shard wants 32 KiB, of which the limit lets the first 8 be written.
    with writer(workers.overwrite_with_a_full_disk, path, 8192) as (_, pipe):
        name, message, errno = pipe.recv()
    assert name == "StoreError", message
    assert "c/0" in message
    assert errno is not None
    np.testing.assert_array_equal(tessarray.open_array(path, mode="r")[...], np.arange(4096))
    assert left_behind(Path(path)) == []
    array = tessarray.open_array(path, mode="r+")
    array[...] = 1
    assert (array[...] == 1).all()


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 256 KiB, where the user may mount one."""
    place = tmp_path / "small"
    place.mkdir()
    if os.getuid() != 0 or sys.platform != "linux":
        pytest.skip("mounting a small file system wants root on Linux")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=256k", "tmpfs", str(place)],
        capture_output=True,
        text=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip(f"mounting is not allowed here: {mounted.stderr.strip()}")
    yield place
    gc.collect()  # a traceback may still hold an array, whose store holds its folder
    subprocess.run(["umount", str(place)], check=True)


def test_a_disk_that_fills_up_during_overwrites_and_appends_keeps_the_old_values(small_disk):
    noise = np.random.default_rng(0).integers(0, 1 << 60, (64, 128))
    array = tessarray.create_array(
        small_disk / "a", shape=(64, 128), chunks=(8, 128), shards=(64, 128), dtype="int64"
    )
    array[...] = noise  # 64 KiB of 256
    (small_disk / "filler").write_bytes(
        bytes(140 << 10)
    )  # about 48 KiB are left: too few for the shard again
    with pytest.raises(tessarray.errors.StoreError) as caught:
        array[...] = noise + 1
    assert caught.value.errno == 28
    np.testing.assert_array_equal(tessarray.open_array(small_disk / "a", mode="r")[...], noise)
    with pytest.raises(tessarray.errors.StoreError):
        array.append(noise, axis=0)
    after = tessarray.open_array(small_disk / "a", mode="r")
    assert after.shape == (64, 128)
    np.testing.assert_array_equal(after[...], noise)
    (small_disk / "filler").unlink()
    array[...] = noise + 2  # the same handle goes on
    np.testing.assert_array_equal(array[...], noise + 2)


def test_a_durable_write_is_read_back_equal(tmp_path):
    """What fsync does is shown by the store's own tests; here, that asking for it is possible and right."""
    array = tessarray.create_array(
        tessarray.LocalStore(tmp_path / "a", durable=True), shape=(64,), chunks=(16,), dtype="int32"
    )
    array[...] = np.arange(64)
    np.testing.assert_array_equal(tessarray.open_array(tmp_path / "a", mode="r")[...], np.arange(64))
