"""dask's workers in several processes read and write our arrays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tessarray

pytestmark = pytest.mark.serial  # it starts a cluster

dask_array = pytest.importorskip("dask.array")
distributed = pytest.importorskip("distributed")

VALUES = np.arange(600.0).reshape(20, 30)


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["folder", "member", "pack"])
def test_workers_of_a_cluster_write_and_read_what_numpy_has(client: Any, tmp_path: Path, kind: str) -> None:
    if kind == "pack":
        tessarray.create_pack(tmp_path / "a.pack")
    store = tmp_path / {"folder": "a.zarr", "member": "b.zarr", "pack": "a.pack/inner"}[kind]
    name = "x" if kind != "folder" else None
    array = tessarray.create_array(
        store, name=name, shape=VALUES.shape, dtype="f8", chunks=(5, 7), shards=(10, 14)
    )
    # Blocks of dask that cut through shards: workers write to one shard at the same time.
    dask_array.store(dask_array.from_array(VALUES, chunks=(6, 11)), array, lock=False)
    np.testing.assert_array_equal(array[...], VALUES)
    lazy = dask_array.from_array(tessarray.open_array(store, path=name, mode="r"), chunks=(9, 30))
    np.testing.assert_array_equal((lazy + 1).compute(), VALUES + 1)
    assert float(lazy.sum().compute()) == VALUES.sum()
