"""`tessarray pack`: the history of a pack, and looking after it."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tessarray.cli import texts
from tessarray.cli.output import console, print_json, print_table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from tessarray import Pack
    from tessarray.pack_reports import Damage, Leftovers

app = typer.Typer(help=texts.PACK, no_args_is_help=True, rich_markup_mode=None)

PackPath = Annotated[Path, typer.Argument(metavar="PACK", help="The folder of a pack.")]
Version = Annotated[str | None, typer.Option(help="A number, a tag or a moment (default: the latest).")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
NoProgress = Annotated[bool, typer.Option("--no-progress", help="Draw no bar.")]


def _open(path: Path, version: str | None = None) -> Pack:
    import tessarray

    return tessarray.open_pack(path, version)


@contextmanager
def bar(title: str, shown: bool) -> Iterator[Callable[[int, int], None] | None]:
    """A progress bar on stderr, as a function of what is done and of what is to do; `None` if nobody looks."""

    from rich.console import Console
    from rich.progress import Progress

    err = Console(stderr=True)
    if not shown or not err.is_terminal:
        yield None
        return
    with Progress(console=err) as progress:
        task = progress.add_task(title, total=None)
        yield lambda done, total: progress.update(task, completed=done, total=total)


def _show(damage: Iterable[Damage]) -> None:
    rows = ((one.file, one.offset, one.path, _numbers(one.versions), one.problem) for one in damage)
    print_table(("file", "offset", "path", "versions", "problem"), rows)


def _numbers(versions: Sequence[int]) -> str:
    """Version numbers in order, runs of them shortened: `1-4, 7`."""
    runs: list[list[int]] = []
    for number in sorted(versions):
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs)


@app.command(help=texts.PACK_VERSIONS)
def versions(pack: PackPath, as_json: Json = False) -> None:
    """`pack versions`: the versions that are there, with their tags."""
    opened = _open(pack)
    tags: dict[int, list[str]] = {}
    for name, number in opened.tags().items():
        tags.setdefault(number, []).append(name)
    found = opened.versions()
    if as_json:
        print_json([vars(one) | {"tags": tags.get(one.number, [])} for one in found])
        return
    rows = [
        (
            one.number,
            one.time.strftime("%Y-%m-%d %H:%M:%S"),
            one.author,
            ", ".join(tags.get(one.number, [])),
            f"+{one.created} ~{one.changed} -{one.deleted}",
            one.message,
        )
        for one in found
    ]
    print_table(("version", "time (UTC)", "author", "tags", "nodes", "message"), rows)


@app.command(help=texts.PACK_DIFF)
def diff(
    pack: PackPath,
    before: Annotated[str, typer.Argument(metavar="BEFORE", help="A number, a tag or a moment.")],
    after: Annotated[
        str | None, typer.Argument(metavar="[AFTER]", help="The same (default: the latest).")
    ] = None,
    as_json: Json = False,
) -> None:
    """`pack diff`: what changed between two versions."""
    found = _open(pack).diff(before, after)
    if as_json:
        print_json([vars(one) for one in found])
    elif found:
        print_table(("change", "chunks", "path"), [(one.change, one.chunks, one.path) for one in found])
    else:
        console().print("no difference")


@app.command(help=texts.PACK_TAG)
def tag(
    pack: PackPath,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The tag.")],
    version: Version = None,
    delete: Annotated[bool, typer.Option("--delete", help="Take the tag away.")] = False,
) -> None:
    """`pack tag`: name a version, or take the name away."""
    opened = _open(pack)
    if not delete:
        opened.tag(name, version)
    elif not opened.untag(name):
        console().print(f"no tag {name!r}")
        raise typer.Exit(1)


@app.command(help=texts.PACK_ROLLBACK)
def rollback(
    pack: PackPath, version: Annotated[str, typer.Argument(metavar="VERSION", help="To go back to.")]
) -> None:
    """`pack rollback`: a new version with the content of an old one."""
    console().print(f"version {_open(pack).rollback(version)} has the content of {version}")


@app.command(help=texts.PACK_COMPACT)
def compact(pack: PackPath, no_progress: NoProgress = False) -> None:
    """`pack compact`: store everything anew, each array in one run."""
    with bar("compact", not no_progress) as progress:
        done = _open(pack).compact(progress=progress)
    console().print(
        f"version {done.number} has the same content, stored anew; `pack expire` removes the old bytes"
    )


@app.command(help=texts.PACK_EXPIRE)
def expire(
    pack: PackPath,
    keep: Annotated[int, typer.Option(min=1, help="So many of the latest versions.")] = 1,
    retention: Annotated[str, typer.Option(help="And all that began within this time: 12h, 7d.")] = "1d",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would go.")] = False,
    as_json: Json = False,
) -> None:
    """`pack expire`: remove old versions and what only they needed."""
    opened = _open(pack)
    done = opened.expire(keep, retention, dry_run)
    if as_json:
        print_json(vars(done))
        return
    from tessarray.display.units import byte_text

    verb = "would go" if dry_run else "removed"
    console().print(f"{len(done.versions)} versions, {done.files} files, {byte_text(done.nbytes)} {verb}")
    older = 0 if done.versions else len(opened.versions()) - keep
    if older > 0:
        console().print(
            f"{older} older versions are kept: tagged, or begun within the retention of {retention}"
        )


def _show_leftovers(left: Leftovers, what: str) -> None:
    if left.files:
        from tessarray.display.units import byte_text

        console().print(f"{left.files} files, {byte_text(left.nbytes)}, {what}")


@app.command(help=texts.PACK_CHECK)
def check(
    pack: PackPath,
    deep: Annotated[bool, typer.Option("--deep", help="Read every chunk, too.")] = False,
    no_progress: NoProgress = False,
    as_json: Json = False,
) -> None:
    """`pack check`: look for damage; exit code 1 if there is some."""
    opened = _open(pack)
    with bar("check", not no_progress) as progress:
        found = opened.check(deep, progress)
    if as_json:
        print_json([vars(one) for one in found])
    elif found:
        _show(found)
    else:
        console().print("no damage found")
    if not as_json:
        _show_leftovers(opened.leftovers(), "left half written by killed writers: `pack expire` removes them")
    raise typer.Exit(1 if found else 0)


@app.command(help=texts.PACK_REPAIR)
def repair(
    pack: PackPath,
    apply: Annotated[bool, typer.Option("--apply", help="Do it.")] = False,
    no_progress: NoProgress = False,
) -> None:
    """`pack repair`: a version without what is damaged."""
    opened = _open(pack)
    left = opened.leftovers()
    with bar("repair", not no_progress) as progress:
        done = opened.repair(apply, progress)
    _show_leftovers(
        left, f"left half written by killed writers: {'removed' if apply else '--apply removes them'}"
    )
    if not done.damage:
        console().print("nothing to repair")
        return
    _show(done.damage)
    if done.version is not None:
        console().print(f"version {done.version} is without them: {done.lost} chunks and values are lost")
        return
    console().print(f"nothing was changed: --apply makes a version without them; {done.lost} would be lost")
    raise typer.Exit(1)


@app.command(help=texts.PACK_EXPORT)
def export(
    pack: PackPath,
    dst: Annotated[Path, typer.Argument(metavar="DST", help="A folder; or a name that ends in .zip.")],
    version: Version = None,
    path: Annotated[str, typer.Option(help="Only what is below this path.")] = "",
    no_progress: NoProgress = False,
) -> None:
    """`pack export`: a version as a plain store."""
    from tessarray.display.units import byte_text

    with bar("export", not no_progress) as progress:
        done = _open(pack).export(dst, version, path=path, progress=progress)
    console().print(f"{pack} -> {dst}: {done.copied} keys, {byte_text(done.bytes_copied)}")


@app.command(help=texts.PACK_CATALOGUE)
def catalogue(
    pack: PackPath,
    sql: Annotated[str | None, typer.Option(help="A query; the table is called catalogue.")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the catalogue to this .parquet file.")] = None,
    version: Version = None,
    as_json: Json = False,
) -> None:
    """`pack catalogue`: the table of all stored objects, or a query of it."""
    opened = _open(pack, version)
    if out is not None:
        out.write_bytes(opened.catalogue_parquet())
        console().print(f"{out}: the catalogue of version {opened.version}")
        return
    columns, rows = opened.catalogue(sql or texts.PACK_CATALOGUE_SQL)
    if as_json:
        print_json([dict(zip(columns, row, strict=True)) for row in rows])
    else:
        print_table(tuple(columns), rows)
