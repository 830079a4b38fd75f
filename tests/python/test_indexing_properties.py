"""Any selection on any shape, chunks and shards gives what NumPy gives, read and written; and so do random sequences
of writes, appends and resizes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from layouts import (
    Layout,
    basic,
    block_model,
    blocks,
    layouts,
    masks,
    orthogonal,
    orthogonal_model,
    points,
)
from support import scaled

import tessarray


def filled(layout: Layout, dtype: str = "int32"):
    """An array in memory with distinct values, and NumPy's copy of it."""
    values = np.arange(1, 1 + int(np.prod(layout.shape)), dtype=dtype).reshape(layout.shape)
    array = tessarray.create_array(tessarray.MemoryStore(), dtype=dtype, fill_value=-1, **layout.arguments())
    array[...] = values
    return array, values


def same(found, expected) -> None:
    expected = np.asarray(expected)
    assert np.shape(found) == expected.shape
    np.testing.assert_array_equal(found, expected)


@given(st.data(), layouts())
def test_any_basic_selection_reads_what_numpy_reads(draws, layout):
    array, values = filled(layout)
    selection = draws.draw(basic(layout.shape))
    same(array[selection], values[selection])


@given(st.data(), layouts())
def test_any_basic_selection_writes_what_numpy_writes(draws, layout):
    array, values = filled(layout)
    selection = draws.draw(basic(layout.shape, newaxis=False))
    new = -np.arange(1, 1 + values[selection].size, dtype="int32").reshape(values[selection].shape)
    values[selection] = new
    array[selection] = new
    same(array[...], values)


@given(st.data(), layouts())
def test_a_scalar_and_a_row_broadcast_on_write_as_in_numpy(draws, layout):
    array, values = filled(layout)
    selection = draws.draw(basic(layout.shape, newaxis=False))
    new = np.int32(-5)
    if values[selection].ndim and draws.draw(st.booleans()):
        new = -np.arange(values[selection].shape[-1], dtype="int32")
    values[selection] = new
    array[selection] = new
    same(array[...], values)


@given(st.data(), layouts())
def test_a_read_into_a_buffer_fills_it_with_what_numpy_reads(draws, layout):
    array, values = filled(layout)
    selection = draws.draw(basic(layout.shape, newaxis=False))
    expected = np.asarray(values[selection])
    assume(expected.ndim)
    room = np.full((2, *expected.shape), -7, "int32", order=draws.draw(st.sampled_from("CF")))
    array.read(selection, out=room[1])
    same(room[1], expected)
    assert (room[0] == -7).all()


@given(st.data(), layouts(min_rank=1))
def test_any_orthogonal_selection_reads_what_numpy_reads(draws, layout):
    array, values = filled(layout)
    selection = draws.draw(orthogonal(layout.shape))
    index, shape = orthogonal_model(values, selection)
    same(array.oindex[selection], values[index].reshape(shape))


@given(st.data(), layouts(min_rank=1))
def test_any_orthogonal_selection_writes_what_numpy_writes(draws, layout):
    array, values = filled(layout)
    selection = draws.draw(orthogonal(layout.shape, unique=True))
    index, shape = orthogonal_model(values, selection)
    new = -np.arange(1, 1 + int(np.prod(shape)), dtype="int32").reshape(shape)
    values[index] = new.reshape(values[index].shape)
    array.oindex[selection] = new
    same(array[...], values)


@given(st.data(), layouts(min_rank=1, min_side=1))
def test_any_points_read_what_numpy_reads(draws, layout):
    array, values = filled(layout)
    selection = draws.draw(points(layout.shape))
    same(array.vindex[selection], values[selection])


@given(st.data(), layouts(min_rank=1, min_side=1))
def test_any_points_write_what_numpy_writes(draws, layout):
    array, values = filled(layout)
    selection = draws.draw(points(layout.shape, unique=True))
    new = -np.arange(1, 1 + len(selection[0]), dtype="int32")
    values[selection] = new
    array.vindex[selection] = new
    same(array[...], values)


@given(st.data(), layouts(min_rank=1))
def test_any_mask_reads_and_writes_what_numpy_does(draws, layout):
    array, values = filled(layout)
    mask = draws.draw(masks(layout.shape))
    same(array.vindex[mask], values[mask])
    same(array[mask], values[mask])
    new = -np.arange(1, 1 + int(mask.sum()), dtype="int32")
    values[mask] = new
    array[mask] = new
    same(array[...], values)


@given(st.data(), layouts(min_rank=1, min_side=1))
def test_any_blocks_read_and_write_the_region_they_cover(draws, layout):
    array, values = filled(layout)
    selection = draws.draw(blocks(layout))
    region = block_model(layout, selection)
    same(array.blocks[selection], values[region])
    values[region] = -3
    array.blocks[selection] = -3
    same(array[...], values)


