"""`explain` names the true cause of a slow read on planted cases, counts exactly, and changes nothing."""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path

import numpy as np
import pytest
from test_cli import run, tessarray_command

import tessarray
from tessarray.errors import InvalidArgumentError, InvalidTypeError, SelectionError
from tessarray.stores import RecordStore, ThrottleStore
from tessarray.tuner.errors import UntunableError
from tessarray.tuner.explain import Cause, Explanation
from tessarray.tuner.explain.axis_selection import select

BZ2 = {"name": "numcodecs.bz2", "configuration": {"level": 9}}
TRIES = 3  # on a busy machine one run may be disturbed


def smooth(shape, dtype="f4"):
    rng = np.random.default_rng(0)
    waves = np.sin(np.indices(shape).sum(axis=0) / 50) * 1000
    return (waves + rng.integers(0, 30, shape)).astype(dtype)


class SlowAtFirst(dict):
    """A mapping that takes its time for each key, once."""

    def __init__(self):
        super().__init__()
        self.known = None

    def __getitem__(self, key):
        if self.known is not None and key not in self.known:
            self.known.add(key)
            time.sleep(0.3)
        return super().__getitem__(key)


def bad_chunk_shape(folder):
    data = smooth((400, 128, 128))
    return tessarray.create_array(folder, data=data, chunks=(1, 128, 128)), np.s_[:, 64, 64]


def too_small_chunks(folder):
    return tessarray.create_array(folder, data=smooth((512, 512)), chunks=(8, 8)), ...


def slow_codec(folder):
    data = smooth((4, 400, 400))
    return tessarray.create_array(folder, data=data, chunks=(1, 400, 400), compressors=[BZ2]), ...


def unaligned(folder):
    data = smooth((128, 128, 128))
    array = tessarray.create_array(folder, data=data, chunks=(64, 64, 64), compressors="zstd:3")
    return array, np.s_[32:96, 32:96, 32:96]


def cold_store(folder):
    mapping = SlowAtFirst()
    array = tessarray.create_array(mapping, data=smooth((4, 256, 256)), chunks=(2, 256, 256))
    mapping.known = set()
    return array, ...


def too_many_requests(folder):
    near = tessarray.MemoryStore()
    tessarray.create_array(near, data=smooth((256, 64, 64)), chunks=(2, 64, 64))
    return tessarray.open_array(ThrottleStore(near, first_byte=0.02, concurrency=4), mode="r"), ...


def tiny_shards(folder):
    return tessarray.create_array(folder, data=smooth((512, 512)), chunks=(16, 16), shards=(16, 32)), ...


def wrong_order(folder):
    data = smooth((192, 192, 192), "u1")
    return tessarray.create_array(folder, data=data, chunks=(64, 64, 64), order="F", compressors=None), ...


def healthy(folder):
    data = smooth((64, 256, 256))
    return tessarray.create_array(folder, data=data, chunks=(16, 128, 128), shards=(64, 256, 256)), np.s_[:32]


PLANTED = {
    Cause.BAD_CHUNK_SHAPE: bad_chunk_shape,
    Cause.TOO_SMALL_CHUNKS: too_small_chunks,
    Cause.SLOW_CODEC: slow_codec,
    Cause.UNALIGNED: unaligned,
    Cause.COLD_STORE: cold_store,
    Cause.TOO_MANY_REQUESTS: too_many_requests,
    Cause.TINY_SHARDS: tiny_shards,
    Cause.WRONG_ORDER: wrong_order,
    Cause.NOTHING: healthy,
}


@pytest.mark.parametrize("cause", PLANTED, ids=lambda cause: cause.name.lower())
def test_the_true_cause_of_a_planted_case_is_named(cause, tmp_path):
    found = []
    for attempt in range(TRIES):
        array, selection = PLANTED[cause](tmp_path / str(attempt))
        found.append(tessarray.explain(array, selection))
        if found[-1].cause is cause:
            break
    last = found[-1]
    assert last.cause is cause, "\n\n".join(map(str, found))
    assert last.diagnosis.verdict and last.diagnosis.evidence and last.diagnosis.cure
    assert last.stages.total == pytest.approx(last.warm)
    assert (last.diagnosis.saved >= 0.5) == (cause is not Cause.NOTHING)
    assert bool(last.command) == (cause not in (Cause.NOTHING, Cause.COLD_STORE))
    assert last.diagnosis.verdict in str(last)


