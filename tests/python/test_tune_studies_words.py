"""What the studies conclude, from figures that are made up: each sentence says what its table says."""

from __future__ import annotations

import json

import numpy as np
import pytest

import tessarray
from tessarray.tuner.constraints import memory_of
from tessarray.tuner.errors import TuneError
from tessarray.tuner.layout import Layout
from tessarray.tuner.result import Estimate
from tessarray.tuner.sampling import take
from tessarray.tuner.source import open_subject
from tessarray.tuner.studies import Study
from tessarray.tuner.studies.chunk_shapes import LAYOUTS, QUERIES
from tessarray.tuner.studies.chunk_words import chunk_meaning
from tessarray.tuner.studies.codec_speed import BLOCK, CHECKSUMS
from tessarray.tuner.studies.codec_speed import COLUMNS as CODECS
from tessarray.tuner.studies.codec_words import codec_meaning
from tessarray.tuner.studies.memory_use import COLUMNS as MEMORY
from tessarray.tuner.studies.memory_words import memory_meaning
from tessarray.tuner.studies.model import FORMAT, Column, Table, mean_estimate, ratio_estimate
from tessarray.tuner.studies.money import COLUMNS as MONEY
from tessarray.tuner.studies.money_words import money_meaning
from tessarray.tuner.studies.stage_shares import COLUMNS as STAGES
from tessarray.tuner.studies.stage_words import stage_meaning
from tessarray.tuner.studies.usual import ladder_of_layouts, sharded, usual_classes
from tessarray.tuner.studies.worker_scaling import COLUMNS as WORKS
from tessarray.tuner.studies.worker_scaling import SIZES, growing, region_shape
from tessarray.tuner.studies.worker_words import stop_at, worker_meaning, worth_from

MIB = 1 << 20


def about(value: float, spread: float = 0.05) -> Estimate:
    return Estimate(value, value * (1 - spread), value * (1 + spread))


# Chunks: a slab that is good for maps, a column that is good for series, a cube between.
TIMES = {
    "current": {"map": 1e-3, "series": 100e-3},
    "column": {"map": 90e-3, "series": 1e-3},
    "small cube": {"map": 3e-3, "series": 3e-3},
    "small cubes in shards": {"map": 3e-3, "series": 3.6e-3},
}


def chunk_tables(times: dict[str, dict[str, float]]) -> tuple[Table, Table]:
    layouts = tuple(
        (
            label, f"chunks of {label}", MIB, about(sum(own.values()) / len(own)), about(max(own.values())), about(1e9),
            40 if "shards" in label else 5000,
        )
        for label, own in times.items()
    )  # fmt: skip
    queries = tuple(
        (name, label, 3.0, seconds * 1e4, 4, about(seconds), Estimate.predicted(seconds))
        for label, own in times.items()
        for name, seconds in own.items()
    )
    return Table("layouts", LAYOUTS, layouts), Table("queries", QUERIES, queries)


def test_chunks_say_which_shape_is_best_and_what_the_specialists_cost():
    best, trade, waste, shards = chunk_meaning(*chunk_tables(TIMES))
    assert "Best in all: small cube " in best and "16.8 times as fast as the array's present shape" in best
    assert "column, the fastest for 'series'" not in best
    assert "current, the fastest for 'map', takes 100 times the best for 'series'" in trade
    assert "small cube is never more than 3.00 times the best" in trade
    assert "'series' of the array's present shape: 1,000 bytes fetched for a byte used" in waste
    assert "5,000 files alone and 40 in shards, at 1.10 times the time" in shards


def test_chunks_say_so_where_shapes_hardly_matter():
    even = {"current": {"map": 1e-3, "series": 1.1e-3}, "column": {"map": 1.2e-3, "series": 1e-3}}
    said = chunk_meaning(*chunk_tables(even))
    assert "hardly matter" in said[1] and "1.20 times" in said[1]


