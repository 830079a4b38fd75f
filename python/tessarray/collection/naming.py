"""Which files a build takes, and the name of the dataset that each becomes.

A name depends on the path of its file alone, never on the other files of a call. So an archive that is added month by
month has the names that it would have if all of it were added at once.

1. A path that a dataset was made from keeps the name of that dataset.
2. `name=` or `names="stem"` decide where they are given.
3. Else the name is the path below the folder that names begin at: that of an earlier dataset if the file lies in it
   (the innermost of these), else the folder or the fixed part of the pattern that was given. A file given by its own
   path lies directly in such a folder: its name is its stem.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tessarray.conversion.sources.detect import ZARR_DOCUMENTS
from tessarray.errors import ExistsError, InvalidArgumentError, NotFoundError
from tessarray.stores import local_path, pack_of

Names = Literal["path", "stem"]


@dataclass(frozen=True)
class SourceFile:
    """A file, the dataset that it becomes, the folder its name begins at, and whether a folder was searched for it."""

    path: Path
    name: str
    root: str | None
    searched: bool


@dataclass(frozen=True)
class Naming:
    """What a caller says of names; see `build_collection`."""

    name: Callable[[Path], str] | None = None
    names: Names | None = None
    root: str | os.PathLike[str] | None = None


def source_files(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    naming: Naming,
    known: Mapping[str, Mapping[str, Any]],
) -> list[SourceFile]:
    """The files of sources, in order, each once. known: what datasets were made from, by their names.

    Raises `InvalidArgumentError` where two files would become one dataset.
    """
    if naming.names not in (None, "path", "stem"):
        raise InvalidArgumentError(f"names: expected 'path' or 'stem', found {naming.names!r}")
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    stored = {source["path"]: name for name, source in known.items()}
    roots = {Path(source["root"]) for source in known.values() if source.get("root")}
    stem = naming.names == "stem" or (
        naming.names is None and any(source.get("names") == "stem" for source in known.values())
    )
    fixed = None if naming.root is None else Path(local_path(os.fspath(naming.root))).resolve()
    found: dict[Path, SourceFile] = {}
    for one in given:
        own, files = _search(local_path(os.fspath(one)))
        used = set()
        for path, lexical in sorted({path.resolve(): path for path in files}.items()):
            if path in found:
                continue
            inside = [root for root in roots if path.is_relative_to(root)]
            root = fixed or max(inside, key=lambda one: len(one.parts), default=own)
            if str(path) in stored:
                name = stored[str(path)]
            elif naming.name is not None:
                name = naming.name(path)
            elif stem:
                name = path.stem
            else:
                name = _below(root, path, lexical, fixed is not None)
            used |= {root} if root is not None else set()
            found[path] = SourceFile(path, name, None if root is None else str(root), own is not None)
        roots |= used
    _refuse_clashes(found.values())
    return list(found.values())


def _below(root: Path | None, path: Path, lexical: Path, strict: bool) -> str:
    """A path below a folder as a name: its folders and its stem."""
    if root is None:
        return path.stem
    if path.is_relative_to(root):
        inner = path.relative_to(root)
    elif strict:
        raise InvalidArgumentError(f"build: {path} does not lie in root {root}")
    else:
        # A link that leads out of the folder: its own place counts.
        lexical = lexical.absolute()
        inner = Path(lexical.name)
        for parent in lexical.parents:
            if parent.resolve() == root:
                inner = lexical.relative_to(parent)
                break
    return "-".join([*inner.parent.parts, inner.stem])


def _refuse_clashes(files: Iterable[SourceFile]) -> None:
    found: dict[str, Path] = {}
    for file in files:
        if file.name in found:
            raise InvalidArgumentError(
                f"build: {found[file.name]} and {file.path} would both be dataset {file.name!r}: {_cures(file)}"
            )
        found[file.name] = file.path


def _cures(file: SourceFile) -> str:
    above = file.path.parent.parent
    return f"let names begin further up (root={str(above)!r}, --root at the command line), or pass name="


def refuse_taken(
    files: Iterable[SourceFile], known: Mapping[str, Mapping[str, Any]], taken: set[str]
) -> None:
    """Raise `ExistsError` where a file would become a dataset that was made from another, which is still there."""
    for file in files:
        if file.name in taken and file.name not in known:
            raise ExistsError(
                f"build: dataset {file.name!r} is there, and was not made from {file.path}: "
                "rename or remove it, or pass name=",
                path=file.name,
            )
        source = known.get(file.name)
        if source is not None and source["path"] != str(file.path) and Path(source["path"]).exists():
            raise clash(file, source["path"])


def clash(file: SourceFile, other: str) -> ExistsError:
    """The error of a file whose dataset was made from another one."""
    return ExistsError(
        f"build: {file.path} would be dataset {file.name!r}, which was made from {other}: {_cures(file)}",
        path=file.name,
    )


def doubled(known: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A sentence for each file of which a collection has two datasets, as builds once could leave them."""
    by_path: dict[str, list[str]] = {}
    for name, source in known.items():
        by_path.setdefault(source["path"], []).append(name)
    return [
        f"{path}: datasets {', '.join(map(repr, names))} were all made from it; remove all but one"
        for path, names in by_path.items()
        if len(names) > 1
    ]


def _search(pattern: str) -> tuple[Path | None, Iterator[Path]]:
    """The folder that names begin at, unless one file was given, and the files."""
    path = Path(pattern)
    if not path.exists():
        found = [Path(one) for one in glob.iglob(pattern, recursive=True)]  # noqa: PTH207 - takes absolute patterns
        if not found:
            raise NotFoundError(f"{pattern}: no such file, and no file matches", path=pattern)
        parts = list(path.parts)
        while parts and glob.has_magic("/".join(parts)):
            parts.pop()
        return Path(*parts).resolve(), (one for one in found if one.is_file() or _is_zarr(one))
    if path.is_file() or _is_zarr(path):
        return None, iter([path])
    return path.resolve(), _files_in(path)


def _files_in(folder: Path) -> Iterator[Path]:
    """Files and Zarr stores below a folder; a pack is neither."""
    for one in folder.iterdir():
        if one.is_file() or _is_zarr(one):
            yield one
        elif one.is_dir() and pack_of(one) is None:
            yield from _files_in(one)


def _is_zarr(path: Path) -> bool:
    return path.is_dir() and any((path / name).is_file() for name in ZARR_DOCUMENTS)
