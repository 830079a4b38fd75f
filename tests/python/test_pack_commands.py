"""The commands that work on packs, as a user types them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tessarray


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ocean.pack"


@pytest.fixture
def pack(folder: Path) -> tessarray.Pack:
    """Two versions: an array `a`, then an array `b`."""
    pack = tessarray.create_pack(folder, durable=False)
    for name, values in (("a", np.arange(5)), ("b", np.ones(1))):
        with pack.transaction("fill") as tx:
            tx.create_array(name, data=values)
    return pack


def test_the_commands_of_packs(
    pack: tessarray.Pack, folder: Path, tmp_path: Path, run: Callable[..., tuple[int, str]]
) -> None:
    assert run("pack", "tag", folder, "one", "--version", "1")[0] == 0
    code, out = run("pack", "versions", folder, "--json")
    assert code == 0
    assert [(one["number"], one["tags"]) for one in json.loads(out)] == [(0, []), (1, ["one"]), (2, [])]
    assert "fill" in run("pack", "versions", folder)[1]
    assert json.loads(run("pack", "diff", folder, "one", "--json")[1])[0]["path"] in ("", "b")
    assert "b" in run("tree", folder)[1]
    assert "[0, 1, 2]" in run("read", f"{folder}/a", "[:3]", "--json")[1].replace(" ,", ",")
    assert run("pack", "check", folder, "--deep")[0] == 0
    assert "version 3" in run("pack", "rollback", folder, "one")[1]
    assert "version 4" in run("pack", "compact", folder)[1]
    assert json.loads(run("pack", "expire", folder, "--retention", "0s", "--dry-run", "--json")[1])[
        "versions"
    ] == [0, 2, 3]
    assert run("pack", "expire", folder, "--retention", "0s")[0] == 0
    assert run("pack", "repair", folder)[0] == 0
    assert run("pack", "export", folder, tmp_path / "plain.zarr")[0] == 0
    assert tessarray.load(tmp_path / "plain.zarr", path="a").tolist() == [0, 1, 2, 3, 4]
    assert run("pack", "catalogue", folder, "--out", tmp_path / "c.parquet")[0] == 0
    assert (tmp_path / "c.parquet").read_bytes()[:4] == b"PAR1"
    assert run("pack", "versions", tmp_path / "nothing")[0] != 0


def test_a_pack_is_copied_as_it_is(
    pack: tessarray.Pack, folder: Path, tmp_path: Path, run: Callable[..., tuple[int, str]]
) -> None:
    assert run("copy", folder, tmp_path / "copy.pack")[0] == 0
    assert run("copy", folder, tmp_path / "pack.zip")[0] == 0
    assert run("copy", tmp_path / "pack.zip", tmp_path / "again.pack")[0] == 0
    for name in ("copy.pack", "again.pack"):
        copy = tessarray.open_pack(tmp_path / name)
        assert copy.check(deep=True) == []
        assert copy["a"][...].tolist() == [0, 1, 2, 3, 4]
        assert [one.message for one in copy.versions()] == ["create", "fill", "fill"]
        with copy.transaction("goes on") as tx:
            tx["a"][0] = 9
    assert pack["a"][0] == 0
    shutil.rmtree(folder / "commits")
    code, said = run("copy", folder, tmp_path / "none.pack")
    assert code != 0
    assert "is no pack" in said
    assert not (tmp_path / "none.pack").exists()
