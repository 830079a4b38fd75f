"""Bad input gives a typed error that names the key or the coordinates; nothing panics, leaves the root, is allocated
beyond the declared chunk, or is taken for missing."""

from __future__ import annotations

import json
import os
import random
import sys
from pathlib import Path

import hostile
import numpy as np
import pytest
from hostile import MIB, document, make
from support import in_new_process, scaled

import tessarray
from tessarray.errors import CorruptError, TessarrayError

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")


def refused(path, kind=CorruptError):
    """Reading the array at `path` is refused; the error."""
    with pytest.raises(kind) as caught:
        tessarray.open_array(path, mode="r")[...]
    return caught.value


@pytest.mark.parametrize("length", [0, 1, 255, 257, 512])
def test_a_raw_chunk_of_the_wrong_length_is_refused_by_key_and_coordinates(tmp_path, length):
    error = refused(make(tmp_path / "a", document(), c_0_0=bytes(length)))
    assert "c/0/0" in str(error)
    assert error.chunk == (0, 0)
    assert "256" in str(error) and str(length) in str(error)


COMPRESSED = {
    "gzip": {"name": "gzip", "configuration": {"level": 5}},
    "zstd": {"name": "zstd", "configuration": {"level": 3, "checksum": False}},
    "zlib": {"name": "numcodecs.zlib", "configuration": {"level": 5}},
    "bz2": {"name": "numcodecs.bz2", "configuration": {"level": 5}},
    "lz4": {"name": "numcodecs.lz4", "configuration": {"acceleration": 1}},
    "blosc": {
        "name": "blosc",
        "configuration": {"cname": "lz4", "clevel": 5, "shuffle": "shuffle", "typesize": 1, "blocksize": 0},
    },
    "crc32c": {"name": "crc32c"},
}


@pytest.mark.parametrize("name", COMPRESSED)
def test_a_compressed_chunk_cut_at_any_length_is_refused(tmp_path, name):
    path = make(tmp_path / "a", document(codecs=[{"name": "bytes"}, COMPRESSED[name]]))
    values = np.random.default_rng(0).integers(0, 40, (16, 16), dtype="uint8")
    tessarray.open_array(path, mode="r+")[...] = values
    chunk = path / "c" / "0" / "0"
    whole = chunk.read_bytes()
    for length in range(len(whole)):
        chunk.write_bytes(whole[:length])
        error = refused(path)
        assert "c/0/0" in str(error), length
    chunk.write_bytes(whole)
    np.testing.assert_array_equal(tessarray.open_array(path, mode="r")[...], values)


@pytest.mark.parametrize("shards", [None, (32, 32)], ids=["chunks", "shards"])
def test_no_flipped_bit_is_silent_with_the_default_codecs_in_full_and_partial_reads(tmp_path, shards):
    path = tmp_path / "a"
    array = tessarray.create_array(path, shape=(64, 64), chunks=(16, 16), shards=shards, dtype="float32")
    values = np.random.default_rng(0).normal(size=(64, 64)).cumsum(axis=1).astype("float32")
    array[...] = values
    files = sorted(item for item in path.rglob("*") if item.is_file() and item.name != "zarr.json")
    rng = random.Random(8)
    silent = []
    for number in range(scaled(250)):
        file = rng.choice(files)
        whole = file.read_bytes()
        position, bit = rng.randrange(len(whole)), rng.randrange(8)
        flipped = bytearray(whole)
        flipped[position] ^= 1 << bit
        file.write_bytes(flipped)
        for row in [slice(None), slice(3, 5), slice(17, 60, 9)]:
            try:
                found = tessarray.open_array(path, mode="r")[row]
            except TessarrayError:
                continue
            if not np.array_equal(found, values[row]):
                silent.append((number, file.name, position, bit, row))
        file.write_bytes(whole)
    assert silent == []


def test_a_missing_chunk_is_the_fill_value(tmp_path):
    path = make(tmp_path / "a", document(fill_value=7))
    assert (tessarray.open_array(path, mode="r")[...] == 7).all()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the platform has no named pipes")
