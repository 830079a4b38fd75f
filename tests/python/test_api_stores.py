"""The Python API: stores, and the package itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import zarr

import tessarray
from tessarray.errors import InvalidArgumentError, NotFoundError


def in_dict(tmp_path):
    return {}


def in_memory(tmp_path):
    return tessarray.MemoryStore()


def in_folder(tmp_path):
    return tmp_path / "a"


def in_folder_by_text(tmp_path):
    return str(tmp_path / "a")


def in_local_store(tmp_path):
    return tessarray.LocalStore(tmp_path / "a")


def in_zip(tmp_path):
    return tmp_path / "a.zip"


def in_fsspec(tmp_path):
    fsspec = pytest.importorskip("fsspec")
    return fsspec.get_mapper(f"file://{tmp_path}/a", create=True)


STORES = [in_dict, in_memory, in_folder, in_folder_by_text, in_local_store, in_zip, in_fsspec]


@pytest.mark.parametrize("make", STORES, ids=lambda make: make.__name__)
def test_every_store_keeps_an_array_and_a_group(tmp_path, make):
    store = make(tmp_path)
    root = tessarray.create_group(store)
    array = root.create_array("x/a", shape=(10, 10), chunks=(3, 3), shards=(6, 6), dtype="int32")
    values = np.arange(100).reshape(10, 10)
    array[...] = values
    array[2:4, 5:9] = -1
    values[2:4, 5:9] = -1
    array.append(np.ones((2, 10), "int32"), axis=0)
    del array, root
    group = tessarray.open_group(store, mode="r")
    found = group["x/a"][...]
    np.testing.assert_array_equal(found[:10], values)
    assert (found[10:] == 1).all()
    assert list(group) == ["x"]


def test_a_zip_that_zarr_python_wrote_is_read_and_the_other_way_round(tmp_path):
    store = zarr.storage.ZipStore(tmp_path / "theirs.zip", mode="w")
    theirs = zarr.create_array(store, shape=(5,), chunks=(2,), dtype="int32")
    theirs[...] = [1, 2, 3, 4, 5]
    store.close()
    assert tessarray.open_array(tmp_path / "theirs.zip", mode="r")[...].tolist() == [1, 2, 3, 4, 5]
    ours = tessarray.create_array(tmp_path / "ours.zip", shape=(5,), chunks=(2,), dtype="int32")
    ours[...] = [5, 4, 3, 2, 1]
    del ours
    store = zarr.storage.ZipStore(tmp_path / "ours.zip", mode="r")
    assert zarr.open_array(store, mode="r")[...].tolist() == [5, 4, 3, 2, 1]


def test_a_name_puts_the_array_into_a_store_of_many(tmp_path):
    for name in ("one", "deep/two"):
        tessarray.create_array(tmp_path, name=name, shape=(3,), chunks=(2,), dtype="int32")[...] = 4
    assert tessarray.open_array(tmp_path / "deep" / "two", mode="r")[...].tolist() == [4, 4, 4]


def test_the_package_says_its_version_and_is_typed():
    from importlib.metadata import version
    from importlib.resources import files

    assert tessarray.__version__ == version("tessarray")
    assert files("tessarray").joinpath("py.typed").is_file()
    assert files("tessarray").joinpath("_native/__init__.pyi").is_file()


def test_everything_the_package_exports_exists_and_is_documented():
    for name in tessarray.__all__:
        item = getattr(tessarray, name)
        if callable(item):
            assert item.__doc__, name


def test_importing_the_package_loads_no_other_array_library():
    from support import in_new_process

    found = in_new_process("answer(loaded=sorted(sys.modules))")["loaded"]
    for heavy in ("zarr", "xarray", "pandas", "netCDF4", "h5py", "dask", "matplotlib", "typer", "numcodecs"):
        assert heavy not in found


def test_threads_can_be_set_by_the_session_and_by_the_environment():
    from support import in_new_process

    assert tessarray.Session(threads=3).threads == 3
    code = "answer(threads=tessarray.Session().threads)"
    assert in_new_process(code, TESSARRAY_THREADS="5")["threads"] == 5


@pytest.mark.parametrize("store", [{}, "typo.zarr", "typo.zip", "~/typo.zarr", "typo.zarr/inner"], ids=str)
def test_opening_creates_nothing_unless_told(
    store: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for opened in (tessarray.open, tessarray.open_group):
        with pytest.raises(NotFoundError, match=r"to create it: .*create_group, or mode='a'"):
            opened(store)
    assert store == {} or not list(tmp_path.iterdir())
    group = tessarray.create_group(tmp_path / "x.zarr")
    with pytest.raises(NotFoundError, match='no array or group at "typo"'):
        tessarray.open(group.store, path="typo")
    assert "typo" not in group
    assert tessarray.open({}, shape=3, dtype="i4").shape == (3,)
    assert tessarray.open_group({}, attributes={"n": 1}).attrs["n"] == 1
    assert isinstance(tessarray.open({}, mode="a"), tessarray.Group)


def test_home_folders_and_file_addresses_are_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    tessarray.create_array("~/a.zarr", shape=3, dtype="i4")
    tessarray.create_pack("~/p.pack")
    tessarray.create_collection((tmp_path / "c d.pack").as_uri())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zarr", "c d.pack", "p.pack"]
    for address in ("~/a.zarr", (tmp_path / "a.zarr").as_uri()):
        assert tessarray.open(address).shape == (3,)
    assert tessarray.open_pack((tmp_path / "p.pack").as_uri()).path == str(tmp_path / "p.pack")
    assert len(tessarray.open_collection("~/c d.pack")) == 0
    for address in ("s3://bucket/x", "https://host/x.pack", Path("s3://bucket/x")):
        for opened in (tessarray.open, tessarray.open_pack, tessarray.create_pack, tessarray.open_collection):
            with pytest.raises(InvalidArgumentError, match=r"not supported yet: .*fsspec.get_mapper"):
                opened(address)
