"""Arrays of different lengths side by side: values one after the other, and how many belong to each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tessarray.errors import InvalidArgumentError, MissingPackageError, NotFoundError

__all__ = ["RaggedArray"]

NDArray = npt.NDArray[Any]


class RaggedArray:
    """Arrays of one dtype and rank, of different shapes. Made by `Collection.read`.

    names: of the datasets. values: all elements; where only the first axis differs, an array `[rows, ...]`, else flat.
    row_sizes: how many of them belong to each dataset. shapes: of each array, `[n, rank]`. dims: names of the
    dimensions, if known.

    >>> import numpy as np
    >>> ragged = RaggedArray(["a", "b"], np.arange(5.0), np.array([[3], [2]]), ("z",))
    >>> ragged[1].tolist(), ragged["a"].tolist(), len(ragged)
    ([3.0, 4.0], [0.0, 1.0, 2.0], 2)
    >>> ragged.pad().tolist()
    [[0.0, 1.0, 2.0], [3.0, 4.0, nan]]
    """

    def __init__(
        self,
        names: Sequence[str],
        values: NDArray,
        shapes: npt.NDArray[np.int64],
        dims: tuple[str | None, ...] | None = None,
    ) -> None:
        self.names = list(names)
        self.shapes = np.asarray(shapes, np.int64)
        # A selection may have dropped some: which, a name must not guess.
        self.dims = dims if dims is None or len(dims) == self.shapes.shape[1] else None
        flat = values.reshape(-1)
        rows = self.shapes[:, 1:]
        self._even = self.shapes.shape[1] > 0 and bool((rows == rows[:1]).all())
        counts = self.shapes.prod(axis=1)
        self._stops = np.cumsum(counts)
        if int(self._stops[-1] if len(counts) else 0) != flat.size:
            raise InvalidArgumentError(
                f"ragged array: expected {self._stops[-1]} elements, found {flat.size}"
            )
        self._flat = flat
        if self._even:
            tail = tuple(int(n) for n in rows[0]) if len(rows) else ()
            self.values = flat.reshape((int(self.shapes[:, 0].sum()), *tail))
            self.row_sizes = self.shapes[:, 0].copy()
        else:
            self.values, self.row_sizes = flat, counts

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the elements."""
        return self._flat.dtype

    @property
    def nbytes(self) -> int:
        """Bytes of the elements."""
        return self._flat.nbytes

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[NDArray]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, key: int | str) -> NDArray: ...
    @overload
    def __getitem__(self, key: slice) -> RaggedArray: ...
    def __getitem__(self, key: int | str | slice) -> NDArray | RaggedArray:
        """The array of a dataset, by place or name, without a copy; a slice of datasets."""
        if isinstance(key, slice):
            places = range(*key.indices(len(self)))
            parts = [self[i].reshape(-1) for i in places]
            values = np.concatenate(parts) if parts else self._flat[:0]
            return RaggedArray([self.names[i] for i in places], values, self.shapes[list(places)], self.dims)
        if isinstance(key, str):
            if key not in self.names:
                raise NotFoundError(f"no dataset {key!r} in this array", path=key)
            key = self.names.index(key)
        place = key + len(self) if key < 0 else key
        if not 0 <= place < len(self):
            raise IndexError(f"dataset {key} of {len(self)}")
        stop = int(self._stops[place])
        shape = tuple(int(n) for n in self.shapes[place])
        return self._flat[stop - int(np.prod(shape, dtype=np.int64)) : stop].reshape(shape)

    def pad(self, fill_value: Any = None) -> NDArray:
        """One array `[n, ...]` as long as the longest along every axis, the rest filled.

        fill_value: of what is not there; NaN, not-a-time or an empty text where left out, an error for other types.
        """
        if fill_value is None:
            if self.dtype.kind not in "fcmMTU":
                raise InvalidArgumentError(f"pad: {self.dtype} has no missing value; pass fill_value")
            fill_value = (
                ""
                if self.dtype.kind in "TU"
                else np.array("NaT" if self.dtype.kind in "mM" else np.nan, self.dtype)
            )
        longest = self.shapes.max(axis=0) if len(self) else self.shapes.sum(axis=0)
        out = np.full((len(self), *(int(n) for n in longest)), fill_value, self.dtype)
        if self._even and self.shapes.shape[1] and len(self):
            inside = np.arange(out.shape[1]) < self.row_sizes[:, None]
            out[inside] = self.values
            return out
        for place, part in enumerate(self):
            inner: tuple[Any, ...] = tuple(slice(0, n) for n in part.shape)
            out[(place, *inner)] = part
        return out

    def tolist(self) -> list[Any]:
        """Nested lists."""
        return [part.tolist() for part in self]

    def to_awkward(self) -> Any:
        """An awkward array of the same nesting. Needs awkward."""
        try:
            import awkward
        except ImportError as error:
            raise MissingPackageError("to_awkward needs awkward: pip install awkward") from error
        if self._even:
            return awkward.unflatten(awkward.from_numpy(self.values, regulararray=True), self.row_sizes)
        nested = awkward.from_numpy(self._flat)
        for axis in range(self.shapes.shape[1] - 1, -1, -1):
            # How often each dataset has a list along this axis, and how long those are.
            lists = self.shapes[:, :axis].prod(axis=1)
            nested = awkward.unflatten(nested, np.repeat(self.shapes[:, axis], lists))
        return nested

    def to_xarray(self, name: str = "values", pad: bool = False) -> Any:
        """A CF contiguous ragged array: the rows of all along `obs`, and `row_size` for each dataset. Needs xarray.

        Only for arrays that differ along their first axis (CF conventions, section 9.3.3).
        pad: instead, one array `[dataset, ...]` for arrays of any shapes, filled up as `pad` does.
        """
        import xarray

        names = np.array(self.names, dtype=object)
        if pad:
            rank = self.shapes.shape[1]
            dims = [(self.dims[i] if self.dims else None) or f"dim_{i}" for i in range(rank)]
            return xarray.Dataset(
                {name: (("dataset", *dims), self.pad())}, coords={"dataset": ("dataset", names)}
            )
        if not self._even:
            raise InvalidArgumentError(
                "to_xarray: CF ragged arrays differ along their first axis only; these differ along others: "
                "to_xarray(pad=True) fills them up, Collection.table makes a long table"
            )
        rest = [
            (self.dims[i] if self.dims is not None else None) or f"dim_{i}"
            for i in range(1, self.shapes.shape[1])
        ]
        sizes = (("dataset",), self.row_sizes, {"sample_dimension": "obs"})
        return xarray.Dataset(
            {name: (("obs", *rest), self.values), "row_size": sizes},
            coords={"dataset": ("dataset", names, {"cf_role": "timeseries_id"})},
            attrs={"featureType": "timeSeries", "Conventions": "CF-1.11"},
        )

    def __repr__(self) -> str:
        lengths = f"{self.row_sizes.min()} to {self.row_sizes.max()}" if len(self) else "none"
        unit = "rows" if self._even else "elements"
        return f"<RaggedArray {len(self)} datasets of {lengths} {unit}, {self.dtype}, {self.nbytes} bytes>"
