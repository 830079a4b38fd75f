"""Every kind of source converts, verified, and reads back equal; and netCDF-4 comes back out."""

from __future__ import annotations

import zipfile
from concurrent.futures import ThreadPoolExecutor

import h5py
import netCDF4
import numpy as np
import pytest
import tifffile
import xarray
import zarr
from numpy.testing import assert_array_equal

import tessarray
from tessarray.conversion.sources.numpy import NpzSource

RNG = np.random.default_rng(7)
CUBE = RNG.integers(-3000, 3000, (7, 13, 11), dtype=np.int16)
FIELD = RNG.normal(280, 10, (13, 11)).astype(np.float32)
FIELD[0, :3] = [np.nan, np.inf, -0.0]


def write_netcdf3(path) -> None:
    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        for name, extent in (("time", None), ("y", 13), ("x", 11), ("letters", 8)):
            file.createDimension(name, extent)
        cube = file.createVariable("cube", "i2", ("time", "y", "x"), fill_value=np.int16(-32768))
        cube.set_auto_maskandscale(False)
        cube.setncatts({"scale_factor": 0.01, "add_offset": 273.15, "units": "K"})
        cube[:] = CUBE
        file.createVariable("field", "f4", ("y", "x"))[:] = FIELD
        text = file.createVariable("name", "S1", ("y", "letters"))
        text.set_auto_chartostring(False)
        text[:] = np.array([f"row {row}" for row in range(13)], "S8").view("S1").reshape(13, 8)
        time = file.createVariable("time", "f8", ("time",))
        time.setncatts({"units": "hours since 2001-02-03 04:00", "calendar": "standard"})
        time[:] = np.arange(7) * 6
        file.createVariable("one", "i4", ())[...] = 42
        file.title = "three"


def write_netcdf4(path) -> None:
    with netCDF4.Dataset(path, "w", format="NETCDF4") as file:
        file.title = "four"
        file.setncatts(
            {"missing": np.float64("nan"), "pair": np.array([1, 2], "i4"), "half": np.float32(0.1)}
        )
        file.createDimension("time", None)
        file.createDimension("y", 13)
        time = file.createVariable("time", "i8", ("time",))
        time.setncatts({"units": "days since 1970-01-01", "calendar": "proleptic_gregorian"})
        time[:] = np.arange(7)
        wind = file.createGroup("wind")
        wind.createDimension("x", 11)
        wind.comment = "below"
        u = wind.createVariable(
            "u", "i2", ("time", "y", "x"), zlib=True, chunksizes=(2, 13, 5), fill_value=np.int16(-1)
        )
        u.set_auto_maskandscale(False)
        u.setncatts({"scale_factor": 0.5, "add_offset": 1.0, "valid_range": np.array([-3000, 3000], "i2")})
        u[:] = CUBE
        deep = wind.createGroup("deep")
        field = deep.createVariable("field", "f4", ("y", "x"), fill_value=np.float32("nan"))
        field.limit = np.float32("inf")
        field[:] = FIELD
        file.createVariable("label", str, ("y",))[:] = np.array(
            [f"ünit {row}" * (row % 3) for row in range(13)], object
        )
        file.createDimension("letters", 4)
        code = file.createVariable("code", "S1", ("y", "letters"))
        code.set_auto_chartostring(False)
        code[:] = np.array([f"c{row}" for row in range(13)], "S4").view("S1").reshape(13, 4)
        for kind in ("i1", "u1", "u2", "u4", "i8", "u8", "f8"):
            file.createVariable(f"kind_{kind}", kind, ("y",))[:] = np.arange(13)
        file.createVariable("empty", "f8", ("y",))


