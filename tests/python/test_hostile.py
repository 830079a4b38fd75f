"""Bad input gives a typed error that names the key or the coordinates; nothing panics, leaves the root, is allocated
beyond the declared chunk, or is taken for missing."""

from __future__ import annotations

import contextlib
import json
import os
import pickle
import random
import sys
import zipfile
from pathlib import Path

import hostile
import numpy as np
import pytest
from hostile import MIB, document, make
from support import in_new_process, scaled

import tessarray
from tessarray.errors import CorruptError, MetadataError, TessarrayError

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")


def refused(path, kind=CorruptError):
    """Reading the array at `path` is refused; the error."""
    with pytest.raises(kind) as caught:
        tessarray.open_array(path, mode="r")[...]
    return caught.value


# Chunks ---------------------------------------------------------------------------------------------------------------


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


# Documents ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", hostile.BAD_DOCUMENTS)
def test_a_bad_document_is_refused_at_open_and_the_error_names_the_member(tmp_path, name):
    text, word = hostile.BAD_DOCUMENTS[name]
    path = make(tmp_path / "a", text)
    with pytest.raises(TessarrayError) as caught:
        tessarray.open_array(path, mode="r")
    assert word in str(caught.value)
    assert "zarr.json" in str(caught.value)
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize("name", hostile.ODD_DOCUMENTS)
def test_an_odd_and_legal_document_is_accepted(tmp_path, name):
    tessarray.open_array(make(tmp_path / "a", hostile.ODD_DOCUMENTS[name]), mode="r")


ABSURD = {
    "chunk-2^40": document(shape=[2**40], chunk_grid=hostile.chunked(2**40)),
    "shape-2^62": document(shape=[2**62], chunk_grid=hostile.chunked(2**30)),
    "chunk-2^62": document(shape=[16], chunk_grid=hostile.chunked(2**62)),
    "many-chunks": document(shape=[2**62, 2**62], chunk_grid=hostile.chunked(1, 1)),
    "index-of-2^30-entries": document(
        shape=[2**30, 1], chunk_grid=hostile.chunked(2**30, 1), codecs=[hostile.sharding(chunk_shape=[1, 1])]
    ),
    "complex-2^61": document(
        shape=[2**61],
        chunk_grid=hostile.chunked(2**61),
        data_type="complex128",
        fill_value=[0, 0],
        codecs=[{"name": "bytes", "configuration": {"endian": "little"}}],
    ),
}


@linux_only
def test_absurd_sizes_are_refused_or_read_without_memory_that_was_not_paid_for(tmp_path):
    for name, text in ABSURD.items():
        key = "_".join(["c", *"0" * len(text["shape"])])
        make(tmp_path / name, text, **{key: bytes(range(100))})
    found = in_new_process(
        """
        results = {}
        for path in sorted(Path(sys.argv[1]).iterdir()):
            before, start, kinds = reset_peak(), time.monotonic(), []
            for action in [lambda a: None, lambda a: a[(0,) * a.ndim], lambda a: a[(slice(0, 3),) * a.ndim],
                           lambda a: a[...], lambda a: repr(a.info)]:
                try:
                    action(tessarray.open_array(path, mode="r"))
                    kinds.append("none")
                except (tessarray.errors.TessarrayError, MemoryError, ValueError) as error:
                    kinds.append(type(error).__name__ + ": " + str(error)[:300])
            results[path.name] = [kinds, peak() - before, time.monotonic() - start]
        answer(**results)
        """,
        tmp_path,
    )
    for name, (kinds, extra, seconds) in found.items():
        assert kinds[3] != "none", f"{name}: all of it was read"
        assert extra <= 32 * MIB, f"{name}: {extra / MIB:.0f} MiB"
        assert seconds < 5, name


@linux_only
def test_2000_mutated_documents_never_panic_abort_or_take_memory(tmp_path):
    """Bytes and JSON values of good documents are changed at random; each gives an array or a typed error."""
    found = in_new_process(
        """
        import random
        sys.path.insert(0, sys.argv[2])
        from mutants import mutant
        rng = random.Random(31)
        accepted, other, before = 0, [], reset_peak()
        for number in range(int(sys.argv[1])):
            text = mutant(rng)
            try:
                array = tessarray.open_array({"zarr.json": text, "c/0/0": bytes(range(256))}, mode="r")
                accepted += 1
                if array.nbytes < 1 << 20:
                    array[...]
            except tessarray.errors.TessarrayError:
                pass
            except BaseException as error:
                other.append(f"{type(error).__name__}: {error}: {text!r}")
        answer(accepted=accepted, other=other[:5], extra=peak() - before)
        """,
        scaled(2000),
        Path(__file__).parent,
    )
    assert found["other"] == []
    assert 0 < found["accepted"] < scaled(2000)
    assert found["extra"] <= 64 * MIB


