"""Opening what is there with arguments: unknown ones and contradictions are errors, and nothing is changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tessarray
from tessarray.errors import InvalidArgumentError, InvalidTypeError, MissingChunkError

OPENERS: list[Callable[..., Any]] = [
    lambda store, **given: tessarray.open_array(store, path="x", **given),
    lambda store, **given: tessarray.open(store, path="x", **{"mode": "a"} | given),
    lambda store, **given: tessarray.open_group(store).require_array("x", **{"shape": 3} | given),
]


@pytest.fixture
def store() -> tessarray.MemoryStore:
    made = tessarray.MemoryStore()
    tessarray.create_group(made).create_array("x", data=np.arange(3, dtype="int32"), chunks=2)
    return made


@pytest.mark.parametrize("opener", OPENERS)
class TestArguments:
    def test_those_that_agree_open_it(self, store: tessarray.MemoryStore, opener: Callable[..., Any]) -> None:
        for given in ({}, {"shape": (3,)}, {"shape": 3, "dtype": "int32"}, {"dtype": ">i4"}, {"chunks": 1}):
            assert opener(store, **given)[...].tolist() == [0, 1, 2]

    def test_another_shape_names_both(self, store: tessarray.MemoryStore, opener: Callable[..., Any]) -> None:
        with pytest.raises(InvalidArgumentError, match=r"shape \(3,\).*\(4,\)"):
            opener(store, shape=4, dtype="int32")

    def test_another_dtype_names_both(self, store: tessarray.MemoryStore, opener: Callable[..., Any]) -> None:
        with pytest.raises(InvalidArgumentError, match=r"dtype int32.*float64"):
            opener(store, shape=3, dtype="float64")

    @pytest.mark.parametrize("there", [True, False])
    def test_unknown_ones_are_refused(
        self, store: tessarray.MemoryStore, opener: Callable[..., Any], there: bool
    ) -> None:
        if not there:
            store = tessarray.MemoryStore()
            tessarray.create_group(store)
        with pytest.raises(InvalidTypeError, match=r"unexpected keyword argument 'chunk'; did you mean 'chunks'"):
            opener(store, shape=3, dtype="int32", chunk=2)
        assert there or not [key for key, _ in store.list("x")]


def test_data_of_another_kind_are_a_contradiction(store: tessarray.MemoryStore) -> None:
    with pytest.raises(InvalidArgumentError, match=r"shape \(3,\).*\(2,\)"):
        tessarray.open_array(store, path="x", data=[1, 2])
    assert tessarray.open_array(store, path="x", data=np.zeros(3, "int32"))[1] == 1


def test_arguments_of_groups_are_known_to_open(store: tessarray.MemoryStore) -> None:
    assert (
        tessarray.open(tessarray.MemoryStore(), mode="w", zarr_format=2, attributes={"a": 1}).attrs["a"] == 1
    )
    with pytest.raises(InvalidTypeError, match="'nope'"):
        tessarray.open(store, nope=1)


def test_zarrs_config_object_is_taken(store: tessarray.MemoryStore) -> None:
    config = pytest.importorskip("zarr.core.array_spec").ArrayConfig
    strict = config(order="C", write_empty_chunks=True, read_missing_chunks=False)
    array = tessarray.create_array(store, name="y", shape=4, chunks=2, dtype="u1", config=strict)
    with pytest.raises(MissingChunkError):
        array[...]
    array[...] = 0
    assert array.nchunks_initialized == 2
    with pytest.raises(InvalidArgumentError, match="order"):
        tessarray.open_array(store, path="x", config=config(order="F", write_empty_chunks=False))


class TestMissingChunks:
    def test_they_are_counted_where_asked_for(self, store: tessarray.MemoryStore) -> None:
        group = tessarray.open_group(store)
        group.create_array("half", shape=(4, 4), chunks=2, shards=None, dtype="u1")[:2] = 1
        assert tessarray.check(store) == []
        (found,) = tessarray.check(store, missing=True)
        assert (found.kind, found.key, found.harmless) == ("missing", "half", False)
        assert "2 of 4 chunks" in found.message
        assert tessarray.check(store, path="half", missing=True)[0].key == "half"
        assert tessarray.check(store, path="x", missing=True) == []

    def test_strays_do_not_stand_for_missing_ones(self, store: tessarray.MemoryStore) -> None:
        value = store.get("x/c/0")
        assert value is not None
        store.delete("x/c/0")
        store.put("x/c/9", value)
        found = tessarray.check(store, missing=True)
        assert [one.kind for one in found] == ["out-of-bounds", "missing"]
        assert "1 of 2 chunks" in found[1].message
