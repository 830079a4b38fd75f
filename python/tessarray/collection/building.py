"""A collection from files: each becomes a dataset."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from tessarray.collection.choosing import Chosen, may_hold_data
from tessarray.collection.collection import Collection
from tessarray.collection.destination import Destination
from tessarray.collection.files import Patterns, Read
from tessarray.collection.naming import (
    Names,
    Naming,
    SourceFile,
    clash,
    doubled,
    refuse_taken,
    source_files,
)
from tessarray.collection.readers import Readers
from tessarray.collection.transaction import CollectionTransaction
from tessarray.conversion import ConversionError, FormatError
from tessarray.errors import ExistsError, InvalidArgumentError, NotFoundError, TessarrayError

__all__ = ["BuildReport", "build_collection"]

# Beside the metadata of a dataset: from which file it was made.
SOURCE = "source.json"
# A build commits after so many bytes or seconds, so that an interrupted one goes on from there.
COMMIT_BYTES = 512 << 20
COMMIT_SECONDS = 20.0
# Files that are read ahead of the writer, for each worker.
AHEAD = 4


@dataclass(frozen=True)
class BuildReport:
    """What a build did. Bytes are of raw values.

    skipped: paths of files that could not be taken, each with the reason. removed: datasets whose files are not there
    any more; they stay in the collection. moved: datasets whose file was found at another path with equal content;
    they keep their names.
    """

    collection: str
    version: int
    added: tuple[str, ...]
    changed: tuple[str, ...]
    unchanged: int
    removed: tuple[str, ...]
    skipped: tuple[tuple[str, str], ...]
    warnings: tuple[str, ...]
    bytes: int
    seconds: float
    moved: tuple[str, ...] = ()


def build_collection(
    sources: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    dest: str | os.PathLike[str],
    *,
    workers: int | None = None,
    on_error: Literal["raise", "skip"] = "raise",
    include: str | Sequence[str] | None = None,
    exclude: str | Sequence[str] | None = None,
    chunks: Any = "auto",
    compressors: Any = "auto",
    incremental: bool = False,
    overwrite: bool = False,
    name: Callable[[Path], str] | None = None,
    names: Names | None = None,
    root: str | os.PathLike[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> BuildReport:
    """Make a collection of files, or add to one.

    sources: paths and patterns (`"data/**/*.nc"`) of netCDF-3 and netCDF-4, HDF5, Zarr (a folder with Zarr metadata is
    one dataset), and what else `convert` reads; other folders stand for the files in them. They may differ in
    variables, dimensions, shapes and dtypes. dest: a path at which nothing is, unless `incremental` (what is
    there goes on) or `overwrite` (a collection there is replaced).
    on_error: of a file that cannot be read: `"raise"`, or `"skip"` it with a reason; it leaves nothing behind. A file
    of no data format (a README) that lies in a folder among others is skipped in any case.
    include, exclude: variables, by name or pattern; it is an error if no file has any of those to include.
    name: gives the name of a dataset for the path of a file. names: `"path"` (default) makes it of the folders and the
    stem of the file below the folder that was given (or the part of a pattern before the first wildcard), as `01-data`
    for `01/data.nc`; `"stem"` of its stem alone. root: the folder that names begin at instead. Names never depend on
    the other files of a call; two files that would be one dataset are an `InvalidArgumentError`.
    incremental: takes files that are new or have changed (by size and time, then by hash), and reports those that are
    gone. A file is known by its path, and replaces only the dataset that was made from the same path: where another
    path would get the name of a dataset whose file is still there, that is an `ExistsError`. A file that has moved is
    known by its content. A build that was interrupted goes on like that: what it has committed stays.
    workers: how many files are read at a time; one a core where left out. Many files are read by processes, since the
    libraries that read netCDF and HDF5 do one thing at a time. progress: is told files done and all.

    If the first files fail, nothing is left at `dest`. Costs one read of each file. Memory: a few files for each
    worker.
    """
    started = time.perf_counter()
    if on_error not in ("raise", "skip"):
        raise InvalidArgumentError(f"on_error: expected 'raise' or 'skip', found {on_error!r}")
    place = Destination(dest, incremental, overwrite, chunks, compressors)
    known = _known(place.collection) if place.collection is not None else {}
    files = source_files(sources, Naming(name, names, root), known)
    if not files:
        raise NotFoundError("build: no file matches the sources")
    builder = _Builder(place, known, Patterns(include, exclude), on_error, names, files, progress)
    builder.run(workers or os.cpu_count() or 1)
    return BuildReport(
        os.fspath(dest), place.there().version, tuple(builder.added), tuple(builder.changed), builder.unchanged,
        tuple(builder.removed), tuple(builder.skipped), tuple(builder.warnings), builder.nbytes,
        time.perf_counter() - started, tuple(builder.moved),
    )  # fmt: skip


def _known(collection: Collection) -> dict[str, dict[str, Any]]:
    """From which files datasets were made."""
    core = collection._core()
    found = {}
    for name in core.names():
        value = core.value(name, SOURCE)
        if value is not None:
            found[name] = json.loads(value)
    return found


class _Builder:
    """Files on their way into transactions: read by threads, written in their order."""

    def __init__(
        self, place: Destination, known: dict[str, dict[str, Any]], patterns: Patterns, on_error: str,
        names: Names | None, files: list[SourceFile], progress: Callable[[int, int], None] | None,
    ) -> None:  # fmt: skip
        self._place, self._known, self._files = place, known, files
        self._on_error, self._rule, self._progress = on_error, names, progress
        self._names = set() if place.collection is None else set(place.collection.names)
        refuse_taken(files, known, self._names)
        here = {str(file.path) for file in files}
        gone = [
            label
            for label, one in known.items()
            if one["path"] not in here and not Path(one["path"]).exists()
        ]
        self._gone: dict[str, list[str]] = {}
        for one in gone:
            self._gone.setdefault(known[one]["sha256"], []).append(one)
        self._chosen = Chosen(patterns, [] if place.collection is None else list(place.collection.variables))
        self._patterns = patterns
        self.added: list[str] = []
        self.changed: list[str] = []
        self.moved: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.warnings: list[str] = doubled(known)
        self.unchanged = self.nbytes = self._done = 0
        self._lost = False

    @property
    def removed(self) -> list[str]:
        """Datasets whose files are not there any more."""
        return [name for name, source in self._known.items() if not Path(source["path"]).exists()]

    def run(self, workers: int) -> None:
        """Take all files."""
        try:
            with Readers(workers, len(self._files)) as readers:
                self._take_all(self._ahead(readers, workers * AHEAD))
        except KeyboardInterrupt:
            if self._place.committed:
                raise KeyboardInterrupt("what is committed stays, and --incremental goes on") from None
            raise
        finally:
            self._place.close()
        self.warnings += self._chosen.unused()

    def _take_all(self, read: Iterator[tuple[SourceFile, Future[Read]]]) -> None:
        pending = next(read, None)
        while pending is not None:
            begun, held = time.monotonic(), 0
            with self._place.collection_to_fill().transaction("build") as tx:
                while pending is not None and held < COMMIT_BYTES:
                    held += self._take(tx, *pending)
                    pending = next(read, None)
                    if time.monotonic() - begun > COMMIT_SECONDS:
                        break
                if pending is None:
                    self._chosen.finish()
            if tx.version is not None:
                self._place.commit()

    def _ahead(self, readers: Readers, depth: int) -> Iterator[tuple[SourceFile, Future[Read]]]:
        waiting: list[tuple[SourceFile, Future[Read]]] = []
        for file in self._files:
            job = readers.read(file.path, self._known.get(file.name), self._patterns)
            waiting.append((file, job))
            if len(waiting) > depth:
                yield waiting.pop(0)
        yield from waiting

    def _take(self, tx: CollectionTransaction, file: SourceFile, job: Future[Read]) -> int:
        """Put one file into a transaction; gives its bytes."""
        held = 0
        try:
            # Files without any of the variables that were asked for wait until one has them.
            for one, read in self._chosen.ready(file, job.result()):
                self._put(tx, one, read)
                self.warnings += read.warnings
                self.nbytes += read.nbytes
                held += read.nbytes
        except (ConversionError, OSError, ValueError, TypeError, TessarrayError) as error:
            none = file.searched and isinstance(error, FormatError) and not may_hold_data(file.path)
            if (self._on_error == "raise" and not none) or self._lost or isinstance(error, ExistsError):
                raise
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            self.skipped.append((str(file.path), "no data format" if none else reason))
        finally:
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, len(self._files))
        return held

    def _put(self, tx: CollectionTransaction, file: SourceFile, read: Read) -> None:
        name, known = file.name, self._known.get(file.name)
        same = known is not None and known["path"] == str(file.path)
        if read.given is not None and not same:
            gone = self._gone.get(read.source["sha256"])
            if gone:
                # The file of that dataset, at another path.
                old = gone.pop(gone.index(name) if name in gone else 0)
                self.moved.append(old)
                self.unchanged += 1
                self._remember(tx, old, file, read)
                return
            if known is not None and name in self._names:
                raise clash(file, f"{known['path']} (gone, of other content)")
        if read.given is None:
            self.unchanged += 1
            if any(read.source.get(key) != (known or {}).get(key) for key in ("size", "mtime_ns", "sha256")):
                self._remember(tx, name, file, read)
            return
        there = name in self._names
        # What cannot be stored fails before what was there is removed.
        prepared = tx.prepare(read.given)
        if there:
            tx.remove(name)
        try:
            tx.put(name, read.given, prepared)
        except BaseException:
            # Nothing half of it; and where something was there, all of the transaction is given up.
            if name in tx:
                tx.remove(name)
            self._lost = there
            raise
        (self.changed if there else self.added).append(name)
        self._names.add(name)
        self._remember(tx, name, file, read)

    def _remember(self, tx: CollectionTransaction, name: str, file: SourceFile, read: Read) -> None:
        """Note beside a dataset from which file it was made, and how it was named."""
        source = dict(read.source)
        before = self._known.get(name, {})
        moved = before.get("path") not in (None, source["path"])
        root = file.root if moved or not before else before.get("root")
        rule = self._rule or before.get("names")
        source |= {key: value for key, value in (("root", root), ("names", rule)) if value is not None}
        tx.pack.store.put(f"{name}/{SOURCE}", json.dumps(source).encode())
        self._known[name] = source
