"""`.npy` and `.npz` files, mapped into memory where they lie flat. Pickled arrays are refused."""

from __future__ import annotations

import math
import mmap
import threading
import tokenize
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format

from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region
from tessarray.conversion.sources.base import FileSource, contiguous_chunk

# What NumPy and zipfile raise of files that are none: the header is parsed as a Python literal.
BROKEN = (
    ArithmeticError, AttributeError, EOFError, LookupError, MemoryError, NotImplementedError, OSError, RuntimeError,
    SyntaxError, TypeError, ValueError, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
FORGOTTEN = 1 << 20  # bytes of a read above which the pages of the file are given back


@contextmanager
def readable(path: Path, kind: str, member: str = "") -> Iterator[None]:
    """Makes one error, with the file and its member, of all that a file of this kind can be broken by."""
    try:
        yield
    except BROKEN as error:
        place = f"{path}: {member}" if member else str(path)
        reason = str(error).partition("\n")[0] or type(error).__name__
        raise FormatError(f"{place}: not readable as {kind}: {reason}") from error


class NpySource(FileSource):
    """One array in a `.npy` file: the root of the store."""

    kind = "npy"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with readable(path, self.kind):
            self._values = np.lib.format.open_memmap(path, mode="r")

    def groups(self) -> list[GroupSpec]:
        """Every group, parents first."""
        return []

    def arrays(self) -> list[ArraySpec]:
        """Every array, in the source's order."""
        values = self._values
        return [ArraySpec("", values.shape, values.dtype, chunk=contiguous_chunk(values.shape))]

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region, as they are stored."""
        found = np.array(self._values[region])
        if found.nbytes >= FORGOTTEN:
            # What was copied need not stay mapped: pages of the file count as memory of this process.
            mapped = getattr(self._values, "_mmap", None)
            if mapped is not None and hasattr(mmap, "MADV_DONTNEED"):
                mapped.madvise(mmap.MADV_DONTNEED)
        return found

    def close(self) -> None:
        """Give files back."""
        del self._values


class NpzSource(FileSource):
    """The arrays of a `.npz` file. A stored (uncompressed) member is mapped; a deflated one is decoded whole, once."""

    kind = "npz"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._loaded: tuple[str, NDArray] | None = None
        self._loading = threading.Lock()
        with readable(path, self.kind):
            self._zip = zipfile.ZipFile(path)
        members = [info for info in self._zip.infolist() if info.filename.endswith(".npy")]
        self._specs = [self._spec(info) for info in members]

    def _spec(self, info: zipfile.ZipInfo) -> ArraySpec:
        name = info.filename.removesuffix(".npy")
        with readable(self.path, self.kind, info.filename), self._zip.open(info) as member:
            shape, dtype = _header(member)
            expected, found = member.tell() + math.prod(shape) * dtype.itemsize, info.file_size
            if min(shape, default=0) < 0 or expected != found:
                raise ValueError(
                    f"expected {expected} bytes of shape {shape} and type {dtype}, found {found}"
                )
        # A deflated member cannot be entered in the middle: one read takes it all.
        flat = info.compress_type == zipfile.ZIP_STORED
        return ArraySpec(
            name, shape, dtype, chunk=contiguous_chunk(shape) if flat else tuple(max(n, 1) for n in shape)
        )

    def groups(self) -> list[GroupSpec]:
        """Every group, parents first."""
        return [GroupSpec("")]

    def arrays(self) -> list[ArraySpec]:
        """Every array, in the source's order."""
        return self._specs

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region, as they are stored."""
        # Blocks of several members are read at once. One member is held at a time, so that memory holds no more than
        # the largest; a reader keeps the one it was given while another reader moves on.
        with self._loading:
            if self._loaded is None or self._loaded[0] != path:
                self._loaded = None
                self._loaded = (path, self._open(path))
            values = self._loaded[1]
        return np.array(values[region])

    def _open(self, path: str) -> NDArray:
        with readable(self.path, self.kind, f"{path}.npy"):
            return self._values(self._zip.getinfo(f"{path}.npy"))

    def _values(self, info: zipfile.ZipInfo) -> NDArray:
        if info.compress_type == zipfile.ZIP_STORED:
            with self._zip.open(info) as member:
                shape, dtype = _header(member)
                skipped = member.tell()
            return np.memmap(
                self.path, dtype, "r", _data_offset(self.path, info) + skipped, shape, _order(self._zip, info)
            )
        with self._zip.open(info) as member:
            return np.asarray(npy_format.read_array(member, allow_pickle=False))

    def close(self) -> None:
        """Give files back."""
        self._loaded = None
        self._zip.close()


def _header(member: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    version = npy_format.read_magic(member)
    read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
    shape, _, dtype = read(member)
    if dtype.hasobject:
        raise ValueError("it holds pickled objects, which are not loaded")
    return shape, dtype


def _order(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Any:
    with archive.open(info) as member:
        version = npy_format.read_magic(member)
        read = npy_format.read_array_header_1_0 if version == (1, 0) else npy_format.read_array_header_2_0
        return "F" if read(member)[1] else "C"


def _data_offset(path: Path, info: zipfile.ZipInfo) -> int:
    """Where a member's bytes begin: after its local header, whose two variable lengths stand at 26 and 28."""
    with path.open("rb") as file:
        file.seek(info.header_offset + 26)
        lengths = np.frombuffer(file.read(4), "<u2")
    return info.header_offset + 30 + int(lengths.sum())
