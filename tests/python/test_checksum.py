"""Chunks are guarded against flipped bits by default, in a way that readers of the codec alone can read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr

import tessarray
from tessarray.errors import InvalidArgumentError

SHAPE, CHUNK = (24, 20), (12, 10)
NOISE = np.random.default_rng(5).integers(0, 2**31, SHAPE)
SMOOTH = np.add.outer(np.arange(SHAPE[0]), np.arange(SHAPE[1]) // 7)
MARK = b"CRC\xff"
KINDS: dict[str, dict[str, Any]] = {
    "v3": {},
    "v2": {"zarr_format": 2},
    "shards": {"shards": SHAPE},
    "zstd inside": {"compressors": "blosc:zstd:3:shuffle"},
    "no shuffle": {"compressors": "blosc:lz4:5:noshuffle"},
}


def names(array: Any) -> list[str]:
    return [codec["name"] for codec in array.compressors]


def array_in(store: dict[str, bytes], values: Any, **more: Any) -> Any:
    return tessarray.create_array(store, data=values, chunks=CHUNK, **more)


def test_the_default_needs_no_codec_beside_the_compressor_but_in_shards() -> None:
    assert names(array_in({}, SMOOTH)) == ["blosc"]
    assert names(array_in({}, SMOOTH, zarr_format=2)) == ["blosc"]
    assert names(array_in({}, SMOOTH, shards=SHAPE)) == ["blosc", "crc32c"]
    texts = tessarray.create_array({}, data=np.array(["a", "bc"], dtype=np.dtypes.StringDType()))
    assert names(texts) == ["zstd"]
    assert texts.compressors[0]["configuration"]["checksum"] is True


def test_checksum_says_it_aloud() -> None:
    assert names(array_in({}, SMOOTH, checksum="crc32c")) == ["blosc", "crc32c"]
    assert names(array_in({}, SMOOTH, checksum="crc32c", compressors=["zstd:3", "crc32c"])) == [
        "zstd",
        "crc32c",
    ]
    assert names(array_in({}, SMOOTH, checksum="crc32c", compressors=None)) == ["crc32c"]
    assert names(array_in({}, SMOOTH, checksum=None, shards=SHAPE)) == ["blosc"]
    assert names(array_in({}, SMOOTH, compressors=["zstd:3"], shards=SHAPE)) == ["zstd"], "as it is given"
    texts = np.array(["a", "bc"], dtype=np.dtypes.StringDType())
    plain = tessarray.create_array({}, data=texts, checksum=None)
    assert plain.compressors[0]["configuration"]["checksum"] is False
    group = tessarray.create_group({})
    assert names(group.create_array("a", shape=3, dtype="i4", checksum="crc32c")) == ["blosc", "crc32c"]
    for wrong in ("md5", "", True, 1):
        with pytest.raises(InvalidArgumentError, match="'auto', 'crc32c' or None"):
            tessarray.create_array({}, shape=3, dtype="i4", checksum=wrong)  # type: ignore[arg-type]
    with pytest.raises(tessarray.TessarrayError, match="Zarr v2 array has one compressor"):
        tessarray.create_array({}, shape=3, dtype="i4", checksum="crc32c", zarr_format=2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("values", [SMOOTH, NOISE], ids=["smooth", "noise"])
def test_no_flipped_bit_of_a_chunk_gives_wrong_values(kind: str, values: Any) -> None:
    store: dict[str, bytes] = {}
    array_in(store, values.astype("i2" if kind == "v2" else "f4"), **KINDS[kind])
    expected = tessarray.open_array(store)[...]
    key = next(key for key in store if not key.endswith((".zarray", ".zattrs", "zarr.json")))
    whole = bytes(store[key])
    step = 3 if kind == "shards" else 1
    for bit in range(0, 8 * len(whole), step):
        bad = bytearray(whole)
        bad[bit // 8] ^= 1 << bit % 8
        store[key] = bytes(bad)
        for selection in (np.s_[...], np.s_[3, 4], np.s_[:12, :10]):
            try:
                found = tessarray.open_array(store)[selection]
            except tessarray.TessarrayError:
                continue
            # The inner chunk that is asked for need not be the one that is damaged.
            assert np.array_equal(found, expected[selection]), f"bit {bit} of {len(whole)} bytes"
            assert kind == "shards", f"bit {bit} is not seen"


def test_a_check_that_decodes_nothing_finds_a_flipped_bit(tmp_path: Path) -> None:
    for number, (version, values) in enumerate([(2, SMOOTH), (3, SMOOTH), (2, NOISE), (3, NOISE)]):
        path = tmp_path / str(number)
        tessarray.create_array(path, data=values.astype("f4"), chunks=CHUNK, zarr_format=version)  # type: ignore[arg-type]
        assert tessarray.check(path) == []
        chunk = next(file for file in path.rglob("*") if file.name in ("0", "0.0") and file.is_file())
        content = bytearray(chunk.read_bytes())
        content[-1] ^= 4
        chunk.write_bytes(content)
        assert [finding.kind for finding in tessarray.check(path)] == ["checksum"]


def test_arrays_that_others_made_are_guarded_where_we_write(tmp_path: Path) -> None:
    """No metadata say that there is a checksum, so none are needed."""
    made = zarr.create_array(
        tmp_path / "a", shape=SHAPE, chunks=CHUNK, dtype="f4", compressors=[zarr.codecs.BloscCodec()]
    )
    made[...] = SMOOTH
    chunk = tmp_path / "a" / "c" / "0" / "0"
    assert MARK not in chunk.read_bytes()
    ours = tessarray.open_array(tmp_path / "a", mode="r+")
    assert np.array_equal(ours[...], SMOOTH), "frames without a checksum are read as they are"
    ours[...] = SMOOTH + 1
    assert MARK in chunk.read_bytes()
    assert np.array_equal(made[...], SMOOTH + 1)


def test_frames_with_a_checksum_are_blosc_to_others() -> None:
    numcodecs.blosc.use_threads = False
    for dtype in ("u1", "i2", "f4", "c16"):
        for values in (SMOOTH, NOISE):
            store: dict[str, bytes] = {}
            array_in(store, values.astype(dtype))
            frame = store["c/0/0"]
            assert MARK in frame
            assert numcodecs.Blosc().decode(frame) == values[:12, :10].astype(dtype).tobytes()


def test_copies_follow(tmp_path: Path) -> None:
    source = tmp_path / "a.npy"
    np.save(source, SMOOTH.astype("f4"))
    for checksum, expected in (("auto", ["blosc"]), ("crc32c", ["blosc", "crc32c"]), (None, ["blosc"])):
        done = tmp_path / f"{checksum}.zarr"
        tessarray.convert(source, done, shards=None, checksum=checksum)  # type: ignore[arg-type]
        assert names(tessarray.open_array(done, mode="r")) == expected
    with tessarray.create_pack(tmp_path / "p.pack").transaction() as transaction:
        transaction.create_array("a", data=SMOOTH, chunks=CHUNK)
    tessarray.open_pack(tmp_path / "p.pack").export(tmp_path / "exported")
    assert names(tessarray.open_array(tmp_path / "exported", path="a", mode="r")) == ["blosc"]
    collection = tessarray.create_collection(tmp_path / "c.pack")
    with collection.transaction() as added:
        added.add("float-1", {"TEMP": SMOOTH[:, 0].astype("f4")})
    collection.pack.export(tmp_path / "floats")
    assert names(tessarray.open_array(tmp_path / "floats", path="float-1/TEMP", mode="r")) == ["blosc"]
