"""`tune cost`: what an array costs a month in a store with prices, by layout: storage, requests, transfer.

Nothing is timed. Requests and bytes of an access are counted with the joining of ranges that the engine does on stores
far away; sizes come from chunks of real values that are encoded in memory.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tessarray.tuner.baselines import defaults
from tessarray.tuner.errors import ConstraintError
from tessarray.tuner.events import Listener
from tessarray.tuner.expected import REMOTE, touch
from tessarray.tuner.layout import Layout
from tessarray.tuner.prices import Bill, Prices, bill, parse_prices
from tessarray.tuner.queries import Box, QueryClass
from tessarray.tuner.result import Estimate
from tessarray.tuner.source import Sample
from tessarray.tuner.studies.model import Cell, Column, Study, Table, mean_estimate
from tessarray.tuner.studies.money_words import money_meaning
from tessarray.tuner.studies.setting import CODEC, Access, Setting, layout_from, setting
from tessarray.tuner.studies.usual import ladder_of_layouts

__all__ = ["cost"]

DRAWS = 32
BLOCKS = 4
ENCODED = 32 << 20  # bytes of values encoded to know a layout's ratio
COLUMNS = (
    Column("layout"),
    Column("chunks"),
    Column("size", "bytes"),
    Column("objects", "count"),
    Column("requests", "count", "of one access, the weighted mean"),
    Column("fetched", "bytes", "of one access, the weighted mean"),
    Column("storage", "money", "a month"),
    Column("requests cost", "money", "a month"),
    Column("transfer", "money", "a month"),
    Column("a month", "money"),
    Column("to upload", "money", "once: a request for every object"),
)


def cost(
    source: Any,
    queries: Access = None,
    *,
    prices: str,
    accesses: float = 1e6,
    variable: str | None = None,
    layout: str | os.PathLike[str] | Layout | None = None,
    codec: str | None = None,
    budget: float | str = 10,
    store: str = "memory",
    scratch: str | os.PathLike[str] | None = None,
    threads: int | None = None,
    seed: int = 0,
    progress: Listener | None = None,
) -> Study:
    """Count what an array would cost a month in a store with prices: in its own layout, other libraries', and a ladder.

    prices: a preset ("aws-s3") or amounts, see `tessarray.tuner.prices`. accesses: selections read in a month, shared
    among the queries by weight. layout: a `layout.json` or `Layout` to be counted, too. Other libraries' layouts keep
    their own codecs; those of the ladder have `codec`, or the array's own, or `blosc:zstd:3:shuffle`. `store` and
    `threads` are as in the other studies and change nothing here.

    Costs a few seconds at most, and a sample of at most 64 MB. Raises `PriceError`, `AccessError`, `ConstraintError`.
    """
    money = parse_prices(prices)
    if not (math.isfinite(accesses) and accesses >= 0):
        raise ConstraintError(f"accesses: expected 0 or more a month, found {accesses}")
    asked = {"queries": queries, "prices": prices, "accesses": accesses, "codec": codec}
    with setting(
        "cost", source, variable, budget=budget, store=store, scratch=scratch, seed=seed, threads=threads,
        progress=progress, request=asked,
    ) as room:  # fmt: skip
        classes = room.classes(queries)
        layouts = _layouts(room, layout, codec)
        sample = room.sample(64 << 20)
        boxes = {one.name: one.draw(room.rng, DRAWS) for one in classes}
        rows = [
            _row(room, label, one, sample, classes, boxes, money, accesses) for label, one in layouts.items()
        ]
        rows.sort(key=lambda row: _number(row[9]))
        table = Table(f"A month with {accesses:,.0f} accesses", COLUMNS, tuple(rows))
        room.notes.append(f"prices: {money.name}: {money.note}")
        room.notes.append(
            "requests are counted with ranges joined that are up to 256 kB apart, and nothing cached; ~ is counted at "
            f"{DRAWS} random places a class"
        )
        facts = {"currency": money.currency, "accesses": accesses, "prices": money.name}
        return room.study("Cost", (table,), money_meaning(table, accesses, money.currency), facts)


def _number(cell: Cell) -> float:
    return cell.value if isinstance(cell, Estimate) else float(cell or 0)


def _layouts(room: Setting, given: Any, codec: str | None) -> dict[str, Layout]:
    subject = room.subject
    found: dict[str, Layout] = {}
    if subject.current is not None:
        found["current"] = subject.current
    if given is not None:
        found["given"] = given if isinstance(given, Layout) else layout_from(given, subject.shape)
    found |= defaults(subject.shape, subject.dtype)
    name = codec or (subject.current.codec if subject.current else CODEC)
    ladder = ladder_of_layouts(subject.shape, subject.itemsize, name, {})
    there = {(one.chunks, one.shards, one.codec) for one in found.values()}
    more = {label: one for label, one in ladder.items() if (one.chunks, one.shards, one.codec) not in there}
    return found | {label: one for label, one in more.items() if label not in found}


def _row(
    room: Setting, label: str, layout: Layout, sample: Sample, classes: Sequence[QueryClass],
    boxes: Mapping[str, Sequence[Box]], money: Prices, accesses: float,
) -> tuple[Cell, ...]:  # fmt: skip
    room.say(f"counting {label}, {layout.text()}")
    shape, itemsize = room.subject.shape, room.subject.itemsize
    ratio = _ratio(layout, sample, shape)
    requests = np.zeros(DRAWS)
    fetched = np.zeros(DRAWS)
    for one in classes:
        found = [touch(box, layout, itemsize, ratio, REMOTE) for box in boxes[one.name]]
        requests += one.weight * np.array([each.requests for each in found], float)
        fetched += one.weight * np.array([each.fetched for each in found], float)
    stored = room.subject.nbytes / ratio
    month = bill(money, stored, float(requests.mean()), float(fetched.mean()), accesses)
    objects = layout.files(shape)
    upload: Bill = bill(money, 0, 0, 0, 0, objects)
    return (
        label, layout.text(), stored, objects, mean_estimate(requests), mean_estimate(fetched), month.storage,
        month.reading, month.egress, month.total, upload.writing,
    )  # fmt: skip


def _ratio(layout: Layout, sample: Sample, shape: tuple[int, ...]) -> float:
    """Values over stored bytes, of some chunks of real values at evenly spread places."""
    import tessarray

    inner = Layout(layout.chunks, None, layout.codec, layout.checksum, layout.filters)
    itemsize = sample.values.dtype.itemsize
    grid = [max(-(-n // c), 1) for n, c in zip(shape, layout.chunks, strict=True)]
    size = math.prod(layout.chunks) * itemsize
    count = int(min(max(ENCODED // max(size, 1), 1), BLOCKS * 4, math.prod(grid)))
    raw = stored = 0
    for number in range(count):
        place = np.unravel_index(int((number + 0.5) / count * math.prod(grid)), grid)
        box = tuple(
            (int(at) * c, min((int(at) + 1) * c, n))
            for at, c, n in zip(place, layout.chunks, shape, strict=True)
        )
        values = sample.block(box)
        array = inner.create(tessarray.MemoryStore(), values.shape, values.dtype)
        array.write(..., np.ascontiguousarray(values))
        raw += values.nbytes
        stored += array.nbytes_stored()
    return raw / max(stored, 1)
