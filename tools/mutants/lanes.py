"""Which files get mutants, and which tests are to catch them."""

from __future__ import annotations

from python import PythonLane
from running import RustLane

LANES = {
    "grid": RustLane("tessarray-grid", ["axis.rs", "axis_groups.rs", "segments.rs"]),
    "shard-index": RustLane("tessarray-codec", ["sharding/index.rs"], tests=["lib"], only="shard"),
    "statistics": RustLane("tessarray-collection", ["statistics.rs"]),
    "conflict": RustLane("tessarray-pack", ["commit/conflict.rs"]),
    "commit": RustLane("tessarray-pack", ["commit/attempt.rs", "log/chain.rs", "log/commit.rs"]),
    "folders": RustLane("tessarray-store", ["file/mod.rs", "file/folder_unix.rs", "file/settle.rs"]),
    "appends": RustLane("tessarray-array", ["array/append.rs", "plan/ranges.rs"]),
    "ragged": PythonLane(
        ["python/tessarray/collection/ragged.py"],
        ["tests/python/test_ragged.py"],
        ["numpy", "pandas", "xarray", "awkward", "hypothesis", "pytest", "pytest_asyncio"],
    ),
}
