"""Run workloads on systems: turn after turn, part after part, with the results file kept up to date.

1. The values of a workload are made once, into a `.npy` file in the work folder.
2. Each turn (system, workload, repeat) gets a fresh folder; its parts run as processes, one after another.
3. A part that fails ends the turn. A system that cannot do a workload, or that ran into a limit, is not asked again.
4. After each turn the results file is rewritten; a run that was interrupted goes on from it.
"""

from __future__ import annotations

import datetime
import hashlib
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tessarray_bench import custom_source, data, fleet_data
from tessarray_bench.harness import document as documents
from tessarray_bench.harness import machine, process
from tessarray_bench.harness.schedule import Turn, spread, turns
from tessarray_bench.harness.server import Server
from tessarray_bench.model import PROCESSES, Data, Fleet, Job, Workload
from tessarray_bench.results_file import save
from tessarray_bench.systems import System, refusal

Row = dict[str, Any]
# (workload, system, digest of the store) -> the row that says that it is right.
Checked = dict[tuple[str, str, str], Row]
FINAL = {"unsupported", "absent", "timeout", "memory"}


@dataclass(frozen=True)
class Runner:
    """A system as it can be run here: its adapter, the interpreter, and what the results file says of it."""

    adapter: type[System]
    python: str
    about: dict[str, Any]
    file: str | None = None  # of an adapter outside the package


@dataclass
class Plan:
    """What to run, and how."""

    workloads: Sequence[Workload]
    runners: dict[str, Runner]
    workdir: Path
    out: Path
    repeats: int = 5
    seed: int = 0
    baseline: str | None = None
    time_limit: float = 120.0
    memory_limit: int | None = None
    total_limit: float | None = None
    drop_caches: bool = False
    scale: float = 1.0
    again: bool = True  # run the baseline twice in each repeat
    spread: bool = False  # see `schedule.spread`
    chosen: Callable[[Workload, str], bool] | None = (
        None  # which systems do which workloads; None: all do all
    )
    readers: dict[str, Runner] = field(default_factory=dict)  # systems that only read back what others wrote
    command: str = ""
    absent: dict[str, str] = field(default_factory=dict)  # system -> why


@dataclass(frozen=True)
class Progress:
    """How far a run is: said after every turn."""

    turn: Turn
    done: int
    total: int
    rows: list[Row]
    elapsed: float


def run(plan: Plan, say: Callable[[Progress], None], resume: bool = False) -> dict[str, Any]:
    """Run the plan and return the results document. `resume` goes on where the results file of an earlier run ends."""
    document = documents.begin(plan, resume)
    kept = {(row["workload"], row["system"], row["repeat"]) for row in document["rows"]}
    given_up = {(row["workload"], row["system"]) for row in document["rows"] if _final(row)}
    todo = [
        turn
        for turn in turns(
            plan.workloads, list(plan.runners), plan.baseline if plan.again else None, plan.repeats, plan.seed
        )
        if (turn.workload.id, turn.label, turn.repeat) not in kept
        and (plan.chosen is None or plan.chosen(turn.workload, turn.system))
    ]
    if plan.spread:
        todo = spread(todo, plan.seed)
    # Absolute, since workers have a current folder of their own.
    scratch = plan.workdir.resolve() / f"tessarray-bench-{os.getpid()}"
    started = time.monotonic()
    # Values that several workloads share are made once, and go with the last turn that needs them.
    last = {_values_of(turn.workload): number for number, turn in enumerate(todo)}
    sources = {source: scratch / "sources" / str(number) for number, source in enumerate(last)}
    checked: Checked = {}
    try:
        for number, turn in enumerate(todo):
            if plan.total_limit is not None and time.monotonic() - started > plan.total_limit:
                document["settings"]["stopped"] = (
                    f"the time limit of {plan.total_limit:g} s for the whole run"
                )
                break
            values = _values_of(turn.workload)
            rows: list[Row] = []
            if (turn.workload.id, turn.label) not in given_up:
                rows = _turn(plan, turn, scratch, sources[values], checked)
                document["rows"] += rows
                if any(_final(row) for row in rows):
                    given_up.add((turn.workload.id, turn.label))
                save(document, plan.out)
            if number == last[values]:
                shutil.rmtree(sources[values], ignore_errors=True)
            say(Progress(turn, number + 1, len(todo), rows, time.monotonic() - started))
        else:
            document["finished"] = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        save(document, plan.out)
    return document


def _final(row: Row) -> bool:
    """Whether a row says that the system is not to be asked for this workload again; a query refused says no such, nor
    do reads, where it can write."""
    return row["status"] in FINAL and row["step"] == row["process"] and not _only_reads([row])


def _only_reads(rows: list[Row]) -> bool:
    return all(
        row["process"] == "read" and row["status"] == "unsupported" for row in rows if row["status"] != "ok"
    )


