"""The report page in a real browser: filters, links, details, charts, failures and exports, against the results."""

from __future__ import annotations

import base64
import json
import re
import time
import urllib.parse

import pytest
from bench_samples import BASELINE, sample

from tessarray_bench import results, results_file
from tessarray_bench.report import page as pages

pytestmark = pytest.mark.serial  # a browser beside a test that computes is slow to answer


@pytest.fixture(scope="module")
def document():
    return sample()


@pytest.fixture(scope="module")
def address(document, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "page.html"
    pages.write(path, [document], ["laptop"])
    return path.as_uri()


@pytest.fixture
def opened(browser, address):
    """The page without any choice, wide."""

    def go(state="", width=1400):
        browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride",
            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500},
        )
        browser.get("about:blank")
        browser.get(f"{address}#{state}")
        wait_for(browser, "#table tbody tr")
        return browser

    return go


def texts(browser, selector):
    return [element.text for element in browser.find_elements("css selector", selector)]


def choose(browser, name, value):
    box = browser.find_element("css selector", f"#filters select[name={name}]")
    box.find_element("css selector", f'option[value="{value}"]').click()


def wait_for(browser, selector):
    deadline = time.monotonic() + 20
    while not browser.find_elements("css selector", selector):
        assert time.monotonic() < deadline, f"nothing is {selector}"
        time.sleep(0.02)


def state(browser):
    return dict(urllib.parse.parse_qsl(urllib.parse.urlparse(browser.current_url).fragment))


def the_cell(document, workload, step, system):
    found = results.cells(results_file.from_document(document))
    return next(c for c in found if (c.workload, c.step, c.system) == (workload, step, system))


def test_it_draws_without_errors_and_asks_no_network(browser, opened):
    browser.get_log("browser"), browser.get_log("performance")
    opened()
    assert browser.find_element("css selector", "h1").text
    assert len(browser.find_elements("css selector", "#table tbody tr")) > 3
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    assert asked and all(url.startswith(("file:", "data:", "about:", "chrome")) for url in asked)


def test_filters_narrow_the_table_and_stand_in_the_address(browser, opened):
    opened()
    choose(browser, "suite", "all")
    everything = len(browser.find_elements("css selector", "#table tbody tr"))
    choose(browser, "suite", "fleet")
    assert state(browser)["suite"] == "fleet"
    fewer = len(browser.find_elements("css selector", "#table tbody tr"))
    assert 0 < fewer < everything
    assert "fleet" in browser.find_element("css selector", "#table").text
    assert "planes/" not in browser.find_element("css selector", "#table").text
    browser.back()
    assert state(browser)["suite"] == "all"
    assert len(browser.find_elements("css selector", "#table tbody tr")) == everything
    chip = browser.find_element("css selector", '#filters [data-chip="h5py"]')
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", chip)
    browser.execute_script("arguments[0].click()", chip)
    assert "h5py" not in " ".join(texts(browser, "#table thead th"))


def test_a_link_shows_what_its_sender_saw(browser, opened):
    opened()
    choose(browser, "suite", "planes")
    choose(browser, "metric", "peak")
    shown, fragment = texts(browser, "#table tbody td"), urllib.parse.urlparse(browser.current_url).fragment
    opened(fragment)
    assert texts(browser, "#table tbody td") == shown
    assert (
        browser.find_element("css selector", "#filters select[name=metric]").get_attribute("value") == "peak"
    )


def test_a_figure_and_its_details_are_those_of_the_results(browser, opened, document):
    cell = the_cell(document, "planes/2d/random", "axis 0", "tessarray")
    opened("suite=planes")
    button = browser.find_element(
        "css selector",
        'button.cell[data-key*="planes/2d/random"][data-key*="axis 0"][data-system="tessarray"]',
    )
    number, unit = button.find_element("css selector", ".figure").text.split()[:2]
    scale = {"s": 1, "ms": 1e-3, "µs": 1e-6}[unit]
    assert float(number.replace(",", "")) * scale == pytest.approx(cell.median, rel=0.01)
    browser.execute_script("arguments[0].click()", button)
    detail = browser.find_element("css selector", "#detail")
    assert detail.is_displayed()
    text = detail.text
    assert cell.rerun in text.replace("\n", " ") or cell.rerun in detail.get_attribute("textContent")
    assert f"{cell.n}" in text
    for word in ("CPU", "Peak", "stored", "interval"):
        assert word.lower() in text.lower(), word
    assert "cell" in state(browser)


def test_failures_are_results(browser, opened):
    opened("suite=all")
    text = browser.find_element("css selector", "main").text.lower()
    for word in ("timed out", "crashed", "wrong", "not supported", "absent", "out of memory", "failed"):
        assert word in text, word
    assert "no answer within 120 s" in text
    assert "sigsegv" in text


