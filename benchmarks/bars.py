"""What the tables of limits have in common: their command line, and how a row is printed."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

# What, the figure, its limit, and whether it is met; `None` where there is no limit.
Row = tuple[str, str, str, bool | None]
Part = Callable[[Path, int, float], Iterator[Row]]
Child = Callable[[str], dict[str, float]]


def main(about: str | None, parts: Mapping[str, Part], children: Mapping[str, Child], width: int) -> int:
    """Runs the parts that were asked for, each in a folder of its own; or, as a child, one measurement."""
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("part", nargs="*", choices=[[], *parts], help=f"of {', '.join(parts)} (default: all)")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument(
        "--scale", type=float, default=1.0, help="of the counts; 1 is what the limits are for"
    )
    parser.add_argument("--folder", type=Path, help="where they are made (default: memory)")
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        name, argument = given.child
        print(json.dumps(children[name](argument)))
        return 0
    memory = Path("/dev/shm")
    above = given.folder or (memory if memory.is_dir() else Path(tempfile.gettempdir()))
    missed = 0
    for name in given.part or parts:
        with tempfile.TemporaryDirectory(prefix="bars-", dir=above) as folder:
            for what, found, limit, met in parts[name](Path(folder), given.repeats, given.scale):
                word = "" if met is None else "met" if met else "MISSED"
                print(f"{what:<{width}} {found:>34}   {limit:<16} {word}", flush=True)
                missed += met is False
    print(f"{missed} limits missed")
    return 0


def child(what: str, argument: Any) -> dict[str, float]:
    """A measurement in a process of its own, of the script that runs."""
    command = [sys.executable, sys.argv[0], "--child", what, str(argument)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


def peak() -> float:
    """The most memory that this process ever held, in bytes. `ru_maxrss` would be its parent's, where that is more."""
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return float(line.split()[1]) * 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)


def warm(nbytes: int) -> None:
    """Touch memory and give it back. In a virtual machine the first touch of a page costs several times the second:
    before each timed turn, whoever's, so that all find the same."""
    np.ones(nbytes // 8)


def scaled(count: int, scale: float) -> int:
    return max(round(count * scale), 8)


def size_of(path: Path) -> int:
    """Bytes of a file, or of all files below a folder."""
    return sum(p.stat().st_size for p in ([path] if path.is_file() else path.rglob("*")) if p.is_file())
