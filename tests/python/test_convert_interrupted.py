"""A conversion that ends early leaves nothing at its destination; a killed one can be resumed."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import h5py
import netCDF4
import numpy as np
import pytest
from numpy.testing import assert_array_equal

import tessarray
from tessarray.conversion import (
    ConversionError,
    DestinationExistsError,
    FormatError,
    OptionError,
    SourceNotFoundError,
    UnsupportedVariableError,
    VerificationError,
)
from tessarray.conversion.destinations.zarr import ZarrDestination
from tessarray.conversion.sources.numpy import NpySource

JOURNAL = ".tessarray-convert.jsonl"
SHAPE = (40, 64, 64)
VALUES = np.random.default_rng(3).integers(0, 4000, SHAPE).astype("i2")

# Blocks of one plane each and a rest after each, so that half a megabyte is on its way for seconds.
# A test run in the background of a shell inherits an ignored Ctrl-C: the handler of a terminal is put back.
SLOW = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
from tessarray.cli import main
from tessarray.conversion import blocks, run

blocks.JOINED_BYTES = 1
run._listener = lambda progress, stack: lambda state: time.sleep(float(sys.argv[1]))
main(sys.argv[2:])
"""
LAYOUT = ["--chunks", "1,64,64", "--shards", "none", "--memory", "8MiB", "--threads", "2"]

posix = pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.npy"
    np.save(path, VALUES)
    return path


def slowly(source, target, *more, rest=0.1):
    return [sys.executable, "-c", SLOW, str(rest), "convert", str(source), str(target), *LAYOUT, *more]


