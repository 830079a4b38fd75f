"""Chunks that are encoded and decoded a block at a time, or stored from where they lie in the caller's array."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import zarr

import tessarray
from tessarray.codecs import Blosc, Crc32c, Zstd

SHAPE, CHUNKS = (150, 130, 96), (64, 50, 96)  # 600 KiB of two bytes each: above what counts as large
CODECS = {
    "blosc": [Blosc(), Crc32c()],
    "stored": [Blosc(shuffle="noshuffle", typesize=1)],
    "stored and sealed": [Blosc(shuffle="noshuffle", typesize=1), Crc32c()],
    "odd blocks": [Blosc(shuffle="noshuffle", typesize=1, blocksize=4097), Crc32c()],
    "zstd": [Zstd(), Crc32c()],
    "raw": None,
    "raw and sealed": [Crc32c()],
}


def values(kind: str, dtype: str) -> np.ndarray:
    rng = np.random.default_rng(3)
    if kind == "random":
        return rng.integers(0, 1 << 16, SHAPE, dtype="u2").astype(dtype)
    found = (np.arange(np.prod(SHAPE)).reshape(SHAPE) // 7 % 1000).astype(dtype)
    if kind == "begins with fill":
        found[:70, :60] = 0  # the first chunk holds nothing else, the second begins so
    return found


@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("kind", ["random", "ramp", "begins with fill"])
@pytest.mark.parametrize("how", ["C", "F", "rows apart", "reversed", "middle axis last"])
def test_every_order_of_the_input_and_the_output(tmp_path: Path, codec: str, kind: str, how: str) -> None:
    plain = values(kind, "u2")
    given = laid(plain, how)
    assert (given == plain).all()
    path = tmp_path / "a"
    array = tessarray.create_array(
        path, shape=SHAPE, dtype="u2", chunks=CHUNKS, compressors=CODECS[codec], fill_value=0
    )
    array[...] = given
    assert np.array_equal(zarr.open_array(path, mode="r")[...], plain)
    assert np.array_equal(tessarray.open(path)[...], plain)
    out = laid(np.zeros_like(plain), how)
    array.read(..., out=out)
    assert np.array_equal(out, plain)
    # A part of it that is whole chunks along some axes, and one that is not.
    for part in (np.s_[64:128, :, :], np.s_[3:140:2, 10:60, 5:90]):
        assert np.array_equal(array[part], plain[part])
        array[part] = given[part][::-1]
        plain[part] = plain[part][::-1].copy()
        assert np.array_equal(array[...], plain)
        given = laid(plain, how)


def laid(plain: np.ndarray, how: str) -> np.ndarray:
    """The same values, in memory of another order."""
    if how == "F":
        return np.asfortranarray(plain)
    if how == "rows apart":
        wide = np.zeros((SHAPE[0], SHAPE[1] + 3, SHAPE[2] + 5), plain.dtype)
        wide[:, 1:-2, 2:-3] = plain
        return wide[:, 1:-2, 2:-3]
    if how == "reversed":
        return plain[::-1, :, ::-1].copy()[::-1, :, ::-1]
    if how == "middle axis last":
        return plain.transpose(0, 2, 1).copy().transpose(0, 2, 1)
    return plain.copy()


@pytest.mark.parametrize("order", [(2, 0, 1), (1, 2, 0)])
@pytest.mark.parametrize("dtype", ["u2", "f8", ">i4"])
def test_chunks_of_another_axis_order(tmp_path: Path, order: tuple[int, ...], dtype: str) -> None:
    plain = values("ramp", dtype)
    array = tessarray.create_array(
        tmp_path / "a", shape=SHAPE, dtype=plain.dtype, chunks=CHUNKS, filters=[tessarray.codecs.Transpose(order)],
        compressors=[Blosc(), Crc32c()],
    )  # fmt: skip
    array[...] = plain
    assert np.array_equal(zarr.open_array(tmp_path / "a", mode="r")[...], plain)
    assert np.array_equal(array[...], plain)
    assert np.array_equal(array[10:100, 7, 3:], plain[10:100, 7, 3:])


def test_a_chunk_that_is_stored_as_it_is_is_sealed_too(tmp_path: Path) -> None:
    plain = values("random", "u2")
    array = tessarray.create_array(
        tmp_path / "a",
        data=plain,
        chunks=SHAPE,
        compressors=[Blosc(shuffle="noshuffle", typesize=1), Crc32c()],
    )
    chunk = tmp_path / "a" / "c" / "0" / "0" / "0"
    assert chunk.stat().st_size == 16 + plain.nbytes + 4
    assert np.array_equal(array[...], plain)
    raw = bytearray(chunk.read_bytes())
    raw[plain.nbytes // 2] ^= 4
    chunk.write_bytes(raw)
    with pytest.raises(tessarray.TessarrayError, match="crc32c"):
        array[...]
    with pytest.raises(tessarray.TessarrayError, match="crc32c"):
        tessarray.open(tmp_path / "a")[3, 4, 5]
