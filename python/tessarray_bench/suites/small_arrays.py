"""`small-arrays`: thousands of small arrays in one file, in each library's natural layout."""

from __future__ import annotations

import math

from tessarray_bench.model import Fleet, Variable, Workload

# (count, shape); f4 uniform.
CASES = (
    (2048, (128,)),
    (2048, (128, 128)),
    (2048, (128, 128, 128)),
    (2048, (256,)),
    (4096, (256,)),
    (8192, (256,)),
)
FEWEST = 4
HEAVY_BYTES = 4 << 30


def workloads(scale: float) -> list[Workload]:
    """Fewer arrays at a smaller scale, of the same shapes; what holds more than 4 GiB is marked heavy."""
    made: dict[str, Workload] = {}
    for count, shape in CASES:
        count = max(round(count * scale), FEWEST)
        name = f"small-arrays/{'x'.join(map(str, shape))}/{count}"
        heavy = count * math.prod(shape) * 4 > HEAVY_BYTES
        fleet = Fleet(count, (Variable("values", shape, "f4"),), kind="random")
        made[name] = Workload(
            name, "small-arrays", "small", fleet=fleet, options={"heavy": True} if heavy else {}
        )
    return list(made.values())