@pytest.mark.parametrize("what", ["socket", "pipe"])
def test_something_that_is_no_file_in_the_place_of_a_chunk_is_an_error_and_no_fill_value(what):
    """Neither is it waited for: nobody will ever write to the pipe."""
    found = in_new_process(
        """
        import socket, tempfile
        sys.path.insert(0, sys.argv[2])
        from hostile import document, make
        with tempfile.TemporaryDirectory() as folder:  # a short name: sockets want one
            os.chdir(folder)
            Path("c/0").mkdir(parents=True)
            Path("zarr.json").write_text(json.dumps(document(fill_value=7)))
            if sys.argv[1] == "socket":
                socket.socket(socket.AF_UNIX).bind("c/0/0")
            else:
                os.mkfifo("c/0/0")
            try:
                answer(found=tessarray.open_array(folder, mode="r")[...].tolist())
            except tessarray.errors.TessarrayError as error:
                answer(error=str(error))
        """,
        what,
        Path(__file__).parent,
        timeout=20,
    )
    assert "c/0/0" in found["error"]


class Failing(dict):
    """A mapping whose chunks cannot be had, for another reason than that they are missing."""

    def __getitem__(self, key):
        if key.startswith("c/"):
            raise ConnectionError("the wire is cut")
        return super().__getitem__(key)


def test_a_store_that_fails_is_not_taken_for_one_where_the_chunk_is_missing():
    store = Failing()
    store["zarr.json"] = json.dumps(document()).encode()
    with pytest.raises((TessarrayError, ConnectionError), match="wire is cut"):
        tessarray.open_array(store, mode="r")[...]


@pytest.mark.parametrize(
    "selection", [(slice(None),), (slice(0, 8), slice(0, 8)), (3, 3)], ids=["all", "one", "point"]
)
@pytest.mark.parametrize("name", hostile.LYING_SHARDS)
def test_a_lying_shard_index_is_refused_by_key(tmp_path, name, selection):
    path = make(tmp_path / "a", document(codecs=[hostile.sharding()]), c_0_0=hostile.LYING_SHARDS[name])
    with pytest.raises(CorruptError, match="c/0/0"):
        tessarray.open_array(path, mode="r")[selection]


@pytest.mark.parametrize("name", hostile.LYING_SHARDS)
def test_a_partial_write_into_a_shard_with_a_lying_index_is_refused_and_changes_nothing(tmp_path, name):
    path = make(tmp_path / "a", document(codecs=[hostile.sharding()]), c_0_0=hostile.LYING_SHARDS[name])
    with pytest.raises(CorruptError, match="c/0/0"):
        tessarray.open_array(path, mode="r+")[3, 3] = 1
    assert (path / "c" / "0" / "0").read_bytes() == hostile.LYING_SHARDS[name]


def test_a_good_hand_made_shard_is_read(tmp_path):
    entries = [*hostile.GOOD_INDEX[:3], hostile.EMPTY]
    path = make(
        tmp_path / "a", document(codecs=[hostile.sharding()], fill_value=9), c_0_0=hostile.shard(entries)
    )
    found = tessarray.open_array(path, mode="r")[...]
    assert found[:8, :8].tolist() == np.arange(64).reshape(8, 8).tolist()
    assert (found[8:, 8:] == 9).all()


@linux_only
def test_bombs_are_refused_within_the_declared_chunk_plus_32_mib(tmp_path):
    for name, (codec, chunk) in hostile.bombs().items():
        make(tmp_path / name, document(codecs=[{"name": "bytes"}, codec]), c_0_0=chunk)
        inner = hostile.sharding(codecs=[{"name": "bytes"}, codec])
        entries = [(0, len(chunk)), *[hostile.EMPTY] * 3]
        make(tmp_path / f"{name}-in-shard", document(codecs=[inner]), c_0_0=hostile.shard(entries, chunk))
    found = in_new_process(
        """
        results = {}
        for path in sorted(Path(sys.argv[1]).iterdir()):
            size = (path / "c/0/0").stat().st_size
            before, start = reset_peak(), time.monotonic()
            try:
                tessarray.open_array(path, mode="r")[...]
                kind, message = "none", ""
            except tessarray.errors.TessarrayError as error:
                kind, message = type(error).__name__, str(error)
            results[path.name] = [kind, message, peak() - before - size, time.monotonic() - start]
        answer(**results)
        """,
        tmp_path,
    )
    for name, (kind, message, extra, seconds) in found.items():
        assert kind == "CorruptError", (name, kind, message)
        assert "c/0/0" in message, name
        assert extra <= 32 * MIB, f"{name}: {extra / MIB:.0f} MiB beyond the declared chunk"
        assert seconds < 5, name
