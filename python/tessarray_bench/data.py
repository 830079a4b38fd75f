"""The values of a workload: the same for everyone, from (kind, shape, dtype, seed), made once into a `.npy` file.

Values are made in slabs of axis 0, each with a generator of its own, so that memory stays small.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tessarray_bench.model import Data

Array = np.ndarray[Any, np.dtype[Any]]
Slab = Callable[[tuple[int, ...], int, np.dtype[Any], np.random.Generator], Array]

SLAB_BYTES = 32 << 20
VOCABULARY = 4096


def random(shape: tuple[int, ...], start: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """Uniform bytes for integers, uniform numbers in [0, 1) for floats: nothing to compress."""
    if dtype.kind == "b":
        flags: Array = rng.integers(0, 2, shape, dtype="u1").astype(dtype)
        return flags
    if dtype.kind == "f":
        uniform: Array = rng.random(shape, dtype="f4" if dtype.itemsize == 4 else "f8").astype(
            dtype, copy=False
        )
        return uniform
    noise: Array = np.frombuffer(rng.bytes(math.prod(shape) * dtype.itemsize), dtype).reshape(shape)
    return noise


def camera(shape: tuple[int, ...], start: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """Smooth light with four bits of noise (two in bytes), as a 12-bit camera gives; the last two axes are y and x."""
    light = _index(shape, -2, 0) + _index(shape, -1, 0)
    slow = _index(shape, 0, start) if len(shape) > 2 else np.zeros(1, "i8")
    if dtype.itemsize == 1:
        values = 40 + light // 16 + slow // 16
        noise = 4
    else:
        values = 200 + light // 8 + slow // 4
        noise = 16
    noisy: Array = (values + rng.integers(0, noise, shape, dtype="u1")).astype(dtype)
    return noisy


def smooth(shape: tuple[int, ...], start: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """Waves along every axis with noise of a thousandth of their height, kept to three decimals as instruments do."""
    values = np.zeros((1,) * len(shape))
    for axis in range(len(shape)):
        values = values + np.sin(_index(shape, axis, start if axis == 0 else 0) * (0.02 + 0.011 * axis))
    noise = rng.standard_normal(shape, dtype="f4")
    return np.round(280 + 10 * values + 0.01 * noise, 3).astype(dtype)


def ramp(shape: tuple[int, ...], start: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """0, 1, 2, ... in C order."""
    first = start * math.prod(shape[1:])
    return np.arange(first, first + math.prod(shape)).astype(dtype).reshape(shape)


def sparse(shape: tuple[int, ...], start: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """One element in a hundred is not zero."""
    values = np.zeros(math.prod(shape), dtype)
    places = rng.integers(0, values.size, max(values.size // 100, 1))
    values[places] = rng.integers(1, 100, places.size).astype(dtype)
    return values.reshape(shape)


def categorical(shape: tuple[int, ...], start: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """Patches of eight classes, as land cover has them, with one element in fifty of another class."""
    patch = np.zeros((1,) * len(shape), "i8")
    for axis in range(len(shape)):
        patch = patch + _index(shape, axis, start if axis == 0 else 0) // (17 + 6 * axis)
    values = np.broadcast_to(patch % 8, shape).astype(dtype).reshape(-1)
    places = rng.integers(0, values.size, max(values.size // 50, 1))
    values[places] = rng.integers(0, 8, places.size).astype(dtype)
    return values.reshape(shape)


def strings(shape: tuple[int, ...], start: int, dtype: np.dtype[Any], rng: np.random.Generator) -> Array:
    """Words of 3 to 12 letters, of a vocabulary of some thousands, common ones more often."""
    letters = np.random.default_rng(7).integers(97, 123, (VOCABULARY, 12), dtype="u1")
    sizes = np.random.default_rng(8).integers(3, 13, VOCABULARY)
    words = np.array([row[:n].tobytes().decode() for row, n in zip(letters, sizes, strict=True)])
    return words[np.minimum(rng.zipf(1.3, math.prod(shape)) - 1, VOCABULARY - 1)].reshape(shape)


KINDS: dict[str, Slab] = {
    "random": random,
    "camera": camera,
    "smooth": smooth,
    "ramp": ramp,
    "sparse": sparse,
    "categorical": categorical,
    "strings": strings,
}


def _index(shape: tuple[int, ...], axis: int, start: int) -> Array:
    """The index along one axis, shaped to broadcast over the others."""
    axis %= len(shape)
    lengths = [1] * len(shape)
    lengths[axis] = shape[axis]
    return (np.arange(shape[axis], dtype="i8") + start).reshape(lengths)


def numpy_dtype(data: Data) -> np.dtype[Any]:
    """The dtype of the file: strings lie in it with a fixed length."""
    return np.dtype("U12") if data.dtype == "string" else np.dtype(data.dtype)


def rows_of(data: Data) -> int:
    """Rows of axis 0 in one slab."""
    row = max(math.prod(data.shape[1:]) * data.itemsize, 1)
    return max(SLAB_BYTES // row, 1)


def make(data: Data, start: int, stop: int) -> Array:
    """Rows [start, stop) of axis 0, where both lie on slab borders (or at the end)."""
    step = rows_of(data)
    slabs = []
    for first in range(start, stop, step):
        rng = np.random.default_rng([data.seed, first // step])
        shape = (min(step, stop - first), *data.shape[1:])
        slabs.append(KINDS[data.kind](shape, first, numpy_dtype(data), rng))
    return slabs[0] if len(slabs) == 1 else np.concatenate(slabs)


def source_file(data: Data, folder: Path) -> Path:
    """The `.npy` file of the values, made on the first call. A file of the user's is returned as it is."""
    if data.kind == "file":
        assert data.path is not None
        return Path(data.path)
    named = json.dumps([data.kind, data.shape, data.dtype, data.seed], separators=(",", ":"))
    path = folder / f"{data.kind}-{hashlib.sha256(named.encode()).hexdigest()[:16]}.npy"
    if path.exists():
        return path
    folder.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    out = np.lib.format.open_memmap(partial, "w+", numpy_dtype(data), data.shape)
    step = rows_of(data)
    for first in range(0, data.shape[0], step):
        out[first : first + step] = make(data, first, min(first + step, data.shape[0]))
    del out
    partial.replace(path)
    return path


def fortran_file(path: Path) -> Path:
    """The same values in Fortran order, in a file beside it that is made on the first call: turning takes seconds."""
    turned = path.with_suffix(".fortran.npy")
    if not turned.exists():
        partial = turned.with_suffix(".partial")
        with partial.open("wb") as out:
            np.save(out, np.asfortranarray(np.load(path, mmap_mode="r")))
        partial.replace(turned)
    return turned


def load(data: Data, path: Path, order: str = "C") -> Array:
    """The values in memory of this process alone (not mapped), strings as NumPy's StringDType."""
    turned = path.with_suffix(".fortran.npy")
    values: Array = np.load(turned if order == "F" and turned.exists() else path, allow_pickle=False)
    if data.dtype == "string":
        return values.astype(np.dtypes.StringDType())
    return np.asfortranarray(values) if order == "F" else np.ascontiguousarray(values)
