"""Documents of other writers with settings that decoding does not need, or that are old spellings: all are read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numcodecs
import numpy as np
import pytest
import zarr

import tessarray

VALUES = np.arange(40, dtype="f4") * 1.5
Edit = Callable[[dict[str, Any]], Any]


def compressor(**settings: Any) -> Edit:
    return lambda document: document["compressor"].update(settings)


def first_filter(**settings: Any) -> Edit:
    return lambda document: document["filters"][0].update(settings)


def last_codec(**settings: Any) -> Edit:
    return lambda document: document["codecs"][-1].setdefault("configuration", {}).update(settings)


def top(**members: Any) -> Edit:
    return lambda document: document.update(members)


def check(path: Path, document: str, edit: Edit, values: np.ndarray, peer: bool) -> None:
    text = json.loads((path / document).read_text())
    edit(text)
    (path / document).write_text(json.dumps(text))
    np.testing.assert_array_equal(tessarray.open_array(path, mode="r")[:], values)
    if peer:
        np.testing.assert_array_equal(zarr.open_array(path, mode="r")[:], values)


V2 = [
    # GDAL's COMPRESS=ZSTD; what the libraries clamp; levels as text.
    ("zstd-gdal", numcodecs.Zstd(), compressor(level="13", checksum="NO"), False),
    ("zstd-checksum", numcodecs.Zstd(), compressor(checksum="NO"), True),
    ("zstd-level", numcodecs.Zstd(), compressor(level=100), True),
    ("lz4-acceleration", numcodecs.LZ4(), compressor(acceleration=1_000_000), True),
    ("gzip-level", numcodecs.GZip(), compressor(level=10), True),
    ("zlib-level", numcodecs.Zlib(), compressor(level=-5), True),
    ("bz2-level", numcodecs.BZ2(), compressor(level=0), True),
    ("blosc-clevel", numcodecs.Blosc(), compressor(clevel=20), True),
    ("blosc-cname", numcodecs.Blosc(), compressor(cname="unheard"), True),
    ("blosc-shuffle", numcodecs.Blosc(), compressor(shuffle=5), True),
    ("blosc-blocksize", numcodecs.Blosc(), compressor(blocksize=-1), True),
]


@pytest.mark.parametrize(("name", "codec", "edit", "peer"), V2, ids=[row[0] for row in V2])
def test_v2_settings_of_the_encoder_refuse_no_read(
    tmp_path: Path, name: str, codec: Any, edit: Edit, peer: bool
) -> None:
    zarr.create_array(tmp_path / "a", data=VALUES, zarr_format=2, chunks=(16,), compressors=codec)
    check(tmp_path / "a", ".zarray", edit, VALUES, peer)
    # What is written back stays readable, and so does the document.
    array = tessarray.open_array(tmp_path / "a", mode="r+")
    array[:] = VALUES[::-1]
    np.testing.assert_array_equal(tessarray.open_array(tmp_path / "a", mode="r")[:], VALUES[::-1])


def test_a_shuffle_of_size_0_has_the_size_of_the_elements(tmp_path: Path) -> None:
    # netCDF-C writes it so; zarr-python gives garbage.
    filters = [numcodecs.Shuffle(4)]
    zarr.create_array(tmp_path / "a", data=VALUES, zarr_format=2, chunks=(16,), filters=filters)
    check(tmp_path / "a", ".zarray", first_filter(elementsize=0), VALUES, peer=False)


@pytest.mark.parametrize("word", ["nan", "-inf", "Infinity", "+INF"])
def test_v2_fill_values_of_floats_are_words_in_any_spelling(tmp_path: Path, word: str) -> None:
    zarr.create_array(tmp_path / "a", shape=(4,), dtype="f4", zarr_format=2)
    check(tmp_path / "a", ".zarray", top(fill_value=word), np.full(4, float(word), "f4"), peer=False)


V3: list[tuple[str, Any, Edit]] = [
    ("zstd-checksum", zarr.codecs.ZstdCodec(), last_codec(checksum="NO")),
    ("zstd-level", zarr.codecs.ZstdCodec(), last_codec(level=100)),
    ("gzip-level", zarr.codecs.GzipCodec(), last_codec(level=10)),
    ("blosc-cname", zarr.codecs.BloscCodec(), last_codec(cname="unheard", clevel=10, typesize=0)),
    ("attributes", None, top(attributes=None)),
    ("transformers", None, top(storage_transformers=None)),
    (
        "transpose",
        None,
        lambda doc: doc["codecs"].insert(0, {"name": "transpose", "configuration": {"order": "F"}}),
    ),
]


@pytest.mark.parametrize(("name", "codec", "edit"), V3, ids=[row[0] for row in V3])
def test_v3_settings_that_decoding_does_not_need_refuse_no_read(
    tmp_path: Path, name: str, codec: Any, edit: Edit
) -> None:
    zarr.create_array(tmp_path / "a", data=VALUES, chunks=(16,), compressors=codec)
    check(tmp_path / "a", "zarr.json", edit, VALUES, peer=name in {"attributes", "transformers"})


@pytest.mark.parametrize("fill", [0, 1])
def test_a_v3_bool_is_filled_with_0_and_1_too(tmp_path: Path, fill: int) -> None:
    zarr.create_array(tmp_path / "a", shape=(4,), dtype="bool")
    check(tmp_path / "a", "zarr.json", top(fill_value=fill), np.full(4, bool(fill)), peer=True)


@pytest.mark.parametrize(
    "codec",
    [
        {"name": "zstd", "configuration": {"level": 100}},
        {"name": "zstd", "configuration": {"checksum": "NO"}},
        {"name": "blosc", "configuration": {"cname": "unheard"}},
        {"name": "gzip", "configuration": {"level": 12}},
        {"name": "numcodecs.shuffle", "configuration": {"elementsize": 0}},
        {"name": "numcodecs.lz4", "configuration": {"acceleration": 1_000_000}},
    ],
    ids=lambda codec: codec["name"],
)
def test_new_arrays_have_exactly_what_was_asked_for(codec: dict[str, Any]) -> None:
    setting = next(iter(codec["configuration"]))
    with pytest.raises(ValueError, match=setting):
        tessarray.create_array({}, shape=4, dtype="f4", compressors=codec)
