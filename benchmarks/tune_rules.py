"""Rules of thumb about layouts, each with the experiment that supports or refutes it on this machine.

    .venv/bin/python benchmarks/tune_rules.py            # about two minutes; writes docs/tuning-rules.md

A smooth f4 field of (256, 512, 512), 268 MB, read as maps, series and boxes (0.5, 0.4, 0.1 of the calls). Every
layout is stored and read for real at the same drawn places, in turns; every read is verified. Times are weighted means.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

import tessarray
from tessarray.display.units import rate_text, time_text
from tessarray.tuner import probe
from tessarray.tuner.layout import Layout
from tessarray.tuner.leaderboard import seconds_of_trial
from tessarray.tuner.queries import QueryClass, parse_queries
from tessarray.tuner.sampling import Sample
from tessarray.tuner.target import Scratch, parse_store
from tessarray.tuner.trial import Ground, Trial

ROOT = Path(__file__).resolve().parent.parent
MIXED = {"map": ("[t, :, :]", 0.5), "series": ("[:, y, x]", 0.4), "box": ("[:30, :64, :64]", 0.1)}
FAR = "s3-like(ttfb=30ms,bw=200MB/s)"
CUBES = {
    "16 kB": (8, 16, 32),
    "64 kB": (16, 32, 32),
    "256 kB": (32, 32, 64),
    "1 MB": (64, 64, 64),
    "4 MB": (64, 128, 128),
    "16 MB": (128, 128, 256),
}
SHARD = (128, 256, 256)
CODEC = "blosc:lz4:5:shuffle"


def field(shape: tuple[int, int, int], seed: int = 0) -> np.ndarray:
    """Waves with noise of a hundredth of a degree, to three decimals."""
    rng = np.random.default_rng(seed)
    t, y, x = (np.arange(n, dtype="f4") for n in shape)
    smooth = 10 * np.sin(t * 0.05)[:, None, None] + 5 * np.cos(y * 0.02)[:, None] + 4 * np.sin(x * 0.013)
    return (280 + smooth + 0.01 * rng.standard_normal(shape, dtype="f4")).round(3).astype("f4")


class Bench:
    """One array on one store; `times` reads layouts in turns."""

    def __init__(self, values: np.ndarray, store: str, seed: int = 0) -> None:
        self.classes = parse_queries(MIXED, values.shape)
        self.scratch = Scratch(parse_store(store))
        rng = np.random.default_rng(seed)
        boxes = {one.name: one.draw(rng, 6) for one in self.classes}
        self.ground = Ground(
            values.shape, values.dtype, Sample(values, values.shape), self.scratch, self.classes, boxes, 2
        )
        self.far = self.scratch.target.remote

    def times(self, layouts: Mapping[str, Layout], rounds: int = 7) -> dict[str, Trial]:
        """Read every layout `rounds` times (once on a far store), in turns; gives the trials."""
        trials = {name: Trial(layout, self.ground, name) for name, layout in layouts.items()}
        for trial in trials.values():
            trial.prepare(trial.plan(2 if self.far else 4))
        for turn in range(2 if self.far else rounds * 4):
            for trial in trials.values():
                for one in self.classes:
                    trial.time(one, turn % trial.draws[one.name])
        for trial in trials.values():
            trial.close()
        return trials

    def seconds(self, trial: Trial, name: str | None = None) -> float:
        """Seconds of an access, or of one class."""
        if name is None:
            return seconds_of_trial(trial, self.classes)
        return float(np.mean([np.median(times) for (of, _), times in trial.times.items() if of == name]))


def rules(values: np.ndarray, store: str) -> Iterator[tuple[str, str, str, str]]:
    """(rule, experiment, found, verdict)."""
    near, far = Bench(values, store), Bench(values, FAR)
    try:
        yield from of_shapes(near, far)
        yield from of_codecs(near, far, values)
        yield from of_use(near, values)
    finally:
        near.scratch.close()
        far.scratch.close()


def of_shapes(near: Bench, far: Bench) -> Iterator[tuple[str, str, str, str]]:
    cubes = {name: Layout(chunks, None, CODEC) for name, chunks in CUBES.items()}
    here = near.times(cubes)
    times = {name: near.seconds(trial) for name, trial in here.items()}
    best = min(times, key=times.__getitem__)
    yield (
        "Chunks should be 1 to 10 MB",
        "cubes of 16 kB to 16 MB, each an object, local: an access",
        ", ".join(f"{name} {time_text(seconds)}" for name, seconds in times.items()),
        f"refuted here: {best} is best, 1 MB takes {times['1 MB'] / times[best]:.2g} times as long"
        if times["1 MB"] > 1.15 * times[best]
        else "holds here",
    )
    away = far.times({name: cubes[name] for name in ("256 kB", "1 MB", "4 MB", "16 MB")})
    slow = {name: far.seconds(trial) for name, trial in away.items()}
    best_far = min(slow, key=slow.__getitem__)
    yield (
        "the same, behind a network",
        f"{FAR}: an access",
        ", ".join(f"{name} {time_text(seconds)}" for name, seconds in slow.items()),
        f"{best_far} is best: a request's 30 ms are worth 6 MB of the link",
    )
    shape = near.ground.shape
    slab, column = Layout((1, shape[1], shape[2]), None, CODEC), Layout((shape[0], 16, 16), None, CODEC)
    inner = Layout(CUBES["64 kB"], SHARD, CODEC)
    trials = near.times({"slab": slab, "column": column, "cube": cubes["64 kB"], "shard": inner})
    maps = {name: near.seconds(trial, "map") for name, trial in trials.items()}
    series = {name: near.seconds(trial, "series") for name, trial in trials.items()}
    yield (
        "One chunk a map, because maps are what is read",
        "slabs (1, 512, 512) against cubes of 64 kB",
        f"map {time_text(maps['slab'])} against {time_text(maps['cube'])}, "
        f"series {time_text(series['slab'])} against {time_text(series['cube'])}",
        f"dear: maps gain {maps['cube'] / maps['slab']:.2g} times, series lose {series['slab'] / series['cube']:.0f}",
    )
    yield (
        "Shards make reads slower",
        "cubes of 64 kB, alone and in shards (128, 256, 256)",
        f"an access {time_text(near.seconds(trials['cube']))} alone, "
        f"{time_text(near.seconds(trials['shard']))} in shards; "
        f"{cubes['64 kB'].files(shape):,} files against {inner.files(shape)}",
        verdict(near.seconds(trials["shard"]) / near.seconds(trials["cube"]), "slower", "refuted here"),
    )


def verdict(ratio: float, word: str, otherwise: str) -> str:
    return (
        f"holds here: {ratio:.2f} times the time"
        if ratio > 1.15
        else f"{otherwise}: {ratio:.2f} times the time"
    )


def of_codecs(near: Bench, far: Bench, values: np.ndarray) -> Iterator[tuple[str, str, str, str]]:
    names = ("none", CODEC, "blosc:zstd:3:shuffle", "zstd:3", "gzip:6")
    layouts = {name: Layout(CUBES["64 kB"], SHARD, name) for name in names}
    times = {name: near.seconds(trial) for name, trial in near.times(layouts).items()}
    yield (
        "Compression makes reads slower",
        "the same shards, by codec, local: an access",
        ", ".join(f"{name} {time_text(seconds)}" for name, seconds in times.items()),
        f"depends: {CODEC} takes {times[CODEC] / times['none']:.2f} times the time of none, "
        f"gzip:6 {times['gzip:6'] / times['none']:.2g}",
    )
    slow = {
        name: far.seconds(trial)
        for name, trial in far.times({n: layouts[n] for n in ("none", CODEC)}).items()
    }
    yield (
        "the same, behind a network",
        f"{FAR}: an access",
        ", ".join(f"{name} {time_text(seconds)}" for name, seconds in slow.items()),
        f"{CODEC} takes {slow[CODEC] / slow['none']:.2f} times the time of none: fewer bytes travel",
    )
    session = tessarray.Session(threads=1)
    blocks = probe.blocks_of(Sample(values, values.shape))
    figures = {
        name: probe.measure(name, blocks, session, 5)
        for name in (
            *("blosc:lz4:5:noshuffle", CODEC, "blosc:lz4:5:bitshuffle"),
            *("blosc:zstd:1:shuffle", "blosc:zstd:9:shuffle", "zstd:3", "zstd:9"),
        )
    }
    yield (
        "Always shuffle numbers",
        "lz4:5 on real blocks: ratio",
        ", ".join(f"{name.rpartition(':')[2]} {figures[name].ratio:.2f}" for name in list(figures)[:3]),
        f"holds here: {figures[CODEC].ratio / figures['blosc:lz4:5:noshuffle'].ratio:.2f} times smaller",
    )
    low, high = figures["blosc:zstd:1:shuffle"], figures["blosc:zstd:9:shuffle"]
    yield (
        "The highest level is worth its time",
        "blosc:zstd:1 and :9 with shuffle, on one thread",
        f"ratio {low.ratio:.2f} and {high.ratio:.2f}; encode {rate_text(low.encode)} and {rate_text(high.encode)}; "
        f"decode {rate_text(low.decode)} and {rate_text(high.decode)}",
        f"{(1 - low.ratio / high.ratio) * 100:.0f} % smaller for {low.encode / high.encode:.0f} times the writing time",
    )
    # Without a codec: blosc's frames have a checksum of their own where none follows.
    plain = {
        n: Layout(CUBES["64 kB"], SHARD, "none", checksum=n == "crc32c") for n in ("crc32c", "no checksum")
    }
    both = {name: near.seconds(trial) for name, trial in near.times(plain, 11).items()}
    yield (
        "Checksums are expensive",
        "chunks as they are, with and without crc32c: an access",
        ", ".join(f"{name} {time_text(seconds)}" for name, seconds in both.items()),
        verdict(both["crc32c"] / both["no checksum"], "slower", "refuted here"),
    )


def of_use(near: Bench, values: np.ndarray) -> Iterator[tuple[str, str, str, str]]:
    layout = Layout(CUBES["1 MB"], None, CODEC)
    found: dict[str, float] = {}
    array = layout.create(tessarray.MemoryStore(), values.shape, values.dtype)
    array[...] = values
    boxes = {
        "aligned": ((64, 128), (64, 128), (128, 192)),
        "half a chunk off": ((32, 96), (32, 96), (96, 160)),
    }
    query = QueryClass("box", 1.0, "", values.shape, ())
    from timeit import repeat

    for _ in range(3):
        for name, box in boxes.items():
            selection = tuple(slice(a, b) for a, b in box)
            once = min(repeat(lambda selection=selection: array[selection], number=3, repeat=5)) / 3
            found[name] = min(found.get(name, math.inf), once)
    assert query.weight == 1.0
    yield (
        "Align what you read with chunks",
        "a box of one chunk (64, 64, 64), at a chunk and half a chunk off along every axis",
        ", ".join(f"{name} {time_text(seconds)}" for name, seconds in found.items()),
        f"holds: {found['half a chunk off'] / found['aligned']:.2g} times the time, for 8 chunks in place of 1",
    )
    shards = Layout(CUBES["64 kB"], SHARD, CODEC)
    store = tessarray.MemoryStore()
    shards.create(store, values.shape, values.dtype)[...] = values
    speeds: dict[tuple[str, int], float] = {}
    reads = {
        "all of it": (slice(None),),
        "a map": (100,),
        "one chunk": (slice(0, 16), slice(0, 32), slice(0, 32)),
    }
    arrays = {n: tessarray.open_array(store, mode="r", session=tessarray.Session(threads=n)) for n in (1, 2)}
    for _ in range(3):
        for name, selection in reads.items():
            for workers, one in arrays.items():
                once = min(repeat(lambda one=one, selection=selection: one[selection], number=1, repeat=5))
                speeds[name, workers] = min(speeds.get((name, workers), math.inf), once)
    gains = {name: speeds[name, 1] / speeds[name, 2] for name in reads}
    yield (
        "More workers are faster",
        "one worker over two, in memory",
        ", ".join(f"{name} {gain:.2f} times" for name, gain in gains.items()),
        "holds for large reads; a chunk is decoded by one worker, whatever there is",
    )


def main() -> None:
    """Run every experiment and write the page."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--store", default="memory", help="local or memory")
    parser.add_argument("--shape", default="256,512,512", help="of the field")
    parser.add_argument("--out", type=Path, default=ROOT / "docs" / "tuning-rules.md")
    given = parser.parse_args()
    shape = tuple(int(n) for n in given.shape.split(","))
    lines = [
        "# Rules of thumb, tried",
        "",
        "Each rule with the experiment that supports or refutes it on one machine (two cores of a virtual machine,",
        "2026-11): run it on yours.",
        f"A smooth f4 field of {shape}, read as maps (0.5 of the calls), series (0.4) and boxes of (30, 64, 64); "
        f"store: {given.store}; every read verified.",
        "",
        "    .venv/bin/python benchmarks/tune_rules.py",
        "",
        "| rule | experiment | found | verdict |",
        "|---|---|---|---|",
    ]
    for row in rules(field(shape), given.store):
        print(" | ".join(row), flush=True)
        lines.append("| " + " | ".join(row) + " |")
    given.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
