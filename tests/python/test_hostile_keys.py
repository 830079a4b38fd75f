"""No key, link, consolidated entry or zip name leads out of the root; each gives a typed error."""

from __future__ import annotations

import contextlib
import json
import sys
import zipfile

import hostile
import pytest
from hostile import MIB, document, make
from support import in_new_process

import tessarray
from tessarray.errors import TessarrayError

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="peaks of memory are read from /proc")


@pytest.fixture
def beside_a_secret(tmp_path):
    """A group whose folder stands beside an array that is not part of it."""
    make(tmp_path / "secret", document(), c_0_0=bytes([42]) * 256)
    group = tessarray.create_group(tmp_path / "root")
    group.create_array("a", shape=(4,), chunks=(2,), dtype="int32")[...] = 1
    return group


@pytest.mark.parametrize("key", hostile.BAD_KEYS)
def test_a_member_name_that_leaves_the_root_or_is_none_is_refused(beside_a_secret, key, tmp_path):
    group = beside_a_secret
    with pytest.raises((TessarrayError, KeyError)):
        group[key]
    with pytest.raises((TessarrayError, KeyError)):
        del group[key]
    try:
        group.create_array(key, shape=(1,), chunks=(1,), dtype="int8")
    except (TessarrayError, KeyError):
        pass
    else:
        assert key.startswith("/"), (
            "a leading slash means the group itself, as in zarr-python; nothing else is taken"
        )
        assert (tmp_path / "root" / key.strip("/") / "zarr.json").is_file()
    assert (tmp_path / "secret" / "c" / "0" / "0").read_bytes() == bytes([42]) * 256
    assert sorted(item.name for item in tmp_path.iterdir()) == ["root", "secret"]


@pytest.mark.parametrize("key", hostile.BAD_KEYS)
@pytest.mark.parametrize("kind", ["local", "memory", "mapping"])
def test_a_store_refuses_a_key_that_leaves_the_root_or_is_none(tmp_path, kind, key):
    (tmp_path / "secret").write_bytes(b"42")
    made = {
        "local": lambda: tessarray.LocalStore(tmp_path / "root"),
        "memory": tessarray.MemoryStore,
        "mapping": lambda: tessarray.MappingStore({}),
    }
    store = made[kind]()
    for action in (lambda: store.get(key), lambda: store.put(key, b"x"), lambda: store.delete(key)):
        with pytest.raises(TessarrayError):
            action()
    assert (tmp_path / "secret").read_bytes() == b"42"


@pytest.mark.skipif(sys.platform == "win32", reason="symbolic links want rights on Windows")
@pytest.mark.parametrize("what", ["chunk", "folder", "array", "metadata"])
def test_a_symbolic_link_out_of_the_root_is_refused(beside_a_secret, tmp_path, what):
    root, secret = tmp_path / "root", tmp_path / "secret"
    if what == "array":
        (root / "link").symlink_to(secret)
    else:
        make(root / "link", document())
        if what == "chunk":
            (root / "link" / "c" / "0").mkdir(parents=True)
            (root / "link" / "c" / "0" / "0").symlink_to(secret / "c" / "0" / "0")
        elif what == "folder":
            (root / "link" / "c").symlink_to(secret / "c")
        else:
            (root / "link" / "zarr.json").unlink()
            (root / "link" / "zarr.json").symlink_to(secret / "zarr.json")
    with pytest.raises(TessarrayError, match="link"):
        tessarray.open_group(root, mode="r")["link"][...]
    # A write may be refused, or replace the link itself; it never goes through it.
    with contextlib.suppress(TessarrayError):
        tessarray.open_group(root, mode="r+")["link"][...] = 1
    assert (secret / "c" / "0" / "0").read_bytes() == bytes([42]) * 256


def consolidated(path: str) -> dict:
    return {
        "zarr_format": 3,
        "node_type": "group",
        "attributes": {},
        "consolidated_metadata": {
            "kind": "inline",
            "must_understand": False,
            "metadata": {"good": document(), path: document()},
        },
    }


@pytest.mark.parametrize("key", ["../secret", "/etc", "a/../../secret", "a//b"])
def test_a_consolidated_key_that_leaves_the_root_is_refused(tmp_path, key):
    make(tmp_path / "secret", document(), c_0_0=bytes([42]) * 256)
    path = make(tmp_path / "root", consolidated(key))
    with pytest.raises((TessarrayError, KeyError)):
        tessarray.open_group(path, mode="r")[key][...]


@pytest.mark.parametrize("name", ["../secret", "/abs/zarr.json", "a/../../b"])
def test_a_zip_with_a_name_that_leaves_the_root_is_refused_or_passed_over(tmp_path, name):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("zarr.json", json.dumps(document()))
        archive.writestr(name, "evil")
    try:
        found = tessarray.open_array(path, mode="r")[...]
    except TessarrayError:
        pass
    else:
        assert (found == 0).all()
    assert [item.name for item in tmp_path.iterdir()] == ["a.zip"]


def test_a_zip_cut_anywhere_is_refused(tmp_path):
    path = tmp_path / "a.zip"
    array = tessarray.create_array(path, shape=(16,), chunks=(4,), dtype="int32")
    array[...] = 5
    del array
    whole = path.read_bytes()
    for length in range(0, len(whole), 7):
        cut = tmp_path / f"{length}.zip"
        cut.write_bytes(whole[:length])
        with pytest.raises(TessarrayError):
            tessarray.open_array(cut, mode="r")[...]


@linux_only
def test_a_zip_bomb_is_refused_within_32_mib(tmp_path):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zarr.json", json.dumps(document()))
        archive.writestr("c/0/0", bytes(256 * MIB))
    found = in_new_process(
        """
        before = reset_peak()
        try:
            tessarray.open_array(sys.argv[1], mode="r")[...]
            kind = "none"
        except tessarray.errors.TessarrayError as error:
            kind = type(error).__name__
        answer(kind=kind, extra=peak() - before)
        """,
        path,
    )
    assert found["kind"] != "none"
    assert found["extra"] <= 32 * MIB
