"""Sizes as people write them."""

from __future__ import annotations

import re

from tessarray.conversion.errors import OptionError

__all__ = ["parse_size"]

UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
UNITS |= {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
UNITS |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": 1 << 30, "TIB": 1 << 40}


def parse_size(size: int | str) -> int:
    """Bytes of "512MiB", "1.5GB" or a number. Raises `OptionError` for anything else."""
    if isinstance(size, int):
        return size
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size)
    if found is None or found[2].upper() not in UNITS:
        raise OptionError(f"size: expected a number with a unit such as 512MiB or 2GB, found '{size}'")
    return int(float(found[1]) * UNITS[found[2].upper()])
