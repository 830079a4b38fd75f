"""A result on the terminal: rows, intervals, why, metadata, and what to do next."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace

import pytest
from rich.console import Console
from tune_support import SHAPE, about, result, row

from tessarray.tuner.errors import LayoutFileError
from tessarray.tuner.layout import Layout
from tessarray.tuner.proving import prove
from tessarray.tuner.result import Estimate, TuneResult
from tessarray.tuner.result_text import estimate_text, titles
from tessarray.tuner.table import show


def printed(found, width=140, **options):
    console = Console(width=width, highlight=False, color_system=None, file=io.StringIO())
    show(found, console, **options)
    return console.file.getvalue()


def test_rows_figures_reasons_metadata_and_commands():
    found = result()
    text = printed(found, saved="my layout.json")
    lines = text.splitlines()
    for title in titles(found.rows):
        assert any(line.lstrip().startswith(title) for line in lines), title
    for said in (
        "cube.nc:t2m", "365×180×360 float32", "objective read", "412 layouts searched", "2 workers", "an access",
        "map", "series", "box", "5.30 ms", "4.88–5.72", "3 req, 400 kB", "~59.0 ms", "800 MB/s", "736–864", "44.0 MB",
        "4.00 MB", *found.why, *found.notes, "sharding_indexed", "crc32c",
        "tessarray convert cube.nc DST --layout 'my layout.json'", "tessarray tune rerun 'my layout.json'",
    ):  # fmt: skip
        assert said in text, said


def test_the_metadata_is_that_of_the_layout():
    found = result()
    grid = found.document()["zarr"]["chunk_grid"]["configuration"]["chunk_shape"]
    assert f"regular {grid}" in printed(found) and "chunk_shape=[28, 45, 60]" in printed(found)


def test_layouts_that_nothing_beats_are_marked():
    first = [
        line for line in printed(result()).splitlines() if re.match(r"\s*(proposal|current|candidate)", line)
    ]
    marked = {line.split()[0] for line in first}
    assert {"proposal*", "candidate*", "current"} <= marked


@pytest.mark.parametrize("width", [60, 80, 100, 200, 1000])
def test_nothing_is_cut_whatever_the_width(width):
    text = printed(result(), width, saved="layout.json")
    wanted = (
        ("5.30", "4.88", "shards", "netCDF") if width < 200 else (result().best.layout.text(), "~59.0 ms")
    )
    assert all(said in text for said in wanted)
    assert "…" not in text
    assert all(len(line) <= width for line in printed(result(), width).splitlines())


def test_candidates_that_others_beat_are_counted_not_shown():
    best, *others = result().rows
    worse = [row("candidate", Layout((10, 10, 10 + i), None, "zstd:3"), 20.0 + i) for i in range(9)]
    found = result(rows=(best, *others, *worse))
    text = printed(found)
    assert "and 9 more candidates" in text and "10×10×15" not in text
    every = printed(found, every=True)
    assert "more candidates" not in every and "10×10×15" in every and "candidate 10" in every


def test_results_with_little_in_them():
    bare = row("proposal", Layout((100,), None, "none", False), shape=(1000,), names=("one",))
    found = result(
        rows=(bare,), shape=(1000,), dims=None, why=(), notes=(), request={}, source="<mapping>", variable="",
        interrupted=True, searched=1, workers=1,
    )  # fmt: skip
    text = printed(found, saved="layout.json")
    assert "Interrupted" in text and "tessarray convert SRC DST" in text
    assert "Why" not in text and "Notes" not in text and "1 worker\n" in re.sub(r" +\n", "\n", text)
    assert "--out layout.json" in printed(found)
    unknown = replace(bare, queries={}, requests={"one": float("nan")}, fetched={"one": float("nan")})
    assert printed(replace(found, rows=(bare, unknown))).count("proposal") >= 2


def test_a_name_cannot_drive_the_terminal():
    best = row("proposal", Layout((28, 45, 60), None, "zstd:3"), names=("\x1b[2J[red]map",))
    text = printed(
        result(source="\x1b]0;gone\x07cube[/].nc", rows=(best,), why=("\x1b[31mred [bold]",), notes=())
    )
    assert "\x1b" not in text and "\x07" not in text
    assert "[red]map" in text and "red [bold]" in text and "cube[/].nc" in text


def test_the_document_is_the_plain_form():
    document = json.loads(json.dumps(result().document()))
    assert document["format"] == "tessarray-layout/1"
    assert [one["label"] for one in document["rows"]] == [one.label for one in result().rows]
    assert document["shape"] == list(SHAPE)


def test_a_file_of_an_earlier_version_is_read(tmp_path):
    """Its request has options, and its rows figures, that there are no more."""
    found = result()
    document = found.document()
    document["request"] |= {"prices": "a list", "accesses": 1e6}
    document["rows"][0]["money"] = 1.25
    (tmp_path / "layout.json").write_text(json.dumps(document))
    loaded = TuneResult.load(tmp_path / "layout.json")
    assert loaded.rows == found.rows
    with pytest.raises(LayoutFileError, match=r"cube\.nc"):
        prove(tmp_path / "layout.json")


def test_an_estimate_has_its_interval_in_the_same_unit():
    assert estimate_text("seconds", about(0.01, 0.1)) == "10.0 ms (9.00–11.0)"
    assert estimate_text("seconds", Estimate.predicted(0.01)) == "~10.0 ms (7.00–13.0)"
    assert estimate_text("bytes", Estimate(5, 5, 5)) == "5.00 B"
