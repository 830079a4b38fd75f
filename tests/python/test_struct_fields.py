"""Fields of structured arrays: read and written by name with any selection."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tessarray

DTYPE = np.dtype([("f", "i4"), ("g", "f8"), ("name", "S3")])


@pytest.fixture(params=[{}, {"shards": (4, 6)}, {"zarr_format": 2}], ids=["plain", "shards", "v2"])
def pair(request: Any) -> tuple[tessarray.Array, np.ndarray]:
    values = np.zeros((6, 9), DTYPE)
    values["f"] = np.arange(54).reshape(6, 9)
    values["g"] = values["f"] * 0.5
    values["name"] = b"abc"
    array = tessarray.create_array({}, data=values, chunks=(2, 3), **request.param)
    return array, values


@pytest.mark.parametrize("names", ["f", "g", "name", ["f"], ["name", "f"], ["f", "g", "name"]], ids=str)
@pytest.mark.parametrize(
    "place", [..., slice(1, 4), (slice(None), slice(2, 8, 2)), (2, slice(None)), (3, 4), slice(4, 4)], ids=str
)
def test_fields_are_numpys_with_every_selection(pair: Any, names: Any, place: Any) -> None:
    array, values = pair
    places = place if isinstance(place, tuple) else (place,)
    expected = values[names][place]
    for key in ((names, *places), (*places, names)):
        found = array[key]
        assert found.dtype.names == expected.dtype.names
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(array.get_basic_selection(place, fields=names), expected)
    if place is ...:
        np.testing.assert_array_equal(array[names], expected)
    assert np.asarray(found).base is None  # not a part of all the fields' memory


def test_other_ways_to_select_take_fields_too(pair: Any) -> None:
    array, values = pair
    rows, columns = [0, 5, 2], [1, 8, 3]
    orthogonal = values["g"][np.ix_(rows, columns)]
    np.testing.assert_array_equal(array.oindex[rows, columns, "g"], orthogonal)
    np.testing.assert_array_equal(array.get_orthogonal_selection((rows, columns), fields="g"), orthogonal)
    np.testing.assert_array_equal(
        array.get_coordinate_selection((rows, columns), fields=["g", "f"]), values[["g", "f"]][rows, columns]
    )
    mask = values["f"] % 7 == 0
    np.testing.assert_array_equal(array.get_mask_selection(mask, fields="f"), values["f"][mask])
    np.testing.assert_array_equal(array.get_block_selection((1, 1), fields="f"), array.blocks[1, 1]["f"])


def test_a_field_that_is_not_there_is_named_with_those_that_are(pair: Any) -> None:
    array, _ = pair
    for key in ("h", ["f", "h"], ("h", 0), (0, ["h"])):
        with pytest.raises(IndexError, match='no field "h"; there are f, g, name'):
            array[key]
    with pytest.raises(IndexError, match="named once"):
        array["f", "g"]
    with pytest.raises(IndexError):
        tessarray.create_array({}, shape=3, dtype="f4")["f"]


@pytest.mark.parametrize("names", ["f", "name", ["g"], ["name", "f"], ["f", "g", "name"]], ids=str)
@pytest.mark.parametrize(
    "place", [..., slice(1, 4), (slice(None), slice(2, 8, 2)), (2, slice(None)), (3, 4), slice(4, 4)], ids=str
)
def test_fields_are_written_as_numpy_does_and_the_others_stay(pair: Any, names: Any, place: Any) -> None:
    array, values = pair
    places = place if isinstance(place, tuple) else (place,)
    new = values[::-1, ::-1].copy()
    new["g"] += 0.25
    given = new[names][place]
    for value in (given, given.tolist(), 7) if given.size else (given, 7):
        values[names][place] = value
        array[(names, *places)] = value
        np.testing.assert_array_equal(array[...], values)
    array.set_basic_selection(place, given, fields=names)
    values[names][place] = given
    np.testing.assert_array_equal(array[...], values)


def test_other_ways_to_select_write_fields_too(pair: Any) -> None:
    array, values = pair
    rows, columns = [0, 5, 2], [1, 8, 3]
    array.oindex[rows, columns, "g"] = np.arange(9.0).reshape(3, 3)
    values["g"][np.ix_(rows, columns)] = np.arange(9.0).reshape(3, 3)
    array.set_orthogonal_selection((rows, slice(2)), -1, fields="f")
    values["f"][rows, :2] = -1
    array.vindex[rows, columns, "name"] = [b"x", b"yy", b"zzz"]
    values["name"][rows, columns] = [b"x", b"yy", b"zzz"]
    both = np.array([(1, 2), (3, 4), (5, 6)], [("g", "f8"), ("f", "i4")])
    array.set_coordinate_selection((rows, columns), both, fields=["g", "f"])
    values["g"][rows, columns], values["f"][rows, columns] = both["g"], both["f"]
    mask = values["f"] % 7 == 0
    array.set_mask_selection(mask, 0.5, fields="g")
    values["g"][mask] = 0.5
    array.set_block_selection((1, 1), 11, fields="f")
    size = (4, 6) if array.shards else (2, 3)
    values["f"][size[0] : 2 * size[0], size[1] : 2 * size[1]] = 11
    array["f", 0] = np.ma.masked_array(np.arange(9), np.arange(9) % 2 == 0)
    values["f"][0] = np.where(np.arange(9) % 2 == 0, 0, np.arange(9))
    np.testing.assert_array_equal(array[...], values)


@pytest.mark.parametrize("make", [dict, tessarray.MemoryStore, "folder", "pack"], ids=str)
def test_random_writes_of_fields_are_numpys_in_every_store(make: Any, tmp_path: Any) -> None:
    rng = np.random.default_rng(3)
    shape = (7, 10, 5)
    expected = np.full(shape, np.array((-1, 0.5, b"no"), DTYPE))
    store: Any = make() if callable(make) else tmp_path / f"s.{make}"
    if make == "pack":
        tessarray.create_pack(store)
        store = store / "a"
    array = tessarray.create_array(
        store, shape=shape, dtype=DTYPE, chunks=(2, 5, 3), shards=(4, 10, 3), fill_value=(-1, 0.5, b"no")
    )
    names = ["f", "g", "name"]
    for _ in range(40):
        chosen = list(rng.permutation(names)[: rng.integers(1, 4)])
        box = tuple(slice(*sorted(rng.integers(0, n + 1, 2)), int(rng.integers(1, 3))) for n in shape)
        drawn = np.zeros(expected[box].shape, DTYPE)
        drawn["f"], drawn["g"] = rng.integers(-2, 2, drawn.shape), rng.random(drawn.shape)
        drawn["name"] = rng.choice([b"no", b"a", b"bc"], drawn.shape)
        key: Any = chosen[0] if rng.random() < 0.5 else chosen
        expected[key][box] = drawn[key]
        array[(key, *box)] = drawn[key]
        if rng.random() < 0.2:
            expected[box] = drawn
            array[box] = drawn
    np.testing.assert_array_equal(array[...], expected)
    array["f"], array["g"], array["name"] = -1, 0.5, b"no"
    assert array.nchunks_initialized == 0  # what holds nothing but the fill value is not stored


def test_writers_of_different_fields_of_one_chunk_lose_nothing(tmp_path: Any) -> None:
    array = tessarray.create_array(tmp_path / "a", shape=(2000,), dtype=DTYPE, chunks=(1000,))

    def write(name: str) -> None:
        mine = tessarray.open_array(tmp_path / "a", mode="r+")
        for i in range(60):
            mine[name, i * 30 : i * 30 + 30] = i if name != "name" else str(i).encode()
            mine[name] = mine[name]  # all of the elements, and still not the other fields

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(write, ["f", "g", "name"]))
    numbers = np.where(np.arange(2000) < 1800, np.arange(2000) // 30, 0)
    np.testing.assert_array_equal(array["f"], numbers)
    np.testing.assert_array_equal(array["g"], numbers)
    np.testing.assert_array_equal(array["name"][:1800], [str(n).encode() for n in numbers[:1800]])


def test_a_write_of_fields_that_fails_changes_nothing(pair: Any) -> None:
    array, values = pair
    with pytest.raises(IndexError, match='no field "h"'):
        array["h", 0] = 1
    with pytest.raises((TypeError, ValueError)):
        array["f"] = "words"
    with pytest.raises(ValueError, match="broadcast"):
        array["f", 1:3] = np.arange(5)
    with pytest.raises(IndexError, match="named once"):
        array["f", "g"] = 1
    np.testing.assert_array_equal(array[...], values)


def test_a_damaged_chunk_is_no_ground_for_half_an_element(tmp_path: Any) -> None:
    array = tessarray.create_array(tmp_path / "a", shape=8, dtype=DTYPE, chunks=8)
    array[...] = np.ones(8, DTYPE)
    (chunk,) = (tmp_path / "a" / "c").iterdir()
    torn = chunk.read_bytes()[:-1]
    chunk.write_bytes(torn)
    with pytest.raises(tessarray.TessarrayError):
        array["f"] = 3
    assert chunk.read_bytes() == torn
