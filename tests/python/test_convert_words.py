"""A conversion does what its arguments say or refuses: chunks that fit nothing, names that match nothing, suffixes."""

from __future__ import annotations

import errno
import re

import netCDF4
import numpy as np
import pytest

import tessarray
from tessarray.cli import main
from tessarray.conversion import NoSpaceError, OptionError, VerificationError
from tessarray.conversion.destinations.base import OTHER_FORMATS
from tessarray.conversion.destinations.netcdf import NetCDFDestination
from tessarray.conversion.destinations.zarr import ZarrDestination

CUBE = np.random.default_rng(1).integers(0, 100, (4, 6, 8), dtype="i4")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "in.nc"
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        for name, extent in zip("tyx", CUBE.shape, strict=True):
            file.createDimension(name, extent)
        file.createVariable("cube", "i4", ("t", "y", "x"))[:] = CUBE
        file.createVariable("field", "i4", ("y", "x"))[:] = CUBE[0]
        file.createVariable("one", "i4", ())[...] = 1
    return path


def refused(arguments, capsys):
    """What the command says, in one line, when it refuses."""
    with pytest.raises(SystemExit) as leaving:
        main([str(argument) for argument in arguments])
    said = capsys.readouterr()
    assert leaving.value.code == 1 and said.out == "" and len(said.err.splitlines()) == 1, said
    return said.err


@pytest.mark.parametrize("what", ["chunks", "shards"])
@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("q=1", r"has no dimension 'q'; there are t, x, y"),
        ("t=1,lat=2", r"has no dimension 'lat'"),
        ("4", r"\(4,\) fits no array .*: expected 0 or 2 or 3 extents, found 1; there are cube \(t=4, y=6, x=8\)"),
        ("1,2,3,4", r"fits no array .* found 4"),
        ("automatic", "expected auto, 10,64,64 or time=10,lat=64"),
    ],
)  # fmt: skip
def test_chunks_and_shards_that_fit_nothing_are_refused_by_dimension(
    tmp_path, source, what, given, says, capsys
):
    target = tmp_path / "out.zarr"
    said = refused(["convert", source, target, f"--{what}", given], capsys)
    assert re.search(says, said), said
    assert not target.exists() and not target.with_name("out.zarr.partial").exists()


@pytest.mark.parametrize(
    "chosen", [{"chunks": "sources"}, {"shards": "source"}, {"chunks": {"t": 1, "T": 1}}]
)
def test_words_and_names_that_mean_nothing_are_refused_in_python(tmp_path, source, chosen):
    with pytest.raises(OptionError, match=r"found 'source|no dimension 'T'"):
        tessarray.convert(source, tmp_path / "out.zarr", **chosen)


def test_chunks_that_fit_one_array_are_its_chunks_and_the_others_are_chosen(tmp_path, source):
    tessarray.convert(source, tmp_path / "out.zarr", chunks=(2, 3), verify=True)
    root = tessarray.open_group(tmp_path / "out.zarr", mode="r")
    assert root["field"].chunks == (2, 3) and root["cube"].chunks == CUBE.shape
    tessarray.convert(source, tmp_path / "named.zarr", chunks={"y": 5}, shards=None, verify=True)
    root = tessarray.open_group(tmp_path / "named.zarr", mode="r")
    assert root["field"].chunks == (5, 8) and root["cube"].chunks == (4, 5, 8)


def test_without_dimension_names_chunks_by_name_are_refused(tmp_path):
    with pytest.raises(OptionError, match="no dimension 'x'; its dimensions have no names: give extents"):
        tessarray.convert({"a": CUBE}, tmp_path / "out.zarr", chunks={"x": 1})


@pytest.mark.parametrize("option", ["include", "exclude"])
def test_names_that_match_nothing_are_refused_with_those_there_are(tmp_path, source, option):
    with pytest.raises(OptionError, match=r"no variable is named 'nope'; there are cube, field, one$"):
        tessarray.convert(source, tmp_path / "out.zarr", **{option: "nope"})
    np.save(tmp_path / "bare.npy", CUBE)
    with pytest.raises(OptionError, match="no variable is named 'nope'; there is one array, without a name"):
        tessarray.convert(tmp_path / "bare.npy", tmp_path / "out.zarr", **{option: "nope"})


def test_leaving_out_every_variable_is_refused(tmp_path, source):
    with pytest.raises(
        OptionError, match="include and exclude leave no variable; there are cube, field, one"
    ):
        tessarray.convert(source, tmp_path / "out.zarr", exclude="*")


