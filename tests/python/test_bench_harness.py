"""The harness of `tessarray bench` against systems that lie, hang, leak, crash or litter: see `bench_liars`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import bench_liars
import pytest
from bench_liars import LEAK, NAP, ROW
from support import MIB, ROOT

from tessarray_bench import results_file
from tessarray_bench.harness import process
from tessarray_bench.harness.run import Plan, Runner, run
from tessarray_bench.model import Codec, Data, Job, Layout, Query, Workload
from tessarray_bench.systems import from_file

pytestmark = [
    pytest.mark.serial,  # it measures
    pytest.mark.skipif(sys.platform != "linux", reason="memory and processes are watched in /proc"),
]

LIARS = Path(bench_liars.__file__)
EXAMPLE = ROOT / "examples" / "bench_adapter.py"
TIME_LIMIT = 6.0
MEMORY_LIMIT = 400 * MIB
READS = 100

SHAPE = (24, 16)
VALUES = Data("ramp", SHAPE, "f8")
LAYOUT = Layout((8, 16), None, Codec.parse("none"))
QUERIES = (Query("all", "[:, :]"), Query("rows", "[i, :]", READS), Query("points", "points", 10))
ARRAY = Workload("lies/array", "lies", "array", VALUES, None, LAYOUT, QUERIES)
UNREAD = Workload("lies/unread", "lies", "array", VALUES, None, LAYOUT)  # is written and checked, not read
APPENDS = Workload("lies/append", "lies", "append", VALUES, None, LAYOUT, options={"frames": 4})


def runners(*names: str) -> dict[str, Runner]:
    """The named ones, or all; the example of an adapter stands among them."""
    found = {name: (cls, LIARS) for name, cls in from_file(LIARS).items()}
    found["npy"] = (from_file(EXAMPLE)["npy"], EXAMPLE)
    return {
        name: Runner(cls, sys.executable, {"title": cls.title, "versions": {}}, str(file))
        for name, (cls, file) in found.items()
        if not names or name in names
    }


class Outcome:
    """What a run left behind: the rows, and the folder."""

    def __init__(self, folder: Path, workload: Workload, *names: str, **more: Any) -> None:
        settings = {
            "repeats": 1,
            "baseline": "honest",
            "time_limit": TIME_LIMIT,
            "memory_limit": MEMORY_LIMIT,
        }
        plan = Plan([workload], runners(*names), folder, folder / "out" / "results.json", **settings | more)
        self.turns: list[str] = []
        self.document = run(plan, lambda progress: self.turns.append(progress.turn.label))
        self.folder, self.plan = folder, plan

    def rows(self, system: str, process: str | None = None) -> list[dict[str, Any]]:
        rows = [row for row in self.document["rows"] if row["system"] == system]
        return [row for row in rows if process in (None, row["process"])]

    def steps(self, system: str, process: str | None = None) -> dict[str, str]:
        """Step -> status."""
        return {row["step"]: row["status"] for row in self.rows(system, process)}

    def row(self, system: str, process: str, step: str) -> dict[str, Any]:
        (row,) = [row for row in self.rows(system, process) if row["step"] == step]
        return row

    def troubles(self, system: str) -> list[tuple[str, str]]:
        return [(row["step"], row["status"]) for row in self.rows(system) if row["status"] != "ok"]


@pytest.fixture(scope="module")
def array(tmp_path_factory) -> Outcome:
    return Outcome(tmp_path_factory.mktemp("array"), ARRAY)


@pytest.fixture(scope="module")
def unread(tmp_path_factory) -> Outcome:
    names = ("honest", "liar-last-value", "liar-short-write", "blind-reader", "refuser")
    return Outcome(tmp_path_factory.mktemp("unread"), UNREAD, *names, repeats=2, baseline="refuser")


@pytest.fixture(scope="module")
def appends(tmp_path_factory) -> Outcome:
    return Outcome(tmp_path_factory.mktemp("append"), APPENDS, "honest", "liar-drops", "raiser")


# ---- the honest


@pytest.mark.parametrize(
    "system", ["honest", "honest (again)", "npy", "noisy", "sleeper", "leaker", "not-a-number"]
)
def test_a_system_that_tells_the_truth_passes_beside_all_that_do_not(array, system):
    assert array.troubles(system) == []
    assert set(array.steps(system, "read")) == {"open", "all", "rows", "points", "open + element"}
    assert array.steps(system, "check") == {"check": "ok"}
    answers = [row for row in array.rows(system) if row["step"] in ("all", "rows", "points", "check")]
    assert len(answers) == 4
    assert all(row["verified"] for row in answers)


def test_every_row_is_one_of_the_schema(array, unread, appends):
    for outcome in (array, unread, appends):
        written = results_file.load(outcome.plan.out)
        assert len(written.files[0].rows) == len(outcome.document["rows"])
        assert outcome.document["finished"]


def test_nothing_is_left_but_the_results(array, unread, appends):
    for outcome in (array, unread, appends):
        assert [p for p in outcome.folder.rglob("*") if p.is_file()] == [outcome.plan.out]
        assert not list(outcome.folder.glob("tessarray-bench-*"))


def test_every_system_has_rows_whatever_became_of_it(array):
    assert {row["system"] for row in array.document["rows"]} == {*array.plan.runners, "honest (again)"}


# ---- the liars


def reason(row: dict[str, Any], *parts: str) -> None:
    """The row is wrong, and its reason has all of these in it."""
    assert row["status"] == "wrong"
    assert "wall" not in row  # no time of a wrong answer gets into a table
    missing = [part for part in parts if part not in row["reason"]]
    assert not missing, row["reason"]


def test_one_wrong_value_in_some_reads_is_found_with_its_place(array):
    right = float(ROW * SHAPE[1] + 3)
    reason(
        array.row("liar-values", "read", "rows"),
        f"rows [{ROW}, 0:16][3]",
        f"expected {right}",
        f"found {right + 1}",
    )
    assert array.troubles("liar-values") == [("rows", "wrong")]


def test_an_axis_too_many_is_found(array):
    reason(array.row("liar-shape", "read", "rows"), "expected shape (16,)", "found (1, 16)")
    assert array.steps("liar-shape")["all"] == "ok"


def test_equal_numbers_of_another_type_are_found(array):
    reason(array.row("liar-dtype", "read", "all"), "[0:24, 0:16]", "expected float64", "found float32")


def test_an_answer_that_has_yet_to_be_read_is_found(array):
    reason(array.row("liar-lazy", "read", "rows"), "in memory", "memory map")


def test_a_short_write_is_found_by_the_reads(array):
    reason(array.row("liar-short-write", "read", "all"), "expected shape (24, 16)", "found (23, 16)")


@pytest.mark.parametrize(
    ("liar", "parts"),
    [
        ("liar-short-write", ["stored [0:24, 0:16]", "expected shape (24, 16)", "found (23, 16)"]),
        ("liar-last-value", ["stored [0:24, 0:16][23, 15]", "expected 383.0", "found 384.0"]),
    ],
)
def test_what_is_stored_is_read_back_even_where_nobody_reads_it(unread, liar, parts):
    for row in unread.rows(liar, "check"):
        reason(row, *parts)
        assert row["reader"] == liar
    assert len(unread.rows(liar, "check")) == 2
    assert unread.troubles("honest") == []


def test_an_append_that_was_forgotten_is_found(appends):
    reason(appends.row("liar-drops", "check", "check"), "expected shape (24, 16)", "found (20, 16)")
    assert appends.troubles("honest") == []
    assert appends.troubles("honest (again)") == []
    assert appends.row("honest", "append", "append")["calls"] == SHAPE[0] / 4
    assert appends.steps("raiser")["append"] == "ok"  # it fails in `write` alone


def test_another_layout_than_was_asked_is_shown(array):
    row = array.row("liar-layout", "write", "write")
    assert row["differs"] == ["chunks: [7, 5] where [8, 16] was asked", "codec: zstd:1 where none was asked"]
    assert row["status"] == "ok"


def test_facts_that_json_has_no_word_for_do_not_end_the_run(array):
    assert array.row("not-a-number", "write", "write")["facts"] == {"fill": "NaN", "shape": 3}


# ---- the slow, the large, the dead


def test_a_slow_read_is_shown_as_slow(array):
    slow, fast = (array.row(name, "read", "rows") for name in ("sleeper", "honest"))
    assert slow["calls"] == fast["calls"] == READS
    assert slow["wall"] >= READS * NAP
    assert slow["latency"]["p50"] >= NAP
    assert fast["latency"]["p50"] < NAP
    assert slow["cpu_user"] + slow["cpu_system"] < slow["wall"]  # asleep, not at work


def test_what_never_returns_is_ended_and_its_earlier_rows_are_kept(array):
    assert array.steps("hanger", "read") == {"open": "ok", "all": "ok", "read": "timeout"}
    row = array.row("hanger", "read", "read")
    assert row["reason"] == "not done after 6 s"
    assert row["after"] == "all"
    assert TIME_LIMIT <= array.row("hanger", "read", "open")["total"] < 3 * TIME_LIMIT
    assert array.rows("hanger", "check") == []


def test_a_leak_shows_as_memory_retained(array):
    leaked, honest = (array.row(name, "read", "rows") for name in ("leaker", "honest"))
    assert 0.9 * READS * LEAK <= leaked["retained"] <= 1.2 * READS * LEAK
    assert 0.9 * LEAK <= leaked["peak"] <= 4 * LEAK  # of one call
    assert honest["retained"] < READS * LEAK / 10


def test_what_grows_beyond_the_memory_limit_is_ended(array):
    assert array.steps("glutton", "read") == {"open": "ok", "read": "memory"}
    assert "419 MB are allowed" in array.row("glutton", "read", "read")["reason"]


@pytest.mark.parametrize(("system", "word"), [("crasher", "SIGABRT"), ("segfaulter", "SIGSEGV")])
def test_a_crash_is_told_with_its_signal(array, system, word):
    row = array.row(system, "read", "read")
    assert row["status"] == "crashed"
    assert word in row["reason"]


def test_rows_from_before_a_crash_are_kept(array):
    assert array.steps("crasher", "write") == {"write": "ok", "sync": "ok"}
    assert array.steps("crasher", "read") == {"open": "ok", "all": "ok", "read": "crashed"}


def test_a_process_that_ends_as_though_all_were_done_has_crashed(array):
    assert array.troubles("exiter") == [("write", "crashed")]
    assert "exit code 0" in array.row("exiter", "write", "write")["reason"]


def test_an_exception_is_told_in_one_line(array):
    row = array.row("raiser", "write", "write")
    assert (row["status"], row["reason"]) == ("failed", "OSError: no room left on the device")


def test_a_failed_import_names_the_module(array):
    row = array.row("import-failer", "write", "write")
    assert (row["status"], len(array.rows("import-failer"))) == ("failed", 1)
    assert "no_such_module_of_anyone" in row["reason"]


# ---- litter


def test_children_are_dead_before_the_next_process_begins(array):
    # `forker` fails to open its store while a child of its writer lives.
    assert array.troubles("forker") == []
    children = array.row("forker", "write", "write")["facts"]["children"]
    assert len(children) == 2
    assert not [pid for pid in children if bench_liars.lives(pid)]


def test_what_a_system_prints_is_neither_a_row_nor_kept(tmp_path):
    job = Job(UNREAD, "noisy", "write", 0, str(tmp_path / "store.npy"), source=str(tmp_path / "v.npy"))
    bench_liars.np.save(tmp_path / "v.npy", bench_liars.np.zeros(SHAPE))
    job = Job(**{**vars(job), "adapter": str(LIARS)})
    rows = process.run(job, sys.executable, {}, process.Limits(60, MEMORY_LIMIT * 4), tmp_path)
    assert [(row["step"], row["status"]) for row in rows] == [("write", "ok"), ("sync", "ok")]
    assert (tmp_path / "said.txt").stat().st_size < bench_liars.NOISE


# ---- refusals


def test_a_refusal_is_said_once_and_not_asked_for_again(unread):
    (row,) = unread.rows("refuser")
    assert (row["status"], row["reason"], row["repeat"]) == ("unsupported", "arrays on Mondays", 0)
    assert len(unread.rows("honest", "check")) == 2


def test_a_reader_that_cannot_makes_room_for_the_next_one(unread):
    assert unread.troubles("blind-reader") == []
    assert [row["reader"] for row in unread.rows("blind-reader", "check")] == ["honest"] * 2


def test_a_refusal_beforehand_starts_no_process(array):
    (row,) = array.rows("up-front-refuser")
    assert (row["process"], row["status"], row["reason"]) == ("write", "unsupported", "nothing at all")
    assert "total" not in row


def test_a_query_refused_leaves_the_others(array):
    assert array.troubles("half-refuser") == [("points", "unsupported")]
    assert array.steps("half-refuser", "check") == {"check": "ok"}


# ---- files of adapters


def test_an_adapter_file_may_define_dataclasses(tmp_path):
    lines = (
        "from __future__ import annotations",
        "from dataclasses import dataclass",
        "from typing import Any",
    )
    system = "from tessarray_bench.systems.base import System\nclass Mine(System):\n    name = 'mine'\n"
    text = "\n".join((*lines, "@dataclass", "class Handle:", "    array: Any", system))
    (tmp_path / "mine.py").write_text(text)
    assert set(from_file(tmp_path / "mine.py")) == {"mine"}  # and not the base, which it imports


# ---- folders


def test_relative_folders_and_adapters_work(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(LIARS.read_text())
    plan = Plan([UNREAD], runners("honest"), Path(), Path("results.json"), repeats=1)
    plan.runners["honest"] = Runner(plan.runners["honest"].adapter, sys.executable, {"title": ""}, "mine.py")
    document = run(plan, lambda _: None)
    assert {row["status"] for row in document["rows"]} == {"ok"}
    assert {row["process"] for row in document["rows"]} == {"write", "check"}


def test_a_proxy_of_the_callers_is_not_between_reader_and_server(tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    monkeypatch.setenv("PYTHONPATH", "/nowhere")
    found = process._environment()
    assert found["no_proxy"] == "127.0.0.1"
    assert "PYTHONPATH" not in found
    assert found["PATH"] == os.environ["PATH"]
