"""A pack as a store of zarr-python: its own tests of stores, and zarr and xarray at work."""

from __future__ import annotations

import uuid
from typing import Any

import numpy as np
import pytest
import zarr
from zarr.core.buffer import Buffer, cpu
from zarr.testing.store import StoreTests

import tessarray
from tessarray._native import PackStore
from tessarray.zarr_store import ZarrStore


class TestPackStore(StoreTests[ZarrStore, cpu.Buffer]):
    """Each call is a transaction."""

    store_cls = ZarrStore
    buffer_cls = cpu.Buffer

    async def get(self, store: ZarrStore, key: str) -> Buffer:
        value = store.store.get(key)
        assert value is not None
        return self.buffer_cls.from_bytes(value)

    async def set(self, store: ZarrStore, key: str, value: Buffer) -> None:
        store.store.put(key, value.to_bytes())

    @pytest.fixture
    def store_kwargs(self, tmp_path) -> dict[str, Any]:
        path = tmp_path / f"{uuid.uuid4().hex}.pack"
        pack = tessarray.create_pack(path, durable=False)
        return {"store": PackStore(pack._core, str(path))}

    def test_store_repr(self, store: ZarrStore) -> None:
        assert str(store).startswith("tessarray://")
        assert repr(store) == f"ZarrStore('{store}')"

    def test_store_supports_writes(self, store: ZarrStore) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: ZarrStore) -> None:
        assert store.supports_listing


class TestTransactionStore(TestPackStore):
    """All calls are one transaction."""

    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        return {"store": tessarray.create_pack(tessarray.MemoryStore()).transaction("test").store}

    async def test_serializable_store(self, store: ZarrStore) -> None:
        pytest.skip("a transaction lives in one process")


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