def write_hdf5(path) -> None:
    with h5py.File(path, "w") as file:
        file.attrs["title"] = "five"
        file.attrs["numbers"] = np.array([1.5, np.nan])
        x = file.create_dataset("x", data=np.arange(11.0))
        x.make_scale("x")
        cube = file.create_dataset(
            "group/cube", data=CUBE, chunks=(3, 5, 11), compression="gzip", shuffle=True
        )
        cube.attrs["units"] = "K"
        cube.dims[2].attach_scale(x)
        cube.dims[0].label, cube.dims[1].label = "time", "y"
        file["group/field"] = FIELD
        file["big_endian"] = FIELD.astype(">f8")
        file["half"] = FIELD.astype("f2")
        file["flags"] = CUBE[0] > 0
        file["complex"] = FIELD[1:].astype("c8") * 1j
        file["words"] = np.array(["a", "bc", "", "déf"], h5py.string_dtype())
        file["fixed"] = np.array([b"ab", b"c"], "S3")
        file["scalar"] = 3.5


NETCDF = {"netCDF-3": write_netcdf3, "netCDF-4": write_netcdf4}


def leaves(node, prefix=""):
    """Every array below a node, by path."""
    if isinstance(node, tessarray.Array):
        return {prefix: node}
    found = {}
    for name, child in node.members():
        found |= leaves(child, f"{prefix}/{name}" if prefix else name)
    return found


def netcdf_leaves(group, prefix=""):
    """Raw values and attributes of every variable below a group of a netCDF file, by path."""
    group.set_auto_maskandscale(False)
    group.set_auto_chartostring(False)
    found = {
        f"{prefix}{name}": (np.asarray(variable[...]), variable.__dict__, variable.dimensions)
        for name, variable in group.variables.items()
    }
    for name, child in group.groups.items():
        found |= netcdf_leaves(child, f"{prefix}{name}/")
    return found


def equal_attributes(left, right) -> None:
    """Equal names, values and, of numbers, NumPy types."""
    assert left.keys() == right.keys()
    for name, value in left.items():
        assert_array_equal(np.asarray(value), np.asarray(right[name]), err_msg=name)
        assert np.asarray(value).dtype == np.asarray(right[name]).dtype, name


@pytest.mark.parametrize("suffix", ["zarr", "zarr.zip"])
@pytest.mark.parametrize("kind", NETCDF)
def test_netcdf_converts_with_every_value_and_dimension(tmp_path, kind, suffix):
    source, target = tmp_path / "in.nc", tmp_path / f"out.{suffix}"
    NETCDF[kind](source)
    report = tessarray.convert(source, target, verify=True)
    with netCDF4.Dataset(source) as file:
        expected = netcdf_leaves(file)
    found = leaves(tessarray.open(target, mode="r"))
    assert found.keys() == expected.keys()
    assert report.verified and report.arrays == len(expected)
    for path, (values, _, dimensions) in expected.items():
        assert_array_equal(np.asarray(found[path][...]).astype(values.dtype), values, err_msg=path)
        assert tuple(found[path].dimension_names or ()) == dimensions, path
    assert sorted(item.name for item in tmp_path.iterdir()) == sorted(["in.nc", target.name])


@pytest.mark.parametrize("zarr_format", [2, 3])
@pytest.mark.parametrize("kind", NETCDF)
def test_xarray_sees_no_difference_between_a_netcdf_file_and_its_copy(tmp_path, kind, zarr_format):
    source, target = tmp_path / "in.nc", tmp_path / "out.zarr"
    NETCDF[kind](source)
    tessarray.convert(source, target, verify=True, zarr_format=zarr_format)
    groups = [None] if kind == "netCDF-3" else [None, "wind", "wind/deep"]
    for group in groups:
        with (
            xarray.open_dataset(source, group=group, engine="netcdf4") as before,
            xarray.open_dataset(target, group=group, engine="tessarray") as ours,
            xarray.open_zarr(target, group=group, chunks=None) as theirs,
        ):
            xarray.testing.assert_identical(before.load(), ours.load())
            # JSON has no NaN: who does not know our list of places sees the text.
            for found in (before, *before.variables.values()):
                found.attrs |= {
                    name: {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(float(value))]
                    for name, value in found.attrs.items()
                    if isinstance(value, float | np.floating) and not np.isfinite(value)
                }
            xarray.testing.assert_identical(before, theirs.load())


