"""What the demonstration prints: a table, and in words where Tessarray is faster and where it is not."""

from __future__ import annotations

from typing import Any

from tessarray.demo.choice import Query, text
from tessarray.demo.race import Times
from tessarray.display.units import byte_text, time_text


def table(times: list[Times], queries: list[Query]) -> Any:
    """A rich table: a row for each system, the best time of each query in bold green."""
    from rich.table import Table

    made = Table(
        title="Median times (less is better), answers equal bit for bit",
        title_style="bold",
        title_justify="left",
    )
    made.add_column("system", no_wrap=True)
    for query in queries:
        made.add_column(f"{query.name}\n[dim]{query.words}[/]", justify="right")
    made.add_column("on disk", justify="right", no_wrap=True)
    best = {q.name: min(t.median for t in times if t.query.name == q.name) for q in queries}
    for name in dict.fromkeys(t.system.name for t in times):
        own = {t.query.name: t for t in times if t.system.name == name}
        cells = [_cell(own[q.name].median, best[q.name]) for q in queries]
        system = own[queries[0].name].system
        made.add_row(f"[bold]{name}[/]", *cells, byte_text(system.stored))
    return made


def layouts(times: list[Times]) -> list[str]:
    """A line for each system: how what it reads is stored."""
    systems = {t.system.name: t.system.layout for t in times}
    width = max(map(len, systems))
    return [f"{name:<{width}}  {layout}" for name, layout in systems.items()]


def _cell(seconds: float, best: float) -> str:
    shown = time_text(seconds)
    return f"[bold green]{shown}[/]" if seconds == best else shown


def verdicts(times: list[Times], queries: list[Query]) -> list[str]:
    """A sentence for each query and rival: how much faster, or slower, Tessarray is, of medians."""
    lines = []
    for query in queries:
        own = next(t for t in times if t.query.name == query.name and t.system.name == "Tessarray")
        parts = []
        for rival in (t for t in times if t.query.name == query.name and t.system.name != "Tessarray"):
            ratio = rival.median / own.median
            word = "faster" if ratio >= 1 else "SLOWER"
            parts.append(f"{max(ratio, 1 / ratio):.1f} times {word} than {rival.system.name}")
        lines.append(f"{query.name} {text(query.index)}: Tessarray is {', '.join(parts) or 'alone'}")
    return lines
