"""`tune where`: what the time of reads goes into, as the array lies: I/O, decoding, assembly, and the rest.

Each read is taken apart by `tessarray.explain`: the same read of copies in memory, of uncompressed copies, and of an
array of nothing; the differences are the stages.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import tessarray
from tessarray.tuner.errors import AccessError, UntunableError
from tessarray.tuner.events import Listener
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.studies.model import Cell, Column, Study, Table, mean_estimate, ratio_estimate
from tessarray.tuner.studies.setting import Access, Setting, setting
from tessarray.tuner.studies.stage_words import stage_meaning

__all__ = ["STAGES", "where"]

DRAWS = 12
STAGES = ("I/O", "decoding", "assembly", "the rest")
COLUMNS = (
    Column("query"),
    Column("time", "seconds", "of a warm read"),
    Column("I/O", "share", "getting bytes out of the store"),
    Column("decoding", "share", "what the codecs take"),
    Column("assembly", "share", "copying values into the result"),
    Column("the rest", "share", "planning, and memory for the result"),
    Column("first read", "seconds", "with nothing opened or cached by the engine"),
    Column("chunks", "count"),
    Column("requests", "count"),
    Column("fetched / used", "ratio", "bytes out of the store for a byte of values asked for"),
)


def where(
    source: Any,
    selection: Any = None,
    queries: Access = None,
    *,
    variable: str | None = None,
    budget: float | str = 10,
    store: str = "local",
    scratch: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: Listener | None = None,
) -> Study:
    """Measure what reads of a stored Zarr array spend their time on.

    source: a Zarr store that Tessarray reads (a path, or an open array). selection: one selection (`np.s_[:, 7, 9]`);
    or queries, as for `tessarray.tune`: some selections of each at random places; planes and lines where both are left
    out. store: `s3-like(ttfb=30ms,bw=200MB/s)` puts such a network before the array; else it is read where it lies.
    threads: workers; those of the array's session where left out.

    Costs the budget (seconds), and at least one selection of each query class, which is read some ten times; memory for
    four times what a selection touches, at most half a GB. Raises `AccessError`, and `UntunableError` for what is no
    Zarr array.
    """
    if selection is not None and queries:
        raise AccessError("where: expected a selection or query classes, found both")
    asked = {"selection": None if selection is None else _text(selection), "queries": queries}
    with setting(
        "where", source, variable, budget=budget, store=store, scratch=scratch, seed=seed, threads=threads,
        progress=progress, request=asked,
    ) as room:  # fmt: skip
        array = _array(room, threads)
        plans = _drawn(room, room.classes(queries)) if selection is None else {_text(selection): [selection]}
        seen = _explained(room, array, plans)
        table = Table(
            "Shares of a warm read",
            COLUMNS,
            tuple(_row(name, found, room.seed) for name, found in seen.items()),
        )
        slow = max((one for found in seen.values() for one in found), key=lambda one: one.warm)
        room.notes.append(
            f"{slow.layout.text()}, read on {_place(room)}; the stages of a read are differences of medians"
        )
        if any(one.part is not None for found in seen.values() for one in found):
            room.notes.append(
                "of the largest selections a part was read that touches at most 128 MiB of values"
            )
        facts = {"verdict": slow.diagnosis.verdict, "cause": slow.cause.value, "selection": slow.selection}
        return room.study(
            "Where the time goes", (table,), stage_meaning(table, slow.diagnosis.verdict), facts
        )


def _text(selection: Any) -> str:
    """A selection as it is written between brackets."""
    parts = selection if isinstance(selection, tuple) else (selection,)
    return f"[{', '.join(_part(part) for part in parts)}]"


def _part(part: Any) -> str:
    if part is ...:
        return "..."
    if isinstance(part, slice):
        ends = [("" if one is None else str(one)) for one in (part.start, part.stop)]
        return ":".join(ends) + ("" if part.step in (None, 1) else f":{part.step}")
    return str(list(part) if hasattr(part, "__iter__") else part)


def _place(room: Setting) -> str:
    return room.target.text() if room.target.remote else "the store as it lies"


def _array(room: Setting, threads: int | None) -> Any:
    """The array to read, behind a network where one is asked for. Raises `UntunableError` where it is no Zarr array."""
    array = room.subject.array
    if not isinstance(array, tessarray.Array):
        raise UntunableError(
            f"{room.subject.label}: is no Zarr array, and only of those Tessarray knows the stages: convert it first "
            f"(tessarray convert), or ask `tune chunks` and `tune codecs`, which take any format"
        )
    if room.target.remote:
        from tessarray.tuner.explain.copies import reopened

        array = reopened(array, room.scratch.slow(array.store))
    elif threads is not None:
        array = tessarray.open_array(
            array.store, path=array.path or None, mode="r", session=tessarray.Session(threads=threads)
        )
    return array


def _drawn(room: Setting, classes: Sequence[QueryClass]) -> dict[str, list[Any]]:
    return {one.name: [one.selection(box) for box in one.draw(room.rng, DRAWS)] for one in classes}


def _explained(room: Setting, array: Any, plans: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Explanations of each query, one of each in turn until the budget is spent."""
    from tessarray.tuner.explain import explain

    seen: dict[str, list[Any]] = {name: [] for name in plans}
    for turn in range(DRAWS):
        for name, selections in plans.items():
            if turn and room.clock.until(0.9) == 0:
                return seen
            if turn < len(selections) or (len(selections) == 1 and turn < 3):
                room.say(f"{name}: read {turn + 1}")
                seen[name].append(explain(array, selections[min(turn, len(selections) - 1)]))
    return seen


def _row(name: str, found: Sequence[Any], seed: int) -> tuple[Cell, ...]:
    total = [max(one.stages.total, 1e-12) for one in found]
    parts = {
        "I/O": [one.stages.io for one in found],
        "decoding": [one.stages.decode for one in found],
        "assembly": [one.stages.assembly for one in found],
        "the rest": [one.stages.rest for one in found],
    }
    shares = [ratio_estimate(parts[stage], total, seed) for stage in STAGES]
    return (
        name,
        mean_estimate([one.warm for one in found], seed),
        *shares,
        mean_estimate([one.first for one in found], seed),
        sum(one.chunks for one in found) / len(found),
        sum(one.requests for one in found) / len(found),
        sum(one.fetched for one in found) / max(sum(one.used for one in found), 1),
    )
