"""What is said of a full disk: which destination, how much is needed, and how to go on."""

from __future__ import annotations

import contextlib
import errno
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

from tessarray.conversion.errors import NoSpaceError
from tessarray.display.units import byte_text

FULL = {errno.ENOSPC, errno.EDQUOT}
# The netCDF library says of a full disk only that something failed.
NOTHING_LEFT = 1 << 20


@contextlib.contextmanager
def names_a_full_disk(
    final: Path, folder: Path, needed: Callable[[], int], resumable: bool
) -> Iterator[None]:
    """Raise `NoSpaceError` for whatever a full disk makes fail. needed: bytes of values that are still to be stored."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        free = _free(folder)
        full = isinstance(error, OSError) and error.errno in FULL
        if not full and (isinstance(error, OSError) or free is None or free >= NOTHING_LEFT):
            raise
        kept = (
            f"{folder} keeps what is done, and resume (--resume) goes on with it"
            if resumable
            else "it has to be begun anew"
        )
        room = "an unknown number of bytes" if free is None else byte_text(free)
        raise NoSpaceError(
            f"{final}: the disk is full: {byte_text(needed())} of values are still to be stored (less when "
            f"compressed), {room} free; make room; {kept}",
            errno=errno.ENOSPC,
        ) from error


def _free(folder: Path) -> int | None:
    for place in (folder, *folder.parents):
        with contextlib.suppress(OSError):
            return shutil.disk_usage(place).free
    return None
