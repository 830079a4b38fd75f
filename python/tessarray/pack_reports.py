"""What packs say of their versions and of themselves."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Damage",
    "Difference",
    "Expired",
    "Leftovers",
    "PackVersion",
    "Repaired",
    "damage_of",
    "version_of",
]


@dataclass(frozen=True)
class PackVersion:
    """One version of a pack: what a commit did.

    `kind` is `create`, `write`, `rollback` or `compact`. `created`, `changed` and `deleted` count arrays and groups,
    `chunks` what was stored and `nbytes` its bytes; `nodes` are the first paths of those that changed.
    """

    number: int
    time: datetime.datetime
    message: str
    author: str
    kind: str
    created: int
    changed: int
    deleted: int
    chunks: int
    nbytes: int
    nodes: tuple[str, ...]


@dataclass(frozen=True)
class Difference:
    """A node that differs between two versions: `change` is `created`, `deleted`, `metadata` or `chunks`."""

    path: str
    change: str
    chunks: int


@dataclass(frozen=True)
class Expired:
    """What an expiry removed: versions, and files with their bytes."""

    versions: tuple[int, ...]
    files: int
    nbytes: int


@dataclass(frozen=True)
class Leftovers:
    """Files that killed writers left half written, and their bytes. Harmless; no part of the pack."""

    files: int
    nbytes: int


@dataclass(frozen=True)
class Damage:
    """Something that is wrong in a pack: in which file and where in it, which array or group and which versions it
    concerns, as far as that can be told.
    """

    file: str
    offset: int | None
    path: str | None
    problem: str
    versions: tuple[int, ...] = ()


@dataclass(frozen=True)
class Repaired:
    """What a repair found; the version it made, if it did; chunks and values that are lost."""

    damage: tuple[Damage, ...]
    version: int | None
    lost: int


def damage_of(
    file: str, offset: int | None, path: str | None, problem: str, versions: Sequence[int]
) -> Damage:
    """Damage as the engine gives it."""
    return Damage(file, offset, path, problem, tuple(versions))


def version_of(commit: Mapping[str, Any]) -> PackVersion:
    """The version that a commit, as the engine gives it, made."""
    summary = commit["summary"]
    return PackVersion(
        number=commit["number"],
        time=datetime.datetime.fromisoformat(commit["time"]),
        message=commit["message"],
        author=commit["author"],
        kind=commit["kind"],
        created=summary["created"],
        changed=summary["changed"],
        deleted=summary["deleted"],
        chunks=summary["chunks"],
        nbytes=summary["bytes"],
        nodes=tuple(summary["nodes"]),
    )