@pytest.mark.parametrize("cause", [Cause.BAD_CHUNK_SHAPE, Cause.TOO_SMALL_CHUNKS, Cause.TINY_SHARDS])
def test_the_layout_that_is_proposed_asks_for_what_was_counted(cause, tmp_path):
    array, selection = PLANTED[cause](tmp_path / "a")
    found = tessarray.explain(array, selection).diagnosis
    assert found.layout and found.after
    cured = tessarray.create_array(
        tmp_path / "b", data=array[...], chunks=found.layout.chunks, shards=found.layout.shards
    )
    counting = RecordStore(cured.store)
    again = tessarray.open_array(counting, mode="r")
    counting.reset()
    assert np.array_equal(again[selection], array[selection])
    asked = counting.counts()["read"]["ranges"]
    assert asked <= found.after.requests < tessarray.explain(array, selection).requests / 4


class TestCounts:
    @pytest.fixture
    def array(self, tmp_path):
        data = np.arange(100 * 80 * 60, dtype="i4").reshape(100, 80, 60)
        return tessarray.create_array(tmp_path / "a", data=data, chunks=(10, 10, 10), compressors=None)

    @pytest.mark.parametrize(
        ("selection", "chunks", "used"),
        [
            (np.s_[3], 48, 4800),
            (np.s_[9:11, 0, -1], 2, 2),
            (np.s_[::-1, 5, ::-3], 60, 2000),
            (np.s_[::25, ::80], 4 * 1 * 6, 4 * 1 * 60),
            (([1, 50, 99], slice(None), 7), 24, 240),
            ((slice(None), np.arange(80) % 40 == 0), 10 * 2 * 6, 100 * 2 * 60),
            (..., 480, 480_000),
        ],
    )
    def test_chunks_and_bytes_are_exact(self, array, selection, chunks, used):
        found = tessarray.explain(array, selection)
        assert found.chunks == found.objects == chunks
        assert found.decoded == chunks * 4000
        assert found.used == used * 4

    def test_what_is_read_is_what_the_array_gives(self, array):
        for selection in (np.s_[3], np.s_[::-1, 5, ::-3], np.s_[..., 7:50:9], np.s_[-1, None, ..., -1]):
            selected = select(selection, array.shape)
            assert np.array_equal(
                selected.read(array), np.squeeze(array[selection]).reshape(selected.read(array).shape)
            )

    def test_shards_and_their_requests_are_counted(self, tmp_path):
        array = tessarray.create_array(
            tmp_path / "s", data=smooth((64, 64, 64)), chunks=(8, 8, 8), shards=(32, 64, 64), compressors=None
        )
        found = tessarray.explain(array, np.s_[:, 3, 5])
        assert (found.chunks, found.objects, found.objects_touched) == (8, 2, 2)
        assert found.requests == 2 + 8  # an index a shard, and chunks that lie apart

    def test_codec_blocks_are_seen(self, tmp_path):
        array = tessarray.create_array(
            tmp_path / "b", data=smooth((2048, 1024)), chunks=(2048, 1024), compressors="blosc:lz4:5:shuffle"
        )
        found = tessarray.explain(array, np.s_[0])
        assert found.block and 4096 <= found.block < array.nbytes
        assert found.decoded < array.nbytes and found.blocks == 1

    def test_what_is_not_stored_is_not_decoded(self):
        array = tessarray.create_array({}, shape=(40, 40), chunks=(10, 10), dtype="f8")
        array[:10] = 1
        found = tessarray.explain(array)
        assert (found.objects, found.objects_touched, found.decoded) == (4, 16, 4 * 800)
        assert "12 of the 16" in " ".join(found.notes)

    def test_a_part_of_a_large_selection_is_explained_and_stated(self, array):
        found = tessarray.explain(array, limit=20 * 4000)
        assert found.selection == "[:, :, :]" and found.part == "[0:20, 0:20, 0:30]"
        assert found.chunks <= 20 and any("the rest of the selection" in note for note in found.notes)

    @pytest.mark.parametrize(
        "kind", ["v2", "zip", "pack", "mapping", "texts", "scalar", "dates", "structured"]
    )
    def test_arrays_of_any_store_and_type(self, kind, tmp_path):
        data = np.arange(60).reshape(6, 10)
        if kind == "v2":
            array = tessarray.create_array(tmp_path / "a", data=data, chunks=(2, 5), zarr_format=2)
        elif kind == "zip":
            with tessarray.ZipStore(tmp_path / "a.zip", "w") as store:
                tessarray.create_array(store, name="g/x", data=data, chunks=(2, 5))
            array = tessarray.open_array(tmp_path / "a.zip", path="g/x", mode="r")
        elif kind == "pack":
            with tessarray.create_pack(tmp_path / "a.pack").transaction("make") as tx:
                tx.root.create_array("g/x", data=data, chunks=(2, 5))
            array = tessarray.open_array(tmp_path / "a.pack", path="g/x", mode="r")
        elif kind == "mapping":
            array = tessarray.create_array({}, data=data, chunks=(2, 5), order="F")
        elif kind == "scalar":
            array = tessarray.create_array({}, shape=(), dtype="f4")
            array[...] = 3
        else:
            values = {
                "texts": np.array(["a", "bc", "d"] * 4, object),
                "dates": np.arange(12).astype("M8[s]"),
                "structured": np.ones(12, [("a", "i4"), ("b", "f8")]),
            }[kind]
            array = tessarray.create_array({}, data=values, dtype=str if kind == "texts" else None, chunks=2)
        found = tessarray.explain(array)
        assert found.objects == found.chunks == (1 if kind == "scalar" else 6)
        assert json.loads(json.dumps(found.document()))["diagnosis"]["cause"] == found.cause.value


