"""The command line: each command does what its help says, for people and, with --json, for machines."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from typer.testing import CliRunner

import tessarray
from tessarray.cli.app import app

CUBE = np.arange(24 * 16 * 16, dtype="i4").reshape(24, 16, 16) * 7 % 1000
COMMANDS = "convert info tree read explain check copy demo codecs version".split()


def tessarray_command(*arguments):
    """The command as a shell runs it."""
    return subprocess.run(
        [sys.executable, "-c", "from tessarray.cli import main; main()", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def run(*arguments):
    """The command in this process; returns what it printed."""
    result = CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A store with a sharded array, a group, text, and attributes."""
    path = tmp_path_factory.mktemp("cli") / "cube.zarr"
    tessarray.create_group(path, attributes={"title": "made", "odd": float("nan")})
    tessarray.create_array(
        path, name="t2m", data=CUBE, chunks=(4, 8, 8), shards=(12, 16, 16), compressors="blosc:lz4:5:shuffle",
        dimension_names=("time", "lat", "lon"), attributes={"units": "K [at 2 m]"},
    )  # fmt: skip
    tessarray.create_array(
        path, name="wind/u", data=np.array([1.5, np.nan, -np.inf], "f4"), fill_value=np.nan
    )
    tessarray.create_array(path, name="words", data=np.array(["a", "bü", ""], np.dtypes.StringDType()))
    return path


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_has_an_example_of_it(command):
    text = run(command, "--help")
    assert "Example" in text and f"tessarray {command}" in text


def test_the_help_names_every_command_and_no_command_is_help():
    done = tessarray_command("--help")
    assert done.returncode == 0
    assert all(command in done.stdout for command in COMMANDS)
    # A pasted example has its quotes on one line.
    assert "tessarray read cube.zarr:t2m '[0, :, 10:20]'" in done.stdout


def test_the_options_that_help_examples_use_exist():
    for command in COMMANDS:
        text = run(command, "--help")
        examples = [line for line in text.splitlines() if line.strip().startswith(f"tessarray {command}")]
        used = {word for line in examples for word in line.split() if word.startswith("--")}
        for option in used:
            assert text.count(option) > sum(line.count(option) for line in examples), f"{command} {option}"


def test_convert_says_what_it_did_and_json_is_the_report(tmp_path):
    np.save(tmp_path / "in.npy", CUBE)
    said = run("convert", tmp_path / "in.npy", tmp_path / "a.zarr", "--verify")
    assert "every value verified" in said and "1 array" in said and str(tmp_path / "a.zarr") in said
    report = json.loads(
        run("convert", tmp_path / "in.npy", tmp_path / "b.zarr", "--chunks", "4,8,8", "--shards", "8,-1,-1",
            "--codec", "zstd:5", "--memory", "64MiB", "--threads", "1", "--json")
    )  # fmt: skip
    assert report["bytes"] == CUBE.nbytes and report["arrays"] == 1 and report["format"] == "npy"
    array = tessarray.open_array(tmp_path / "b.zarr", mode="r")
    assert array.chunks == (4, 8, 8) and array.shards == (8, 16, 16)
    assert_array_equal(array[...], CUBE)


def test_convert_takes_extents_by_dimension_name_and_patterns_of_names(made, tmp_path):
    run(
        "convert",
        made,
        tmp_path / "a.zarr",
        "--include",
        "t*",
        "--chunks",
        "time=2,lon=4",
        "--shards",
        "none",
    )
    group = tessarray.open_group(tmp_path / "a.zarr", mode="r")
    assert list(group) == ["t2m"]
    assert group["t2m"].chunks[0] == 2 and group["t2m"].chunks[2] == 4 and group["t2m"].shards is None
    run("convert", made, tmp_path / "b.zarr", "--exclude", "wind")
    assert "wind/u" not in tessarray.open_group(tmp_path / "b.zarr", mode="r")


@pytest.mark.parametrize(
    ("selection", "index"),
    [
        ("[0, :, 10:20]", np.s_[0, :, 10:20]),
        ("[..., ::-1]", np.s_[..., ::-1]),
        ("0,-1,3", np.s_[0, -1, 3]),
        ("[[0, 5, 9], 3]", np.s_[[0, 5, 9], 3]),
        ("[5:2:-2, ..., -3:]", np.s_[5:2:-2, ..., -3:]),
        ("[...]", np.s_[...]),
        ("[3:3]", np.s_[3:3]),
    ],
)
def test_read_gives_numpys_values_on_the_screen_as_json_and_as_npy(made, tmp_path, selection, index):
    expected = CUBE[index]
    out = tmp_path / "out.npy"
    assert str(out) in run("read", f"{made}:t2m", selection, "--out", out)
    assert_array_equal(np.load(out), expected, strict=True)
    found = json.loads(run("read", f"{made}:t2m", selection, "--json"))
    assert found == {"shape": list(expected.shape), "dtype": "int32", "values": expected.tolist()}
    with np.printoptions(threshold=1000, linewidth=110):
        assert run("read", f"{made}/t2m", selection) == f"{expected}\n"


def test_read_gives_json_that_every_parser_takes(made):
    strict = {"parse_constant": pytest.fail}
    assert json.loads(run("read", f"{made}:wind/u", "--json"), **strict)["values"] == [
        1.5,
        "NaN",
        "-Infinity",
    ]
    assert json.loads(run("read", f"{made}:words", "--json"), **strict)["values"] == ["a", "bü", ""]
    assert json.loads(run("info", made, "--json"), **strict)["attributes"]["odd"] == "NaN"


