"""The studies on small real arrays, by Python and by command: structure and invariants, never absolute times."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest
import typer
from support import SHARED_DATA

import tessarray
from tessarray.cli import tune_studies
from tessarray.tuner import studies
from tessarray.tuner.errors import AccessError, ConstraintError, LayoutFileError, UntunableError
from tessarray.tuner.expected import expected_chunks
from tessarray.tuner.layout import Layout, layout_of
from tessarray.tuner.result import Estimate
from tessarray.tuner.trial import Trial

ACCESS = {"map": ("[t, :, :]", 0.5), "series": ("[:, y, x]", 0.5)}
SHAPE = (24, 48, 64)
LINUX = pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are reset by /proc")
ERAINT = SHARED_DATA / "eraint_uvz.nc"
COADS = SHARED_DATA / "coads_climatology.nc4"


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    rng = np.random.default_rng(0)
    values = np.cumsum(rng.normal(size=SHAPE), axis=0).astype("f4").round(1)
    path = tmp_path_factory.mktemp("studies") / "cube.zarr"
    tessarray.create_array(
        path, data=values, chunks=(1, 48, 64), compressors="zstd:3", dimension_names=("t", "y", "x")
    )
    return path


@pytest.fixture(autouse=True)
def nothing_left(monkeypatch, tmp_path):
    """Scratch space is the test's own, and empty afterwards."""
    folder = tmp_path / "scratch"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


def files_of(path: Path) -> dict[str, bytes]:
    return {str(one.relative_to(path)): one.read_bytes() for one in sorted(path.rglob("*")) if one.is_file()}


def checked(study: studies.Study, name: str) -> studies.Study:
    """What holds for every study."""
    assert study.name == name
    assert 1 <= len(study.meaning) <= 6
    assert all(sentence.endswith(".") for sentence in study.meaning)
    for table in study.tables:
        for row in table.rows:
            assert len(row) == len(table.columns)
            for cell in row:
                if isinstance(cell, Estimate):
                    assert cell.low <= cell.value <= cell.high
    json.dumps(study.document(), allow_nan=False)
    assert study.title in str(study)
    return study


def test_chunks_count_exactly_and_leave_the_source_alone(store, tmp_path):
    before = files_of(store)
    found = checked(studies.chunks(store, ACCESS, budget=2), "chunks")
    assert files_of(store) == before
    layouts, queries = found.tables
    labels = set(layouts.column("layout"))
    assert {"current", "zarr-python auto", "small cube"} <= labels
    assert len(queries.rows) == len(labels) * len(ACCESS)
    for row in queries.records():
        if row["layout"] == "current":
            extents = (1, 48, 64) if row["query"] == "map" else (24, 1, 1)
            assert row["chunks touched"] == expected_chunks(extents, SHAPE, (1, 48, 64))
            assert row["requests"] == (1 if row["query"] == "map" else 24)
    assert found.plot(tmp_path / "chunks.png") is not None
    assert (tmp_path / "chunks.png").stat().st_size > 1000


def test_chunks_predict_what_was_given_up_while_it_was_stored(store, monkeypatch):
    """As on a machine where storing takes longer than it should."""
    prepare, given_up = Trial.prepare, []

    def impatient(trial, draws, seconds=np.inf):
        late = "cube" in trial.label
        given_up.extend([trial.label] * late)
        return prepare(trial, draws, -1.0 if late else np.inf)

    monkeypatch.setattr(Trial, "prepare", impatient)
    found = checked(studies.chunks(store, ACCESS, budget=1, store="memory"), "chunks")
    assert given_up
    sizes = dict(zip(found.tables[0].column("layout"), found.tables[0].column("size"), strict=True))
    assert not any(sizes[label].measured for label in given_up)


def test_chunks_without_queries_take_planes_and_lines(store):
    found = checked(studies.chunks(store, budget=1, store="memory"), "chunks")
    assert set(found.tables[1].column("query")) >= {"plane across t", "line along x"}
    assert any("planes and lines" in note for note in found.notes)


def test_codecs_mark_what_nothing_beats(store, tmp_path):
    names = ["none", "zstd:3", "blosc:lz4:5:shuffle", "gzip:6"]
    found = checked(studies.codecs(store, codecs=names, budget=2), "codecs")
    table = found.tables[0]
    assert set(table.column("codec")) == set(names)
    rows = {row["codec"]: row for row in table.records()}
    assert rows["none"]["ratio"].value <= 1
    best = max(table.records(), key=lambda row: row["ratio"].value)
    assert best["front"]
    assert all(0 <= row["shuffled"] <= 8 for row in found.tables[1].records())
    found.plot(tmp_path / "codecs.svg")


def test_codecs_of_a_reader_are_those_that_it_decodes(store):
    found = studies.codecs(store, readers=["zarr-python"], budget=0.5)
    assert not any(str(name).startswith("pcodec") for name in found.tables[0].column("codec"))


def test_workers_compare_with_one(store, tmp_path):
    found = checked(studies.workers(store, ACCESS, threads=2, budget=1.5), "workers")
    for row in found.tables[0].records():
        assert row["efficiency"].value == pytest.approx(row["speed-up"].value / row["workers"])
        if row["workers"] == 1:
            assert row["speed-up"].value == 1
    sizes = found.tables[1].column("selection")
    assert list(sizes) == sorted(sizes) and sizes[-1] == 24 * 48 * 64 * 4
    assert found.facts["which"] == "current"
    found.plot(tmp_path / "workers.pdf")


