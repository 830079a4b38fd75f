"""The binding itself: selections, memory, streams, threads, forks, and errors."""

from __future__ import annotations

import gc
import multiprocessing
import pickle
import threading
import time

import numpy as np
import pytest
import zarr

import tessarray

CUBE = np.arange(5 * 7 * 4, dtype="int32").reshape(5, 7, 4)


@pytest.fixture
def cube():
    return tessarray.create_array({}, data=CUBE, chunks=(2, 3, 2), shards=(4, 6, 4))


# Selections -----------------------------------------------------------------------------------------------------------

FANCY = [
    np.s_[[0, 2], :, 1],
    np.s_[:, [True, False, True, False, True, False, True]],
    np.s_[[4, 0, 0], 1:5, ::2],
    np.s_[[0, 1], [2, 3], [0, 0]],
    np.s_[[[0, 1], [2, 3]], [[0, 0], [1, 1]], 2],
    np.s_[[-1], :, :],
    np.s_[..., np.array([1, 3], "uint8")],
    CUBE % 3 == 0,
]


@pytest.mark.parametrize("selection", FANCY, ids=str)
def test_index_arrays_in_brackets_select_what_numpy_selects(cube, selection):
    model = CUBE.copy()
    np.testing.assert_array_equal(cube[selection], model[selection])
    cube[selection] = -1
    model[selection] = -1
    np.testing.assert_array_equal(cube[...], model)


def test_an_integer_before_an_index_array_leaves_the_axes_in_order_as_in_zarr_python(cube):
    theirs = zarr.create_array({}, data=CUBE)
    np.testing.assert_array_equal(cube[0, :, [1, 2]], theirs[0, :, [1, 2]])
    assert cube[0, :, [1, 2]].shape == (7, 2)


def test_results_have_the_kinds_zarr_python_gives(cube):
    assert isinstance(cube[1, 2, 3], np.ndarray) and cube[1, 2, 3].shape == ()
    assert isinstance(cube[np.int64(1), -1, 3], np.ndarray)
    scalar = tessarray.create_array({}, data=np.float64(2.5))
    assert type(scalar[()]) is type(scalar[...]) is np.float64
    assert cube.vindex[1, 2, 3].shape == (1,)
    assert cube.oindex[1, 2, 3].shape == ()


@pytest.mark.parametrize(
    "selection",
    [
        *(5, -6, (0, 0, 0, 0), 1.5, "x", True, (..., ...), 1 << 70, np.uint64(1 << 63)),
        *(
            np.s_[[5], :, :],
            np.s_[[-6], :, :],
            np.s_[[[0, 1]], :, :],
            np.s_[[0, 1], [0, 1], :],
            np.s_[[0.5], :, :],
        ),
        np.ones((5, 7), bool),
    ],
    ids=str,
)
def test_what_is_no_selection_is_an_index_error_for_reads_and_writes(cube, selection):
    with pytest.raises(tessarray.errors.SelectionError):
        cube[selection]
    with pytest.raises(IndexError):
        cube[selection] = 0
    np.testing.assert_array_equal(cube[...], CUBE)


def test_coordinates_broadcast_and_values_follow_their_shape(cube):
    rows, columns = np.array([[0], [4]]), np.array([6, 0, 3])
    model = CUBE.copy()
    np.testing.assert_array_equal(cube.vindex[rows, columns, 1], model[rows, columns, 1])
    new = np.arange(6, dtype="int32").reshape(3, 2).T
    cube.vindex[rows, columns, 1] = new
    model[rows, columns, 1] = new
    cube.vindex[rows, columns, 2] = np.array([[7], [8]])
    model[rows, columns, 2] = np.array([[7], [8]])
    np.testing.assert_array_equal(cube[...], model)
    with pytest.raises(IndexError, match="broadcast"):
        cube.vindex[[0, 1], [0, 1, 2], 0]
    with pytest.raises(IndexError):
        cube.vindex[0:2, 0, 0]


def test_blocks_are_shards_where_there_are_shards(cube):
    np.testing.assert_array_equal(cube.blocks[1, 0], CUBE[4:, :6])
    np.testing.assert_array_equal(cube.blocks[-1, :, 0], CUBE[4:])
    cube.blocks[0] = 9
    assert (cube[:4] == 9).all() and (cube[4:] == CUBE[4:]).all()
    for wrong in (2, np.s_[::2], np.s_[[0]], np.s_[0, 0, 0, 0]):
        with pytest.raises(IndexError):
            cube.blocks[wrong]


# Memory ---------------------------------------------------------------------------------------------------------------


