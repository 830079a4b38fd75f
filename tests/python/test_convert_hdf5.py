"""HDF5 and netCDF-4 of every kind: what has a form here is equal, what has none costs itself alone and is listed."""

from __future__ import annotations

import sys
import types

import h5py
import netCDF4
import numpy as np
import pytest
import zarr
from numpy.testing import assert_array_equal
from support import scaled

import tessarray
from tessarray.conversion import FormatError, OptionError, UnsupportedVariableError

RNG = np.random.default_rng(11)
RECORD = np.dtype(
    [("id", ">i4"), ("place", [("x", "<f8"), ("y", "<f8")]), ("name", "S5"), ("rgb", "u1", (3,))]
)
ENUM = h5py.enum_dtype({"calm": 0, "storm": 3}, "i2")


def records(count=6):
    made = np.zeros(count, RECORD)
    made["id"], made["place"]["y"] = np.arange(count) - 2, np.arange(count) / 3
    made["name"], made["rgb"] = b"abc", np.arange(count * 3).reshape(count, 3)
    return made


def lists(dtype="f8"):
    made = np.empty(5, object)
    made[:] = [np.arange(count).astype(dtype) for count in (0, 3, 1, 7, 2)]
    return made


def write_null(file, name):
    file.create_dataset(name, data=h5py.Empty("f4"))
    return lambda found: found.shape == (0,) and found.dtype == np.float32


def write_compound(file, name):
    file[name] = records()

    def check(found):
        got, made = found[...], records()
        return (
            (got["id"] == made["id"]).all()
            and (got["place"]["y"] == made["place"]["y"]).all()
            and (got["name"] == made["name"]).all()
            and all((got["rgb"][str(i)] == made["rgb"][:, i]).all() for i in range(3))
        )

    return check


def write_lists(file, name):
    file.create_dataset(name, data=lists(), dtype=h5py.vlen_dtype(np.dtype(">f8")))

    def check(found):
        kind = found.attrs["numpy_dtype"]
        pairs = zip(found[...], lists("f8"), strict=True)
        return kind == "<f8" and all(np.array_equal(np.frombuffer(got, kind), made) for got, made in pairs)

    return check


def write_enum(file, name):
    file.create_dataset(name, data=np.array([0, 3, 0], "i2"), dtype=ENUM)
    return lambda found: found[...].tolist() == [0, 3, 0]


def write_opaque(file, name):
    raw = np.frombuffer(RNG.bytes(28), "V7")
    kind = h5py.h5t.create(h5py.h5t.OPAQUE, 7)
    kind.set_tag(b"of its own")
    made = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((4,)))
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, raw.copy(), kind)
    return lambda found: found[...].tobytes() == raw.tobytes() and found[1:2].tobytes() == raw[1:2].tobytes()


def write_bitfield(file, name):
    kind = h5py.h5t.STD_B8LE
    made = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((3, 2)))
    values = RNG.integers(0, 255, (3, 2), dtype=np.uint8)
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, values, kind)
    return lambda found: np.array_equal(found[...], values)


def write_references(file, name):
    target = file.create_dataset(f"{name}_target", data=1.0)
    made = file.create_dataset(name, (3,), h5py.ref_dtype)
    made[0], made[2] = target.ref, file.ref
    return lambda found: found[...].tolist() == [f"/{name}_target", "", "/"]


def write_arrays(file, name):
    values = RNG.normal(size=(5, 2, 3)).astype("f4")
    kind = h5py.h5t.array_create(h5py.h5t.NATIVE_FLOAT, (2, 3))
    made = h5py.h5d.create(file.id, name.encode(), kind, h5py.h5s.create_simple((5,)))
    made.write(h5py.h5s.ALL, h5py.h5s.ALL, values, kind)
    return lambda found: np.array_equal(found[...], values)


def write_texts(file, name):
    file.create_dataset(name, data=["a", "", "dreißig"], dtype=h5py.string_dtype())
    return lambda found: found[...].tolist() == ["a", "", "dreißig"]


def write_regions(file, name):
    target = file.create_dataset(f"{name}_target", data=np.arange(4.0))
    made = file.create_dataset(name, (1,), h5py.regionref_dtype)
    made[0] = target.regionref[1:3]


