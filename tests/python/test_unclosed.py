"""Nothing that a writer has taken is dropped in silence: appenders that nobody closes, masked elements."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest

import tessarray
from tessarray.errors import InvalidArgumentError

FRAMES = np.arange(5 * 2 * 3, dtype="int32").reshape(5, 2, 3)


def make(folder, **more):
    return tessarray.create_array(folder, shape=(0, 2, 3), chunks=(4, 2, 3), dtype="int32", **more)


def test_an_appender_that_is_collected_stores_its_frames_and_warns(tmp_path):
    array = make(tmp_path / "a")
    held = {"appender": array.appender()}
    for frame in FRAMES:
        held["appender"].append(frame)
    words = "ArrayAppender of / in .*5 rows taken, [15] pending> was not closed"
    with pytest.warns(ResourceWarning, match=words):
        held.clear()
    array.refresh()
    assert (array[...] == FRAMES).all()


PROGRAM = """
import numpy as np, tessarray
frames = np.arange(30, dtype="int32").reshape(5, 2, 3)
if {pack}:
    pack = tessarray.create_pack({path!r})
    with pack.transaction("make") as tx:
        tx.create_array("a", shape=(0, 2, 3), chunks=(4, 2, 3), dtype="int32")
    appender = pack.appender("a", flush={flush!r})
else:
    array = tessarray.create_array({path!r}, name="a", shape=(0, 2, 3), chunks=(4, 2, 3), dtype="int32")
    appender = array.appender(flush={flush!r})
for frame in frames:
    appender.append(frame)
{end}
"""


@pytest.mark.parametrize(
    "end", ["", "raise SystemExit(3)", "raise RuntimeError('of the program')", "del appender"]
)
@pytest.mark.parametrize(("pack", "flush"), [(False, None), (False, "1h"), (True, 1000), (True, "1h")])
def test_frames_are_stored_when_the_interpreter_ends(tmp_path, pack, flush, end):
    path = str(tmp_path / ("p.pack" if pack else "s"))
    program = PROGRAM.format(path=path, pack=pack, flush=flush, end=end)
    done = subprocess.run(
        [sys.executable, "-W", "always::ResourceWarning", "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert "was not closed" in done.stderr, done.stderr
    assert ("of the program" in done.stderr) == ("RuntimeError" in end)
    assert (tessarray.open_array(path, path="a", mode="r")[...] == FRAMES).all()


def test_an_appender_that_is_closed_says_nothing(tmp_path):
    program = PROGRAM.format(path=str(tmp_path), pack=False, flush="10ms", end="appender.close()")
    command = [sys.executable, "-W", "error::ResourceWarning", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


def test_with_an_interval_readers_see_frames_without_a_flush(tmp_path):
    array = make(tmp_path / "a")
    with array.appender(flush="10ms") as appender:
        appender.append(FRAMES[0])
        reader = tessarray.open_array(tmp_path / "a", mode="r")
        for _ in range(3000):
            reader.refresh()
            if (
                len(reader) and appender.pending == 0
            ):  # rows are seen a moment before they are counted as stored
                break
            time.sleep(0.01)
        assert (reader[...] == FRAMES[:1]).all() and appender.pending == 0
        appender.append(FRAMES[1:])
    assert (tessarray.open_array(tmp_path / "a", mode="r")[...] == FRAMES).all()
    with pytest.raises(InvalidArgumentError, match="flush: expected a length of time above 0"):
        array.appender(flush=0)


def test_an_appender_says_what_it_has_and_what_a_frame_is():
    array = make({})
    appender = array.appender()
    appender.append(FRAMES[:3])
    assert (len(appender), appender.pending, bool(appender)) == (3, 3, True)
    assert repr(
        appender
    ) == "<ArrayAppender of / in memory axis=0: 3 rows taken, 3 pending>" or "rows taken" in repr(appender)
    for wrong, found in (
        (3, r"\(\)"),
        (np.zeros((9, 9)), r"\(9, 9\)"),
        (np.zeros((1, 2, 4)), r"\(1, 2, 4\)"),
    ):
        with pytest.raises(
            InvalidArgumentError, match=rf"a frame of / .*is \(2, 3\), several are \(n, 2, 3\); found {found}"
        ):
            appender.append(wrong)
    appender.flush()
    assert (len(appender), appender.pending) == (3, 0)
    appender.close()
    assert "closed" in repr(appender)


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_masked_elements_are_stored_as_the_fill_value_of_the_array(zarr_format):
    masked = np.ma.masked_array([1, 2, 3, 4], mask=[0, 1, 0, 1], fill_value=77, dtype="int32")
    array = tessarray.create_array({}, data=masked, chunks=2, fill_value=-9, zarr_format=zarr_format)
    assert array[...].tolist() == [1, -9, 3, -9]
    array[1:3] = np.ma.masked_array([5, 6], mask=[1, 0])
    assert array[...].tolist() == [1, -9, 6, -9]
    array.append(masked[:2])
    array.oindex[[0]] = masked[1:2]
    with array.appender() as appender:
        appender.append(masked[2:])
    assert array[...].tolist() == [-9, -9, 6, -9, 1, -9, 3, -9]
    array[0] = np.ma.masked
    # Nothing is masked: as any other array.
    array[:2] = np.ma.masked_array([8, 8])
    assert array[:2].tolist() == [8, 8]


def test_masked_records_of_a_pack_are_stored_as_the_fill_value():
    pack = tessarray.create_pack(tessarray.MemoryStore())
    with pack.transaction("make") as tx:
        tx.create_array("a", shape=(0, 2), dtype="float64", fill_value=-1)
    with pack.appender("a", flush=10) as appender:
        appender.append(np.ma.masked_array([1.0, 2.0], mask=[True, False]))
    assert pack["a"][...].tolist() == [[-1, 2]]


@pytest.mark.parametrize("dtype", ["M8[ns]", "m8[s]", "M8[D]"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_times_that_were_never_written_are_no_times(tmp_path, dtype, zarr_format):
    zarr = pytest.importorskip("zarr")
    ours = tessarray.create_array(tmp_path / "a", shape=2, dtype=dtype, zarr_format=zarr_format)
    theirs = zarr.create_array(tmp_path / "b", shape=(2,), dtype=dtype, zarr_format=zarr_format)
    ours.resize((3,))
    ours[0] = np.array(5, dtype)
    theirs.resize((3,))
    theirs[0] = np.array(5, dtype)
    for array in (
        ours,
        zarr.open_array(tmp_path / "a", mode="r"),
        tessarray.open_array(tmp_path / "b", mode="r"),
    ):
        assert np.isnat(array[...]).tolist() == [False, True, True] == np.isnat(theirs[...]).tolist()
    # What is there stays what its metadata say.
    zero = tessarray.create_array(
        tmp_path / "c", shape=1, dtype=dtype, zarr_format=zarr_format, fill_value=np.array(0, dtype)[()]
    )
    assert tessarray.open_array(tmp_path / "c")[...].tolist() == zero[...].tolist() and not np.isnat(zero[0])
