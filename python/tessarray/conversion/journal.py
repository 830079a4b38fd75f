"""The journal of a conversion: one JSON line of settings, then one line for each finished block.

A line is appended after its block is stored. A block that is stored but not in the journal is done again, which does
no harm. A line is a claim and no proof: neither lines nor blocks are forced to the disk, so that after a loss of power
lines may be there whose blocks are not. Each line therefore has the digest of its block's values, and a resumed run
reads every listed block back before it believes in it (`resumption.py`). A torn or zeroed line is ignored.
"""

from __future__ import annotations

import json
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tessarray.conversion.errors import ResumeError

NAME = ".tessarray-convert.jsonl"


@dataclass(frozen=True)
class Digests:
    """Digests of a block: of its values in the source, and of what is read back (another one of lossy layouts)."""

    source: int
    stored: int


class Journal:
    """Append-only record of finished blocks in the unfinished copy.

    done: the blocks listed by earlier runs. proven: whether the source's `state` is the one that they were copied in.
    """

    def __init__(
        self, folder: Path, settings: dict[str, Any], state: Any, done: dict[tuple[str, int], Digests], proven: bool
    ) -> None:  # fmt: skip
        self.done, self.proven = done, proven
        self._lock = threading.Lock()
        self._path = folder / NAME
        self._file = self._path.open("a", encoding="utf-8")
        if self._path.stat().st_size == 0:
            self._append({"settings": settings, "state": state})
        elif not self._path.read_bytes().endswith(b"\n"):
            self._file.write("\n")

    @classmethod
    def start(cls, folder: Path, settings: dict[str, Any], state: Any) -> Journal:
        """Begin a new journal in a folder without one."""
        return cls(folder, settings, state, {}, True)

    @classmethod
    def resume(cls, folder: Path, settings: dict[str, Any], state: Any) -> Journal:
        """Go on with the journal in `folder`. Raises `ResumeError` if its settings or its source differ."""
        lines = list(_lines(folder / NAME))
        # Through JSON, as the ones read were: tuples become lists.
        now = json.loads(json.dumps(settings))
        before = lines[0]["settings"]
        for name in sorted(now.keys() | before.keys()):
            if now.get(name) != before.get(name):
                raise ResumeError(
                    f"{folder}: {name} differs from the interrupted run: expected {before.get(name)}, found "
                    f"{now.get(name)}; use the same source and settings, or run without resume"
                )
        done = {}
        for line in lines[1:]:
            match line:
                case {"array": str(array), "block": int(block), "source": int(source), "stored": int(stored)}:
                    done[array, block] = Digests(source, stored)
        proven = state is not None and json.loads(json.dumps(state)) == lines[0].get("state")
        return cls(folder, settings, state, done, proven)

    def finished(self, array: str, block: int, digests: Digests) -> None:
        """Record a stored block; safe from any thread."""
        with self._lock:
            self._append({"array": array, "block": block, "source": digests.source, "stored": digests.stored})

    def _append(self, line: dict[str, Any]) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file; the journal stays."""
        with self._lock:
            self._file.close()


def begun(folder: Path) -> bool:
    """Whether a folder has a journal that says what is in it; one that was lost or damaged at its start does not."""
    first = next(_lines(folder / NAME), None)
    return first is not None and isinstance(first.get("settings"), dict)


def _lines(path: Path) -> Any:
    if not path.is_file():
        return
    with path.open("rb") as file:
        for text in file:
            try:
                line = json.loads(text)
            except ValueError:
                continue
            if isinstance(line, dict):
                yield line