def test_a_read_into_an_output_of_any_strides_touches_nothing_else(cube):
    room = np.full((10, 14, 8), -7, "int32")
    for out in (room[::2, ::2, ::2], room[1::2, 1::2, 1::2][::-1, :, ::-1], room.T[:4, :7, :5].T):
        room[...] = -7
        assert cube.read(out=out) is out
        np.testing.assert_array_equal(out, CUBE)
        assert (room != -7).sum() <= CUBE.size
    points = np.zeros(10, "int32")[::2]
    cube.read(([0] * 5, range(5), [3] * 5), out=points)
    np.testing.assert_array_equal(points, CUBE[0, :5, 3])


def test_an_output_that_does_not_fit_is_refused_before_anything_is_read(cube):
    whole = np.empty(CUBE.shape, "int32")
    frozen = whole.copy()
    frozen.flags.writeable = False
    overlapping = np.lib.stride_tricks.as_strided(whole, CUBE.shape, (0, 16, 4))
    for out in (whole.astype("int64"), whole[:4], whole.astype(">i4"), frozen, overlapping, [1]):
        with pytest.raises(tessarray.errors.InvalidArgumentError, match="out"):
            cube.read(out=out)


@pytest.mark.parametrize("order", ["C", "F", "reversed", "strided", "broadcast"])
def test_inputs_of_any_strides_are_written_as_they_are(order):
    values = np.arange(600, dtype="float32").reshape(20, 30)
    given = {
        "C": values,
        "F": np.asfortranarray(values),
        "reversed": values[::-1, ::-1].copy()[::-1, ::-1],
        "strided": np.repeat(np.repeat(values, 2, 0), 3, 1)[::2, ::3],
        "broadcast": np.broadcast_to(values[3], values.shape),
    }[order]
    array = tessarray.create_array({}, shape=values.shape, dtype="float32", chunks=(7, 8), shards=(14, 16))
    array[...] = given
    np.testing.assert_array_equal(array[...], given)
    array[5:9, 1:30:4] = given[5:9, 1:30:4]
    np.testing.assert_array_equal(array[...], given)


def test_a_value_broadcasts_as_in_numpy_and_one_that_cannot_touches_nothing(cube):
    model = CUBE.copy()
    for value in (
        3,
        np.float64(4.9),
        [[[5]]],
        np.arange(4),
        np.arange(7)[:, None],
        np.ones((1, 1, 5, 7, 4), int),
    ):
        cube[...] = value
        model[...] = value
        np.testing.assert_array_equal(cube[...], model)
    for value in (np.zeros((2, 5, 7, 4)), np.zeros(3), np.zeros((5, 7, 0))):
        with pytest.raises(ValueError, match="broadcast"):
            cube[...] = value
    with pytest.raises(OverflowError):
        cube[0] = 1 << 40
    with pytest.raises(ValueError):
        cube[0] = "text"
    np.testing.assert_array_equal(cube[...], model)


# Streams --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("by", ["shard", "chunk"])
@pytest.mark.parametrize("ordered", [True, False])
def test_a_stream_gives_each_chunk_once_with_its_region(cube, by, ordered):
    seen = np.zeros(CUBE.shape, int)
    starts = []
    with cube.chunk_stream(ordered=ordered, by=by, prefetch=2) as stream:
        assert len(stream) == (4 if by == "shard" else 3 * 3 * 2)
        for region, values in stream:
            np.testing.assert_array_equal(values, CUBE[region])
            values += 1  # the caller's own memory
            seen[region] += 1
            starts.append(tuple(axis.start for axis in region))
    assert (seen == 1).all()
    assert not ordered or starts == sorted(starts)


def test_a_stream_over_a_box_stays_inside_it(cube):
    parts = dict(map(_hashable, cube.chunk_stream(np.s_[1:5, 2, 3:], by="chunk")))
    assert sum(values.size for values in parts.values()) == 4
    for (rows, column, depth), values in parts.items():
        np.testing.assert_array_equal(values, CUBE[slice(*rows), slice(*column), slice(*depth)])
    assert list(cube.chunk_stream(np.s_[2:2])) == []
    for wrong in (np.s_[::2], np.s_[[0, 1]], np.s_[::-1]):
        with pytest.raises(IndexError):
            cube.chunk_stream(wrong)


def _hashable(item):
    region, values = item
    return tuple((axis.start, axis.stop) for axis in region), values


def test_a_stream_of_text_and_of_a_scalar_array():
    words = tessarray.create_array({}, data=["a", "bb", "", "δ"], chunks=3)
    assert [values.tolist() for _, values in words.chunk_stream()] == [["a", "bb", ""], ["δ"]]
    scalar = tessarray.create_array({}, data=np.int8(3))
    assert [(region, int(values)) for region, values in scalar.chunk_stream()] == [((), 3)]