def codec_tables(shuffled: float = 3.0, checksum: Estimate | None = None) -> tuple[Table, Table, Table]:
    rows = (
        ("zstd:19", about(3.1), about(2e6), about(5e8), True, 8),
        ("blosc:zstd:3:shuffle", about(3.0), about(2e8), about(1e9), True, 8),
        ("gzip:6", about(2.0), about(3e7), about(3e8), False, 8),
        ("blosc:lz4:5:shuffle", about(1.8), about(1e9), about(4e9), True, 8),
        ("blosc:lz4:1:noshuffle", about(1.01), about(2e9), about(8e9), True, 8),
        ("none", about(1.0), about(8e9), about(2e10), True, 8),
    )
    checks = (
        ("none", about(0.5), about(1.0)),
        ("blosc:lz4:5:shuffle", about(0.05), checksum or about(0.12, 0.2)),
    )
    blocks = ((1, 7.0, shuffled, 2.0, "zstd:19"), (2, 6.0, shuffled, 4.0, "zstd:19"))
    return Table("", CODECS, rows), Table("", CHECKSUMS, checks), Table("", BLOCK, blocks)


def test_codecs_name_the_smallest_the_quickest_and_what_lies_between():
    said = codec_meaning(codec_tables(), "gzip:6")
    assert "Smallest: zstd:19, 3.10 times smaller" in said[0]
    assert "fastest to decode: blosc:lz4:5:shuffle, 4.00 GB/s" in said[0], (
        "a codec that saves nothing is no answer"
    )
    assert "blosc:zstd:3:shuffle encodes 100 and decodes 2.00 times as fast" in said[1]
    assert "own gzip:6 is beaten in all three by blosc:zstd:3:shuffle" in said[2]
    assert "6.50 of 8 bits as they come, and 3.00" in said[3]
    assert "2.00 to 4.00 by block" in said[3]
    assert "adds 12.0 % to decoding and 5.0 % to encoding" in said[4]


def test_codecs_say_that_noise_cannot_be_compressed_and_that_a_checksum_is_cheap():
    said = " ".join(codec_meaning(codec_tables(7.99, Estimate(0.01, -0.02, 0.03))))
    assert "as good as random" in said
    assert "costs a read nothing that could be measured" in said


def worker_tables(speedups: dict[int, float], gains: list[Estimate]) -> tuple[Table, Table]:
    rows = tuple(
        (work, count, about(1 / gain), about(1e9 * gain), about(gain), about(gain / count))
        for work in ("read all", "slices", "write")
        for count, gain in speedups.items()
    )
    sizes = tuple(
        ((1 << i) * MIB, 1 << i, about(1.0), about(1 / one.value), one) for i, one in enumerate(gains)
    )
    return Table("", WORKS, rows), Table("", SIZES, sizes)


def test_workers_stop_where_more_are_no_faster_and_start_where_it_pays():
    works, sizes = worker_tables(
        {1: 1, 2: 1.9, 4: 3.0, 8: 3.05}, [about(0.9), about(1.0), about(1.5), about(2)]
    )
    assert stop_at(works, "read all").workers == 4
    assert worth_from(sizes) == (4 * MIB, 4)
    said = worker_meaning(works, sizes)
    assert "stop at 4 workers, 3.00 times as fast as one (75 %" in said[0]
    assert "Below 4.19 MB (4 chunks) one worker is as fast as 8" in said[3]


def test_workers_say_when_not_to_parallelise_at_all():
    works, sizes = worker_tables({1: 1, 2: 1.0}, [about(0.9), about(0.8)])
    said = worker_meaning(works, sizes)
    assert said[0] == "Reading all: one worker is as fast as 2."
    assert "do not parallelise" in said[3]
    _, one = worker_tables({1: 1, 2: 1.0}, [about(1.0)])
    assert "one chunk" in worker_meaning(works, one)[3]
    alone, none = worker_tables({1: 1}, [])
    assert "one worker only" in worker_meaning(alone, none)[0]


def test_a_gain_in_doubt_is_no_gain():
    _, sizes = worker_tables({1: 1, 2: 1.5}, [about(1.5), Estimate(1.5, 0.9, 2.0)])
    assert worth_from(sizes) is None


