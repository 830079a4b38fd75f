"""`tessarray tune`: the search, its rerun, and the studies. `tune SRC ...` is short for `tune run SRC ...`."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from tessarray.cli import texts
from tessarray.cli.output import console, print_json

if TYPE_CHECKING:
    from tessarray.tuner import TuneResult

RUN = "run"


# Command -> the module that makes it, from values of the tuner: imported when the command is asked for, since that
# takes longer than most other commands do.
MADE_BY = {RUN: "tune_run", **dict.fromkeys(("chunks", "codecs", "workers", "memory"), "tune_studies")}


class DefaultRun(TyperGroup):
    """A group whose first word need not be a command: then it is `run`'s."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put `run` in front if no command is named."""
        if args and args[0] not in (*self.commands, *MADE_BY, "-h", "--help"):
            args = [RUN, *args]
        return super().parse_args(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:
        """Those there are, and those that can be made."""
        return list(dict.fromkeys((RUN, *super().list_commands(ctx), *MADE_BY)))

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """A command, made if need be."""
        if cmd_name not in self.commands and cmd_name in MADE_BY:
            made = typer.Typer(rich_markup_mode=None)
            importlib.import_module(f"tessarray.cli.{MADE_BY[cmd_name]}").register(made)
            self.commands.update(typer.main.get_group(made).commands)
        return super().get_command(ctx, cmd_name)


app = typer.Typer(cls=DefaultRun, help=texts.TUNE, no_args_is_help=True, rich_markup_mode=None)

Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Show no live view.")]
Apply = Annotated[
    Path | None, typer.Option(metavar="DST", help="Write the source there in the proposed layout.")
]
Report = Annotated[Path | None, typer.Option(metavar="PAGE.HTML", help="Write a page with charts.")]
Plot = Annotated[Path | None, typer.Option(metavar="CHART.PNG", help="Draw time against size.")]


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
    """`tessarray tune rerun`: the same run again, from the layout that it wrote."""

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
