"""How a copy comes to its place, so that nobody ever sees half of one.

1. `DST.partial/` is made, and locked for this process. Without `resume` what an earlier run left in it is removed; what
   no run made (it has neither the lock nor a journal, damaged or not) is an error, and stays.
2. Everything is written into it, with the journal.
3. The copy is verified, if asked.
4. A store at DST that may be overwritten is renamed to `DST.replaced`; if the process dies here, the next run puts it
   back.
5. `DST.partial/` (or the one file made of it) is renamed to DST, and `DST.replaced` is removed.
"""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import IO, Any

from tessarray.conversion.errors import ConversionError, DestinationExistsError, OptionError
from tessarray.conversion.journal import NAME as JOURNAL
from tessarray.conversion.journal import begun

STORE_MARKS = ("zarr.json", ".zgroup", ".zarray", ".zmetadata")


class Placement:
    """The paths of one conversion's destination, and the steps between them."""

    def __init__(self, destination: Path) -> None:
        self.final = destination
        self.partial = destination.with_name(destination.name + ".partial")
        self.replaced = destination.with_name(destination.name + ".replaced")
        self._lock: IO[bytes] | None = None
        self._made: list[Path] = []

    def begin(self, overwrite: bool, resume: bool) -> bool:
        """Steps 1: check, lock, make or keep the partial folder. True if there is one to go on with."""
        self._made = make_folders(self.final)
        if self.replaced.exists() and not self.final.exists():
            self.replaced.rename(self.final)
        self._check(overwrite)
        # Of a folder that has lost its journal, nothing is known: it is begun anew.
        kept = resume and begun(self.partial)
        self._require_ours()
        self.partial.mkdir(exist_ok=True)
        self._take_lock()
        if not kept:
            for item in self.partial.iterdir():
                if item.name != "lock":
                    remove(item)
        return kept

    def _require_ours(self) -> None:
        """Refuse a file or a folder of the partial name that no conversion made."""
        if not self.partial.exists() and not self.partial.is_symlink():
            return
        if self.partial.is_dir() and not self.partial.is_symlink():
            # By their names: after a loss of power either may hold anything, or be gone.
            marked = any((self.partial / name).is_file() for name in ("lock", JOURNAL))
            if marked or not any(self.partial.iterdir()):
                return
        raise OptionError(
            f"{self.partial}: is in the way, and no conversion made it: move it, or choose another destination"
        )

    def _check(self, overwrite: bool) -> None:
        if not self.final.exists() and not self.final.is_symlink():
            return
        if not overwrite:
            raise DestinationExistsError(f"{self.final}: already exists; pass overwrite to replace it")
        is_store = any((self.final / mark).exists() for mark in STORE_MARKS)
        if self.final.is_dir() and not is_store and any(self.final.iterdir()):
            raise DestinationExistsError(
                f"{self.final}: is a folder but no array store, so it is not overwritten"
            )

    def _take_lock(self) -> None:
        self._lock = (self.partial / "lock").open("wb")
        if not _lock(self._lock):
            self._lock.close()
            self._lock = None
            raise ConversionError(f"{self.final}: another conversion is writing to it")

    def commit(self, product: Path) -> None:
        """Steps 4 and 5 for `product`: the partial folder, or a file in it."""
        self.release()
        (self.partial / "lock").unlink(missing_ok=True)
        if self.final.is_dir() or (self.final.exists() and product.is_dir()):
            remove(self.replaced)
            self.final.rename(self.replaced)
        product.replace(self.final)
        remove(self.replaced)
        remove(self.partial)

    def stored(self) -> int:
        """Bytes of what is in place."""
        return tree_bytes(self.final)

    def release(self) -> None:
        """Give the lock back; the partial folder stays for a resumption."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def discard(self) -> None:
        """Remove the partial folder, as long as it is ours."""
        if self._lock is not None:
            self.release()
            remove(self.partial)
        remove_folders(self._made)


def make_folders(final: Path) -> list[Path]:
    """Make the folders above a destination; returns those that were not there. Raises `OptionError`."""
    parent = final.parent
    missing = [folder for folder in (parent, *parent.parents) if not folder.exists()]
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OptionError(f"{final}: the folder {parent} cannot be made: {error.strerror}") from error
    return missing


def remove_folders(made: list[Path]) -> None:
    """Remove folders that were made for nothing, as long as they are empty."""
    with contextlib.suppress(OSError):
        for folder in made:
            folder.rmdir()


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there; a link is removed, not followed."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()


def _lock(file: IO[Any]) -> bool:
    """Lock a file for this process, until it is closed or the process ends; True where the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def tree_bytes(path: Path) -> int:
    """Bytes of a file, or of all files below a folder."""
    if path.is_file():
        return path.stat().st_size
    return sum(item.stat().st_size for item in path.rglob("*") if item.is_file())