V2 = {
    "zarr_format": 2,
    "shape": [16, 16],
    "chunks": [16, 16],
    "dtype": "|u1",
    "compressor": None,
    "fill_value": 0,
    "order": "C",
    "filters": None,
}
BAD_V2 = {
    "object-dtype": ({"dtype": "|O"}, "|O"),
    "object-dtype-with-pickle": ({"dtype": "|O", "filters": [{"id": "pickle", "protocol": 5}]}, "pickle"),
    "pickle-after-a-good-object-codec": (
        {"dtype": "|O", "filters": [{"id": "vlen-utf8"}, {"id": "pickle"}]},
        "pickle",
    ),
    "pickle-compressor": ({"compressor": {"id": "pickle"}}, "pickle"),
    "unknown-compressor": ({"compressor": {"id": "snake-oil"}}, "snake-oil"),
    "order-odd": ({"order": "A"}, "order"),
    "chunks-0": ({"chunks": [0, 16]}, "chunks"),
    "chunks-negative": ({"chunks": [-1, 16]}, "chunks"),
    "rank-differs": ({"chunks": [16]}, "chunks"),
    "dtype-odd": ({"dtype": "|x9"}, "dtype"),
    "dtype-huge": ({"dtype": "|S99999999999"}, "dtype"),
    "separator-odd": ({"dimension_separator": "-"}, "dimension_separator"),
    "fill-text": ({"fill_value": "abc"}, "fill_value"),
    "filters-object": ({"filters": {"id": "delta"}}, "filters"),
}


@pytest.mark.parametrize("name", BAD_V2)
def test_a_bad_v2_document_is_refused_at_open_and_the_error_names_the_member(tmp_path, name):
    changes, word = BAD_V2[name]
    (tmp_path / ".zarray").write_text(json.dumps(V2 | changes))
    with pytest.raises(TessarrayError) as caught:
        tessarray.open_array(tmp_path, mode="r")
    assert word in str(caught.value)
    assert ".zarray" in str(caught.value)


def test_a_pickle_in_the_data_is_never_loaded(tmp_path):
    class Evil:
        def __reduce__(self):
            return (open, (str(tmp_path / "was-run"), "w"))

    blob = pickle.dumps(Evil())
    root = make(tmp_path / "v3", document(codecs=[{"name": "numcodecs.pickle"}]), c_0_0=blob)
    with pytest.raises(TessarrayError):
        tessarray.open_array(root, mode="r")[...]
    old = tmp_path / "v2"
    old.mkdir()
    document_v2 = V2 | {"dtype": "|O", "filters": [{"id": "pickle", "protocol": 5}]}
    (old / ".zarray").write_text(json.dumps(document_v2))
    (old / "0.0").write_bytes(blob)
    with pytest.raises(TessarrayError):
        tessarray.open_array(old, mode="r")[...]
    assert not (tmp_path / "was-run").exists()


# Keys -----------------------------------------------------------------------------------------------------------------


@pytest.fixture
def beside_a_secret(tmp_path):
    """A group whose folder stands beside an array that is not part of it."""
    make(tmp_path / "secret", document(), c_0_0=bytes([42]) * 256)
    group = tessarray.create_group(tmp_path / "root")
    group.create_array("a", shape=(4,), chunks=(2,), dtype="int32")[...] = 1
    return group


@pytest.mark.parametrize("key", hostile.BAD_KEYS)
def test_a_member_name_that_leaves_the_root_or_is_none_is_refused(beside_a_secret, key, tmp_path):
    group = beside_a_secret
    with pytest.raises((TessarrayError, KeyError)):
        group[key]
    with pytest.raises((TessarrayError, KeyError)):
        del group[key]
    try:
        group.create_array(key, shape=(1,), chunks=(1,), dtype="int8")
    except (TessarrayError, KeyError):
        pass
    else:
        assert key.startswith("/"), (
            "a leading slash means the group itself, as in zarr-python; nothing else is taken"
        )
        assert (tmp_path / "root" / key.strip("/") / "zarr.json").is_file()
    assert (tmp_path / "secret" / "c" / "0" / "0").read_bytes() == bytes([42]) * 256
    assert sorted(item.name for item in tmp_path.iterdir()) == ["root", "secret"]


