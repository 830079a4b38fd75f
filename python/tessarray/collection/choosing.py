"""Which variables of files are taken, and which files hold data at all."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tessarray.collection.files import Patterns, Read
from tessarray.collection.naming import SourceFile
from tessarray.conversion.patterns import matches
from tessarray.errors import NotFoundError

# Endings of files that hold data for some reader: one of these that cannot be read is damaged, and never left out
# silently. Others, found in a folder among data, are notes.
DATA = frozenset(
    ".nc .nc3 .nc4 .cdf .netcdf .h5 .hdf .hdf5 .he5 .h4 .hdf4 .grib .grib2 .grb .grb2 .gb2 .tif .tiff .npy .npz .zarr "
    ".zip .mat .fits .bin .dat .raw .bufr .safe .n4c .h5ad .loom .nwb .ims".split()
)
# Names in a message.
LISTED = 20


def may_hold_data(path: Path) -> bool:
    """Whether a file that no reader knows was meant to be data, by its ending."""
    return path.suffix.lower() in DATA


class Chosen:
    """Files of a build whose variables are chosen by patterns.

    As long as no file has a variable to include, files wait here: they hold nothing but attributes then. If none ever
    has one, the build fails, and nothing was stored.
    """

    def __init__(self, patterns: Patterns, stored: Sequence[str]) -> None:
        self._patterns = patterns
        self._wanted = list(patterns.include or ())
        self._unused = [*self._wanted, *(patterns.exclude or ())]
        self._seen: dict[str, None] = {}
        self._waiting: list[tuple[SourceFile, Read]] = []
        self._any = not self._wanted
        self._look(stored)

    def _look(self, names: Iterable[str]) -> None:
        """Take note of variables that are there."""
        new = [name for name in names if name not in self._seen]
        self._seen |= dict.fromkeys(new)
        if new and self._unused:
            self._unused = [one for one in self._unused if not any(matches(name, [one]) for name in new)]
        self._any = self._any or any(self._patterns.keep(name) for name in new)

    def ready(self, file: SourceFile, read: Read) -> Iterator[tuple[SourceFile, Read]]:
        """What can be stored now that this file was read: it, and those that have waited."""
        if not self._patterns or read.given is None:
            yield file, read
            return
        self._look(read.found)
        self._waiting.append((file, read))
        while self._any and self._waiting:
            yield self._waiting.pop(0)

    def finish(self) -> None:
        """All files were read. Raises `NotFoundError` if none had a variable to include."""
        if self._waiting:
            wanted = ", ".join(map(repr, self._wanted))
            raise NotFoundError(
                f"build: no variable of {len(self._waiting)} files is {wanted}{self._near()}; "
                f"there are: {self._listed()}",
                path=self._wanted[0],
            )

    def unused(self) -> list[str]:
        """A sentence for each pattern that has fitted no variable, if any file was read."""
        if not self._seen:
            return []
        return [f"no variable is {one!r}; there are: {self._listed()}" for one in self._unused]

    def _near(self) -> str:
        folded = {name.casefold(): name for name in self._seen}
        near = [
            folded[one]
            for wanted in self._wanted
            for one in difflib.get_close_matches(wanted.casefold(), folded, n=2, cutoff=0.6)
        ]
        return f" (did you mean {' or '.join(map(repr, dict.fromkeys(near)))}?)" if near else ""

    def _listed(self) -> str:
        names = list(self._seen)
        more = f" and {len(names) - LISTED} more" if len(names) > LISTED else ""
        return ", ".join(names[:LISTED]) + more if names else "none"
