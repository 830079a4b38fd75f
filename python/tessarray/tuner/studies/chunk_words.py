"""What a ladder of chunk shapes means, in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tessarray.tuner.result import Estimate
from tessarray.tuner.studies.model import Cell, Table
from tessarray.tuner.wording import byte_text, count_text, digits, seconds_text

__all__ = ["brief_rows", "chunk_meaning"]

NAMES = {
    "current": "the array's present shape",
    "as in the file": "the file's own shape",
    "zarr-python auto": "what zarr-python chooses",
}
FEW = 1.5  # times as slow as the best that a layout may be to count as good at a query


def chunk_meaning(layouts: Table, queries: Table) -> tuple[str, ...]:
    """Two to four sentences from the two tables of the study."""
    access = dict(zip(layouts.column("layout"), layouts.column("an access"), strict=True))
    times = {
        (str(layout), str(query)): cell
        for layout, query, cell in zip(
            queries.column("layout"), queries.column("query"), queries.column("measured"), strict=True
        )
        if isinstance(cell, Estimate)
    }
    labels = [str(label) for label in layouts.column("layout")]
    names = list(dict.fromkeys(query for _, query in times))
    best = min(labels, key=lambda label: _value(access[label]))
    found = [_best(layouts, labels, best, access)]
    found += _trade(times, labels, names, best)
    found += _waste(queries, best)
    found += _shards(layouts, labels)
    return tuple(found[:4])


def _value(cell: object) -> float:
    return cell.value if isinstance(cell, Estimate) else float("inf")


def _best(layouts: Table, labels: Sequence[str], best: str, access: Mapping[Any, object]) -> str:
    """Which layout is best, and against what the user has now, or would get by saying nothing."""
    shape = dict(zip(layouts.column("layout"), layouts.column("chunks"), strict=True))[best]
    text = f"Best in all: {best} ({shape}), {seconds_text(_value(access[best]))} an access"
    cell = access[best]
    if isinstance(cell, Estimate) and not cell.measured:
        text += " (in part predicted)"
    for other in NAMES:
        if other in labels and other != best:
            factor = _value(access[other]) / _value(access[best])
            return f"{text}; {digits(factor)} times as fast as {NAMES[other]}."
    return f"{text}."


def _trade(
    times: dict[tuple[str, str], Estimate], labels: Sequence[str], names: Sequence[str], best: str
) -> list[str]:
    """How the layout that is best for one query does in the others, and whether one is good at all."""
    if len(names) < 2:
        return []
    fastest = {name: min(labels, key=lambda label: times[label, name].value) for name in names}
    worst_name, worst_label, worst = "", "", 0.0
    for label in dict.fromkeys(fastest.values()):
        for name in names:
            factor = times[label, name].value / times[fastest[name], name].value
            if factor > worst:
                worst_name, worst_label, worst = name, label, factor
    if worst <= FEW:
        return [
            "The shapes hardly matter here: what is best for one query takes at most "
            f"{digits(worst)} times the best elsewhere."
        ]
    its = next(name for name in names if fastest[name] == worst_label)
    even = max(times[best, name].value / times[fastest[name], name].value for name in names)
    return [
        f"A shape for one query is paid for by others: {worst_label}, the fastest for '{its}', takes "
        f"{digits(worst)} times the best for '{worst_name}'; {best} is never more than {digits(even)} times the best."
    ]


def _waste(queries: Table, best: str) -> list[str]:
    """Bytes for nothing."""
    rows: list[dict[str, Any]] = queries.records()
    worst = max(rows, key=lambda row: row["fetched / used"])
    mine = max((row for row in rows if row["layout"] == best), key=lambda row: row["fetched / used"])
    whose = NAMES.get(worst["layout"], worst["layout"])
    return [
        f"Most is read for nothing by '{worst['query']}' of {whose}: {digits(worst['fetched / used'])} bytes fetched "
        f"for a byte used; of {best} at most {digits(mine['fetched / used'])} ('{mine['query']}')."
    ]


def _shards(layouts: Table, labels: Sequence[str]) -> list[str]:
    """What shards save in files."""
    if "small cubes in shards" not in labels or "small cube" not in labels:
        return []
    rows: dict[str, dict[str, Any]] = {str(row["layout"]): row for row in layouts.records()}
    plain, shard = rows["small cube"], rows["small cubes in shards"]
    factor = _value(shard["an access"]) / max(_value(plain["an access"]), 1e-12)
    return [
        f"The same small chunks of {byte_text(plain['chunk'])} take {count_text(plain['files'])} files alone and "
        f"{count_text(shard['files'])} in shards, at {digits(factor)} times the time."
    ]


def brief_rows(rows: Sequence[tuple[Cell, ...]]) -> tuple[int, ...]:
    """What a terminal shows: of each query the three fastest layouts, what there is now, and the slowest."""
    found = []
    for query in dict.fromkeys(row[0] for row in rows):
        mine = [number for number, row in enumerate(rows) if row[0] == query]
        kept = {*mine[:3], mine[-1], *(number for number in mine if rows[number][1] in NAMES)}
        found += [number for number in mine if number in kept]
    return tuple(found)
