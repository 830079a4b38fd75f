"""Chunk grids whose lengths are listed: against NumPy, in both directions with zarr-python, and in packs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st
from support import scaled

import tessarray
from tessarray.errors import InvalidArgumentError, MetadataError, UnequalChunksError
from tessarray.tuner.errors import UntunableError

LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=5)


@pytest.fixture(autouse=True)
def rectilinear_zarr() -> Any:
    """zarr-python has these grids behind a setting."""
    with zarr.config.set({"array.rectilinear_chunks": True}):
        yield


@st.composite
def grids(draw: Any) -> tuple[tuple[int, ...], list[Any], list[int] | None]:
    """A shape, the lengths along each axis, and inner chunks where those are of shards."""
    inner = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    sharded = draw(st.booleans())
    axes: list[Any] = []
    for unit in inner:
        lengths = [n * (unit if sharded else 1) for n in draw(LENGTHS)]
        axes.append(lengths if draw(st.integers(0, 4)) or len(inner) == 1 else lengths[0])
    shape = tuple(sum(axis) if isinstance(axis, list) else 7 for axis in axes)
    return shape, axes, inner if sharded else None


def made(store: Any, shape: Any, axes: Any, inner: Any, **more: Any) -> Any:
    cut = {"chunks": axes} if inner is None else {"chunks": tuple(inner), "shards": axes}
    return tessarray.create_array(store, shape=shape, dtype="int32", fill_value=-1, **cut, **more)


def selections(data: st.DataObject, shape: tuple[int, ...]) -> tuple[Any, ...]:
    def axis(n: int) -> st.SearchStrategy[Any]:
        stop = st.integers(0, n)
        return st.builds(slice, stop, stop, st.integers(1, 4))

    return tuple(data.draw(axis(n)) for n in shape)


@settings(max_examples=scaled(60), deadline=None)
@given(grid=grids(), data=st.data())
def test_every_change_equals_numpy_and_zarr_python_reads_it(grid: Any, data: st.DataObject) -> None:
    shape, axes, inner = grid
    store: dict[str, bytes] = {}
    array = made(store, shape, axes, inner)
    model = np.full(shape, -1, "int32")
    for number in range(data.draw(st.integers(1, 5))):
        match data.draw(st.sampled_from(["write", "points", "append", "resize"])):
            case "write":
                where = selections(data, model.shape)
                model[where] = array[where] = (
                    np.arange(model[where].size).reshape(model[where].shape) + number
                )
            case "points" if model.size:
                lists = tuple(
                    np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=4, max_size=4)))
                    for n in model.shape
                )
                array.vindex[lists] = number
                model[lists] = number
                assert (array.vindex[lists] == model[lists]).all()
            case "append":
                axis = data.draw(st.integers(0, model.ndim - 1))
                more = list(model.shape)
                more[axis] = data.draw(st.integers(0, 6))
                values = np.full(more, 100 + number, "int32")
                array.append(values, axis)
                model = np.concatenate([model, values], axis)
            case "resize":
                new = tuple(data.draw(st.integers(0, 12)) for _ in model.shape)
                array.resize(new)
                grown = np.full(new, -1, "int32")
                both = tuple(slice(0, min(a, b)) for a, b in zip(new, model.shape, strict=True))
                grown[both] = model[both]
                model = grown
        assert (array[...] == model).all()
    where = selections(data, model.shape)
    assert (array[where] == model[where]).all() and array.check(deep=True) == []
    theirs = zarr.open_array(zarr.storage.MemoryStore(as_buffers(store)), mode="r")
    assert theirs.shape == model.shape and (theirs[...] == model).all()
    assert (
        array.read_chunk_sizes == theirs.read_chunk_sizes
        and array.write_chunk_sizes == theirs.write_chunk_sizes
    )
    assert array.cdata_shape == tuple(map(len, theirs.read_chunk_sizes))
    for by in ("shard", "chunk"):
        back = np.full(model.shape, -2, "int32")
        for region, values in array.chunk_stream(by=by):
            back[region] = values
        assert (back == model).all()
    if all(model.shape):
        assert (array.blocks[(0,) * model.ndim] == theirs.blocks[(0,) * model.ndim]).all()


def as_buffers(store: dict[str, bytes]) -> dict[str, Any]:
    from zarr.core.buffer import default_buffer_prototype

    return {key: default_buffer_prototype().buffer.from_bytes(value) for key, value in store.items()}


@settings(max_examples=scaled(40), deadline=None)
@given(grid=grids(), data=st.data())
def test_what_zarr_python_writes_is_read_and_grown_as_it_would(grid: Any, data: st.DataObject) -> None:
    shape, axes, inner = grid
    held = zarr.storage.MemoryStore()
    cut = {"chunks": axes} if inner is None else {"chunks": tuple(inner), "shards": axes}
    theirs = zarr.create_array(held, shape=shape, dtype="int32", fill_value=-1, **cut)
    values = np.arange(np.prod(shape), dtype="int32").reshape(shape)
    theirs[...] = values
    store = {key: value.to_bytes() for key, value in held._store_dict.items()}
    array = tessarray.open_array(store, mode="r+")
    assert (array[...] == values).all()
    ours = made({}, shape, axes, inner)
    if any(isinstance(axis, list) for axis in axes):
        assert array.metadata["chunk_grid"] == ours.metadata["chunk_grid"] == plain(theirs)
    if inner is None:
        new = tuple(data.draw(st.integers(0, 15)) for _ in shape)
        theirs.resize(new)
        array.resize(new)
        assert array.metadata["chunk_grid"] == plain(theirs)
        assert array.metadata == json.loads(json.dumps(array.metadata)) and (array[...] == theirs[...]).all()


def plain(theirs: Any) -> Any:
    return json.loads(json.dumps(theirs.metadata.chunk_grid.to_dict()))


def test_the_zarrs_pipeline_reads_what_is_written() -> None:
    zarrs = pytest.importorskip("zarrs")
    assert zarrs
    values = np.arange(100, dtype="int32").reshape(10, 10)
    store: dict[str, bytes] = {}
    array = made(store, (10, 10), [[3, 5, 2], [4, 6]], None, compressors="zstd:1")
    array[...] = values
    with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
        theirs = zarr.open_array(zarr.storage.MemoryStore(as_buffers(store)), mode="r")
        assert (theirs[...] == values).all() and (theirs[2:9:3, 1:7] == values[2:9:3, 1:7]).all()


def test_one_shape_of_unequal_chunks_is_refused_and_the_lengths_are_told() -> None:
    array = made({}, (10, 8), [[3, 5, 2], 4], None)
    with pytest.raises(UnequalChunksError, match="read_chunk_sizes") as caught:
        assert array.chunks
    assert isinstance(caught.value, NotImplementedError)
    assert (array.shards, array.chunk_grid, array.nchunks) == (None, "rectilinear", 6)
    assert array.read_chunk_sizes == ((3, 5, 2), (4, 4))
    assert "([3, 5, 2], 4) (6)" in str(array.info)
    sharded = made({}, (10, 8), [[4, 6], 8], [2, 4])
    assert (sharded.chunks, sharded.write_chunk_sizes) == ((2, 4), ((4, 6), (8,)))
    with pytest.raises(UnequalChunksError, match="write_chunk_sizes"):
        assert sharded.shards
    assert "([4, 6], 8)" in str(sharded.info)
    assert [row.tolist() for row in made({}, (4,), [[3, 1]], None)] == [-1] * 4
    assert tessarray.create_array({}, shape=(10, 8), dtype="i1", chunks=(3, 4)).chunk_grid == "regular"


def test_automatic_inner_chunks_divide_every_shard() -> None:
    array = tessarray.create_array({}, shape=(100, 60), dtype="i4", shards=[[24, 36, 40], 60])
    assert all(n % array.chunks[0] == 0 for n in (24, 36, 40)) and 60 % array.chunks[1] == 0
    array[...] = 3
    assert (array[...] == 3).all()


@pytest.mark.parametrize(
    ("shape", "chunks", "more", "words"),
    [
        ((10,), [[3, 5]], {}, "sum to 10"),
        ((10,), [[3, 5, 3]], {}, "sum to 10"),
        ((10,), [[10, 0]], {}, "1 and more"),
        ((10,), [[11, -1]], {}, "0 and more"),
        ((10,), [[]], {}, "1 and more"),
        ((10, 10), [[5, 5]], {}, "2 lengths"),
        ((10,), [[3, 7]], {"zarr_format": 2}, "Zarr v2"),
        ((10,), [[3, 7]], {"shards": (10,)}, "chunks"),
        ((10,), (4,), {"shards": [[4, 6]]}, "a divisor of the shard's 6"),
    ],
)  # fmt: skip
def test_lengths_that_do_not_fit_are_refused_by_name(shape: Any, chunks: Any, more: Any, words: str) -> None:
    store: dict[str, bytes] = {}
    with pytest.raises((InvalidArgumentError, MetadataError), match=words):
        tessarray.create_array(store, shape=shape, dtype="i4", chunks=chunks, **more)
    assert store == {}


def test_appending_behind_listed_lengths_makes_a_chunk_and_behind_a_step_none() -> None:
    array = made({}, (10, 6), [[3, 7], 4], None)
    array.append(np.zeros((5, 6), "i4"))
    array.append(np.zeros((15, 5), "i4"), axis=1)
    assert array.write_chunk_sizes == ((3, 7, 5), (4, 4, 3))
    with array.appender() as stream:
        for row in range(12):
            stream.append(np.full(11, row, "i4"))
    assert (array[15:, 0] == np.arange(12)).all() and array.write_chunk_sizes[0] == (3, 7, 5, 5, 5, 2)
    assert array.check(deep=True) == []


def test_a_chunk_that_an_append_would_make_too_large_is_refused() -> None:
    array = tessarray.create_array({}, shape=(4,), dtype="u1", chunks=[[4]])
    with pytest.raises(MetadataError, match="bytes of a chunk"):
        array.resize((1 << 40,))
    assert array.shape == (4,) and array.write_chunk_sizes == ((4,),)


@pytest.mark.parametrize("inner", [None, [2, 3]])
def test_packs_keep_versions_of_unequal_chunks(tmp_path: Path, inner: Any) -> None:
    axes = [[3, 5, 2], [4, 6]] if inner is None else [[4, 6], [3, 9]]
    shape = tuple(map(sum, axes))
    model = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    pack = tessarray.create_pack(tmp_path / "p.pack")
    with pack.transaction("first") as tx:
        made(tx.store, shape, axes, inner, name="a")[...] = model
    first = model.copy()
    path = f"{tmp_path}/p.pack/a"
    array = tessarray.open_array(path, mode="r+")
    for step in range(4):
        array[2 : 7 + step, 1::2] = step
        model[2 : 7 + step, 1::2] = step
        more = np.full((3, model.shape[1]), 50 + step, "i4")
        array.append(more)
        model = np.concatenate([model, more])
        wide = np.full((model.shape[0], 2), 70 + step, "i4")
        array.append(wide, axis=1)
        model = np.concatenate([model, wide], axis=1)
        assert (array[...] == model).all()
    array.resize((5, model.shape[1]))
    array.resize(model.shape)
    model[5:] = -1
    again = tessarray.open_pack(tmp_path / "p.pack")
    assert (again["a"][...] == model).all() and again.check(deep=True) == []
    versions = again.versions()
    assert (tessarray.open_pack(tmp_path / "p.pack", version=versions[1].number)["a"][...] == first).all()


def test_explain_refuses_and_convert_gives_a_regular_grid(tmp_path: Path) -> None:
    values = np.arange(80, dtype="i4").reshape(10, 8)
    array = made(str(tmp_path / "a.zarr"), (10, 8), [[3, 5, 2], [4, 4]], None)
    array[...] = values
    with pytest.raises(UntunableError, match="rectilinear"):
        tessarray.explain(array, np.s_[:3])
    tessarray.convert(str(tmp_path / "a.zarr"), str(tmp_path / "b.zarr"))
    back = tessarray.open(str(tmp_path / "b.zarr"), mode="r")
    assert back.chunk_grid == "regular" and (back[...] == values).all()