def memory_table(factor: float) -> Table:
    rows = []
    for layout, cut in ((Layout((64, 64), None, "none"), "c"), (Layout((64, 64), (4096, 1024), "none"), "s")):
        for workers in (1, 4):
            for work in ("write", "read", "change"):
                told = 100 * memory_of(layout, 4, workers, 1.0, work)
                peak = told * factor
                rows.append(
                    (cut, 16384, layout.unit[0] * layout.unit[1] * 4, 1.0, workers, work, peak, told, factor)
                )
    return Table("", MEMORY, tuple(rows))


def test_memory_says_whether_the_formula_holds():
    assert "can be planned with" in memory_meaning(memory_table(0.9), 4)[1]
    assert "12 of 12 lie above it" in memory_meaning(memory_table(2.0), 4)[1]
    said = " ".join(memory_meaning(memory_table(0.9), 4))
    assert "a shard costs memory where data are written" in said
    assert "4 workers hold" in said


def test_the_formula_of_memory_grows_with_workers_chunks_and_shards():
    plain, shard = Layout((100,), None, "none"), Layout((100,), (10_000,), "none")
    own = 200 << 10
    assert memory_of(plain, 10, 1, 1.0, "read") == pytest.approx(2_000 + own)
    assert memory_of(shard, 10, 1, 1.0, "read") == pytest.approx(2_000 + own)
    assert memory_of(shard, 10, 1, 2.0, "write") == pytest.approx(1_000 + 500 + 50_000 + 2 * own)
    assert memory_of(shard, 10, 1, 2.0, "change") == pytest.approx(1_000 + 500 + 100_000 + 2 * own)
    assert memory_of(plain, 10, 4, 1.0, "read") == pytest.approx(5 * 2_000 + 4 * own)


def test_cost_names_the_cheapest_against_what_there_is():
    rows = (
        ("small cube", "chunks", 1e9, 100, about(5), about(1e5), 0.02, 0.5, 1.48, 2.0, 0.1),
        ("current", "chunks", 2e9, 9, about(5), about(1e7), 0.04, 0.46, 9.5, 10.0, 0.1),
    )
    said = money_meaning(Table("", MONEY, rows), 1e6, "USD")
    assert "Cheapest: small cube (chunks), $2.00 a month" in said[0]
    assert "5.00 times less than the present layout ($10.00)" in said[1]
    assert "small cube 74 % transfer, current 95 % transfer" in said[2]
    assert "below 10,100 accesses a month" in said[3] and "the shape matters more" in said[3]


def stage_table(io: float, decode: float, assembly: float, first: float = 1e-3) -> Table:
    rest = 1 - io - decode - assembly
    shares = tuple(map(about, (io, decode, assembly, rest)))
    return Table("", STAGES, (("map", about(1e-3), *shares, about(first), 3, 4, 2.0),))


def test_where_says_what_would_help():
    said = stage_meaning(stage_table(0.1, 0.7, 0.1), "slow codec: x.")
    assert said[0] == "Over all queries: I/O 10 %, decoding 70 %, assembly 10 %, the rest 10 %."
    assert "a faster codec" in said[1] and "a faster disk would not" in said[1]
    assert said[-1].endswith("says: slow codec: x.")
    assert "fewer and larger requests" in stage_meaning(stage_table(0.9, 0.05, 0.05))[1]
    assert "No stage takes half" in stage_meaning(stage_table(0.3, 0.3, 0.3))[1]
    assert "5.00 times a later one" in stage_meaning(stage_table(0.3, 0.3, 0.3, 5e-3))[2]


def study(**more) -> Study:
    table = Table(
        "t", (Column("a"), Column("b", "seconds"), Column("c", "money")), (("x", about(1e-3), None),)
    )
    return Study("cost", "Cost", "s", "v", (2, 3), "f4", (table,), ("m",), facts={"currency": "EUR"}, **more)


def test_a_study_is_a_document_and_a_text(tmp_path):
    found = study(request={"budget": float("inf")})
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert document["format"] == FORMAT and document["study"] == "cost"
    cell = document["tables"][0]["rows"][0]["b"]
    assert cell == {
        "value": 1e-3,
        "low": pytest.approx(0.95e-3),
        "high": pytest.approx(1.05e-3),
        "measured": True,
    }
    assert json.loads(found.save(tmp_path / "s.json").read_text()) == document
    text = str(found)
    assert "1.00 ms (0.950–1.05)" in text and "What it means" in text and "–" in text
    assert found.tables[0].column("a") == ("x",)
    with pytest.raises(KeyError):
        found.tables[0].column("z")


