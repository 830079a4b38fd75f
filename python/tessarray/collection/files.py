"""What is in a file of a build."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tessarray.collection.given import Given, of_source
from tessarray.conversion.patterns import chosen, patterns
from tessarray.conversion.sources import open_source


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
    """A file that was read; without a dataset where it is what it was. found: its variables, if some are chosen."""

    source: dict[str, Any]
    given: Given | None
    nbytes: int
    warnings: list[str]
    found: list[str] = field(default_factory=list)


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
        found = [spec.path for spec in opened.arrays()] if patterns else []
        warnings = [f"{path}: {text}" for text in opened.warnings]
    finally:
        opened.close()
    nbytes = sum(variable.values.nbytes for variable in given.variables.values())
    return Read(source, given, nbytes, warnings, found)


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
