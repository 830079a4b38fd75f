"""Errors for names that are not there, with those that look alike."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice

from tessarray._native import CollectionCore
from tessarray.errors import NotFoundError

# Names that are compared: to find the nearest of a million takes longer than a user waits.
COMPARED = 20_000


def unknown(what: str, name: str, known: Iterable[str], where: str) -> NotFoundError:
    """There is no dataset or variable of this name."""
    near = difflib.get_close_matches(name, list(islice(known, COMPARED)), n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(repr(one) for one in near)}?" if near else ""
    return NotFoundError(f"{where} has no {what} {name!r}{hint}", path=name)


def listed(names: str | Sequence[str]) -> list[str]:
    """One name, or several, as a list."""
    return [names] if isinstance(names, str) else list(names)


def existing(core: CollectionCore, names: str | Sequence[str] | None) -> list[str]:
    """The datasets of these names, or all; raises where there is none of a name."""
    if names is None:
        return core.names()
    asked = listed(names)
    for name in asked:
        if name not in core:
            raise unknown("dataset", name, core.names(), "the collection")
    return asked
