"""`tessarray collection read` and `stats`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tessarray.cli.output import console, print_json
from tessarray.cli.read import missing_of, summary
from tessarray.cli.selection import parse_selection
from tessarray.collection import RaggedArray
from tessarray.collection.names import unknown
from tessarray.collection.reading import find
from tessarray.collection.tables import Facts

if TYPE_CHECKING:
    from tessarray import Collection


def run(
    collection: Collection,
    variable: str,
    selection: str,
    names: list[str] | None,
    missing: Any,
    decode: bool,
    out: Path | None,
    values: bool,
    as_json: bool,
    clip: bool,
) -> None:
    """Read a variable across datasets, and print, write or summarise it."""
    index = parse_selection(selection)
    asked, found = find(collection._core(), variable, names, missing)
    read = collection.read(variable, asked, index, missing, decode=decode, clip=clip)
    held = asked if missing == "fill" else found.names
    shapes = read.shapes if isinstance(read, RaggedArray) else np.tile(read.shape[1:], (len(held), 1))
    flat = read.values if isinstance(read, RaggedArray) else read
    if out is not None:
        with out.open("wb") as file:
            np.savez(file, values=flat, names=np.array(held), shapes=shapes)
    facts = {"datasets": len(held), "ragged": isinstance(read, RaggedArray), "decoded": decode} | summary(
        flat
    )
    if not decode:
        facts["fill values"] = _missing(collection, variable, found.names, index, clip)
    if as_json:
        if values:
            facts["values"] = dict(zip(held, (part.tolist() for part in read), strict=True))
        print_json(facts)
        return
    for name, value in facts.items():
        console().print(f"[bold]{name:<8}[/] {value}")
    if facts.get("fill values"):
        console().print("fill values are among the values above; without --raw they are NaN")
    if values:
        with np.printoptions(threshold=1000, linewidth=110):
            for name, part in zip(held, read, strict=True):
                console().print(f"{name}: {part}", markup=False)


def _missing(collection: Collection, variable: str, names: list[str], index: Any, clip: bool) -> int:
    """How many of the values stand for none, though they are numbers as stored."""
    counts = []
    for decode in (True, False):
        read = collection.read(variable, names, index, decode=decode, clip=clip)
        flat = read.values if isinstance(read, RaggedArray) else read
        counts.append(missing_of(flat))
    return counts[0] - counts[1]


def statistics(collection: Collection, variables: list[str] | None, each: bool) -> list[dict[str, Any]]:
    """A row a variable, or one for each array of it."""
    core = collection._core()
    known = dict(core.variables())
    for name in variables or ():
        if name not in known:
            raise unknown("variable", name, known, "the collection")
    rows: list[dict[str, Any]] = []
    for variable in variables or known:
        found = core.find(variable)
        facts = Facts(core, found)
        numbers = list(zip(facts.min, facts.max, facts.sum, facts.count, facts.nulls, strict=True))
        if each:
            rows += [
                {"dataset": name, "variable": variable, **_row([one])}
                for name, one in zip(found.names, numbers, strict=True)
            ]
        else:
            rows.append({"variable": variable, "datasets": len(found), **_row(numbers)})
    return rows


def _row(numbers: list[tuple[Any, ...]]) -> dict[str, Any]:
    lows = [low for low, *_ in numbers if low is not None]
    highs = [high for _, high, *_ in numbers if high is not None]
    count = sum(one[3] or 0 for one in numbers)
    sums = [one[2] for one in numbers if one[2] is not None]
    return {
        "min": min(lows, default=None),
        "max": max(highs, default=None),
        "mean": sum(sums) / count if sums and count else None,
        "count": count,
        "nulls": sum(one[4] or 0 for one in numbers),
        "unknown": sum(one[3] is None for one in numbers),
    }