@pytest.mark.parametrize("key", hostile.BAD_KEYS)
@pytest.mark.parametrize("kind", ["local", "memory", "mapping"])
def test_a_store_refuses_a_key_that_leaves_the_root_or_is_none(tmp_path, kind, key):
    (tmp_path / "secret").write_bytes(b"42")
    made = {
        "local": lambda: tessarray.LocalStore(tmp_path / "root"),
        "memory": tessarray.MemoryStore,
        "mapping": lambda: tessarray.MappingStore({}),
    }
    store = made[kind]()
    for action in (lambda: store.get(key), lambda: store.put(key, b"x"), lambda: store.delete(key)):
        with pytest.raises(TessarrayError):
            action()
    assert (tmp_path / "secret").read_bytes() == b"42"


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links want rights on Windows")
@pytest.mark.parametrize("what", ["chunk", "folder", "array", "metadata"])
def test_a_symbolic_link_out_of_the_root_is_refused(beside_a_secret, tmp_path, what):
    root, secret = tmp_path / "root", tmp_path / "secret"
    if what == "array":
        (root / "link").symlink_to(secret)
    else:
        make(root / "link", document())
        if what == "chunk":
            (root / "link" / "c" / "0").mkdir(parents=True)
            (root / "link" / "c" / "0" / "0").symlink_to(secret / "c" / "0" / "0")
        elif what == "folder":
            (root / "link" / "c").symlink_to(secret / "c")
        else:
            (root / "link" / "zarr.json").unlink()
            (root / "link" / "zarr.json").symlink_to(secret / "zarr.json")
    with pytest.raises(TessarrayError, match="link"):
        tessarray.open_group(root, mode="r")["link"][...]
    # A write may be refused, or replace the link itself; it never goes through it.
    with contextlib.suppress(TessarrayError):
        tessarray.open_group(root, mode="r+")["link"][...] = 1
    assert (secret / "c" / "0" / "0").read_bytes() == bytes([42]) * 256


def consolidated(path: str) -> dict:
    return {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": {},
        "consolidated_metadata": {
            "kind": "inline",
            "must_understand": False,
            "metadata": {"good": document(), path: document()},
        },
    }


@pytest.mark.parametrize("key", ["../secret", "/etc", "a/../../secret", "a//b"])
def test_a_consolidated_key_that_leaves_the_root_is_refused(tmp_path, key):
    make(tmp_path / "secret", document(), c_0_0=bytes([42]) * 256)
    path = make(tmp_path / "root", consolidated(key))
    with pytest.raises((TessarrayError, KeyError)):
        tessarray.open_group(path, mode="r")[key][...]


@pytest.mark.parametrize("name", ["../secret", "/abs/zarr.json", "a/../../b"])
def test_a_zip_with_a_name_that_leaves_the_root_is_refused_or_passed_over(tmp_path, name):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("zarr.json", json.dumps(document()))
        archive.writestr(name, "evil")
    try:
        found = tessarray.open_array(path, mode="r")[...]
    except TessarrayError:
        pass
    else:
        assert (found == 0).all()
    assert [item.name for item in tmp_path.iterdir()] == ["a.zip"]


def test_a_zip_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "a.zip"
    array = tessarray.create_array(path, shape=(16,), chunks=(4,), dtype="int32")
    array[...] = 5
    del array
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        cut = tmp_path / f"{length}.zip"
        cut.write_bytes(whole[:length])
        with pytest.raises(TessarrayError):
            tessarray.open_array(cut, mode="r")[...]


@linux_only
def test_a_zip_bomb_is_refused_within_32_mib(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zarr.json", json.dumps(document()))
        archive.writestr("c/0/0", bytes(256 * MIB))
    found = in_new_process(
        """
        before = reset_peak()
        try:
            tessarray.open_array(sys.argv[1], mode="r")[...]
            kind = "none"
        except tessarray.errors.TessarrayError as error:
            kind = type(error).__name__
        answer(kind=kind, extra=peak() - before)
        """,
        path,
    )
    assert found["kind"] != "none"
    assert found["extra"] <= 32 * MIB


# Arguments ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "arguments",
    [
        {"shape": (-1,)},
        {"shape": (2**70,)},
        {"chunks": (0, 1)},
        {"chunks": (1, 2, 3)},
        {"shards": (3, 4)},
        {"dtype": object},
        {"dtype": "what"},
        {"compressors": "snake-oil:3"},
        {"compressors": "zstd:99999"},
        {"compressors": {"id": "pickle"}},
        {"fill_value": "abc"},
        {"fill_value": 1e30},
        {"zarr_format": 4},
        {"order": "K"},
        {"dimension_names": ["x"]},
        {"chunk_key_encoding": {"name": "hash"}},
        {"attributes": {"a": object()}},
    ],
    ids=lambda arguments: "-".join(f"{key}={value}"[:40] for key, value in arguments.items()),
)
def test_a_bad_argument_is_a_value_or_type_error_and_leaves_nothing(tmp_path, arguments):
    base = {"shape": (8, 8), "chunks": (2, 4), "dtype": "int32"}
    with pytest.raises((ValueError, TypeError, OverflowError)):
        tessarray.create_array(tmp_path / "a", **(base | arguments))
    assert not (tmp_path / "a" / "zarr.json").exists()


def test_every_error_derives_from_tessarray_error_and_from_the_built_in_one_would_catch():
    errors = tessarray.errors
    assert issubclass(errors.NotFoundError, FileNotFoundError)
    assert issubclass(errors.SelectionError, IndexError)
    assert issubclass(MetadataError, ValueError)
    assert issubclass(errors.ExistsError, FileExistsError)
    for name in dir(errors):
        item = getattr(errors, name)
        if isinstance(item, type) and issubclass(item, Exception) and item.__module__.startswith("tessarray"):
            assert issubclass(item, errors.TessarrayError), name