@pytest.mark.parametrize(
    ("suite", "chart", "least"),
    [("planes", "bars", 4), ("codecs", "pareto", 4), ("fleet", "lines", 4), ("parallel", "lines", 2)],
)
def test_charts_are_drawn(browser, opened, suite, chart, least):
    opened(f"suite={suite}&chart={chart}")
    wait_for(browser, "#chart canvas")
    points = browser.find_elements("css selector", "#chart canvas button")
    assert len(points) >= least
    browser.execute_script("arguments[0].click()", points[0])
    assert browser.find_element("css selector", "#detail").is_displayed()
    wait_for(browser, "#detail canvas")


def test_the_noise_floor_is_printed(browser, opened, document):
    floor = results.floor(results_file.from_document(document))
    opened()
    assert f"{floor.factor:.3f}"[:4] in browser.find_element("css selector", "#floor").text


def test_the_words_are_the_same_for_any_baseline(browser, opened):
    opened("base=h5py")
    assert "Against h5py" in browser.find_element("css selector", "#summary").text
    opened(f"base={BASELINE}")
    assert "Against TensorStore" in browser.find_element("css selector", "#summary").text


def test_the_raw_data_can_be_taken_away(browser, opened, document, tmp_path):
    opened()
    browser.execute_cdp_cmd("Page.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    button = browser.find_element("css selector", 'button[data-save="json"]')
    browser.execute_script("arguments[0].click()", button)
    wanted = tmp_path / "laptop.json"
    deadline = time.monotonic() + 20
    while not wanted.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    assert json.loads(wanted.read_text()) == json.loads(json.dumps(document))


@pytest.mark.parametrize("width", [390, 768, 1400])
def test_no_window_is_too_narrow(browser, opened, width):
    opened("suite=all", width)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    assert browser.find_element("css selector", "#table").is_displayed()


def test_dark_is_dark(browser, opened):
    lightness = {}
    for theme in ("light", "dark"):
        media = [{"name": "prefers-color-scheme", "value": theme}]
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": media})
        opened()
        shot = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
        lightness[theme] = sum(int(part) for part in shot.strip("rgba()").split(",")[:3])
    assert lightness["dark"] < 200 < 600 < lightness["light"]
    assert base64.b64decode(browser.get_screenshot_as_base64())[:4] == b"\x89PNG"


def test_text_of_the_results_cannot_break_the_page(tmp_path, browser):
    evil = sample(repeats=1)
    evil["machine"]["processor"] = "</script><script>document.title='broken'</script><!-- &amp;"
    pages.write(tmp_path / "evil.html", [evil], ["</title><b>"])
    browser.get((tmp_path / "evil.html").as_uri())
    assert browser.title != "broken"
    assert "</script>" in browser.find_element("css selector", "header").text


def test_large_data_are_compressed_and_show_the_same(document, tmp_path, browser, opened):
    opened("suite=all")
    plain = browser.find_element("css selector", "#table").text
    packed, large = (pages.build([document], ["laptop"], large=size) for size in (0, 1 << 30))
    held = [
        re.search(r'<script type="application/\w+" id="data">.*?</script>', one)[0] for one in (packed, large)
    ]
    assert len(held[0]) < len(held[1]) / 2
    (tmp_path / "packed.html").write_text(packed, encoding="utf-8")
    browser.get_log("browser")
    browser.get((tmp_path / "packed.html").as_uri() + "#suite=all")
    waited = time.monotonic() + 20
    while not browser.find_elements("css selector", "#table tbody tr") and time.monotonic() < waited:
        time.sleep(0.05)
    assert browser.find_element("css selector", "#table").text == plain
    assert [entry for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")] == []


def test_files_of_different_suites_on_one_machine_are_one_page(document, tmp_path, browser):
    """Each file has workloads of its own; they are pooled, since machine and versions agree."""
    suites = sorted({one["suite"] for one in document["workloads"].values()})
    halves = []
    for part in (suites[::2], suites[1::2]):
        named = {name: one for name, one in document["workloads"].items() if one["suite"] in part}
        rows = [row for row in document["rows"] if row["workload"] in named]
        halves.append(document | {"workloads": named, "rows": rows})
    pages.write(tmp_path / "both.html", halves, ["one", "two"])
    browser.get_log("browser")
    browser.get((tmp_path / "both.html").as_uri() + "#suite=all")
    options = browser.find_elements("css selector", "#filters select[name=suite] option")
    assert set(suites) <= {option.get_attribute("value") for option in options}
    assert len(browser.find_elements("css selector", "#table tbody tr")) > 3
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []
