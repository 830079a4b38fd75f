"""Values of many datasets as one long table: a row an element."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tessarray._native import CollectionCore, FoundCore
from tessarray.collection import reading
from tessarray.collection.meaning import joined, moments, scales, texts
from tessarray.collection.names import existing, unknown
from tessarray.collection.parts import NDArray
from tessarray.collection.reading import Missing
from tessarray.collection.tables import arrow_package
from tessarray.errors import InvalidArgumentError, InvalidTypeError, SelectionError


@dataclass
class Column:
    """A variable: elements one after the other, and where among the datasets its arrays belong.

    lengths: of its arrays, `[arrays, rank]`. letters: texts are stored as letters along the last dimension.
    """

    name: str
    dims: tuple[str, ...]
    places: NDArray
    lengths: NDArray
    values: NDArray
    letters: bool

    def join(self) -> None:
        """Make texts of the letters along the last dimension."""
        counts = self.lengths[:, :-1].prod(axis=1)
        self.values = joined(self.values, self.lengths[:, -1], counts)
        self.dims, self.lengths, self.letters = self.dims[:-1], self.lengths[:, :-1], False


def table(
    core: CollectionCore,
    variables: str | Iterable[str],
    names: str | Sequence[str] | None,
    missing: Missing,
    decode: bool,
) -> Any:
    """See `Collection.table`."""
    arrow = arrow_package()
    if missing not in ("error", "skip", "fill"):
        raise InvalidArgumentError(f"missing: expected 'error', 'skip' or 'fill', found {missing!r}")
    chosen = [variables] if isinstance(variables, str) else list(variables)
    if not chosen or len(set(chosen)) < len(chosen):
        raise InvalidArgumentError(f"table: expected names of variables, each once; found {chosen}")
    asked = existing(core, names)
    known = dict(core.variables())
    for one in chosen:
        if one not in known:
            raise unknown("variable", one, known, "the collection")
    if missing == "skip":
        absent = {place for one in chosen for place in core.find(one, asked).missing}
        asked = [name for place, name in enumerate(asked) if place not in absent]
    columns = [_column(core, one, asked, missing, decode) for one in chosen]
    dims = _rows(columns, decode)
    lengths = _lengths(asked, dims, columns)
    counts = lengths.prod(axis=1)
    owner = np.repeat(np.arange(len(asked)), counts)
    index = _indices(dims, lengths, counts, owner)
    made = {
        "dataset": arrow.DictionaryArray.from_arrays(
            arrow.array(owner, arrow.int32()), arrow.array(asked, arrow.string())
        )
    }
    # A dimension of the name of a variable, as `lat(lat)`, is numbered beside it.
    taken = {"dataset", *chosen}
    made |= {f"{dim}_index" if dim in taken else dim: arrow.array(index[dim]) for dim in dims}
    for column in columns:
        if column.name in made:
            raise InvalidArgumentError(f"table: a variable has the name of a column: {column.name!r}")
        made[column.name] = _values(arrow, column, len(asked), owner, index, decode)
    return arrow.table(made)


def _column(core: CollectionCore, variable: str, asked: list[str], missing: Missing, decode: bool) -> Column:
    _, found = reading.find(core, variable, asked, missing)
    dims = _dims(variable, found)
    if not len(found):
        return Column(
            variable, dims, np.empty(0, np.int64), np.empty((0, len(dims)), np.int64), np.empty(0), False
        )
    parts = reading.read_parts(found, None, decode, None)
    values, lengths = parts.flat, parts.shape_of_each
    letters = values.dtype == "S1" and len(dims) > 0
    scale = scales(found) if decode else None
    if scale is not None:
        values = moments(values, scale, lengths.prod(axis=1))
    elif decode and values.dtype.kind == "S" and not letters:
        values = texts(values)
    return Column(variable, dims, found.columns()[3], lengths, values, letters)


def _dims(variable: str, found: FoundCore) -> tuple[str, ...]:
    """Names of the dimensions; those without one are numbered."""
    if not len(found):
        return ()
    ranks = {len(shape) for shape in found.shapes}
    if len(ranks) > 1:
        raise SelectionError(f"table: {variable!r} is of different ranks ({sorted(ranks)}): give names")
    (rank,) = ranks
    named = {tuple(one[1] or (None,) * rank) for one in found.kinds}
    if len(named) > 1:
        raise InvalidArgumentError(
            f"table: {variable!r} has different dimensions ({', '.join(map(str, named))}): give names"
        )
    dims = tuple(name or f"dim_{axis}" for axis, name in enumerate(named.pop()))
    if len(set(dims)) < len(dims):
        raise InvalidArgumentError(f"table: {variable!r} has a dimension twice: {dims}")
    return dims


def _rows(columns: list[Column], decode: bool) -> tuple[str, ...]:
    """The dimensions of the rows: those of the variable that has most of them. Letters of others become texts."""
    letters = [one for one in columns if one.letters and decode]
    if len(letters) == len(columns):
        for column in letters:
            column.join()
    widest = max((one for one in columns if not (one.letters and decode)), key=lambda one: len(one.dims))
    for column in letters:
        if column.letters and column.dims[-1] not in widest.dims:
            column.join()
        elif column.letters:
            column.values, column.letters = texts(column.values), False
    for column in columns:
        other = [dim for dim in column.dims if dim not in widest.dims]
        if other:
            raise InvalidArgumentError(
                f"table: {column.name!r} has dimension {other[0]!r}, which {widest.name!r} {widest.dims} has not: "
                "make a table of each"
            )
    return widest.dims


def _lengths(asked: list[str], dims: tuple[str, ...], columns: list[Column]) -> NDArray:
    """How long each dimension is in each dataset; 0 where no variable tells."""
    lengths = np.full((len(asked), len(dims)), -1, np.int64)
    for column in columns:
        for axis, dim in enumerate(column.dims):
            place = dims.index(dim)
            known, own = lengths[column.places, place], column.lengths[:, axis]
            wrong = np.flatnonzero((known >= 0) & (known != own))
            if wrong.size:
                name = asked[int(column.places[wrong[0]])]
                raise InvalidArgumentError(
                    f"table: in dataset {name!r}, dimension {dim!r} is {own[wrong[0]]} long in {column.name!r}, "
                    f"and {known[wrong[0]]} in others"
                )
            lengths[column.places, place] = own
    return np.maximum(lengths, 0)


def _indices(dims: tuple[str, ...], lengths: NDArray, counts: NDArray, owner: NDArray) -> dict[str, NDArray]:
    """The place of each row along each dimension; the last dimension runs fastest."""
    left = np.arange(len(owner)) - (np.cumsum(counts) - counts)[owner]
    found: dict[str, NDArray] = {}
    for axis in reversed(range(len(dims))):
        length = lengths[owner, axis]
        found[dims[axis]] = left % length
        left = left // length
    return found


def _values(
    arrow: Any, column: Column, datasets: int, owner: NDArray, index: dict[str, NDArray], decode: bool
) -> Any:
    """One value a row: of the element at the row's places, null where the dataset lacks the variable."""
    member = np.full(datasets, -1, np.int64)
    member[column.places] = np.arange(len(column.places))
    which = member[owner]
    there = which >= 0
    which = which[there]
    sizes = column.lengths.prod(axis=1)
    within = np.zeros(len(which), np.int64)
    for axis, dim in enumerate(column.dims):
        within = within * column.lengths[which, axis] + index[dim][there]
    values = column.values[(np.cumsum(sizes) - sizes)[which] + within]
    # Decoded NaN is null: databases count no null, and take the mean of none.
    try:
        picked = arrow.array(_storable(values), from_pandas=decode)
    except arrow.ArrowException as error:
        raise InvalidTypeError(
            f"table: {column.name!r}: Arrow has no column of {values.dtype}: {error}"
        ) from error
    if there.all():
        return picked
    return picked.take(arrow.array(np.cumsum(there) - 1, mask=~there))


def _storable(values: NDArray) -> Any:
    """What Arrow takes: texts and bytes as lists."""
    return values.tolist() if values.dtype.kind in "SUTV" else values
