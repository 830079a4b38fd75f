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

from tessarray.collection.collection import Collection, create_collection, open_collection
from tessarray.collection.files import Patterns, Read, named_files
from tessarray.collection.readers import Readers
from tessarray.collection.transaction import CollectionTransaction
from tessarray.conversion import ConversionError
from tessarray.errors import ExistsError, InvalidArgumentError, NotFoundError, TessarrayError
from tessarray.stores import pack_of

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
    any more; they stay in the collection.
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
    progress: Callable[[int, int], None] | None = None,
) -> BuildReport:
    """Make a collection of files, or add to one.

    sources: paths and patterns (`"data/**/*.nc"`) of netCDF-3 and netCDF-4, HDF5, Zarr (a folder with Zarr metadata is
    one dataset), and what else `convert` reads; other folders stand for the files in them. They may differ in
    variables, dimensions, shapes and dtypes. dest: a path at which nothing is, unless `incremental` (what is
    there goes on) or `overwrite` (a collection there is replaced).
    on_error: of a file that cannot be read: `"raise"`, or `"skip"` it with a reason; it leaves nothing behind.
    include, exclude: variables, by name or pattern. name: of a dataset; the name of the file without its ending, and
    with its folders in front where several files have the same.
    incremental: takes files that are new or have changed (by size and time, then by hash), and reports those that are
    gone. A build that was interrupted goes on like that: what it has committed stays.
    workers: how many files are read at a time; one a core where left out. Many files are read by processes, since the
    libraries that read netCDF and HDF5 do one thing at a time. progress: is told files done and all.

    Costs one read of each file. Memory: a few files for each worker.
    """
    started = time.perf_counter()
    if on_error not in ("raise", "skip"):
        raise InvalidArgumentError(f"on_error: expected 'raise' or 'skip', found {on_error!r}")
    files = named_files(sources, name)
    if not files:
        raise NotFoundError("build: no file matches the sources")
    collection = _destination(dest, incremental, overwrite, chunks, compressors)
    known = _known(collection) if incremental else {}
    builder = _Builder(collection, known, Patterns(include, exclude), on_error, len(files), progress)
    builder.run(files, workers or os.cpu_count() or 1)
    made = {str(path) for path in files.values()}
    removed = tuple(dataset for dataset, source in known.items() if source["path"] not in made)
    return BuildReport(
        os.fspath(dest), collection.version, tuple(builder.added), tuple(builder.changed), builder.unchanged, removed,
        tuple(builder.skipped), tuple(builder.warnings), builder.nbytes, time.perf_counter() - started,
    )  # fmt: skip


def _destination(
    dest: str | os.PathLike[str], incremental: bool, overwrite: bool, chunks: Any, compressors: Any
) -> Collection:
    inside = pack_of(dest)
    there = inside is not None and not inside[1]
    if there and incremental:
        return open_collection(dest, chunks=chunks, compressors=compressors)
    if there and not overwrite:
        raise ExistsError(
            f"{dest}: there is a collection; incremental adds to it, overwrite replaces it",
            path=os.fspath(dest),
        )
    if there:
        import shutil

        shutil.rmtree(dest)
    elif Path(dest).exists() and (not Path(dest).is_dir() or any(Path(dest).iterdir())):
        raise ExistsError(f"{dest}: something else is there", path=os.fspath(dest))
    return create_collection(dest, chunks=chunks, compressors=compressors)


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
        self, collection: Collection, known: dict[str, dict[str, Any]], patterns: Patterns, on_error: str, total: int,
        progress: Callable[[int, int], None] | None,
    ) -> None:  # fmt: skip
        self._collection, self._known, self._patterns = collection, known, patterns
        self._on_error, self._total, self._progress = on_error, total, progress
        self.added: list[str] = []
        self.changed: list[str] = []
        self.skipped: list[tuple[str, str]] = []
        self.warnings: list[str] = []
        self.unchanged = self.nbytes = self._done = 0
        self._lost = False

    def run(self, files: dict[str, Path], workers: int) -> None:
        names = set(self._collection.names)
        with Readers(workers, len(files)) as readers:
            read = self._ahead(readers, files, workers * AHEAD)
            pending = next(read, None)
            while pending is not None:
                begun, held = time.monotonic(), 0
                with self._collection.transaction("build") as tx:
                    while pending is not None and held < COMMIT_BYTES:
                        held += self._take(tx, *pending, names)
                        pending = next(read, None)
                        if time.monotonic() - begun > COMMIT_SECONDS:
                            break

    def _ahead(
        self, readers: Readers, files: dict[str, Path], depth: int
    ) -> Iterator[tuple[str, Path, Future[Read]]]:
        waiting: list[tuple[str, Path, Future[Read]]] = []
        for name, path in files.items():
            job = readers.read(path, self._known.get(name), self._patterns)
            waiting.append((name, path, job))
            if len(waiting) > depth:
                yield waiting.pop(0)
        yield from waiting

    def _take(
        self, tx: CollectionTransaction, name: str, path: Path, job: Future[Read], names: set[str]
    ) -> int:
        """Put one file into a transaction; gives its bytes."""
        try:
            read = job.result()
            self._put(tx, name, path, read, names)
        except (ConversionError, OSError, ValueError, TypeError, TessarrayError) as error:
            if self._on_error == "raise" or self._lost or isinstance(error, ExistsError):
                raise
            self.skipped.append(
                (str(path), str(error).splitlines()[0] if str(error) else type(error).__name__)
            )
            return 0
        finally:
            self._done += 1
            if self._progress is not None:
                self._progress(self._done, self._total)
        self.warnings += read.warnings
        self.nbytes += read.nbytes
        return read.nbytes

    def _put(self, tx: CollectionTransaction, name: str, path: Path, read: Read, names: set[str]) -> None:
        there = name in names
        if there and name not in self._known:
            raise ExistsError(f"build: dataset {name!r} is there, and was not made from {path}", path=name)
        if read.given is not None:
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
            names.add(name)
        else:
            self.unchanged += 1
        if read.given is not None or read.source != self._known.get(name):
            tx.pack.store.put(f"{name}/{SOURCE}", json.dumps(read.source).encode())