@pytest.mark.parametrize("kind", NETCDF)
def test_back_in_netcdf_4_values_attributes_and_dimensions_are_the_first_files(tmp_path, kind):
    source, back = tmp_path / "in.nc", tmp_path / "back.nc"
    NETCDF[kind](source)
    tessarray.convert(source, tmp_path / "out.zarr")
    tessarray.convert(tmp_path / "out.zarr", back, verify=True)
    with netCDF4.Dataset(source) as first, netCDF4.Dataset(back) as last:
        assert last.data_model == "NETCDF4"
        equal_attributes(first.__dict__, last.__dict__)
        before, after = netcdf_leaves(first), netcdf_leaves(last)
        assert before.keys() == after.keys()
        for path, (values, attributes, dimensions) in before.items():
            assert_array_equal(after[path][0], values, err_msg=path)
            assert after[path][0].dtype == values.dtype, path
            assert after[path][2] == dimensions, path
            equal_attributes(attributes, after[path][1])
        assert last.dimensions["time"].isunlimited() and not last.dimensions["y"].isunlimited()


def test_hdf5_converts_with_groups_attributes_and_scales_as_dimensions(tmp_path):
    source, target = tmp_path / "in.h5", tmp_path / "out.zarr"
    write_hdf5(source)
    tessarray.convert(source, target, verify=True)
    root = tessarray.open_group(target, mode="r")
    found = leaves(root)
    with h5py.File(source) as file:
        for path, array in found.items():
            held = file[path]
            values = held.asstr()[...] if path == "words" else held[()]
            assert_array_equal(np.asarray(array[...]), values, err_msg=path)
        assert found.keys() == {"x", "group/cube", "group/field", *(set(file) - {"group", "x"})}
    assert found["group/cube"].dimension_names == ("time", "y", "x")
    assert found["group/cube"].attrs["units"] == "K"
    assert root.attrs["title"] == "five"
    assert root.attrs["numbers"][0] == 1.5 and np.isnan(root.attrs["numbers"][1])
    assert found["big_endian"].dtype == np.float64 and found["flags"].dtype == bool


@pytest.mark.parametrize("packed", [False, True], ids=["dir", "zip"])
@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_written_by_zarr_python_converts(tmp_path, zarr_format, packed):
    source = tmp_path / ("in.zarr.zip" if packed else "in.zarr")
    store = zarr.storage.ZipStore(source, mode="w") if packed else zarr.storage.LocalStore(source)
    root = zarr.open_group(store, mode="w", zarr_format=zarr_format, attributes={"title": "group"})
    cube = root.create_array(
        "a/cube", shape=CUBE.shape, dtype="i2", chunks=(5, 5, 4), fill_value=-7, attributes={"units": "K"}
    )
    cube[:5] = CUBE[:5]
    field = root.create_array("field", shape=FIELD.shape, dtype="f4", chunks=(5, 5), fill_value=np.nan)
    field[...] = FIELD
    store.close()
    tessarray.convert(source, tmp_path / "out.zarr", verify=True)
    found = tessarray.open_group(tmp_path / "out.zarr", mode="r")
    assert_array_equal(found["a/cube"][:5], CUBE[:5])
    assert (found["a/cube"][5:] == -7).all() and found["a/cube"].fill_value == -7
    assert_array_equal(found["field"][...], FIELD)
    assert found.attrs["title"] == "group" and found["a/cube"].attrs["units"] == "K"


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_the_result_is_read_equal_by_zarr_python(tmp_path, zarr_format):
    tessarray.convert({"wind/u": CUBE, "field": FIELD}, tmp_path / "out.zarr", zarr_format=zarr_format)
    root = zarr.open_group(tmp_path / "out.zarr", mode="r")
    assert root.metadata.zarr_format == zarr_format
    assert_array_equal(root["wind/u"][...], CUBE)
    assert_array_equal(root["field"][...], FIELD)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", ["<i2", ">f8", "?", "<c16", "<M8[s]", "S5", "<f2"])