def write_text_fields(file, name):
    kind = np.dtype([("name", h5py.string_dtype()), ("n", "i4")])
    file.create_dataset(name, data=np.array([("x", 1)], kind), dtype=kind)


def write_nested_lists(file, name):
    file.create_dataset(name, (2,), h5py.vlen_dtype(RECORD))


def write_time(file, name):
    h5py.h5d.create(file.id, name.encode(), h5py.h5t.UNIX_D32LE, h5py.h5s.create_simple((2,)))


def write_foreign_filter(file, name):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((2,))
    properties.set_filter(32999, h5py.h5z.FLAG_OPTIONAL, ())
    space = h5py.h5s.create_simple((4,))
    h5py.h5d.create(file.id, name.encode(), h5py.h5t.NATIVE_INT32, space, dcpl=properties)


KEPT = [
    write_null, write_compound, write_lists, write_enum, write_opaque, write_bitfield, write_references, write_arrays,
    write_texts,
]  # fmt: skip
REASONS = {
    write_regions: "references to regions",
    write_text_fields: "field 'name' has variable length",
    write_nested_lists: "variable length of",
    write_time: "not known to NumPy",
    write_foreign_filter: "filter 32999 is not installed",
}


def test_any_mixture_of_types_converts_what_it_can_and_lists_the_rest(tmp_path):
    for number in range(scaled(12)):
        rng = np.random.default_rng(number)
        source, target = tmp_path / f"{number}.h5", tmp_path / f"{number}.zarr"
        expected, refused = {"usual": lambda found: found[...].tolist() == [0, 1, 2]}, {}
        with h5py.File(source, "w", userblock_size=int(rng.choice([0, 512, 4096]))) as file:
            file["usual"] = np.arange(3)
            file.create_group("below/deep")
            for turn, write in enumerate(rng.permutation(np.array([*KEPT, *REASONS], object))[:8]):
                name = f"{rng.choice(['', 'below/', 'below/deep/'])}{write.__name__}_{turn}"
                check = write(file, name)
                if write in REASONS:
                    refused[name] = REASONS[write]
                else:
                    expected[name] = check
        report = tessarray.convert(source, target, verify=True, zarr_format=int(rng.choice([2, 3])))
        root = tessarray.open_group(target, mode="r")
        for path, check in expected.items():
            assert check(root[path]), (number, path)
        assert {one.path for one in report.skipped} == refused.keys(), number
        for one in report.skipped:
            assert refused[one.path] in one.reason
        if refused:
            with pytest.raises(UnsupportedVariableError, match=rf"{source.name}: variable '.*': "):
                tessarray.convert(source, tmp_path / "none.zarr", on_error="fail")
            tessarray.convert(source, tmp_path / f"{number}b.zarr", on_error="fail", exclude=[*refused])


