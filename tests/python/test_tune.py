"""The tuner as its users meet it: what it proposes is measured, kept within limits, and can be proved again."""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tessarray
from tessarray.conversion.errors import SourceNotFoundError
from tessarray.tuner.errors import AccessError, ConstraintError, LayoutFileError, UntunableError
from tessarray.tuner.layout import Layout, layout_of
from tessarray.tuner.proving import prove
from tessarray.tuner.result import TuneResult
from tessarray.tuner.sampling import take
from tessarray.tuner.source import open_subject
from tessarray.tuner.tuning import tune

pytestmark = pytest.mark.serial  # it measures

MIXED = {"map": ("[t, :, :]", 0.5), "series": ("[:, y, x]", 0.5)}


def field(shape: tuple[int, ...] = (96, 80, 72)) -> np.ndarray:
    """Smooth values with noise, as a model gives them."""
    axes = np.meshgrid(*(np.arange(n) * 0.05 for n in shape), indexing="ij")
    noise = np.random.default_rng(5).standard_normal(shape)
    return np.round(280 + sum(np.sin(axis) for axis in axes) + 0.01 * noise, 3).astype("f4")


@pytest.fixture(scope="module")
def cube(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("tune") / "cube.zarr"
    tessarray.create_array(
        path,
        name="t2m",
        data=field(),
        chunks=(1, 80, 72),
        dimension_names=("time", "lat", "lon"),
        compressors="zstd:3",
    )
    tessarray.create_array(path, name="lat", data=np.arange(80.0))
    tessarray.create_array(path, name="names", shape=(80, 3, 2, 2), dtype="string")
    return path


@pytest.fixture(scope="module")
def result(cube: Path) -> TuneResult:
    return tune(f"{cube}:t2m", MIXED, budget=8, store="memory")


def test_the_proposal_beats_slabs_and_is_no_larger_than_allowed(result: TuneResult) -> None:
    current = result.row("current")
    assert current is not None
    assert current.layout == Layout((1, 80, 72), None, "zstd:3", False)
    # A series through slabs decodes the whole array: nothing measured can be that bad by noise.
    assert result.best.queries["series"].value < current.queries["series"].value / 3
    assert result.best.read.value < current.read.value
    sizes = [row.stored for row in result.rows if row.label in ("current", "zarr-python auto")]
    assert result.best.stored <= 1.1 * min(sizes) * 1.02
    assert all(row.read.low <= row.read.value <= row.read.high for row in result.rows)


def test_front_rows_are_beaten_by_none(result: TuneResult) -> None:
    assert len(repr(result.front).splitlines()) == len(result.front) == len(result.front.records())
    for row in result.front:
        assert not any(
            other.read.value < row.read.value
            and other.stored < row.stored
            and other.write.value > row.write.value
            for other in result.rows
            if other.read.measured
        )


def test_a_saved_result_is_read_back_and_its_metadata_are_what_create_writes(
    result: TuneResult, tmp_path: Path
) -> None:
    path = result.save(tmp_path / "layout.json")
    document = json.loads(path.read_text())
    again = TuneResult.load(path)
    assert again.best == result.best
    assert again.document() == document
    made = tessarray.create_array(
        {},
        shape=result.shape,
        dtype=result.dtype,
        dimension_names=result.dims,
        **result.best.layout.arguments(),
    )
    assert made.metadata == document["zarr"]
    assert layout_of(made) == result.best.layout


def test_applied_it_holds_the_same_values(result: TuneResult, tmp_path: Path) -> None:
    result.apply(tmp_path / "tuned.zarr", include="t2m")
    written = tessarray.open_array(tmp_path / "tuned.zarr", path="t2m", mode="r")
    assert layout_of(written) == result.best.layout
    assert (written[...] == field()).all()


def test_a_rerun_says_whether_the_proposal_stands(result: TuneResult, tmp_path: Path) -> None:
    path = result.save(tmp_path / "layout.json")
    proof = prove(path, budget=4)
    assert proof.earlier.layout == result.best.layout
    assert proof.earlier.read.measured
    assert ("stands" in proof.text()) == proof.holds


def test_a_rerun_of_another_shape_is_refused(result: TuneResult, tmp_path: Path) -> None:
    path = result.save(tmp_path / "layout.json")
    with pytest.raises(LayoutFileError, match=r"shape \(96, 80, 72\).*\(5, 4\)"):
        prove(path, np.zeros((5, 4), "f4"))


def test_the_source_is_not_changed(cube: Path, result: TuneResult) -> None:
    found = {path: path.stat().st_mtime_ns for path in cube.rglob("*") if path.is_file()}
    tune(f"{cube}:t2m", MIXED, budget=2, store="memory")
    assert found == {path: path.stat().st_mtime_ns for path in cube.rglob("*") if path.is_file()}


def test_limits_are_kept_by_every_proposal() -> None:
    values = field((64, 64, 64))
    found = tune(
        values,
        MIXED,
        budget=4,
        store="memory",
        max_files=4,
        max_shard="600KB",
        append_axis="0:16",
        readers=["tensorstore"],
    )
    layout = found.best.layout
    assert layout.files(values.shape) <= 4
    assert math.prod(layout.unit) * 4 <= 600_000
    assert 16 % layout.unit[0] == 0
    assert layout.codec.partition(":")[0] in {"none", "blosc", "zstd", "gzip"}


def test_the_size_objective_finds_a_smaller_layout_than_the_read_objective() -> None:
    values = field((64, 64, 64))
    read = tune(values, MIXED, budget=4, store="memory", max_size=None)
    size = tune(values, MIXED, budget=4, store="memory", objective="size", max_size=None)
    assert size.best.stored < read.best.stored


def test_a_tolerance_is_kept_by_what_is_written(tmp_path: Path) -> None:
    values = field((48, 48, 48)) + np.float32(0.00037)
    found = tune(values, MIXED, budget=3, store="memory", lossy="tolerance=0.01", max_size=None)
    assert found.best.layout.filters
    found.apply(tmp_path / "lossy.zarr", {"array": values})
    written = tessarray.open_array(tmp_path / "lossy.zarr", path="array", mode="r")[...]
    assert 0 < np.abs(written.astype("f8") - values).max() <= 0.01


def test_every_access_of_a_far_store_waits_for_it() -> None:
    values = field((32, 48, 48))
    found = tune(values, MIXED, budget=4, store="s3-like(ttfb=5ms,bw=100MB/s)")
    assert all(row.read.value > 0.004 for row in found.rows)


def test_a_sample_of_a_larger_array_has_real_values_at_every_place() -> None:
    values = np.arange(600 * 500, dtype="i4").reshape(600, 500)
    subject = open_subject({"a": values})
    sample = take(subject, 40_000)
    assert not sample.whole
    assert sample.values.nbytes <= 40_000
    assert np.isin(sample.values, values).all()
    block = sample.block(((3, 599), (490, 500)))
    assert block.shape == (596, 10)
    assert np.isin(block, sample.values).all()
    whole = take(subject, values.nbytes)
    assert whole.whole
    assert (whole.block(((5, 9), (0, 500))) == values[5:9]).all()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.zeros((0, 5)), "has no elements"),
        (np.float64(3), "single value"),
        (np.array([["a", "b"]]), "expected numbers"),
        (np.array([object(), object()]), "expected numbers"),
    ],
)
def test_what_cannot_be_tuned_is_refused(values: np.ndarray, said: str) -> None:
    with pytest.raises(UntunableError, match=said):
        tune({"a": np.asarray(values)}, ["[i] x 1"], budget=1)


