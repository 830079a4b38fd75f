"""The real files in the shared data folder convert, verify, and slice equal to what netCDF4 gives."""

from __future__ import annotations

import tarfile

import netCDF4
import numpy as np
import pytest
import xarray
from numpy.testing import assert_array_equal
from support import SCALE

import tessarray

PROFILES = 25  # of 1,021; all of them when tests are scaled up


def real_file(folder, name):
    path = folder / name
    if not path.is_file():
        pytest.skip(f"the real file {name} is absent from the folder shared/data beside the repository")
    return path


def slices_equal_netcdf4(source, target) -> int:
    """Compare whole variables, a box in the middle and steps of every variable; returns how many there were."""
    group = tessarray.open_group(target, mode="r")
    with netCDF4.Dataset(source) as file:
        file.set_auto_maskandscale(False)
        file.set_auto_chartostring(False)
        for name, variable in file.variables.items():
            array = group[name]
            assert array.shape == variable.shape, name
            middle = tuple(slice(n // 4, n // 4 + max(n // 2, 1)) for n in variable.shape)
            steps = tuple(slice(None, None, 3) for _ in variable.shape)
            for index in (..., middle or ..., steps or ...):
                expected = np.asarray(variable[index])
                assert_array_equal(np.asarray(array[index]), expected, err_msg=f"{name} {index}", strict=True)
        return len(file.variables)


def identical_in_xarray(source, target, without=(), **options) -> None:
    with (
        xarray.open_dataset(source, engine="netcdf4", **options) as before,
        xarray.open_zarr(target, chunks=None, **options) as after,
    ):
        xarray.testing.assert_identical(before.drop_vars(without).load(), after.drop_vars(without).load())


@pytest.mark.parametrize(
    ("name", "options"),
    # The times of the climatology are in a unit that no calendar has.
    [("eraint_uvz.nc", {}), ("coads_climatology.nc4", {"decode_times": False})],
)
def test_a_real_grid_converts_verifies_and_is_identical_in_xarray(shared_data, tmp_path, name, options):
    source, target = real_file(shared_data, name), tmp_path / "out.zarr"
    report = tessarray.convert(source, target, verify=True)
    assert report.verified and report.arrays == slices_equal_netcdf4(source, target)
    identical_in_xarray(source, target, **options)


@pytest.mark.parametrize("name", ["eraint_uvz.nc", "coads_climatology.nc4"])
def test_a_real_grid_goes_back_to_netcdf_4_with_the_same_values(shared_data, tmp_path, name):
    source = real_file(shared_data, name)
    tessarray.convert(source, tmp_path / "out.zarr")
    tessarray.convert(tmp_path / "out.zarr", tmp_path / "back.nc", verify=True)
    with (
        xarray.open_dataset(source, decode_cf=False, engine="netcdf4") as before,
        xarray.open_dataset(tmp_path / "back.nc", decode_cf=False, engine="netcdf4") as after,
    ):
        for variable in before.variables.values():
            # The reanalysis has NaN for the _FillValue of short integers, which netCDF-4 refuses; convert says so.
            if variable.dtype.kind == "i" and np.isnan(variable.attrs.get("_FillValue", 0)):
                del variable.attrs["_FillValue"]
        xarray.testing.assert_identical(before.load(), after.load())


@pytest.fixture(scope="module")
def profiles(shared_data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("argo")
    with tarfile.open(real_file(shared_data, "argo-profiles.tar.xz")) as archive:
        members = sorted((m for m in archive if m.name.endswith(".nc")), key=lambda member: member.name)
        wanted = len(members) if SCALE > 1 else PROFILES
        chosen = [members[at * len(members) // wanted] for at in range(wanted)]
        archive.extractall(folder, members=chosen, filter="data")
    return [folder / member.name for member in chosen]


@pytest.mark.timeout(1200)
def test_real_argo_profiles_convert_verify_and_are_identical_in_xarray(profiles, tmp_path):
    for number, source in enumerate(profiles):
        target = tmp_path / f"{number}.zarr"
        report = tessarray.convert(source, target, verify=True)
        assert report.arrays == slices_equal_netcdf4(source, target), source
        # xarray reads no fill value of text from Zarr v3, not even its own: the report names what this is lost for.
        lost = [warning.split(":")[0] for warning in report.warnings if "_FillValue of text" in warning]
        identical_in_xarray(source, target, without=lost)


def test_real_argo_profiles_in_zarr_v2_keep_the_fill_values_of_text_for_xarray(profiles, tmp_path):
    for number, source in enumerate(profiles[:: max(len(profiles) // 5, 1)]):
        target = tmp_path / f"{number}.zarr"
        report = tessarray.convert(source, target, zarr_format=2, verify=True)
        assert not [warning for warning in report.warnings if "text" in warning]
        identical_in_xarray(source, target)
