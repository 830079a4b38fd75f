"""Any store of Tessarray as a store of zarr-python, for zarr, xarray and dask.

>>> import tessarray, zarr
>>> pack = tessarray.create_pack(tessarray.MemoryStore())
>>> with pack.transaction("with zarr-python") as tx:
...     a = zarr.create_array(tx.zarr_store(), name="a", shape=3, dtype="int64")
...     a[:] = [1, 2, 3]
>>> zarr.open_array(pack.zarr_store(), path="a", mode="r")[:].tolist()
[1, 2, 3]
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import Any

from tessarray._native import Store as NativeStore
from tessarray.errors import CorruptError, ExistsError, MissingPackageError

try:
    from zarr.abc.store import (
        ByteRequest,
        OffsetByteRequest,
        RangeByteRequest,
        Store,
        SuffixByteRequest,
    )
    from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype
except ImportError as error:
    raise MissingPackageError("zarr_store needs zarr-python 3: pip install 'zarr>=3'") from error

__all__ = ["ZarrStore"]


class ZarrStore(Store):
    """The keys of a Tessarray store for zarr-python. Calls run on threads; the engine takes any number at once."""

    supports_writes: bool = True
    supports_deletes: bool = True
    supports_listing: bool = True

    def __init__(self, store: NativeStore, *, read_only: bool | None = None) -> None:
        super().__init__(read_only=store.read_only if read_only is None else read_only)
        self.store = store

    def with_read_only(self, read_only: bool = False) -> ZarrStore:
        """The same store, for reading only or not."""
        return type(self)(self.store, read_only=read_only)

    def __str__(self) -> str:
        return f"tessarray://{self.store.describe()}"

    def __repr__(self) -> str:
        return f"ZarrStore('{self}')"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ZarrStore) or self.read_only != other.read_only:
            return False
        return self.store == other.store

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self.store, self.read_only))

    # Without a loop.

    def get_sync(
        self,
        key: str,
        *,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """The value of a key, or a part of it."""
        self._is_open = True
        value = self._read(key, byte_range)
        if value is None:
            return None
        return (prototype or default_buffer_prototype()).buffer.from_bytes(value)

    def _read(self, key: str, byte_range: ByteRequest | None) -> bytes | None:
        match byte_range:
            case None:
                return self.store.get(key)
            case RangeByteRequest(start, end):
                offset, length = start, end - start
            case OffsetByteRequest(start):
                offset, length = start, -1
            case SuffixByteRequest(length):
                return self.store.get(key, length=length)
            case _:
                raise TypeError(f"Unexpected byte_range, got {byte_range}: expected a byte request")
        size = self.store.size(key)
        if size is None:
            return None
        offset = min(offset, size)
        rest = size - offset
        try:
            return self.store.get(key, offset=offset, length=rest if length < 0 else min(length, rest))
        except CorruptError:
            # Replaced by a shorter value in between.
            return (self.store.get(key) or b"")[offset : None if length < 0 else offset + length]

    def set_sync(self, key: str, value: Buffer) -> None:
        """Put a value."""
        self._check_writable()
        self._is_open = True
        if not isinstance(value, Buffer):
            raise TypeError(f"ZarrStore.set(): `value` must be a Buffer instance, found {type(value)}")
        self.store.put(key, value.to_bytes())

    def delete_sync(self, key: str) -> None:
        """Remove a value, if there is one."""
        self._check_writable()
        self._is_open = True
        self.store.delete(key)

    # With one.

    async def get(
        self,
        key: str,
        prototype: BufferPrototype | None = None,
        byte_range: ByteRequest | None = None,
    ) -> Buffer | None:
        """A value or a part of it; `None` if there is none."""
        if not self._is_open:
            await self._open()
        return await asyncio.to_thread(self.get_sync, key, prototype=prototype, byte_range=byte_range)

    async def get_partial_values(
        self,
        prototype: BufferPrototype,
        key_ranges: Iterable[tuple[str, ByteRequest | None]],
    ) -> list[Buffer | None]:
        """Parts of several values, in one batch of reads."""
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))

    async def exists(self, key: str) -> bool:
        """Whether there is a value."""
        return await asyncio.to_thread(self.store.__contains__, key)

    async def set(self, key: str, value: Buffer) -> None:
        """Put a value, whole."""
        self._check_writable()
        await self._ensure_open()
        await asyncio.to_thread(self.set_sync, key, value)

    async def set_if_not_exists(self, key: str, value: Buffer) -> None:
        """Put a value where there is none; one that is there stays."""
        self._check_writable()
        await self._ensure_open()
        try:
            await asyncio.to_thread(self.store.put, key, value.to_bytes(), True)
        except ExistsError:
            return

    async def delete(self, key: str) -> None:
        """Remove a value, if it is there."""
        self._check_writable()
        await asyncio.to_thread(self.delete_sync, key)

    async def delete_dir(self, prefix: str) -> None:
        """Remove all values below a prefix."""
        self._check_writable()
        await self._ensure_open()
        await asyncio.to_thread(self.store.delete_prefix, prefix.strip("/"))

    async def clear(self) -> None:
        """Remove everything."""
        self._check_writable()
        await asyncio.to_thread(self.store.delete_prefix, "")

    async def getsize(self, key: str) -> int:
        """Bytes of a value. Raises `FileNotFoundError` if there is none."""
        size = await asyncio.to_thread(self.store.size, key)
        if size is None:
            raise FileNotFoundError(key)
        return size

    async def list(self) -> AsyncIterator[str]:
        """All keys."""
        for key, _ in await asyncio.to_thread(self.store.list, ""):
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        """Keys that begin with a prefix."""
        # A prefix of zarr-python's may end within a name.
        folder = prefix.rpartition("/")[0]
        for key, _ in await asyncio.to_thread(self.store.list, folder):
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        """Names directly below a prefix, of values and of folders."""
        path = prefix.strip("/")
        for name in await asyncio.to_thread(self.store.list_dir, path):
            yield name


def _again(store: NativeStore, read_only: bool) -> ZarrStore:
    return ZarrStore(store, read_only=read_only)
