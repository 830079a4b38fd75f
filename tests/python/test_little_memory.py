"""Where memory ends, every call raises a `MemoryError` or a typed error; none ends the process."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import tessarray

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="limits of address space are Linux's"
)

PROGRAM = """
import os, resource, sys
import numpy as np, tessarray
what, folder, threads, limits = sys.argv[1], sys.argv[2], int(sys.argv[3]), map(int, sys.argv[4:])
for more in limits:
    child = os.fork()
    if child == 0:
        path = f"{folder}/{more}"
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
session = tessarray.Session(threads)
words = [f"{number:024}" for number in range(100_000)] if what == "text-write" else None
data = np.arange(4 << 20, dtype="u1")
if what.startswith("pack"):
    pack = tessarray.open_pack(path, session=session)
    pack["a"][:1]
elif what.startswith("collection"):
    collection = tessarray.open_collection(path)
    collection["one"]["a"][:1]
elif what == "zip-read":
    array = tessarray.open_array(path + "/a.zip", mode="r", session=session)
    array[:1]
else:
    array = tessarray.open_array(path, mode="r+", session=session)
    if what != "threads":
        array[:1]
with open("/proc/self/statm") as file:
    used = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + more, used + more))
try:
    if what == "stream":
        for region, values in array.chunk_stream():
            pass
    elif what in ("read", "threads"):
        array[...]
    elif what == "write":
        array[: 4 << 20] = data
    elif what == "part":
        array[1000 : 3 << 20] = data[: (3 << 20) - 1000]
    elif what == "append":
        array.append(data)
    elif what == "appender":
        appender = array.appender()
        for number in range(4):
            appender.append(data)
        appender.close()
    elif what == "check":
        assert not array.check(deep=True)
    elif what == "pack-read":
        pack["a"][...]
    elif what == "pack-check":
        assert not pack.check(deep=True)
    elif what == "pack-write":
        with pack.transaction("more") as tx:
            tx["a"][1000 : 3 << 20] = data[: (3 << 20) - 1000]
            tx["a"].append(data)
    elif what == "collection":
        collection["one"]["a"][...]
    elif what == "zip-read":
        array[...]
    elif what == "text-read":
        array[...]
    elif what == "text-write":
        array[...] = words
except (MemoryError, tessarray.errors.TessarrayError, OSError) as error:
    print(type(error).__name__, error, flush=True)
    os._exit(3)
os._exit(0)
"""

LIMITS = (1 << 16, 2 << 20, 6 << 20, 9 << 20, 14 << 20, 22 << 20, 1 << 30)
VALUES = np.random.default_rng(1).integers(0, 40, 12 << 20, dtype="u1")


def copies(folder: Path, limits: tuple[int, ...] = LIMITS) -> None:
    """A copy for each limit of what is in the folder's `0`."""
    for more in limits:
        shutil.copytree(folder / "0", folder / str(more))


def ends(
    what: str, folder: Path, limits: tuple[int, ...] = LIMITS, threads: int = 2
) -> tuple[list[int], str]:
    """How processes end that do this with so many more bytes, each in a folder of its own: 0 or 3; their words."""
    command = [sys.executable, "-c", PROGRAM, what, str(folder), str(threads), *map(str, limits)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    lines = done.stdout.splitlines()
    ended = [int(line) for line in lines if line.lstrip("-").isdigit()]
    assert len(ended) == len(limits) and set(ended) <= {0, 3}, (what, ended, done.stderr[-500:])
    return ended, "".join(line for line in lines if not line.isdigit())


@pytest.mark.parametrize("layout", ["stored", "blosc", "zstd", "shards"])
@pytest.mark.parametrize("what", ["stream", "read", "write", "part", "append", "appender", "check"])
def test_no_limit_of_memory_ends_the_process(tmp_path: Path, what: str, layout: str) -> None:
    compressors = {"stored": None, "zstd": "zstd"}.get(layout, "auto")
    shape = {"chunks": 1 << 20, "shards": 4 << 20} if layout == "shards" else {"chunks": 4 << 20}
    tessarray.create_array(tmp_path / "0", data=VALUES, compressors=compressors, **shape)
    copies(tmp_path)
    ended, _ = ends(what, tmp_path)
    # The most is enough, and the least is not, but to write what is stored as it is, or a part at a time.
    assert ended[-1] == 0
    assert ended[0] == 3 or what in ("write", "part", "append", "check")


@pytest.mark.parametrize("what", ["pack-read", "pack-write", "pack-check"])
def test_no_limit_of_memory_ends_a_process_with_a_pack(tmp_path: Path, what: str) -> None:
    pack = tessarray.create_pack(tmp_path / "0")
    with pack.transaction("first") as tx:
        tx.create_array("a", data=VALUES, chunks=1 << 20, shards=4 << 20)
    copies(tmp_path)
    ended, _ = ends(what, tmp_path)
    assert (ended[0], ended[-1]) == (3, 0)


def test_no_limit_of_memory_ends_a_process_with_a_collection(tmp_path: Path) -> None:
    made = tessarray.create_collection(tmp_path / "0")
    with made.transaction("first") as tx:
        tx.add("one", {"a": VALUES})
    copies(tmp_path)
    ended, _ = ends("collection", tmp_path)
    assert (ended[0], ended[-1]) == (3, 0)


@pytest.mark.parametrize("what", ["threads", "stream"])
def test_threads_that_cannot_start_are_a_typed_error(tmp_path: Path, what: str) -> None:
    limits = (3 << 20,)
    tessarray.create_array(tmp_path / "0", data=VALUES, chunks=1 << 20)
    copies(tmp_path, limits)
    ended, said = ends(what, tmp_path, limits, 64)
    assert ended == [3]
    assert said.split()[0] in ("ThreadsError", "OutOfMemoryError", "MemoryError"), said


@pytest.mark.parametrize("what", ["text-read", "text-write"])
def test_no_limit_of_memory_ends_a_process_with_texts(tmp_path: Path, what: str) -> None:
    words = [f"{number:024}" for number in range(100_000)]
    tessarray.create_array(tmp_path / "0", data=np.array(words, "T"), chunks=100_000)
    limits = (*(1 << bits for bits in range(16, 25)), 1 << 30)
    copies(tmp_path, limits)
    ended, _ = ends(what, tmp_path, limits)
    assert (ended[0], ended[-1]) == (3, 0)


def test_no_limit_of_memory_ends_a_process_with_a_zip(tmp_path: Path) -> None:
    tessarray.create_array(tmp_path / "a", data=VALUES, chunks=4 << 20, compressors=None)
    (tmp_path / "0").mkdir()
    with zipfile.ZipFile(tmp_path / "0" / "a.zip", "w", zipfile.ZIP_DEFLATED) as made:
        for file in sorted((tmp_path / "a").rglob("*")):
            if file.is_file():
                made.write(file, file.relative_to(tmp_path / "a").as_posix())
    copies(tmp_path)
    ended, _ = ends("zip-read", tmp_path)
    assert (ended[0], ended[-1]) == (3, 0)
