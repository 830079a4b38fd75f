"""One worker process: start the system, run the driver, write a row a line as they come."""

from __future__ import annotations

import importlib
import json
import os
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tessarray_bench.model import Job
from tessarray_bench.systems import adapter, from_file
from tessarray_bench.systems.base import System, Unsupported
from tessarray_bench.worker.meter import Meter, Row
from tessarray_bench.worker.verify import WrongAnswer


def main(job_file: str, rows_file: str, born: float) -> int:
    """Do the job of a file; each row is written as soon as it is there."""
    job = Job.from_json(json.loads(Path(job_file).read_text(encoding="utf-8")))
    with open(rows_file, "w", encoding="utf-8") as out:
        for row in rows(job, born):
            out.write(json.dumps(row, default=_plain) + "\n")
            out.flush()
    return 0


def rows(job: Job, born: float) -> Iterator[Row]:
    """The rows of the job; the last one, without a step, is about the process itself."""
    _limit_cores(job.workload.workers)
    system: System = (from_file(job.adapter)[job.system] if job.adapter else adapter(job.system))()
    driver = importlib.import_module(f"tessarray_bench.worker.{job.workload.kind}")
    before = time.perf_counter()
    imported = 0.0
    step = job.process
    try:
        system.start(job.workload.workers)
        imported = time.perf_counter() - before
        for row in driver.run(job, system, Meter(job.url)):
            step = row["step"]
            yield row
        step = ""
    except Unsupported as refusal:
        yield {"step": job.process, "status": "unsupported", "reason": str(refusal)}
    except WrongAnswer as wrong:
        yield {"step": job.process, "status": "wrong", "reason": str(wrong)}
    except Exception as error:
        traceback.print_exc()
        yield {"step": job.process, "status": "failed", "reason": _one_line(error), "after": step}
    yield {
        "step": None,
        "import": imported,
        "startup": born - job.started if job.started else None,
        "in_process": time.perf_counter() - before,
    }


def _limit_cores(workers: int | None) -> None:
    if workers is not None and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        os.sched_setaffinity(0, cores[: max(min(workers, len(cores)), 1)])


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}"[:500]


def _plain(value: Any) -> Any:
    """NumPy numbers, tuples of them and paths, as JSON has them."""
    if hasattr(value, "item"):
        return value.item()
    if hasattr(value, "tolist"):
        return value.tolist()
    return str(value)
