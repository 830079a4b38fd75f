"""`tessarray tune chunks|codecs|workers|memory|cost|where`: the studies as commands."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from tessarray.cli import tune_study_texts as texts

__all__ = ["register"]

Src = Annotated[
    str,
    typer.Argument(metavar="SRC", help="What convert reads: SRC, or SRC:NAME for a variable in it."),
]
Access = Annotated[
    list[str] | None,
    typer.Option(
        "--access",
        metavar="'NAME: [SEL] x W'",
        help="How it is read (repeatable); planes and lines where left out.",
    ),
]
Layout = Annotated[Path | None, typer.Option("--layout", metavar="LAYOUT.JSON", help="What tune proposed.")]
Codec = Annotated[str | None, typer.Option("--codec", help="Such as zstd:3; the array's own where left out.")]
Store = Annotated[str, typer.Option("--store", help="local, memory or s3-like(ttfb=30ms,bw=200MB/s).")]
Scratch = Annotated[Path | None, typer.Option("--scratch", help="The folder that local measures in.")]
Threads = Annotated[
    int | None, typer.Option("--threads", min=1, help="The most workers; one a core where left out.")
]
Seed = Annotated[int, typer.Option("--seed", help="The same random places again.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Plot = Annotated[
    Path | None, typer.Option("--plot", metavar="OUT.PNG", help="Write the chart (.png, .svg, .pdf).")
]


def _budget(default: str) -> Any:
    return typer.Option(help=f"Time for everything, as {default} or 2min.")


def register(app: typer.Typer) -> None:
    """Add the six commands to an app."""
    app.command("chunks", help=texts.CHUNKS)(chunks)
    app.command("codecs", help=texts.CODECS)(codecs)
    app.command("workers", help=texts.WORKERS)(workers)
    app.command("memory", help=texts.MEMORY)(memory)
    app.command("cost", help=texts.COST)(cost)
    app.command("where", help=texts.WHERE)(where)


def chunks(
    src: Src, access: Access = None, codec: Codec = None, budget: Annotated[str, _budget("20s")] = "20s",
    store: Store = "local", scratch: Scratch = None, threads: Threads = None, seed: Seed = 0, plot: Plot = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    from tessarray.tuner import studies

    _run(
        lambda told: studies.chunks(
            src, access, codec=codec, budget=budget, store=store, scratch=scratch, threads=threads, seed=seed,
            progress=told,
        ),
        plot, as_json,
    )  # fmt: skip


def codecs(
    src: Src,
    codec: Annotated[list[str] | None, typer.Option("--codec", help="Only this one (repeatable), as zstd:3.")] = None,
    readers: Annotated[
        str | None, typer.Option("--readers", help="Only codecs that these decode, as zarr-python,tensorstore.")
    ] = None,
    budget: Annotated[str, _budget("20s")] = "20s", store: Store = "memory", scratch: Scratch = None,
    threads: Threads = None, seed: Seed = 0, plot: Plot = None, as_json: Json = False,
) -> None:  # fmt: skip
    from tessarray.tuner import studies

    names = [name.strip() for name in readers.split(",") if name.strip()] if readers else None
    _run(
        lambda told: studies.codecs(
            src, codecs=codec or None, readers=names, budget=budget, store=store, scratch=scratch, threads=threads,
            seed=seed, progress=told,
        ),
        plot, as_json,
    )  # fmt: skip


def workers(
    src: Src, access: Access = None, layout: Layout = None, budget: Annotated[str, _budget("15s")] = "15s",
    store: Store = "local", scratch: Scratch = None, threads: Threads = None, seed: Seed = 0, plot: Plot = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    from tessarray.tuner import studies

    _run(
        lambda told: studies.workers(
            src, access, layout=layout, budget=budget, store=store, scratch=scratch, threads=threads, seed=seed,
            progress=told,
        ),
        plot, as_json,
    )  # fmt: skip


def memory(
    src: Src, layout: Layout = None, codec: Codec = None, budget: Annotated[str, _budget("60s")] = "60s",
    store: Store = "local", scratch: Scratch = None, threads: Threads = None, seed: Seed = 0, plot: Plot = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    from tessarray.tuner import studies

    _run(
        lambda told: studies.memory(
            src, layout=layout, codec=codec, budget=budget, store=store, scratch=scratch, threads=threads, seed=seed,
            progress=told,
        ),
        plot, as_json,
    )  # fmt: skip


def cost(
    src: Src,
    prices: Annotated[str, typer.Option("--prices", help="aws-s3, gcs, r2, or storage=0.023/GB-month,get=...")],
    accesses: Annotated[float, typer.Option("--accesses", metavar="N", help="Selections read in a month.")] = 1e6,
    access: Access = None, layout: Layout = None, codec: Codec = None, budget: Annotated[str, _budget("10s")] = "10s",
    store: Store = "memory", scratch: Scratch = None, threads: Threads = None, seed: Seed = 0, plot: Plot = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    from tessarray.tuner import studies

    _run(
        lambda told: studies.cost(
            src, access, prices=prices, accesses=accesses, layout=layout, codec=codec, budget=budget, store=store,
            scratch=scratch, threads=threads, seed=seed, progress=told,
        ),
        plot, as_json,
    )  # fmt: skip


def where(
    src: Annotated[str, typer.Argument(metavar="STORE", help="A Zarr store: STORE, or STORE:ARRAY.")],
    selection: Annotated[str | None, typer.Argument(metavar="SELECTION", help="As in NumPy: '[:, 7, 9]'.")] = None,
    access: Access = None, budget: Annotated[str, _budget("10s")] = "10s", store: Store = "local",
    scratch: Scratch = None, threads: Threads = None, seed: Seed = 0, plot: Plot = None, as_json: Json = False,
) -> None:  # fmt: skip
    from tessarray.cli.selection import parse_selection
    from tessarray.tuner import studies

    index = None if selection is None else parse_selection(selection)
    _run(
        lambda told: studies.where(
            src, index, access, budget=budget, store=store, scratch=scratch, threads=threads, seed=seed, progress=told
        ),
        plot, as_json,
    )  # fmt: skip


def _run(study: Callable[[Any], Any], plot: Path | None, as_json: bool) -> None:
    """Run a study with its progress on stderr, then print it, and write its chart."""
    from tessarray.cli.output import console, print_json
    from tessarray.cli.study_progress import Progress
    from tessarray.tuner.studies.plots import check_path
    from tessarray.tuner.studies.render import render

    if plot is not None:
        check_path(plot)
    with Progress() as progress:
        found = study(progress)
    if plot is not None:
        found.plot(plot)
    if as_json:
        print_json(found.document())
        return
    console().print(render(found))
    if plot is not None:
        console().print(f"chart: {plot}", markup=False)
