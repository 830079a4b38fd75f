"""Hypothesis profiles and the fixtures of every test file."""

from __future__ import annotations

import gc
import os
import shutil
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, settings
from support import SHARED_DATA, scaled

# Derandomised by default: a change is judged by the same examples each time. Nightly runs draw new ones.
settings.register_profile(
    "ci",
    deadline=None,
    derandomize="TESSARRAY_TEST_SCALE" not in os.environ,
    max_examples=scaled(300),
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("ci")


def pytest_collection_finish() -> None:
    """What the modules of the tests brought stays until the end: a full collection looks only at what a test makes."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def shared_data():
    """The folder of real files beside the repository."""
    if not SHARED_DATA.is_dir():
        pytest.skip("the folder of real files, shared/data beside the repository, is absent")
    return SHARED_DATA


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, str]]:
    """Runs a command of `tessarray`: its exit code, and what it printed."""
    from tessarray.cli.main import main

    def run(*arguments: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as leaving:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return int(leaving.value.code or 0), said.out + said.err

    return run


CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
FLAGS = """--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking
--disable-component-update --disable-sync --disable-dev-shm-usage --window-size=1400,900""".split()


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory):
    """One Chromium for all tests of pages."""
    webdriver = pytest.importorskip("selenium.webdriver")
    if not (CHROMIUM and DRIVER):
        pytest.skip("no Chromium with its driver on this machine")
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def browser(chromium):
    """Chromium as it was when it began: nothing stored or said, the window's own size and colours."""
    chromium.get("about:blank")
    chromium.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    chromium.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    chromium.execute_cdp_cmd(
        "Storage.clearDataForOrigin", {"origin": "file:///", "storageTypes": "local_storage"}
    )
    for kind in ("browser", "performance"):
        chromium.get_log(kind)
    return chromium