@pytest.mark.parametrize("suffix", sorted(OTHER_FORMATS))
def test_a_suffix_of_a_format_that_is_not_written_is_refused(tmp_path, suffix):
    target = tmp_path / f"out{suffix.upper() if len(suffix) == 4 else suffix}"
    with pytest.raises(
        OptionError, match=rf"'\{suffix}' is not written; what can be written is .*\.zarr.*\.nc"
    ):
        tessarray.convert({"a": CUBE}, target)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["out", "run.1", "a.b.zarr", "v1.2", "OUT.ZIP", "out.NC4", "out.pack"])
def test_other_names_are_written(tmp_path, name):
    tessarray.convert({"a": CUBE}, tmp_path / name, verify=True)
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_read_and_copy_refuse_names_of_other_formats(tmp_path, capsys):
    tessarray.save_array(tmp_path / "in.zarr", CUBE)
    for out in ("x.csv", "x.npz", "x.nc", "x.zarr"):
        said = refused(["read", tmp_path / "in.zarr", "--out", tmp_path / out], capsys)
        assert "is not written; what can be written is .npy" in said
    for out in ("x.nc", "x.npy", "x.h5"):
        said = refused(["copy", tmp_path / "in.zarr", tmp_path / out], capsys)
        assert "is not written; what can be written is a folder" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in.zarr"]
    with pytest.raises(SystemExit):
        main(["read", str(tmp_path / "in.zarr"), "--out", str(tmp_path / "new" / "x.npy")])
    assert (np.load(tmp_path / "new" / "x.npy") == CUBE).all()


@pytest.mark.parametrize("name", ["out.zarr", "out.zip", "out.nc", "out.pack"])
def test_folders_above_are_made_and_do_not_stay_if_nothing_comes_of_it(tmp_path, name, monkeypatch):
    tessarray.convert({"a": CUBE}, tmp_path / "kept" / "deep" / name, verify=True)
    assert (tmp_path / "kept" / "deep" / name).exists()
    if name != "out.pack":
        with pytest.raises(OptionError):
            tessarray.convert({"a": CUBE}, tmp_path / "lost" / "deep" / name, chunks=(1,))
        assert not (tmp_path / "lost").exists()
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(OptionError, match=r"the folder .*file cannot be made"):
        tessarray.convert({"a": CUBE}, tmp_path / "file" / name)


@pytest.mark.parametrize("name", ["out.zarr", "out.nc"])
def test_a_full_disk_is_said_with_destination_bytes_and_resume(tmp_path, name, monkeypatch):
    def full(self, path, region, values):
        if path == "b":
            # As the engine has it, and as the netCDF library.
            raise (
                OSError(errno.ENOSPC, "no space left")
                if name == "out.zarr"
                else RuntimeError("NetCDF: HDF error")
            )
        written(self, path, region, values)

    kind = ZarrDestination if name == "out.zarr" else NetCDFDestination
    written = kind.write
    given = {"a": np.ones((1 << 20,), "u1"), "b": np.ones((2 << 20,), "u1")}
    with monkeypatch.context() as patch:
        patch.setattr(kind, "write", full)
        patch.setattr("tessarray.conversion.space._free", lambda folder: 4096)
        with pytest.raises(NoSpaceError) as caught:
            tessarray.convert(given, tmp_path / name, threads=1)
    said = str(caught.value)
    assert caught.value.errno == errno.ENOSPC
    assert said.startswith(str(tmp_path / name)) and "the disk is full: 2.10 MB of values" in said
    assert "4.10 kB free" in said
    if name == "out.zarr":
        assert "--resume" in said and "out.zarr.partial keeps what is done" in said
        report = tessarray.convert(given, tmp_path / name, resume=True, verify=True)
        assert report.resumed_bytes == 1 << 20
    else:
        assert list(tmp_path.iterdir()) == []


def test_an_error_that_is_no_full_disk_stays_what_it_is(tmp_path, monkeypatch):
    def fails(self, path, region, values):
        raise RuntimeError("something else")

    monkeypatch.setattr(ZarrDestination, "write", fails)
    with pytest.raises(RuntimeError, match="something else"):
        tessarray.convert({"a": CUBE}, tmp_path / "out.zarr")


@pytest.mark.parametrize(
    ("value", "says"),
    [(np.int32(-5), "expected -5, found -4"), (np.float32(0.1), "expected 0.1, found 1.1"), ("ab", "expected 'ab'")],
)  # fmt: skip
def test_a_difference_is_said_in_plain_numbers(tmp_path, monkeypatch, value, says):
    written = ZarrDestination.write

    def wrong(self, path, region, values):
        written(self, path, region, values + 1 if values.dtype.kind in "if" else np.full_like(values, "zz"))

    monkeypatch.setattr(ZarrDestination, "write", wrong)
    with pytest.raises(VerificationError, match=says):
        tessarray.convert({"a": np.array([value, value])}, tmp_path / "out.zarr", verify=True)
