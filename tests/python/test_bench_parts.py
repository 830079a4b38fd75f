"""Parts of `tessarray bench` that need no process: where queries read, which values there are, and whether they are
right."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from tessarray_bench import data, queries
from tessarray_bench.model import Data, Layout, Query
from tessarray_bench.worker import verify
from tessarray_bench.worker.verify import WrongAnswer

# ---- queries

SHAPE = (10, 7, 5)
CUT = Layout((2, 7, 2), (4, 7, 4))  # neither divides the shape


def places(selection: str, count: int = 200, shape: tuple[int, ...] = SHAPE, layout=CUT, seed=0) -> list:
    return list(queries.selections(Query("", selection, count), shape, layout, [seed]))


def test_a_template_is_read_axis_by_axis():
    assert queries.parse("[i, :, :3]", SHAPE) == ["i", None, 3]
    assert queries.parse(" [ y,x , :99 ] ", SHAPE) == ["y", "x", 5]
    assert queries.parse("[]", ()) == []


@pytest.mark.parametrize(
    ("template", "part"),
    [
        ("[i, :]", "expected 3 axes, found 2"),
        ("[]", "expected 3 axes, found 0"),
        ("[i, :, 3]", "axis 2: expected a name, `:` or `:n` with n >= 1, found '3'"),
        ("[i, :0, :]", "axis 1:"),
        ("[i, 1:2, :]", "found '1:2'"),
        ("[i, :-1, :]", "found ':-1'"),
        ("[i, :\u00b2, :]", "found ':\u00b2'"),  # a digit, and no number
        ("[, :, :]", "axis 0:"),
    ],
)
def test_a_template_that_cannot_be_read_is_named(template, part):
    with pytest.raises(queries.QueryError) as caught:
        queries.parse(template, SHAPE)
    assert part in str(caught.value)
    assert repr(template) in str(caught.value)


def test_names_runs_and_whole_axes_fall_everywhere_within_the_shape():
    found = places("[i, :, :3]", 300)
    assert {at[0] for at in found} == set(range(10))
    assert {at[1] for at in found} == {slice(0, 7)}
    assert {(at[2].start, at[2].stop) for at in found} == {(n, n + 3) for n in range(3)}
    assert {queries.size(at) for at in found} == {21}
    assert all(type(at[0]) is int for at in found)


def test_places_are_the_same_for_everyone_and_others_for_another_seed():
    assert places("[i, j, :2]") == places("[i, j, :2]")
    assert places("[i, j, :2]") != places("[i, j, :2]", seed=1)
    assert places("chunks") != places("chunks", seed=1)


@pytest.mark.parametrize(("word", "cut"), [("chunks", (4, 7, 4)), ("inner chunks", (2, 7, 2))])
def test_chunks_are_cut_as_the_layout_says(word, cut):
    for at in places(word):
        for part, size, extent in zip(at, cut, SHAPE, strict=True):
            assert part.start % size == 0
            assert part.stop == min(part.start + size, extent)


def test_chunks_are_every_one_once_in_no_order():
    found = places("chunks", 1)
    seen = np.zeros(SHAPE, int)
    for at in found:
        seen[at] += 1
    assert (seen == 1).all()
    assert [at[0].start for at in found] != sorted(at[0].start for at in found)


def test_inner_chunks_are_as_many_as_asked():
    assert len(places("inner chunks", 37)) == 37
    assert len(places("chunks", layout=Layout((5, 7, 5)))) == 2


def test_chunks_of_no_layout_are_an_error():
    with pytest.raises(queries.QueryError, match="'chunks' needs a layout"):
        places("chunks", layout=None)


def test_points_are_an_index_array_for_each_axis():
    found, again = (queries.points(Query("", "points", 1000), SHAPE, [3]) for _ in range(2))
    assert [set(axis.tolist()) for axis in found] == [set(range(extent)) for extent in SHAPE]
    assert all((a == b).all() for a, b in zip(found, again, strict=True))


def test_batches_are_all_of_them():
    assert list(queries.batches(iter(range(7)), 3)) == [[0, 1, 2], [3, 4, 5], [6]]


# ---- values

MADE = [
    *(
        (kind, d)
        for kind in ("random", "camera", "ramp", "sparse", "categorical")
        for d in ("u1", "i2", "u4", "f4")
    ),
    *(("smooth", dtype) for dtype in ("i2", "f2", "f4", "f8")),
    *((kind, "b1") for kind in ("random", "sparse", "categorical")),
    ("random", "f2"),
    ("strings", "string"),
]


def made(kind: str, dtype: str, shape=(23, 6, 8), seed=0) -> np.ndarray:
    return data.make(Data(kind, shape, dtype, seed), 0, shape[0])


@pytest.mark.parametrize(("kind", "dtype"), MADE)
def test_values_are_the_same_whole_or_by_slab(kind, dtype, tmp_path, monkeypatch):
    given = Data(kind, (23, 6, 8), dtype, 4)
    monkeypatch.setattr(data, "SLAB_BYTES", 5 * 48 * given.itemsize)
    assert data.rows_of(given) == 5
    whole = data.make(given, 0, 23)
    assert whole.shape == (23, 6, 8)
    assert whole.dtype == data.numpy_dtype(given)
    slabs = [data.make(given, start, min(start + 5, 23)) for start in range(0, 23, 5)]
    np.testing.assert_array_equal(np.concatenate(slabs), whole)
    np.testing.assert_array_equal(np.load(data.source_file(given, tmp_path)), whole)
    if kind in ("random", "strings"):
        assert (slabs[0] != slabs[1]).any()  # no slab repeats another one
    if kind != "ramp" and dtype != "b1":
        assert (data.make(Data(kind, (23, 6, 8), dtype, 5), 0, 23) != whole).any()


def test_kinds_are_all_tried():
    assert {kind for kind, _ in MADE} == set(data.KINDS)


def test_kinds_have_the_properties_that_they_are_named_for():
    assert 0.005 < np.count_nonzero(made("sparse", "i4", (100, 100))) / 1e4 <= 0.01
    assert (made("ramp", "i8").reshape(-1) == np.arange(23 * 48)).all()
    assert set(np.unique(made("categorical", "u1", (50, 60)))) == set(range(8))
    assert made("random", "f8").min() >= 0
    assert made("random", "f8").max() < 1
    assert set(made("random", "b1").view("u1").reshape(-1)) == {0, 1}
    noise = made("camera", "u2", (4, 64, 64)) - made("camera", "u2", (4, 64, 64), seed=1).astype("i4")
    assert abs(noise).max() == 15  # four bits on the same light
    smooth = made("smooth", "f8", (64, 64))
    assert abs(np.diff(smooth)).max() < 1 < np.ptp(smooth)
    texts = made("strings", "string", (2000,))
    assert {len(text) for text in texts} == set(range(3, 13))
    assert Counter(texts.tolist()).most_common(1)[0][1] > 100


def test_a_source_file_is_made_once_and_named_by_what_is_in_it(tmp_path):
    path = data.source_file(Data("ramp", (3,), "f8"), tmp_path)
    path.write_bytes(b"kept")
    assert data.source_file(Data("ramp", (3,), "f8"), tmp_path).read_bytes() == b"kept"
    for other in (Data("ramp", (3,), "f4"), Data("ramp", (4,), "f8"), Data("ramp", (3,), "f8", 1)):
        assert data.source_file(other, tmp_path) != path
    assert not list(tmp_path.glob("*.partial"))


def test_values_are_loaded_in_the_order_that_is_asked(tmp_path):
    given = Data("file", (3, 4), "f8", path=str(tmp_path / "v.npy"))
    np.save(given.path, np.asfortranarray(made("ramp", "f8", (3, 4))))
    for order in "CF":
        values = data.load(given, data.source_file(given, tmp_path), order)
        assert values.flags[f"{order}_CONTIGUOUS"]
        assert values[1, 0] == 4


def test_values_turned_once_are_the_same_values(tmp_path):
    given = Data("camera", (5, 6, 7), "u2")
    path = data.source_file(given, tmp_path)
    turned = data.fortran_file(path)
    assert data.fortran_file(path) == turned != path
    assert np.load(turned).flags.f_contiguous
    values = data.load(given, path, "F")
    assert values.flags.f_contiguous and (values == data.load(given, path)).all()
    assert not list(tmp_path.glob("*.partial"))
    texts = Data("strings", (9,), "string")
    loaded = data.load(texts, data.source_file(texts, tmp_path))
    assert isinstance(loaded.dtype, np.dtypes.StringDType)
    assert loaded.tolist() == data.make(texts, 0, 9).tolist()


# ---- verification


def same(found, expected) -> None:
    verify.same(found, np.asarray(expected), "there ")


def test_what_is_the_same_passes():
    for values in (
        np.array([np.nan, -0.0, np.inf]),
        np.array([np.nan], "f2"),
        np.array(["NaT", "2020-01-01"], "M8[s]"),
        np.array(["", "ä", "long" * 9], np.dtypes.StringDType()),
        np.float32(3),
        np.zeros((0, 3)),
        np.array([True, False]),
        np.arange(12.0).reshape(3, 4).T,
    ):
        same(values, values)
    same(np.array([1.5], ">f8"), np.array([1.5], "<f8"))
    same(np.array([b"a"], object), np.array(["a"], np.dtypes.StringDType()))
    same("text", np.array("text"))


@pytest.mark.parametrize(
    ("found", "expected", "parts"),
    [
        (np.array([0.0]), np.array([-0.0]), ["[0]", "expected -0.0, found 0.0"]),
        (np.array([1.0, 2.0]), np.array([1.0, np.nan]), ["[1]", "expected nan, found 2.0"]),
        (np.array([1, 2], "i4"), np.array([1, 2], "i8"), ["expected int64, found int32"]),
        (np.zeros((2, 3)), np.zeros((3, 2)), ["expected shape (3, 2), found (2, 3)"]),
        (np.zeros((1, 3)), np.zeros(3), ["expected shape (3,), found (1, 3)"]),
        (np.eye(3), np.zeros((3, 3)), ["[0, 0]", "(3 wrong in this slab)"]),
        (
            np.array(["a", "b"]),
            np.array(["a", "c"], np.dtypes.StringDType()),
            ["[1]", "expected 'c', found 'b'"],
        ),
        (np.float64(2), np.array(1.0), ["expected 1.0, found 2.0"]),
    ],
)
def test_what_differs_is_told_with_place_expected_and_found(found, expected, parts):
    with pytest.raises(WrongAnswer) as caught:
        same(found, expected)
    for part in ["there", *parts]:
        assert part in str(caught.value)


def test_places_are_counted_over_slabs(monkeypatch):
    monkeypatch.setattr(verify, "SLAB_BYTES", 5 * 8 * 3)
    found = np.zeros((23, 3))
    found[17, 2] = 1
    with pytest.raises(WrongAnswer, match=r"\[17, 2\]: expected 0.0, found 1.0 \(1 wrong"):
        same(found, np.zeros((23, 3)))


class Lazy:
    def __array__(self, *_):
        return np.zeros(3)


def test_values_must_be_in_memory(tmp_path):
    np.save(tmp_path / "v.npy", np.zeros((4, 3)))
    mapped = np.load(tmp_path / "v.npy", mmap_mode="r")
    for found in (
        mapped,
        mapped[1:],
        np.asarray(mapped)[1:],
        np.frombuffer(memoryview(mapped[0].base)),
        Lazy(),
        [1],
    ):
        with pytest.raises(WrongAnswer, match="expected values in memory"):
            verify.in_memory(found, "there")
    for found in (np.zeros(3), np.zeros((4, 3))[1:], np.float32(1), "text", np.array(mapped)):
        verify.in_memory(found, "there")
