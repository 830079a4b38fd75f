"""The files of a build: which they are, and what is in each."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessarray.collection.given import Given, of_source
from tessarray.conversion.patterns import chosen, patterns
from tessarray.conversion.sources import open_source
from tessarray.conversion.sources.detect import ZARR_DOCUMENTS
from tessarray.errors import InvalidArgumentError, NotFoundError


def named_files(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]], name: Callable[[Path], str] | None
) -> dict[str, Path]:
    """The files of sources, by the names of their datasets."""
    given = [sources] if isinstance(sources, str | os.PathLike) else list(sources)
    paths = sorted({path.resolve() for one in given for path in _files(os.fspath(one))})
    if name is not None:
        return _unique((name(path), path) for path in paths)
    stems: dict[str, int] = {}
    for path in paths:
        stems[path.stem] = stems.get(path.stem, 0) + 1
    common = Path(os.path.commonpath([path.parent for path in paths])) if paths else Path()
    labels = (
        path.stem if stems[path.stem] == 1 else "-".join([*path.relative_to(common).parent.parts, path.stem])
        for path in paths
    )
    return _unique(zip(labels, paths, strict=True))


def _unique(pairs: Iterable[tuple[str, Path]]) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for label, path in pairs:
        if label in found:
            raise InvalidArgumentError(
                f"build: {found[label]} and {path} would both be dataset {label!r}; pass name="
            )
        found[label] = path
    return found


def _files(pattern: str) -> Iterator[Path]:
    path = Path(pattern).expanduser()
    if not path.exists():
        found = [Path(one) for one in glob.iglob(str(path), recursive=True)]  # noqa: PTH207 - takes absolute patterns
        if not found:
            raise NotFoundError(f"{pattern}: no such file, and no file matches", path=pattern)
        yield from (one for one in found if one.is_file() or _is_zarr(one))
    elif path.is_file() or _is_zarr(path):
        yield path
    else:
        for one in path.iterdir():
            yield from _files_in(one)


def _files_in(path: Path) -> Iterator[Path]:
    """A file, a Zarr store, or what is below a folder."""
    if path.is_file() or _is_zarr(path):
        yield path
    elif path.is_dir():
        for one in path.iterdir():
            yield from _files_in(one)


def _is_zarr(path: Path) -> bool:
    return path.is_dir() and any((path / name).is_file() for name in ZARR_DOCUMENTS)


class Patterns:
    """Which variables are taken."""

    def __init__(self, include: str | Sequence[str] | None, exclude: str | Sequence[str] | None) -> None:
        self.include, self.exclude = patterns(include) or None, patterns(exclude) or None

    def __bool__(self) -> bool:
        return self.include is not None or self.exclude is not None

    def keep(self, name: str) -> bool:
        """Whether a variable of this name is."""
        return chosen(name, self.include, self.exclude)


@dataclass
class Read:
    """A file that was read; without a dataset where it is what it was."""

    source: dict[str, Any]
    given: Given | None
    nbytes: int
    warnings: list[str]


def read_file(path: Path, known: dict[str, Any] | None, patterns: Patterns) -> Read:
    """What is in a file. known: what was, when it was read last."""
    source = _state(path)
    if known is not None:
        same = all(known.get(key) == source[key] for key in ("path", "size", "mtime_ns"))
        if same:
            return Read(known, None, 0, [])
    source["sha256"] = _hash(path)
    if known is not None and known.get("sha256") == source["sha256"] and known.get("path") == source["path"]:
        return Read(source, None, 0, [])
    opened = open_source(path)
    try:
        given = of_source(opened, keep=patterns.keep if patterns else None)
        warnings = [f"{path}: {text}" for text in opened.warnings]
    finally:
        opened.close()
    nbytes = sum(variable.values.nbytes for variable in given.variables.values())
    return Read(source, given, nbytes, warnings)


def _state(path: Path) -> dict[str, Any]:
    found = path.stat()
    size, modified = found.st_size, found.st_mtime_ns
    if path.is_dir():
        inside = [one.stat() for one in path.rglob("*") if one.is_file()]
        size, modified = sum(one.st_size for one in inside), max(one.st_mtime_ns for one in inside)
    return {"path": str(path), "size": size, "mtime_ns": modified}


def _hash(path: Path) -> str:
    digest = hashlib.sha256()
    for one in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if one.is_file():
            with one.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
    return digest.hexdigest()
