"""The report page and the chart of a tuning run: what is on them, what is escaped, and results with little in them."""

from __future__ import annotations

import html.parser
import json
import re
import sys
import time
from dataclasses import replace

import pytest
from tune_support import SHAPE, result, row

from tessarray.errors import MissingPackageError
from tessarray.tuner import report
from tessarray.tuner.layout import Layout
from tessarray.tuner.plotting import pareto
from tessarray.tuner.result import Estimate, TuneResult

HOSTILE = "</script><script>alert(1)</script><!--<svg onload=alert(2)>\"'&]]>\x1b[31m"


class Parsed(html.parser.HTMLParser):
    """The elements of a page, with a complaint where they do not nest."""

    VOID = frozenset({"meta", "link", "br"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == [], self.open

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data):
        if not {"script", "style"} & set(self.open):
            self.words.append(data)

    def count(self, tag, class_=None):
        return sum(
            name == tag and (class_ is None or class_ in (attrs.get("class") or "").split())
            for name, attrs in self.found
        )

    @property
    def text(self):
        return " ".join(" ".join(self.words).split())


def parsed(found: TuneResult) -> Parsed:
    return Parsed(report.build(found))


def charts(text: str) -> list[dict]:
    """What the page's script is given to draw."""
    return [
        json.loads(spec)
        for spec in re.findall(r'<script type="application/json">(.*?)</script>', text, re.DOTALL)
    ]


def test_everything_of_a_result_is_on_the_page():
    found = result()
    seen = parsed(found)
    sections = [attrs["id"] for tag, attrs in seen.found if tag == "section"]
    assert sections == "proposal layouts pareto shapes codecs workers model settings reading".split()
    assert [attrs["href"][1:] for tag, attrs in seen.found if tag == "a"][1:] == sections
    for said in (
        "Layout for cube.nc:t2m", "365×180×360 float32", "objective read", "budget 60 s", "412 layouts", "a machine",
        "shards 364×180×120 of 28×45×60", "4.88–5.72", "3 req, 400 kB", *found.why, *found.notes,
        "zarr-python auto", "~59.0 ms", "pcodec:8", "tessarray tune rerun layout.json",
        "tessarray convert cube.nc DST --layout layout.json", "Median error",
    ):  # fmt: skip
        assert said in seen.text, said
    assert seen.count("table", "results") == 1
    promised = found.document()["zarr"]
    shown = next(text for text in seen.words if text.lstrip().startswith("{") and "chunk_grid" in text)
    assert json.loads(shown) == json.loads(json.dumps(promised))


def test_every_figure_of_a_result_is_a_point_of_a_chart():
    found = result()
    pareto, codecs, efficiency, memory, model = charts(report.build(found))
    places = {(one["points"][0]["x"], one["points"][0]["y"]) for one in pareto["series"]}
    assert places == {(row.stored, row.read.value) for row in found.rows}
    assert [one["points"][0].get("hollow", False) for one in pareto["series"]].count(True) == 1
    assert {len(one["points"]) for one in codecs["series"]} == {len(found.codecs)}
    points = efficiency["series"][0]["points"]
    assert [(one["x"], one["y"]) for one in points] == [
        (one.workers, one.efficiency) for one in found.scaling
    ]
    assert [one["name"] for one in memory["series"]] == ["writing", "reading"]
    compared = [(point["x"], point["y"]) for one in model["series"] for point in one["points"]]
    assert sorted(compared) == sorted((one["measured"], one["predicted"]) for one in found.predictions)


def test_what_each_query_touches_is_counted_for_the_proposal_and_for_what_there_is():
    seen = parsed(result())
    rows = seen.text[seen.text.index("Chunks touched") :]
    # A map of the present slabs is one chunk of its own bytes.
    assert re.search(r"map \[t, :, :\] current: chunks 1×180×360, zstd:3 1 15 ", rows)


def test_nothing_from_the_data_becomes_markup():
    rows = tuple(
        replace(one, label=one.label if one.label in ("proposal", "current") else HOSTILE)
        for one in (
            row("proposal", Layout((28, 45, 60), None, "zstd:3"), names=(HOSTILE,)),
            *result().rows[1:],
        )
    )
    hostile = result(
        source=HOSTILE, variable=HOSTILE, dims=(HOSTILE, "b", "c"), rows=rows, why=(HOSTILE,), notes=(HOSTILE,),
        request={"queries": {HOSTILE: "[t, :, :]"}, HOSTILE: HOSTILE, "store": HOSTILE},
        calibration={"machine": HOSTILE, HOSTILE: HOSTILE},
        predictions=({"query": HOSTILE, "layout": HOSTILE, "predicted": 1.0, "measured": 2.0},),
        codecs=tuple(replace(one, codec=HOSTILE) for one in result().codecs),
    )  # fmt: skip
    text, plain = report.build(hostile), report.build(result())
    seen = Parsed(text)
    assert text.count("<script") == plain.count("<script") and text.count("</script") == plain.count(
        "</script"
    )
    assert not any(name.startswith("on") for _, attrs in seen.found for name in attrs)
    assert "alert(1)" in seen.text
    assert "\x1b" not in text


def only(layout, shape, queries, **changes):
    """A result with nothing but a proposal."""
    best = row("proposal", layout, shape=shape, names=tuple(queries))
    nothing = dict.fromkeys(("codecs", "scaling", "predictions", "notes", "why"), ())
    bare = {"dims": None, "calibration": {}, **nothing}
    return result(rows=(best,), shape=shape, request={"queries": queries}, **bare | changes)


@pytest.mark.parametrize(
    ("layout", "shape", "queries"),
    [
        (Layout((100,), None, "none"), (1000,), {"one": "[i]", "run": "[:50]"}),
        (Layout((1,), None, "zstd:3"), (1,), {"one": "[0]"}),
        (Layout((100, 50), (200, 500), "zstd:3"), (1000, 10_000_000), {"row": "[i, :]", "point": "[i, j]"}),
        (Layout((1, 2, 64, 64), (1, 4, 64, 64), "zstd:3"), (5, 8, 300, 2), {"four": "[t, :3, ...]"}),
    ],
)
def test_arrays_of_any_number_of_dimensions_have_a_page(layout, shape, queries):
    seen = parsed(only(layout, shape, queries))
    sections = [attrs["id"] for tag, attrs in seen.found if tag == "section"]
    assert sections == "proposal layouts pareto shapes workers settings reading".split()
    assert not re.search(r"\b(nan|inf)\b", seen.text)


def test_results_with_little_in_them():
    # Recorded accesses have no templates to count; an interrupted run says so.
    recorded = only(Layout((28, 45, 60), None, "zstd:3"), SHAPE, {"a": "[t, :, :]"}, interrupted=True)
    recorded = replace(recorded, request={"log": "log.jsonl", "queries": None}, source="<mapping>")
    seen = parsed(recorded)
    assert "interrupted" in seen.text and "tessarray convert SRC DST" in seen.text
    # No size, no time, figures that nobody has.
    nothing = Estimate(0.0, 0.0, 0.0)
    empty = replace(recorded.best, stored=0, read=nothing, write=nothing, queries={}, requests={}, fetched={})
    assert parsed(replace(recorded, rows=(empty,)))
    assert parsed(replace(recorded, rows=(recorded.best, replace(empty, label="candidate"))))
    same = tuple(replace(recorded.best, label=label) for label in ("proposal", "candidate", "candidate"))
    assert "candidate 2" in parsed(replace(recorded, rows=same)).text


def test_a_saved_result_gives_the_same_page(tmp_path):
    found = result()
    loaded = TuneResult.load(found.save(tmp_path / "layout.json"))
    assert report.build(loaded) == report.build(found)
    target = loaded.report(tmp_path / "report.html")
    assert target.read_text(encoding="utf-8") == report.build(found)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["layout.json", "report.html"]


def test_plot_draws_what_was_measured(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    figure = result().plot(tmp_path / "pareto.png")
    assert (tmp_path / "pareto.png").read_bytes().startswith(b"\x89PNG")
    said = {text.get_text() for text in figure.axes[0].texts}
    assert said == {"proposal", "current", "zarr-python auto", "netCDF-C default"}
    assert "time of an access" in figure.axes[0].get_ylabel()
    single = only(Layout((100,), None, "none"), (1000,), {"one": "[i]"})
    assert pareto(single, tmp_path / "one.svg").axes
    assert matplotlib.rcParams["font.size"] == matplotlib.rcParamsDefault["font.size"]


def test_plot_without_matplotlib_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match="pip install matplotlib") as caught:
        result().plot()
    assert isinstance(caught.value, ImportError)


@pytest.mark.serial
def test_in_a_browser_it_draws_asks_no_network_and_answers(browser, tmp_path):
    hostile = result(variable=HOSTILE, why=(HOSTILE,))
    path = hostile.report(tmp_path / "report.html")
    browser.get_log("performance")
    browser.get(path.as_uri())
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert asked and all(url.startswith(("file:", "data:", "about:", "chrome")) for url in asked)
    assert "alert(1)" in browser.find_element("css selector", "h1").text

    drawn = "return document.querySelectorAll('.chart canvas').length"
    assert browser.execute_script(drawn) == 5

    theme = browser.find_element("css selector", "#theme")
    dark = "return getComputedStyle(document.body).backgroundColor"
    before = browser.execute_script(dark)
    for _ in range(2):
        browser.execute_script("arguments[0].click()", theme)
    assert browser.execute_script(dark) != before
    assert len(browser.find_elements("css selector", ".command button")) == 2
    for width in (1400, 390):
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        # Charts take their new size a moment later.
        wide = "return document.documentElement.scrollWidth"
        ends = time.monotonic() + 20
        while browser.execute_script(wide) > width and time.monotonic() < ends:
            time.sleep(0.1)
        assert browser.execute_script(wide) <= width
