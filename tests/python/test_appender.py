"""The streaming writer of arrays: single frames, stored in whole rows of chunks in the background."""

from __future__ import annotations

import pickle
import random
import sys
import threading
import time

import numpy as np
import pytest
import workers
from test_crash import messages, writer

import tessarray
from tessarray.errors import InvalidArgumentError, StoreError
from tessarray.stores import FaultStore


def frames(count: int, *shape: int, dtype: str = "u2") -> np.ndarray:
    return np.random.default_rng(1).integers(0, 200, (count, *shape)).astype(dtype)


LAYOUTS = {
    "chunks": {"chunks": (5, 4, 6)},
    "large chunks that do not divide the frame": {"chunks": (3, 400, 500)},
    "shards": {"chunks": (2, 3, 3), "shards": (6, 6, 6)},
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("before", [0, 1, 5, 7])
def test_what_was_taken_is_what_is_read(layout, before):
    shape = (700, 900) if "large" in layout else (7, 11)
    data = frames(23, *shape)
    array = tessarray.create_array({}, data=data[:before], **LAYOUTS[layout])
    rng = random.Random(before)
    at = before
    with array.appender() as stream:
        while at < len(data):
            count = rng.choice([0, 1, 1, 1, 2, 9])
            stream.append(data[at] if count == 1 else data[at : at + count])
            at = min(at + count, len(data))
            if rng.random() < 0.1:
                stream.flush()
                assert array.shape[0] == at
    np.testing.assert_array_equal(array[...], data)
    assert array.check(deep=True) == []


def test_along_other_axes_and_of_any_memory_layout():
    data = frames(9, 8, 13)
    array = tessarray.create_array({}, shape=(9, 8, 0), chunks=(4, 3, 5), dtype="u2")
    with array.appender(axis=-1) as stream:
        for i in range(13):
            stream.append(data[:, :, i] if i % 2 else np.asfortranarray(data[:, :, i : i + 1]))
    np.testing.assert_array_equal(array[...], data)


def test_whole_rows_of_chunks_are_seen_before_the_close_and_others_are_not():
    array = tessarray.create_array({}, shape=(0, 3), chunks=(4, 3), dtype="i8")
    with array.appender() as stream:
        for i in range(11):
            stream.append(np.full(3, i))
        until = time.monotonic() + 10
        while array.shape[0] < 8 and time.monotonic() < until:
            time.sleep(0.001)
        assert array.shape == (8, 3)
    assert array.shape == (11, 3)


def test_the_memory_of_a_frame_is_the_callers_again():
    array = tessarray.create_array({}, shape=(0, 50), chunks=(4, 50), dtype="u1")
    frame = np.zeros(50, "u1")
    with array.appender() as stream:
        for i in range(30):
            frame[:] = i
            stream.append(frame)
    assert array[:, 7].tolist() == list(range(30))


def test_little_memory_is_enough():
    data = frames(40, 20, 20)
    array = tessarray.create_array({}, shape=(0, 20, 20), chunks=(2, 20, 20), shards=(20, 20, 20), dtype="u2")
    with array.appender(max_bytes=1) as stream:
        for frame in data:
            stream.append(frame)
    np.testing.assert_array_equal(array[...], data)


def test_a_frame_that_does_not_fit_is_refused_and_nothing_is_taken():
    array = tessarray.create_array({}, shape=(0, 3), chunks=(4, 3), dtype="i8")
    with array.appender() as stream:
        for wrong in (np.zeros(4), np.zeros((2, 2)), np.zeros((1, 1, 3)), 7):
            with pytest.raises(InvalidArgumentError):
                stream.append(wrong)
    assert array.shape == (0, 3)
    with pytest.raises(InvalidArgumentError, match="closed"):
        stream.append(np.zeros(3))
    stream.close()
    with pytest.raises(InvalidArgumentError):
        array.appender(axis=2)
    words = tessarray.create_array({}, shape=(0,), chunks=(4,), dtype="string")
    with pytest.raises(InvalidArgumentError, match="fixed size"):
        words.appender()
    with pytest.raises(InvalidArgumentError, match="pickled"):
        pickle.dumps(stream)


def test_a_store_that_fails_is_told_by_the_next_call_and_nothing_is_dropped():
    fault = FaultStore(tessarray.MemoryStore())
    array = tessarray.create_array(fault, shape=(0, 3), chunks=(2, 3), dtype="i8")
    stream = array.appender()
    fault.fail(0, when="from")
    stream.append(np.zeros((2, 3)))
    until = time.monotonic() + 10
    taken, told = 2, False
    while not told and time.monotonic() < until:
        try:
            stream.append(np.full(3, taken))
        except StoreError:
            told = True
        else:
            taken += 1
            time.sleep(0.001)
    assert told
    with pytest.raises(StoreError):  # tries again, and fails again
        stream.append(np.zeros(3))
    with pytest.raises(StoreError):
        stream.close()
    fault.clear()
    stream.append(np.full(3, taken))  # tries again, and goes on
    stream.close()
    assert array[:, 1].tolist() == [0, 0, *range(2, taken + 1)]


def test_two_appenders_and_many_threads_lose_no_frame():
    array = tessarray.create_array({}, shape=(0, 2), chunks=(7, 2), dtype="i8")

    def put(stream: tessarray.ArrayAppender, first: int) -> None:
        for i in range(first, first + 100):
            stream.append(np.full(2, i))

    with array.appender() as one, array.appender() as two:
        threads = [threading.Thread(target=put, args=((one, two)[n % 2], 100 * n)) for n in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    array.refresh()
    found = array[:, 0].tolist()
    assert sorted(found) == list(range(400))
    for n in range(4):
        assert [i for i in found if i // 100 == n] == list(range(100 * n, 100 * n + 100)), "in order"


def test_what_is_dropped_without_a_close_is_stored_all_the_same():
    array = tessarray.create_array({}, shape=(0, 3), chunks=(4, 3), dtype="i8")
    stream = array.appender()
    stream.append(np.ones((9, 3)))
    with pytest.warns(ResourceWarning, match="was not closed"):
        del stream
    assert array.shape == (9, 3)
    assert (array[...] == 1).all()


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 and fork servers are POSIX")
def test_kill_9_keeps_what_was_flushed_and_leaves_whole_frames(tmp_path):
    path = str(tmp_path / "a")
    tessarray.create_array(path, shape=(0, 64), chunks=(8, 64), shards=(32, 64), dtype="int64", fill_value=-1)
    rng = random.Random(4)
    flushed = 0
    for seed in range(20):
        with writer(workers.stream_for_ever, path, seed) as (process, pipe):
            kind, rows = pipe.recv()
            assert kind == "ready"
            assert rows >= flushed, f"kill {seed}: flushed rows are gone"
            time.sleep(rng.uniform(0, 0.03))
            process.kill()
            process.join()
            for _, rows in messages(pipe):
                flushed = rows
        values = tessarray.open_array(path, mode="r")[...]
        assert len(values) >= flushed, f"kill {seed}: flushed rows are gone"
        expected = np.repeat(np.arange(1, 1 + len(values))[:, None], 64, axis=1)
        np.testing.assert_array_equal(values, expected)
    assert flushed > 0
