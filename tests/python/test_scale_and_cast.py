"""`scale_offset` and `cast_value`: what zarr-python writes we read and the other way round, value by value."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr
from support import scaled
from zarr.codecs import CastValue, ScaleOffset

import tessarray
from tessarray import codecs

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]
ROUNDINGS = ["nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"]


def both_ways(path: Path, values: np.ndarray, filters: list[Any], ours: list[Any]) -> None:
    """Each reads what the other wrote, and the stored bytes are the same."""
    zarr.create_array(path / "z", data=values, chunks=(17,), filters=filters, compressors=None)
    theirs = zarr.open_array(path / "z", mode="r")[:]
    np.testing.assert_array_equal(tessarray.open_array(path / "z", mode="r")[:], theirs)
    array = tessarray.create_array(
        path / "t", shape=values.shape, dtype=values.dtype, chunks=(17,), filters=ours, compressors=None
    )
    array[:] = values
    np.testing.assert_array_equal(array[:], theirs)
    np.testing.assert_array_equal(zarr.open_array(path / "t", mode="r")[:], theirs)
    for chunk in (path / "z").rglob("c/*"):
        assert (path / "t" / "c" / chunk.name).read_bytes() == chunk.read_bytes()


@pytest.mark.parametrize("dtype", INTEGERS + FLOATS)
def test_scale_offset_is_zarr_pythons(tmp_path: Path, dtype: str) -> None:
    rng = np.random.default_rng(len(dtype))
    values = rng.integers(10, 40, 50).astype(dtype)
    offset, scale = (10, 3) if dtype in INTEGERS else (1.25, 0.1)
    if dtype in FLOATS:
        values = (values * np.array(0.37, dtype)).astype(dtype)
    fill = {"offset": offset, "scale": scale}
    values[0] = 10
    zarr_filters = [ScaleOffset(**fill)]
    # Zero is a value that unsigned integers cannot be moved from.
    for kind in ("z", "t"):
        (tmp_path / kind).mkdir()
    zarr.create_array(tmp_path / "z" / "a", data=values, chunks=(17,), filters=zarr_filters, fill_value=10)
    theirs = zarr.open_array(tmp_path / "z" / "a", mode="r")[:]
    np.testing.assert_array_equal(tessarray.open_array(tmp_path / "z" / "a", mode="r")[:], theirs)
    array = tessarray.create_array(
        tmp_path / "t" / "a",
        shape=50,
        dtype=dtype,
        chunks=(17,),
        filters=codecs.ScaleOffset(**fill),
        fill_value=10,
    )
    array[:] = values
    np.testing.assert_array_equal(array[:], theirs)
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "t" / "a", mode="r")[:], theirs)


def test_an_integer_that_scale_offset_cannot_hold_is_an_error_and_nothing_is_stored(tmp_path: Path) -> None:
    array = tessarray.create_array(
        tmp_path / "a", shape=4, dtype="uint8", filters=codecs.ScaleOffset(0, 10), compressors=None
    )
    with pytest.raises(tessarray.errors.TessarrayError, match="scale_offset"):
        array[:] = np.array([1, 2, 26, 3], "uint8")
    np.testing.assert_array_equal(array[:], 0)


def test_a_packed_product_is_read(tmp_path: Path) -> None:
    """The form of the satellite products: reflectances as scaled integers, NaN as one of them."""
    pytest.importorskip("cast_value_rs")
    values = np.linspace(-0.1, 1.2, 60).astype("f4")
    values[7] = np.nan
    scalar_map = {"encode": [["NaN", 0]], "decode": [[0, "NaN"]]}
    settings: dict[str, Any] = {"data_type": "uint16", "scalar_map": scalar_map, "out_of_range": "clamp"}
    scale = {"offset": -0.2, "scale": 10_000}
    both_ways(
        tmp_path,
        values,
        [ScaleOffset(**scale), CastValue(**settings)],
        [codecs.ScaleOffset(**scale), codecs.CastValue(**settings)],
    )


def special(dtype: np.dtype[Any]) -> list[float]:
    if dtype.kind == "f":
        return [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, 127.5, 128, -128.5, 255.5, 65504, 65520, 1e-8]
    info = np.iinfo(dtype)
    return [info.min, info.max, 0, 1, info.max // 2, info.max // 3]


@pytest.mark.parametrize("source", INTEGERS + FLOATS)
def test_every_cast_gives_what_its_reference_gives(source: str) -> None:
    reference = pytest.importorskip("cast_value_rs")
    rng = np.random.default_rng(7)
    dtype = np.dtype(source)
    for target, rounding, rule in itertools.product(INTEGERS + FLOATS, ROUNDINGS, [None, "clamp", "wrap"]):
        if rule == "wrap" and target in FLOATS:
            continue
        if dtype.kind == "f":
            values = (rng.normal(size=scaled(60)) * 10.0 ** rng.integers(-3, 5, scaled(60))).astype(dtype)
            values = values[np.isfinite(values)]
        else:
            values = rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, scaled(60), dtype, endpoint=True)
        values = np.concatenate([values, np.array(special(dtype), dtype)])
        store: dict[str, bytes] = {}
        settings = {"data_type": target, "rounding": rounding, "out_of_range": rule}
        array = tessarray.create_array(
            store, shape=1, dtype=dtype, filters=codecs.CastValue(**settings), compressors=None
        )
        for value in values:
            one = np.array([value], dtype)
            try:
                expected = reference.cast_array(
                    one,
                    target_dtype=np.dtype(target),
                    rounding_mode=rounding,
                    out_of_range_mode=rule,
                    scalar_map_entries=None,
                )
            except ValueError:
                expected = None
            where = f"{source} {value!r} -> {target}, {rounding}, {rule}"
            try:
                array[:] = one
            except tessarray.errors.TessarrayError:
                assert expected is None, where
                continue
            assert expected is not None, where
            stored = np.frombuffer(store["c/0"], target) if "c/0" in store else np.zeros(1, target)
            assert stored[0] == expected[0], where
