"""Run one job in a process of its own, within limits, and collect its rows whatever becomes of it."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
import time
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tessarray.display.units import byte_text
from tessarray_bench.model import Job

LAUNCH = Path(__file__).resolve().parent.parent / "worker" / "launch.py"
POLL = 0.1
MESSAGE = 500
SAID_BYTES = 16 << 20  # of what a worker prints, at most so much is kept
MARK = "TESSARRAY_BENCH_WORKER"  # the variable by which a worker's descendants are known
Row = dict[str, Any]


@dataclass(frozen=True)
class Limits:
    """Of one process: seconds, and resident bytes."""

    seconds: float
    memory: int


def run(job: Job, python: str, variables: dict[str, str], limits: Limits, scratch: Path) -> list[Row]:
    """The rows of the job. What ended it early is a row as well: `timeout`, `memory`, `crashed`."""
    scratch.mkdir(parents=True, exist_ok=True)
    job_file, rows_file, said_file = scratch / "job.json", scratch / "rows.jsonl", scratch / "said.txt"
    rows_file.unlink(missing_ok=True)
    said_file.unlink(missing_ok=True)
    mark = uuid.uuid4().hex
    with open(said_file, "ab") as said:  # at its end, wherever that is: the guard cuts it
        started = time.monotonic()
        job_file.write_text(json.dumps(replace(job, started=started).to_json()), encoding="utf-8")
        worker = subprocess.Popen(
            [python, "-I", str(LAUNCH), str(job_file), str(rows_file)],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=subprocess.STDOUT,
            env={**_environment(), **variables, MARK: mark},
            cwd=scratch,
            start_new_session=True,
        )
        try:
            ended = _watch(worker, limits, said_file)
        finally:
            # What the system has left behind, too: it would go on beside the next system, or serve it from memory.
            _kill(worker)
            _kill_strays(mark)
    total = time.monotonic() - started
    rows, about = _rows(rows_file)
    # A worker that was ended by `sys.exit(0)` in a verb has not said its last line.
    if ended is None and (worker.returncode != 0 or not about):
        ended = ("crashed", f"{_exit(worker.returncode)}: {_last_line(said_file)}")
    if ended is not None:
        after = rows[-1]["step"] if rows else ""
        rows.append({"step": job.process, "status": ended[0], "reason": ended[1], "after": after})
    common = {
        "workload": job.workload.id,
        "suite": job.workload.suite,
        "system": job.writer or job.system,
        "repeat": job.repeat,
        "process": job.process,
    }
    if job.process == "check":
        common["reader"] = job.system
    if rows:
        rows[0] |= about | {"total": total}
    return [common | row for row in rows]


def _environment() -> dict[str, str]:
    """The caller's variables without those that steer a library's threads or plugins, or Python's imports."""
    steering = (
        "PYTHON",
        "OMP_",
        "MKL_",
        "OPENBLAS_",
        "BLOSC_",
        "RAYON_",
        "NUMBA_",
        "ZARR_",
        "TESSARRAY_",
        "HDF5_",
    )
    kept = {name: value for name, value in os.environ.items() if not name.startswith(steering)}
    # Requests to the file server on loopback go there, whatever proxy the caller has.
    return kept | {"no_proxy": "127.0.0.1", "NO_PROXY": "127.0.0.1"}


def _watch(worker: subprocess.Popen[bytes], limits: Limits, said: Path) -> tuple[str, str] | None:
    """Wait for the process; kill it at a limit. Returns the status and the reason then."""
    over: list[tuple[str, str]] = []
    done = threading.Event()

    def guard() -> None:
        # In a thread of its own, so that the wait below costs nothing; the poll reads one file of a few bytes.
        while not done.wait(POLL):
            used = _resident(worker.pid)
            if used > limits.memory:
                over.append(("memory", f"held {byte_text(used)}, and {byte_text(limits.memory)} are allowed"))
                _kill(worker)
                return
            if said.stat().st_size > SAID_BYTES:
                os.truncate(said, 0)

    watcher = threading.Thread(target=guard, daemon=True)
    watcher.start()
    try:
        worker.wait(limits.seconds)
    except subprocess.TimeoutExpired:
        _kill(worker)
        return ("timeout", f"not done after {limits.seconds:g} s")
    finally:
        done.set()
        watcher.join()
    return over[0] if over else None


def _kill(worker: subprocess.Popen[bytes]) -> None:
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(worker.pid, signal.SIGKILL)
    else:
        worker.kill()
    if worker.poll() is None:
        worker.wait()


def _kill_strays(mark: str) -> None:
    """Kill descendants that left the worker's process group: each has inherited the mark in its environment."""
    wanted = f"{MARK}={mark}".encode()
    for place in Path("/proc").glob("[0-9]*/environ"):
        try:
            if wanted in place.read_bytes():
                os.kill(int(place.parent.name), signal.SIGKILL)
        except OSError:
            continue  # another user's, or gone


def _resident(pid: int) -> int:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _rows(path: Path) -> tuple[list[Row], Row]:
    """The rows that were written, and what the process said of itself. A line cut off by a crash is left out."""
    rows: list[Row] = []
    about: Row = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                row = json.loads(line, parse_constant=str)  # NaN is not JSON
            except json.JSONDecodeError:
                continue
            if row.get("step") is None:
                row.pop("step", None)
                about = row
            else:
                rows.append(row)
    return rows, about


def _exit(code: int) -> str:
    if code < 0:
        try:
            return f"killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"killed by signal {-code}"
    return f"exit code {code}"


def _last_line(path: Path) -> str:
    with path.open("rb") as said:
        said.seek(max(path.stat().st_size - 64 * MESSAGE, 0))
        lines = said.read().decode("utf-8", errors="replace").strip().splitlines()
    return lines[-1][:MESSAGE] if lines else "it said nothing"
