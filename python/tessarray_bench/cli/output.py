"""What the commands print with."""

from __future__ import annotations

import os
import sys
from typing import Any

WIDE = 200


def console() -> Any:
    """A rich console on stdout; where no terminal sets a width, tables are as wide as they need."""
    from rich.console import Console

    width = None if sys.stdout.isatty() or "COLUMNS" in os.environ else WIDE
    return Console(highlight=False, width=width)


def size(nbytes: float) -> str:
    """Bytes in the unit that suits."""
    for unit in ("B", "kB", "MB", "GB"):
        if nbytes < 1000 or unit == "GB":
            return f"{nbytes:.3g} {unit}"
        nbytes /= 1000
    raise AssertionError
