"""A workload of the user's own, in a small TOML (or YAML) file: what the data are, how they are cut, how they are read.

    tessarray bench run mine.toml --systems tessarray,zarr-python

`examples/bench_workload.toml` shows every key. Each of its layouts becomes a workload, `custom/NAME/LAYOUT`, that runs
on all systems. The data are made by the benchmark, or lie in a file: `.npy`, or a variable of a netCDF or HDF5 file,
which the harness copies as it is stored (no scale, no mask) into a `.npy` of the work folder before anything is timed.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tessarray_bench import data as values_of
from tessarray_bench import queries
from tessarray_bench.custom_source import DTYPES, describe
from tessarray_bench.custom_table import CustomError, Table, meant, parse
from tessarray_bench.model import Codec, Data, Layout, Query, Workload

SUITE = "custom"
CALLS = 100
TOP = ("name", "data", "layouts", "queries", "calls", "workers", "order", "repeats")
DATA = ("shape", "dtype", "kind", "seed", "file", "variable")
LAYOUT = ("chunks", "shards", "codec")
QUERY = ("name", "selection", "weight", "count", "at_once")
CODECS = ("none", "blosc", "zstd", "gzip", "lz4", "zlib", "bz2", "lzma")
INSIDE_BLOSC = ("lz4", "lz4hc", "zstd", "zlib", "blosclz")
# What a process calls its own steps.
RESERVED = ("open", "open + element", "read", "write", "check", "sync")
SHUFFLES = ("byte", "bit", "none")
LEVELS = {"zstd": 22}  # the highest; 9 for the others

__all__ = ["CustomError", "load"]


def load(path: Path) -> list[Workload]:
    """The workloads of a file, one for each layout. Raises `CustomError` for the first thing that is not right."""
    top = Table(str(path), "", parse(path))
    top.only(TOP)
    name = top.label("name", path.stem)
    data = _data(top, path.parent)
    order = top.word("order", ("C", "F"), "C")
    options: dict[str, Any] = {"order": order} | (
        {"repeats": top.number("repeats")} if "repeats" in top else {}
    )
    workers = top.number("workers") if "workers" in top else None
    asked = _queries(top, data.shape)
    return [
        Workload(f"{SUITE}/{name}/{label}", SUITE, "array", data, None, layout, asked, workers, dict(options))
        for label, layout in _layouts(top, data)
    ]


# ---- data


def _data(top: Table, folder: Path) -> Data:
    table = top.table("data")
    table.only(DATA)
    if "file" in table:
        return describe(table, folder)
    if "variable" in table:
        raise table.wrong("variable", "`file` beside it")
    shape = table.lengths("shape")
    dtype = table.given.get("dtype")
    if isinstance(dtype, str) and dtype != "string":
        # `float32` and `<f4` are `f4` here; what NumPy does not know is told below.
        with contextlib.suppress(TypeError):
            dtype = np.dtype(dtype).str.lstrip("<|=")
    if dtype not in DTYPES:
        raise table.wrong("dtype", f"one of {', '.join(DTYPES)}")
    kind = table.word("kind", tuple(values_of.KINDS), "strings" if dtype == "string" else None)
    if (kind == "strings") != (dtype == "string"):
        raise table.wrong(
            "kind", f"a kind that has values of dtype {dtype}", "`strings` goes with `string` alone"
        )
    if kind == "smooth" and dtype in ("b1", "i1", "u1"):
        raise table.wrong(
            "kind", f"a kind that has values of dtype {dtype}", "smooth data lie between 200 and 400"
        )
    return Data(kind, shape, str(dtype), table.number("seed", 0, least=0))


# ---- layouts


def _layouts(top: Table, data: Data) -> Iterator[tuple[str, Layout]]:
    table = top.table("layouts")
    if not table.given:
        raise CustomError(top.file, "layouts", "at least one layout, as [layouts.NAME]", "none")
    for label in table.given:
        entry = table.table(label)
        if not re.fullmatch(r"[^\s/]+", label):
            raise CustomError(top.file, entry.where, "a name without spaces and slashes", repr(label))
        entry.only(LAYOUT)
        shards = entry.lengths("shards", data.shape) if "shards" in entry else None
        chunks = entry.lengths("chunks", data.shape)
        if shards and any(outer % inner for outer, inner in zip(shards, chunks, strict=True)):
            raise entry.wrong("shards", f"multiples of the chunks, {list(chunks)}")
        yield label, Layout(chunks, shards, _codec(entry))


def _codec(entry: Table) -> Codec:
    """As `blosc:lz4:5:byte`, `zstd:3`, `gzip:5` or `none`; what is left out has the usual value."""
    text = entry.text("codec", "blosc:lz4:5:byte")
    parts = text.split(":")
    if parts[0] not in CODECS:
        raise entry.wrong("codec", f"a codec, one of {', '.join(CODECS)}", meant(parts[0], CODECS))
    inside, level, shuffle = (
        (parts[1:2], parts[2:3], parts[3:]) if parts[0] == "blosc" else ([], parts[1:2], parts[2:])
    )
    if inside and inside[0] not in INSIDE_BLOSC:
        raise entry.wrong("codec", f"blosc with one of {', '.join(INSIDE_BLOSC)}")
    most = LEVELS.get(parts[0], 9)
    if level and not (level[0].isdecimal() and int(level[0]) <= most):
        raise entry.wrong("codec", f"a level from 0 to {most}")
    if shuffle and (len(shuffle) > 1 or shuffle[0] not in SHUFFLES):
        raise entry.wrong("codec", f"a shuffle at the end, one of {', '.join(SHUFFLES)}")
    if parts[0] == "none" and len(parts) > 1:
        raise entry.wrong("codec", "`none` alone")
    return Codec.parse(text)


# ---- queries


def _queries(top: Table, shape: tuple[int, ...]) -> tuple[Query, ...]:
    given = top.given.get("queries", [])
    if not isinstance(given, list):
        raise top.wrong("queries", "a list of tables, each as [[queries]]")
    tables = [Table(top.file, f"queries[{n}]", entry) for n, entry in enumerate(given)]
    shares: dict[int, float] = {}
    for number, table in enumerate(tables):
        table.only(QUERY)
        _selection(table, shape)
        if "count" in table and "weight" in table:
            raise table.wrong("weight", "nothing, as `count` is the number of calls")
        if "count" not in table and table.given["selection"].strip() != "chunks":
            shares[number] = _weight(table)
        elif "weight" in table or ("count" in table and table.given["selection"].strip() == "chunks"):
            raise table.wrong(
                "weight" if "weight" in table else "count", "nothing, as `chunks` reads each chunk once"
            )
    total = top.number("calls", CALLS)
    if total < len(shares):
        raise top.wrong("calls", f"at least one for each of the {len(shares)} queries with a weight")
    counts = dict(zip(shares, split(total, list(shares.values())), strict=True))
    made = [_query(table, counts.get(number, 1)) for number, table in enumerate(tables)]
    for number, query in enumerate(made):
        if query.name in [other.name for other in made[:number]] or query.name in RESERVED:
            raise CustomError(top.file, f"queries[{number}].name", "a name of its own", repr(query.name))
    return tuple(made)


def _query(table: Table, count: int) -> Query:
    selection = table.given["selection"].strip()
    count = table.number("count") if "count" in table else count
    return Query(table.text("name", selection), selection, count, table.number("at_once", 1))


def _selection(table: Table, shape: tuple[int, ...]) -> None:
    text = table.text("selection").strip()
    if text in queries.WORDS:
        return
    if not (text.startswith("[") and text.endswith("]")):
        words = ", ".join(f"`{word}`" for word in queries.WORDS)
        hint = meant(text, queries.WORDS)
        raise table.wrong("selection", f"a selection as `[i, :, :32]`, or one of {words}", hint)
    try:
        queries.parse(text, shape)
    except queries.QueryError as problem:
        expected = str(problem).partition("expected ")[2].rpartition(", found")[0]
        raise table.wrong("selection", f"{expected} for the shape {list(shape)}", str(problem)) from None


def _weight(table: Table) -> float:
    found = table.given.get("weight", 1)
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 < found < float("inf"):
        raise table.wrong("weight", "a number above 0")
    return float(found)


def split(total: int, weights: list[float]) -> list[int]:
    """`total` calls by weight, the largest remainders first, and at least one each; they add up to `total`."""
    if not weights:
        return []
    spare, whole = total - len(weights), sum(weights)
    ideal = [max(total * weight / whole - 1, 0) for weight in weights]  # beside the one that everybody gets
    scale = spare / sum(ideal) if sum(ideal) else 0
    exact = [share * scale for share in ideal]
    counts = [int(share) for share in exact]
    order = sorted(range(len(weights)), key=lambda n: (counts[n] - exact[n], n))
    for n in order[: spare - sum(counts)]:
        counts[n] += 1
    return [count + 1 for count in counts]
