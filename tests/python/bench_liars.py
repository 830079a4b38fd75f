"""Systems that lie, hang, leak, crash or litter, for the tests of the benchmark's harness. Each is plain `.npy` but for
the one thing that its docstring says."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from tessarray_bench.systems.base import System, Unsupported

ROW = 17  # the row of axis 0 about which `liar-values` lies
LEAK = 1 << 20
GROWTH = 64 << 20
NAP = 0.01
NOISE = 24 << 20


class Honest(System):
    """Tells the truth; the others are made of it."""

    name = "honest"
    title = "Honest"
    modules = ("numpy",)
    environment = "own"
    store = "store.npy"
    format = "npy"

    def start(self, workers):
        self.kept = []

    def create(self, path, array):
        shape = (0, *array.shape[1:]) if array.growing else array.shape
        return {"path": path, "values": np.zeros(shape, array.dtype)}

    def write(self, handle, values):
        handle["values"] = np.array(values)

    def append(self, handle, values):
        handle["values"] = np.concatenate([handle["values"], values])

    def finish(self, handle):
        np.save(handle["path"], handle["values"])

    def open(self, path):
        return np.load(path)

    def read(self, handle, selection):
        return np.array(handle[selection])

    def read_points(self, handle, coordinates):
        return handle[coordinates]

    def facts(self, path):
        stored = np.load(path, mmap_mode="r")
        return {"chunks": list(stored.shape), "shards": None, "codec": "none", "dtype": stored.dtype.str}


# ---- liars


class LiarValues(Honest):
    """Reads of a single row give one wrong value where it is row 17; all other reads are right."""

    name = "liar-values"

    def read(self, handle, selection):
        found = np.array(handle[selection])
        if selection[0] == ROW and found.ndim:
            found[3] += 1
        return found


class LiarShape(Honest):
    """Keeps the axis that an integer index is to drop."""

    name = "liar-shape"

    def read(self, handle, selection):
        return np.array(handle[tuple(slice(s, s + 1) if isinstance(s, int) else s for s in selection)])


class LiarDtype(Honest):
    """Gives numbers of half the size, which are equal to the right ones."""

    name = "liar-dtype"

    def read(self, handle, selection):
        return handle[selection].astype("f4")


class LiarLazy(Honest):
    """Gives a view of a memory map: nothing has been read when the timer stops."""

    name = "liar-lazy"

    def open(self, path):
        return np.load(path, mmap_mode="r")

    def read(self, handle, selection):
        return handle[selection]


class LiarShortWrite(Honest):
    """Accepts all rows and stores all but the last."""

    name = "liar-short-write"

    def finish(self, handle):
        np.save(handle["path"], handle["values"][:-1])


class LiarLastValue(Honest):
    """Stores one wrong value at the far end: only who reads all of it sees that."""

    name = "liar-last-value"

    def finish(self, handle):
        handle["values"].flat[-1] += 1
        np.save(handle["path"], handle["values"])


class LiarDrops(Honest):
    """Accepts the third append, and forgets it."""

    name = "liar-drops"
    calls = 0

    def append(self, handle, values):
        self.calls += 1
        if self.calls != 3:
            super().append(handle, values)


class LiarLayout(Honest):
    """Stores other chunks and another codec than was asked, and says so."""

    name = "liar-layout"

    def facts(self, path):
        return {"chunks": (7, 5), "shards": None, "codec": "zstd:1"}


class BlindReader(Honest):
    """Is read back by one that cannot, and then by an honest one."""

    name = "blind-reader"
    readers = ("refuser", "honest")


class NotANumber(Honest):
    """Has a fact that JSON has no word for."""

    name = "not-a-number"

    def facts(self, path):
        return {"fill": float("nan"), "shape": np.int64(3)}


# ---- slow, large, dead


class Sleeper(Honest):
    """Takes its time over each read."""

    name = "sleeper"

    def read(self, handle, selection):
        time.sleep(NAP)
        return super().read(handle, selection)


class Hanger(Honest):
    """Never returns from the second query."""

    name = "hanger"

    def read(self, handle, selection):
        if isinstance(selection[0], int):
            time.sleep(1e6)
        return super().read(handle, selection)


class Leaker(Honest):
    """Keeps 1 MiB of each read."""

    name = "leaker"

    def read(self, handle, selection):
        self.kept.append(np.ones(LEAK, "u1"))
        return super().read(handle, selection)


class Glutton(Honest):
    """Takes more and more memory, 64 MiB at a time, and would never stop."""

    name = "glutton"

    def read(self, handle, selection):
        for _ in range(64):
            self.kept.append(np.ones(GROWTH, "u1"))
            time.sleep(0.01)
        return super().read(handle, selection)


class Crasher(Honest):
    """Aborts at the first read of a row."""

    name = "crasher"

    def read(self, handle, selection):
        if isinstance(selection[0], int):
            os.abort()
        return super().read(handle, selection)


class Segfaulter(Honest):
    """Is killed by SIGSEGV when it opens the array."""

    name = "segfaulter"

    def open(self, path):
        os.kill(os.getpid(), signal.SIGSEGV)


class Exiter(Honest):
    """Ends the process in a write, as though all were done."""

    name = "exiter"

    def write(self, handle, values):
        sys.exit(0)


class Raiser(Honest):
    """Fails to write, and says why in two lines."""

    name = "raiser"

    def write(self, handle, values):
        raise OSError("no room left\n  on the device")


class ImportFailer(Honest):
    """Needs a module that is not there."""

    name = "import-failer"

    def start(self, workers):
        import no_such_module_of_anyone  # noqa: F401


# ---- others


class Noisy(Honest):
    """Prints 24 MiB, to both streams, and lines that look like rows."""

    name = "noisy"

    def write(self, handle, values):
        print('{"step": "write", "status": "ok", "wall": 0}')
        for stream in (sys.stdout, sys.stderr):
            stream.write("noise\n" * (NOISE // 12))
            stream.flush()
        time.sleep(0.3)
        super().write(handle, values)


class Forker(Honest):
    """Leaves two children behind, one in a session of its own, which hold the output open and sit in the folder."""

    name = "forker"

    def finish(self, handle):
        super().finish(handle)
        sleep = [sys.executable, "-c", "import time; time.sleep(600)"]
        here = handle["path"].parent
        self.children = [
            subprocess.Popen(sleep, cwd=here, start_new_session=apart).pid for apart in (False, True)
        ]
        (here / "children.json").write_text(json.dumps(self.children))

    def facts(self, path):
        return {"children": self.children}

    def open(self, path):
        alive = [pid for pid in json.loads((path.parent / "children.json").read_text()) if lives(pid)]
        if alive:
            raise RuntimeError(f"{len(alive)} children of the writer could serve this reader")
        return super().open(path)


def lives(pid):
    """Whether a process runs: one that is dead and not yet waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


class Refuser(Honest):
    """Cannot be asked for anything."""

    name = "refuser"

    def create(self, path, array):
        raise Unsupported("arrays on Mondays")

    def open(self, path):
        raise Unsupported("reading on Mondays")


class HalfRefuser(Honest):
    """Has no points, as `supports` does not say."""

    name = "half-refuser"

    def read_points(self, handle, coordinates):
        raise Unsupported("points")


class UpFrontRefuser(Honest):
    """Says beforehand that it cannot."""

    name = "up-front-refuser"

    @classmethod
    def supports(cls, workload):
        return "nothing at all"
