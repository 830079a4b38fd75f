"""What `tessarray bench` runs, in which order, on what machine; and the layout that was asked against the one had."""

from __future__ import annotations

import json
import math
import sys

import pytest

from tessarray_bench import data, queries, suites
from tessarray_bench.harness import machine, schedule
from tessarray_bench.model import Codec, Layout, Workload
from tessarray_bench.worker import array

# ---- the layout that was asked, and the one that was had


def test_differences_are_told_where_the_facts_are_known():
    asked = Layout((2, 3), (4, 6), Codec.parse("zstd:3"))
    had = {"chunks": (2, 3), "shards": [4, 6], "codec": "zstd:3", "checksum": None}
    assert array.differences(asked, had) == []
    assert array.differences(asked, {}) == []
    assert array.differences(None, had) == []
    assert array.differences(asked, had | {"shards": None, "chunks": (4, 6), "codec": "zstd:1"}) == [
        "chunks: [4, 6] where [2, 3] was asked",
        "shards: None where [4, 6] was asked",
        "codec: zstd:1 where zstd:3 was asked",
    ]


@pytest.mark.parametrize(
    "text", ["none", "blosc:lz4:5:byte", "blosc:zstd:1:bit", "zstd:3", "zstd:3:byte", "gzip:5"]
)
def test_codecs_are_written_as_they_are_read(text):
    assert str(Codec.parse(text)) == text


# ---- order


def turns(seed=0, baseline="b", **options) -> list[tuple]:
    workloads = [Workload(f"w{n}", "s", "array", options=options) for n in range(2)]
    found = schedule.turns(workloads, ["a", "b", "c"], baseline, 6, seed)
    return [(turn.workload.id, turn.repeat, turn.system, turn.label) for turn in found]


def test_systems_are_interleaved_in_a_seeded_order_with_the_baseline_twice():
    found = turns()
    assert found == turns()
    assert found != turns(seed=1)
    assert [key[:2] for key in found] == [
        (f"w{n}", repeat) for n in range(2) for repeat in range(6) for _ in range(4)
    ]
    rounds = [tuple(found[n : n + 4]) for n in range(0, len(found), 4)]
    for turn in rounds:
        assert sorted(label for *_, label in turn) == ["a", "b", "b (again)", "c"]
        assert {system for *_, system, label in turn if label == "b (again)"} == {"b"}
    assert len({tuple(label for *_, label in turn) for turn in rounds}) > 4


def test_there_is_no_noise_floor_without_a_baseline_and_a_workload_may_have_its_own_repeats():
    assert {label for *_, label in turns(baseline=None)} == {"a", "b", "c"}
    assert {repeat for _, repeat, *_ in turns(repeats=2)} == {0, 1}


@pytest.mark.parametrize("count", [1, 3, 7])
def test_a_spread_run_has_the_same_turns(count):
    workloads = [Workload(f"w{n}", "s", "array") for n in range(count)]
    plain = list(schedule.turns(workloads, ["a", "b", "c"], "b", 2, 0))
    spread = schedule.spread(plain, 0)
    assert len(spread) == len(plain) == len(set(map(id, spread)))
    assert {id(turn) for turn in spread} == {id(turn) for turn in plain}
    if count == 7:
        assert len({turn.workload.id for turn in spread[:14]}) >= 4


# ---- machine


def test_the_machine_is_described(tmp_path):
    found = machine.facts(tmp_path)
    assert found["processor"]
    assert 1 <= found["cores"] <= 4096
    json.dumps(found)
    if sys.platform == "linux":
        assert found["memory"] > 1 << 28
        assert machine.filesystem(machine.Path("/proc")) == "proc"
        assert found["filesystem"] == machine.filesystem(tmp_path) is not None


def test_the_file_system_is_that_of_the_longest_mount(tmp_path, monkeypatch):
    here = str(tmp_path.resolve())
    mounts = f"a / one 0 0\nb {here} two 0 0\nc {here}/in three 0 0\nd {here}-not four 0 0\n"
    monkeypatch.setattr(machine, "_read", lambda path: mounts)
    assert [machine.filesystem(tmp_path / n) for n in ("", "in/side", "inside")] == ["two", "three", "two"]
    assert machine.filesystem(machine.Path("/elsewhere")) == "one"


# ---- suites


@pytest.mark.parametrize("scale", [0.0001, 0.0005, 0.002, 0.01, 0.1, 1, 3])
def test_every_workload_of_every_suite_can_be_run_at_every_scale(scale):
    found = [w for suite in suites.SUITES for w in suites.workloads(suite, scale, heavy=True)]
    assert len({w.id for w in found}) == len(found)
    for w in found:
        assert w.suite in suites.SUITES
        assert w.id.startswith(f"{w.suite}/")
        assert Workload.from_json(json.loads(json.dumps(w.to_json()))) == w
        assert (w.data is None) != (w.fleet is None)
        names = [query.name for query in w.queries]
        assert len(set(names)) == len(names)
        if scale <= 0.002:
            assert w.nbytes <= 64e6, w.id
        if w.data is not None:
            assert w.data.kind in data.KINDS
            assert all(extent >= 1 for extent in w.data.shape)
            assert len(w.layout.chunks) == len(w.data.shape)
            assert all(
                1 <= cut <= extent for cut, extent in zip(w.layout.outer, w.data.shape, strict=True)
            ), w.id
            for inner, outer in zip(w.layout.chunks, w.layout.outer, strict=True):
                assert outer % inner == 0, w.id
            for query in w.queries:
                assert query.selection in queries.WORDS or queries.parse(query.selection, w.data.shape)
                assert query.count >= 1


def test_a_larger_scale_is_more_work_and_scale_1_is_the_published_one():
    sizes = [sum(w.nbytes for w in suites.workloads("planes", scale)) for scale in (0.001, 0.1, 1)]
    assert sizes == sorted(set(sizes))
    shapes = {w.id: w.data.shape for w in suites.workloads("planes", 1)}
    assert shapes["planes/2d/ramp"] == (8000, 8000)
    assert math.prod(shapes["planes/3d/smooth"]) == 800 * 600 * 300


def test_heavy_workloads_run_only_when_they_are_asked_for():
    light, all_of_them = (suites.workloads("write", 1, heavy) for heavy in (False, True))
    assert {w.id for w in light} < {w.id for w in all_of_them}
    assert not [w for w in light if w.options.get("heavy")]
