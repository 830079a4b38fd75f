"""`tessarray tune chunks|codecs|workers|memory`: every study as a command, made from its own parameters."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tessarray.cli import tune_study_texts as texts
from tessarray.cli.tune_options import option, parameters_of, with_parameters

if TYPE_CHECKING:
    from tessarray.tuner.studies.runner import Kind

__all__ = ["register"]

# Parameter of a study -> the option that gives it.
OPTIONS: dict[str, inspect.Parameter] = {
    one.name: one
    for one in (
        option(
            "queries", None, "How it is read (repeatable); planes and lines if left out.", "'NAME: [SEL] x W'",
            list[str], "--access",
        ),
        option("layout", None, "What tune proposed.", "LAYOUT.JSON"),
        option("codec", None, "Such as zstd:3; the array's own if left out."),
        option("codecs", None, "Only this one (repeatable), as zstd:3.", None, list[str], "--codec"),
        option("readers", None, "Only codecs that these decode, as zarr-python,tensorstore."),
    )
}  # fmt: skip
Src = Annotated[
    str,
    typer.Argument(metavar="SRC", help="What convert reads: SRC, or SRC:NAME for a variable in it."),
]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="OUT.PNG", help="Write the chart (.png, .svg, .pdf).")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


def register(app: typer.Typer) -> None:
    """Add a command for each study to an app."""
    from tessarray.tuner import studies
    from tessarray.tuner.studies.runner import KINDS

    assert set(studies.__all__) >= set(KINDS)
    for kind in KINDS.values():
        app.command(kind.name, help=texts.HELP[kind.name])(_command(kind))


def _command(kind: Kind) -> Any:
    own = [OPTIONS[one.name] for one in kind.parameters]

    @with_parameters([*own, *parameters_of(kind.budget)])
    def command(src: Src, options: dict[str, Any], plot: Plot = None, as_json: Json = False) -> None:
        from tessarray.cli.output import console, print_json
        from tessarray.cli.study_progress import Progress
        from tessarray.tuner.studies.model import check_picture
        from tessarray.tuner.studies.render import render

        if plot is not None:
            check_picture(plot)
        with Progress() as progress:
            found = kind.run(src, progress=progress, **{name: one or None for name, one in options.items()})
        if plot is not None:
            found.plot(plot)
        if as_json:
            print_json(found.document())
            return
        console().print(render(found))
        if plot is not None:
            console().print(f"chart: {plot}", markup=False)

    return command
