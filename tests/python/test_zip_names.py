"""Names in zip files: damage is an error and a finding, never a fill value; names that are there twice are told."""

from __future__ import annotations

import warnings
import zipfile

import numpy as np
import pytest

import tessarray
from tessarray.errors import CorruptError


@pytest.fixture(params=["ours", "zipfile"])
def archive(request, tmp_path):
    path = tmp_path / "a.zip"
    folder = tmp_path / "a.zarr"
    tessarray.create_array(folder, data=np.arange(1, 9), chunks=2)
    if request.param == "ours":
        tessarray.save_array(path, np.arange(1, 9), chunks=2)
    else:
        with zipfile.ZipFile(path, "w") as file:
            for found in sorted(folder.rglob("*")):
                if found.is_file():
                    file.write(found, found.relative_to(folder).as_posix())
    return path


def test_every_flipped_bit_of_the_list_of_names_is_an_error_or_changes_nothing(archive):
    good = archive.read_bytes()
    begin = good.index(b"PK\x01\x02")
    silent = []
    for bit in range(begin * 8, len(good) * 8):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        archive.write_bytes(bad)
        try:
            found = tessarray.open_array(archive, mode="r")[...]
        except (tessarray.TessarrayError, OSError, KeyError):
            continue
        if found.tolist() != list(range(1, 9)):
            silent.append(bit)
    assert not silent


def test_a_damaged_name_is_a_finding(archive):
    bad = bytearray(archive.read_bytes())
    at = bytes(bad).rindex(b"c/1")
    bad[at + 2] = ord("9")
    archive.write_bytes(bad)
    array = tessarray.open_array(archive, mode="r")
    assert array[0] == 1
    with pytest.raises(CorruptError, match="c/9"):
        array[2]
    assert any("c/9" in finding.message for finding in tessarray.check(archive))


def test_names_that_are_there_twice_are_told_and_the_last_value_counts(archive):
    with zipfile.ZipFile(archive, "a") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file.writestr("c/1", file.read("c/0"))
    assert tessarray.open_array(archive, mode="r")[...].tolist() == [1, 2, 1, 2, 5, 6, 7, 8]
    assert tessarray.ZipStore(archive).duplicates() == ["c/1"]
    assert [finding.key for finding in tessarray.check(archive)] == ["c/1"]
