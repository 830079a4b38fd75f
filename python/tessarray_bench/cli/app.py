"""What `tessarray bench` and its commands are called with. Each imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tessarray_bench.cli import texts

app = typer.Typer(
    name="bench",
    help=texts.BENCH,
    add_completion=False,
    invoke_without_command=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Files = Annotated[list[Path], typer.Argument(metavar="RESULTS...", help="Results files.", show_default=False)]
Home = Annotated[
    Path | None,
    typer.Option(
        "--environments", help="Where the environments are (default: TESSARRAY_BENCH_HOME or the cache)."
    ),
]
Systems = Annotated[
    str | None, typer.Option(help="Names, with commas between them (default: all that are here).")
]
Workdir = Annotated[
    Path | None, typer.Option(help="Where stores are written (default: memory, else temporary).")
]


@app.callback()
def bench(context: typer.Context) -> None:
    """`tessarray bench`: without a command, a tour of a few minutes."""
    if context.invoked_subcommand is None:
        from tessarray_bench.cli import tour

        tour.run(Path("tessarray-bench"))


@app.command(help=texts.RUN)
def run(
    suites: Annotated[
        list[str],
        typer.Argument(metavar="SUITE...", help="Suites, `all`, or a .toml file.", show_default=False),
    ],
    systems: Systems = None,
    workloads: Annotated[
        list[str] | None, typer.Option(help="Only workloads that match, as 'planes/2d/*' (repeatable).")
    ] = None,
    adapter: Annotated[
        list[Path] | None, typer.Option(help="A Python file with a system of yours (repeatable).")
    ] = None,
    scale: Annotated[float, typer.Option(min=1e-4, help="Size: 1 is the published one.")] = 0.1,
    repeats: Annotated[int, typer.Option(min=1, help="Fresh processes for each system and workload.")] = 5,
    baseline: Annotated[str | None, typer.Option(help="What ratios are against; it runs twice.")] = None,
    seed: Annotated[int, typer.Option(help="Of the order, the places and the values.")] = 0,
    workdir: Workdir = None,
    json: Annotated[Path, typer.Option("--json", "-o", help="The results file.")] = Path("bench.json"),
    resume: Annotated[bool, typer.Option("--resume", help="Go on where the results file ends.")] = False,
    list_: Annotated[bool, typer.Option("--list", help="Show the workloads and run nothing.")] = False,
    heavy: Annotated[bool, typer.Option("--heavy", help="With the workloads of tens of gigabytes.")] = False,
    time_limit: Annotated[float, typer.Option(min=1, help="Seconds for one process.")] = 120,
    query_time: Annotated[
        float,
        typer.Option(min=0.1, help="Seconds of calls for one query class; what is left is in proportion."),
    ] = 10,
    total_time: Annotated[float | None, typer.Option(min=1, help="Seconds for the whole run.")] = None,
    memory_limit: Annotated[float | None, typer.Option(min=0.01, help="GB for one process.")] = None,
    drop_caches: Annotated[
        bool, typer.Option("--drop-caches", help="Drop the page cache before reads (as root).")
    ] = False,
    environments: Home = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress, no tables.")] = False,
) -> None:
    """`bench run`: suites on systems, each in processes of its own."""

    from tessarray_bench.cli import run as command

    command.run(
        command.Request(
            suites=suites, systems=systems, workloads=workloads or [], adapters=adapter or [], scale=scale,
            repeats=repeats, baseline=baseline, seed=seed, workdir=workdir, out=json, resume=resume, heavy=heavy,
            time_limit=time_limit, query_time=query_time, total_time=total_time, memory_limit=memory_limit,
            drop_caches=drop_caches, home=environments, quiet=quiet,
        ),
        only_list=list_,
    )  # fmt: skip


@app.command(help=texts.SYSTEMS)
def systems(
    adapter: Annotated[list[Path] | None, typer.Option(help="A Python file with a system of yours.")] = None,
    environments: Home = None,
    as_json: Json = False,
) -> None:
    """`bench systems`: the systems, and whether each can run here."""

    from tessarray_bench.cli import systems as command

    command.show(adapter or [], environments, as_json)


@app.command(help=texts.INSTALL)
def install(
    groups: Annotated[
        list[str] | None, typer.Argument(metavar="[GROUP...]", help="peers, atlas (default: both).")
    ] = None,
    environments: Home = None,
) -> None:
    """`bench install`: the environments of the other systems."""

    from tessarray_bench.cli import systems as command

    command.install(groups or [], environments)


@app.command(help=texts.REPORT)
def report(
    files: Files,
    out: Annotated[Path, typer.Option("--out", "-o", help="The page.")] = Path("bench.html"),
    figures: Annotated[Path | None, typer.Option(help="Also PNG and SVG charts, in this folder.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Also CSV tables, in this folder.")] = None,
) -> None:
    """`bench report`: one page of results."""

    from tessarray_bench.cli import report as command

    command.run(files, out, figures, csv)


@app.command(help=texts.SHOW)
def show(
    files: Files,
    suite: Annotated[list[str] | None, typer.Option(help="Only this suite (repeatable).")] = None,
) -> None:
    """`bench show`: tables of results."""

    from tessarray_bench.cli import report as command

    command.show(files, suite or [])


@app.command(help=texts.COMPARE)
def compare(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="A results file.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="A later one.")],
    as_json: Json = False,
) -> None:
    """`bench compare`: what changed between two files of results."""

    from tessarray_bench.cli import report as command

    raise typer.Exit(command.compare(old, new, as_json))
