"""What is planted, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parent.parent.parent
COPY = ROOT / "target" / "mutants" / "sources"
# A test that takes so many times as long as without the mutant waits for ever; and at least so many seconds.
PATIENCE, LEAST = 10, 20.0

Item = TypeVar("Item")


@dataclass(frozen=True)
class Verdict:
    file: str
    line: int
    what: str
    caught: bool
    tests: int


def part_of(items: Sequence[Item], part: str) -> list[Item]:
    """Every nth of them, from the first, second...: `2/10`."""
    first, step = map(int, part.split("/"))
    return list(items[first - 1 :: step])


def chosen(paths: Sequence[Path], endings: Sequence[str]) -> list[Path]:
    return [path for path in paths if not endings or any(str(path).endswith(ending) for ending in endings)]
