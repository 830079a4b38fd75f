"""Readable summaries: `a.info`, `g.info` and `g.tree()`, as text and, in notebooks, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

__all__ = ["Info", "Tree"]


def lengths_text(axes: Sequence[Any]) -> str:
    """Chunk lengths along each axis: one, or a list of lengths and of pairs of a length and how often it comes.

    >>> lengths_text([4, [3, [5, 2], 7]])
    '(4, [3, 5, 5, 7])'
    >>> lengths_text([[[1, 365], 366]])
    '([1 365 times, 366],)'
    """

    def axis(lengths: Any) -> str:
        if isinstance(lengths, int):
            return str(lengths)
        texts = [", ".join([str(run)] if isinstance(run, int) else _run(*run)) for run in lengths[:8]]
        more = f", ... ({len(lengths) - 8:,} more)" if len(lengths) > 8 else ""
        return f"[{', '.join(texts)}{more}]"

    return f"({', '.join(map(axis, axes))}{',' if len(axes) == 1 else ''})"


def _run(length: int, count: int) -> list[str]:
    return [str(length)] * count if count < 4 else [f"{length} {count:,} times"]


@dataclass(frozen=True)
class Info:
    """A table of two columns; printing it shows it, a notebook draws it."""

    title: str
    rows: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        width = max((len(label) for label, _ in self.rows), default=0)
        return "\n".join([self.title, *(f"  {label:<{width}}  {value}" for label, value in self.rows)])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><th style='text-align:left'>{escape(label)}</th><td style='text-align:left'>{escape(value)}</td></tr>"
            for label, value in self.rows
        )
        return f"<table><caption>{escape(self.title)}</caption><tbody>{rows}</tbody></table>"


@dataclass(frozen=True)
class Tree:
    """A hierarchy: (depth, name, what it is) in the order of a walk, depth first."""

    root: str
    nodes: tuple[tuple[int, str, str], ...]

    def __str__(self) -> str:
        lines = [self.root]
        last: set[int] = set()
        drawn = []
        # From the end, so that each level knows whether another node of it follows.
        for depth, name, what in reversed(self.nodes):
            last = {level for level in last if level <= depth}
            rails = "".join("│   " if level in last else "    " for level in range(1, depth))
            corner = "├── " if depth in last else "└── "
            drawn.append(f"{rails}{corner}{name}{f' {what}' if what else ''}")
            last.add(depth)
        return "\n".join(lines + drawn[::-1])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"


def codec_text(codecs: Iterable[dict[str, object]]) -> str:
    """Codecs on one line, by their names and what sets them apart."""
    parts = []
    for codec in codecs:
        settings = codec.get("configuration")
        shown = ", ".join(
            f"{name}={value}"
            for name, value in (settings.items() if isinstance(settings, dict) else ())
            if not isinstance(value, dict | list) and value is not None
        )
        parts.append(f"{codec['name']}({shown})" if shown else str(codec["name"]))
    return ", ".join(parts) or "none"
