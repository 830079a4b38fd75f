"""`tessarray collection`: build one, look into it, read across it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tessarray.cli import collection_texts as texts
from tessarray.cli import pack as of_packs
from tessarray.cli import texts as pack_texts
from tessarray.cli.output import console, print_json, print_table

if TYPE_CHECKING:
    from tessarray import Collection

app = typer.Typer(help=texts.COLLECTION, no_args_is_help=True, rich_markup_mode=None)

PackPath = Annotated[Path, typer.Argument(metavar="PACK", help="The folder of a collection.")]
Version = of_packs.Version
Json = of_packs.Json
NoProgress = of_packs.NoProgress
Where = Annotated[
    str | None, typer.Option(help="Only datasets for which this holds; see `collection where`.")
]
Names = Annotated[list[str] | None, typer.Option("--name", help="Only this dataset (repeatable).")]
SOME = 20


def _open(path: Path, version: str | None = None) -> Collection:
    from tessarray.collection import open_collection

    return open_collection(path, version)


def _chosen(collection: Collection, names: list[str] | None, where: str | None) -> list[str] | None:
    if where is None:
        return names
    found = collection.where(where)
    return found if names is None else [name for name in names if name in set(found)]


@app.command(help=texts.BUILD)
def build(
    sources: Annotated[
        list[str],
        typer.Argument(metavar="SOURCE... PACK", help="Files, folders and patterns; and the collection."),
    ],
    workers: Annotated[int | None, typer.Option(min=1, help="Threads that read and encode.")] = None,
    on_error: Annotated[str, typer.Option(help="Of a file that cannot be read: raise or skip.")] = "raise",
    include: Annotated[
        list[str] | None, typer.Option(help="Only this variable or pattern (repeatable).")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Not this variable or pattern (repeatable).")
    ] = None,
    chunks: Annotated[str, typer.Option(help="auto, 10,64,64 or time=10,lat=64 (-1: whole axis).")] = "auto",
    codec: Annotated[str, typer.Option(help="auto, none, blosc:zstd:1:shuffle, zstd:3.")] = "auto",
    incremental: Annotated[
        bool, typer.Option("--incremental", help="Add what is new or has changed.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a collection that is there.")
    ] = False,
    names: Annotated[
        str | None, typer.Option(help="Of datasets: path (folders and stem, as 2024-01-cast) or stem.")
    ] = None,
    root: Annotated[str | None, typer.Option(help="The folder that names begin at.")] = None,
    no_progress: NoProgress = False,
    as_json: Json = False,
) -> None:
    """`collection build`: a collection of files, or more files into one."""

    from tessarray.cli.convert import parse_extents
    from tessarray.collection import build_collection
    from tessarray.errors import InvalidArgumentError

    if len(sources) < 2:
        raise InvalidArgumentError("build: expected sources and the collection, found one path")
    if on_error not in ("raise", "skip"):
        raise InvalidArgumentError(f"--on-error: expected raise or skip, found {on_error!r}")
    if names not in (None, "path", "stem"):
        raise InvalidArgumentError(f"--names: expected path or stem, found {names!r}")
    with of_packs.bar("build", not no_progress) as progress:
        report = build_collection(
            sources[:-1],
            sources[-1],
            workers=workers,
            on_error="skip" if on_error == "skip" else "raise",
            include=include,
            exclude=exclude,
            chunks=parse_extents(chunks),
            compressors=None if codec == "none" else codec,
            incremental=incremental,
            overwrite=overwrite,
            names="stem" if names == "stem" else None if names is None else "path",
            root=root,
            progress=progress,
        )
    if as_json:
        print_json(vars(report))
        return
    from tessarray.display.units import byte_text, time_text

    counts = f"{len(report.added)} added"
    if incremental:
        counts += f", {len(report.changed)} changed, {report.unchanged} as they were"
    console().print(
        f"{report.collection} version {report.version}: {counts}; {byte_text(report.bytes)} in "
        f"{time_text(report.seconds)}"
    )
    _list("moved, and known by their content", list(report.moved))
    _list("skipped", [f"{path}: {reason}" for path, reason in report.skipped])
    _list("gone, and kept in the collection", list(report.removed))
    _list("warnings", list(report.warnings))


def _list(title: str, lines: list[str]) -> None:
    if lines:
        console().print(f"{title}: {len(lines)}")
        for line in lines[:SOME]:
            console().print(f"  {line}", markup=False)
        if len(lines) > SOME:
            console().print(f"  and {len(lines) - SOME} more (--json lists all)")


@app.command(help=texts.LS)
def ls(pack: PackPath, where: Where = None, version: Version = None, as_json: Json = False) -> None:
    """`collection ls`: names of datasets, all or by a condition."""
    opened = _open(pack, version)
    names = opened.names if where is None else opened.where(where)
    if as_json:
        print_json(names)
    else:
        for name in names:
            print(name)


@app.command(help=texts.SHOW)
def show(
    pack: PackPath,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The dataset.")],
    version: Version = None,
    as_json: Json = False,
) -> None:
    """`collection show`: variables and attributes of one dataset."""
    dataset = _open(pack, version)[name]
    rows = [
        (
            variable,
            str(array.dtype),
            tuple(array.shape),
            tuple(array.dimension_names or ()),
            dict(array.attrs),
        )
        for variable, array in dataset.items()
    ]
    if as_json:
        keys = ("variable", "dtype", "shape", "dims", "attributes")
        print_json(
            {
                "name": name,
                "attributes": dataset.attrs,
                "variables": [dict(zip(keys, row, strict=True)) for row in rows],
            }
        )
        return
    table = [
        (variable, dtype, shape, ", ".join(dim or "" for dim in dims), attrs.get("units", ""))
        for variable, dtype, shape, dims, attrs in rows
    ]
    print_table(("variable", "dtype", "shape", "dimensions", "units"), table)
    for key, value in dataset.attrs.items():
        if not key.startswith("_nc"):
            console().print(f"{key}: {value}", markup=False)


@app.command(help=texts.SCHEMA)
def schema(pack: PackPath, version: Version = None, as_json: Json = False) -> None:
    """`collection schema`: what the datasets have in common."""
    found = _open(pack, version).merged_schema()
    if as_json:
        variables = {
            name: vars(one) | {"dims": [[list(dims or ()), n] for dims, n in one.dims.items()]}
            for name, one in found.variables.items()
        }
        print_json({"datasets": found.datasets, "variables": variables, "differences": found.differences})
    else:
        print(found)


@app.command(help=texts.STATS)
def stats(
    pack: PackPath,
    variable: Annotated[
        list[str] | None, typer.Argument(metavar="[VARIABLE]...", help="Only these.", show_default=False)
    ] = None,
    each: Annotated[bool, typer.Option("--each", help="A line for each dataset.")] = False,
    version: Version = None,
    as_json: Json = False,
) -> None:
    """`collection stats`: minimum, maximum, mean and counts, without reading values."""

    from tessarray.cli.collection_read import statistics

    rows = statistics(_open(pack, version), variable, each)
    if as_json:
        print_json(rows)
    else:
        print_table(tuple(rows[0]) if rows else (), [tuple(row.values()) for row in rows])


@app.command(help=texts.READ)
def read(
    pack: PackPath,
    variable: Annotated[str, typer.Argument(metavar="VARIABLE", help="The variable.")],
    selection: Annotated[
        str, typer.Argument(metavar="SELECTION", help="Of each array, as in NumPy: '[0, :10]'.")
    ] = "[...]",
    name: Names = None,
    where: Where = None,
    missing: Annotated[str, typer.Option(help="Of datasets without it: error, skip or fill.")] = "skip",
    decode: Annotated[
        bool, typer.Option("--decode/--raw", help="Unpack, and put NaN for fill values; or as stored.")
    ] = True,
    clip: Annotated[
        bool, typer.Option("--clip", help="Slices end where an array ends, instead of an error.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="Write values, names and shapes to this .npz file.")
    ] = None,
    values: Annotated[bool, typer.Option("--values", help="Print the values.")] = False,
    version: Version = None,
    as_json: Json = False,
) -> None:
    """`collection read`: a variable of many datasets."""

    from tessarray.cli import collection_read

    opened = _open(pack, version)
    names = _chosen(opened, name, where)
    collection_read.run(opened, variable, selection, names, missing, decode, out, values, as_json, clip)


@app.command(help=texts.ADD)
def add(
    pack: PackPath,
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Files, as convert reads them.")],
) -> None:
    """`collection add`: files as further datasets."""

    from tessarray.collection import build_collection

    _open(pack)
    report = build_collection(files, pack, names="stem", incremental=True)
    changed = f", {len(report.changed)} changed" if report.changed else ""
    same = f", {report.unchanged} there already" if report.unchanged else ""
    console().print(f"version {report.version}: {len(report.added)} added{changed}{same}")


@app.command(help=texts.REMOVE)
def remove(
    pack: PackPath,
    names: Annotated[list[str], typer.Argument(metavar="NAME...", help="Datasets.")],
) -> None:
    """`collection remove`: datasets, in one transaction."""
    opened = _open(pack)
    with opened.transaction(f"remove {len(names)} datasets") as tx:
        for name in names:
            tx.remove(name)
    console().print(f"version {opened.version}: {len(names)} removed")


@app.command(help=texts.WHERE)
def where(
    pack: PackPath,
    condition: Annotated[str, typer.Argument(metavar="CONDITION", help="A condition.")],
    version: Version = None,
    as_json: Json = False,
) -> None:
    """`collection where`: names of datasets for which a condition holds."""
    ls(pack, condition, version, as_json)


@app.command(help=texts.EXPORT)
def export(
    pack: PackPath,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The dataset.")],
    dst: Annotated[Path, typer.Argument(metavar="DST", help="A folder; or a name that ends in .zip or .nc.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is there.")] = False,
    version: Version = None,
) -> None:
    """`collection export`: one dataset as a file or a folder."""
    report = _open(pack, version).export(name, dst, overwrite=overwrite)
    console().print(f"{name} -> {dst}: {report.arrays} variables, {report.bytes} bytes")


app.command(name="compact", help=pack_texts.PACK_COMPACT)(of_packs.compact)
app.command(name="check", help=pack_texts.PACK_CHECK)(of_packs.check)
app.command(name="versions", help=pack_texts.PACK_VERSIONS)(of_packs.versions)
