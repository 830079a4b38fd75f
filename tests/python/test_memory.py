"""Peak memory is a stated formula: input or output, plus workers times one chunk or shard.

Measured in new processes.
"""

from __future__ import annotations

import sys

import pytest
from support import MIB, in_new_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")

# Threads' stacks, allocator slack, code pages that are touched for the first time.
SLACK = 24 * MIB
WORKERS = 4


def measured(body: str, *arguments) -> dict:
    return in_new_process(body, *arguments, TESSARRAY_THREADS=str(WORKERS), MALLOC_ARENA_MAX="4")


CREATE = """
    array = tessarray.create_array(sys.argv[1], shape=(256, 512, 512), dtype="uint16", overwrite=True,
                                   chunks=(16, 128, 128), shards=(64, 256, 256), compressors="blosc:lz4:5:shuffle")
    one = np.random.default_rng(0).integers(0, 400, (64, 512, 512), dtype="uint16")
    """
SHARD = 64 * 256 * 256 * 2
CHUNK = 16 * 128 * 128 * 2
ARRAY = 256 * 512 * 512 * 2


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    path = tmp_path_factory.mktemp("memory") / "a"
    measured(CREATE + "for top in range(0, 256, 64): array[top : top + 64] = one\n    answer(ok=1)", path)
    return path


def test_writing_takes_workers_times_a_shard(tmp_path):
    # One slab of four shards at a time, from the same input. A worker may hold a shard as it is gathered and as it is
    # encoded, so twice the shard.
    found = measured(
        CREATE
        + """
    array[0:64] = one
    before = reset_peak()
    for top in 4 * [0, 64, 128, 192]:  # again and again: what workers keep for the next write counts too
        array[top : top + 64] = one
    answer(extra=peak() - before)
    """,
        tmp_path / "a",
    )
    assert found["extra"] <= WORKERS * 2 * SHARD + SLACK


def test_reading_all_takes_the_output_and_workers_times_a_chunk(store):
    found = measured(
        """
        array = tessarray.open_array(sys.argv[1], mode="r")
        array[0:16, 0:128, 0:128]
        before = reset_peak()
        values = array[...]
        answer(extra=peak() - before, output=values.nbytes)
        """,
        store,
    )
    assert found["output"] == ARRAY
    # A worker may hold a chunk encoded and decoded.
    assert found["extra"] <= ARRAY + WORKERS * 2 * CHUNK + SLACK


def test_reading_into_a_given_buffer_takes_workers_times_a_chunk(store):
    found = measured(
        """
        array = tessarray.open_array(sys.argv[1], mode="r")
        out = np.ones(array.shape, array.dtype)
        array.read(slice(0, 16), out=out[0:16])
        before = reset_peak()
        array.read(..., out=out)
        answer(extra=peak() - before)
        """,
        store,
    )
    assert found["extra"] <= WORKERS * 2 * CHUNK + SLACK


def test_reading_a_thin_slice_takes_the_slice_and_workers_times_a_chunk(store):
    found = measured(
        """
        array = tessarray.open_array(sys.argv[1], mode="r")
        array[0, 0, 0]
        before = reset_peak()
        for place in range(0, 512, 8):
            array[:, place, :]
        answer(extra=peak() - before)
        """,
        store,
    )
    assert found["extra"] <= 2 * 256 * 512 * 2 + WORKERS * 2 * CHUNK + SLACK


def test_streaming_chunks_takes_a_bounded_number_of_them(store):
    found = measured(
        """
        array = tessarray.open_array(sys.argv[1], mode="r")
        array[0, 0, 0]
        before, total = reset_peak(), 0
        for region, chunk in array.chunk_stream():
            total += chunk.size
        answer(extra=peak() - before, total=total)
        """,
        store,
    )
    assert found["total"] * 2 == ARRAY
    # It may go by shards or by inner chunks, some of each worker's ahead.
    assert found["extra"] <= 3 * WORKERS * SHARD + SLACK
    assert found["extra"] < ARRAY


def test_appending_many_rows_takes_workers_times_a_shard(tmp_path):
    found = measured(
        """
        array = tessarray.create_array(sys.argv[1], shape=(0, 512, 512), dtype="uint16",
                                       chunks=(16, 128, 128), shards=(64, 256, 256), compressors="zstd:1")
        rows = np.ones((10, 512, 512), "uint16")
        array.append(rows, axis=0)
        before = reset_peak()
        for _ in range(40):
            array.append(rows, axis=0)
        answer(extra=peak() - before, rows=array.shape[0])
        """,
        tmp_path / "a",
    )
    assert found["rows"] == 410
    assert found["extra"] <= WORKERS * 2 * SHARD + SLACK