def in_the_middle(source, target):
    """A conversion in a process of its own that has stored some blocks and will go on for seconds."""
    process = subprocess.Popen(
        slowly(source, target), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    partial = target.with_name(target.name + ".partial")
    # netCDF-4 cannot be resumed, so that its blocks are not listed.
    journal, lines = (partial / "store.nc", 0) if target.suffix == ".nc" else (partial / JOURNAL, 4)
    deadline = time.monotonic() + 60
    while not journal.exists() or journal.read_bytes().count(b"\n") < lines:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process, journal


def finish(source, target, *more):
    return subprocess.run(
        slowly(source, target, *more, rest=0), capture_output=True, text=True, check=False, timeout=120
    )


@posix
@pytest.mark.parametrize("name", ["out.zarr", "out.zip"])
def test_after_kill_9_resume_copies_only_what_is_missing_and_the_result_is_equal(source, tmp_path, name):
    target = tmp_path / name
    process, journal = in_the_middle(source, target)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    stored = journal.read_bytes().count(b"\n") - 1
    assert not target.exists()
    assert 0 < stored < SHAPE[0]
    done = finish(source, target, "--resume", "--verify", "--json")
    assert done.returncode == 0, done.stderr
    assert f'"resumed_bytes": {stored * VALUES[0].nbytes}' in done.stdout
    assert_array_equal(tessarray.open_array(target, mode="r")[...], VALUES)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["in.npy", name]


@posix
def test_a_torn_last_line_of_the_journal_is_a_block_to_do_again(source, tmp_path):
    target = tmp_path / "out.zarr"
    process, journal = in_the_middle(source, target)
    process.kill()
    process.communicate()
    whole = journal.read_bytes()
    journal.write_bytes(whole[: whole.rindex(b"\n", 0, -1) + 9])
    assert finish(source, target, "--resume", "--verify").returncode == 0
    assert_array_equal(tessarray.open_array(target, mode="r")[...], VALUES)


@posix
def test_resume_refuses_another_source_or_other_settings_and_keeps_what_is_there(source, tmp_path):
    target = tmp_path / "out.zarr"
    process, journal = in_the_middle(source, target)
    process.kill()
    process.communicate()
    done = finish(source, target, "--resume", "--codec", "zstd:1")
    assert done.returncode == 1 and "compressors differs" in done.stderr
    np.save(source, VALUES + 1)
    done = finish(source, target, "--resume")
    assert done.returncode == 1 and "mtime_ns differs" in done.stderr
    assert journal.exists() and not target.exists()
    assert finish(source, target).returncode == 0, "without --resume, it starts anew"
    assert_array_equal(tessarray.open_array(target, mode="r")[...], VALUES + 1)


@posix
def test_ctrl_c_leaves_nothing_at_the_destination_and_says_so_in_one_line(source, tmp_path):
    target = tmp_path / "out.zarr"
    process, _ = in_the_middle(source, target)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert not target.exists()
    assert out == "" and len(err.splitlines()) == 1, err
    assert "interrupted" in err and "--resume" in err
    assert finish(source, target, "--resume", "--verify").returncode == 0
    assert_array_equal(tessarray.open_array(target, mode="r")[...], VALUES)


@posix
def test_ctrl_c_leaves_nothing_at_all_of_a_netcdf_file_which_cannot_be_resumed(source, tmp_path):
    process, _ = in_the_middle(source, tmp_path / "out.nc")
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130 and err == "tessarray: interrupted\n"
    assert [item.name for item in tmp_path.iterdir()] == ["in.npy"]


@posix
def test_ctrl_c_during_overwrite_leaves_the_old_store(source, tmp_path):
    target = tmp_path / "out.zarr"
    tessarray.save_array(target, np.arange(5))
    process = subprocess.Popen(slowly(source, target, "--overwrite"), stderr=subprocess.PIPE, text=True)
    journal = tmp_path / "out.zarr.partial" / JOURNAL
    while not journal.exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    assert tessarray.load(target).tolist() == [0, 1, 2, 3, 4]


@posix
def test_a_second_conversion_to_the_same_place_is_refused(source, tmp_path):
    target = tmp_path / "out.zarr"
    process, _ = in_the_middle(source, target)
    try:
        with pytest.raises(ConversionError, match="another conversion is writing"):
            tessarray.convert(source, target)
    finally:
        process.kill()
        process.communicate()


def test_an_error_of_the_source_midway_leaves_nothing_at_the_destination(source, tmp_path, monkeypatch):
    def fail(self, path, region):
        raise FormatError("the disk has gone")

    monkeypatch.setattr(NpySource, "read", fail)
    with pytest.raises(FormatError, match="the disk has gone"):
        tessarray.convert(source, tmp_path / "out.zarr")
    assert not (tmp_path / "out.zarr").exists()
    monkeypatch.undo()
    tessarray.convert(source, tmp_path / "out.zarr", resume=True, verify=True)
    assert_array_equal(tessarray.open_array(tmp_path / "out.zarr", mode="r")[...], VALUES)


def test_a_value_that_differs_fails_verification_with_its_coordinates(source, tmp_path, monkeypatch):
    stored = ZarrDestination.write

    def wrong(self, path, region, values):
        values = values.copy()
        values[3, 4, 5] += 1
        stored(self, path, region, values)

    monkeypatch.setattr(ZarrDestination, "write", wrong)
    with pytest.raises(VerificationError, match=r"at \(3, 4, 5\): expected .* found"):
        tessarray.convert(source, tmp_path / "out.zarr", verify=True)
    assert not (tmp_path / "out.zarr").exists()


def test_a_damaged_netcdf_or_hdf5_file_is_a_format_error_and_leaves_nothing(tmp_path):
    with netCDF4.Dataset(tmp_path / "in.nc", "w") as file:
        file.createDimension("x", 100_000)
        file.createVariable("a", "f8", ("x",), zlib=True, chunksizes=(1000,))[:] = np.random.default_rng(
            1
        ).random(100_000)
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset("a", data=np.random.default_rng(1).random(100_000), chunks=(1000,), compression=1)
    for name in ("in.nc", "in.h5"):
        raw = bytearray((tmp_path / name).read_bytes())
        for at in range(len(raw) // 2, len(raw) // 2 + 40_000):
            raw[at] ^= 0xFF
        (tmp_path / name).write_bytes(raw)
        with pytest.raises(FormatError, match=name):
            tessarray.convert(tmp_path / name, tmp_path / "out.zarr")
        (tmp_path / name).write_bytes(raw[:300])
        with pytest.raises(FormatError, match=name):
            tessarray.convert(tmp_path / name, tmp_path / "out.zarr")
        assert not (tmp_path / "out.zarr").exists()


@pytest.mark.parametrize(
    ("make", "options", "error", "says"),
    [
        (None, {}, SourceNotFoundError, "no such file"),
        (b"", {}, FormatError, "empty"),
        (b"nothing that anybody knows", {}, FormatError, "unknown format"),
        (b"\x93NUMPY but torn", {}, FormatError, "npy"),
        (b"II*\0 but torn", {}, FormatError, "TIFF"),
        (b"CDF\x01 but torn", {}, FormatError, "netCDF"),
        (VALUES, {"chunks": (0, 1, 1)}, OptionError, "expected extents"),
        (VALUES, {"chunks": (1, 4, 4), "shards": (1, 6, 6)}, OptionError, r"try \(1, 8, 8\)"),
        (VALUES, {"memory": "1MiB"}, OptionError, "8.39 MB or more"),
        (VALUES, {"memory": "many"}, OptionError, "512MiB"),
        (VALUES, {"include": "b"}, OptionError, "no variable is named 'b'"),
        (np.array([{}], object), {}, FormatError, "npy"),
        (np.zeros(3, [("a", "i4", (2,))]), {}, UnsupportedVariableError, "arrays as fields; leave it out with exclude"),
        (np.zeros(3, np.longdouble), {}, UnsupportedVariableError, "float128, which Zarr has not"),
    ],
)  # fmt: skip
def test_what_cannot_be_converted_is_refused_in_words_and_leaves_nothing(
    tmp_path, make, options, error, says
):
    path = tmp_path / "in.npy"
    if isinstance(make, bytes):
        path.write_bytes(make)
    elif make is not None:
        np.save(path, make, allow_pickle=True)
    with pytest.raises(error, match=says):
        tessarray.convert(path, tmp_path / "out.zarr", **options)
    assert [item.name for item in tmp_path.iterdir()] == (["in.npy"] if make is not None else [])


def test_what_is_at_the_destination_stays_unless_it_is_a_store_to_overwrite(source, tmp_path):
    target = tmp_path / "out.zarr"
    tessarray.save_array(target, np.arange(3))
    with pytest.raises(DestinationExistsError, match="already exists"):
        tessarray.convert(source, target)
    assert tessarray.load(target).tolist() == [0, 1, 2]
    tessarray.convert(source, target, overwrite=True)
    assert_array_equal(tessarray.open_array(target, mode="r")[...], VALUES)
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter").write_text("years of work")
    with pytest.raises(DestinationExistsError, match="no array store"):
        tessarray.convert(source, tmp_path / "thesis", overwrite=True)
    with pytest.raises(OptionError, match="same"):
        tessarray.convert(target, target / "inside", overwrite=True)
