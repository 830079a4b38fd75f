"""zarr-python's own tests of stores, with ours as they are given to it."""

from __future__ import annotations

import pickle
import uuid
from pathlib import Path
from typing import Any

import pytest
from zarr.core.buffer import Buffer, cpu
from zarr.testing.store import StoreTests

import tessarray
from tessarray._native import PackStore
from tessarray.stores import LocalStore, MappingStore, PrefixStore
from tessarray.zarr_store import ZarrStore


class Ours(StoreTests[ZarrStore, cpu.Buffer]):
    store_cls = ZarrStore
    buffer_cls = cpu.Buffer

    async def get(self, store: ZarrStore, key: str) -> Buffer:
        value = store.store.get(key)
        assert value is not None
        return self.buffer_cls.from_bytes(value)

    async def set(self, store: ZarrStore, key: str, value: Buffer) -> None:
        store.store.put(key, value.to_bytes())

    def test_store_repr(self, store: ZarrStore) -> None:
        assert str(store).startswith("tessarray://")
        assert repr(store) == f"ZarrStore('{store}')"

    def test_store_supports_writes(self, store: ZarrStore) -> None:
        assert store.supports_writes

    def test_store_supports_listing(self, store: ZarrStore) -> None:
        assert store.supports_listing


class OfOneProcess(Ours):
    """What is not outside of this process is not pickled: that says so, and makes no empty copy."""

    async def test_serializable_store(self, store: ZarrStore) -> None:
        with pytest.raises(tessarray.errors.PickleError):
            pickle.dumps(store)


class TestDirectory(Ours):
    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        return {"store": LocalStore(tmp_path / uuid.uuid4().hex)}


class TestMemory(OfOneProcess):
    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        return {"store": tessarray.MemoryStore()}


class TestMapping(Ours):
    """A pickle of a `dict` holds what is in it: its copy is another store."""

    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        return {"store": MappingStore({})}

    async def test_serializable_store(self, store: ZarrStore) -> None:
        store.store.put("a/b", b"1")
        copy = pickle.loads(pickle.dumps(store))
        assert copy != store and copy.store.get("a/b") == b"1"
        store.store.put("a/b", b"2")
        assert copy.store.get("a/b") == b"1"


class TestMapper(Ours):
    """A mapping of fsspec stands for a place, and so does its copy."""

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        fsspec = pytest.importorskip("fsspec")
        return {"store": MappingStore(fsspec.get_mapper(f"file://{tmp_path / uuid.uuid4().hex}"))}


class TestPartOfADirectory(Ours):
    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        return {"store": PrefixStore(LocalStore(tmp_path / uuid.uuid4().hex), "a/b")}


class TestPack(Ours):
    """Each call is a transaction."""

    @pytest.fixture
    def store_kwargs(self, tmp_path: Path) -> dict[str, Any]:
        path = tmp_path / f"{uuid.uuid4().hex}.pack"
        pack = tessarray.create_pack(path, durable=False)
        return {"store": PackStore(pack._core, str(path))}


class TestTransaction(OfOneProcess):
    """All calls are one transaction."""

    @pytest.fixture
    def store_kwargs(self) -> dict[str, Any]:
        return {"store": tessarray.create_pack(tessarray.MemoryStore()).transaction("test").store}
