"""The `memory` of a conversion is a promise: measured in new processes, on inputs of five times as much."""

from __future__ import annotations

import sys

import netCDF4
import numpy as np
import pytest
from support import MIB, in_new_process

# The engine's threads hold a chunk each as it is coded, the allocator keeps some of what it gave, and the netCDF
# library has a cache of chunks of its own.
SLACK = 48 * MIB


@pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")
@pytest.mark.parametrize("suffix", ["npy", "nc"])
def test_a_conversion_takes_no_more_memory_than_its_limit(tmp_path, suffix):
    source, limit = tmp_path / f"in.{suffix}", 32 * MIB
    planes = np.random.default_rng(5).integers(0, 900, (8, 512, 512)).astype("u2")
    if suffix == "npy":
        # 160 MiB, five times the limit.
        values = np.lib.format.open_memmap(source, "w+", planes.dtype, (320, 512, 512))
        values[:] = np.tile(planes, (40, 1, 1))
        del values
    else:
        with netCDF4.Dataset(source, "w") as file:
            for name, extent in zip("zyx", (80, 512, 512), strict=True):
                file.createDimension(name, extent)
            for name in "abcd":
                variable = file.createVariable(
                    name, "u2", tuple("zyx"), complevel=1, chunksizes=(1, 512, 512)
                )
                variable[:] = np.tile(planes, (10, 1, 1))
    found = in_new_process(
        """
        small = {"a": np.zeros((64, 64), "u2")}
        tessarray.convert(small, sys.argv[2] + ".warm", verify=True)
        import netCDF4
        # Pages of a mapped file are the system's, not ours: they are counted apart from anonymous memory.
        def anonymous():
            fields = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
            return int(fields["RssAnon"].split()[0]) * 1024
        highest = [0]
        start = anonymous()
        import threading
        over = threading.Event()
        def watch():
            while not over.wait(0.002):
                highest[0] = max(highest[0], anonymous())
        watcher = threading.Thread(target=watch)
        watcher.start()
        report = tessarray.convert(sys.argv[1], sys.argv[2], memory=int(sys.argv[3]), threads=2, verify=True)
        over.set()
        watcher.join()
        answer(extra=highest[0] - start, bytes=report.bytes)
        """,
        source,
        tmp_path / "out.zarr",
        limit,
        TESSARRAY_THREADS="2",
        MALLOC_ARENA_MAX="4",
    )
    assert found["bytes"] == 320 * 512 * 512 * 2
    assert found["extra"] <= limit + SLACK