class Slow(dict):
    """Counts reads of chunks, and takes its time."""

    reads = 0

    def __getitem__(self, key):
        value = super().__getitem__(key)
        if key.startswith("c/"):
            time.sleep(0.005)
            self.reads += 1
        return value


def test_a_stream_reads_no_further_ahead_than_it_was_told_and_stops_when_dropped():
    store = Slow()
    array = tessarray.create_array(store, data=np.arange(1000), chunks=10)
    before = threading.active_count()
    stream = array.chunk_stream(prefetch=3)
    next(stream)
    time.sleep(0.2)
    assert store.reads <= 4
    del stream
    gc.collect()
    reads = store.reads
    time.sleep(0.05)
    assert store.reads == reads and threading.active_count() == before
    stream = array.chunk_stream()
    next(stream)
    stream.close()
    assert list(stream) == []


def test_a_stream_reports_a_damaged_chunk_and_ends():
    store = {}
    array = tessarray.create_array(store, data=np.arange(100), chunks=10)
    store["c/4"] = store["c/4"][:-1]
    stream = array.chunk_stream()
    seen = []
    with pytest.raises(tessarray.errors.CorruptError) as caught:
        seen.extend(int(values[0]) for _, values in stream)
    assert seen == [0, 10, 20, 30] and caught.value.chunk == (4,) and caught.value.key == "c/4"
    assert list(stream) == []


# Processes and threads ------------------------------------------------------------------------------------------------


def _child(array, stream, pipe):
    answer = [int(array[...].sum())]
    try:
        next(stream)
    except tessarray.errors.TessarrayError as error:
        answer.append(type(error).__name__)
    answer.append(sum(int(values.sum()) for _, values in array.chunk_stream()))
    pipe.send(answer)


def test_arrays_and_new_streams_work_after_a_fork_and_old_streams_say_that_they_do_not(tmp_path):
    array = tessarray.create_array(tmp_path / "a", data=np.arange(100_000), chunks=1000)
    array[...]
    stream = array.chunk_stream()
    next(stream)
    ours, theirs = multiprocessing.Pipe()
    child = multiprocessing.get_context("fork").Process(target=_child, args=(array, stream, theirs))
    child.start()
    assert ours.poll(60)
    total = 100_000 * 99_999 // 2
    assert ours.recv() == [total, "InvalidArgumentError", total]
    child.join(30)
    assert child.exitcode == 0
    assert sum(int(values.sum()) for _, values in stream) == total - 999 * 500


def test_threads_read_and_write_one_array_while_python_runs_on(tmp_path):
    array = tessarray.create_array(
        tmp_path / "a", shape=(8, 10_000), dtype="int64", chunks=(1, 1000), shards=(4, 5000)
    )
    ticks = 0
    done = threading.Event()

    def work(row):
        for number in range(20):
            array[row, number * 500 : (number + 1) * 500] = row + 1
            array[row]

    def tick():
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    threads = [threading.Thread(target=work, args=(row,)) for row in range(8)]
    ticker = threading.Thread(target=tick)
    for thread in (ticker, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    done.set()
    ticker.join()
    np.testing.assert_array_equal(array[...], np.repeat(np.arange(1, 9), 10_000).reshape(8, -1))
    assert ticks > 5


def test_an_array_pickles_with_its_metadata_and_reads_nothing_to_come_back(tmp_path):
    array = tessarray.create_array(tmp_path / "a", name="x/y", data=CUBE, attributes={"n": 1})
    again = pickle.loads(pickle.dumps(array))
    assert (again.path, again.shape, again.metadata) == ("x/y", array.shape, array.metadata)
    np.testing.assert_array_equal(again[1:3], CUBE[1:3])
    old = tessarray.create_array(tmp_path / "b", data=CUBE, zarr_format=2, chunk_key_encoding="/")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(old))[1:3], CUBE[1:3])
    with pytest.raises(tessarray.errors.PickleError, match="memory"):
        pickle.dumps(tessarray.create_array(tessarray.MemoryStore(), data=CUBE))


# Types, attributes, errors --------------------------------------------------------------------------------------------