def test_npy_converts_to_one_array_at_the_root(tmp_path, dtype, order):
    values = np.asarray(CUBE.astype("i8").astype(dtype), order=order)
    np.save(tmp_path / "in.npy", values)
    tessarray.convert(tmp_path / "in.npy", tmp_path / "out.zarr", verify=True)
    found = tessarray.open_array(tmp_path / "out.zarr", mode="r")
    assert_array_equal(found[...], values)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_converts_to_a_group_of_its_members(tmp_path, save):
    save(
        tmp_path / "in.npz",
        cube=CUBE,
        field=np.asfortranarray(FIELD),
        one=np.float64(3),
        none=np.zeros((0, 4)),
    )
    tessarray.convert(tmp_path / "in.npz", tmp_path / "out.zarr", verify=True)
    found = tessarray.open_group(tmp_path / "out.zarr", mode="r")
    assert_array_equal(found["cube"][...], CUBE)
    assert_array_equal(found["field"][...], FIELD)
    assert found["one"][()] == 3 and found["none"].shape == (0, 4)


def test_members_of_an_npz_are_read_by_threads_at_once(tmp_path):
    np.savez(tmp_path / "in.npz", cube=CUBE, field=FIELD)
    source = NpzSource(tmp_path / "in.npz")
    members = {"cube": CUBE, "field": FIELD}

    def read(turn):
        name = ("cube", "field")[turn % 2]
        return source.read(name, (slice(None),) * members[name].ndim).tobytes() == members[name].tobytes()

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(read, range(400)))
    source.close()


TIFFS = {
    "flat": {},
    "strips": {"compression": "zlib", "rowsperstrip": 5},
    "tiles": {"compression": "zlib", "tile": (16, 16)},
    "big-endian": {"byteorder": ">"},
    "predicted": {"compression": "zlib", "predictor": True},
}


@pytest.mark.parametrize("kind", TIFFS)
def test_tiff_converts_with_its_axes_as_dimensions(tmp_path, kind):
    stack = RNG.integers(0, 60000, (4, 33, 21), dtype=np.uint16)
    options = dict(TIFFS[kind])
    order = options.pop("byteorder", "<")
    tifffile.imwrite(
        tmp_path / "in.tif",
        stack,
        byteorder=order,
        photometric="minisblack",
        metadata={"axes": "ZYX"},
        **options,
    )
    tessarray.convert(tmp_path / "in.tif", tmp_path / "out.zarr", verify=True)
    found = tessarray.open_array(tmp_path / "out.zarr", mode="r")
    assert_array_equal(found[...], stack)
    assert found.dimension_names == ("z", "y", "x")


def test_a_colour_tiff_and_several_series_convert(tmp_path):
    colour = RNG.integers(0, 255, (20, 30, 3), dtype=np.uint8)
    tifffile.imwrite(tmp_path / "colour.tif", colour, photometric="rgb", compression="zlib")
    tessarray.convert(tmp_path / "colour.tif", tmp_path / "colour.zarr", verify=True)
    assert_array_equal(tessarray.open_array(tmp_path / "colour.zarr", mode="r")[...], colour)
    with tifffile.TiffWriter(tmp_path / "two.tif") as file:
        file.write(colour, photometric="rgb")
        file.write(CUBE[0], photometric="minisblack")
    report = tessarray.convert(tmp_path / "two.tif", tmp_path / "two.zarr", verify=True)
    values = [array[...] for array in leaves(tessarray.open(tmp_path / "two.zarr", mode="r")).values()]
    assert report.arrays == 2
    assert sorted(v.shape for v in values) == sorted([colour.shape, CUBE[0].shape])


def dataset() -> xarray.Dataset:
    return xarray.Dataset(
        {
            "t2m": (("time", "y", "x"), CUBE * 0.01 + 273.15, {"units": "K"}),
            "field": (("y", "x"), FIELD),
            "label": (("y",), np.array([f"Zeile {row} ä" for row in range(13)], object)),
            "good": (("y",), np.arange(13) % 2 == 0),
            "step": (("time",), np.arange(7).astype("m8[h]").astype("m8[ns]")),
        },
        coords={
            "time": np.datetime64("2020-01-01", "ns") + np.arange(7).astype("m8[D]"),
            "y": np.arange(13.0),
            "x": np.arange(11.0),
            "height": 2.0,
        },
        attrs={"title": "made", "numbers": [1, 2, 3]},
    )


