"""Meters around the verbs: wall, CPU of the process, peak resident memory, bytes in and out. Linux gives all of them;
elsewhere the ones that the system cannot tell are left out of the row."""

from __future__ import annotations

import contextlib
import gc
import json
import math
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

try:
    import resource
except ImportError:  # Windows
    resource = None  # type: ignore[assignment]

Row = dict[str, Any]
_IO = {"rchar": "read", "wchar": "written", "syscr": "read_calls", "syscw": "write_calls"}


def resident(field: str = "VmRSS") -> int | None:
    """Resident bytes of this process now (`VmRSS`) or at most since the last reset (`VmHWM`)."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


def reset_peak() -> None:
    """Make VmHWM begin anew at the present size."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def io_counters() -> dict[str, int]:
    """Bytes and calls of this process' reads and writes so far; empty where the system does not count."""
    try:
        lines = Path("/proc/self/io").read_text().splitlines()
    except OSError:
        return {}
    pairs = (line.split(": ") for line in lines)
    return {_IO[name]: int(value) for name, value in pairs if name in _IO}


def http_counters(url: str) -> dict[str, int]:
    """Requests to, and bytes from, the benchmark's file server (`harness/server.py`)."""
    place = url.split("/", 3)
    with urllib.request.urlopen(f"{place[0]}//{place[2]}/?counts") as answer:
        counts: dict[str, int] = json.load(answer)
    return counts


def cpu() -> tuple[float, float]:
    """User and system seconds of all threads of this process, and of children it has waited for."""
    if resource is None:
        return time.process_time(), 0.0
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + children.ru_utime, own.ru_stime + children.ru_stime


def quantile(ordered: list[float], share: float) -> float:
    """The smallest value with at least `share` of all at or below it."""
    return ordered[max(math.ceil(share * len(ordered)) - 1, 0)]


def latency(walls: list[float]) -> dict[str, float]:
    """Percentiles of the seconds of calls."""
    ordered = sorted(walls)
    return {
        "p50": quantile(ordered, 0.5),
        "p99": quantile(ordered, 0.99),
        "p999": quantile(ordered, 0.999),
        "max": ordered[-1],
        "first": walls[0],
    }


class Calls:
    """The calls of one step. `with calls:` around each; `row()` sums them up."""

    def __init__(
        self,
        step: str,
        counters: Callable[[], dict[str, int]] = io_counters,
        overhead: dict[str, int] | None = None,
    ) -> None:
        self.step = step
        self._counters = counters
        self._overhead = overhead or {}
        self.walls: list[float] = []
        self._cpu = [0.0, 0.0]
        self.counted: dict[str, int] = {}
        self._peak = 0
        self._before: tuple[Any, ...] = ()
        gc.collect()
        self._base = resident()

    def __enter__(self) -> Calls:
        reset_peak()
        self._before = (resident(), self._counters(), cpu())
        self._started = time.perf_counter()
        return self

    def __exit__(self, *failure: object) -> None:
        ended = time.perf_counter()
        level, io, used = self._before
        now = cpu()
        self.walls.append(ended - self._started)
        self._cpu = [
            total + after - before for total, after, before in zip(self._cpu, now, used, strict=True)
        ]
        for name, value in self._counters().items():
            own = self._overhead.get(name, 0)
            self.counted[name] = self.counted.get(name, 0) + max(value - io[name] - own, 0)
        peak = resident("VmHWM")
        if peak is not None:
            self._peak = max(self._peak, peak - level)

    def row(self, nbytes: int = 0, **more: Any) -> Row:
        """The row of all calls so far; `nbytes` is the bytes of values that they moved in all."""
        gc.collect()
        row: Row = {"step": self.step, "status": "ok", "wall": sum(self.walls), "calls": len(self.walls)}
        row |= {"nbytes": nbytes, "cpu_user": self._cpu[0], "cpu_system": self._cpu[1], **self.counted}
        if self._base is not None:
            row |= {"peak": self._peak, "retained": max((resident() or 0) - self._base, 0)}
        if len(self.walls) > 1:
            row["latency"] = latency(self.walls)
        return row | more


class Meter:
    """Makes the rows of one process; with the file server's URL it counts requests too."""

    def __init__(self, url: str | None = None) -> None:
        self._url = url
        # What the meter itself reads and writes, to be taken off.
        empty = Calls("", self._counters)
        with empty:
            pass
        self._overhead = dict(empty.counted)

    def _counters(self) -> dict[str, int]:
        return {**io_counters(), **(http_counters(self._url) if self._url else {})}

    def calls(self, step: str) -> Calls:
        """A timer of single calls, for a step."""
        return Calls(step, self._counters, self._overhead)

    @contextlib.contextmanager
    def step(self, name: str, nbytes: int = 0, **more: Any) -> Iterator[Row]:
        """Measure one block. The row that is given is empty within the block, and whole behind it."""
        row: Row = {}
        calls = self.calls(name)
        with calls:
            yield row
        row |= calls.row(nbytes, **more) | row


def touch(nbytes: int) -> None:
    """Touch as much fresh memory as the work will need, and give it back.

    On a virtual machine the host backs a page on its first touch, which costs several times a later one.
    """
    import mmap

    block = 64 << 20
    populate = getattr(mmap, "MAP_POPULATE", None)
    held = []
    for _ in range(max(nbytes, 0) // block + 1):
        if populate is not None:
            area = mmap.mmap(-1, block, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | populate)
        else:
            area = mmap.mmap(-1, block)
            for page in range(0, block, mmap.PAGESIZE):
                area[page] = 1
        held.append(area)
    for area in held:
        area.close()
