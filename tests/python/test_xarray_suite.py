"""xarray's own tests of what a file of its own must give back, with files that our engine reads."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray

backends = pytest.importorskip("xarray.tests.test_backends", reason="xarray comes without its tests")


class Ours(backends.CFEncodedBase):
    """Written by xarray's Zarr backend, read by ours."""

    engine = "tessarray"
    zarr_format = 3

    def save(self, dataset: xarray.Dataset, path: str, **options: Any) -> Any:
        return dataset.to_zarr(path, zarr_format=self.zarr_format, consolidated=False, **options)

    @contextlib.contextmanager
    def roundtrip(
        self, data: Any, save_kwargs: Any = None, open_kwargs: Any = None, **_: Any
    ) -> Iterator[Any]:
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "data.zarr")
            self.save(data, path, **(save_kwargs or {}))
            with self.open(path, **(open_kwargs or {})) as found:
                yield found

    @contextlib.contextmanager
    def open(self, path: str, **options: Any) -> Iterator[xarray.Dataset]:
        with xarray.open_dataset(path, engine=self.engine, **options) as found:
            yield found

    # xarray's own Zarr backend is not held to these, or to other words.

    @pytest.mark.skip(reason="the engine reads; xarray writes by its Zarr backend")
    def test_write_store(self) -> None: ...

    @pytest.mark.skip(reason="Zarr has no unlimited dimensions")
    def test_encoding_unlimited_dims(self) -> None: ...

    @pytest.mark.skip(reason="Zarr keeps texts of fixed length as they are")
    def test_encoding_kwarg_fixed_width_string(self) -> None: ...

    @pytest.mark.skip(reason="what xarray says when it writes Zarr has other words")
    def test_append_with_invalid_dim_raises(self) -> None: ...

    @pytest.mark.parametrize(("decoded_fn", "encoded_fn"), backends.MASK_AND_SCALE_DATA)
    @pytest.mark.parametrize("dtype", [np.dtype("float64")])  # JSON has no float32 for the scale
    def test_roundtrip_mask_and_scale(self, decoded_fn: Any, encoded_fn: Any, dtype: Any) -> None:
        super().test_roundtrip_mask_and_scale(decoded_fn, encoded_fn, dtype)


@pytest.fixture(params=["s", "ms", "us", "ns"])
def time_unit(request: pytest.FixtureRequest) -> Any:
    return request.param


@pytest.fixture(params=[True, False])
def use_dask(request: pytest.FixtureRequest) -> Any:
    return request.param


class TestVersion3(Ours):
    pass


class TestVersion2(Ours):
    zarr_format = 2
