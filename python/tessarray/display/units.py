"""Figures in words, the same on terminals, in charts and on pages: three significant digits, 1 kB is 1000 bytes.

What was measured is said so. Limits that are powers of two are written exactly in documents (64 MiB), and sizes that
users give may have either unit.

>>> time_text(0.0053), byte_text(1 << 20), rate_text(8.12e8), count_text(2.44)
('5.30 ms', '1.05 MB', '812 MB/s', '2.4')
"""

from __future__ import annotations

import math
from collections.abc import Sequence

__all__ = [
    "NONE",
    "UNITS",
    "Unit",
    "byte_text",
    "count_text",
    "digits",
    "extents_text",
    "figure",
    "rate_text",
    "time_text",
    "unit_of",
]

Unit = tuple[float, str]
# Kind of figure -> its units, the smallest first. The pages' script is given the same table.
UNITS: dict[str, tuple[Unit, ...]] = {
    "seconds": ((1e-9, "ns"), (1e-6, "µs"), (1e-3, "ms"), (1, "s")),
    "bytes": ((1, "B"), (1e3, "kB"), (1e6, "MB"), (1e9, "GB"), (1e12, "TB"), (1e15, "PB")),
    "rate": ((1e3, "kB/s"), (1e6, "MB/s"), (1e9, "GB/s")),
    "count": ((1, ""),),
    "ratio": ((1, "×"),),
    "share": ((0.01, "%"),),
}
NONE = "–"  # stands for a figure that is not there, or not finite


def digits(value: float) -> str:
    """Three significant digits, without an exponent: `1,230`, `12.3`, `0.0123`."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else NONE
    rounded = float(f"{value:.3g}")  # first, since 9.996 has one place less than it seems
    places = 2 - math.floor(math.log10(abs(rounded)) + 1e-9)
    return f"{rounded:,.{min(max(places, 0), 9)}f}"


def unit_of(kind: str, value: float) -> Unit:
    """The unit, as (factor, name), in which a value of a kind (a key of `UNITS`) reads best."""
    units = UNITS[kind]
    return next((unit for unit in reversed(units) if abs(value) >= unit[0] * 0.9995), units[0])


def figure(kind: str, value: float) -> str:
    """A value with the unit that suits; a dash for one that is not finite."""
    if not math.isfinite(value):
        return NONE
    factor, name = unit_of(kind, value)
    whole = (kind == "bytes" and factor == 1) or (kind == "count" and value == int(value))
    text = f"{value:,.0f}" if whole or value == 0 else digits(value / factor)
    return f"{text}{'' if name in ('', '×') else ' '}{name}"


def time_text(seconds: float) -> str:
    """Seconds in words: `5.30 ms`."""
    return figure("seconds", seconds)


def byte_text(nbytes: float) -> str:
    """Bytes in words: `40.2 MB`."""
    return figure("bytes", nbytes)


def rate_text(bytes_per_second: float) -> str:
    """A speed in words: `812 MB/s`."""
    return figure("rate", bytes_per_second)


def count_text(value: float) -> str:
    """A number of things: whole from ten on, `2.4` below."""
    if not math.isfinite(value):
        return NONE
    return f"{value:,.0f}" if value >= 9.95 or value == int(value) else f"{value:.1f}"


def extents_text(extents: Sequence[int] | None) -> str:
    """Lengths along each axis: `64×512×512`; a dash if there are none to tell."""
    return "×".join(map(str, extents)) if extents is not None else NONE
