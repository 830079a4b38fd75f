"""The suites, by name: what each runs at a scale. Scale 1 is the published size; smaller ones shrink the arrays."""

from __future__ import annotations

import importlib

from tessarray_bench.model import Workload

# Name -> (module, what it answers).
SUITES: dict[str, tuple[str, str]] = {
    "planes": ("planes", "random hyperplanes along every axis of 2-D, 3-D and 4-D arrays"),
    "write": ("write", "one array of frames, written in one go, C and Fortran order"),
    "append": ("append", "frames appended 64 or 1 at a time, and at an offered rate"),
    "roundtrip": ("roundtrip", "a volume written, read whole, and read chunk by chunk"),
    "chunk-shape": ("chunk_shape", "rows, columns and boxes under three chunk shapes"),
    "codecs": ("codecs", "encode and decode speed against size, by codec, level and shuffle"),
    "parallel": ("parallel", "writing and reading with 1, 2, ... workers"),
    "memory": ("memory", "peak memory over the size of the data"),
    "remote": ("remote", "reads over HTTP with 0, 10 and 50 ms before the first byte"),
    "small-arrays": ("small_arrays", "thousands of small arrays in one file"),
    "fleet": ("fleet", "hundreds to thousands of datasets, read across"),
}

HEAVY = "heavy"  # an option of workloads that run only when they are named


def workloads(suite: str, scale: float = 1.0, heavy: bool = False) -> list[Workload]:
    """The workloads of a suite; the heavy ones (minutes, or tens of gigabytes) only when asked for."""
    module, _ = SUITES[suite]
    found: list[Workload] = importlib.import_module(f"tessarray_bench.suites.{module}").workloads(scale)
    return [workload for workload in found if heavy or not workload.options.get(HEAVY)]