def test_read_stats_leaves_nan_out(made):
    found = json.loads(run("read", f"{made}:wind/u", "[:2]", "--stats", "--json"))
    assert found["count"] == 2 and found["nan"] == 1 and found["min"] == found["max"] == found["mean"] == 1.5
    assert "999" in run("read", f"{made}:t2m", "--stats")


def test_info_shows_layout_and_the_codecs_of_inner_chunks(made):
    text = run("info", f"{made}:t2m")
    for part in ("24 × 16 × 16", "4 × 8 × 8", "12 × 16 × 16", "time, lat, lon", "int32", "K [at 2 m]"):
        assert part in text
    codecs = next(line for line in text.splitlines() if line.startswith("codecs"))
    assert "blosc:lz4:5:shuffle" in codecs and "sharding_indexed" not in codecs
    about = json.loads(run("info", f"{made}:t2m", "--json"))
    assert about["shape"] == [24, 16, 16] and about["nbytes"] == CUBE.nbytes
    assert 0 < about["nbytes_stored"] < CUBE.nbytes
    table = run("info", made)
    assert all(name in table for name in ("t2m", "wind/u", "words", "title: made"))


def test_tree_lists_every_group_and_array(made):
    text = run("tree", made)
    assert text.index("t2m") < text.index("wind") < text.index("words")
    found = {node["path"]: node["kind"] for node in json.loads(run("tree", made, "--json"))}
    assert found == {"": "group", "t2m": "array", "wind": "group", "wind/u": "array", "words": "array"}


def test_a_group_of_one_array_stands_for_it_and_paths_go_into_a_zip(made, tmp_path):
    run("copy", made, tmp_path / "cube.zarr.zip")
    assert run("read", f"{made}:wind", "[0]") == "1.5\n"
    assert run("read", f"{tmp_path}/cube.zarr.zip:wind/u", "[0]") == "1.5\n"
    assert run("read", f"{tmp_path}/cube.zarr.zip/wind/u", "[0]") == "1.5\n"


def test_copy_to_a_zip_and_back_gives_every_byte(made, tmp_path):
    run("copy", made, tmp_path / "a.zip")
    run("copy", tmp_path / "a.zip", tmp_path / "b.zarr")
    before = {p.relative_to(made): p.read_bytes() for p in made.rglob("*") if p.is_file()}
    after = {
        p.relative_to(tmp_path / "b.zarr"): p.read_bytes()
        for p in tmp_path.rglob("b.zarr/**/*")
        if p.is_file()
    }
    assert before == after
    assert_array_equal(tessarray.open_array(tmp_path / "a.zip", path="t2m", mode="r")[...], CUBE)
    assert sorted(item.name for item in tmp_path.iterdir()) == ["a.zip", "b.zarr"]


def test_check_finds_no_damage_in_a_sound_store(made):
    assert "no damage found" in run("check", made, "--deep")
    assert json.loads(run("check", made, "--deep", "--json")) == []


def test_check_names_the_key_of_a_flipped_byte_and_ends_with_1(tmp_path):
    path = tmp_path / "a.zarr"
    tessarray.create_array(path, data=CUBE, chunks=(4, 8, 8), shards=(12, 16, 16))
    shard = path / "c" / "1" / "0" / "0"
    raw = bytearray(shard.read_bytes())
    raw[40] ^= 1
    shard.write_bytes(raw)
    done = tessarray_command("check", path, "--deep")
    assert done.returncode == 1 and "c/1/0/0" in done.stdout and done.stderr == ""
    done = tessarray_command("check", path, "--deep", "--json")
    assert done.returncode == 1 and {row["key"] for row in json.loads(done.stdout)} == {"c/1/0/0"}
    # Damage is no leftover: a repair leaves it, and says so.
    done = tessarray_command("check", path, "--deep", "--repair", "--apply")
    assert done.returncode == 1 and "damaged" in done.stdout and shard.read_bytes() == raw


def test_repair_says_what_it_would_remove_and_removes_it_only_with_apply(tmp_path):
    path = tmp_path / "a.zarr"
    tessarray.create_array(path, data=np.arange(4), chunks=(2,), shards=None)
    stray = path / "c" / "9"
    stray.write_bytes(b"a crashed append left this")
    assert tessarray_command("check", path).returncode == 1
    planned = tessarray_command("check", path, "--repair")
    assert planned.returncode == 1 and "c/9" in planned.stdout and "--apply" in planned.stdout
    assert stray.exists()
    done = tessarray_command("check", path, "--repair", "--apply")
    assert done.returncode == 0, done
    assert not stray.exists() and tessarray.load(path).tolist() == [0, 1, 2, 3]
    assert tessarray_command("check", path).returncode == 0


def test_codecs_lists_examples_that_work_and_version_the_version(tmp_path):
    rows = json.loads(run("codecs", "--json"))
    examples = [row["example"] for row in rows if row["example"]]
    assert {"blosc", "zstd", "gzip"} <= {row["name"] for row in rows} and len(examples) >= 6
    for number, example in enumerate(examples):
        tessarray.create_array(tmp_path / str(number), data=CUBE, compressors=example)
        assert_array_equal(tessarray.open_array(tmp_path / str(number), mode="r")[...], CUBE)
    assert json.loads(run("version", "--json"))["tessarray"] == tessarray.__version__
    assert tessarray.__version__ in run("version")
