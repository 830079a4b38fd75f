"""Errors for names that are not there, with those that look alike."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from itertools import islice

from tessarray.errors import NotFoundError

# Names that are compared: to find the nearest of a million takes longer than a user waits.
COMPARED = 20_000


def unknown(what: str, name: str, known: Iterable[str], where: str) -> NotFoundError:
    """There is no dataset or variable of this name."""
    near = difflib.get_close_matches(name, list(islice(known, COMPARED)), n=3, cutoff=0.5)
    hint = f"; did you mean {' or '.join(repr(one) for one in near)}?" if near else ""
    return NotFoundError(f"{where} has no {what} {name!r}{hint}", path=name)
