"""Where the time of a read goes, measured: first run, later runs, and the same read of copies in memory.

1. The first read of the array, opened anew around a store that counts: the time as found, requests and bytes.
2. In rounds, the same read of the array (warm), of a copy of the touched objects in memory, of an uncompressed copy
   of the chunks, and of an array of these chunks that holds nothing.
3. I/O is what the array takes more than the copy of its bytes, decoding what that takes more than the uncompressed
   copy, assembly what that takes more than the array of nothing; the rest is planning, and the memory of the result.

Each is the lower quartile of its rounds; differences of a few per cent are noise.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tessarray import _native
from tessarray.stores import RecordStore
from tessarray.tuner.explain.axis_selection import AxisSelection
from tessarray.tuner.explain.copies import keys, recoded, reopened, same_bytes, stored_sizes

__all__ = ["Measured", "Stages", "measure"]

ROUNDS = 7
SMALL = 64 << 10
BUDGET = 2.0  # seconds of rounds, about
SERIAL = 3  # I/O takes no longer than this many times what requests would take one by one; more is noise of the rest
FASTER = "blosc:lz4:5:shuffle"
QUICK = ("blosc", "zstd", "lz4", "gzip", "crc32c")


@dataclass(frozen=True)
class Stages:
    """Seconds of one warm read, by what they are spent on; they add up to it."""

    io: float
    decode: float
    assembly: float
    rest: float

    @property
    def total(self) -> float:
        """All of them."""
        return self.io + self.decode + self.assembly + self.rest

    def named(self) -> list[tuple[str, float]]:
        """The stages by name."""
        return [("I/O", self.io), ("decode", self.decode), ("assembly", self.assembly), ("rest", self.rest)]


@dataclass(frozen=True)
class Trial:
    """The read from memory with the chunks as they are, and with one thing changed, in turns. `floor`: of the same
    chunks uncompressed. ratio: how many times smaller than their values the changed chunks are.
    """

    before: float
    after: float
    floor: float
    ratio: float = 1.0


@dataclass(frozen=True)
class Measured:
    """What was measured. Times in seconds. The trials are `None` if they were not made: `in_c_order` for chunks
    that are in another order, `with_fast_codec` if decoding takes its time.

    noise: the most that a read took longer than its like. uncompressed: whether assembly could be told from decoding.
    latency: of a one-byte request; bandwidth: bytes a second behind it. objects: those that are stored.
    """

    first: float
    first_in_store: float
    warm: float
    warm_in_store: float
    noise: float
    stages: Stages
    requests: int
    fetched: int
    objects: int
    latency: float
    bandwidth: float
    in_c_order: Trial | None
    with_fast_codec: Trial | None
    uncompressed: bool


def measure(array: Any, selected: AxisSelection, limit: int) -> tuple[Measured, Any]:
    """Measure a read; gives the copy of its objects in memory as well. It is read some 3 to 10 times, and its stored
    objects are copied once, or coded anew if they have far more than `limit` bytes."""
    nothing = recoded(array, selected, None, None, None)
    if nothing is not None:  # wakes the workers and touches memory for the result
        selected.read(nothing)
    counting = RecordStore(array.store)
    fresh = reopened(array, counting)
    first = _timed(lambda: selected.read(fresh))
    total = counting.counts()["total"]
    names = keys(array, selected)
    there, stored = stored_sizes(array.store, names)
    latency, bandwidth = _link(array.store, there)
    memory = _copy(array, selected, names, stored, limit)
    raw = recoded(array, selected, memory, None, None) if _bytes(array, selected) <= 2 * limit else None
    again = _timed(lambda: selected.read(fresh))
    rounds = ROUNDS if again < BUDGET / ROUNDS / 2 else 2 if again < BUDGET else 1
    counting.reset()
    copies = {"warm": fresh, "memory": memory, "raw": raw, "nothing": nothing}
    times, noise = _rounds(rounds, copies, selected)
    in_store = counting.counts()["total"]["seconds"] / rounds
    serial = total["ranges"] * latency + total["bytes_read"] / bandwidth
    stages = _stages(times, SERIAL * serial)
    measured = Measured(
        first=first,
        first_in_store=total["seconds"],
        warm=times["warm"],
        warm_in_store=in_store,
        noise=noise,
        stages=stages,
        requests=total["ranges"],
        fetched=total["bytes_read"],
        objects=len(there),
        latency=latency,
        bandwidth=bandwidth,
        in_c_order=_in_c_order(array, selected, memory, raw, rounds),
        with_fast_codec=_with_fast_codec(array, selected, memory, raw, rounds, stages),
        uncompressed=raw is not None,
    )
    return measured, memory


def _bytes(array: Any, selected: AxisSelection) -> int:
    """Of the values in the chunks that are touched: one may be larger than any limit."""
    touched = math.prod(len(selected.along(axis, chunk)) for axis, chunk in enumerate(array.chunks))
    size: int = touched * math.prod(array.chunks) * int(array.itemsize)
    return size


def _copy(array: Any, selected: AxisSelection, names: list[str], stored: int, limit: int) -> Any:
    """The touched objects in memory. Of shards that are huge, the touched chunks only, coded again."""
    if array.shards and stored > 2 * limit:
        coded = recoded(array, selected, array, None, list(array.compressors) or None, array.serializer)
        if coded is not None:
            return coded
    return same_bytes(array, names)


def _timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _rounds(count: int, arrays: dict[str, Any], selected: AxisSelection) -> tuple[dict[str, float], float]:
    """The lower quartile of reads that take turns: a slow moment of the machine meets them all, and counts little.
    Gives also the most that any read took longer than that."""
    found: dict[str, list[float]] = {name: [] for name, array in arrays.items() if array is not None}
    for _ in range(count):
        for name in found:
            found[name].append(_timed(lambda array=arrays[name]: selected.read(array)))  # type: ignore[misc]
    quartiles = {name: sorted(times)[len(times) // 4] for name, times in found.items()}
    return quartiles, max(max(times) - quartiles[name] for name, times in found.items())


def _stages(times: dict[str, float], most: float) -> Stages:
    """Differences, none below zero: a copy that came out slower than what it is a part of is as slow as that."""
    warm = times["warm"]
    memory = max(min(times["memory"], warm), warm - most)
    raw = min(times.get("raw", 0.0), memory)
    nothing = min(times.get("nothing", 0.0), raw)
    return Stages(warm - memory, memory - raw, raw - nothing, nothing)


def _link(store: Any, there: list[str]) -> tuple[float, float]:
    """The time of a request and the bytes a second behind it, of one stream."""
    if not there:
        return 0.0, float("inf")
    name = there[len(there) // 2]
    latency = statistics.median(_timed(lambda: store.get(name, 0, 1)) for _ in range(5))
    size = store.size(name) or 0
    whole = statistics.median(_timed(lambda: store.get(name)) for _ in range(3))
    bandwidth = size / max(whole - latency, size / 20e9, 1e-9)
    # Of a few bytes near at hand, the time is noise.
    near = size < SMALL and latency < 1e-3
    return latency, max(bandwidth, 1e9) if near else bandwidth


def _in_c_order(array: Any, selected: AxisSelection, memory: Any, raw: Any, rounds: int) -> Trial | None:
    """Had the chunks been stored in C order: with the same codecs, or, if those are slow to encode, with none."""
    if raw is None or not any(codec["name"] == "transpose" for codec in array.filters):
        return None
    quick = all(
        codec["name"] in QUICK and (codec.get("configuration") or {}).get("level", 0) <= 9
        for codec in array.compressors
    )
    turned = recoded(array, selected, memory, "C", (list(array.compressors) or None) if quick else None)
    if turned is None:
        return None
    times, _ = _rounds(rounds, {"own": memory, "it": turned, "raw": raw}, selected)
    decoding = 0.0 if quick else max(times["own"] - times["raw"], 0.0)
    return Trial(times["own"], times["it"] + decoding, times["raw"])


def _with_fast_codec(
    array: Any, selected: AxisSelection, memory: Any, raw: Any, rounds: int, stages: Stages
) -> Trial | None:
    """Had a fast codec coded the chunks, with the checksum that they have."""
    if raw is None or not array.compressors or stages.decode < 0.2 * stages.total:
        return None
    (fast,) = _native.codecs_from_text(FASTER)
    own = array.compressors[0]
    if own["name"] == fast["name"] and own["configuration"]["cname"] == fast["configuration"]["cname"]:
        return None
    checksum = [codec for codec in array.compressors if codec["name"] == "crc32c"]
    coded = recoded(array, selected, raw, None, [fast, *checksum])
    if coded is None:
        return None
    chunk = coded.nbytes_stored() / max(coded.nobjects_stored(), 1)
    times, _ = _rounds(rounds, {"own": memory, "it": coded, "raw": raw}, selected)
    ratio = math.prod(array.chunks) * array.itemsize / max(chunk, 1)
    return Trial(times["own"], times["it"], times["raw"], ratio)