@pytest.mark.parametrize(
    ("arguments", "kind", "said"),
    [
        ({"objective": "fast"}, ConstraintError, "expected read, size, write, balanced, found 'fast'"),
        ({"budget": "soon"}, ConstraintError, "budget: expected a time"),
        ({"budget": 0}, ConstraintError, "budget: expected a time"),
        ({"store": "s3://bucket"}, ConstraintError, "expected local, memory or s3-like"),
        ({"store": "s3-like(rtt=3)"}, ConstraintError, "expected ttfb=, bw= or concurrency="),
        ({"append_axis": "depth"}, ConstraintError, "unknown dimension 'depth'"),
        ({"append_axis": 3}, ConstraintError, "the array has 3 dimensions, found axis 3"),
        ({"append_axis": "0:x"}, ConstraintError, "AXIS:LENGTH"),
        ({"readers": ["matlab"]}, ConstraintError, "found 'matlab'"),
        ({"max_files": 2, "max_shard": "100KB"}, ConstraintError, "allow 12 files, or objects of"),
        ({"max_size": "small"}, ValueError, "small"),
        ({"lossy": "tolerance=-1"}, ConstraintError, "tolerance=1e-3"),
        ({"max_size": 100}, ConstraintError, "the smallest that was measured"),
        ({"queries": None}, AccessError, "say how the array is read"),
        ({"queries": ["[t, :] x 1"]}, AccessError, "3 dimensions"),
        ({"log": "no.jsonl"}, AccessError, "expected query classes or a log, found both"),
    ],
)
def test_impossible_requests_say_what_to_change(
    arguments: dict[str, object], kind: type[Exception], said: str
) -> None:
    given = {"queries": MIXED, "budget": 1, "store": "memory"} | arguments
    with pytest.raises(kind) as caught:
        tune(field((64, 64, 73)), **given)  # type: ignore[arg-type]
    assert said in str(caught.value)