def test_zarr_python_reads_structures_and_bytes_of_any_length(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        write_compound(file, "records")
        write_lists(file, "lists")
    tessarray.convert(tmp_path / "in.h5", tmp_path / "out.zarr", verify=True)
    root = zarr.open_group(tmp_path / "out.zarr", mode="r")
    assert root["records"][...]["id"].tolist() == records()["id"].tolist()
    assert np.frombuffer(root["lists"][...][3], "<f8").tolist() == list(range(7))


def test_what_was_asked_for_by_name_is_never_left_out(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["usual"] = np.arange(3)
        write_regions(file, "regions")
    with pytest.raises(UnsupportedVariableError, match="'regions': references to regions"):
        tessarray.convert(tmp_path / "in.h5", tmp_path / "out.zarr", include=["regions", "usual"])
    with pytest.raises(OptionError, match="on_error: expected 'skip' or 'fail'"):
        tessarray.convert(tmp_path / "in.h5", tmp_path / "out.zarr", on_error="ignore")
    assert not (tmp_path / "out.zarr").exists()


def test_attributes_without_a_form_are_left_out_with_a_warning_each(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["a"] = np.arange(3)
        file["a"].attrs["record"] = records(2)
        file["a"].attrs["one"] = records(1)[0]
        file["a"].attrs["link"] = file["a"].ref
        file["a"].attrs["links"] = np.array([file["a"].ref], h5py.ref_dtype)
        file["a"].attrs["kept"] = ["b", "c"]
    report = tessarray.convert(tmp_path / "in.h5", tmp_path / "out.zarr", verify=True)
    assert dict(tessarray.open_array(tmp_path / "out.zarr", path="a", mode="r").attrs) == {"kept": ["b", "c"]}
    for name in ("record", "one", "link", "links"):
        assert any(f"a: attribute '{name}' is left out" in text for text in report.warnings), name


SECRET = np.arange(64, dtype="u1") + 7


@pytest.fixture
def secret(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    with h5py.File(tmp_path / "elsewhere" / "secret.h5", "w") as file:
        file["key"] = SECRET
    (tmp_path / "elsewhere" / "secret.bin").write_bytes(SECRET.tobytes())
    return tmp_path / "elsewhere"


def link(file, secret):
    file["leak"] = h5py.ExternalLink(secret / "secret.h5", "/key")


def storage(file, secret):
    file.create_dataset("leak", (64,), "u1", external=[(str(secret / "secret.bin"), 0, 64)])


def virtual(file, secret):
    layout = h5py.VirtualLayout((64,), "u1")
    layout[:] = h5py.VirtualSource(str(secret / "secret.h5"), "key", (64,))
    file.create_virtual_dataset("leak", layout)


def virtual_of_storage(file, secret):
    file.create_dataset("behind/storage", (64,), "u1", external=[(str(secret / "secret.bin"), 0, 64)])
    layout = h5py.VirtualLayout((64,), "u1")
    layout[:] = h5py.VirtualSource(".", "behind/storage", (64,))
    file.create_virtual_dataset("leak", layout)


def virtual_of_link(file, secret):
    file["behind"] = h5py.ExternalLink(secret / "secret.h5", "/")
    layout = h5py.VirtualLayout((64,), "u1")
    layout[:] = h5py.VirtualSource(".", "behind/key", (64,))
    file.create_virtual_dataset("leak", layout)


@pytest.mark.parametrize("suffix", ["h5", "nc", "mat"])
@pytest.mark.parametrize("lead", [link, storage, virtual, virtual_of_storage, virtual_of_link])
def test_other_files_of_the_machine_are_read_only_when_asked_for(tmp_path, secret, lead, suffix):
    source = tmp_path / f"in.{suffix}"
    with h5py.File(source, "w", userblock_size=512 if suffix == "mat" else 0) as file:
        file["usual"] = np.arange(3)
        lead(file, secret)
    report = tessarray.convert(source, tmp_path / "out.zarr", verify=True)
    assert "leak" in {one.path for one in report.skipped}
    assert all("another file" in one.reason or "cannot be followed" in one.reason for one in report.skipped)
    root = tessarray.open_group(tmp_path / "out.zarr", mode="r")
    assert "leak" not in root and root["usual"][...].tolist() == [0, 1, 2]
    for path in (tmp_path / "out.zarr").rglob("*"):
        assert path.is_dir() or SECRET.tobytes() not in path.read_bytes()
    tessarray.convert(source, tmp_path / "all.zarr", verify=True, follow_external=True)
    assert_array_equal(tessarray.open_group(tmp_path / "all.zarr", mode="r")["leak"][...], SECRET)


def test_a_virtual_data_set_within_its_file_converts_and_one_whose_source_is_gone_does_not(tmp_path, secret):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["own"] = SECRET
        layout = h5py.VirtualLayout((64,), "u1")
        layout[:] = h5py.VirtualSource(".", "own", (64,))
        file.create_virtual_dataset("within", layout)
        virtual(file, secret)
    (secret / "secret.h5").unlink()
    report = tessarray.convert(tmp_path / "in.h5", tmp_path / "out.zarr", verify=True, follow_external=True)
    assert_array_equal(tessarray.open_group(tmp_path / "out.zarr", mode="r")["within"][...], SECRET)
    (lost,) = report.skipped
    assert lost.path == "leak" and "secret.h5' is not there" in lost.reason


def test_hdf5plugin_is_imported_where_a_filter_is_missing_and_it_is_installed(tmp_path, monkeypatch):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["usual"] = np.arange(3)
        write_foreign_filter(file, "packed")
    monkeypatch.setitem(sys.modules, "hdf5plugin", None)
    (lost,) = tessarray.convert(tmp_path / "in.h5", tmp_path / "a.zarr").skipped
    assert "filter 32999 is not installed: pip install hdf5plugin" in lost.reason
    monkeypatch.setitem(sys.modules, "hdf5plugin", types.ModuleType("hdf5plugin"))
    (lost,) = tessarray.convert(tmp_path / "in.h5", tmp_path / "b.zarr").skipped
    assert "nor is it in hdf5plugin" in lost.reason


def test_types_of_their_own_in_netcdf_4_keep_their_dimensions(tmp_path):
    path = tmp_path / "in.nc"
    with netCDF4.Dataset(path, "w") as file:
        file.createDimension("n", 5)
        kind = np.dtype([("a", "i4"), ("b", "f8")])
        record = file.createVariable("record", file.createCompoundType(kind, "record_t"), ("n",))
        made = np.zeros(5, kind)
        made["a"], made["b"] = np.arange(5), np.arange(5) / 2
        record[:] = made
        ragged = file.createVariable("ragged", file.createVLType("i4", "ragged_t"), ("n",))
        ragged[:] = lists("i4")
        usual = file.createVariable("usual", "f4", ("n",))
        usual.units = "K"
        usual[:] = np.arange(5)
        file.createVariable("words", str, ("n",))[:] = np.array(list("abcde"), object)
    with h5py.File(path, "a") as file:
        write_opaque(file, "opaque")
        write_regions(file, "regions")
    report = tessarray.convert(path, tmp_path / "out.zarr", verify=True)
    root = tessarray.open_group(tmp_path / "out.zarr", mode="r")
    assert [one.path for one in report.skipped] == ["regions"]
    assert root["record"].dimension_names == root["ragged"].dimension_names == ("n",)
    assert_array_equal(root["record"][...], made)
    assert np.frombuffer(root["ragged"][...][3], "<i4").tolist() == list(range(7))
    assert root["usual"].attrs["units"] == "K" and root["words"][...].tolist() == list("abcde")
    assert root["opaque"].shape == (4,)


def test_names_of_netcdf_3_that_count_their_nul_end_before_it(tmp_path):
    with netCDF4.Dataset(tmp_path / "in.nc", "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("yyy", 3)
        file.createVariable("abc", "i4", ("yyy",))[:] = [1, 2, 3]
        file.createVariable("yyy", "i4", ("yyy",))[:] = [4, 5, 6]
    raw = (tmp_path / "in.nc").read_bytes()
    for name in (b"abc", b"yyy"):
        assert b"\0\0\0\3" + name + b"\0" in raw
        raw = raw.replace(b"\0\0\0\3" + name + b"\0", b"\0\0\0\4" + name + b"\0")
    (tmp_path / "in.nc").write_bytes(raw)
    tessarray.convert(tmp_path / "in.nc", tmp_path / "out.zarr", verify=True)
    root = tessarray.open_group(tmp_path / "out.zarr", mode="r")
    assert root["abc"].dimension_names == ("yyy",) and root["yyy"][...].tolist() == [4, 5, 6]


def test_damage_is_never_left_out_in_silence(tmp_path):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file["good"] = np.arange(1000)
        file.create_dataset("bad", data=np.arange(1000), chunks=(100,), compression=1)
        at = file["bad"].id.get_chunk_info(3).byte_offset
    raw = bytearray((tmp_path / "in.h5").read_bytes())
    raw[at : at + 40] = bytes(40)
    (tmp_path / "in.h5").write_bytes(raw)
    with pytest.raises(
        FormatError, match=r"in\.h5: dataset 'bad' cannot be read: .*leave it out with exclude"
    ):
        tessarray.convert(tmp_path / "in.h5", tmp_path / "out.zarr")
    assert tessarray.convert(tmp_path / "in.h5", tmp_path / "b.zarr", exclude="bad", verify=True).arrays == 1
