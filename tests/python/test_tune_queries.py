"""Query classes: templates, names, weights; what cannot be read says which part and what to write in its place."""

from __future__ import annotations

import numpy as np
import pytest

from tessarray.tuner.errors import AccessError
from tessarray.tuner.queries import parse_access, parse_queries, parse_template

SHAPE = (24, 90, 180)
DIMS = ("time", "lat", "lon")


def test_every_kind_of_entry_is_drawn_inside_the_array() -> None:
    (one,) = parse_queries(["q: [t, 3:7, :30]"], SHAPE)
    for box in one.draw(np.random.default_rng(0), 50):
        (t, t1), lat, (lon, lon1) = box
        assert 0 <= t < 24 and t1 == t + 1
        assert lat == (3, 7)
        assert lon >= 0 and lon1 == lon + 30 <= 180
    assert one.extents == (1, 4, 30)
    assert one.selection(((5, 6), (3, 7), (0, 30))) == (5, slice(3, 7), slice(0, 30))


def test_draws_reach_both_ends_of_an_axis() -> None:
    (one,) = parse_queries(["q: [:23, y, :]"], SHAPE)
    boxes = one.draw(np.random.default_rng(1), 400)
    assert {box[0][0] for box in boxes} == {0, 1}
    assert {0, 89} <= {box[1][0] for box in boxes}


def test_the_same_seed_draws_the_same_places() -> None:
    (one,) = parse_queries(["[t, y, :30]"], SHAPE)
    assert one.draw(np.random.default_rng(7), 9) == one.draw(np.random.default_rng(7), 9)


def test_axes_can_be_named_and_the_rest_is_whole() -> None:
    found = parse_template("[lon=:10, time=t]", SHAPE, DIMS)
    assert [axis.kind for axis in found] == ["point", "whole", "run"]
    assert [axis.drops for axis in found] == [True, False, False]


def test_an_ellipsis_stands_for_whole_axes() -> None:
    assert [axis.length for axis in parse_template("[..., 5]", SHAPE)] == [24, 90, 1]
    assert [axis.length for axis in parse_template("[...]", SHAPE)] == list(SHAPE)


def test_texts_and_mappings_say_the_same() -> None:
    texts = parse_queries(["map: [t, :, :] x 0.25", "series: [:, y, x] x 0.75"], SHAPE)
    mapping = parse_queries({"map": ("[t, :, :]", 0.25), "series": ("[:, y, x]", 0.75)}, SHAPE)
    assert texts == mapping
    assert [one.weight for one in parse_queries({"a": "[t, :, :]", "b": "[:, y, x]"}, SHAPE)] == [0.5, 0.5]


def test_weights_may_be_rounded_and_then_add_up() -> None:
    found = parse_queries(["[t, :, :] x 0.333", "a: [:, y, :] x 0.333", "b: [:, :, x] x 0.3335"], SHAPE)
    assert sum(one.weight for one in found) == pytest.approx(1)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[t, :]", "the array has 3 dimensions (time, lat, lon), the selection has 2"),
        ("[t, :, :, :]", "the selection has 4"),
        ("[t, ..., ...]", "at most one"),
        ("[depth=d]", "unknown dimension 'depth'; the array has time, lat, lon"),
        ("[t, :0, :]", "axis 1: expected a run of 1 to 90, found 0"),
        ("[t, :91, :]", "axis 1: expected a run of 1 to 90, found 91"),
        ("[24, :, :]", "axis 0: expected an index below 24, found 24"),
        ("[t, 5:5, :]", "axis 1: expected a range within 0:90"),
        ("[t, ::2, :]", "axis 1: expected a name"),
        ("[t, -1, :]", "axis 1: expected a name"),
    ],
)  # fmt: skip
def test_a_template_that_does_not_fit_says_where(text: str, said: str) -> None:
    with pytest.raises(AccessError, match="access") as caught:
        parse_template(text, SHAPE, DIMS)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            ["a: [t, :, :] x 0.5", "b: [:, y, x] x 0.4"],
            "a sum of 0.9; in these proportions: a x 0.556, b x 0.444",
        ),
        (["a: [t, :, :] x 0.5", "b: [:, y, x]"], "'b' has no weight"),
        (["a: [t, :, :] x 0", "b: [:, y, x] x 1"], "a weight above 0"),
        (["a: [t, :, :] x heavy"], "the weight is no number: 'heavy'"),
        (["a: [t, :, :] x 0.5", "a: [:, y, x] x 0.5"], "found 'a' twice"),
        (["map"], "expected 'NAME: [SELECTION] x WEIGHT'"),
        ([], "at least one query class"),
        ({"a": 3}, "expected a selection, or (selection, weight), found 3"),
    ],
)
def test_classes_that_cannot_be_used_say_what_to_change(given: object, said: str) -> None:
    with pytest.raises(AccessError) as caught:
        parse_queries(given, SHAPE, DIMS)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_names_dimensions_need_names() -> None:
    with pytest.raises(AccessError, match="have no names"):
        parse_template("[time=t]", SHAPE, None)


def test_an_access_without_a_name_gets_a_number() -> None:
    assert parse_access("[t, :] x 1", 2) == ("query 3", "[t, :]", 1.0)
    assert parse_access(" year mean : [:, y] × .5") == ("year mean", "[:, y]", 0.5)
