"""Which files get mutants, and which tests are to catch them."""

from __future__ import annotations

from python import PythonLane
from running import RustLane

LANES = {
    "grid": RustLane("tessarray-grid", ["axis.rs", "axis_groups.rs", "segments.rs"]),
    "shard-index": RustLane("tessarray-codec", ["sharding/index.rs"], tests=["lib"], only="shard"),
    "statistics": RustLane("tessarray-collection", ["statistics.rs"]),
    "conflict": RustLane("tessarray-pack", ["conflict.rs"]),
    "commit": RustLane("tessarray-pack", ["commit/file.rs", "commit/log.rs", "committing.rs"]),
    "folders": RustLane("tessarray-store", ["file/mod.rs", "file/folder_unix.rs", "file/settle.rs"]),
    "appends": RustLane("tessarray-array", ["append.rs"]),
    "ragged": PythonLane(
        ["python/tessarray/collection/ragged.py"], ["tests/python/test_collection.py", "-k", "Ragged"]
    ),
}
