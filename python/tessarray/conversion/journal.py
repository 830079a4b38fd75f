"""The journal of a conversion: one JSON line of settings, then one line for each finished block.

A line is appended after its block is stored, so a block in the journal is always whole; a block that is stored but not
in the journal is done again, which does no harm. A killed writer may leave a torn last line; it is ignored.
"""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from tessarray.conversion.errors import ResumeError

NAME = ".tessarray-convert.jsonl"


class Journal:
    """Append-only record of finished blocks in the unfinished copy."""

    def __init__(self, folder: Path, settings: dict[str, Any], done: set[tuple[str, int]]) -> None:
        self.done = done
        self._lock = threading.Lock()
        self._path = folder / NAME
        self._file = self._path.open("a", encoding="utf-8")
        if self._path.stat().st_size == 0:
            self._append({"settings": settings})
        elif not self._path.read_bytes().endswith(b"\n"):
            self._file.write("\n")

    @classmethod
    def start(cls, folder: Path, settings: dict[str, Any]) -> Journal:
        """Begin a new journal in an empty folder."""
        return cls(folder, settings, set())

    @classmethod
    def resume(cls, folder: Path, settings: dict[str, Any]) -> Journal:
        """Go on with the journal in `folder`. Raises `ResumeError` if its settings or its source differ."""
        lines = list(_lines(folder / NAME))
        before = lines[0].get("settings") if lines else None
        if before is None:
            raise ResumeError(
                f"{folder}: no journal of a conversion is in it; remove it or run without resume"
            )
        # Through JSON, as the ones read were: tuples become lists.
        now = json.loads(json.dumps(settings))
        for name in sorted(now.keys() | before.keys()):
            if now.get(name) != before.get(name):
                raise ResumeError(
                    f"{folder}: {name} differs from the interrupted run: expected {before.get(name)}, found "
                    f"{now.get(name)}; use the same source and settings, or run without resume"
                )
        return cls(
            folder, settings, {(line["array"], line["block"]) for line in lines[1:] if "block" in line}
        )

    def finished(self, array: str, block: int) -> None:
        """Record a stored block; safe from any thread."""
        with self._lock:
            self._append({"array": array, "block": block})

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file; the journal stays."""
        with self._lock:
            self._file.close()

    def remove(self) -> None:
        """Close and remove the journal: the copy is whole."""
        self.close()
        self._path.unlink(missing_ok=True)


def _lines(path: Path) -> Any:
    if not path.exists():
        return
    for text in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            line = json.loads(text)
        except ValueError:
            continue
        if isinstance(line, dict):
            yield line
