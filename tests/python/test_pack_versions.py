"""Versions as people write them: numbers of any length, tags, moments of any zone."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tessarray
from tessarray.cli.app import app
from tessarray.errors import InvalidArgumentError, NotFoundError


@pytest.fixture
def pack(tmp_path: Path) -> tessarray.Pack:
    pack = tessarray.create_pack(tmp_path / "p.pack", durable=False)
    for i in range(3):
        with pack.transaction() as tx:
            tx.create_group(f"g{i}")
    return pack


@pytest.mark.parametrize("text", ["1050", "2026", "2031", "9999", "99999999", "0000000000000000000000004"])
def test_a_number_that_is_no_version_is_an_error_however_long_it_is(pack, tmp_path, text):
    for attempt in (pack.rollback, pack.at, lambda version: pack.diff(1, version)):
        with pytest.raises(NotFoundError, match=str(int(text))):
            attempt(text)
    with pytest.raises(NotFoundError, match=str(int(text))):
        tessarray.open_pack(tmp_path / "p.pack", text)
    for command in (["rollback", text], ["diff", "1", text], ["tag", "name", "--version", text]):
        done = CliRunner().invoke(app, ["pack", command[0], str(tmp_path / "p.pack"), *command[1:]])
        assert done.exit_code != 0, command
    assert pack.version == 3 and pack.tags() == {}


def test_versions_above_a_thousand_are_opened_by_their_numbers(tmp_path):
    pack = tessarray.create_pack(tmp_path / "p.pack", durable=False)
    array = tessarray.create_array(tmp_path / "p.pack", name="a", shape=1, dtype="i4", chunks=1)
    while pack.version < 1003:
        array[0] = pack.version + 1
    assert pack.at("1002")["a"][0] == 1002 and pack.at(1003)["a"][0] == 1003
    done = CliRunner().invoke(app, ["pack", "rollback", str(tmp_path / "p.pack"), "1001"])
    assert done.exit_code == 0, done.output
    assert pack["a"][0] == 1001


@pytest.mark.parametrize("name", ["7", "2026", "2031-01", "2031-01-01T10:00"])
def test_a_tag_is_no_number_and_no_date(pack, name):
    with pytest.raises(InvalidArgumentError, match="not a name"):
        pack.tag(name)


def test_moments_are_what_the_calendar_and_the_clock_say(pack):
    now = pack.versions()[-1].time
    east = now.astimezone(dt.timezone(dt.timedelta(hours=9)))
    for text in (
        f"{now:%Y-%m}",
        f"{now:%Y-%m-%d}",
        now.isoformat(),
        east.isoformat(),
        str(east),
        "2931-01-01",
    ):
        assert pack.at(text).version == 3, text
    for text in ("1970-01", "1970-01-01", (now - dt.timedelta(days=1)).isoformat()):
        with pytest.raises(NotFoundError, match="younger"):
            pack.at(text)
    for text in ("2026-13", "2026-02-30", "2026-01-01T25:00", "2026-01-01Tnoon"):
        with pytest.raises(InvalidArgumentError, match="no date"):
            pack.at(text)
