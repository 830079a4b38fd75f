"""Fields of structured arrays: read by name with any selection, written whole."""

from __future__ import annotations

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


def test_a_field_is_not_written_alone_and_nothing_changes(pair: Any) -> None:
    array, values = pair
    with pytest.raises(IndexError, match="written alone"):
        array["f"] = 0
    with pytest.raises(IndexError, match="written alone"):
        array[1:3, ["f", "g"]] = values[1:3]
    with pytest.raises(IndexError, match="written alone"):
        array.oindex[[1], [2], "f"] = 1
    np.testing.assert_array_equal(array[...], values)
