"""The automatic layouts of other libraries, against the libraries themselves."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from support import scaled

import tessarray
from tessarray.tuner.baselines import (
    H5PY,
    NETCDF,
    ZARR,
    defaults,
    h5py_chunks,
    netcdf_chunks,
    zarr_chunks,
)
from tessarray.tuner.errors import UntunableError

TYPES = ("int8", "int16", "float32", "float64", "complex128")
NAMED = [
    (1,), (7,), (1000,), (100_000_000,), (1000, 1000), (10_000, 10_000), (365, 721, 1440), (1000, 1000, 1000),
    (50_000_000, 3), (3, 50_000_000), (64, 4, 256, 256), (2, 3, 5, 7, 11), (1, 1, 1), (99_991, 7), (17, 40_009, 13),
]  # fmt: skip


def cases(count):
    rng = np.random.default_rng(7)
    found = [(shape, dtype) for shape in NAMED for dtype in TYPES]
    for _ in range(scaled(count)):
        dimensions = int(rng.integers(1, 6))
        shape = tuple(int(2 ** rng.uniform(0, 3 + 28 / dimensions)) for _ in range(dimensions))
        found.append((shape, TYPES[rng.integers(len(TYPES))]))
    return found


def test_zarr_python_cuts_as_we_say_it_does():
    zarr = pytest.importorskip("zarr")
    for shape, dtype in cases(150):
        array = zarr.create_array({}, shape=shape, dtype=dtype, chunks="auto")
        assert zarr_chunks(shape, np.dtype(dtype).itemsize) == array.chunks, (shape, dtype)


def test_zarr_python_codes_as_we_say_it_does(tmp_path):
    zarr = pytest.importorskip("zarr")
    theirs = zarr.create_array({}, shape=(1000, 1000), dtype="float32").metadata.to_dict()
    ours = defaults((1000, 1000), "float32")[ZARR].metadata((1000, 1000), "float32")
    assert json.loads(json.dumps(theirs["codecs"])) == ours["codecs"]
    assert theirs["chunk_grid"]["configuration"]["chunk_shape"] == tuple(
        ours["chunk_grid"]["configuration"]["chunk_shape"]
    )


def test_h5py_cuts_as_we_say_it_does():
    h5py = pytest.importorskip("h5py")
    with h5py.File("made.h5", "w", driver="core", backing_store=False) as file:
        for number, (shape, dtype) in enumerate(cases(400)):
            made = file.create_dataset(str(number), shape, dtype, chunks=True, compression="gzip")
            assert h5py_chunks(shape, np.dtype(dtype).itemsize) == made.chunks, (shape, dtype)
            assert (made.compression_opts, made.shuffle) == (4, False)


def test_netcdf_c_cuts_as_we_say_it_does():
    netcdf = pytest.importorskip("netCDF4")
    for shape, dtype in cases(400):
        if dtype == "complex128":
            continue
        file = netcdf.Dataset("made.nc", "w", diskless=True, persist=False)
        for axis, extent in enumerate(shape):
            file.createDimension(f"d{axis}", extent)
        made = file.createVariable("v", dtype, [f"d{axis}" for axis in range(len(shape))], zlib=True)
        expected, how = tuple(made.chunking()), made.filters()
        file.close()
        assert netcdf_chunks(shape, np.dtype(dtype).itemsize) == expected, (shape, dtype)
        assert (how["complevel"], how["shuffle"]) == (4, True)


@pytest.mark.parametrize("shape", [(1000,), (365, 721, 1440), (30, 4, 100, 100)])
def test_every_layout_can_be_written_and_read(shape):
    found = defaults(shape, "int16")
    assert list(found) == [ZARR, H5PY, NETCDF]
    for label, layout in found.items():
        assert not layout.checksum
        metadata = layout.metadata(shape, "int16")
        assert metadata["shape"] == list(shape), label
    small = tuple(min(n, 20) for n in shape)
    values = np.arange(np.prod(small), dtype="int16").reshape(small)
    for label, layout in defaults(small, "int16").items():
        array = layout.create(tessarray.MemoryStore(), small, "int16")
        array[...] = values
        assert (array[...] == values).all(), label


def test_one_codec_for_all_leaves_the_shapes():
    own, same = defaults((900, 900), 8), defaults((900, 900), 8, "zstd:3", checksum=True)
    for label, layout in same.items():
        assert (layout.codec, layout.checksum) == ("zstd:3", True)
        assert (layout.chunks, layout.shards) == (own[label].chunks, own[label].shards)


@pytest.mark.parametrize("shape", [(), (0,), (5, 0, 3)])
def test_arrays_without_elements_are_refused(shape):
    with pytest.raises(UntunableError, match="found the shape"):
        defaults(shape, "float32")


def test_the_rules_need_none_of_the_libraries():
    text = (Path(tessarray.__file__).parent / "tuner" / "baselines.py").read_text(encoding="utf-8")
    assert not any(f"import {other}" in text for other in ("zarr", "h5py", "netCDF4"))
