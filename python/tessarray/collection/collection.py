"""A collection: the datasets of a pack."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tessarray._native import CollectionCore, PackStore
from tessarray.collection import reading
from tessarray.collection.dataset import Dataset
from tessarray.collection.keys import Selection
from tessarray.collection.names import unknown
from tessarray.collection.parts import NDArray
from tessarray.collection.ragged import RaggedArray
from tessarray.collection.reading import Missing
from tessarray.collection.transaction import CollectionTransaction
from tessarray.errors import InvalidTypeError
from tessarray.packs import Pack
from tessarray.sessions import Session
from tessarray.stores import StoreLike

if TYPE_CHECKING:
    from tessarray.collection.schema import Schema
    from tessarray.collection.selecting import Selected

__all__ = ["Collection"]


class Collection:
    """The datasets of a pack. Made by `create_collection` and `open_collection`; safe to use from many threads.

    A mapping from names to datasets of its version: the latest, unless it was opened at one.
    """

    def __init__(
        self, pack: Pack, chunks: Any = "auto", compressors: Any = "auto", session: Session | None = None
    ) -> None:
        self.pack = pack
        self._chunks, self._compressors, self._session = chunks, compressors, session
        self._seen: CollectionCore | None = None
        # The table of the datasets, and what it was made of.
        self._datasets: tuple[CollectionCore, Any] | None = None

    def _core(self) -> CollectionCore:
        """The engine's side, at the version that is shown now."""
        number, seen = self.pack.version, self._seen
        if seen is None or seen.version != number:
            seen = self._seen = CollectionCore(self.pack._core.version(number), self._session)
        return seen

    # What is in it.

    @property
    def version(self) -> int:
        """The number of the version it shows."""
        return self.pack.version

    @property
    def store(self) -> PackStore:
        """Its version as a store of arrays and groups, read-only."""
        return self.pack._view()

    def at(self, version: int | str | datetime.datetime) -> Collection:
        """The same collection, for ever at one version."""
        return Collection(self.pack.at(version), self._chunks, self._compressors, self._session)

    @property
    def names(self) -> list[str]:
        """Names of the datasets, sorted."""
        return self._core().names()

    @property
    def variables(self) -> dict[str, int]:
        """Names of all variables, and how many datasets have each."""
        return dict(self._core().variables())

    def names_with(self, variable: str) -> list[str]:
        """Names of the datasets that have a variable."""
        return self._core().find(variable).names

    def __getitem__(self, name: str) -> Dataset:
        if not isinstance(name, str):
            raise InvalidTypeError(
                f"expected the name of a dataset, found {type(name).__name__}: "
                "collection[collection.names[0]] is the first"
            )
        if name not in self:
            raise unknown("dataset", name, self.names, "the collection")
        return Dataset(self, name)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name in self._core()

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self._core())

    # Reading across datasets.

    def read(
        self,
        variable: str,
        names: str | Sequence[str] | None = None,
        selection: Selection = None,
        missing: Missing = "error",
        *,
        decode: bool = True,
        out: NDArray | None = None,
        clip: bool = False,
    ) -> NDArray | RaggedArray:
        """Read a variable of many datasets in one call.

        names: datasets, in the order of the result; all of them where left out.
        selection: of each array, as in NumPy (`np.s_[:10, 0]`); a mapping from dimension names to parts of an index;
        or a function from (name, shape) to one of these. What reaches beyond an array is a `SelectionError`.
        missing: what becomes of datasets without the variable: `"error"`, `"skip"`, or `"fill"`: NaN (the fill value
        for types that have none) where shapes are equal, no elements where they are ragged.
        decode: unpack by each dataset's own `scale_factor` and `add_offset`, and put NaN for its `_FillValue` and
        `missing_value`; a variable that has one of these gives floating numbers then. Numbers of CF units (`days since
        1950-01-01`) are `datetime64[us]`, missing ones `NaT`. Bytes are texts; letters (`|S1`) along a dimension that
        only letters of the collection have, such as `STRING8`, are one text, and a selection takes them whole. `False`
        gives the stored values, fill values among them.
        out: an array of the right dtype to read equal shapes into; it must be in C order.
        clip: slices end where an array ends, as in NumPy: `np.s_[:10]` gives what there is of a shorter one.

        Equal shapes give an array `[n, ...]`, others a `RaggedArray`. Costs one read of each chunk, on all threads of
        the session, and memory for the result. Datasets that store different dtypes give the dtype that holds both.
        """
        return reading.read(self._core(), variable, names, selection, missing, decode, out, clip)

    def read_many(
        self,
        variables: Iterable[str],
        names: str | Sequence[str] | None = None,
        selection: Selection = None,
        missing: Missing = "error",
        *,
        decode: bool = True,
        out: Mapping[str, NDArray] | None = None,
        clip: bool = False,
    ) -> dict[str, NDArray | RaggedArray]:
        """The same for several variables, of one version."""
        core = self._core()
        given = out or {}
        return {
            variable: reading.read(
                core, variable, names, selection, missing, decode, given.get(variable), clip
            )
            for variable in ([variables] if isinstance(variables, str) else variables)
        }

    def sel(self, indexers: Mapping[str, Any], names: str | Sequence[str] | None = None) -> Selected:
        """Select by values of coordinates: `{"lat": slice(30, 60), "time": value}`, in each dataset by its own.

        A slice takes what lies within it, ends included; a single value takes the nearest element, and drops the
        dimension. Coordinates are variables of one dimension that bear its name, monotonic or not. Those of CF units
        (`days since 1950-01-01`) are compared with dates (`"2015-01-31"`, `datetime64`), or as numbers with numbers.

        Raises `InvalidArgumentError` for a coordinate of texts, and for a value that is none of it.
        """
        from tessarray.collection.selecting import Selected

        return Selected(self, indexers, names)

    # Tables.

    @property
    def datasets(self) -> Any:
        """An Arrow table: a row per dataset, its name, its `variables`, its attributes, and variables of one value.

        A variable gets a column if it has few elements (4 at most, in most datasets) and one value in most datasets:
        platform, cycle, position and time of a profile. It is null in a dataset that has no value or several. Values
        come from the statistics, so that none is read; times of CF units are timestamps. Made once per version. Needs
        pyarrow.
        """
        from tessarray.collection.datasets_table import datasets

        core = self._core()
        if self._datasets is None or self._datasets[0] is not core:
            self._datasets = core, datasets(core)
        return self._datasets[1]

    @property
    def statistics(self) -> Any:
        """An Arrow table: a row an array, with shape, dtype, `min`, `max`, `sum`, `count` and `nulls`. Needs pyarrow.

        Of decoded values, where arrays are packed. What was written by other means than this library's collections
        has none: `refresh_statistics` reads it.
        """
        from tessarray.collection.tables import statistics

        return statistics(self._core())

    def table(
        self,
        variables: str | Iterable[str],
        names: str | Sequence[str] | None = None,
        missing: Missing = "error",
        *,
        decode: bool = True,
    ) -> Any:
        """An Arrow table of values: `dataset`, the place along each dimension, and a column for each variable.

        It has a row for each element of the variable with most dimensions; others, such as one time for each profile,
        are repeated along the dimensions that they lack. Arrays need not be of equal shapes. Needs pyarrow.

        names: datasets; all of them if left out.
        missing: what becomes of datasets without one of the variables: `"error"`, `"skip"` leaves these datasets out,
        `"fill"` gives null. A dataset in which no variable tells how long a dimension is has no rows.
        decode: numbers as `read` gives them, and null for missing ones; numbers of CF units (`days since 1950-01-01`)
        as times; letters (`|S1`) along a dimension that the rows do not have as texts.

        Costs one read of each chunk, and memory for the table and about as much again for each column in turn.

        >>> import numpy as np, tessarray
        >>> fleet = tessarray.create_collection(tessarray.MemoryStore())
        >>> with fleet.transaction("casts") as tx:
        ...     tx.add("a", {"z": ("level", [5.0, 10.0]), "lat": 54.5})
        ...     tx.add("b", {"z": ("level", [7.0]), "lat": 60.0})
        >>> fleet.table(["z", "lat"]).to_pylist()[1:]  # doctest: +NORMALIZE_WHITESPACE
        [{'dataset': 'a', 'level': 1, 'z': 10.0, 'lat': 54.5},
         {'dataset': 'b', 'level': 0, 'z': 7.0, 'lat': 60.0}]
        """
        from tessarray.collection.long_table import table

        return table(self._core(), variables, names, missing, decode)

    def where(self, condition: str) -> list[str]:
        """Names of the datasets for which a condition holds, by attributes and statistics: no values are read.

        `"TEMP.max > 30 and PLATFORM_NUMBER == '13857'"`: attributes of datasets by name, variables that have one value
        in each dataset likewise, statistics as `variable.min`, `.max`, `.sum`, `.mean`, `.count`, `.nulls`, `.size`;
        comparisons, `and`, `or`, `not`, `in`, `+ - * /`, `is None`. A name that holds other characters than letters,
        digits and `_` goes into backquotes: `` `wind/u`.max > 3 ``. Times are compared with dates:
        `"JULD.max > '2015-01-31'"`, for variables of CF units (`days since 1950-01-01`) and of NumPy's times.

        A comparison with what a dataset has not is false. What cannot be answered is an `InvalidArgumentError` that
        says why: a variable of several values, a number against a text, values of which nothing is known.
        """
        from tessarray.collection.where import where

        return where(self._core(), condition)

    def merged_schema(self) -> Schema:
        """What the datasets have in common: variables, dtypes, dimensions, in how many; and where they differ."""
        from tessarray.collection.schema import merged_schema

        return merged_schema(self._core())

    def refresh_statistics(self, message: str = "statistics") -> int:
        """Read arrays that have no statistics, and store theirs; gives how many."""
        from tessarray.collection.tables import refresh

        return refresh(self, message)

    # Working on it.

    def map(
        self,
        function: Callable[[Dataset], Any],
        names: str | Sequence[str] | None = None,
        *,
        executor: Any = "threads",
        workers: int | None = None,
        progress: bool = False,
    ) -> list[Any]:
        """Call a function with each dataset, and give the results in the order of the names.

        In the function, `dataset.read("TEMP")` gives decoded values, `dataset["TEMP"]` the array of stored ones.
        executor: `"threads"`, `"processes"` (the function must be picklable), a `concurrent.futures.Executor`, or a
        client of dask. workers: how many; one a core where left out. The first exception ends it, with the
        dataset in a note.
        """
        from tessarray.collection.mapping import run

        return run(self, function, names, executor, workers, progress)

    def to_xarray(
        self,
        names: str | Sequence[str] | None = None,
        variables: str | Iterable[str] | None = None,
        concat_dim: str = "dataset",
        lazy: bool = True,
        *,
        decode: bool = True,
        datasets_per_chunk: int | None = None,
        pad: bool = False,
    ) -> Any:
        """The datasets as one `xarray.Dataset` along a new dimension, whose coordinate are the names.

        pad: arrays of different shapes, and datasets without a variable, are filled up to the longest: with NaN, `NaT`
        or empty texts; integers become floating numbers then. Otherwise only variables of equal shapes are taken, and
        the others are named in a warning, or in an error if they were asked for. `table` needs no padding.
        lazy: backed by dask, one chunk a group of datasets; it works with threads, processes and clusters, since a
        handle travels as a path and a version.
        decode: see `read`.
        """
        from tessarray.collection.lazy import to_xarray

        return to_xarray(self, names, variables, concat_dim, lazy, decode, datasets_per_chunk, pad)

    # Changing it.

    def transaction(self, message: str = "", *, serialize: bool = False) -> CollectionTransaction:
        """Begin a transaction, for a `with` block; see `Pack.transaction`."""
        return CollectionTransaction(
            self.pack.transaction(message, serialize=serialize),
            self._chunks,
            self._compressors,
            self._session,
        )

    def compact(self, message: str = "compact", progress: Callable[[int, int], None] | None = None) -> Any:
        """Store everything anew, each variable in one run; see `Pack.compact`."""
        return self.pack.compact(message, progress)

    def check(self, deep: bool = False, progress: Callable[[int, int], None] | None = None) -> Any:
        """Look for damage; see `Pack.check`."""
        return self.pack.check(deep, progress)

    def versions(self) -> Any:
        """The versions that are there; see `Pack.versions`."""
        return self.pack.versions()

    def export(
        self,
        name: str,
        dest: StoreLike,
        *,
        overwrite: bool = False,
        progress: bool = False,
    ) -> Any:
        """Copy a dataset to a file or folder: netCDF-4 where the name ends in `.nc`, else Zarr. Types are kept."""
        from tessarray.collection.exporting import export

        return export(self, name, dest, overwrite, progress)

    def __repr__(self) -> str:
        return f"<Collection of {len(self)} datasets, {self.pack.store.describe()} at version {self.version}>"

    def __reduce__(self) -> tuple[Any, ...]:
        # A handle elsewhere shows what this one showed, whatever was committed meanwhile.
        address = self.pack.path or self.pack.store
        from tessarray.collection.opening import rebuild

        return (rebuild, (address, self.version, self._chunks, self._compressors))
