"""The nouns of the benchmark: data, layouts, queries, workloads, jobs. Plain values that go to JSON and back.

This module needs the standard library alone: it is imported in every system's own environment.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass, field
from typing import Any

KINDS = ("array", "append", "fleet", "small")

# How each kind of workload is cut into processes, each of them fresh: what one does, the next finds on disk.
PROCESSES = {
    "array": ("write", "read", "check"),
    "append": ("append", "check"),
    "fleet": ("write", "read", "check"),
    "small": ("write", "read", "check"),
}


@dataclass(frozen=True)
class Codec:
    """A compressor: `blosc` (with one inside, and a shuffle), `zstd`, `gzip`, `lz4`, ... or `none`.

    `shuffle` is `byte`, `bit` or `none`. As text: `blosc:lz4:5:byte`, `zstd:3`, `zstd:3:byte`, `none`.
    """

    name: str = "blosc"
    compressor: str = "lz4"  # blosc's own; empty for the others
    level: int = 5
    shuffle: str = "byte"

    @classmethod
    def parse(cls, text: str) -> Codec:
        """The codec of a text: `none`, `zstd:3`, `blosc:lz4:5:byte`; what is left out has a default."""
        parts = text.split(":")
        if parts[0] == "none":
            return cls("none", "", 0, "none")
        if parts[0] == "blosc":
            inner, level, shuffle = (*parts[1:], *("lz4", "5", "byte")[len(parts) - 1 :])
            return cls("blosc", inner, int(level), shuffle)
        level = parts[1] if len(parts) > 1 else "0"
        return cls(parts[0], "", int(level), parts[2] if len(parts) > 2 else "none")

    def __str__(self) -> str:
        if self.name == "none":
            return "none"
        if self.name == "blosc":
            return f"blosc:{self.compressor}:{self.level}:{self.shuffle}"
        return f"{self.name}:{self.level}" + ("" if self.shuffle == "none" else f":{self.shuffle}")


@dataclass(frozen=True)
class Layout:
    """How an array is cut: `chunks` are what is read (inner chunks where there are shards), `shards` what is stored."""

    chunks: tuple[int, ...]
    shards: tuple[int, ...] | None = None
    codec: Codec = field(default_factory=Codec)

    @property
    def outer(self) -> tuple[int, ...]:
        """What is stored under one key: the shard, or the chunk where there are none."""
        return self.shards or self.chunks

    def flat(self) -> Layout:
        """The same for a system with one level of chunks only: what is stored under one key stays."""
        return Layout(self.outer, None, self.codec)

    @classmethod
    def from_json(cls, given: dict[str, Any] | None) -> Layout | None:
        """The layout that `to_json` made; None of None."""
        if given is None:
            return None
        shards = given.get("shards")
        return cls(tuple(given["chunks"]), tuple(shards) if shards else None, Codec.parse(given["codec"]))

    def to_json(self) -> dict[str, Any]:
        """As results files hold it."""
        return {
            "chunks": list(self.chunks),
            "shards": list(self.shards) if self.shards else None,
            "codec": str(self.codec),
        }


@dataclass(frozen=True)
class Data:
    """Values that everyone makes alike from (kind, shape, dtype, seed), or that lie in a file.

    `dtype` is NumPy's short name (`u1`, `f8`) or `string` (variable length). `kind`: see `data.KINDS`; with `file`,
    `path` is a `.npy` file, or `FILE::VARIABLE` of a netCDF or HDF5 file.
    """

    kind: str
    shape: tuple[int, ...]
    dtype: str
    seed: int = 0
    path: str | None = None

    @property
    def itemsize(self) -> int:
        """Bytes of an element; strings count as the 16 bytes that NumPy holds of each."""
        return 16 if self.dtype == "string" else int(self.dtype.lstrip("<>=|")[1:])

    @property
    def nbytes(self) -> int:
        """Bytes of the values."""
        return math.prod(self.shape) * self.itemsize

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Data:
        """The data that a results file describes."""
        return cls(**{**given, "shape": tuple(given["shape"])})


@dataclass(frozen=True)
class Query:
    """A class of reads of one array, named, done `count` times at seeded random places.

    `selection` is written as for the tuner: in `[i, :, :32]` a name stands for a random index, `:` for the whole axis,
    `:n` for a run of n at a random place. Two words stand for themselves: `chunks` reads every stored chunk or shard
    once, `inner chunks` every inner chunk of `count` random ones; `points` reads `count` random elements in one call.
    `at_once` is how many threads of the caller's read at the same time.
    """

    name: str
    selection: str
    count: int = 1
    at_once: int = 1


@dataclass(frozen=True)
class Variable:
    """One variable of every dataset of a fleet, or of every array of a file of small arrays."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True)
class Fleet:
    """`count` datasets with the same variables; `ragged` ones differ in the length of their first axis."""

    count: int
    variables: tuple[Variable, ...]
    ragged: bool = False
    seed: int = 0
    kind: str = "random"

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Fleet:
        """The fleet that a results file describes."""
        variables = tuple(Variable(v["name"], tuple(v["shape"]), v["dtype"]) for v in given["variables"])
        return cls(**{**given, "variables": variables})


@dataclass(frozen=True)
class Workload:
    """One thing to do, the same for every system. `id` is unique and says all that differs, `/` between its parts.

    Exactly one of `data` (kinds array, append) and `fleet` (kinds fleet, small) is given. `layout` None asks for the
    library's natural one. `workers` None leaves each system its default number of threads; a number limits the
    process to as many cores, and tells the system. `options` by name:

    - `order`: `C` or `F`, the memory order of the input (default `C`);
    - `frames`: rows of axis 0 per append call; `rate`: frames per second offered (0: as fast as it goes);
      `queue`: how many offered frames may wait before one is dropped;
    - `latency`: seconds before the first byte of each request: reads go through an HTTP server on loopback;
    - `repeats`: of this workload, in place of the run's;
    - `slice`: for a fleet, the share of every axis that the bulk read takes (0.25).
    """

    id: str
    suite: str
    kind: str
    data: Data | None = None
    fleet: Fleet | None = None
    layout: Layout | None = None
    queries: tuple[Query, ...] = ()
    workers: int | None = None
    options: dict[str, Any] = field(default_factory=dict)

    @property
    def nbytes(self) -> int:
        """Bytes of the values, in memory."""
        if self.data is not None:
            return self.data.nbytes
        assert self.fleet is not None
        sizes = (math.prod(v.shape) * Data("", v.shape, v.dtype).itemsize for v in self.fleet.variables)
        return self.fleet.count * sum(sizes)

    def to_json(self) -> dict[str, Any]:
        """As results files and jobs hold it."""
        plain = dataclasses.asdict(self)
        plain["layout"] = self.layout.to_json() if self.layout else None
        return plain

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Workload:
        """The workload that `to_json` made."""
        return cls(
            id=given["id"],
            suite=given["suite"],
            kind=given["kind"],
            data=Data.from_json(given["data"]) if given.get("data") else None,
            fleet=Fleet.from_json(given["fleet"]) if given.get("fleet") else None,
            layout=Layout.from_json(given.get("layout")),
            queries=tuple(Query(**query) for query in given.get("queries", ())),
            workers=given.get("workers"),
            options=dict(given.get("options", {})),
        )


@dataclass(frozen=True)
class Job:
    """One process: one part (`process`, of PROCESSES) of one workload, for one system, in one repeat.

    `store` is the path of the store, in the folder of this (workload, system, repeat). `system` is who works: on the
    process `check` the independent reader, whose answer is about `writer`.
    `source` is the file of the values: `.npy` (kinds array, append), or the arrays of a fleet, one after another.
    `adapter` is a file outside the package, or None.
    """

    workload: Workload
    system: str
    process: str
    repeat: int
    store: str
    writer: str = ""
    source: str | None = None
    adapter: str | None = None
    url: str | None = None
    seed: int = 0
    started: float = 0.0  # of CLOCK_MONOTONIC, just before the process was made

    def to_json(self) -> dict[str, Any]:
        """As the worker's file holds it."""
        return {**dataclasses.asdict(self), "workload": self.workload.to_json()}

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> Job:
        """The job that `to_json` made."""
        return cls(**{**given, "workload": Workload.from_json(given["workload"])})
