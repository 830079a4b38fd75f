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
