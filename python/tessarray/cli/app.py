"""The commands and what they are called with. Each imports what it needs when it runs, so that `--help` is quick."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from tessarray.cli import texts
from tessarray.cli.collection import app as collection
from tessarray.cli.pack import app as pack
from tessarray.cli.tune import app as tune
from tessarray_bench.cli.app import app as bench

app = typer.Typer(
    name="tessarray",
    help=texts.APP,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

app.add_typer(bench, name="bench")
app.add_typer(pack, name="pack")
app.add_typer(collection, name="collection")
app.add_typer(tune, name="tune")

Store = Annotated[
    str, typer.Argument(metavar="STORE[:ARRAY]", help="A store: folder or .zip, and a path in it.")
]


class OnError(enum.Enum):
    """What becomes of a conversion with an object that cannot be converted."""

    skip = "skip"
    fail = "fail"


Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]


@app.command(help=texts.CONVERT)
def convert(
    src: Annotated[
        str, typer.Argument(metavar="SRC", help="netCDF, HDF5, Zarr, npy, npz, TIFF, or what xarray opens.")
    ],
    dst: Annotated[Path, typer.Argument(metavar="DST", help="A folder; or a name that ends in .zip or .nc.")],
    chunks: Annotated[
        str, typer.Option(help="auto, source, 10,64,64 or time=10,lat=64 (-1: whole axis).")
    ] = "auto",
    shards: Annotated[str, typer.Option(help="auto, none, or as chunks.")] = "auto",
    codec: Annotated[
        str, typer.Option(help="auto, none, blosc:lz4:5:shuffle, zstd:3 (.nc: deflate:4).")
    ] = "auto",
    checksum: Annotated[
        str,
        typer.Option(help="auto (every reader of the codec takes it), crc32c (a codec of its own), none."),
    ] = "auto",
    layout: Annotated[
        Path | None, typer.Option(metavar="LAYOUT.JSON", help="What tune proposed, for its variable.")
    ] = None,
    memory: Annotated[str, typer.Option(help="The most bytes in flight.")] = "1GiB",
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    verify: Annotated[bool, typer.Option("--verify", help="Compare every value with the source.")] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a store at DST.")] = False,
    include: Annotated[
        list[str] | None, typer.Option(help="Only this variable or pattern (repeatable).")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Not this variable or pattern (repeatable).")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Blocks at work at once.")] = None,
    zarr_format: Annotated[int, typer.Option(min=2, max=3, help="Zarr 3 or 2.")] = 3,
    on_error: Annotated[
        OnError, typer.Option(help="An object that has no form in DST: left out and listed, or an error.")
    ] = OnError.skip,
    follow_external: Annotated[
        bool, typer.Option("--follow-external", help="Read other files that an HDF5 file names.")
    ] = False,
    no_progress: Annotated[bool, typer.Option("--no-progress", help="Draw no bar.")] = False,
    as_json: Json = False,
) -> None:
    """`tessarray convert`: a file or a set of arrays into a store."""

    from tessarray.cli import convert as command

    command.run(
        src, dst, chunks=chunks, shards=shards, codec=codec, checksum=checksum, layout=layout, memory=memory,
        resume=resume, verify=verify, overwrite=overwrite, include=include, exclude=exclude, threads=threads,
        zarr_format=zarr_format, on_error=on_error.value, follow_external=follow_external, progress=not no_progress,
        as_json=as_json,
    )  # fmt: skip


@app.command(help=texts.INFO)
def info(store: Store, as_json: Json = False) -> None:
    """`tessarray info`: shapes, types, codecs and sizes."""

    from tessarray.cli import inspect

    inspect.info(store, as_json)


@app.command(help=texts.TREE)
def tree(store: Store, as_json: Json = False) -> None:
    """`tessarray tree`: the hierarchy, a line per node."""

    from tessarray.cli import inspect

    inspect.tree(store, as_json)


@app.command(help=texts.READ)
def read(
    store: Store,
    selection: Annotated[
        str, typer.Argument(metavar="SELECTION", help="As in NumPy: '[0, :, 10:20]'.")
    ] = "[...]",
    out: Annotated[Path | None, typer.Option(help="Write the values to this .npy file.")] = None,
    stats: Annotated[
        bool, typer.Option("--stats", help="Print minimum, maximum, mean and counts instead.")
    ] = False,
    as_json: Json = False,
) -> None:
    """`tessarray read`: print a selection, write it, or sum it up."""

    from tessarray.cli import read as command

    command.run(store, selection, out, stats, as_json)


@app.command(help=texts.EXPLAIN)
def explain(
    store: Store,
    selection: Annotated[
        str, typer.Argument(metavar="SELECTION", help="As in NumPy: '[0, :, 10:20]'.")
    ] = "[...]",
    limit: Annotated[str, typer.Option(help="Read a part that touches at most so much.")] = "128MiB",
    as_json: Json = False,
) -> None:
    """`tessarray explain`: why a read is slow."""

    from tessarray.cli import explain as command

    command.run(store, selection, limit, as_json)


@app.command(help=texts.CHECK)
def check(
    store: Annotated[str, typer.Argument(metavar="STORE", help="A store: folder or .zip.")],
    deep: Annotated[bool, typer.Option("--deep", help="Decode every chunk, too.")] = False,
    missing: Annotated[
        bool, typer.Option("--missing", help="Count chunks that are not stored, too.")
    ] = False,
    repair: Annotated[bool, typer.Option("--repair", help="Say what a repair would remove.")] = False,
    apply: Annotated[bool, typer.Option("--apply", help="With --repair: do it.")] = False,
    as_json: Json = False,
) -> None:
    """`tessarray check`: look for damage; exit code 1 if there is some."""

    from tessarray.cli import check as command

    raise typer.Exit(command.run(store, deep, missing, repair, apply, as_json))


@app.command(help=texts.COPY)
def copy(
    src: Annotated[str, typer.Argument(metavar="SRC", help="A store: folder or .zip.")],
    dst: Annotated[Path, typer.Argument(metavar="DST", help="A folder; or a name that ends in .zip.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a store at DST.")] = False,
) -> None:
    """`tessarray copy`: a store or a pack, byte by byte."""

    from tessarray.cli import copy as command

    command.run(Path(src), dst, overwrite)


@app.command(help=texts.DEMO)
def demo(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A file of yours.", show_default=False)
    ] = None,
    input_: Annotated[Path | None, typer.Option("--input", help="The same, as an option.")] = None,
    out: Annotated[Path, typer.Option(help="Where everything is put.")] = Path("demo-output"),
    size: Annotated[str, typer.Option(help="Of the cube it makes: tiny, small, medium or large.")] = "medium",
    as_json: Json = False,
) -> None:
    """`tessarray demo`: what the library does, on data of yours or made up."""

    from tessarray.demo import run

    run(file or input_, out, size, as_json)


@app.command(help=texts.CODECS)
def codecs(as_json: Json = False) -> None:
    """`tessarray codecs`: the codecs and their names."""

    from tessarray.cli import about

    about.codecs(as_json)


@app.command(help=texts.VERSION)
def version(as_json: Json = False) -> None:
    """`tessarray version`: of the package and of what it is built with."""

    from tessarray.cli import about

    about.version(as_json)
