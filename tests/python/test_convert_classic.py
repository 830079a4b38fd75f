"""netCDF-3 files, read as the netCDF library reads them."""

from __future__ import annotations

import random
from pathlib import Path

import netCDF4
import numpy as np
import pytest

from tessarray.conversion import ConversionError
from tessarray.conversion.sources import classic, open_source
from tessarray.conversion.sources.classic import ClassicSource
from tessarray.conversion.sources.netcdf import NetCDFSource

FORMATS = ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA")
PLAIN = ("i1", "i2", "i4", "f4", "f8", "S1")
WIDE = (*PLAIN, "u1", "u2", "u4", "i8", "u8")


def values(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    count = int(np.prod(shape))
    if dtype == "S1":
        return np.frombuffer(bytes(65 + i % 26 for i in range(count)), "S1").reshape(shape)
    return (np.arange(count) * 37 % 251 - (0 if dtype[0] == "u" else 120)).astype(dtype).reshape(shape)


def write(path: Path, format: str, records: int, kinds: tuple[str, ...]) -> None:
    with netCDF4.Dataset(path, "w", format=format) as file:
        file.title, file.number, file.many = "Größe \u00b0", np.int16(7), np.array([1.5, 2.5], "f4")
        file.empty = ""
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createDimension("y", 5)
        for kind in kinds:
            fill = b"-" if kind == "S1" else np.dtype(kind).type(99)
            flat = file.createVariable(f"flat_{kind}", kind, ("x", "y"), fill_value=fill)
            flat[:] = values((3, 5), kind)
            flat.units = "m s-1"
            scalar = file.createVariable(f"scalar_{kind}", kind, ())
            scalar[...] = values((1,), kind)[0]
            moving = file.createVariable(f"moving_{kind}", kind, ("time", "x"))
            moving.scale_factor = 0.5
            file.set_auto_maskandscale(False)
            moving[:] = values((records, 3), kind)
            file.createVariable(f"unwritten_{kind}", kind, ("time",))


def same(found: object, expected: object) -> bool:
    if type(found) is not type(expected):
        return False
    if isinstance(expected, np.ndarray | np.generic):
        return found.dtype == expected.dtype and np.array_equal(found, expected)  # type: ignore[attr-defined]
    return found == expected


def compare(path: Path) -> None:
    found, expected = open_source(path), NetCDFSource(path)
    assert isinstance(found, ClassicSource)
    assert found.kind == expected.kind
    for group, like in zip(found.groups(), expected.groups(), strict=True):
        assert (group.path, tuple(group.unlimited)) == (like.path, tuple(like.unlimited))
        assert list(group.attrs) == list(like.attrs)
        assert all(same(group.attrs[key], value) for key, value in like.attrs.items())
    for spec, like in zip(found.arrays(), expected.arrays(), strict=True):
        assert (spec.path, spec.shape, spec.dtype, spec.dims) == (
            like.path,
            like.shape,
            like.dtype,
            like.dims,
        )
        assert list(spec.attrs) == list(like.attrs)
        assert all(same(spec.attrs[key], value) for key, value in like.attrs.items())
        assert same(spec.fill_value, like.fill_value)
        for region in (
            tuple(slice(0, n) for n in spec.shape),
            tuple(slice(n // 3, n - n // 4) for n in spec.shape),
        ):
            one, other = found.read(spec.path, region), expected.read(spec.path, region)
            assert (one.dtype, one.shape, one.tobytes()) == (other.dtype, other.shape, other.tobytes()), (
                spec.path
            )
    found.close()
    expected.close()


@pytest.mark.parametrize("format", FORMATS)
@pytest.mark.parametrize("records", [0, 1, 7])
def test_a_file_is_what_the_library_says(tmp_path, format, records):
    write(tmp_path / "a.nc", format, records, WIDE if format.endswith("DATA") else PLAIN)
    compare(tmp_path / "a.nc")


@pytest.mark.parametrize("kind", ["i1", "S1", "i2", "f8"])
def test_a_record_variable_alone_is_not_filled_up(tmp_path, kind):
    with netCDF4.Dataset(tmp_path / "a.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("time", None)
        file.createDimension("x", 3)
        file.createVariable("v", kind, ("time", "x"))[:] = values((9, 3), kind)
    compare(tmp_path / "a.nc")


def test_a_file_without_anything_and_one_that_is_mapped(tmp_path, monkeypatch):
    netCDF4.Dataset(tmp_path / "none.nc", "w", format="NETCDF3_CLASSIC").close()
    compare(tmp_path / "none.nc")
    monkeypatch.setattr(classic, "WHOLE", 0)
    write(tmp_path / "a.nc", "NETCDF3_CLASSIC", 7, PLAIN)
    compare(tmp_path / "a.nc")


def test_a_file_that_is_being_written_has_the_records_that_are_there(tmp_path):
    write(tmp_path / "a.nc", "NETCDF3_CLASSIC", 4, ("f4", "f8"))
    raw = bytearray((tmp_path / "a.nc").read_bytes())
    assert raw[4:8] == b"\0\0\0\4"
    raw[4:8] = b"\xff\xff\xff\xff"
    (tmp_path / "b.nc").write_bytes(raw)
    assert open_source(tmp_path / "b.nc").read("moving_f4", (slice(None), slice(None))).shape == (4, 3)


def test_a_truncated_file_names_the_variable(tmp_path):
    write(tmp_path / "a.nc", "NETCDF3_CLASSIC", 7, PLAIN)
    raw = (tmp_path / "a.nc").read_bytes()
    (tmp_path / "b.nc").write_bytes(raw[:-80])
    source = open_source(tmp_path / "b.nc")
    source.read("flat_i1", (slice(None), slice(None)))
    with pytest.raises(
        ConversionError, match=r"'moving_f8' cannot be read: the file is truncated: expected \d+"
    ):
        source.read("moving_f8", (slice(None), slice(None)))


def test_damaged_headers_are_refused_and_nothing_else(tmp_path):
    write(tmp_path / "a.nc", "NETCDF3_CLASSIC", 3, PLAIN)
    raw = (tmp_path / "a.nc").read_bytes()
    rng, refused = random.Random(5), []
    for turn in range(600):
        damaged = bytearray(raw)
        if turn % 3 == 0:
            del damaged[rng.randrange(8, len(raw) // 2) :]
        for _ in range(rng.randrange(4)):
            at = rng.randrange(4, len(damaged))
            damaged[at] = rng.choice((0, 1, 127, 255, rng.randrange(256)))
        (tmp_path / "b.nc").write_bytes(damaged)
        try:
            source = open_source(tmp_path / "b.nc")
            for spec in source.arrays():
                if np.prod(spec.shape, dtype=float) < 1e6:
                    source.read(spec.path, tuple(slice(0, n) for n in spec.shape))
        except ConversionError as error:
            refused.append(str(error))
    assert len(refused) > 150
    assert all("b.nc" in error for error in refused)
