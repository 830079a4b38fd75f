"""The file of results of `tune_bars.py`: written after every step, so that a run that was interrupted goes on."""

from __future__ import annotations

import json
import lzma
import os
import platform
import time
from pathlib import Path
from typing import Any

import numpy as np

import tessarray

__all__ = ["State", "earlier"]

PARTS = ("proposals", "grids", "regrets", "gains", "remote", "budget")


class State:
    """Results by part and name. `put` writes the file; `has` says whether a step was done before."""

    def __init__(self, path: Path, resume: bool) -> None:
        self.path = path
        self.found: dict[str, Any] = {name: {} for name in PARTS}
        if resume:
            self.found |= earlier(path)
        self.found["machine"] = {
            "cores": os.cpu_count(),
            "kind": "a virtual machine",
            "python": platform.python_version(),
            "numpy": np.__version__,
            "tessarray": tessarray.__version__,
        }
        self.found["date"] = time.strftime("%Y-%m")

    def has(self, part: str, name: str) -> bool:
        """Whether there is a result."""
        return name in self.found[part]

    def get(self, part: str, name: str) -> Any:
        """A result."""
        return self.found[part][name]

    def part(self, part: str) -> dict[str, Any]:
        """All results of a part."""
        found: dict[str, Any] = self.found[part]
        return found

    def put(self, part: str, name: str, value: Any) -> None:
        """Keep a result."""
        self.found[part][name] = value
        partial = self.path.with_name(self.path.name + ".partial")
        partial.parent.mkdir(parents=True, exist_ok=True)
        parts = (f'"{part}": {json.dumps(found, default=float)}' for part, found in self.found.items())
        partial.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
        partial.replace(self.path)


def earlier(path: Path) -> dict[str, Any]:
    """The results in a file, else in the compressed one beside it that the repository keeps, else none."""
    packed = path.with_name(path.name + ".xz")
    if path.exists():
        found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return found
    return dict(json.loads(lzma.decompress(packed.read_bytes()))) if packed.exists() else {}