def test_workers_of_a_layout_file(store, tmp_path):
    layout = Layout((8, 16, 16), (24, 48, 64), "zstd:1")
    document = {"format": "tessarray-layout/1", "layout": layout.document()}
    (tmp_path / "layout.json").write_text(json.dumps(document))
    found = studies.workers(store, ACCESS, layout=tmp_path / "layout.json", threads=1, budget=0.5)
    assert found.facts["layout"] == layout.text()
    assert "one worker only" in found.meaning[0]


@LINUX
def test_memory_is_measured_in_new_processes_and_keeps_to_the_formula(store, tmp_path):
    layout = Layout((64, 64, 64), (64, 128, 128), "blosc:lz4:5:shuffle")
    values = np.random.default_rng(0).integers(0, 1000, (64, 256, 256), dtype="i4")
    source = tessarray.create_array({}, data=values, chunks=(64, 64, 64), compressors="blosc:lz4:5:shuffle")
    found = checked(studies.memory(source, layout=layout, threads=2, budget=1), "memory")
    rows = found.tables[0].records()
    assert {row["work"] for row in rows} == {"read", "write", "change"}
    for row in rows:
        assert row["peak"] < 2 * row["formula"] + (16 << 20), row
    found.plot(tmp_path / "memory.png")


def test_wrong_arguments_say_what_to_change(store, tmp_path):
    with pytest.raises(AccessError, match="add up to 1"):
        studies.chunks(store, ["map: [t, :, :] x 0.5"], budget=1)
    with pytest.raises(ConstraintError, match="florp"):
        studies.codecs(store, codecs=["florp:3"], budget=1)
    with pytest.raises(ConstraintError, match="zarr-java"):
        studies.codecs(store, readers=["zarr-java"], budget=1)
    with pytest.raises(ConstraintError, match="budget"):
        studies.workers(store, budget=0)
    with pytest.raises(ConstraintError, match="threads"):
        studies.workers(store, budget=1, threads=0)
    with pytest.raises(ConstraintError, match="scratch"):
        studies.chunks(store, budget=1, scratch=tmp_path / "none")
    with pytest.raises(LayoutFileError, match="no such file"):
        studies.memory(store, layout=tmp_path / "none.json", budget=1)
    for study in (studies.chunks, studies.codecs, studies.workers, studies.memory):
        with pytest.raises(UntunableError):
            study(np.zeros((0, 4)), budget=1)


def test_ctrl_c_leaves_nothing_behind(store):
    def pressed(event):
        if "storing" in event.text:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        studies.chunks(store, ACCESS, budget=5, progress=pressed)


def run(capsys, *arguments: object) -> str:
    app = typer.Typer(rich_markup_mode=None, pretty_exceptions_enable=False)
    tune_studies.register(app)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "160")  # a worker of several has no terminal whose width could be asked
        with pytest.raises(SystemExit) as leaving:
            app(args=[str(one) for one in arguments], prog_name="tessarray tune")
    assert not leaving.value.code
    return capsys.readouterr().out


@pytest.mark.parametrize("name", ["chunks", "codecs", "workers", "memory"])
def test_every_command_has_help_with_examples(name, capsys):
    out = run(capsys, name, "--help")
    assert f"tessarray tune {name} cube" in out
    for option in ("--budget", "--store", "--seed", "--json", "--plot"):
        assert option in out


COMMANDS = {
    "chunks": ["--access", "map: [t, :, :]", "--budget", "1s"],
    "codecs": ["--codec", "none", "--codec", "zstd:1", "--budget", "0.5s"],
    "workers": ["--threads", "2", "--budget", "0.5s"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_print_json_and_write_charts(name, store, tmp_path, capsys):
    out = run(capsys, name, store, *COMMANDS[name], "--json", "--plot", tmp_path / "a.png")
    document = json.loads(out)
    assert document["study"] == name and document["meaning"] and document["tables"][0]["rows"]
    assert (tmp_path / "a.png").stat().st_size > 1000


def test_commands_print_tables(store, capsys):
    out = run(capsys, "chunks", store, "--budget", "0.5s")
    assert "What it means" in out and "zarr-python auto" in out


@pytest.mark.skipif(not ERAINT.is_file(), reason="shared/data is not here")
def test_a_real_file_with_its_own_chunks():
    found = checked(studies.chunks(f"{ERAINT}:u", budget=1), "chunks")
    assert "as in the file" in found.tables[0].column("layout")
    assert found.shape == (2, 3, 241, 480) and found.dtype == "int16"


@pytest.mark.skipif(not COADS.is_file(), reason="shared/data is not here")
def test_codecs_of_a_real_file_and_the_choice_of_a_variable():
    found = checked(studies.codecs(COADS, variable="SST", codecs=["zstd:3", "none"], budget=0.5), "codecs")
    assert found.variable == "SST"
    assert layout_of(tessarray.create_array({}, shape=(2,), dtype="f4")) is not None
