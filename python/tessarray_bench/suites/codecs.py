"""Codec x level x shuffle on several kinds of data: encode (write) and decode (read all) against stored size.

The chunk is 1 to 4 MiB, a usual one; there is no single winner, so the report draws speed against size.
"""

from __future__ import annotations

import math

from tessarray_bench.model import Codec, Data, Layout, Query, Workload
from tessarray_bench.suites.scaling import clipped, scaled

# Name: kind, shape, dtype, chunks.
DATA = {
    "series": ("smooth", (8_000_000,), "f8", (250_000,)),
    "field": ("smooth", (4000, 4000), "f4", (500, 1000)),
    "image": ("camera", (32, 1024, 1024), "u2", (4, 512, 512)),
    "counts": ("categorical", (4000, 4000), "i4", (500, 1000)),
    "sparse": ("sparse", (4000, 4000), "i4", (500, 1000)),
    "strings": ("strings", (500_000,), "string", (50_000,)),
}
CODECS = [
    "none",
    "blosc:lz4:1:byte",
    "blosc:lz4:5:none",
    "blosc:lz4:5:byte",
    "blosc:lz4:5:bit",
    "blosc:lz4:9:byte",
    "blosc:zstd:1:byte",
    "blosc:zstd:3:byte",
    "blosc:zstd:3:bit",
    "zstd:1",
    "zstd:3",
    "gzip:5",
]
STRING_CODECS = ["none", "zstd:1", "zstd:3", "gzip:5"]


def workloads(scale: float) -> list[Workload]:
    """The workloads of this suite at a scale of its sizes; 1 is what is published."""
    found = []
    for name, (kind, full, dtype, chunks) in DATA.items():
        shape = scaled(full, scale)
        codecs = STRING_CODECS if dtype == "string" else CODECS
        for codec in codecs:
            found.append(
                Workload(
                    id=f"codecs/{name}/{codec}",
                    suite="codecs",
                    kind="array",
                    data=Data(kind, shape, dtype),
                    layout=Layout(clipped(chunks, shape), None, Codec.parse(codec)),
                    queries=(Query("read all", f"[{', '.join(':' for _ in shape)}]", 3),),
                    options={"elements": math.prod(shape)},
                )
            )
    return found