@given(st.data(), layouts(min_rank=1), st.booleans())
def test_the_chunk_stream_visits_every_element_once(draws, layout, ordered):
    array, values = filled(layout)
    seen = np.full(layout.shape, -9, "int32")
    for region, chunk in array.chunk_stream(ordered=ordered):
        assert (seen[region] == -9).all()
        seen[region] = chunk
    same(seen, values)


WRONG = [
    (0, 0, 0),
    (5,),
    (-6,),
    (0, 7),
    (slice(0, 2, 0),),
    (1.5,),
    ("a",),
    (Ellipsis, Ellipsis),
    (np.array([True, False]),),
    ([0, 9],),
]


@pytest.mark.parametrize("selection", WRONG, ids=repr)
def test_a_selection_that_numpy_refuses_is_an_error_and_touches_nothing(selection):
    layout = Layout((5, 7), (2, 3), (4, 3), None, "C", 3)
    array, values = filled(layout)
    with pytest.raises((IndexError, ValueError, TypeError)):
        array[selection]
    with pytest.raises((IndexError, ValueError, TypeError)):
        array[selection] = 1
    same(array[...], values)


@pytest.mark.parametrize("shape", [(3,), (2, 2), (5, 8), (6, 7)])
def test_a_value_that_does_not_broadcast_is_an_error_and_touches_nothing(shape):
    array, values = filled(Layout((5, 7), (2, 3), (4, 3), None, "C", 3))
    with pytest.raises(ValueError, match=r"shape|broadcast"):
        array[...] = np.ones(shape, "int32")
    same(array[...], values)


class Sequence(RuleBasedStateMachine):
    """Writes, appends, resizes and reopens in any order keep the array equal to a NumPy model."""

    @initialize(layout=layouts(min_rank=1, max_rank=2))
    def create(self, layout):
        self.store = tessarray.MemoryStore()
        self.counter = 0
        self.array = tessarray.create_array(self.store, dtype="int32", fill_value=-1, **layout.arguments())
        self.model = np.full(layout.shape, -1, "int32")

    def fresh(self, shape):
        start = self.counter
        self.counter += int(np.prod(shape))
        return np.arange(start, self.counter, dtype="int32").reshape(shape)

    @rule(draws=st.data())
    def write(self, draws):
        selection = draws.draw(basic(self.model.shape, newaxis=False))
        new = self.fresh(self.model[selection].shape)
        self.array[selection] = new
        self.model[selection] = new

    @rule(draws=st.data())
    def append(self, draws):
        axis = draws.draw(st.integers(0, self.model.ndim - 1))
        shape = list(self.model.shape)
        shape[axis] = draws.draw(st.integers(0, 7))
        rows = self.fresh(tuple(shape))
        self.array.append(rows, axis=axis)
        self.model = np.concatenate([self.model, rows], axis=axis)

    @rule(draws=st.data())
    def resize(self, draws):
        shape = tuple(draws.draw(st.integers(0, 15)) for _ in self.model.shape)
        self.array.resize(shape)
        grown = np.full(shape, -1, "int32")
        kept = tuple(slice(0, min(old, new)) for old, new in zip(self.model.shape, shape, strict=True))
        grown[kept] = self.model[kept]
        self.model = grown

    @rule()
    def reopen(self):
        self.array = tessarray.open_array(self.store, mode="r+")

    @precondition(lambda self: self.model.size)
    @rule(draws=st.data())
    def write_points(self, draws):
        selection = draws.draw(points(self.model.shape, unique=True))
        new = self.fresh((len(selection[0]),))
        self.array.vindex[selection] = new
        self.model[selection] = new

    @invariant()
    def equals_the_model(self):
        if hasattr(self, "array"):
            assert self.array.shape == self.model.shape
            same(self.array[...], self.model)
            same(tessarray.open_array(self.store, mode="r")[...], self.model)


TestSequence = Sequence.TestCase
TestSequence.settings = settings(max_examples=scaled(150), stateful_step_count=20)


def test_shrinking_and_growing_again_gives_fill_values_and_not_the_old_ones(tmp_path):
    for number, shards in enumerate([None, (6, 6)]):
        path = tmp_path / str(number)
        array = tessarray.create_array(
            path, shape=(10, 10), chunks=(3, 3), shards=shards, dtype="int32", fill_value=-1
        )
        array[...] = 5
        array.resize((4, 4))
        array.resize((10, 10))
        expected = np.full((10, 10), -1, "int32")
        expected[:4, :4] = 5
        same(array[...], expected)
        same(tessarray.open_array(path, mode="r")[...], expected)
