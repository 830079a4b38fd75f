"""`tessarray codecs` and `tessarray version`."""

from __future__ import annotations

import platform
from typing import Any

from tessarray.cli.output import console, print_json

EXAMPLES = {
    "blosc": "blosc:lz4:5:shuffle",
    "zstd": "zstd:3",
    "gzip": "gzip:6",
    "zlib": "zlib:6",
    "lz4": "lz4",
    "bz2": "bz2:9",
    "lzma": "lzma:6",
    "snappy": "snappy",
}


def codecs(as_json: bool) -> None:
    """List the names of the codecs that this build has, with an example of the short form where there is one."""
    import tessarray

    rows: list[dict[str, Any]] = [
        {"name": str(name), "example": EXAMPLES.get(str(name))}
        for name in tessarray.default_session().codecs()
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        console().print(f"[bold]{row['name']:<20}[/] {row['example'] or ''}")


def version(as_json: bool) -> None:
    """Print versions."""
    import numpy as np

    import tessarray

    found = {"tessarray": tessarray.__version__, "python": platform.python_version(), "numpy": np.__version__}
    if as_json:
        print_json(found)
    else:
        console().print(f"tessarray {found['tessarray']} (Python {found['python']}, NumPy {found['numpy']})")
