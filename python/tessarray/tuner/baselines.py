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
NETCDF_RECORDS = (
    4096  # what a single unlimited dimension alone gets, before it is divided by the size of an element
)
NETCDF_LARGEST = 2**32 - 1  # bytes of a chunk


def defaults(
    shape: Sequence[int],
    dtype: Any,
    codec: str | None = None,
    *,
    checksum: bool = False,
    unlimited: Sequence[int] = (),
) -> dict[str, Layout]:
    """The automatic layouts of zarr-python, h5py and netCDF-C for an array, by label.

    `dtype` is a data type or the bytes of an element. With `codec` (a short text such as "zstd:3") all of them get that
    codec in place of their own, and with `checksum` a checksum, so that only the shapes differ. `unlimited` are the
    axes that netCDF-C is told can grow: its chunks have one element along them.

    Raises `UntunableError` for arrays without dimensions or elements. Cost: microseconds; nothing is read.
    """
    extents = tuple(int(n) for n in shape)
    if math.prod(extents) == 0 or not extents:
        raise UntunableError(f"expected an array with dimensions and elements, found the shape {extents}")
    itemsize = dtype if isinstance(dtype, int) else np.dtype(dtype).itemsize
    cuts = {
        ZARR: zarr_chunks(extents, itemsize),
        H5PY: h5py_chunks(extents, itemsize),
        NETCDF: netcdf_chunks(extents, itemsize, unlimited),
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


def netcdf_chunks(shape: Extents, itemsize: int, unlimited: Sequence[int] = ()) -> Extents:
    """The chunk of netCDF-C: the array's own proportions at 16 MiB, evened out; 1 along axes that can grow.

    A single axis that can grow gets 4 KiB; where all axes can, the chunk is a cube of 16 MiB.
    """
    grows = {axis % len(shape) for axis in unlimited}
    # A dimension that can grow has no length yet when the chunks are chosen.
    lengths = [0 if axis in grows else extent for axis, extent in enumerate(shape)]
    fixed = len(shape) - len(grows)
    if fixed == 0:
        return _all_unlimited(len(shape), itemsize)
    share = (NETCDF_CHUNK_BYTES / (float(math.prod(n for n in lengths if n)) * itemsize)) ** (1 / fixed)
    chunk = [1 if axis in grows else _part(share, length) for axis, length in enumerate(lengths)]
    while math.prod(chunk) * itemsize > NETCDF_LARGEST:
        chunk = [max(part // 2, 1) for part in chunk]
    for axis, length in enumerate(lengths):
        count = -(-length // chunk[axis])
        if count:
            chunk[axis] -= (count * chunk[axis] - length) // count
    return tuple(chunk)


def _part(share: float, length: int) -> int:
    return max(min(int(max(share * length - 0.5, 0)), length), 1)


def _all_unlimited(dimensions: int, itemsize: int) -> Extents:
    if dimensions == 1:
        return (max(min(NETCDF_RECORDS, NETCDF_CHUNK_BYTES // itemsize) // itemsize, 1),)
    return (max(int((NETCDF_CHUNK_BYTES / itemsize) ** (1 / dimensions)), 1),) * dimensions
