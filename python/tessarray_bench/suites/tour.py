"""The tour: a small workload of every suite, those that tell most, on the systems that tell most there."""

from __future__ import annotations

from dataclasses import replace

from tessarray_bench import suites
from tessarray_bench.model import Workload

# Suite: scale, and the workloads by the beginning of their names.
PICKS = {
    "planes": (0.02, "planes/3d/smooth"),
    "write": (0.05, "write/m1/camera/64x540x960/C"),
    "append": (0.02, "append/64-frames/camera"),
    "roundtrip": (0.004, "roundtrip/shards"),
    "chunk-shape": (0.02, "chunk-shape/100x1000"),
    "codecs": (0.1, "codecs/field/blosc:zstd:3:byte"),
    "parallel": (0.02, "parallel/workers-1"),
    "memory": (0.1, "memory/256-frames"),
    "remote": (0.01, "remote/10-ms"),
    "small-arrays": (0.1, "small-arrays/256/"),
    "fleet": (0.1, "fleet/profile/"),
}
QUERIES = 4
# The systems of the tour, since two minutes do not hold all; fleets have some of their own.
SYSTEMS = ("tessarray", "zarr-python-fused", "zarrs", "tensorstore", "blosc2", "h5py", "tiledb")
BASELINE = "zarr-python-fused"
FLEET = ("tessarray", "zarr-python-fused", "h5py", "atlas", "stacked", "xarray-dask-zarr")


def chosen(workload: Workload, system: str) -> bool:
    """Whether the tour runs this workload on this system."""
    return system in (FLEET if workload.kind == "fleet" else SYSTEMS)


def workloads(smaller: float = 1.0) -> list[Workload]:
    """One workload a suite; `smaller` shrinks all of them."""
    found = []
    for suite, (scale, beginning) in PICKS.items():
        picked = [w for w in suites.workloads(suite, scale * smaller) if w.id.startswith(beginning)]
        found.append(replace(picked[0], queries=picked[0].queries[:QUERIES]))
    return found
