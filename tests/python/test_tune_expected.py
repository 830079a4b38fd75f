"""The counting model against brute force, and against what a store counts while the engine reads."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tessarray
from tessarray import stores
from tessarray.codecs import Blosc
from tessarray.tuner.costs import block_bytes
from tessarray.tuner.expected import LOCAL, expected_chunks, expected_touched, touch, touched
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import parse_queries, selection_of


@given(st.data())
def test_expected_chunks_along_an_axis_are_the_mean_over_all_places(data: st.DataObject) -> None:
    extent = data.draw(st.integers(1, 60))
    length = data.draw(st.integers(1, extent))
    part = data.draw(st.integers(1, 70))
    counts = [len({i // part for i in range(start, start + length)}) for start in range(extent - length + 1)]
    assert expected_touched(length, extent, part) == pytest.approx(sum(counts) / len(counts), abs=1e-12)
    assert [touched(start, start + length, part) for start in range(extent - length + 1)] == counts


def test_the_textbook_formula_holds_where_chunks_divide_and_places_wrap_nothing() -> None:
    # (q - 1) / c + 1, for runs whose starts cover whole periods.
    extent, length, part = 1000 + 29, 30, 8
    assert expected_touched(length, extent, part) == pytest.approx((length - 1) / part + 1, rel=1e-3)


@settings(max_examples=40)
@given(st.data())
def test_counts_of_a_box_are_what_the_store_is_asked_for(data: st.DataObject) -> None:
    ndim = data.draw(st.integers(1, 3))
    shape = tuple(data.draw(st.integers(1, 24)) for _ in range(ndim))
    chunks = tuple(data.draw(st.integers(1, n)) for n in shape)
    sharded = data.draw(st.booleans())
    shards = tuple(c * data.draw(st.integers(1, 3)) for c in chunks) if sharded else None
    box = tuple(sorted((data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, n)))) for n in shape)
    box = tuple((a, max(b, a + 1)) for a, b in box)
    layout = Layout(chunks, shards, "none", checksum=False)
    values = np.random.default_rng(0).integers(1, 1 << 30, shape, dtype="i8")
    store = tessarray.MemoryStore()
    layout.create(store, shape, "i8")[...] = values
    counted = stores.RecordStore(store)
    array = tessarray.open_array(counted, mode="r", session=tessarray.Session(threads=1))
    counted.reset()
    assert (array[selection_of(box)] == values[selection_of(box)]).all()
    read = counted.counts()["read"]
    found = touch(box, layout, 8, 1.0, LOCAL)
    assert found.chunks == math.prod(
        len({i // c for i in range(a, b)}) for (a, b), c in zip(box, chunks, strict=True)
    )
    unit = layout.unit
    assert found.objects == math.prod(
        len({i // u for i in range(a, b)}) for (a, b), u in zip(box, unit, strict=True)
    )
    assert found.used == values[selection_of(box)].nbytes
    assert found.requests == read["ranges"]
    if shards is None:
        assert found.fetched == read["bytes_read"]


def test_expected_chunks_multiply_over_axes() -> None:
    (one,) = parse_queries(["[:5, y, :]"], (12, 9, 7))
    boxes = list(itertools.product(range(8), range(9)))
    chunks = (4, 2, 3)
    counts = [touched(t, t + 5, 4) * touched(y, y + 1, 2) * touched(0, 7, 3) for t, y in boxes]
    assert expected_chunks(one.extents, one.shape, chunks) == pytest.approx(np.mean(counts))


@pytest.mark.parametrize("seed", range(12))
def test_requests_in_shards_count_runs_and_the_limit_of_a_request(seed: int) -> None:
    """Chunks of 8 KiB and more: rows of a shard are apart by more than the executor reads for nothing."""
    rng = np.random.default_rng(seed)
    chunks = (*(int(n) for n in rng.choice([8, 16, 32], 2)), 16)
    shards = tuple(c * int(n) for c, n in zip(chunks, rng.integers(1, 5, 3), strict=True))
    shape = tuple(s * 2 for s in shards)
    box = tuple((a, b) for a, b in (sorted(rng.integers(0, n + 1, 2).tolist()) for n in shape))
    box = tuple((min(a, n - 1), max(b, min(a, n - 1) + 1)) for (a, b), n in zip(box, shape, strict=True))
    layout = Layout(chunks, shards, "none", checksum=False)
    values = rng.integers(1, 1 << 30, shape, dtype="i8")
    store = tessarray.MemoryStore()
    layout.create(store, shape, "i8")[...] = values
    counted = stores.RecordStore(store)
    array = tessarray.open_array(counted, mode="r", session=tessarray.Session(threads=1))
    counted.reset()
    assert (array[selection_of(box)] == values[selection_of(box)]).all()
    read = counted.counts()["read"]
    found = touch(box, layout, 8, 1.0, LOCAL)
    assert (found.requests, found.fetched) == (read["ranges"], read["bytes_read"])


@pytest.mark.parametrize("name", ["lz4", "blosclz", "snappy", "lz4hc", "zstd", "zlib"])
@pytest.mark.parametrize("dtype", ["u1", "u2", "f4", "f8", "c16"])
def test_blocks_are_as_large_as_the_model_says(tmp_path: Path, name: str, dtype: str) -> None:
    for level, n in itertools.product((1, 3, 5, 7, 9), (100, 12_500, 20_000, 65_537, 600_000)):
        chunk = tmp_path / f"{level}-{n}" / "c" / "0"
        codec = Blosc(cname=name, clevel=level)
        values = (np.arange(n) % 200).astype(dtype)
        tessarray.create_array(chunk.parent.parent, data=values, chunks=(n,), compressors=[codec])
        found = int.from_bytes(chunk.read_bytes()[8:12], "little")
        assert block_bytes(f"blosc:{name}:{level}:shuffle", values.itemsize, values.nbytes) == found, (
            level,
            n,
        )
