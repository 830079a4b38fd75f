"""A copy that goes into a pack: one transaction, whose commit is the moment at which it is there.

What is at the destination may be replaced with `overwrite`; the versions before keep it.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any, Literal

import tessarray
from tessarray.conversion.destinations.zarr import ZarrDestination
from tessarray.conversion.errors import DestinationExistsError, OptionError
from tessarray.conversion.placement import make_folders
from tessarray.stores import PrefixStore, Store, pack_of

SUFFIX = ".pack"


def leads_into_a_pack(destination: Path) -> bool:
    """Whether the path is a pack's, lies in one, or has the name of one to be made."""
    return pack_of(destination) is not None or (
        destination.suffix.lower() == SUFFIX and not destination.exists()
    )


class PackPlacement:
    """The steps of `Placement`, on a pack."""

    def __init__(self, destination: Path) -> None:
        self.final = destination
        self._folder, self._inner = pack_of(destination) or (str(destination), "")
        self.partial = Path(tempfile.mkdtemp(prefix="tessarray-convert-"))
        self._transaction: tessarray.Transaction | None = None

    def begin(self, overwrite: bool, resume: bool) -> bool:
        """Begin the transaction, in a new pack where there is none. Raises `DestinationExistsError`."""
        if resume:
            raise OptionError(f"{self.final}: a transaction cannot be resumed; run without resume")
        if pack_of(self._folder) is None:
            make_folders(self.final)
            tessarray.create_pack(self._folder)
        pack = tessarray.open_pack(self._folder)
        self._transaction = pack.transaction(f"convert to /{self._inner}")
        if self._transaction.store.list(self._inner):
            if not overwrite:
                raise DestinationExistsError(
                    f"{self.final}: already exists; pass overwrite to replace it (earlier versions stay)"
                )
            self._transaction.store.delete_prefix(self._inner)
        return False

    def destination(self, compressors: Any, zarr_format: Literal[2, 3]) -> ZarrDestination:
        """Arrays and groups in the transaction."""
        return _PackDestination(self._store(), self.partial, compressors, zarr_format)

    def _store(self) -> Store:
        assert self._transaction is not None
        store = self._transaction.store
        return PrefixStore(store, self._inner) if self._inner else store

    def commit(self, product: Path) -> None:
        """The commit."""
        assert self._transaction is not None
        self._transaction.commit()
        shutil.rmtree(self.partial, ignore_errors=True)

    def stored(self) -> int:
        """Bytes of the keys that the copy is made of."""
        return sum(size for _, size in tessarray.open_pack(self._folder)._view().list(self._inner))

    def release(self) -> None:
        """Nothing is held."""

    def discard(self) -> None:
        """Give the transaction up."""
        if self._transaction is not None and self._transaction.version is None:
            self._transaction.abandon()
        shutil.rmtree(self.partial, ignore_errors=True)


class _PackDestination(ZarrDestination):
    kind = "pack"
    resumable = False

    def __init__(self, store: Store, folder: Path, compressors: Any, zarr_format: Literal[2, 3]) -> None:
        super().__init__(folder, compressors, zarr_format, zipped=False)
        self._target = store

    def finish(self) -> Path:
        return self._folder
