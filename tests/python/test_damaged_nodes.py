"""One node whose metadata are damaged hides no other: it is named and marked, and the rest is shown and read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import tessarray
from tessarray.cli import inspect
from tessarray.errors import CorruptError, MetadataError

DAMAGE = (b"", b"{", b"[]", b'{"zarr_format": 3}', b"\0" * 40, b'{"zarr_format": 2}')


def store(folder: Path, zarr_format: int) -> tuple[Path, Path]:
    """A store of five nodes, and the document of the one that is to be damaged."""
    group = tessarray.create_group(folder / "s", zarr_format=zarr_format)
    group.create_array("a", data=[1, 2])
    group.create_array("v", data=[3, 4])
    group.create_array("below/b", data=[5])
    group.create_array("below/v", data=[6])
    return folder / "s", folder / "s" / "v" / ("zarr.json" if zarr_format == 3 else ".zarray")


@pytest.mark.parametrize("zarr_format", [3, 2])
@pytest.mark.parametrize("damage", DAMAGE)
def test_the_damaged_member_is_named_and_the_others_are_there(
    tmp_path: Path, zarr_format: int, damage: bytes
) -> None:
    path, document = store(tmp_path, zarr_format)
    document.write_bytes(damage)
    group = tessarray.open_group(path, mode="r")
    for every in (group.members, lambda: list(group), lambda: list(group.arrays()), lambda: group["v"]):
        with pytest.raises(MetadataError, match=f"v/{document.name}"):
            every()
    looked = dict(group.look(None))
    assert list(looked) == ["a", "below", "below/b", "below/v", "v"]
    assert [name for name, node in looked.items() if isinstance(node, MetadataError)] == ["v"]
    assert looked["below/b"][0] == 5
    assert f"v (cannot be opened: v/{document.name}" in str(group.tree())
    assert "below" in str(group.tree()) and "v/" in str(group.info)


def test_the_commands_show_the_rest(tmp_path: Path, capsys: Any) -> None:
    path, document = store(tmp_path, 3)
    document.write_bytes(b"{")
    inspect.tree(str(path), as_json=True)
    kinds = {node["path"]: node["kind"] for node in json.loads(capsys.readouterr().out)}
    assert kinds == {
        "": "group", "a": "array", "below": "group", "below/b": "array", "below/v": "array", "v": "damaged",
    }  # fmt: skip
    inspect.info(str(path), as_json=True)
    about = json.loads(capsys.readouterr().out)
    assert [array["path"] for array in about["arrays"]] == ["a", "below/b", "below/v"]
    assert list(about["damaged"]) == ["v"]
    inspect.tree(str(path), as_json=False)
    inspect.info(str(path), as_json=False)
    assert capsys.readouterr().out.count("cannot be opened") == 2


def test_nothing_is_consolidated_while_a_node_is_damaged(tmp_path: Path) -> None:
    path, document = store(tmp_path, 3)
    document.write_bytes(b"{")
    before = (path / "zarr.json").read_bytes()
    with pytest.raises(MetadataError, match=r"v/zarr.json"):
        tessarray.open_group(path, mode="r+").consolidate_metadata()
    assert (path / "zarr.json").read_bytes() == before


@pytest.mark.parametrize("shards", [None, 4])
def test_the_error_of_a_damaged_chunk_names_the_store_and_how_to_read_the_rest(
    tmp_path: Path, shards: int | None
) -> None:
    path = tmp_path / "s"
    tessarray.create_array(path, data=list(range(8)), chunks=2, shards=shards, zarr_format=3)
    objects = sorted(file for file in (path / "c").iterdir() if file.is_file())
    objects[0].write_bytes(b"\xff" * objects[0].stat().st_size)
    array = tessarray.open_array(path, mode="r")

    def streamed() -> None:
        for _ in array.chunk_stream():
            pass

    for read in (lambda: array[...], lambda: array[:1], streamed):
        with pytest.raises(CorruptError) as caught:
            read()
        message = str(caught.value)
        assert str(path) in message and "c/0" in message and "other chunks can be read" in message
    assert array[4:].tolist() == [4, 5, 6, 7]


def consolidated(folder: Path, zarr_format: int) -> tuple[dict[str, bytes], str, str]:
    """A consolidated store as a mapping, whose members may be far; the key of the copy, and the name of a document."""
    path, document = store(folder, zarr_format)
    tessarray.consolidate_metadata(path)
    held = {
        file.relative_to(path).as_posix(): file.read_bytes() for file in path.rglob("*") if file.is_file()
    }
    return held, "zarr.json" if zarr_format == 3 else ".zmetadata", document.name


def spoil(held: dict[str, bytes], key: str, name: str) -> None:
    """Damage two nodes of the consolidated copy."""
    copy = json.loads(held[key])
    nodes = copy["metadata"] if key == ".zmetadata" else copy["consolidated_metadata"]["metadata"]
    for path in ("v", "below/v"):
        nodes[f"{path}/{name}" if key == ".zmetadata" else path]["shape"] = [-1]
    held[key] = json.dumps(copy).encode()


@pytest.mark.parametrize("zarr_format", [3, 2])
@pytest.mark.parametrize("far", [True, False])
def test_a_damaged_copy_of_a_node_gives_way_to_its_own_document(
    tmp_path: Path, zarr_format: int, far: bool
) -> None:
    held, key, name = consolidated(tmp_path, zarr_format)
    spoil(held, key, name)
    if not far:
        (tmp_path / "s" / key).write_bytes(held[key])
    there: Any = held if far else tmp_path / "s"
    group = tessarray.open_group(there, mode="r")
    assert {path: node[0] for path, node in group.members(max_depth=None) if path != "below"} == {
        "a": 1, "below/b": 5, "below/v": 6, "v": 3,
    }  # fmt: skip
    found = tessarray.check(there)
    assert [(finding.kind, finding.key) for finding in found] == [("metadata", key)] * 2
    assert [part in finding.message for part, finding in zip(("below/v", "v"), found, strict=True)] == [
        True
    ] * 2
    tessarray.consolidate_metadata(there)
    assert tessarray.check(there) == []
    assert tessarray.open_group(there, mode="r")["v"][0] == 3


@pytest.mark.parametrize("zarr_format", [3, 2])
def test_a_node_of_which_there_is_only_a_damaged_copy_is_named(tmp_path: Path, zarr_format: int) -> None:
    held, key, name = consolidated(tmp_path, zarr_format)
    spoil(held, key, name)
    del held[f"v/{name}"], held[f"below/v/{name}"]
    group = tessarray.open_group(held, mode="r")
    assert group["a"][0] == 1
    assert group["below/b"][0] == 5
    for touch in (lambda: group["v"], lambda: group["below/v"], lambda: group["below"]["v"]):
        with pytest.raises(MetadataError, match=r"v.*shape"):
            touch()
    looked = dict(group.look(None))
    assert [path for path, node in looked.items() if isinstance(node, MetadataError)] == ["below/v", "v"]
    assert len(tessarray.check(held)) == 2
    with pytest.raises(tessarray.errors.NotFoundError):
        group["none"]


@pytest.mark.parametrize("zarr_format", [3, 2])
def test_a_copy_that_names_places_outside_of_the_group_is_not_used(tmp_path: Path, zarr_format: int) -> None:
    held, key, _ = consolidated(tmp_path, zarr_format)
    held[key] = held[key].replace(b'"below/v', b'"../v')
    if zarr_format == 3:
        with pytest.raises(MetadataError, match=r"\.\./v"):
            tessarray.open_group(held, mode="r")
    else:
        assert tessarray.open_group(held, mode="r")["below/v"][0] == 6
        assert len(tessarray.check(held)) == 1
