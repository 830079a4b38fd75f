"""Lengths of time as users write them."""

from __future__ import annotations

import datetime
import re

from tessarray.errors import InvalidArgumentError

__all__ = ["seconds"]

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86_400.0, "w": 604_800.0}


def seconds(given: str | float | datetime.timedelta, name: str) -> float:
    """Seconds of `"200ms"`, `"1.5h"`, a `timedelta`, or a number of seconds.

    >>> seconds("1.5h", "flush"), seconds(datetime.timedelta(minutes=1), "flush"), seconds(0.5, "flush")
    (5400.0, 60.0, 0.5)
    """
    if isinstance(given, datetime.timedelta):
        found = given.total_seconds()
    elif isinstance(given, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([a-z]+)\s*", given)
        if match is None or match[2] not in UNITS:
            raise InvalidArgumentError(
                f"{name}: expected a length of time such as '200ms', '1s', '12h' or '7d', found {given!r}"
            )
        found = float(match[1]) * UNITS[match[2]]
    else:
        found = float(given)
    if not 0 <= found < float("inf"):
        raise InvalidArgumentError(f"{name}: expected a length of time, found {given!r}")
    return found
