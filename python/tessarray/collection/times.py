"""Times in conditions: numbers by CF units, and NumPy's times, compared with dates as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from functools import lru_cache
from typing import Any

__all__ = ["Scale", "Time", "date_of"]

# Microseconds of each unit, by the names that UDUNITS and CF know.
UNITS = {
    "microsecond": Fraction(1),
    "millisecond": Fraction(1000),
    "second": Fraction(10**6),
    "minute": Fraction(60 * 10**6),
    "hour": Fraction(3600 * 10**6),
    "day": Fraction(86400 * 10**6),
}
SHORT = {
    "us": "microsecond", "microsec": "microsecond", "ms": "millisecond", "msec": "millisecond",
    "millisec": "millisecond", "s": "second", "sec": "second", "min": "minute", "h": "hour", "hr": "hour", "d": "day",
}  # fmt: skip
NUMPY = {"D": "day", "h": "hour", "m": "minute", "s": "second", "ms": "millisecond", "us": "microsecond"}
SMALLER = {"ns": 10**3, "ps": 10**6, "fs": 10**9, "as": 10**12}
SINCE = re.compile(r"\s*([A-Za-z]+)\s+since\s+(.+?)\s*", re.ASCII)
DATE = re.compile(
    r"([+-]?\d{1,4})-(\d{1,2})(?:-(\d{1,2}))?"
    r"(?:[T ]\s*(\d{1,2}):(\d{1,2})(?::(\d{1,2}(?:\.\d*)?))?)?\s*(Z|UTC|[+-]\d{1,2}:?\d{0,2})?",
    re.ASCII,
)
REAL = ("standard", "gregorian", "proleptic_gregorian")
# The Julian calendar's last day and after: what `standard` means before is ten days off.
GREGORIAN = date(1582, 10, 15)
# Days of 1970-01-01 in Julian day numbers.
UNIX_DAY = 2_440_588


@dataclass(frozen=True, slots=True)
class Scale:
    """What a number of a variable means as a time: microseconds since 1970 of its zero, and of one.

    why: instead, why its numbers cannot be compared with dates; it is a time that only numbers go with.
    numbers: whether they go with it, too.
    """

    zero: Fraction
    one: Fraction
    label: str
    numbers: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True)
class Time:
    """One value of a variable that has a scale."""

    value: Any
    scale: Scale

    @property
    def moment(self) -> int:
        """Whole microseconds since 1970."""
        return round(self.scale.zero + Fraction(self.value) * self.scale.one)


@lru_cache(4096)
def of_units(units: str, calendar: str) -> Scale | None:
    """The scale of CF units, as `days since 1950-01-01`; `None` where they are none of a time."""
    found = SINCE.fullmatch(units)
    if found is None:
        return None
    unit = found[1].lower()
    unit = SHORT.get(unit, unit.removesuffix("s"))
    label = f"{units!r}" if calendar in REAL else f"{units!r}, calendar {calendar}"
    if unit not in UNITS:
        return Scale(Fraction(0), Fraction(0), label, why=f"{unit}s are of no fixed length")
    if calendar not in REAL:
        return Scale(Fraction(0), Fraction(0), label, why=f"dates of calendar {calendar} are others")
    try:
        zero = date_of(found[2], calendar)
    except ValueError as error:
        return Scale(Fraction(0), Fraction(0), label, why=str(error))
    return Scale(Fraction(zero), UNITS[unit], label)


@lru_cache(256)
def of_dtype(dtype: str) -> Scale | None:
    """The scale of a NumPy dtype, as `datetime64[ns]`; `None` where it is none of a time."""
    found = re.fullmatch(r"[<>=|]?(?:datetime64|M8)\[(\d*)([A-Za-z]+)\]", dtype)
    if found is None:
        return None
    count, unit = int(found[1] or 1), found[2]
    if unit == "W":
        return Scale(Fraction(0), count * 7 * UNITS["day"], dtype, numbers=False)
    if unit in NUMPY:
        return Scale(Fraction(0), count * UNITS[NUMPY[unit]], dtype, numbers=False)
    if unit in SMALLER:
        return Scale(Fraction(0), Fraction(count, SMALLER[unit]), dtype, numbers=False)
    return Scale(
        Fraction(0), Fraction(0), dtype, numbers=False, why="months and years are of no fixed length"
    )


@lru_cache(4096)
def date_of(text: str, calendar: str = "proleptic_gregorian") -> int:
    """Microseconds since 1970 of a date: `2015-01`, `2015-01-31`, `2015-01-31T12:30`, UTC unless it says otherwise.

    Raises `ValueError` for anything else.
    """
    found = DATE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no date: write 2015-01-31 or 2015-01-31T12:30")
    year, month, day = int(found[1]), int(found[2]), int(found[3] or 1)
    hour, minute, second = int(found[4] or 0), int(found[5] or 0), Fraction(found[6] or 0)
    if hour > 24 or minute > 59 or second >= 61:
        raise ValueError(f"{text!r} is no time of day")
    try:
        days = _days(year, month, day, calendar)
    except ValueError as error:
        raise ValueError(f"{text!r} is no date: {error}") from None
    clock = (hour * 3600 + minute * 60 + second) * 10**6
    return round(days * UNITS["day"] + clock - _zone(found[7] or ""))


def _days(year: int, month: int, day: int, calendar: str) -> int:
    """Days since 1970. `standard` is the Julian calendar before October 15, 1582, as CF has it."""
    if calendar != "proleptic_gregorian" and (year, month, day) < (1582, 10, 15):
        if not (1 <= month <= 12 and 1 <= day <= 31):
            raise ValueError("month must be in 1..12, day in 1..31")
        shift = (14 - month) // 12
        years, months = year + 4800 - shift, month + 12 * shift - 3
        return day + (153 * months + 2) // 5 + 365 * years + years // 4 - 32083 - UNIX_DAY
    return (date(year, month, day) - date(1970, 1, 1)).days


def _zone(text: str) -> int:
    if text in ("", "Z", "UTC"):
        return 0
    digits = text[1:].replace(":", "")
    hours, minutes = (int(digits), 0) if len(digits) <= 2 else (int(digits[:-2]), int(digits[-2:]))
    return (-1 if text[0] == "-" else 1) * (hours * 3600 + minutes * 60) * 10**6


def told(moment: int) -> str:
    """A moment as a date, for messages."""
    try:
        return (datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=moment)).strftime("%Y-%m-%d")
    except OverflowError:
        return f"{moment} microseconds since 1970"
