"""Sizes that no memory holds, shapes that no format holds, and settings of the environment that are none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tessarray


@pytest.mark.parametrize("shape", [(10**7, 10**7, 10**7), (2**62,), (2**32, 2**31)])
def test_reading_more_than_any_memory_is_a_memory_error(shape: tuple[int, ...]) -> None:
    array = tessarray.create_array({}, shape=shape, chunks=(1,) * len(shape), dtype="f8")
    with pytest.raises(MemoryError):
        array[...]
    assert array[(0,) * len(shape)] == 0


@pytest.mark.parametrize("shape", [(2**64,), (3, 2**64), (2**64 + 1,), (-1,)])
def test_a_shape_that_no_array_can_have_is_refused(shape: tuple[int, ...]) -> None:
    mapping: dict[str, bytes] = {}
    with pytest.raises((tessarray.errors.TessarrayError, OverflowError)):
        tessarray.create_array(mapping, shape=shape, chunks=(1,) * len(shape), dtype="u1")
    assert not mapping


def test_a_number_of_threads_that_is_none_is_warned_of_once(tmp_path: Path) -> None:
    program = """
import tessarray
for name in "ab":
    array = tessarray.create_array({}, data=[1, 2, 3])
    assert array[...].tolist() == [1, 2, 3]
"""
    environment = {**os.environ, "TESSARRAY_THREADS": "banana"}
    done = subprocess.run(
        [sys.executable, "-W", "always", "-c", program], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("TESSARRAY_THREADS: expected a number of threads, found") == 1
    assert "banana" in done.stderr
