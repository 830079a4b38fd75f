"""How figures, pages and charts look: words for numbers, escaped markup, charts that a browser draws."""

from __future__ import annotations

import json
import math
import re
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tessarray.display import charts, page, palette, units
from tessarray.display.markup import Markup, element, printable
from tessarray.display.pictures import new_figure, save, style, unit_axis
from tessarray.errors import MissingPackageError

HOSTILE = "</script><script>alert(1)</script><!--<svg onload=alert(2)>\"'&]]>\x1b[31m"


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (units.time_text(0.0053), "5.30 ms"),
        (units.time_text(0.9996), "1.00 s"),
        (units.time_text(3.2e-10), "0.320 ns"),
        (units.byte_text(999), "999 B"),
        (units.byte_text(1 << 20), "1.05 MB"),
        (units.byte_text(0), "0 B"),
        (units.rate_text(8.12e8), "812 MB/s"),
        (units.figure("share", 0.125), "12.5 %"),
        (units.count_text(2.44), "2.4"),
        (units.count_text(12345), "12,345"),
        (units.figure("ratio", 3.21), "3.21×"),
        (units.figure("seconds", math.nan), "–"),
        (units.extents_text((64, 512)), "64×512"),
        (units.extents_text(None), "–"),
    ],
)
def test_figures_have_three_digits_and_the_unit_that_suits(said, text):
    assert said == text


@given(st.sampled_from(["seconds", "bytes", "rate"]), st.floats(1, 1e15))
def test_a_figure_in_words_is_the_figure_to_half_a_percent(kind, value):
    number, unit = units.figure(kind, value).split()
    factor = next(factor for factor, name in units.UNITS[kind] if name == unit)
    rounded = 0.5 if unit == "B" else 0.0
    assert float(number.replace(",", "")) * factor == pytest.approx(value, rel=0.0051, abs=rounded)


def test_elements_escape_what_they_are_given():
    assert element("b", "<&>", title='"<') == '<b title="&quot;&lt;">&lt;&amp;&gt;</b>'
    assert element("b", Markup("<i></i>"), class_=None, hidden=True) == "<b hidden><i></i></b>"
    assert printable("a\x1b[31m") == "a\N{REPLACEMENT CHARACTER}[31m"


def chart(tip="a point", **changes):
    points = [charts.Point(10.0**n, 2.0**-n, f"{tip} {n}", low=2.0**-n * 0.9, high=2.0**-n) for n in range(5)]
    given = {
        "label": "Time against size",
        "x": charts.Axis("bytes", "size", log=True),
        "y": charts.Axis("seconds", "time", log=True),
        "series": [charts.Series(tip, points, palette.series(1), line=True)],
    }
    return charts.Chart(**{**given, **changes})


def test_a_chart_leaves_out_what_is_not_finite():
    points = [charts.Point(x, y, "") for x, y in [(0, 1), (1, math.inf), (2, 3)]]
    spec = chart(series=[charts.Series("s", points)]).to_json()
    assert [(one["x"], one["y"]) for one in spec["series"][0]["points"]] == [(0, 1), (2, 3)]
    with pytest.raises(ValueError, match="kind"):
        charts.Axis("parsecs", "distance")


def built(said="Sample", *body):
    links = element("a", "Main", href="#main")
    main = element("section", body, id="main")
    return page.build(title=said, subtitle=said, nav=links, body=main, charts=True)


def test_nothing_that_is_shown_becomes_markup():
    text = built(HOSTILE, charts.figure(chart(HOSTILE, label=HOSTILE), HOSTILE))
    assert "<script>alert" not in text and "<svg onload" not in text and "\x1b" not in text
    spec = re.search(r'<script type="application/json">(.*?)</script>', text)[1]
    assert json.loads(spec)["label"] == HOSTILE


def test_marks_of_the_frame_in_what_is_shown_stay_words():
    text = built("<!--body--> <!--script--> <!--style-->", charts.figure(chart("<!--nav-->")))
    assert text.count("&lt;!--body--&gt;") == 3


