"""Parts of chunks, and of inner chunks, that were read before: only the blocks that are needed, by several threads."""

from __future__ import annotations

import threading
from pathlib import Path

import numpy as np
import pytest

import tessarray
from tessarray.codecs import Blosc, Crc32c, Transpose, Zstd

SHAPE, CHUNKS = (150, 130, 96), (128, 100, 96)
CODECS = {
    "blosc": [Blosc(), Crc32c()],
    "blosc, zstd": [Blosc(cname="zstd", clevel=1), Crc32c()],
    "bit shuffle": [Blosc(shuffle="bitshuffle"), Crc32c()],
    "small blocks": [Blosc(blocksize=1000)],
    "not shuffled": [Blosc(shuffle="noshuffle", typesize=1), Crc32c()],
    "zstd": [Zstd(), Crc32c()],
    "raw": None,
}


def values(dtype: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    ramp = np.arange(np.prod(SHAPE)).reshape(SHAPE) // 7 % 1000
    return (ramp + rng.integers(0, 16, SHAPE)).astype(dtype)


def a_range(rng: np.random.Generator, n: int) -> slice:
    step = int(rng.choice([1, 1, 1, 2, 5, -1, -3]))
    first, last = sorted(rng.integers(0, n, 2).tolist())
    return slice(first, last + 1, step) if step > 0 else slice(last, first - 1 if first else None, step)


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("order", [None, (2, 0, 1)])
@pytest.mark.parametrize("dtype", ["u2", "f8", "u1"])
@pytest.mark.parametrize("shards", [None, (150, 140, 96)])
def test_any_part_of_chunks_that_were_read(
    tmp_path: Path,
    codec: str,
    order: tuple[int, ...] | None,
    dtype: str,
    shards: tuple[int, ...] | None,
) -> None:
    plain = values(dtype)
    array = tessarray.create_array(
        tmp_path / "a",
        data=plain,
        chunks=CHUNKS if shards is None else (50, 35, 96),
        shards=shards,
        filters=None if order is None else [Transpose(order)],
        compressors=CODECS[codec],
    )
    assert np.array_equal(array[...], plain)
    rng = np.random.default_rng(5)
    for _ in range(40):
        part = tuple(a_range(rng, n) for n in SHAPE)
        assert np.array_equal(array[part], plain[part]), part
        small = tuple(slice(at, at + 20) for at in rng.integers(0, [n - 19 for n in SHAPE]).tolist())
        assert np.array_equal(array[small], plain[small]), small
        rows = np.sort(rng.integers(0, SHAPE[1], 5))
        assert np.array_equal(
            array.oindex[small[0], rows, small[2]], plain[small[0]][:, rows][:, :, small[2]]
        )
        out = np.zeros((3, 20, 20, 40), dtype)[1, ::-1, :, ::2]
        array.read(small, out=out)
        assert np.array_equal(out, plain[small])


@pytest.mark.parametrize("codec", ["blosc", "raw"])
@pytest.mark.parametrize("chunks", [None, (32, 64, 64)])
def test_a_part_of_an_object_that_is_written_meanwhile_is_of_one_state_of_it(
    tmp_path: Path, codec: str, chunks: tuple[int, ...] | None
) -> None:
    shape = (64, 128, 128)
    array = tessarray.create_array(
        tmp_path / "a",
        shape=shape,
        dtype="u2",
        chunks=chunks or shape,
        shards=chunks and shape,
        compressors=CODECS[codec],
        fill_value=0,
    )
    rng = np.random.default_rng(1)
    noise = rng.integers(0, 256, shape).astype("u2")  # so that chunks are large enough to be read in part
    array[...] = noise
    assert np.array_equal(array[...], noise)
    done = threading.Event()

    def write() -> None:
        number = 0
        while not done.is_set():
            number = (number + 1) % 255
            array[...] = noise + number * 256
            array[...]  # so that the chunks are known again

    writer = threading.Thread(target=write)
    writer.start()
    try:
        states = set()
        for _ in range(1500):
            part = array[1:60, 30:60, 20:90] // 256
            assert part.min() == part.max()
            states.add(int(part[0, 0, 0]))
    finally:
        done.set()
        writer.join()
    assert len(states) > 1


@pytest.mark.parametrize("shards", [None, (128, 128, 128)])
def test_what_another_handle_writes_is_seen(tmp_path: Path, shards: tuple[int, ...] | None) -> None:
    rng = np.random.default_rng(2)
    plain = rng.integers(0, 1000, (128, 128, 128)).astype("u2")
    chunks = (128, 128, 128) if shards is None else (32, 64, 64)
    array = tessarray.create_array(tmp_path / "a", data=plain, chunks=chunks, shards=shards)
    other = tessarray.open_array(tmp_path / "a", mode="r+")
    for _ in range(5):
        assert np.array_equal(array[...], plain)
        assert np.array_equal(array[3:9, 60:80, 5:100], plain[3:9, 60:80, 5:100])
        other[4, 70] = plain[4, 70] = rng.integers(0, 1000, 128)
        assert np.array_equal(array[3:9, 60:80, 5:100], plain[3:9, 60:80, 5:100])


def test_damage_is_found_by_the_next_handle(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    plain = rng.integers(0, 1000, (64, 64, 64)).astype("u2")
    array = tessarray.create_array(tmp_path / "a", data=plain, chunks=(32, 64, 64), shards=(64, 64, 64))
    assert np.array_equal(array[...], plain)
    (shard,) = (path for path in (tmp_path / "a").rglob("*") if path.is_file() and path.name != "zarr.json")
    found = bytearray(shard.read_bytes())
    found[len(found) // 3] ^= 4
    shard.write_bytes(found)
    for reader in (array, tessarray.open_array(tmp_path / "a")):  # a write gives the file another version
        with pytest.raises(tessarray.TessarrayError, match="crc32c"):
            reader[:, 3, 4]
