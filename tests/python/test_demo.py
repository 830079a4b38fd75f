"""The demonstration runs from end to end, on its own cube and on real files, and leaves pictures and numbers."""

from __future__ import annotations

import json
import subprocess
import sys

import matplotlib.image
import numpy as np
import pytest
import tifffile

import tessarray
from tessarray.demo import race, run
from tessarray.demo.errors import DemoError

pytestmark = pytest.mark.serial  # it measures

SYSTEMS = {"Tessarray", "netCDF4", "zarr-python"}


@pytest.fixture(autouse=True)
def few_rounds(monkeypatch):
    monkeypatch.setattr(race, "ROUNDS", race.MINIMUM)


def results(out, systems):
    """The numbers that a demonstration left, once its picture and they have been looked at."""
    picture = matplotlib.image.imread(out / "demo.png")
    assert (out / "demo.png").stat().st_size > 30_000
    assert picture.shape[0] > 700 and picture.shape[1] > 1000
    assert len(np.unique(picture.reshape(-1, picture.shape[-1]), axis=0)) > 200, "slices have many colours"
    found = json.loads((out / "demo.json").read_text())
    assert found["conversion"]["verified"] is True
    assert {time["system"] for time in found["times"]} == systems
    assert {time["query"] for time in found["times"]} == {"map", "series", "box"}
    assert len(found["times"]) == 3 * len(systems)
    for time in found["times"]:
        assert 0 < min(time["seconds"]) <= time["median_s"] <= max(time["seconds"])
        assert time["stored"] > 0
    return found


def test_the_demonstration_makes_a_cube_and_ends_with_a_table_a_picture_and_numbers(tmp_path):
    script = "from tessarray.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, "demo", "--size", "tiny", "--out", str(tmp_path / "out")],
        capture_output=True, text=True, check=False, timeout=200,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for part in (*SYSTEMS, "map", "series", "box", "every value equal", "the same values from", "demo.png"):
        assert part in done.stdout, part
    found = results(tmp_path / "out", SYSTEMS)
    array = tessarray.open_array(
        tmp_path / "out" / "weather-tiny.zarr", path=found["array"]["path"], mode="r"
    )
    assert list(array.shape) == found["array"]["shape"]


def test_json_prints_the_numbers_and_nothing_else_and_a_second_run_replaces_the_first(tmp_path, capsys):
    for _ in range(2):
        run(None, tmp_path, "tiny", as_json=True)
        assert json.loads(capsys.readouterr().out) == results(tmp_path, SYSTEMS)


@pytest.mark.parametrize("name", ["eraint_uvz.nc", "coads_climatology.nc4"])
def test_the_demonstration_runs_on_a_real_file(shared_data, tmp_path, name):
    if not (shared_data / name).is_file():
        pytest.skip(f"the real file {name} is absent from the folder shared/data beside the repository")
    run(shared_data / name, tmp_path)
    assert results(tmp_path, SYSTEMS)["input"] == str(shared_data / name)


def test_the_demonstration_runs_on_a_picture_without_netcdf4(tmp_path):
    stack = np.random.default_rng(2).integers(0, 4000, (5, 60, 70), dtype="u2")
    tifffile.imwrite(tmp_path / "scan.tif", stack, photometric="minisblack")
    run(tmp_path / "scan.tif", tmp_path / "out")
    assert results(tmp_path / "out", {"Tessarray", "zarr-python"})["array"]["shape"] == [5, 60, 70]


def test_the_demonstration_runs_on_one_plane_with_missing_values(tmp_path):
    plane = np.full((40, 50), np.nan, "f4")
    plane[3:9, 4:8] = np.arange(24).reshape(6, 4)
    np.save(tmp_path / "plane.npy", plane)
    run(tmp_path / "plane.npy", tmp_path / "out", as_json=True)
    found = json.loads((tmp_path / "out" / "demo.json").read_text())
    assert found["queries"]["map"] == "[10:30, 12:37]"


def test_a_file_with_nothing_to_slice_is_refused_in_words(tmp_path):
    np.save(tmp_path / "line.npy", np.arange(9))
    with pytest.raises(DemoError, match="no numeric array of two dimensions"):
        run(tmp_path / "line.npy", tmp_path / "out")