def test_a_group_of_several_arrays_asks_for_a_name(cube: Path, tmp_path: Path) -> None:
    with pytest.raises(SourceNotFoundError, match="no array is named 'wind'; there are: lat, names, t2m"):
        tune(f"{cube}:wind", MIXED, budget=1)
    tessarray.create_array(tmp_path / "two.zarr", name="u", data=np.ones((4, 4)))
    tessarray.create_array(tmp_path / "two.zarr", name="v", data=np.ones((4, 4)))
    with pytest.raises(SourceNotFoundError, match=r"two\.zarr:NAME"):
        tune(tmp_path / "two.zarr", MIXED, budget=1)


def test_one_dimension_and_one_element_are_tuned() -> None:
    found = tune(np.arange(100_000), ["[i] x 0.5", "run: [:1000] x 0.5"], budget=2, store="memory")
    assert found.best.layout.files((100_000,)) >= 1
    assert tune(np.ones((1, 1)), ["[i, j] x 1"], budget=1, store="memory").best.layout.unit == (1, 1)


def test_an_interrupt_gives_the_best_so_far(cube: Path, tmp_path: Path) -> None:
    out = tmp_path / "layout.json"
    command = [sys.executable, "-c", "from tessarray.cli import main; main()", "tune", f"{cube}:t2m"]
    command += ["--access", "map: [t, :, :] x 0.5", "--access", "series: [:, y, x] x 0.5", "--budget", "100s"]
    command += ["--out", str(out), "--scratch", str(tmp_path)]
    # Ctrl-C must reach it even where this process was started with it ignored.
    child = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )
    assert child.stderr is not None
    said = ""
    for line in child.stderr:
        said += line
        if "compare:" in line or "search:" in line:
            break
    child.send_signal(signal.SIGINT)
    output, rest = child.communicate(timeout=60)
    assert child.returncode == 0, said + rest + output
    assert "Interrupted" in output
    assert TuneResult.load(out).interrupted
    assert not list(tmp_path.glob("tessarray-tune-*"))


def test_a_budget_that_is_too_short_still_gives_a_layout_that_was_measured() -> None:
    found = tune(field((64, 64, 64)), MIXED, budget=0.02, store="memory")
    assert found.best.read.measured
    assert found.best.layout.codec.partition(":")[0] in {"none", "blosc", "zstd"}


def test_the_budget_is_kept(cube: Path) -> None:
    """Not to the tenth on a busy machine: but a search may not go on by half."""
    started = time.perf_counter()
    found = tune(f"{cube}:t2m", MIXED, budget=5, store="memory")
    assert found.seconds < 7.5
    assert time.perf_counter() - started < 9


def test_the_command_writes_what_it_says(cube: Path, tmp_path: Path) -> None:
    from typer.testing import CliRunner

    from tessarray.cli.app import app

    out, page, chart, dst = (tmp_path / name for name in ("a.json", "a.html", "a.png", "a.zarr"))
    arguments = [
        "tune",
        f"{cube}:t2m",
        "--access",
        "map: [time=t] x 0.5",
        "--access",
        "series: [:, y, x] x 0.5",
    ]
    arguments += ["--budget", "3s", "--store", "memory", "--no-progress"]
    arguments += ["--out", str(out), "--report", str(page), "--plot", str(chart), "--apply", str(dst)]
    done = CliRunner().invoke(app, arguments, catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "proposal" in done.stdout
    assert "zarr-python auto" in done.stdout
    found = TuneResult.load(out)
    assert layout_of(tessarray.open_array(dst, path="t2m", mode="r")) == found.best.layout
    assert page.read_text().startswith("<!")
    assert chart.read_bytes()[:4] == b"\x89PNG"
    again = CliRunner().invoke(
        app, ["tune", "rerun", str(out), "--budget", "3s", "--json", "--no-progress"], catch_exceptions=False
    )
    assert json.loads(again.stdout)["format"] == "tessarray-layout/1"


def test_help_names_the_studies_and_shows_examples() -> None:
    from typer.testing import CliRunner

    from tessarray.cli.app import app

    group = CliRunner().invoke(app, ["tune", "--help"]).stdout
    assert "rerun" in group
    main = CliRunner().invoke(app, ["tune", os.devnull, "--help"]).stdout
    assert "--append-axis" in main
    assert "tessarray tune era5.nc:t2m" in main
