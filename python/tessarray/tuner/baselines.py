"""What other libraries do when the user says nothing about chunks: the layouts that a proposal has to beat.

The chunk shapes are computed here by the rules of each library, so that none of them has to be installed; the tests
compare them with the libraries. The codec is the library's default as well, in Zarr's terms:

| label | chunk shape as of | codec |
|---|---|---|
| zarr-python auto | zarr 3.1 to 3.4, `chunks="auto"` | zstd at level 0, its default |
| h5py auto | h5py 3.16, `chunks=True` | none by default; here what `compression="gzip"` gives: level 4, no shuffle |
| netCDF-C default | netCDF-C 4.9 and 4.10, no chunk sizes given | none by default; here what `zlib=True` gives in |
| | | netCDF4-python: deflate level 4 after a shuffle, written as Blosc with zlib (no short text names the bare pair) |

None of the libraries stores checksums by default.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tessarray.tuner.errors import UntunableError
from tessarray.tuner.layout import Extents, Layout

__all__ = ["H5PY", "NETCDF", "ZARR", "defaults", "h5py_chunks", "netcdf_chunks", "zarr_chunks"]

ZARR = "zarr-python auto"
H5PY = "h5py auto"
NETCDF = "netCDF-C default"
CODECS = {ZARR: "zstd:0", H5PY: "gzip:4", NETCDF: "blosc:zlib:4:shuffle"}

MIB = 1 << 20
NETCDF_CHUNK_BYTES = 16 * MIB
NETCDF_LARGEST = 2**32 - 1  # bytes of a chunk


def defaults(
    shape: Sequence[int],
    dtype: Any,
    codec: str | None = None,
    *,
    checksum: bool = False,
) -> dict[str, Layout]:
    """The automatic layouts of zarr-python, h5py and netCDF-C for an array, by label.

    `dtype` is a data type or the bytes of an element. With `codec` (a short text such as "zstd:3") all of them get that
    codec in place of their own, and with `checksum` a checksum, so that only the shapes differ.

    Raises `UntunableError` for arrays without dimensions or elements. Cost: microseconds; nothing is read.
    """
    extents = tuple(int(n) for n in shape)
    if math.prod(extents) == 0 or not extents:
        raise UntunableError(f"expected an array with dimensions and elements, found the shape {extents}")
    itemsize = dtype if isinstance(dtype, int) else np.dtype(dtype).itemsize
    cuts = {
        ZARR: zarr_chunks(extents, itemsize),
        H5PY: h5py_chunks(extents, itemsize),
        NETCDF: netcdf_chunks(extents, itemsize),
    }
    return {label: Layout(chunks, None, codec or CODECS[label], checksum) for label, chunks in cuts.items()}


def zarr_chunks(shape: Extents, itemsize: int) -> Extents:
    """The chunk of zarr-python's `chunks="auto"`: about 256 KiB for 1 MiB, twice that for each tenfold size."""
    return _halved(shape, itemsize, 256 << 10, 128 << 10, 64 * MIB)


def h5py_chunks(shape: Extents, itemsize: int) -> Extents:
    """The chunk of h5py's `chunks=True`: the same rule with 16 KiB for 1 MiB, and at most 1 MiB."""
    return _halved(shape, itemsize, 16 << 10, 8 << 10, MIB)


def _halved(shape: Extents, itemsize: int, base: int, least: int, most: int) -> Extents:
    """PyTables' rule, which both use: halve the axes in turn until a chunk is within half of a target in bytes."""
    if itemsize == 0:
        return shape
    chunk = list(shape)
    nbytes = float(math.prod(shape)) * itemsize
    target = min(max(base * 2 ** math.log10(nbytes / MIB), least), most)
    axis = 0
    while True:
        nbytes = float(math.prod(chunk)) * itemsize
        near = nbytes < target or abs(nbytes - target) / target < 0.5
        if (near and nbytes < most) or math.prod(chunk) == 1:
            return tuple(chunk)
        at = axis % len(chunk)
        chunk[at] = -(-chunk[at] // 2)
        axis += 1


def netcdf_chunks(shape: Extents, itemsize: int) -> Extents:
    """The chunk of netCDF-C, no axis being one that grows: the array's own proportions at 16 MiB, evened out."""
    share = (NETCDF_CHUNK_BYTES / (float(math.prod(shape)) * itemsize)) ** (1 / len(shape))
    chunk = [max(min(int(max(share * extent - 0.5, 0)), extent), 1) for extent in shape]
    while math.prod(chunk) * itemsize > NETCDF_LARGEST:
        chunk = [max(part // 2, 1) for part in chunk]
    for axis, extent in enumerate(shape):
        count = -(-extent // chunk[axis])
        chunk[axis] -= (count * chunk[axis] - extent) // count
    return tuple(chunk)