class TestBehaviour:
    def test_the_source_is_not_touched(self, tmp_path):
        array, selection = unaligned(tmp_path / "a")

        def state():
            files = sorted(path for path in (tmp_path / "a").rglob("*") if path.is_file())
            return [
                (path, hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mtime_ns)
                for path in files
            ]

        before = state()
        tessarray.explain(array, selection)
        assert state() == before

    @pytest.mark.parametrize(
        ("selection", "error", "message"),
        [
            (99, SelectionError, "index 99 is out of bounds for axis 0 with size 6"),
            ((1, 2, 3), SelectionError, "2 dimensions, 3 were indexed"),
            ((..., ...), SelectionError, "single ellipsis"),
            (np.zeros((6, 10), bool), SelectionError, "axis 0: expected a whole number"),
            ("t", SelectionError, "axis 0: expected a whole number"),
            (np.s_[3:3], UntunableError, "holds nothing"),
        ],
    )
    def test_wrong_selections_say_what_is_wrong(self, selection, error, message):
        with pytest.raises(error, match=message):
            tessarray.explain(tessarray.create_array({}, data=np.zeros((6, 10))), selection)

    def test_wrong_arguments_say_what_is_expected(self):
        with pytest.raises(InvalidTypeError, match="expected a Tessarray array, found ndarray"):
            tessarray.explain(np.zeros(3))
        with pytest.raises(InvalidArgumentError, match="limit"):
            tessarray.explain(tessarray.create_array({}, data=np.zeros(3)), limit=0)

    def test_the_command_that_proves_it_names_store_array_and_dimensions(self, tmp_path):
        group = tessarray.create_group(tmp_path / "my cube.zarr")
        array = group.create_array(
            "wind/u",
            shape=(200, 64, 64),
            chunks=(1, 64, 64),
            dtype="f4",
            dimension_names=("time", "lat", "lon"),
        )
        array[...] = smooth((200, 64, 64))
        for _ in range(TRIES):
            found = tessarray.explain(array, np.s_[:, 3, 5:9])
            if found.cause is Cause.BAD_CHUNK_SHAPE:
                break
        expected = f"tessarray tune '{tmp_path}/my cube.zarr:wind/u' --access 'slow: [:, lat, :4]'"
        assert found.command == expected


class TestCommand:
    @pytest.fixture
    def store(self, tmp_path) -> Path:
        bad_chunk_shape(tmp_path / "cube.zarr")
        return tmp_path / "cube.zarr"

    def test_it_prints_counts_stages_and_a_cause(self, store):
        text = run("explain", store, "[:, 64, 64]")
        for word in ("400 chunks", "I/O", "decode", "assembly", "Cure:", "Expected:", "first read"):
            assert word in text

    def test_json_is_the_document(self, store):
        found = json.loads(run("explain", store, "[:, 64, 64]", "--json"))
        assert found["chunks"] == 400 and found["diagnosis"]["cause"] in {cause.value for cause in Cause}
        assert set(found) >= set(Explanation.__dataclass_fields__)

    def test_a_limit_is_kept(self, store):
        assert json.loads(run("explain", store, "--limit", "1MiB", "--json"))["chunks"] == 12

    @pytest.mark.parametrize(("selection", "message"), [("[900]", "out of bounds"), ("[t]", "whole number")])
    def test_wrong_selections_are_one_line(self, store, selection, message):
        done = tessarray_command("explain", store, selection)
        assert done.returncode == 1 and message in done.stderr and done.stderr.count("\n") == 1
