"""Arrays of different lengths side by side are what the list of those arrays is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tessarray import RaggedArray
from tessarray.errors import InvalidArgumentError

Parts = list[np.ndarray[Any, Any]]


def ragged(parts: Parts, dims: tuple[str | None, ...] | None = None) -> RaggedArray:
    shapes = np.array([part.shape for part in parts], np.int64).reshape(len(parts), -1)
    flat = np.concatenate([part.ravel() for part in parts]) if parts else np.empty(0)
    return RaggedArray([f"d{i}" for i in range(len(parts))], flat, shapes, dims)


def cases() -> list[Parts]:
    """Lists of arrays of one rank: along the first axis only, along all, with none of anything, of one element."""
    shapes = [
        [(3,), (0,), (2,)],
        [(2, 3), (1, 3), (0, 3), (4, 3)],
        [(2, 3), (1, 3), (2, 3)],
        [(2, 1), (1, 3), (0, 2)],
        [(1, 2, 2), (2, 2, 2)],
        [(1, 2, 3), (2, 1, 2), (3, 2, 1)],
        [(2, 0, 2), (1, 3, 2)],
        [(1,)],
        [(), (), ()],
    ]
    random = np.random.default_rng(4)
    return [[random.normal(size=shape) for shape in each] for each in shapes]


@pytest.mark.parametrize("parts", cases(), ids=lambda parts: " ".join(str(part.shape) for part in parts))
class TestAsAList:
    def test_its_parts_are_those_of_the_list(self, parts: Parts) -> None:
        found = ragged(parts)
        assert len(found) == len(parts)
        assert found.dtype == np.float64
        assert found.nbytes == sum(part.nbytes for part in parts)
        assert found.tolist() == [part.tolist() for part in parts]
        for place, (one, part) in enumerate(zip(found, parts, strict=True)):
            same = [one, found[place], found[place - len(parts)], found[f"d{place}"]]
            assert all(part.shape == each.shape and (part == each).all() for each in same)
            assert np.shares_memory(one, found.values) or part.size == 0
        for outside in (len(parts), -len(parts) - 1):
            with pytest.raises(IndexError, match=f"dataset {outside}"):
                found[outside]

    def test_a_slice_is_the_slice_of_the_list(self, parts: Parts) -> None:
        for chosen in (
            slice(1, None),
            slice(None, None, 2),
            slice(None, None, -1),
            slice(1, 1),
            slice(-2, None),
        ):
            found, expected = ragged(parts, None)[chosen], parts[chosen]
            assert found.names == [f"d{i}" for i in range(len(parts))][chosen]
            assert found.tolist() == [part.tolist() for part in expected]
            assert found.dtype == np.float64

    def test_its_rows_are_those_of_all_one_after_the_other(self, parts: Parts) -> None:
        found = ragged(parts)
        if parts[0].ndim and len({part.shape[1:] for part in parts}) == 1:
            assert (found.values == np.concatenate(parts)).all()
            assert found.row_sizes.tolist() == [len(part) for part in parts]
            assert "rows" in repr(found)
        else:
            assert (found.values == np.concatenate([part.ravel() for part in parts])).all()
            assert found.row_sizes.tolist() == [part.size for part in parts]
            assert "elements" in repr(found)
        low, high = min(found.row_sizes), max(found.row_sizes)
        assert f"{len(parts)} datasets of {low} to {high} " in repr(found)

    def test_padded_it_is_as_long_as_the_longest_along_every_axis(self, parts: Parts) -> None:
        longest = [max(lengths) for lengths in zip(*(part.shape for part in parts), strict=True)]
        for fill, expected_fill in ((None, np.nan), (-1.0, -1.0)):
            expected = np.full((len(parts), *longest), expected_fill)
            for place, part in enumerate(parts):
                expected[(place, *(slice(n) for n in part.shape))] = part
            np.testing.assert_array_equal(ragged(parts).pad(fill), expected)

    def test_awkward_has_the_same_lists(self, parts: Parts) -> None:
        awkward = pytest.importorskip("awkward")
        assert awkward.to_list(ragged(parts).to_awkward()) == [part.tolist() for part in parts]

    def test_xarray_has_the_rows_and_how_many_they_are(self, parts: Parts) -> None:
        pytest.importorskip("xarray")
        found = ragged(parts, tuple(f"axis{i}" for i in range(parts[0].ndim)))
        padded = found.to_xarray("t", pad=True)
        np.testing.assert_array_equal(padded["t"].values, found.pad())
        assert padded["t"].dims == ("dataset", *(f"axis{i}" for i in range(parts[0].ndim)))
        assert padded["dataset"].values.tolist() == found.names
        if parts[0].ndim == 0 or len({part.shape[1:] for part in parts}) > 1:
            with pytest.raises(InvalidArgumentError, match="first axis only"):
                found.to_xarray()
            return
        rows = found.to_xarray("t")
        assert rows["t"].dims == ("obs", *(f"axis{i}" for i in range(1, parts[0].ndim)))
        np.testing.assert_array_equal(rows["t"].values, np.concatenate(parts))
        assert rows["row_size"].values.tolist() == [len(part) for part in parts]


def test_dimensions_that_are_not_known_have_numbers_for_names() -> None:
    parts: Parts = [np.ones((2, 3)), np.ones((1, 3))]
    for dims in (None, (None, None), ("z",), ("z", "x", "y")):
        found = ragged(parts, dims)
        assert found.dims == (dims if dims == (None, None) else None)
        assert found.to_xarray()["values"].dims == ("obs", "dim_1")
        assert found.to_xarray(pad=True)["values"].dims == ("dataset", "dim_0", "dim_1")
    assert ragged(parts, ("z", "x")).dims == ("z", "x")
    assert ragged(parts, ("z", "x"))[:1].dims == ("z", "x")


def test_nothing_is_an_empty_list() -> None:
    for rank in (1, 2):
        found = RaggedArray([], np.empty(0), np.empty((0, rank), int))
        assert (len(found), found.tolist(), found[:].names) == (0, [], [])
        assert found.pad().shape == (0,) * (rank + 1)
        assert "0 datasets of none" in repr(found)


@pytest.mark.parametrize("count", [0, 4, 6])
def test_another_number_of_elements_is_refused(count: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"expected 5 elements, found {count}"):
        RaggedArray(["a", "b"], np.arange(count), np.array([[2], [3]]))
    with pytest.raises((InvalidArgumentError, IndexError)):
        RaggedArray([], np.arange(1 + count), np.empty((0, 1), int))


@pytest.mark.parametrize(
    ("values", "fill"),
    [
        (np.arange(3.0), np.nan),
        (np.arange(3).astype("c16"), complex(np.nan)),
        (np.arange(3).astype("M8[s]"), np.datetime64("NaT", "s")),
        (np.arange(3).astype("m8[s]"), np.timedelta64("NaT", "s")),
        (np.array(["a", "b", "c"]), ""),
        (np.array(["a", "b", "c"], np.dtypes.StringDType()), ""),
    ],
    ids=lambda value: str(getattr(value, "dtype", "")),
)
def test_what_is_not_there_is_the_missing_value_of_the_type(values: Any, fill: Any) -> None:
    padded = RaggedArray(["a", "b"], values, np.array([[1], [2]])).pad()
    assert padded.dtype == values.dtype
    assert padded[0, 0] == values[0] and (padded[1] == values[1:]).all()
    assert padded[0, 1] == fill or (padded[0, 1] != padded[0, 1] and fill != fill)


@pytest.mark.parametrize("dtype", ["i4", "u1", "?"])
def test_types_without_a_missing_value_want_one(dtype: str) -> None:
    found = RaggedArray(["a", "b"], np.ones(3, dtype), np.array([[1], [2]]))
    with pytest.raises(InvalidArgumentError, match="pass fill_value"):
        found.pad()
    assert found.pad(0).tolist() == [[1, 0], [1, 1]]
