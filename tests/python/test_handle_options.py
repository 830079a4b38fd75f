"""What a handle is told at opening: checksums at every read, missing chunks refused, empty chunks stored."""

from __future__ import annotations

import contextlib
import mmap
import pickle
from collections.abc import Iterator

import numpy as np
import pytest

import tessarray
from tessarray.errors import CorruptError, InvalidArgumentError, MissingChunkError

# Values that compress, in chunks that are large enough to be remembered.
VALUES = (np.arange(1 << 17, dtype="int32") % 5000).reshape(256, 512)

LAYOUTS = {
    "raw": {"chunks": (256, 512), "compressors": "crc32c"},
    "blosc": {"chunks": (256, 512)},
    "shards": {"chunks": (128, 512), "shards": (256, 512), "compressors": "crc32c"},
}


@contextlib.contextmanager
def mapped(path) -> Iterator[mmap.mmap]:
    """A writable memory map of a file, whose pages are written to before anybody reads: later changes touch no time."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as memory:
        memory[:] = memory[:]
        yield memory


def chunk_file(folder):
    return next(path for path in sorted(folder.glob("c/**/*")) if path.is_file())


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("how", ["open_array", "open", "group", "session", "pickle", "create_array"])
def test_with_verify_always_a_change_that_no_write_made_is_found_by_the_next_small_read(
    tmp_path, layout, how
):
    made = tessarray.create_array(tmp_path / "a", data=VALUES, verify="always", **LAYOUTS[layout])
    array = {
        "open_array": lambda: tessarray.open_array(tmp_path / "a", mode="r", verify="always"),
        "open": lambda: tessarray.open(tmp_path / "a", mode="r", verify="always"),
        "group": lambda: tessarray.open_group(tmp_path, mode="a", verify="always")["a"],
        "session": lambda: tessarray.open_array(
            tmp_path / "a", session=pickle.loads(pickle.dumps(tessarray.Session(2, verify="always")))
        ),
        "pickle": lambda: pickle.loads(pickle.dumps(made)),
        "create_array": lambda: made,
    }[how]()
    assert array.verify == "always"
    with mapped(chunk_file(tmp_path / "a")) as memory:
        assert (array[...] == VALUES).all() and (array[3, :9] == VALUES[3, :9]).all()
        # Far behind what the small read needs: nothing but the checksum of all of it can tell.
        memory[len(memory) // 3] ^= 4
        with pytest.raises(CorruptError):
            array[3, :9]
        memory[len(memory) // 3] ^= 4
        assert (array[3, :9] == VALUES[3, :9]).all()


@pytest.mark.parametrize("shards", [None, 8], ids=["chunks", "shards"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_a_missing_chunk_is_an_error_that_names_it_where_that_was_asked(tmp_path, shards, zarr_format):
    if zarr_format == 2 and shards:
        pytest.skip("Zarr v2 has no shards")
    tessarray.create_array(
        tmp_path / "a", shape=32, chunks=4, shards=shards, dtype="i4", zarr_format=zarr_format
    )[8:16] = 1
    array = tessarray.open_array(tmp_path / "a", config={"read_missing_chunks": False})
    assert array.config == {"order": "C", "write_empty_chunks": False, "read_missing_chunks": False}
    assert array[8:16].tolist() == [1] * 8
    for selection in (slice(0, 1), slice(0, 32), slice(14, 18)):
        with pytest.raises(MissingChunkError, match="is not stored") as caught:
            array[selection]
        assert caught.value.key and caught.value.chunk and str(tmp_path) in str(caught.value)
    # A handle that did not ask reads fill, and so does a write of a part.
    assert tessarray.open_array(tmp_path / "a", mode="r")[0:4].tolist() == [0] * 4
    array[1] = 5
    assert array[0:2].tolist() == [0, 5]


@pytest.mark.parametrize("shards", [None, 8], ids=["chunks", "shards"])
def test_empty_chunks_are_stored_where_that_was_asked(tmp_path, shards):
    shape = {"shape": 16, "chunks": 4, "shards": shards, "dtype": "i4", "fill_value": 7}
    array = tessarray.create_array(tmp_path / "a", write_empty_chunks=True, **shape)
    array[...] = 7
    assert array.nchunks_initialized == array.nobjects
    strict = tessarray.open_array(tmp_path / "a", config={"read_missing_chunks": False})
    assert strict[...].tolist() == [7] * 16
    plain = tessarray.create_array(tmp_path / "b", **shape)
    plain[...] = 7
    assert plain.nchunks_initialized == 0
    # As zarr-python has it: the next writer without the option drops what is empty.
    tessarray.open_array(tmp_path / "a")[...] = 7
    assert array.nchunks_initialized == 0
    array[3] = 7
    assert array.nchunks_initialized == 1
    group = tessarray.create_group(tmp_path / "g")
    group.create_array("x", config={"write_empty_chunks": True}, **shape)[...] = 7
    assert group["x"].nchunks_initialized == array.nobjects


@pytest.mark.parametrize("there", [True, False])
def test_a_required_array_has_the_options_whether_it_was_there_or_not(there):
    group = tessarray.create_group(tessarray.MemoryStore())
    shape = {"shape": 8, "chunks": 4, "dtype": "i4"}
    if there:
        group.create_array("a", **shape)
    array = group.require_array("a", **shape, verify="always", config={"read_missing_chunks": False})
    assert array.verify == "always"
    with pytest.raises(MissingChunkError):
        array[...]
    array = group.require_array("a", **shape, write_empty_chunks=True)
    array[...] = 0
    assert array.nchunks_initialized == 2
    with pytest.raises(InvalidArgumentError, match=r"config: expected some of .*found 'nope'"):
        group.require_array("a", **shape, config={"nope": 1})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"verify": "never"}, "verify: expected 'first' or 'always', found 'never'"),
        ({"config": {"write_empty": True}}, "config: expected some of .*found 'write_empty'"),
        ({"config": {"order": "F"}}, "config: order: expected 'C'"),
        ({"config": {"read_missing_chunks": 0}}, "read_missing_chunks: expected True or False, found 0"),
    ],
)
def test_options_that_are_none_are_refused(arguments, words):
    store = tessarray.MemoryStore()
    tessarray.save_array(store, np.arange(3))
    with pytest.raises(InvalidArgumentError, match=words):
        tessarray.open_array(store, **arguments)