def test_a_chart_needs_a_picture_s_name(tmp_path):
    with pytest.raises(TuneError, match=r"\.png"):
        study().plot(tmp_path / "a.gif")
    with pytest.raises(TuneError, match="no such folder"):
        study().plot(tmp_path / "no" / "a.png")


def test_intervals_hold_their_value():
    for one in (
        mean_estimate([1, 2, 3, 10]),
        mean_estimate([1, 2, 9], median=True),
        ratio_estimate([4, 4], [1, 2]),
    ):
        assert one.low <= one.value <= one.high
    assert ratio_estimate([4, 4], [1, 3]).value == 2
    assert mean_estimate([5]) == Estimate(5, 5, 5)


def test_usual_queries_are_planes_and_lines_of_every_axis():
    found = {one.name: one.text for one in usual_classes((10, 1, 20, 30), 4, ("t", "z", "y", "x"))}
    assert found["plane across t"] == "[i, :, :, :]" and found["line along x"] == "[i, :, i, :]"
    assert not any("z" in name for name in found), "an axis of one index is no way to read"
    assert sum(one.weight for one in usual_classes((10, 20), 4)) == pytest.approx(1)
    assert {one.text for one in usual_classes((1000,), 4)} == {"[:10]", "[:]"}
    large = usual_classes((1000, 5000, 5000), 8)
    assert max(one.elements for one in large) * 8 <= 32 * MIB


@pytest.mark.parametrize("shape", [(7,), (100, 3), (2, 3, 241, 480), (5000, 5000), (1, 1, 1)])
def test_the_ladder_has_distinct_layouts_that_can_be_created(shape):
    layouts = ladder_of_layouts(shape, 2, "zstd:3", {"current": Layout(shape, None, "none")})
    assert len(set(layouts.values())) == len(layouts)
    assert "current" in layouts
    for layout in layouts.values():
        layout.create({}, shape, "i2")


def test_shards_are_whole_chunks_and_no_shard_is_one_chunk():
    assert sharded((10, 10), (10, 10), 4) is None
    assert all(s % c == 0 for s, c in zip(sharded((7, 9), (100, 100), 4), (7, 9), strict=True))


def test_regions_and_growing_selections_are_whole_units():
    assert region_shape((10, 10), (100, 95), 400) == (20, 20)
    assert region_shape((10, 10), (15, 5), 10**6) == (15, 5)
    assert [number for number, _ in growing((10, 10), (20, 40))] == [1, 2, 4, 8]


class Counted:
    """A subject that counts what is read of it."""

    def __init__(self, subject):
        self.subject, self.read_elements = subject, 0

    def __getattr__(self, name):
        return getattr(self.subject, name)

    def read(self, box):
        self.read_elements += int(np.prod([b - a for a, b in box]))
        return self.subject.read(box)


@pytest.mark.parametrize("chunks", [(1, 200, 180), (40, 8, 8), (10, 50, 50), (300, 1, 180)])
def test_a_sample_is_of_every_part_and_reads_no_chunk_twice(tmp_path, chunks):
    shape = (300, 200, 180)
    values = np.arange(np.prod(shape), dtype="i4").reshape(shape)
    tessarray.create_array(tmp_path / "a.zarr", data=values, chunks=chunks)
    subject = Counted(open_subject(tmp_path / "a.zarr"))
    sample = take(subject, values.nbytes // 4, 60)
    subject.close()
    assert sample.values.nbytes <= values.nbytes // 4
    assert subject.read_elements <= 1.1 * values.size
    places = np.unravel_index(sample.values, shape)
    for axis, extent in enumerate(shape):
        assert places[axis].min() < extent / 4 and places[axis].max() > extent * 3 / 4
    assert len(np.unique(sample.values)) == sample.values.size, "no value twice"
