"""What people write for a place: addresses, slashes, files. Each form is taken everywhere, or refused with the cure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import tessarray
from tessarray.cli.app import app
from tessarray.conversion.errors import ConversionError
from tessarray.errors import InvalidArgumentError

ADDRESSES = ["s3://bucket/a.zarr", "gs://bucket/a", "az://box/a", "s3:/bucket/a.zarr"]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tessarray.save_array("a.zarr", np.arange(4))
    tessarray.save_array("z.zip", np.arange(4))
    tessarray.create_group("g.zarr").create_array("x", data=[1, 2])
    with tessarray.create_pack("p.pack").transaction("one") as tx:
        tx.root.create_array("x", data=[1, 2])
    np.save("n.npy", np.arange(3))
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    found = CliRunner().invoke(app, list(arguments))
    if found.exception is not None and not isinstance(found.exception, SystemExit):
        return 1, str(found.exception)
    return found.exit_code, found.output


class TestAddresses:
    @pytest.mark.parametrize("address", ADDRESSES)
    @pytest.mark.parametrize(
        "command",
        [
            ("info", "{}"), ("tree", "{}"), ("read", "{}"), ("check", "{}"), ("copy", "a.zarr", "{}"),
            ("copy", "{}", "b.zarr"), ("convert", "a.zarr", "{}"), ("convert", "{}", "b.zarr"),
        ],
    )  # fmt: skip
    def test_commands_say_what_to_hand_over(self, here: Path, address: str, command: tuple[str, ...]) -> None:
        before = sorted(path.name for path in here.iterdir())
        code, said = run(*(part.format(address) for part in command))
        whole = address.replace(":/", "://") if "://" not in address else address
        assert code != 0
        assert f"fsspec.get_mapper('{whole}')" in said
        assert "obstore" in said
        assert sorted(path.name for path in here.iterdir()) == before

    @pytest.mark.parametrize(
        "call",
        [
            tessarray.open,
            tessarray.open_pack,
            tessarray.check,
            lambda address: tessarray.create_group(address),
            lambda address: tessarray.convert("a.zarr", address),
            lambda address: tessarray.copy_store("a.zarr", address),
        ],
    )
    def test_so_do_functions(self, here: Path, call: Callable[[str], object]) -> None:
        with pytest.raises((InvalidArgumentError, ConversionError), match=r"s3://b/x.*get_mapper"):
            call("s3://b/x")

    def test_file_addresses_are_paths(self, here: Path) -> None:
        at = (here / "b.zarr").as_uri()
        assert run("copy", "a.zarr", at)[0] == 0
        tessarray.convert(at, (here / "c.zarr").as_uri())
        assert tessarray.open(here / "c.zarr")[...].tolist() == [0, 1, 2, 3]

    def test_paths_of_gdal_are_refused(self, here: Path) -> None:
        for command in (("info", "/vsizip/z.zip"), ("convert", "a.zarr", "/vsis3/b/q.zarr")):
            code, said = run(*command)
            assert (code != 0, "/vsi" in said and "GDAL" in said) == (True, True)


class TestSlashes:
    @pytest.mark.parametrize(
        "name", ["a.zarr", "z.zip", "g.zarr", "g.zarr/x", "p.pack", "p.pack/x", "./g.zarr//x"]
    )
    def test_a_slash_at_the_end_says_nothing(self, here: Path, name: str) -> None:
        assert run("info", name + "/")[1].replace(name + "/", name) == run("info", name)[1]
        one, other = tessarray.open(name, mode="r"), tessarray.open(name + "/", mode="r")
        assert type(one) is type(other)
        assert tessarray.check(name + "/") == tessarray.check(name) == []

    @pytest.mark.parametrize("name", ["made.zarr", "made.zip"])
    def test_of_what_is_made(self, here: Path, name: str) -> None:
        tessarray.save_array(name + "/", np.arange(4))
        assert (here / name).is_file() == name.endswith("zip")
        tessarray.convert("a.zarr/", f"c-{name}/")
        assert (here / f"c-{name}").is_file() == name.endswith("zip")

    def test_a_file_of_another_format_is_named(self, here: Path) -> None:
        for name in ("n.npy", "n.npy/"):
            code, said = run("info", name)
            assert code != 0
            assert "no store" in said and "tessarray convert" in said
            with pytest.raises(InvalidArgumentError, match=r"n\.npy.*no store"):
                tessarray.open(name, mode="r")


class TestWhatIsInTheWay:
    def test_a_folder_of_the_users_is_left_alone(self, here: Path) -> None:
        mine = here / "out.zarr.partial"
        mine.mkdir()
        (mine / "thesis.txt").write_text("years of work")
        for resume in (False, True):
            with pytest.raises(ConversionError, match=r"out\.zarr\.partial.*no conversion made it"):
                tessarray.convert("a.zarr", "out.zarr", resume=resume)
        assert run("copy", "a.zarr", "out.zarr")[0] != 0
        assert (mine / "thesis.txt").read_text() == "years of work"
        assert not (here / "out.zarr").exists()

    def test_a_file_and_a_link_too(self, here: Path) -> None:
        (here / "out.zarr.partial").write_text("mine")
        (here / "other.zarr.partial").symlink_to(here / "g.zarr")
        for name in ("out.zarr", "other.zarr"):
            with pytest.raises(ConversionError, match="no conversion made it"):
                tessarray.convert("a.zarr", name)
        assert tessarray.open("g.zarr/x", mode="r")[0] == 1

    def test_what_a_killed_conversion_left_is_replaced(self, here: Path) -> None:
        for number, names in enumerate([[], ["lock"], ["lock", "store"]]):
            left = here / f"{number}.zarr.partial"
            left.mkdir()
            for name in names:
                (left / name).touch()
            tessarray.convert("a.zarr", f"{number}.zarr")
            assert not left.exists()
