"""An Arrow table of the datasets: names, variables, attributes, and what is one value in each."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from tessarray._native import CollectionCore, FoundCore
from tessarray.collection.decoding import packings
from tessarray.collection.meaning import along_letters, moments, scales
from tessarray.collection.parts import NDArray
from tessarray.collection.tables import arrow_package, dataset_attributes
from tessarray.errors import InvalidArgumentError, InvalidTypeError

# What is of the file; no attribute of a dataset that a user would ask for.
HIDDEN = ("_nc_",)
# Elements of a variable that may have a column, in most datasets: a file may hold a few profiles of one cast.
FEW = 4
NOT_A_TIME = np.iinfo(np.int64).min


def datasets(core: CollectionCore) -> Any:
    """See `Collection.datasets`."""
    arrow = arrow_package()
    names = core.names()
    held: dict[str, list[str]] = {name: [] for name in names}
    places = {name: place for place, name in enumerate(names)}
    singles: dict[str, Any] = {}
    for variable, _ in core.variables():
        found = core.find(variable)
        own = found.names
        for name in own:
            held[name].append(variable)
        single = _single(core, found)
        if single is not None:
            singles[variable] = _spread(arrow, single, [places[name] for name in own], len(names))
    columns: dict[str, Any] = {
        "dataset": arrow.array(names, arrow.string()),
        "variables": arrow.array(list(held.values()), arrow.list_(arrow.string())),
    }
    attributes = dataset_attributes(core)
    keys = dict.fromkeys(key for one in attributes for key in one if not key.startswith(HIDDEN))
    for key in keys:
        values = [one.get(key) for one in attributes]
        label = f"attribute {key}" if key in ("dataset", "variables") else key
        columns[label] = _column(arrow, values)
    for variable, made in singles.items():
        columns[f"variable {variable}" if variable in columns else variable] = made
    return arrow.table(columns)


def _spread(arrow: Any, values: NDArray | list[Any], places: list[int], count: int) -> Any:
    """A column of all datasets, null where a dataset has no such value."""
    if isinstance(values, np.ndarray):
        times = np.full(count, "NaT", values.dtype)
        times[places] = values
        return arrow.array(times, from_pandas=True)
    column: list[Any] = [None] * count
    for place, value in zip(places, values, strict=True):
        column[place] = value
    return _column(arrow, column)


def _column(arrow: Any, values: list[Any]) -> Any:
    """Values of one type as a column of it; of several, as JSON texts."""
    types = {type(value) for value in values if value is not None}
    if types <= {int, float} and float in types:
        return arrow.array([None if value is None else float(value) for value in values], arrow.float64())
    for kind, made in ((bool, arrow.bool_()), (int, arrow.int64()), (str, arrow.string())):
        if types == {kind}:
            try:
                return arrow.array(values, made)
            except (OverflowError, arrow.ArrowInvalid):
                break
    texts = [
        None if value is None else value if isinstance(value, str) else json.dumps(value) for value in values
    ]
    return arrow.array(texts, arrow.string())


def _single(core: CollectionCore, found: FoundCore) -> NDArray | list[Any] | None:
    """The value of each array of a variable that has one in most; `None` for a variable that has none or several."""
    kinds = found.kinds
    if any(one[0].kind not in "biufmMSUT" for one in kinds):
        return None
    letters = along_letters(core, found)
    lengths = [one[:-1] if letters else one for one in found.shapes]
    sizes = np.array([int(np.prod(one, dtype=np.int64)) for one in lengths])[found.columns()[1]]
    if np.median(sizes) > FEW:
        return None
    known = core.statistics(found)
    distinct = [None if one is None else one[5] for one in known]
    if any(one[0].kind not in "SUT" for one in kinds):
        return _numbers(found, known)
    values = [None if texts is None else _text(texts, letters, kinds[0][0]) for texts in distinct]
    return values if 2 * sum(value is not None for value in values) >= len(values) else None


def _text(distinct: Sequence[str], letters: bool, dtype: np.dtype[Any]) -> str | None:
    """The one text of an array. Statistics join letters that are no text: they are one if all are equal."""
    if len(distinct) != 1:
        return None
    (found,) = distinct
    if dtype.str[1:] == "S1" and not letters:
        return found[:1] if len(set(found)) == 1 else None
    return found or None


def _numbers(found: FoundCore, known: Sequence[Any]) -> NDArray | list[Any] | None:
    """Numbers, unpacked, and times."""
    kinds, (kind, _, attributes, _) = found.kinds, found.columns()
    single = [one is not None and one[0] > 0 and one[2] is not None and one[2] == one[3] for one in known]
    if 2 * sum(single) < len(single):
        return None
    packing = packings(found)
    values: list[Any] = [None] * len(known)
    for place, (one, text) in enumerate(zip(known, attributes.tolist(), strict=True)):
        if single[place]:
            packed = packing[text]
            if packed is None or (packed.scale == 1 and packed.offset == 0):
                values[place] = one[2]
            else:
                values[place] = packed.number(float(one[2]))
    dtypes = {kinds[number][0] for number in set(kind.tolist())}
    if any(dtype.kind in "mM" for dtype in dtypes):
        if len(dtypes) > 1:
            return None
        (dtype,) = dtypes
        stored = np.array([NOT_A_TIME if value is None else value for value in values], np.int64)
        times: NDArray = stored.view(dtype.newbyteorder("=")).astype(f"{dtype.kind}8[us]")
        return times
    try:
        scale = scales(found)
        if scale is not None:
            numbers = np.array([np.nan if value is None else value for value in values], np.float64)
            return moments(numbers, scale, np.ones(len(numbers), np.int64))
    except (InvalidArgumentError, InvalidTypeError):
        # Times of some only, or of no year: what they are as numbers.
        pass
    return values
