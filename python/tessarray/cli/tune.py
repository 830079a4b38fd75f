"""`tessarray tune`: the search, its rerun, and the studies. `tune SRC ...` is short for `tune run SRC ...`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from tessarray.cli import texts
from tessarray.cli.output import console, print_json
from tessarray.cli.tune_studies import register

if TYPE_CHECKING:
    from tessarray.tuner import TuneResult

RUN = "run"
DEFAULT_OUT = Path("layout.json")


class DefaultRun(TyperGroup):
    """A group whose first word need not be a command: then it is `run`'s."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` in front where no command is named."""
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = [RUN, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(cls=DefaultRun, help=texts.TUNE, no_args_is_help=True, rich_markup_mode=None)

Source = Annotated[
    str, typer.Argument(metavar="SRC[:VARIABLE]", help="Zarr, netCDF, HDF5, npy, TIFF; and an array in it.")
]
Access = Annotated[
    list[str] | None,
    typer.Option(metavar="'NAME: [SELECTION] x WEIGHT'", help="A query class (repeatable). See above."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no live view.")]
Budget = Annotated[str, typer.Option(help="Time for everything: 60s, 5min.")]
Out = Annotated[
    Path, typer.Option(metavar="LAYOUT.JSON", help="Where the proposal is written ('none': nowhere).")
]
Apply = Annotated[
    Path | None, typer.Option(metavar="DST", help="Write the source there in the proposed layout.")
]
Report = Annotated[Path | None, typer.Option(metavar="PAGE.HTML", help="Write a page with charts.")]
Plot = Annotated[Path | None, typer.Option(metavar="CHART.PNG", help="Draw time against size.")]


@app.command(RUN, help=texts.TUNE_RUN)
def run(
    src: Source,
    access: Access = None,
    log: Annotated[Path | None, typer.Option(help="A log of tessarray.record, in place of --access.")] = None,
    objective: Annotated[str, typer.Option(help="read, size, write or balanced.")] = "read",
    budget: Budget = "60s",
    store: Annotated[
        str, typer.Option(help="local, memory or 's3-like(ttfb=30ms,bw=200MB/s,concurrency=16)'.")
    ] = "local",
    scratch: Annotated[Path | None, typer.Option(help="The folder that 'local' measures in.")] = None,
    max_files: Annotated[int, typer.Option(help="The most objects the array may have.")] = 10_000,
    max_shard: Annotated[str, typer.Option(help="The most bytes of values in one object.")] = "256MB",
    max_size: Annotated[
        str,
        typer.Option(help="Of the whole array: 2GB, a factor on the present or zarr-python's size, or none."),
    ] = "1.1x",
    append_axis: Annotated[
        str | None, typer.Option(metavar="AXIS[:LENGTH]", help="The axis that grows, by LENGTH a time.")
    ] = None,
    readers: Annotated[
        str, typer.Option(help="Libraries that must decode it: zarr-python, tensorstore, zarrs, tessarray.")
    ] = "zarr-python,tensorstore,zarrs",
    memory: Annotated[
        str, typer.Option(help="The most above the values, for reads, writes and tuning.")
    ] = "4GB",
    lossy: Annotated[
        str | None, typer.Option(metavar="tolerance=1e-3", help="Values may change so much.")
    ] = None,
    prices: Annotated[
        str | None, typer.Option(help="Of a priced store: aws-s3, or storage=0.023/GB-month,...")
    ] = None,
    accesses: Annotated[float, typer.Option(help="A month, for --prices.")] = 1e6,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Workers to measure with (default: cores).")
    ] = None,
    seed: Annotated[int, typer.Option(help="The same draws again.")] = 0,
    apply: Apply = None,
    out: Out = DEFAULT_OUT,
    report: Report = None,
    plot: Plot = None,
    every: Annotated[bool, typer.Option("--all", help="Show every candidate.")] = False,
    no_progress: NoProgress = False,
    as_json: Json = False,
) -> None:
    from tessarray.cli.tune_live import live
    from tessarray.tuner import tune

    with live(not no_progress and not as_json) as listener:
        result = tune(
            src,
            access or None,
            log=log,
            objective=objective,
            budget=budget,
            store=store,
            scratch=scratch,
            max_files=max_files,
            max_shard=max_shard,
            max_size=None if max_size == "none" else max_size,
            append_axis=append_axis,
            readers=[name.strip() for name in readers.split(",") if name.strip()],
            memory=memory,
            lossy=lossy,
            prices=prices,
            accesses=accesses,
            threads=threads,
            seed=seed,
            progress=listener,
        )
    finish(result, out, report, plot, apply, every, as_json)


@app.command("rerun", help=texts.TUNE_RERUN)
def rerun(
    layout: Annotated[Path, typer.Argument(metavar="LAYOUT.JSON", help="What tune wrote.")],
    src: Annotated[
        str | None, typer.Option("--source", metavar="SRC[:VARIABLE]", help="Another source than it names.")
    ] = None,
    budget: Annotated[str | None, typer.Option(help="Another budget than it had.")] = None,
    seed: Annotated[int | None, typer.Option(help="Other draws than it had.")] = None,
    out: Annotated[
        Path, typer.Option(metavar="LAYOUT.JSON", help="Where the new result is written ('none': nowhere).")
    ] = Path("none"),
    report: Report = None,
    plot: Plot = None,
    no_progress: NoProgress = False,
    as_json: Json = False,
) -> None:
    from tessarray.cli.tune_live import live
    from tessarray.tuner.proving import prove

    with live(not no_progress and not as_json) as listener:
        proof = prove(layout, src, budget=budget, seed=seed, progress=listener)
    finish(proof.result, out, report, plot, None, False, as_json)
    if not as_json:
        console().print(proof.text())


def finish(
    result: TuneResult, out: Path, report: Path | None, plot: Path | None, apply: Path | None, every: bool,
    as_json: bool,
) -> None:  # fmt: skip
    """Write what was asked for, print, and apply last: a failed copy must not lose the measurement."""
    saved = None if str(out) == "none" else str(result.save(out))
    if report is not None:
        result.report(report)
    if plot is not None:
        result.plot(plot)
    if as_json:
        print_json(result.document())
    else:
        from tessarray.tuner.table import show

        show(result, console(), saved=saved, every=every)
    if apply is not None:
        done = result.apply(apply)
        if not as_json:
            from tessarray.cli.convert import show as show_copy

            show_copy(done)


register(app)
