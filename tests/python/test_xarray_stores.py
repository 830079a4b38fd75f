"""xarray's own tests of its Zarr backend, with packs as the stores that it writes to and reads from.

`TESSARRAY_TEST_SCALE` above 1 runs them all: in both formats, and for the path of a pack also those of xarray's
encodings.
"""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import zarr
from support import SCALE

import tessarray
from tessarray._native import PackStore
from tessarray.zarr_store import ZarrStore

backends = pytest.importorskip("xarray.tests.test_backends", reason="xarray comes without its tests")

pytestmark = [
    pytest.mark.slow,
    # What zarr-python and xarray say of their own choices.
    pytest.mark.filterwarnings("ignore::zarr.errors.ZarrUserWarning"),
    pytest.mark.filterwarnings("ignore::zarr.errors.UnstableSpecificationWarning"),
    pytest.mark.filterwarnings("ignore::xarray.SerializationWarning"),
]


# What the conftest of its tests has. A mark says which of the two formats a test does not apply to.


@pytest.fixture(params=[2, 3] if SCALE > 1 else [3])
def default_zarr_format(request: pytest.FixtureRequest) -> Iterator[None]:
    for mark in request.node.iter_markers("skip_if_param"):
        if mark.kwargs["condition"] and mark.kwargs["default_zarr_format"] == request.param:
            pytest.skip(mark.kwargs["reason"])
    with zarr.config.set(default_zarr_format=request.param):
        yield


@pytest.fixture(params=["s", "ms", "us", "ns"])
def time_unit(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=[True, False])
def use_dask(request: pytest.FixtureRequest) -> Any:
    return request.param


class TestTransaction(backends.ZarrBase):
    """All that a test writes to one store is one transaction."""

    @contextlib.contextmanager
    def create_zarr_target(self) -> Iterator[Any]:
        with tessarray.create_pack(tessarray.MemoryStore()).transaction("test") as tx:
            yield tx.zarr_store()

    @pytest.mark.skip(reason="a transaction lives in one process: it is not pickled, and says so")
    def test_pickle(self) -> None: ...

    @pytest.mark.skip(reason="a transaction lives in one process: it is not pickled, and says so")
    def test_pickle_dataarray(self) -> None: ...


class TestPack(backends.ZarrBase):
    """Each write of a key is a transaction."""

    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, request: pytest.FixtureRequest) -> None:
        if SCALE == 1 and request.function.__name__ not in vars(backends.ZarrBase):
            pytest.skip("of xarray's encodings, not of its backend")
        self.path = tmp_path

    @contextlib.contextmanager
    def create_zarr_target(self) -> Iterator[Any]:
        path = self.path / f"{uuid.uuid4().hex}.pack"
        pack = tessarray.create_pack(path, durable=False)
        yield ZarrStore(PackStore(pack._core, str(path)))
