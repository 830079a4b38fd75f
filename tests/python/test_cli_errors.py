"""What goes wrong on the command line is one clear line on stderr and exit code 1; only --debug shows a trace."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

import tessarray
from tessarray.cli.main import main
from tessarray.cli.selection import parse_selection
from tessarray.conversion import OptionError


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("errors")
    tessarray.create_group(path / "cube.zarr")
    tessarray.create_array(path / "cube.zarr", name="t2m", data=np.zeros((4, 5, 6)), chunks=(2, 5, 6))
    tessarray.create_array(path / "cube.zarr", name="u", data=np.zeros(3))
    np.save(path / "in.npy", np.zeros((4, 4)))
    (path / "junk.bin").write_bytes(b"nothing that anybody knows")
    (path / "junk.zip").write_bytes(b"PK\x03\x04 and then nothing")
    (path / "torn.nc").write_bytes(b"\x89HDF\r\n\x1a\n and then nothing")
    (path / "empty").mkdir()
    return path


# A command, and words that its one line has.
WRONG = {
    "missing source": ("convert none.nc a.zarr", "none.nc", "no such file"),
    "missing store": ("info none.zarr", "none.zarr", "no such store"),
    "missing store to read": ("read none.zarr [0]", "none.zarr"),
    "missing store to copy": ("copy none.zarr a.zip", "none.zarr"),
    "missing store to check": ("check none.zarr", "none.zarr"),
    "missing demo input": ("demo none.nc --out a", "none.nc", "no such file"),
    "unknown format": ("convert junk.bin a.zarr", "junk.bin", "unknown format"),
    "damaged netCDF": ("convert torn.nc a.zarr", "torn.nc"),
    "damaged zip": ("info junk.zip", "junk.zip"),
    "damaged zip to copy": ("copy junk.zip a.zarr", "junk.zip"),
    "folder that is no store": ("info empty", "empty"),
    "folder that is no store to check": ("check empty", "empty"),
    "folder that is no store to convert": ("convert empty a.zarr", "empty", "Zarr"),
    "folder that is no store to copy": ("copy empty a.zip", "empty", "Zarr"),
    "unknown array": ("read cube.zarr:v [0]", "cube.zarr", "v"),
    "unknown array by path": ("info cube.zarr/v", "cube.zarr", "'v'"),
    "group to read": ("read cube.zarr [0]", "name one of its arrays", "t2m, u"),
    "selection that is none": ("read cube.zarr:t2m [0,,]", "[0, :, 10:20]"),
    "selection that is code": ("read cube.zarr:t2m exit(3)", "exit(3)"),
    "index out of range": ("read cube.zarr:t2m [9]", "9", "4"),
    "too many indices": ("read cube.zarr:t2m [0,0,0,0]", "4"),
    "unknown codec": ("convert in.npy a.zarr --codec florp:3", "florp"),
    "unknown codec of netCDF": ("convert in.npy a.nc --codec florp:3", "florp"),
    "level out of range": ("convert in.npy a.zarr --codec zstd:999", "zstd", "999"),
    "level that is no number": ("convert in.npy a.zarr --codec zstd:many", "many"),
    "chunks that are none": ("convert in.npy a.zarr --chunks ten", "ten"),
    "shards that do not fit": ("convert in.npy a.zarr --chunks 2,2 --shards 3,3", "4, 4"),
    "memory that is none": ("convert in.npy a.zarr --memory lots", "lots", "512MiB"),
    "unknown variable": ("convert in.npy a.zarr --include wind", "wind"),
    "destination exists": ("convert in.npy cube.zarr", "cube.zarr", "already exists"),
    "destination of a copy exists": ("copy cube.zarr empty", "empty", "already exists"),
    "destination below a file": ("convert in.npy in.npy/such/a.zarr", "in.npy"),
    "copy into itself": ("copy cube.zarr cube.zarr/a", "same"),
    "unknown demo size": ("demo --size vast --out a", "vast", "small"),
    "apply alone": ("check cube.zarr --apply", "--repair"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_is_one_clear_line_and_exit_code_1(folder, capsys, monkeypatch, name):
    command, *words = WRONG[name]
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    with pytest.raises(SystemExit) as leaving:
        main(command.split())
    out, err = capsys.readouterr()
    assert leaving.value.code == 1
    lines = err.splitlines()
    assert len(lines) == 1 and lines[0].startswith("tessarray: "), err
    assert "Traceback" not in out + err
    for word in words:
        assert word in lines[0], lines[0]
    left = [path for path in sorted(folder.rglob("*")) if path not in before and path != folder / "a"]
    assert left == []


def test_a_shell_sees_one_line_and_debug_shows_the_trace(folder):
    command = [
        sys.executable,
        "-c",
        "from tessarray.cli import main; main()",
        "info",
        str(folder / "none.zarr"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    done = subprocess.run([*command, "--debug"], capture_output=True, text=True, check=False)
    assert done.returncode == 1 and "Traceback" in done.stderr and "SourceNotFoundError" in done.stderr


@pytest.mark.parametrize(
    "arguments", ["florp", "convert one", "read", "convert a b --florp", "check --florp a"]
)
def test_wrong_usage_ends_with_2_and_names_the_help(capsys, arguments):
    with pytest.raises(SystemExit) as leaving:
        main(arguments.split())
    assert leaving.value.code == 2
    assert "Usage: tessarray" in capsys.readouterr().err


def test_a_reader_that_leaves_is_no_error_with_a_trace(tmp_path):
    tessarray.save_array(tmp_path / "a", np.arange(200_000))
    script = "from tessarray.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", script, "read", str(tmp_path / "a"), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    process.wait(timeout=60)


@pytest.mark.parametrize(
    "text", ["x", "1.5", "'a'", "0 if 1 else 2", "[True]", "a.b", "1:2:'x'", "[[0], [[1]]]", "..., ...", "0]"]
)
def test_a_selection_that_is_no_selection_is_refused_and_never_evaluated(text):
    with pytest.raises(OptionError, match="selection"):
        parse_selection(text)


def test_an_absurd_selection_is_refused_quickly():
    for text in ("[" * 50_000, "-" * 90_000 + "1", "1," * 100_000, "(" * 5_000 + ")" * 5_000):
        with pytest.raises(OptionError):
            parse_selection(text)


def test_errors_do_not_print_json_that_is_none(folder, capsys):
    with pytest.raises(SystemExit):
        main(["info", str(folder / "none.zarr"), "--json"])
    assert capsys.readouterr().out == ""
    with pytest.raises(SystemExit):
        main(["info", str(folder / "cube.zarr"), "--json"])
    assert json.loads(capsys.readouterr().out)["kind"] == "group"
