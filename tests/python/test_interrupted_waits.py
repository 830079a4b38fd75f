"""Ctrl-C reaches a writer that waits for another one, whatever it waits in; nothing is torn.

Who waits long says whom it waits for."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tessarray

pytestmark = pytest.mark.serial  # it counts milliseconds

fcntl = pytest.importorskip("fcntl", reason="locks and signals are POSIX")

SHAPE, CHUNKS = (8, 64), (2, 16)
BEGIN = """
import sys, signal, logging, time
import numpy as np
import tessarray
logging.basicConfig(stream=sys.stderr, format="%(name)s: %(message)s")
signal.signal(signal.SIGINT, signal.default_int_handler)
root = sys.argv[1]
store = tessarray.LocalStore(root)
array = tessarray.open_array(store, path="a")
print("ready", flush=True)
try:
"""
END = """
    print("done", flush=True)
except KeyboardInterrupt:
    print("interrupted", time.time(), flush=True)
"""
PARTLY = ("workers", "many workers", "delete below")
WAITS = {
    "one chunk": ("a/c/1/1", "array[3, 20] = 7"),
    "workers": ("a/c/3/3", "array[...] = np.full(array.shape, 7)"),
    "many workers": (
        "a/c/1/1 a/c/2/1 a/c/3/1",
        "array[1:, 1:] = np.full((array.shape[0] - 1, array.shape[1] - 1), 7)",
    ),
    "append": ("a/zarr.json", "array.append(np.full((2, 64), 7))"),
    "attributes": ("a/zarr.json", "array.attrs['x'] = 1"),
    "resize": ("a/zarr.json", "array.resize((4, 64))"),
    "appender": (
        "a/zarr.json",
        "appender = array.appender(); appender.append(np.full((2, 64), 7)); appender.flush()",
    ),
    "put": ("b", "store.put('b', b'new')"),
    "delete": ("b", "store.delete('b')"),
    "delete below": ("a/c/1/1", "store.delete_prefix('a/c/1')"),
}


def hold(path: Path):
    """As a stopped process would: a lock that nobody lets go of."""
    file = path.with_name(path.name + ".__lock").open("a+b")
    fcntl.flock(file, fcntl.LOCK_EX)
    return file


def start(code: str, *arguments: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    return process


def until_it_waits(process: subprocess.Popen[str]) -> None:
    """Its threads that wait for locks have a name."""
    tasks = Path(f"/proc/{process.pid}/task")
    while process.poll() is None:
        names = (
            [task.joinpath("comm").read_text().strip() for task in tasks.iterdir()] if tasks.exists() else []
        )
        if not names or "tessarray-lock" in names:
            return
        time.sleep(0.01)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "store"
    array = tessarray.create_array(
        tessarray.LocalStore(root), name="a", shape=SHAPE, chunks=CHUNKS, dtype="i8"
    )
    array[...] = 1
    tessarray.LocalStore(root).put("b", b"old")
    return root


@pytest.mark.parametrize("what", WAITS)
def test_ctrl_c_ends_a_wait_and_leaves_what_was_there(folder: Path, what: str) -> None:
    held, code = WAITS[what]
    locks = [hold(folder / name) for name in held.split()]
    before = tessarray.open_array(tessarray.LocalStore(folder), path="a")[...]
    process = start(f"{BEGIN}    {code}{END}", str(folder))
    until_it_waits(process)
    sent = time.time()
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert out.startswith("interrupted"), (out, err)
    print(f"{what}: {float(out.split()[1]) - sent:.3f} s")
    for lock in locks:
        lock.close()
    store = tessarray.LocalStore(folder)
    array = tessarray.open_array(store, path="a")
    assert array.shape == SHAPE and store.get("b") == b"old"
    for row in range(0, SHAPE[0], CHUNKS[0]):
        for column in range(0, SHAPE[1], CHUNKS[1]):
            box = np.s_[row : row + CHUNKS[0], column : column + CHUNKS[1]]
            # Of calls on many chunks, those that did not have to wait may be done.
            assert (array[box] == before[box]).all() or what in PARTLY, (row, column)
    array[...] = 5
    store.put("b", b"new")
    assert (array[...] == 5).all() and store.get("b") == b"new"
    store.leftovers("", remove=True)
    assert not store.leftovers()


def test_ctrl_c_ends_a_wait_for_the_turn_in_a_pack(tmp_path: Path) -> None:
    pack = tessarray.create_pack(tmp_path / "p")
    with pack.transaction("make") as change:
        change.create_array("a", data=np.arange(4))
    code = (
        "import sys, signal, time, tessarray\nsignal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "pack = tessarray.open_pack(sys.argv[1])\n{first}try:\n"
        "    with pack.transaction('x', serialize=True) as change:\n        {inside}\n"
        "except KeyboardInterrupt:\n    print('interrupted', flush=True)\n"
    )
    holder = start(
        code.format(first="", inside="print('ready', flush=True); time.sleep(600)"), str(tmp_path / "p")
    )
    holder.send_signal(signal.SIGSTOP)
    try:
        waiter = start(
            code.format(first="print('ready', flush=True)\n", inside="change['a'][...] = 7"),
            str(tmp_path / "p"),
        )
        until_it_waits(waiter)
        waiter.send_signal(signal.SIGINT)
        out, err = waiter.communicate(timeout=60)
        assert out == "interrupted\n", (out, err)
    finally:
        holder.kill()
        holder.wait()
    assert tessarray.open_pack(tmp_path / "p")["a"][...].tolist() == [0, 1, 2, 3]
    with pack.transaction("goes on", serialize=True) as change:
        change["a"][...] = 9


def test_who_waits_long_says_for_which_lock(folder: Path) -> None:
    with hold(folder / "b") as lock:
        process = start(f"{BEGIN}    store.put('b', b'new'){END}", str(folder))
        assert process.stderr is not None
        said = process.stderr.readline()
        assert said.startswith("tessarray: waiting for ") and str(folder / "b.__lock") in said, said
        fcntl.flock(lock, fcntl.LOCK_UN)
        out, _ = process.communicate(timeout=60)
    assert out == "done\n"
    assert tessarray.LocalStore(folder).get("b") == b"new"


def test_a_wait_in_another_thread_goes_on_when_the_main_thread_is_interrupted(folder: Path) -> None:
    code = f"""{BEGIN}    import threading
    thread = threading.Thread(target=lambda: store.put('b', b'new'))
    thread.start()
    time.sleep(600){END}    thread.join()
    print(store.get('b').decode())
"""
    with hold(folder / "b"):
        process = start(code, str(folder))
        until_it_waits(process)
        process.send_signal(signal.SIGINT)
        assert process.stdout is not None
        assert process.stdout.readline().startswith("interrupted")
    out, _ = process.communicate(timeout=60)
    assert out == "new\n"
