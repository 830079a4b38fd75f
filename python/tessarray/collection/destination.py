"""Where a build puts its collection.

1. A new collection is made in a folder of its own beside the place that was given, under a name with a dot in front.
2. The first commit of the build is made there. If the build fails before, that folder is removed, and the place that
   was given is as it was: nobody else knows the folder, so that nothing of others can be in it.
3. Then the folder is renamed to the place. What is there is removed first where it is to be replaced; anything else
   that has come there meanwhile stays, and the build fails.
"""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path
from typing import Any

from tessarray.collection.collection import Collection
from tessarray.collection.opening import create_collection, open_collection
from tessarray.errors import ExistsError
from tessarray.stores import local_path, pack_of


class Destination:
    """The collection of a build: one that is there, or one that is there once something was committed to it."""

    def __init__(
        self, dest: str | os.PathLike[str], incremental: bool, overwrite: bool, chunks: Any, compressors: Any
    ) -> None:
        self._path = Path(local_path(os.fspath(dest)))
        self._options = {"chunks": chunks, "compressors": compressors}
        self._made: Path | None = None
        self._replaces = False
        self.collection: Collection | None = None
        self.committed = False
        inside = pack_of(self._path)
        there = inside is not None and not inside[1]
        if there and (incremental or not overwrite):
            opened = open_collection(self._path, **self._options)
            # One without a version is as good as none.
            if not incremental and opened.version > 0:
                raise ExistsError(
                    f"{dest}: there is a collection; incremental adds to it, overwrite replaces it "
                    "(--incremental, --overwrite at the command line)",
                    path=os.fspath(dest),
                )
            self.collection = opened
        elif there:
            self._replaces = True
        elif self._path.exists() and (not self._path.is_dir() or any(self._path.iterdir())):
            raise ExistsError(
                f"{dest}: something else is there, which is no collection; "
                "the last path of a build is the collection to write",
                path=os.fspath(dest),
            )

    def collection_to_fill(self) -> Collection:
        """The collection, made if there is none yet."""
        if self.collection is None:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._made = self._path.parent / f".{self._path.name}.building-{secrets.token_hex(8)}"
            self._made.mkdir()
            self.collection = create_collection(self._made, **self._options)
        return self.collection

    def commit(self) -> None:
        """What was committed to the collection can be found at its place."""
        if self._made is not None:
            if self._replaces:
                shutil.rmtree(self._path)
            try:
                self._made.rename(self._path)
            except OSError as error:
                raise ExistsError(f"{self._path}: something else is there", path=str(self._path)) from error
            self._made = None
            _sync(self._path.parent)
            self.collection = open_collection(self._path, **self._options)
        self.committed = True

    def there(self) -> Collection:
        """The collection at its place."""
        if self.collection is None:
            self.collection_to_fill()
            self.commit()
        assert self.collection is not None
        return self.collection

    def close(self) -> None:
        """Remove what was begun and not committed."""
        if self._made is not None:
            shutil.rmtree(self._made, ignore_errors=True)
            self._made, self.collection = None, None


def _sync(folder: Path) -> None:
    """Make the names in a folder durable."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
