"""Arrays: N-dimensional, chunked, stored; sliced as NumPy's are."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from tessarray import _native
from tessarray._native import ArrayCore, ChunkStream, Node, Store
from tessarray.array_appender import ArrayAppender
from tessarray.array_arguments import shape_of
from tessarray.codec_chain import split_chain
from tessarray.display.units import byte_text
from tessarray.dtypes import element
from tessarray.durations import seconds
from tessarray.findings import Finding
from tessarray.stored_node import StoredNode
from tessarray.summary import Info, codec_text, lengths_text

__all__ = ["Array"]

NDArray = npt.NDArray[Any]
Fields = str | Sequence[str]


class Array(StoredNode, ArrayCore):
    """An array in a store. Made by `create_array`, `open_array` and `group[name]`.

    `a[...]` reads and writes with NumPy's basic indexing in full: integers, slices of any step, `...`, and `None`
    when reading. Index arrays and masks follow zarr-python: a mask of the array's shape, or integer arrays for every
    axis, select single elements as `vindex` does; one array among slices selects as `oindex` does. Fields of structured
    elements are read by name, as `a["f"]`, `a["f", 1:3]` and `a[["f", "g"]]`, and written whole. A result is always
    a new array, except that a zero-dimensional array gives a scalar; an element of a larger array is a 0-d array.

    Any number of threads may use one array, and other processes may write to it at the same time: each write of a
    chunk or shard is atomic. A read costs the chunks it touches, decoded in parallel straight into the result, whose
    memory is allocated once.

    >>> import numpy as np, tessarray
    >>> a = tessarray.create_array({}, shape=(4, 6), chunks=(2, 3), dtype="int32")
    >>> a[1, ::2] = [1, 2, 3]
    >>> a[:2, ::2]
    array([[0, 0, 0],
           [1, 2, 3]], dtype=int32)
    """

    def resize(self, shape: int | Iterable[int]) -> None:
        """Change the shape; an integer is the length of an array of one dimension.

        Elements outside the new shape are dropped, and stay dropped if the array grows again; new ones hold the fill
        value. Costs the metadata, and the deletion of the chunks outside.
        """
        self._resize(shape_of(shape, "shape"))

    @property
    def fill_value(self) -> Any:
        """What elements that were never written hold: a NumPy scalar, `str` or `bytes`."""
        return element(self._fill_bytes(), self.data_type, self.dtype)

    @property
    def codecs(self) -> tuple[dict[str, Any], ...]:
        """The whole codec chain as Zarr v3 JSON; that of a v2 array is translated."""
        return tuple(self._codecs())

    @property
    def config(self) -> dict[str, Any]:
        """How this handle reads and writes, as in zarr-python: `order` and the switches of `open_array`."""
        _, empty, missing = self._options
        return {"order": "C", "write_empty_chunks": empty, "read_missing_chunks": missing}

    @property
    def verify(self) -> Literal["first", "always"]:
        """Whether checksums are verified at every read, or when a chunk is first read and after every write."""
        return "always" if self._options[0] else "first"

    @property
    def filters(self) -> tuple[dict[str, Any], ...]:
        """Array-to-array codecs of a chunk (of the inner chunk, where sharded)."""
        return split_chain(self._codecs())[0]

    @property
    def serializer(self) -> dict[str, Any]:
        """The array-to-bytes codec of a chunk."""
        return split_chain(self._codecs())[1]

    @property
    def compressors(self) -> tuple[dict[str, Any], ...]:
        """Bytes-to-bytes codecs of a chunk."""
        return split_chain(self._codecs())[2]

    @property
    def order(self) -> Literal["C", "F"]:
        """`"F"` where chunks are stored in Fortran order."""
        backwards = list(range(self.ndim))[::-1]
        orders = [f.get("configuration", {}).get("order") for f in self.filters if f["name"] == "transpose"]
        return "F" if self.ndim > 1 and orders == [backwards] else "C"

    @property
    def _chunk_lengths(self) -> list[Any]:
        """The lengths along each axis of what is stored as one object, as the metadata list them."""
        if self.chunk_grid == "regular":
            return list(self.shards or self.chunks)
        return list(self.metadata["chunk_grid"]["configuration"]["chunk_shapes"])

    @property
    def _is_sharded(self) -> bool:
        return any(codec["name"] == "sharding_indexed" for codec in self._codecs())

    @property
    def nchunks(self) -> int:
        """Chunks in all."""
        return int(np.prod(self.cdata_shape, dtype=object))

    @property
    def nchunks_initialized(self) -> int:
        """Chunks (or shards) that are stored; costs a listing."""
        return self.nobjects_stored()

    def chunk_stream(
        self,
        selection: Any = None,
        *,
        ordered: bool = True,
        prefetch: int | None = None,
        by: Literal["shard", "chunk"] = "shard",
    ) -> ChunkStream:
        """Iterate over the array chunk by chunk, several read at a time, with bounded memory.

        Gives `(region, values)`: a tuple of slices, and what `a[region]` would be. `ordered` goes through the chunks
        in C order, otherwise whichever is ready comes next. At most `prefetch` chunks (default: threads + 1) are read
        ahead, so memory is `prefetch + 1` of them. `by` `"shard"` goes by what is stored as one object, `"chunk"`
        by inner chunks. `selection` limits it to a box: integers and slices of step 1.

        Dropping or closing the stream stops it after the chunks under way. Not for use across a fork.

        >>> import numpy as np, tessarray
        >>> a = tessarray.create_array({}, data=np.arange(10), chunks=4)
        >>> [(region[0].start, int(values.sum())) for region, values in a.chunk_stream()]
        [(0, 6), (4, 22), (8, 17)]
        """
        if by not in ("shard", "chunk"):
            raise _wrong("by", "'shard' or 'chunk'", by)
        return _native.chunk_stream(self, selection, ordered, prefetch, by == "shard")

    def appender(
        self,
        axis: int = 0,
        *,
        max_bytes: int = 1 << 28,
        flush: str | float | datetime.timedelta | None = None,
    ) -> ArrayAppender:
        """A streaming writer: takes single frames, and appends them in whole rows of chunks, in the background.

        Frames are gathered until a row of chunks (of shards, where there are any) along `axis` is full; then it is
        encoded by the worker threads and appended as `append` does, data first and metadata last, while further frames
        are taken. Readers see frames when their row is full, after `flush`, or when the appender is closed, at the end
        of a `with` block. What is gathered is lost if the process is killed before that; everything else is kept. One
        that nobody closed is closed, with a `ResourceWarning`, when it is collected or the interpreter ends.

        With `flush` (`"1s"`, seconds, a `timedelta`), what is gathered is stored at this interval, too: readers, and a
        process that is killed, are at most so far behind. Chunks that are not full by then are written again.

        At most `max_bytes` are gathered (256 MiB, and no less than two rows of inner chunks); near that, `append`
        keeps to the pace of the writer. Errors of the writer are raised by the next call, and nothing that was taken
        is dropped.

        >>> import numpy as np, tessarray
        >>> a = tessarray.create_array({}, shape=(0, 4), chunks=(10, 4), dtype="uint16")
        >>> with a.appender() as stream:
        ...     for i in range(25):
        ...         stream.append(np.full(4, i))
        >>> a.shape, a[24].tolist()
        ((25, 4), [24, 24, 24, 24])
        """
        interval = None if flush is None else seconds(flush, "flush")
        if interval == 0:
            raise _wrong("flush", "a length of time above 0", flush)
        return ArrayAppender(self, axis, max_bytes, interval)

    def check(self, deep: bool = False) -> list[Finding]:
        """Look for damage in the array's chunks; `deep` decodes each of them."""
        return [Finding(**finding) for finding in self._check(deep)]

    @property
    def info(self) -> Info:
        """A readable summary; `info_complete()` adds what costs a listing of the store."""
        return self._info(())

    def info_complete(self) -> Info:
        """The summary with the stored size, which costs a listing of the store."""
        stored = self.nbytes_stored()
        ratio = f", {self.nbytes / stored:.1f} times smaller" if stored else ""
        return self._info(
            (
                ("stored", f"{stored:,} bytes ({byte_text(stored)}{ratio})"),
                ("objects", f"{self.nobjects_stored():,} of {self.nobjects:,}"),
            )
        )

    def _info(self, more: tuple[tuple[str, str], ...]) -> Info:
        names = self.dimension_names
        listed = self.chunk_grid == "rectilinear"
        cut = lengths_text(self._chunk_lengths) if listed else str(self.chunks)
        shards = (cut if self._is_sharded else None) if listed else self.shards
        rows = [
            ("shape", str(self.shape)),
            *([("dimensions", ", ".join(name or "-" for name in names))] if names else []),
            ("data type", self.data_type),
            ("chunks", f"{cut if shards is None else self.chunks} ({self.nchunks:,})"),
            ("shards", str(shards) if shards else "none"),
            ("fill value", repr(fill) if isinstance(fill := self.fill_value, str | bytes) else str(fill)),
            ("order", self.order),
            ("filters", codec_text(self.filters)),
            ("serializer", codec_text([self.serializer])),
            ("compressors", codec_text(self.compressors)),
            ("bytes", f"{self.nbytes:,} ({byte_text(self.nbytes)})"),
            *more,
            ("attributes", str(len(self.attrs))),
            ("format", f"Zarr v{self.zarr_format}"),
            ("store", self.store.describe() + (", read-only" if self.read_only else "")),
        ]
        return Info(f"Array {self.name}", tuple(rows))

    def __repr__(self) -> str:
        return f"<Array {self.name} shape={self.shape} dtype={self.data_type} in {self.store.describe()}>"

    def _repr_html_(self) -> str:
        return self.info._repr_html_()

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> NDArray:
        if copy is False:
            raise ValueError("an array in a store cannot be had without a copy")
        values = self.read()
        return values if dtype is None else values.astype(dtype, copy=False)

    def __iter__(self) -> Iterator[Any]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        regular = self.chunk_grid == "regular"
        start = 0
        for rows in repeat((self.shards or self.chunks)[0]) if regular else self.write_chunk_sizes[0]:
            if start >= len(self):
                return
            yield from self[start : start + rows]
            start += rows

    def __contains__(self, value: object) -> bool:
        return any(bool((values == value).any()) for _, values in self.chunk_stream(ordered=False))

    def __bool__(self) -> bool:
        if self.size == 1:
            return bool(self.read())
        raise ValueError("the truth value of an array with more than one element, or none, is ambiguous")

    def __float__(self) -> float:
        return float(self.read())

    def __int__(self) -> int:
        return int(self.read())

    def __eq__(self, other: object) -> bool:
        """Whether both are handles of the same array, with the same metadata; values are not compared."""
        if not isinstance(other, Array):
            return NotImplemented
        return self is other or (
            self.path == other.path and self.store == other.store and self._documents() == other._documents()
        )

    def __hash__(self) -> int:
        return hash((self.store, self.path))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_array_from_pickle, (type(self), self.store, self.path, self._documents(), self._options))

    # The names zarr-python has for the ways to select.

    def get_basic_selection(
        self, selection: Any = ..., *, out: NDArray | None = None, fields: Fields | None = None
    ) -> Any:
        """`a[selection]`, into `out` where it is given; of structured elements these fields only."""
        if out is None:
            return self[_with(selection, fields)]
        if fields is not None:
            raise _wrong("fields", "none where out is given", fields)
        return self.read(selection, out=out)

    def set_basic_selection(
        self, selection: Any, value: npt.ArrayLike, *, fields: Fields | None = None
    ) -> None:
        """`a[selection] = value`; of structured elements these fields only."""
        self[_with(selection, fields)] = value

    def get_orthogonal_selection(
        self, selection: Any, *, out: NDArray | None = None, fields: Fields | None = None
    ) -> NDArray:
        """`a.oindex[selection]`, into `out` if it is given; of structured elements these fields only."""
        return _picked(self.oindex, selection, fields, out)

    def set_orthogonal_selection(
        self, selection: Any, value: npt.ArrayLike, *, fields: Fields | None = None
    ) -> None:
        """`a.oindex[selection] = value`; of structured elements these fields only."""
        self.oindex[_with(selection, fields)] = value

    def get_coordinate_selection(
        self, selection: Any, *, out: NDArray | None = None, fields: Fields | None = None
    ) -> NDArray:
        """`a.vindex[selection]`, into `out` if it is given; of structured elements these fields only."""
        return _picked(self.vindex, selection, fields, out)

    def set_coordinate_selection(
        self, selection: Any, value: npt.ArrayLike, *, fields: Fields | None = None
    ) -> None:
        """`a.vindex[selection] = value`; of structured elements these fields only."""
        self.vindex[_with(selection, fields)] = value

    def get_mask_selection(
        self, mask: Any, *, out: NDArray | None = None, fields: Fields | None = None
    ) -> NDArray:
        """The elements at which a mask of the array's shape is true, into `out` if it is given."""
        return _picked(self.vindex, np.asarray(mask, bool), fields, out)

    def set_mask_selection(self, mask: Any, value: npt.ArrayLike, *, fields: Fields | None = None) -> None:
        """Write where a mask of the array's shape is true; of structured elements these fields only."""
        self.vindex[_with(np.asarray(mask, bool), fields)] = value

    def get_block_selection(
        self, selection: Any, *, out: NDArray | None = None, fields: Fields | None = None
    ) -> NDArray:
        """`a.blocks[selection]`, into `out` if it is given; of structured elements these fields only."""
        return _picked(self.blocks, selection, fields, out)

    def set_block_selection(
        self, selection: Any, value: npt.ArrayLike, *, fields: Fields | None = None
    ) -> None:
        """`a.blocks[selection] = value`; of structured elements these fields only."""
        self.blocks[_with(selection, fields)] = value


def _with(selection: Any, fields: Fields | None) -> Any:
    """A selection with the names of fields, as the brackets take it."""
    if fields is None:
        return selection
    names = fields if isinstance(fields, str) else list(fields)
    return (*selection, names) if isinstance(selection, tuple) else (selection, names)


def _picked(indexer: Any, selection: Any, fields: Fields | None, out: NDArray | None) -> NDArray:
    """What an indexer gives, into `out` if it is given; of structured elements these fields only."""
    if fields is not None and out is not None:
        raise _wrong("fields", "none where out is given", fields)
    found: NDArray = indexer[_with(selection, fields)] if out is None else indexer.read(selection, out=out)
    return found


def _wrong(name: str, expected: str, found: object) -> Exception:
    from tessarray.errors import InvalidArgumentError

    return InvalidArgumentError(
        f"{name}: expected {expected}, found {found!r}", expected=expected, found=str(found)
    )


def _array_from_pickle(
    cls: type[Array], store: Store, path: str, documents: list[bytes], options: tuple[bool, bool, bool]
) -> Array:
    """Rebuilds an array without touching the store."""
    node: Node = _native.array_from_documents(store, path, documents)
    return cls(node.configured(options), store)
