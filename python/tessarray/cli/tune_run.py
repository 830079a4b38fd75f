"""`tessarray tune run`: the search. Its options are those of what is asked (`tessarray.tuner.request`)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from tessarray.cli import texts
from tessarray.cli.tune import RUN, Apply, Json, NoProgress, Plot, Report, finish
from tessarray.cli.tune_options import parameters_of, with_parameters
from tessarray.tuner.request import Access, Budget, Limits

__all__ = ["register"]

Source = Annotated[
    str, typer.Argument(metavar="SRC[:VARIABLE]", help="Zarr, netCDF, HDF5, npy, TIFF; and an array in it.")
]
Queries = Annotated[
    list[str] | None,
    typer.Option(metavar="'NAME: [SELECTION] x WEIGHT'", help="A query class (repeatable). See above."),
]
Out = Annotated[
    Path, typer.Option(metavar="LAYOUT.JSON", help="Where the proposal is written ('none': nowhere).")
]


def register(app: typer.Typer) -> None:
    """Add the command to an app."""
    app.command(RUN, help=texts.TUNE_RUN)(run)


@with_parameters(parameters_of(Access, Limits, Budget))
def run(
    src: Source,
    options: dict[str, Any],
    access: Queries = None,
    objective: Annotated[str, typer.Option(help="read, size, write or balanced.")] = "read",
    apply: Apply = None,
    out: Out = Path("layout.json"),
    report: Report = None,
    plot: Plot = None,
    every: Annotated[bool, typer.Option("--all", help="Show every candidate.")] = False,
    no_progress: NoProgress = False,
    as_json: Json = False,
) -> None:
    from tessarray.cli.tune_live import live
    from tessarray.tuner import tune

    with live(not no_progress and not as_json) as listener:
        result = tune(src, access or None, objective=objective, progress=listener, **options)
    finish(result, out, report, plot, apply, every, as_json)
