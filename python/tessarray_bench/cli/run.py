"""`tessarray bench run`: choose, run with progress, keep the results, print the tables."""

from __future__ import annotations

import fnmatch
import shlex
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from tessarray.display.units import byte_text
from tessarray_bench import suites as known
from tessarray_bench.harness import environments, machine
from tessarray_bench.harness.run import Plan, Progress, Runner
from tessarray_bench.harness.run import run as run_plan
from tessarray_bench.model import Workload
from tessarray_bench.systems import ADAPTERS, System, adapter, features, from_file

NEUTRAL_BASELINE = "zarr-python"


class BenchError(ValueError):
    """What was asked cannot be run; the text says what is wrong and what there is."""


@dataclass(frozen=True)
class Request:
    """What was asked on the command line."""

    suites: list[str]
    systems: str | None = None
    workloads: list[str] = field(default_factory=list)
    adapters: list[Path] = field(default_factory=list)
    scale: float = 0.1
    repeats: int = 5
    baseline: str | None = None
    seed: int = 0
    workdir: Path | None = None
    out: Path = Path("bench.json")
    resume: bool = False
    heavy: bool = False
    time_limit: float = 120.0
    query_time: float = 10.0
    total_time: float | None = None
    memory_limit: float | None = None
    drop_caches: bool = False
    home: Path | None = None
    quiet: bool = False
    chosen: Callable[[Workload, str], bool] | None = None
    spread: bool = False  # turns in an order in which every suite and system comes early


def run(request: Request, only_list: bool = False) -> None:
    """Do what was asked for, or list it; prints the tables at the end. Raises BenchError."""
    workloads = choose_workloads(request)
    if only_list:
        list_workloads(workloads)
        return
    if request.out.exists() and not request.resume:
        raise BenchError(f"{request.out} exists: --resume goes on with it, --json NAME writes another")
    document = execute(request, workloads)
    if not request.quiet:
        show(request.out, document)


def execute(request: Request, workloads: list[Workload], again: bool = True) -> dict[str, Any]:
    """Run the workloads on the systems that are here, with a progress line, and return the results document.

    `again`: the baseline runs twice in each repeat, which gives the noise floor.
    """
    runners, absent = choose_systems(request)
    plan = Plan(
        workloads=workloads,
        runners=runners,
        absent=absent,
        workdir=request.workdir or machine.memory_folder() or Path(tempfile.gettempdir()),
        out=request.out,
        repeats=request.repeats,
        seed=request.seed,
        baseline=baseline_of(request, runners),
        time_limit=request.time_limit,
        memory_limit=int(request.memory_limit * 1e9) if request.memory_limit else None,
        total_limit=request.total_time,
        drop_caches=request.drop_caches,
        scale=request.scale,
        command=command_line(),
        spread=request.spread,
        again=again,
        chosen=request.chosen,
        readers=readers_of(runners, request.home),
    )
    if request.drop_caches:
        _may_drop_caches()
    if not plan.workdir.is_dir():
        raise BenchError(f"--workdir: no folder {plan.workdir}")
    with progress(request.quiet) as say:
        return run_plan(plan, say, request.resume)


def command_line() -> str:
    """The command that runs, as it can be typed again."""
    return shlex.join(["tessarray", *sys.argv[1:]])


# ---- what to run


def choose_workloads(request: Request) -> list[Workload]:
    """The workloads that were asked for: of suites, of files, by patterns. Raises BenchError if there are none."""
    found: list[Workload] = []
    names = list(known.SUITES) if "all" in request.suites else request.suites
    for name in names:
        if name in known.SUITES:
            # A workload that is named in full runs even if it is heavy.
            everything = known.workloads(name, request.scale, heavy=True)
            found += [w for w in everything if _wanted(w, request)]
        elif Path(name).suffix in (".toml", ".yaml", ".yml"):
            from tessarray_bench import custom

            found += [w for w in custom.load(Path(name)) if _wanted(w, request)]
        else:
            raise BenchError(f"no suite {name!r}; there are: {', '.join(known.SUITES)}, all, or a .toml file")
    if not found:
        raise BenchError(f"no workload matches {', '.join(request.workloads)}; --list shows them")
    return [_with_option(workload, "query_seconds", request.query_time) for workload in found]


def _with_option(workload: Workload, name: str, value: Any) -> Workload:
    """The workload with an option, unless it has one of that name itself."""
    return replace(workload, options={name: value, **workload.options}) if workload.queries else workload


def _wanted(workload: Workload, request: Request) -> bool:
    if workload.id in request.workloads:
        return True
    if workload.options.get(known.HEAVY) and not request.heavy:
        return False
    return not request.workloads or any(fnmatch.fnmatch(workload.id, p) for p in request.workloads)


def choose_systems(request: Request) -> tuple[dict[str, Runner], dict[str, str]]:
    """The systems to run, and the absent ones with the command that brings them."""
    candidates = adapters_of(request.adapters)
    names = list(candidates)
    if request.systems:
        names = [name.strip() for name in request.systems.split(",") if name.strip()]
        unknown = [name for name in names if name not in candidates]
        if unknown:
            raise BenchError(f"no system {', '.join(unknown)}; there are: {', '.join(candidates)}")
    found = environments.probe([candidates[name][0] for name in names], request.home)
    runners: dict[str, Runner] = {}
    absent: dict[str, str] = {}
    for name in names:
        cls, file = candidates[name]
        place = found[name]
        if place.python is None:
            absent[name] = place.reason
        else:
            runners[name] = Runner(cls, str(place.python), about(cls, place), file)
    if not runners:
        raise BenchError("none of these systems is here; `tessarray bench install` brings them")
    return runners, absent