def test_an_xarray_dataset_converts_to_one_that_is_identical(tmp_path):
    made = dataset()
    made["t2m"].encoding = {
        "dtype": "int16",
        "scale_factor": 0.01,
        "add_offset": 273.15,
        "_FillValue": -32768,
    }
    tessarray.convert(made, tmp_path / "out.zarr", verify=True)
    made.to_netcdf(tmp_path / "made.nc", engine="netcdf4")
    with (
        xarray.open_dataset(tmp_path / "made.nc", engine="netcdf4") as expected,
        xarray.open_zarr(tmp_path / "out.zarr", chunks=None) as found,
    ):
        xarray.testing.assert_identical(found.drop_vars(["good"]).load(), expected.drop_vars(["good"]).load())
        assert_array_equal(found["good"].values, made["good"].values)


def test_what_xarray_wrote_as_zarr_comes_back_identical_through_netcdf_4(tmp_path):
    dataset().to_zarr(tmp_path / "in.zarr", consolidated=False)
    tessarray.convert(tmp_path / "in.zarr", tmp_path / "out.nc", verify=True)
    with (
        xarray.open_zarr(tmp_path / "in.zarr", chunks=None, consolidated=False) as expected,
        xarray.open_dataset(tmp_path / "out.nc", engine="netcdf4") as found,
    ):
        xarray.testing.assert_identical(found.load(), expected.load())


def test_a_mapping_of_arrays_converts_to_groups(tmp_path):
    given = {"wind/u": CUBE, "field": FIELD, "deep/er/one": np.float64(2), "words": np.array(["a", "bcd"])}
    report = tessarray.convert(given, tmp_path / "out.zarr", verify=True)
    found = leaves(tessarray.open(tmp_path / "out.zarr", mode="r"))
    assert found.keys() == given.keys() and report.arrays == 4
    for path, values in given.items():
        assert_array_equal(np.asarray(found[path][...]), values)


def test_chunks_shards_and_codecs_are_as_asked(tmp_path):
    tessarray.convert(
        {"a": CUBE}, tmp_path / "out.zarr", chunks=(1, 4, 4), shards=(2, 8, 8), compressors="zstd:3"
    )
    array = tessarray.open_array(tmp_path / "out.zarr", path="a", mode="r")
    assert array.chunks == (1, 4, 4) and array.shards == (2, 8, 8)
    assert "zstd" in str(array.codecs)


def test_a_zip_holds_each_key_once_and_uncompressed(tmp_path):
    tessarray.convert({"a": CUBE}, tmp_path / "out.zip", verify=True)
    with zipfile.ZipFile(tmp_path / "out.zip") as archive:
        names = archive.namelist()
        assert len(names) == len(set(names)) and "zarr.json" in names
        assert all(info.compress_type == zipfile.ZIP_STORED for info in archive.infolist())


def test_progress_ends_at_the_total_of_both_phases(tmp_path):
    seen = []
    report = tessarray.convert({"a": CUBE}, tmp_path / "out.zarr", verify=True, progress=seen.append)
    assert {state.phase for state in seen} == {"copy", "verify"}
    for phase in ("copy", "verify"):
        last = [state for state in seen if state.phase == phase][-1]
        assert last.done == last.total == report.bytes == CUBE.nbytes


@pytest.mark.parametrize("value", [0, 5])
def test_in_zarr_v2_an_array_without_fill_value_has_none_and_keeps_its_empty_chunks(tmp_path, value):
    with h5py.File(tmp_path / "in.h5", "w") as file:
        file.create_dataset("a", shape=(8, 8), dtype="i4", chunks=(2, 2), fillvalue=value)
    options = {"chunks": "source", "verify": True, "zarr_format": 2}
    tessarray.convert(tmp_path / "in.h5", tmp_path / "out.zarr", **options)
    found = zarr.open_array(tmp_path / "out.zarr", path="a", mode="r")
    assert found.metadata.fill_value is None
    assert (found[...] == value).all()