def test_a_page_loads_nothing():
    text = built("Sample", charts.figure(chart()))
    assert "default-src 'none'" in text
    assert not re.findall(r"(?:src|href)=\"(?!#|data:)[^\"]*\"|url\(|@import|\bfetch\(|XMLHttpRequest", text)


def test_the_vendored_library_says_its_licence():
    folder = resources.files("tessarray.display") / "vendor"
    assert "MIT" in (folder / "chart.js").read_text(encoding="utf-8")[:300]
    assert "Permission is hereby granted" in (folder / "LICENSE.md").read_text(encoding="utf-8")


def test_pictures_have_units_and_the_same_bytes_each_time(tmp_path):
    pytest.importorskip("matplotlib")

    def drawn(name):
        with style():
            figure = new_figure(4, 3)
            panel = figure.add_subplot()
            panel.plot([1e-4, 3e-2], [1, 2])
            panel.set_xscale("log")
            unit_axis(panel.xaxis, "seconds")
            figure.canvas.draw()
            labels = [text.get_text() for text in panel.get_xticklabels()]
            return labels, save(figure, tmp_path / name).read_bytes()

    labels, first = drawn("one.svg")
    assert "1 ms" in labels and "20 ms" in labels
    assert drawn("two.svg")[1] == first


def test_pictures_without_matplotlib_say_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    with pytest.raises(MissingPackageError, match="pip install matplotlib"), style():
        pass


# A browser beside a test that computes is slow to answer: these run alone.
@pytest.mark.serial
def test_pages_say_figures_as_python_does(browser):
    text = (resources.files("tessarray.display") / "page" / "units.js").read_text(encoding="utf-8")
    text = text.replace("/*units*/", json.dumps(units.UNITS))
    values = [0, 1, 9.994e-4, 0.0053, 0.9996, 12.345, 999, 999.6, 1234.5, 81920, 1 << 20, 3.3e9, 4.56e13]
    for kind in units.UNITS:
        theirs = browser.execute_script(f"{text}; return arguments[0].map((v) => show(v, '{kind}'))", values)
        assert theirs == [units.figure(kind, value) for value in values], kind


def ink(browser):
    """How many pixels of the first chart are not clear."""
    return browser.execute_script(
        "const c = document.querySelector('canvas');"
        "const shown = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
        "return shown.filter((v, i) => i % 4 === 3 && v > 0).length"
    )


@pytest.mark.serial
def test_charts_are_drawn_and_every_point_can_be_reached(browser, tmp_path):
    several = (chart(), chart(series=[charts.Series("zero", [charts.Point(0, 1, "has no place")])]))
    path = page.write(tmp_path / "page.html", built(HOSTILE, *map(charts.figure, several)))
    for width in (1400, 390):
        metrics = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        browser.get(path.as_uri())
        assert [
            entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")
        ] == []
        assert len(browser.find_elements("css selector", ".chart canvas")) == 2
        assert ink(browser) > 2000
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        points = browser.find_elements("css selector", ".chart canvas button")
        assert [point.get_attribute("textContent") for point in points] == [f"a point {n}" for n in range(5)]
        browser.execute_script("arguments[0].focus()", points[2])
        tip = browser.find_element("css selector", "#tip")
        assert tip.is_displayed() and tip.text == "a point 2"


@pytest.mark.serial
def test_charts_follow_the_colours_of_the_page(browser, tmp_path):
    path = page.write(tmp_path / "page.html", built("Sample", charts.figure(chart())))
    browser.get(path.as_uri())
    seen = "return document.querySelector('canvas').toDataURL()"
    drawn = [browser.execute_script(seen)]
    for _ in range(2):
        browser.execute_script("document.getElementById('theme').click()")
        drawn.append(browser.execute_script(seen))
    assert drawn[0] == drawn[1] != drawn[2]
