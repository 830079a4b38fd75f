"""Packs after accidents: files of killed writers, commit files that are missing or not right."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import tessarray
from tessarray.errors import CorruptError


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "ocean.pack"


@pytest.fixture
def pack(folder: Path) -> tessarray.Pack:
    """Versions 1 to 3: arrays `a0`, `a1` and `a2`."""
    pack = tessarray.create_pack(folder, durable=False)
    for value in range(3):
        with pack.transaction("one") as tx:
            tx.create_array(f"a{value}", data=[value])
    return pack


def test_half_written_files_of_killed_writers_are_counted_and_go(
    pack: tessarray.Pack, folder: Path, run: Callable[..., tuple[int, str]]
) -> None:
    def leave() -> None:
        long_ago = time.time() - 7200
        for name in ("segments/" + 32 * "0" + ".seg.__lock", "tags/x.json.__lock"):
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_bytes(bytes(1000))
            os.utime(folder / name, (long_ago, long_ago))

    leave()
    assert pack.check(deep=True) == [], "they are no damage"
    left = pack.leftovers()
    assert (left.files, left.nbytes) == (2, 2000)
    code, out = run("pack", "check", folder)
    assert code == 0 and "2 files" in out and "killed writers" in out
    assert pack.repair(apply=True).version is None
    assert pack.leftovers().files == 0 and not list(folder.rglob("*.__lock"))
    leave()
    assert "removed" in run("pack", "repair", folder, "--apply")[1]
    leave()
    assert pack.expire(keep=9, retention="1h").files == 2
    assert not list(folder.rglob("*.__lock"))
    assert "killed" not in run("pack", "check", folder)[1]


def test_a_missing_commit_is_said_and_a_repair_goes_on(
    pack: tessarray.Pack, folder: Path, run: Callable[..., tuple[int, str]]
) -> None:
    lost = folder / "commits" / f"{pack.version:020}.json"
    lost.unlink()
    opened = tessarray.open_pack(folder)
    with pytest.raises(CorruptError, match="it is missing"):
        _ = opened.version
    with pytest.raises(CorruptError, match="it is missing"), opened.transaction("none") as tx:
        tx.create_array("b", data=[1])
    with pytest.raises(CorruptError, match="it is missing"):
        opened.expire(retention=0)
    assert not lost.exists()
    assert [one.file for one in opened.check()] == [f"commits/{lost.name}"]
    assert run("pack", "check", folder)[0] == 1
    assert opened.repair(apply=True).version == 4
    assert opened.check(deep=True) == []
    assert sorted(tessarray.open_pack(folder)) == ["a0", "a1"]


def test_a_commit_with_a_time_that_is_none_is_damage(pack: tessarray.Pack, folder: Path) -> None:
    crc32c = pytest.importorskip("google_crc32c", reason="seals are CRC-32C")
    path = folder / "commits" / f"{2:020}.json"
    text = path.read_bytes().rsplit(b',"crc32c"', 1)[0]
    begin = text.index(b'"time":"') + len(b'"time":"')
    text = text[:begin] + b"not a time at all, 27 chars" + text[begin + 27 :]
    seal = crc32c.value(text)
    path.write_bytes(text + f',"crc32c":"{seal:08x}"}}\n'.encode())
    with pytest.raises(CorruptError, match="time: expected"):
        pack.versions()
    assert any("time: expected" in one.problem for one in pack.check())
