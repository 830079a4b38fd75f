"""A resumed conversion trusts nothing that the machine may have lost: what was listed as stored is looked at again."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from support import scaled

import tessarray
from tessarray.conversion import OptionError, ResumeError, blocks
from tessarray.conversion.destinations.zarr import ZarrDestination

JOURNAL = ".tessarray-convert.jsonl"
SHAPE = (12, 16, 16)
LAYOUTS = [
    {"chunks": (1, 16, 16), "shards": None},
    {"chunks": (1, 8, 16), "shards": (2, 16, 16)},
    {"chunks": (3, 16, 16), "shards": None, "compressors": "none"},
    {"chunks": (2, 16, 16), "shards": None, "compressors": "none", "zarr_format": 2},
    {"chunks": (2, 16, 16), "shards": None, "zarr_format": 2},
    {"chunks": (2, 8, 8), "shards": None, "compressors": "zstd:1"},
]


class PowerLossError(Exception):
    """The machine stops here."""


@pytest.fixture(autouse=True)
def one_block_a_stored_object(monkeypatch):
    monkeypatch.setattr(blocks, "JOINED_BYTES", 1)


def stops_after(count):
    """A listener that stops the conversion after so many blocks."""
    seen = []

    def listen(state):
        seen.append(state)
        if state.phase == "copy" and len([s for s in seen if s.phase == "copy"]) > count:
            raise PowerLossError

    return listen


def interrupted(source, target, count, **options):
    """A conversion that was stopped after about `count` blocks; returns the folder that it left."""
    with pytest.raises(PowerLossError):
        tessarray.convert(source, target, memory="8MiB", progress=stops_after(count), **options)
    return target.with_name(target.name + ".partial")


def lose(rng, path):
    """What a file is after a loss of power, if its data were not on the disk: gone, empty, zeros, or torn."""
    raw = bytearray(path.read_bytes())
    match rng.integers(6):
        case 0:
            path.unlink()
        case 1:
            path.write_bytes(b"")
        case 2:
            path.write_bytes(bytes(len(raw)))
        case 3:
            path.write_bytes(raw[: rng.integers(len(raw) + 1)])
        case 4:
            start = int(rng.integers(len(raw) + 1)) // 512 * 512
            path.write_bytes(raw[:start] + bytes(len(raw) - start))
        case 5:
            start = int(rng.integers(len(raw) + 1)) // 512 * 512
            path.write_bytes(raw[:start] + bytes(len(raw[start : start + 512])) + raw[start + 512 :])


def some_values(rng, kind):
    """Values of a kind, with blocks in between that are all fill value."""
    values = rng.integers(0, 4000, SHAPE)
    values[rng.integers(SHAPE[0]) :: 5] = 0
    return np.char.mod("no. %d", values[:, :4, :4]).astype("S9") if kind == "S" else values.astype(kind)


def rounds(count):
    # The kind of the round and everything random in it follow from its number, so that a failure can be repeated.
    return range(scaled(count))


@pytest.mark.parametrize("name", ["out.zarr", "out.zip"])
def test_whatever_is_lost_of_what_was_written_the_resumed_copy_is_equal(tmp_path, name):
    for number in rounds(24):
        rng = np.random.default_rng(number)
        folder = tmp_path / str(number)
        folder.mkdir()
        values = some_values(rng, rng.choice(["i2", ">f4", "S", "?"]))
        layout = dict(LAYOUTS[number % len(LAYOUTS)])
        if values.dtype.kind == "S":
            layout |= {"chunks": (2, 4, 4), "shards": None}
        source, target = folder / "in.npy", folder / name
        np.save(source, values)
        partial = interrupted(source, target, int(rng.integers(1, 4)), threads=2, **layout)
        files = sorted(path for path in partial.rglob("*") if path.is_file())
        for path in rng.choice(np.array(files, object), int(rng.integers(1, 4)), replace=False):
            lose(rng, path)
        if not any((partial / name).exists() for name in ("lock", JOURNAL)):
            with pytest.raises(OptionError, match="no conversion made it"):
                tessarray.convert(source, target, memory="8MiB", resume=True, **layout)
            shutil.rmtree(partial)
        tessarray.convert(source, target, memory="8MiB", resume=True, **layout)
        assert_array_equal(tessarray.open_array(target, mode="r")[...], values, err_msg=f"round {number}")
        assert sorted(path.name for path in folder.iterdir()) == ["in.npy", name]


def test_blocks_that_are_whole_are_kept_and_only_the_others_copied_again(tmp_path):
    rng = np.random.default_rng(1)
    source, target, layout = tmp_path / "in.npy", tmp_path / "out.zarr", LAYOUTS[0]
    values = rng.integers(1, 4000, SHAPE).astype("i2")
    np.save(source, values)
    partial = interrupted(source, target, 6, threads=1, **layout)
    listed = [json.loads(line)["block"] for line in (partial / JOURNAL).read_bytes().splitlines()[1:]]
    assert len(listed) >= 6
    (partial / "store" / "c" / str(listed[2]) / "0" / "0").write_bytes(b"")
    (partial / "store" / "zarr.json").unlink()
    report = tessarray.convert(source, target, memory="8MiB", resume=True, **layout)
    assert report.resumed_bytes == (len(listed) - 1) * values[0].nbytes
    assert_array_equal(tessarray.open_array(target, mode="r")[...], values)


def test_a_source_that_changed_at_equal_size_and_time_is_compared_and_its_changes_are_copied(tmp_path):
    source, target, layout = tmp_path / "in.npy", tmp_path / "out.zarr", LAYOUTS[0]
    values = np.random.default_rng(2).integers(1, 4000, SHAPE).astype("i2")
    np.save(source, values)
    times = source.stat()
    partial = interrupted(source, target, 6, threads=1, **layout)
    listed = len((partial / JOURNAL).read_bytes().splitlines()) - 1
    values[1, 3, 4] += 1
    np.save(source, values)
    os.utime(source, ns=(times.st_atime_ns, times.st_mtime_ns))
    report = tessarray.convert(source, target, memory="8MiB", resume=True, **layout)
    assert report.resumed_bytes == (listed - 1) * values[0].nbytes
    assert_array_equal(tessarray.open_array(target, mode="r")[...], values)


@pytest.mark.parametrize("kind", ["mapping", "store"])
def test_a_source_of_which_nothing_tells_whether_it_changed_is_compared(tmp_path, kind):
    target, layout = tmp_path / "out.zarr", LAYOUTS[0]
    values = np.random.default_rng(3).integers(1, 4000, SHAPE).astype("i2")
    texts = np.array([f"word {number}" for number in range(12)], np.dtypes.StringDType())

    def source():
        if kind == "mapping":
            return {"a": values, "words": texts}
        path = tmp_path / "in.zarr"
        if not path.exists():
            root = tessarray.create_group(path)
            root.create_array("a", data=values, chunks=(1, 16, 16))
            root.create_array("words", data=texts, chunks=(3,))
        else:
            tessarray.open_array(path, path="a", mode="r+")[2, 2, 2] = values[2, 2, 2]
        return path

    interrupted(source(), target, 6, threads=1, **layout)
    values[2, 2, 2] += 1
    report = tessarray.convert(source(), target, memory="8MiB", resume=True, **layout)
    assert 0 < report.resumed_bytes < values.nbytes
    found = tessarray.open_group(target, mode="r")
    assert_array_equal(found["a"][...], values)
    assert_array_equal(found["words"][...], texts)


def test_a_source_of_another_shape_is_refused_by_the_name_of_its_array(tmp_path):
    values = np.random.default_rng(4).integers(1, 4000, SHAPE).astype("i2")
    interrupted({"a": values}, tmp_path / "out.zarr", 3, **LAYOUTS[0])
    with pytest.raises(
        ResumeError, match=r"array 'a' differs .* expected int16 of shape \(12, 16, 16\), found"
    ):
        tessarray.convert({"a": values[:6]}, tmp_path / "out.zarr", memory="8MiB", resume=True, **LAYOUTS[0])


def test_a_lossy_layout_is_resumed_from_what_it_stored(tmp_path):
    values = np.random.default_rng(5).normal(size=SHAPE).astype("f4")
    np.save(tmp_path / "in.npy", values)
    layout = {
        "format": "tessarray-layout/1",
        "variable": "",
        "shape": SHAPE,
        "dtype": "float32",
        "layout": {
            "chunks": [1, 16, 16],
            "shards": None,
            "codec": "zstd:1",
            "filters": ['{"name": "numcodecs.bitround", "configuration": {"keepbits": 4}}'],
        },
    }
    partial = interrupted(tmp_path / "in.npy", tmp_path / "out.zarr", 6, threads=1, layout=layout)
    listed = len((partial / JOURNAL).read_bytes().splitlines()) - 1
    report = tessarray.convert(
        tmp_path / "in.npy", tmp_path / "out.zarr", memory="8MiB", resume=True, layout=layout
    )
    assert report.resumed_bytes == listed * values[0].nbytes
    found = tessarray.open_array(tmp_path / "out.zarr", mode="r")[...]
    assert (found != values).any() and np.abs(found / values - 1).max() < 0.05


def test_a_run_that_ends_after_its_last_block_is_resumed_without_copying_anything(tmp_path, monkeypatch):
    values = np.random.default_rng(6).integers(1, 4000, SHAPE).astype("i2")
    np.save(tmp_path / "in.npy", values)

    def stop(self):
        raise PowerLossError

    with monkeypatch.context() as patch:
        patch.setattr(ZarrDestination, "finish", stop)
        with pytest.raises(PowerLossError):
            tessarray.convert(tmp_path / "in.npy", tmp_path / "out.zip", memory="8MiB", **LAYOUTS[1])
    report = tessarray.convert(
        tmp_path / "in.npy", tmp_path / "out.zip", memory="8MiB", resume=True, **LAYOUTS[1]
    )
    assert report.resumed_bytes == report.bytes == values.nbytes
    assert_array_equal(tessarray.open_array(tmp_path / "out.zip", mode="r")[...], values)
