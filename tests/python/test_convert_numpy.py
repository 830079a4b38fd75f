"""Broken `.npy` and `.npz` files: one kind of error that names the file, whatever NumPy or zipfile stumble over."""

from __future__ import annotations

import contextlib
import io
import random
import zipfile

import numpy as np
import pytest
from support import SCALE

import tessarray
from tessarray.conversion import ConversionError

VALUES = np.arange(60, dtype="<i4").reshape(5, 12)


def npy(values=VALUES) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


def attempt(path, folder) -> None:
    """Converts, or fails as a conversion fails."""
    with contextlib.suppress(ConversionError):
        tessarray.convert(path, folder / "out.zarr", overwrite=True)


@pytest.mark.parametrize("suffix", ["npy", "npz"])
def test_headers_changed_at_random_are_errors_of_a_conversion(tmp_path, suffix):
    random.seed(7)
    whole = npy()
    path = tmp_path / f"in.{suffix}"
    for _ in range(int(150 * SCALE)):
        data = bytearray(whole)
        for _ in range(random.randint(1, 3)):
            data[random.randrange(8, 128)] = random.choice(
                b"(){}[]'\"\\,:0123456789<|OV\n\0 \xff" + bytes([random.randrange(256)])
            )
        if suffix == "npy":
            path.write_bytes(data)
        else:
            with zipfile.ZipFile(
                path, "w", random.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
            ) as archive:
                archive.writestr("a.npy", bytes(data))
        attempt(path, tmp_path)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<i4', 'fortran_order': False, 'shape': (5, 12",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (5, -12)}",
        "{'descr': '<i4', 'fortran_order': False, 'shape': (5, 1208925819614629174706176)}",
        "{'descr': [('a', '<i4', -3)], 'fortran_order': False, 'shape': (5,)}",
        "{'descr': {}, 'fortran_order': 3, 'shape': 7}",
        "{1: 2, 'descr': '<i4'}",
        "(" * 3000,
        '"""',
        "",
    ],
)
def test_headers_that_are_no_header_are_errors_of_a_conversion(tmp_path, header):
    text = header.encode().ljust(118) + b"\n"
    data = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text + bytes(240)
    path = tmp_path / "in.npy"
    path.write_bytes(data)
    with pytest.raises(ConversionError, match=r"in\.npy"):
        tessarray.convert(path, tmp_path / "out.zarr")


def test_a_member_that_is_longer_or_shorter_than_its_array_is_an_error(tmp_path):
    path = tmp_path / "in.npz"
    for data in (npy()[:-4], npy() + b"more"):
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.npy", data)
            archive.writestr("b.npy", npy())
        with pytest.raises(ConversionError, match=r"a\.npy.*expected 368 bytes"):
            tessarray.convert(path, tmp_path / "out.zarr")
