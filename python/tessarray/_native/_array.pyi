"""Arrays, and other ways to select from them."""

from collections.abc import Mapping
from typing import Any, Literal, Self, final

import numpy as np
import numpy.typing as npt

from tessarray._native._check import FindingFields
from tessarray._native._node import Node
from tessarray._native._session import Session
from tessarray._native._store import Store

@final
class Indexer:
    """Selects elements of an array in another way than `a[...]` does: `oindex`, `vindex`, `blocks`."""

    def __getitem__(self, key: Any) -> npt.NDArray[Any]: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def read(self, selection: Any, /, *, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """The selection, read into `out` where it is given; `out` has the dtype and shape of the result."""

class ArrayCore:
    """The engine's side of an array; see `tessarray.Array`."""

    def __new__(cls, node: Node, store: Store) -> Self: ...
    def __getitem__(self, key: Any) -> Any: ...
    def __setitem__(self, key: Any, value: Any) -> None: ...
    def __len__(self) -> int: ...
    def read(self, selection: Any = None, /, *, out: npt.NDArray[Any] | None = None) -> npt.NDArray[Any]:
        """Read a selection as `a[selection]` does, into `out` where it is given; the whole array where left out.

        `out` has the dtype and shape of the result and any strides; it is written in place, with no copy between.
        """

    def write(self, selection: Any, value: Any, /) -> None:
        """The same as `a[selection] = value`."""

    def append(self, data: Any, axis: int = 0) -> tuple[int, ...]:
        """Add elements at the end of an axis, and return the new shape.

        Other axes of `data` have the array's lengths. Data are stored first and the shape last: a reader never sees
        elements that were not written. Appends of several processes come one after the other.
        """

    def _resize(self, shape: tuple[int, ...]) -> None: ...
    def refresh(self) -> None:
        """Read the metadata again: what other processes appended becomes visible."""

    @property
    def oindex(self) -> Indexer:
        """Orthogonal indexing: each axis on its own, by integers, slices, integer arrays and masks."""

    @property
    def vindex(self) -> Indexer:
        """Single elements, by one integer array an axis (broadcast together) or a mask of the array's shape."""

    @property
    def blocks(self) -> Indexer:
        """Whole chunks (shards, where there are shards), by their place in the grid."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def data_type(self) -> str: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def itemsize(self) -> int: ...
    @property
    def nbytes(self) -> int:
        """Bytes of all elements in memory, uncompressed."""

    @property
    def chunks(self) -> tuple[int, ...]:
        """What is read at a time: the inner chunk, where there are shards.

        Raises `UnequalChunksError`, a `NotImplementedError`, where chunks have unequal lengths (a rectilinear grid).
        """

    @property
    def shards(self) -> tuple[int, ...] | None:
        """What is stored as one object, where that is more than a chunk. Raises as `chunks` does."""

    @property
    def chunk_grid(self) -> Literal["regular", "rectilinear"]:
        """The kind of the grid of stored chunks (of shards, where there are any)."""

    @property
    def read_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths along each axis of the chunks that are read on their own, clipped at the array's end."""

    @property
    def write_chunk_sizes(self) -> tuple[tuple[int, ...], ...]:
        """Lengths along each axis of what is stored as one object, clipped at the array's end."""

    @property
    def cdata_shape(self) -> tuple[int, ...]:
        """Chunks along each axis (inner chunks, where sharded)."""

    @property
    def path(self) -> str: ...
    @property
    def store(self) -> Store: ...
    @property
    def zarr_format(self) -> Literal[2, 3]: ...
    @property
    def dimension_names(self) -> tuple[str | None, ...] | None: ...
    @property
    def nobjects(self) -> int:
        """Chunk (or shard) objects in the grid."""

    def nobjects_stored(self) -> int:
        """Chunk (or shard) objects in the store; costs a listing."""

    def nbytes_stored(self) -> int:
        """Bytes the array takes in its store; costs a listing."""

    def _fill_bytes(self) -> bytes: ...
    def _attributes(self) -> dict[str, Any]: ...
    def _set_attributes(self, attributes: Mapping[str, Any]) -> None: ...
    def _codecs(self) -> list[dict[str, Any]]: ...
    def _documents(self) -> list[bytes]: ...
    def _check(self, deep: bool) -> list[FindingFields]: ...
    @property
    def _options(self) -> tuple[bool, bool, bool]: ...

def create_array(
    store: Store, path: str, arguments: Mapping[str, Any], overwrite: bool, session: Session | None = None
) -> Node: ...
def array_from_documents(
    store: Store, path: str, documents: list[bytes], session: Session | None = None
) -> Node: ...
