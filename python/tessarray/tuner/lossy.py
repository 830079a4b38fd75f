"""Layouts that may change values, if the user allows it: rounding to a step, so that codecs find more to share.

With `tolerance=e`, floats are kept as multiples of the largest power of two that keeps every value within e of what it
was (`numcodecs.quantize` works in decimal digits and cannot promise e; rounding to a binary step can).
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from tessarray.tuner.errors import ConstraintError

__all__ = ["lossy_filters", "parse_tolerance"]


def parse_tolerance(given: str | float) -> float:
    """`"tolerance=1e-3"`, or the number. Raises `ConstraintError`."""
    text = str(given).strip()
    name, equals, value = text.partition("=")
    try:
        found = float(value if equals else text)
    except ValueError:
        found = math.nan
    if (equals and name.strip() != "tolerance") or not 0 < found < math.inf:
        raise ConstraintError(f"lossy: expected tolerance=1e-3 (above 0), found '{given}'")
    return found


def lossy_filters(given: str | float | None, dtype: np.dtype[Any]) -> tuple[float, tuple[str, ...]]:
    """The tolerance and the filters that keep it, as JSON texts; (0, ()) if values must stay as they are."""
    if given is None:
        return 0.0, ()
    tolerance = parse_tolerance(given)
    if dtype.kind != "f" or dtype.itemsize < 4:
        raise ConstraintError(f"lossy: expected floats of 4 or 8 bytes, found {dtype}; leave --lossy out")
    # quantize keeps `digits` decimal digits after the point: |error| <= 0.5 * 2**-ceil(log2(10**digits)).
    digits = math.ceil(-math.log10(2 * tolerance))
    bits = math.ceil(math.log2(10.0**digits))
    if 0.5 * 2.0**-bits > tolerance:
        digits += 1
    kind = dtype.str
    codec = {"name": "numcodecs.quantize", "configuration": {"digits": digits, "dtype": kind, "astype": kind}}
    return tolerance, (json.dumps(codec),)