def readers_of(runners: dict[str, Runner], home: Path | None) -> dict[str, Runner]:
    """The independent readers of what these systems write, where they are here but not among the chosen."""
    names = {name for runner in runners.values() for name in runner.adapter.readers} - set(runners)
    classes = {name: adapter(name) for name in names if name in ADAPTERS}
    found = environments.probe(classes.values(), home)
    return {
        name: Runner(cls, str(found[name].python), about(cls, found[name]))
        for name, cls in classes.items()
        if found[name].python is not None
    }


def adapters_of(files: list[Path]) -> dict[str, tuple[type[System], str | None]]:
    """Every adapter by name, those of the user's files included."""
    found: dict[str, tuple[type[System], str | None]] = {name: (adapter(name), None) for name in ADAPTERS}
    for file in files:
        if not file.is_file():
            raise BenchError(f"--adapter: no file {file}")
        more = from_file(file)
        if not more:
            raise BenchError(f"--adapter: {file} defines no subclass of System with a name")
        found |= {name: (cls, str(file.resolve())) for name, cls in more.items()}
    return found


def about(cls: type[System], place: environments.Found) -> dict[str, Any]:
    """What the results file says of a system."""
    return {
        "title": cls.title,
        "versions": place.versions,
        "python": place.python_version,
        "environment": place.environment,
        "features": features(cls),
        "format": cls.format,
        "sources": dict(cls.sources),
    }


def baseline_of(request: Request, runners: dict[str, Runner]) -> str:
    """The system that ratios are taken to: the one asked for, else a neutral one. Raises BenchError."""
    if request.baseline is None:
        return NEUTRAL_BASELINE if NEUTRAL_BASELINE in runners else next(iter(runners))
    if request.baseline not in runners:
        raise BenchError(f"--baseline: {request.baseline} is not among the systems: {', '.join(runners)}")
    return request.baseline


def _may_drop_caches() -> None:
    from tessarray_bench.harness.run import drop_caches

    try:
        drop_caches()
    except OSError as error:
        raise BenchError(f"--drop-caches is not permitted here ({error.strerror})") from error


# ---- what is shown


def list_workloads(workloads: list[Workload]) -> None:
    """Print what would run."""
    from rich.table import Table

    from tessarray_bench.cli.output import console

    table = Table("workload", "data", "size", "chunks", "shards", "codec", "queries")
    for w in workloads:
        data = f"{w.data.kind} {w.data.dtype} {'×'.join(map(str, w.data.shape))}" if w.data else ""
        if w.fleet:
            data = (
                f"{w.fleet.count} × {', '.join('×'.join(map(str, v.shape)) for v in w.fleet.variables[:1])}"
            )
        cut = [w.layout.chunks, w.layout.shards] if w.layout else [None, None]
        table.add_row(
            w.id,
            data,
            byte_text(w.nbytes),
            *("×".join(map(str, c)) if c else "" for c in cut),
            str(w.layout.codec) if w.layout else "natural",
            ", ".join(query.name for query in w.queries),
        )
    console().print(table)


def show(path: Path, document: dict[str, Any]) -> None:
    """Print the tables of a results document, and how to make its page."""
    from tessarray_bench import results_file, tables
    from tessarray_bench.cli.output import console

    out = console()
    tables.show(results_file.from_document(document, path.stem), out)
    out.print(f"\nResults: {path}   page: tessarray bench report {path}")


class progress:  # noqa: N801 - used as a function
    """A line that says what runs, how far it is and how long it may take; plain lines where there is no terminal."""

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._bar: Any = None
        self._task: Any = None

    def __enter__(self) -> Callable[[Progress], None]:
        if self._quiet:
            return lambda _: None
        if not sys.stderr.isatty():
            return self._line
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            TextColumn,
            TimeRemainingColumn,
        )
        from rich.progress import (
            Progress as Bar,
        )

        self._bar = Bar(
            TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
            console=Console(stderr=True),
        )  # fmt: skip
        self._bar.start()
        self._task = self._bar.add_task("starting", total=None)
        return self._advance

    def __exit__(self, *failure: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _advance(self, state: Progress) -> None:
        text = f"{state.turn.workload.id}  {state.turn.label}"
        self._bar.update(self._task, completed=state.done, total=state.total, description=text)
        for row in state.rows:
            if row["status"] not in ("ok", "unsupported"):
                self._bar.console.print(f"{text}: {row['step']}: {row['status']}: {row.get('reason')}")

    def _line(self, state: Progress) -> None:
        troubles = [f"{r['step']}: {r['status']}" for r in state.rows if r["status"] != "ok"]
        what = "; ".join(troubles) or "ok"
        turn = state.turn
        print(
            f"{state.done}/{state.total} {state.elapsed:.0f} s  {turn.workload.id}  {turn.label}: {what}",
            file=sys.stderr,
            flush=True,
        )