def test_text_and_bytes_of_any_length_and_shape():
    words = np.array([["a", "längere"], ["", "𝄞"]], dtype=np.dtypes.StringDType())
    array = tessarray.create_array({}, data=words, chunks=(1, 2))
    assert array.data_type == "string" and array[...].dtype == words.dtype
    np.testing.assert_array_equal(array[::-1, 1], words[::-1, 1])
    array[0, 0] = "ein Wort"
    array[1] = np.array(["x", "y"], object)
    assert array[...].tolist() == [["ein Wort", "längere"], ["x", "y"]]
    array.vindex[[0, 1], [1, 0]] = "p"
    assert array[...].tolist() == [["ein Wort", "p"], ["p", "y"]]
    with pytest.raises(TypeError, match="str, found int"):
        array[0, 0] = 3
    raw = tessarray.create_array({}, data=np.array([b"\0\xff", b""], object))
    assert raw[...].tolist() == [b"\0\xff", b""] and raw.fill_value == b""
    raw.append(np.array([b"z" * 100], object))
    assert raw[2:].tolist() == [b"z" * 100]
    out = np.empty(3, object)
    assert raw.read(out=out) is out and out[0] == b"\0\xff"


@pytest.mark.parametrize("dtype", ["O", "longdouble", [("a", "i4", (2,))], "U0", "nonsense"])
def test_dtypes_that_cannot_be_stored_are_refused(dtype):
    with pytest.raises((ValueError, TypeError)):
        tessarray.create_array({}, shape=2, dtype=np.longdouble if dtype == "longdouble" else dtype)


def test_a_dtype_of_the_other_byte_order_is_stored_so_and_read_in_the_machines():
    array = tessarray.create_array({}, data=np.arange(3, dtype=">i4"))
    assert array.serializer["configuration"] == {"endian": "big"} and array.dtype == np.dtype("int32")
    assert array[...].tolist() == [0, 1, 2]


def test_attributes_that_json_cannot_hold_name_the_place_and_write_nothing(cube):
    cube.attrs["ok"] = {"a": [1, 2.5, None, True, "ü", np.float32(0.5), np.arange(2)]}
    assert cube.attrs["ok"] == {"a": [1, 2.5, None, True, "ü", 0.5, [0, 1]]}
    for value, place in (
        ({"a": [1, object()]}, r"bad\.a\[1\]"),
        ({1: 2}, "bad"),
        (1 << 70, "bad"),
    ):
        with pytest.raises(tessarray.errors.InvalidArgumentError, match=place):
            cube.attrs["bad"] = value
    assert list(cube.attrs) == ["ok"]
    cube.attrs["missing_value"] = float("nan")  # no JSON, but what zarr-python and xarray write
    assert np.isnan(cube.attrs.pop("missing_value"))
    assert cube.update_attributes({"n": 1}).attrs["n"] == 1


def test_every_exception_is_also_the_built_in_one_and_pickles():
    for name in tessarray.errors.__all__:
        error = getattr(tessarray.errors, name)("what went wrong", key="k", chunk=(1, 2))
        assert isinstance(error, tessarray.TessarrayError) and str(error) == "what went wrong"
        again = pickle.loads(pickle.dumps(error))
        assert (type(again), again.key, again.chunk) == (type(error), "k", (1, 2))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"shape": 3}, "dtype"),
        ({"dtype": "i4"}, "shape"),
        ({"shape": -1, "dtype": "i4"}, "shape"),
        ({"shape": "ab", "dtype": "i4"}, "shape"),
        ({"shape": (2, 2), "dtype": "i4", "chunks": (1,)}, "chunks"),
        ({"shape": 2, "dtype": "i4", "chunks": 0}, "chunks"),
        ({"shape": 2, "dtype": "i4", "order": "K"}, "order"),
        ({"shape": 2, "dtype": "i4", "compressors": 7}, "compressors"),
        ({"shape": 2, "dtype": "i4", "compressors": "zip:3"}, "zip"),
        ({"shape": 2, "dtype": "i4", "compressors": {"nome": "zstd"}}, "name"),
        ({"shape": 2, "dtype": "i4", "fill_value": "x"}, "fill_value"),
        ({"shape": 2, "dtype": "i4", "fill_value": [1, 2]}, "fill_value"),
        ({"shape": 2, "dtype": "i4", "chunk_key_encoding": "-"}, "chunk_key_encoding"),
        ({"shape": 2, "dtype": "i4", "zarr_format": 4}, "zarr_format"),
        ({"shape": 2, "dtype": "i4", "attributes": {"a": {1}}}, r"attributes\.a"),
        ({"shape": 2, "data": np.zeros(3)}, "shape"),
    ],
    ids=str,
)
def test_arguments_that_make_no_sense_are_named_and_create_nothing(arguments, message):
    store = {}
    with pytest.raises((ValueError, TypeError), match=message) as caught:
        tessarray.create_array(store, **arguments)
    assert isinstance(caught.value, tessarray.TessarrayError)
    assert store == {}
