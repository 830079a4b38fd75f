"""A pack as a store of zarr-python: zarr and xarray at work."""

from __future__ import annotations

import numpy as np
import pytest
import zarr

import tessarray


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_writes_and_reads_in_a_pack(zarr_format: int) -> None:
    pack = tessarray.create_pack(tessarray.MemoryStore())
    values = np.random.default_rng(0).random((30, 40)).astype("f4")
    shards = {"shards": (20, 20)} if zarr_format == 3 else {}
    with pack.transaction("zarr-python") as tx:
        root = zarr.create_group(tx.zarr_store(), zarr_format=zarr_format, attributes={"by": "zarr"})
        array = root.create_array("g/a", shape=values.shape, chunks=(10, 10), dtype="f4", **shards)
        array[:] = values
        array[5:15, 3] = -1
        values[5:15, 3] = -1
    np.testing.assert_array_equal(pack["g/a"][...], values)
    assert pack.root.attrs["by"] == "zarr"
    found = zarr.open_group(pack.zarr_store(), mode="r")
    np.testing.assert_array_equal(found["g/a"][3:, ::2], values[3:, ::2])
    assert sorted(found) == ["g"]


def test_xarray_writes_and_reads_in_a_pack() -> None:
    xarray = pytest.importorskip("xarray")
    pack = tessarray.create_pack(tessarray.MemoryStore())
    dataset = xarray.Dataset(
        {"t": (("time", "x"), np.arange(12.0).reshape(3, 4), {"units": "K"})},
        coords={"time": np.array(["2026-01-01", "2026-01-02", "2026-01-03"], "M8[ns]")},
    )
    with pack.transaction("first") as tx:
        dataset.to_zarr(tx.zarr_store(), consolidated=False)
    later = dataset.assign_coords(time=dataset.time + np.timedelta64(3, "D"))
    with pack.transaction("append") as tx:
        later.to_zarr(tx.zarr_store(), append_dim="time", consolidated=False)
    with xarray.open_zarr(pack.zarr_store(), consolidated=False) as found:
        xarray.testing.assert_identical(found.load(), xarray.concat([dataset, later], "time"))
    with xarray.open_zarr(pack.zarr_store(1), consolidated=False) as found:
        xarray.testing.assert_identical(found.load(), dataset)
