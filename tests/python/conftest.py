"""Hypothesis profiles and the fixtures of every test file."""

from __future__ import annotations

import gc
import os
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
