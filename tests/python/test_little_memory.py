"""Where memory ends, reads, streams and writes raise a `MemoryError` or a typed error; none ends the process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import tessarray

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits of address space are Linux's"
)

PROGRAM = """
import os, resource, sys
import numpy as np, tessarray
what, path, more = sys.argv[1], sys.argv[2], int(sys.argv[3])
array = tessarray.open_array(path, mode="r+", session=tessarray.Session(2))
data = np.arange(4 << 20, dtype="u1")
array[:1]
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))
try:
    if what == "stream":
        for region, values in array.chunk_stream():
            pass
    elif what == "read":
        array[...]
    elif what == "write":
        array[: 4 << 20] = data
    elif what == "append":
        array.append(data)
    elif what == "appender":
        appender = array.appender()
        for number in range(4):
            appender.append(data)
        appender.close()
except (MemoryError, tessarray.errors.TessarrayError, OSError):
    os._exit(3)
os._exit(0)
"""


@pytest.mark.parametrize("compressors", [None, "auto"], ids=["stored", "blosc"])
@pytest.mark.parametrize("what", ["stream", "read", "write", "append", "appender"])
def test_no_limit_of_memory_ends_the_process(tmp_path, what, compressors):
    values = np.random.default_rng(1).integers(0, 40, 12 << 20, dtype="u1")
    ended = []
    for more in (1 << 16, 2 << 20, 6 << 20, 9 << 20, 14 << 20, 22 << 20, 1 << 30):
        path = str(tmp_path / str(more))
        tessarray.create_array(path, data=values, chunks=4 << 20, compressors=compressors)
        command = [sys.executable, "-c", PROGRAM, what, path, str(more)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        assert done.returncode in (0, 3), (more, done.returncode, done.stderr[-500:])
        ended.append(done.returncode)
    # The most is enough, and the least is not, but to write what is stored as it is.
    assert ended[-1] == 0
    assert ended[0] == 3 or what in ("write", "append")
