"""What a user gives as a dataset, as variables with their dimensions and attributes."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from tessarray.conversion.attributes import encode_fill, notes_of, to_json
from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import Source
from tessarray.conversion.sources import open_source
from tessarray.dtypes import of_data
from tessarray.errors import InvalidArgumentError, InvalidTypeError

NDArray = npt.NDArray[Any]

# Of texts the statistics hold the distinct ones, where there are few, of few elements, and short.
TEXTS = 4096
DISTINCT = 8
LONGEST = 64


@dataclass(frozen=True)
class Variable:
    """One variable of a dataset: values, names of the dimensions, attributes, and how it is to be stored.

    `attrs` are as the CF conventions have them for stored values: `_FillValue`, `scale_factor`, `add_offset`, `units`.
    chunks, compressors: as in `create_array`; `None` leaves the choice to the collection.
    """

    values: Any
    dims: tuple[str, ...] | None = None
    attrs: Mapping[str, Any] = field(default_factory=dict)
    chunks: Any = None
    compressors: Any = None


@dataclass(frozen=True)
class Given:
    """A dataset: its own attributes, those of groups below it, and its variables by path."""

    attrs: dict[str, Any]
    groups: list[tuple[str, dict[str, Any]]]
    variables: dict[str, Variable]


def dataset_of(dataset: Any, attrs: Mapping[str, Any] | None = None) -> Given:
    """From a mapping of names to arrays, an `xarray.Dataset` or `DataTree`, or a path that `convert` can read.

    Values of a mapping are array-likes, `Variable`s, pairs `(dims, values)` or triples `(dims, values, attrs)`.
    """
    if isinstance(dataset, Mapping) and type(dataset).__module__.partition(".")[0] != "xarray":
        variables = {_path(name): _variable(name, value) for name, value in dataset.items()}
        return _noted(dict(attrs or {}), _parents(variables), variables, {})
    if type(dataset).__name__ == "DataTree":
        return _of_tree(dataset, attrs)
    source = open_source(dataset)
    try:
        return of_source(source, attrs)
    finally:
        source.close()


def of_source(
    source: Source, attrs: Mapping[str, Any] | None = None, keep: Callable[[str], bool] | None = None
) -> Given:
    """All that a source has, or the variables to `keep`, read into memory."""
    specs = [spec for spec in source.arrays() if keep is None or keep(spec.path)]
    for one in source.skipped:
        if keep is None or keep(one.path):
            if one.damaged:
                raise FormatError(f"{source.label}: '{one.path}': {one.reason}; leave it out with exclude")
            source.warnings.append(f"{one.path}: left out: {one.reason}")
    groups = {group.path: group for group in source.groups()}
    variables = {}
    for spec in specs:
        with source.lock:
            values = source.read(spec.path, tuple(slice(0, n) for n in spec.shape))
        # What fills unwritten chunks (0 in HDF5 and Zarr) is a value like any other: only the attribute marks none.
        variables[spec.path or "data"] = Variable(values, spec.dims, dict(spec.attrs))
    kept = [
        (path, dict(group.attrs))
        for path, group in groups.items()
        if path and (keep is None or any(spec.path.startswith(f"{path}/") for spec in specs))
    ]
    own = dict(groups[""].attrs) if "" in groups else {}
    unlimited = {path: group.unlimited for path, group in groups.items()}
    return _noted(own | dict(attrs or {}), kept, variables, unlimited)


def _noted(
    attrs: dict[str, Any],
    groups: list[tuple[str, dict[str, Any]]],
    variables: dict[str, Variable],
    unlimited: Mapping[str, Iterable[str]],
) -> Given:
    """A dataset whose groups say what JSON would forget of attributes, fill values and dimensions."""
    members: dict[str, dict[str, Mapping[str, Any]]] = {}
    for path, variable in variables.items():
        if variable.attrs:
            parent, _, name = path.rpartition("/")
            members.setdefault(parent, {})[name] = variable.attrs

    def noted(path: str, own: dict[str, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = to_json(own)
        return kept | notes_of(own, members.get(path, {}), unlimited.get(path, ()))

    return Given(noted("", attrs), [(path, noted(path, own)) for path, own in groups], variables)


def _of_tree(tree: Any, attrs: Mapping[str, Any] | None) -> Given:
    parts = [(node.path.strip("/"), dataset_of(node.to_dataset(inherit=False))) for node in tree.subtree]
    variables = {
        f"{path}/{name}".strip("/"): variable
        for path, part in parts
        for name, variable in part.variables.items()
    }
    own = next((part.attrs for path, part in parts if not path), {})
    return Given(own | dict(attrs or {}), [(path, part.attrs) for path, part in parts if path], variables)


def _path(name: Any) -> str:
    if not isinstance(name, str) or not name.strip("/"):
        raise InvalidArgumentError(f"variable name: expected a text, found {name!r}")
    return name.strip("/")


def _variable(name: str, value: Any) -> Variable:
    if isinstance(value, Variable):
        return value
    if isinstance(value, tuple):
        if len(value) not in (2, 3) or not isinstance(value[0], str | tuple | list):
            raise InvalidTypeError(
                f"variable {name!r}: expected values, (dims, values) or (dims, values, attrs), "
                f"found a tuple of {len(value)}"
            )
        dims = (value[0],) if isinstance(value[0], str) else tuple(value[0])
        return Variable(value[1], dims, dict(value[2]) if len(value) == 3 else {})
    if type(value).__module__.partition(".")[0] == "xarray":
        return dataset_of(value.to_dataset(name=name)).variables[name]
    return Variable(value)


def _parents(variables: Mapping[str, Variable]) -> list[tuple[str, dict[str, Any]]]:
    found = {path[:end] for path in variables for end, letter in enumerate(path) if letter == "/"}
    return [(path, {}) for path in sorted(found)]


def values_of(name: str, variable: Variable) -> tuple[NDArray, Any]:
    """The values as an array, and the dtype to store them with."""
    values = variable.values
    if not isinstance(values, np.ndarray) or values.dtype.kind == "O":
        dtype = of_data(values)
        values = np.asanyarray(values)
    else:
        dtype = values.dtype
    if isinstance(dtype, np.dtype) and dtype.kind == "O":
        raise InvalidTypeError(f"variable {name!r}: elements are neither numbers nor texts")
    if variable.dims is not None and len(variable.dims) != values.ndim:
        raise InvalidArgumentError(
            f"variable {name!r}: expected {values.ndim} dimension names, found {variable.dims}"
        )
    return values, dtype


def unmasked(name: str, variable: Variable) -> Variable:
    """A variable without a mask: masked elements hold its `_FillValue`, or NaN or not-a-time.

    Raises `InvalidArgumentError` for types that have none of these.
    """
    values = variable.values
    if not isinstance(values, np.ma.MaskedArray):
        return variable
    if not np.ma.is_masked(values):
        return replace(variable, values=values.data)
    fill = variable.attrs.get("_FillValue")
    if fill is None:
        if values.dtype.kind not in "fcmM":
            raise InvalidArgumentError(
                f"variable {name!r}: masked elements of {values.dtype} need a _FillValue among the attributes"
            )
        fill = np.array("NaT" if values.dtype.kind in "mM" else np.nan, values.dtype)
    plain = values.data.copy()
    plain[np.ma.getmaskarray(values)] = np.asarray(fill).reshape(-1)[0]
    return replace(variable, values=plain)


def levels_of(given: Given) -> set[str]:
    """Paths of the variables that are levels of an OME-Zarr pyramid: they share dimensions, each of its own length."""
    found = set()
    for path, attrs in [("", given.attrs), *given.groups]:
        own = attrs.get("ome", attrs)
        images = own.get("multiscales") if isinstance(own, Mapping) else None
        for image in images if isinstance(images, list) else ():
            levels = image.get("datasets") if isinstance(image, Mapping) else None
            for level in levels if isinstance(levels, list) else ():
                if isinstance(level, Mapping) and isinstance(level.get("path"), str):
                    found.add(f"{path}/{level['path']}".strip("/"))
    return found


class Lengths:
    """Lengths of the dimensions of a dataset: in one group, a name stands for one length.

    levels: paths of variables of which this does not hold.
    """

    def __init__(self, levels: Container[str] = ()) -> None:
        self._levels = levels
        self._known: dict[tuple[str, str], tuple[int, str]] = {}

    def add(self, path: str, dims: tuple[str | None, ...] | None, shape: tuple[int, ...]) -> None:
        """Those of a variable. Raises `InvalidArgumentError` where another has another length."""
        if path in self._levels:
            return
        group = path.rpartition("/")[0]
        for dim, length in zip(dims or (), shape, strict=True) if dims else ():
            if dim is None:
                continue
            known, other = self._known.setdefault((group, dim), (length, path))
            if known != length:
                raise InvalidArgumentError(
                    f"variable {path!r}: dimension {dim!r} has length {length}, and {known} in {other!r}: "
                    "variables of one group share the lengths of dimensions; give one of them another name"
                )


def stored_attributes(variable: Variable, dtype: Any) -> tuple[dict[str, Any] | None, Any]:
    """The attributes as JSON holds them, with `_FillValue` as xarray reads it, and the fill value itself."""
    attrs = variable.attrs
    if not attrs:
        return None, None
    fill = attrs.get("_FillValue")
    kept = to_json({key: value for key, value in attrs.items() if key != "_FillValue"})
    if fill is None or not isinstance(dtype, np.dtype) or dtype.kind in "SU":
        return kept, fill if isinstance(fill, str | bytes) else None
    encoded = encode_fill(fill, dtype)
    if encoded is None:
        return kept, None
    kept["_FillValue"] = encoded
    return kept, np.asarray(fill).reshape(-1)[0]


def texts_of(values: NDArray, dtype: Any) -> list[str] | None:
    """The distinct texts of an array; stored single characters are joined along the last axis, as netCDF has them."""
    if values.dtype.kind not in "SUTO" or values.size > TEXTS:
        return None
    single = isinstance(dtype, np.dtype) and dtype.str[1:] in ("S1", "U1")
    if single and values.ndim:
        width = values.shape[-1]
        if width == 0:
            return None
        values = np.ascontiguousarray(values).view(f"{values.dtype.kind}{width}")
    try:
        distinct = {
            one.decode("utf-8", "replace") if isinstance(one, bytes) else str(one)
            for one in values.reshape(-1).tolist()
        }
    except TypeError:
        return None
    found = sorted({one.rstrip(" \0") for one in distinct})
    return found if len(found) <= DISTINCT and all(len(one) <= LONGEST for one in found) else None
