"""The parts of the studies: documents, intervals, what they take if they are not told, samples, the formula."""

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
from tessarray.tuner.studies.defaults import ladder_of_layouts, sharded, usual_classes
from tessarray.tuner.studies.model import FORMAT, Column, Table, mean_estimate, ratio_estimate
from tessarray.tuner.studies.worker_scaling import SIZES, growing, region_shape, worth_from

MIB = 1 << 20


def test_the_formula_of_memory_grows_with_workers_chunks_and_shards():
    plain, shard = Layout((100,), None, "none"), Layout((100,), (10_000,), "none")
    own = 200 << 10
    assert memory_of(plain, 10, 1, 1.0, "read") == pytest.approx(2_000 + own)
    assert memory_of(shard, 10, 1, 1.0, "read") == pytest.approx(2_000 + own)
    assert memory_of(shard, 10, 1, 2.0, "write") == pytest.approx(1_000 + 500 + 50_000 + 2 * own)
    assert memory_of(shard, 10, 1, 2.0, "change") == pytest.approx(1_000 + 500 + 100_000 + 2 * own)
    assert memory_of(plain, 10, 4, 1.0, "read") == pytest.approx(5 * 2_000 + 4 * own)


def test_a_gain_in_doubt_is_no_gain():
    sure, doubtful, none = Estimate(1.5, 1.4, 1.6), Estimate(1.5, 0.9, 2.0), Estimate(1.0, 1.0, 1.0)

    def worth(*gains):
        rows = tuple((1000.0 * n, n, none, none, gain) for n, gain in enumerate(gains, 1))
        return worth_from(Table("t", SIZES, rows))

    assert worth(sure, doubtful) is None
    assert worth(none, sure, sure) == (2000.0, 2.0)
    assert worth(sure, none, sure) == (3000.0, 3.0)


def study(**more) -> Study:
    columns = (Column("a"), Column("b", "seconds"), Column("c", "share"))
    table = Table("t", columns, (("x", Estimate(1e-3, 0.95e-3, 1.05e-3), None),))
    return Study("chunks", "Chunk shapes", "s", "v", (2, 3), "f4", (table,), ("m",), **more)


def test_a_study_is_a_document_and_a_text(tmp_path):
    found = study(request={"budget": float("inf")})
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert document["format"] == FORMAT and document["study"] == "chunks"
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