def _turn(plan: Plan, turn: Turn, scratch: Path, sources: Path, checked: Checked) -> list[Row]:
    """All parts of one turn, in a folder that is gone afterwards."""
    workload = turn.workload
    runner = plan.runners[turn.system]
    refused = refusal(runner.adapter, workload)
    if refused:
        return [_refusal(turn, refused)]
    source = _source(workload, sources)
    # Beside a file of the user's nothing is made: there each worker turns the values itself.
    if source and workload.options.get("order") == "F" and source.is_relative_to(sources.resolve()):
        data.fortran_file(source)
    scratch.mkdir(parents=True, exist_ok=True)
    # Of a name of its own, so that what could not be removed is in nobody's way.
    folder = Path(tempfile.mkdtemp(prefix="turn-", dir=scratch))
    job = Job(
        workload=workload,
        system=turn.system,
        process="",
        repeat=turn.repeat,
        store=str(folder / runner.adapter.store),
        writer=turn.label,
        source=str(source) if source else None,
        seed=plan.seed,
    )
    rows: list[Row] = []
    try:
        for part in PROCESSES[workload.kind]:
            if part == "read" and not workload.queries and workload.kind == "array":
                continue
            if part == "check":
                got = _check_once(plan, runner, replace(job, process=part), scratch / "worker", checked)
            else:
                got = _part(plan, runner, replace(job, process=part), scratch / "worker")
            rows += got
            # A system that only writes is checked by a reader all the same.
            if any(row["status"] != "ok" and row["step"] == part for row in got) and not _only_reads(got):
                break
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return rows


def _values_of(workload: Workload) -> Data | Fleet | None:
    return workload.data or workload.fleet


def _source(workload: Workload, sources: Path) -> Path | None:
    """The file of the values, made where it is not there."""
    if workload.data is not None:
        return custom_source.source_file(workload.data, sources).resolve()
    if workload.fleet is not None:
        return fleet_data.save(workload.fleet, sources / "fleet.bin").resolve()
    return None


def _part(plan: Plan, runner: Runner, job: Job, scratch: Path) -> list[Row]:
    limits = _limits(plan)
    if job.process == "read" and plan.drop_caches:
        drop_caches()
    job = replace(job, adapter=_file(runner))
    variables = runner.adapter.variables(job.workload.workers)
    latency = job.workload.options.get("latency")
    if job.process == "read" and latency is not None:
        with Server(Path(job.store).parent, float(latency)) as server:
            job = replace(job, url=f"{server.url}/{Path(job.store).name}")
            return process.run(job, runner.python, variables, limits, scratch)
    return process.run(job, runner.python, variables, limits, scratch)


def _limits(plan: Plan) -> process.Limits:
    return process.Limits(plan.time_limit, plan.memory_limit or int((machine.memory() or 8 << 30) * 0.8))


def _check_once(plan: Plan, own: Runner, job: Job, scratch: Path, checked: Checked) -> list[Row]:
    """Check a store; one that is the same byte by byte as a store of this system that was read back right is right."""
    key = (job.workload.id, job.system, digest(Path(job.store).parent))
    if key in checked:
        return [{**checked[key], "system": job.writer, "repeat": job.repeat, "identical": True}]
    rows = _check(plan, own, job, _limits(plan), scratch)
    if len(rows) == 1 and rows[0]["status"] == "ok":
        checked[key] = rows[0]
    return rows


def digest(folder: Path) -> str:
    """Of the names and the bytes of all files below a folder."""
    found = hashlib.blake2b(digest_size=16)
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        found.update(f"{path.relative_to(folder)}\0{path.stat().st_size}\0".encode())
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                found.update(block)
    return found.hexdigest()


def _check(plan: Plan, own: Runner, job: Job, limits: process.Limits, scratch: Path) -> list[Row]:
    """Let the first of the adapter's readers read the store back that is here and can; else the system itself."""
    here = {**plan.readers, **plan.runners}
    readers = [(name, here[name]) for name in own.adapter.readers if name in here]
    rows: list[Row] = []
    for name, reader in (*readers, (job.system, own)):
        given = replace(job, system=name, adapter=_file(reader))
        rows = process.run(
            given, reader.python, reader.adapter.variables(job.workload.workers), limits, scratch
        )
        if not any(row["status"] == "unsupported" for row in rows):
            break
    return rows


def _file(runner: Runner) -> str | None:
    return str(Path(runner.file).resolve()) if runner.file else None


def _refusal(turn: Turn, reason: str) -> Row:
    first = PROCESSES[turn.workload.kind][0]
    return {
        "workload": turn.workload.id,
        "suite": turn.workload.suite,
        "system": turn.label,
        "repeat": turn.repeat,
        "process": first,
        "step": first,
        "status": "unsupported",
        "reason": reason,
    }


def drop_caches() -> None:
    """Write dirty pages out and drop the page cache. Raises `PermissionError` where that is not permitted."""
    os.sync()
    Path("/proc/sys/vm/drop_caches").write_text("3")
