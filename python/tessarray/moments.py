"""Versions of packs as people write them: a number, a tag, or a moment."""

from __future__ import annotations

import calendar
import datetime
import re

from tessarray.errors import InvalidArgumentError

__all__ = ["looks_like", "moment_of", "number_of"]

# A year alone is a number.
_MOMENT = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2})(?:[T ](.+))?)?", re.ASCII)


def number_of(text: str) -> int | None:
    """The number of a version that this text is; `None` if it is none."""
    return int(text) if text.isascii() and text.isdigit() else None


def looks_like(text: str) -> bool:
    """Whether a text is a number or a date, so that it should name nothing else."""
    return number_of(text) is not None or _MOMENT.fullmatch(text) is not None


def text_of(moment: datetime.datetime) -> str:
    """A moment as commits have it; such texts sort as the moments do."""
    return moment.astimezone(datetime.UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def moment_of(text: str) -> str | None:
    """A moment, as commits have it; `None` if the text is no date.

    `2026-11-21T14:09` and `2026-11-21 14:09:11.5+01:00` are moments, in UTC unless they say otherwise. A day
    (`2026-11-21`) or a month (`2026-11`) stands for its last microsecond. A date that the calendar does not have is an
    `InvalidArgumentError`.
    """
    found = _MOMENT.fullmatch(text)
    if found is None:
        return None
    year, month, day, time = found.groups()
    try:
        if time is None:
            last = int(day or calendar.monthrange(int(year), int(month))[1])
            end = datetime.time(23, 59, 59, 999_999)
            moment = datetime.datetime.combine(datetime.date(int(year), int(month), last), end)
        else:
            moment = datetime.datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=datetime.UTC)
        return text_of(moment)
    except (ValueError, OverflowError) as error:
        raise InvalidArgumentError(
            f"version: {text!r} is no date ({error}); write 2026-11-21T14:09"
        ) from None
