"""netCDF-3 (CDF-1, CDF-2 and CDF-5), read as its specification lays it out.

The format is a header and flat big-endian values. A fleet of small files spends its time in a general library's calls,
some sixty microseconds a variable; here a header is walked once, and values are views of what was read. The tests
hold it against the netCDF library.
"""

from __future__ import annotations

import math
import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region
from tessarray.conversion.sources.base import FileSource, contiguous_chunk

KINDS = {1: "NETCDF3 CLASSIC", 2: "NETCDF3 64BIT OFFSET", 5: "NETCDF3 64BIT DATA"}
# nc_type of the specification: byte, char, short, int, float, double, and those of CDF-5.
TYPES = {
    1: "i1", 2: "S1", 3: ">i2", 4: ">i4", 5: ">f4", 6: ">f8",
    7: "u1", 8: ">u2", 9: ">u4", 10: ">i8", 11: ">u8",
}  # fmt: skip
CHAR = 2
DIMENSIONS, VARIABLES, ATTRIBUTES = 10, 11, 12
# Smaller files are read whole; of larger ones, the pages that are needed.
WHOLE = 16 << 20


@dataclass(frozen=True)
class _Variable:
    """Where the values of a variable lie. step: bytes from one record to the next; 0 for a variable without records."""

    spec: ArraySpec
    dtype: np.dtype[Any]
    begin: int
    step: int


class ClassicSource(FileSource):
    """One netCDF-3 file. Reads may overlap."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self._data: bytes | mmap.mmap
        with path.open("rb") as file:
            if path.stat().st_size <= WHOLE:
                self._data = file.read()
            else:
                self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            header = _Header(self._data)
            self.kind = KINDS[header.version]
            self._attrs, self._unlimited = header.attrs, header.unlimited
            self._variables = header.variables()
        except (struct.error, ValueError, KeyError, IndexError, OverflowError) as error:
            self.close()
            raise FormatError(f"{path}: not readable as netCDF: the header is damaged: {error}") from error

    def groups(self) -> list[GroupSpec]:
        """Every group, parents first."""
        return [GroupSpec("", dict(self._attrs), self._unlimited)]

    def arrays(self) -> list[ArraySpec]:
        """Every array, in the source's order."""
        return [variable.spec for variable in self._variables.values()]

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region, as they are stored."""
        variable = self._variables[path]
        shape, dtype = variable.spec.shape, variable.dtype
        if math.prod(shape) == 0:
            return np.empty(shape, dtype.newbyteorder("="))[region]
        strides = [dtype.itemsize] * len(shape)
        for axis in reversed(range(len(shape) - 1)):
            strides[axis] = strides[axis + 1] * shape[axis + 1]
        if variable.step:
            strides[0] = variable.step
        end = variable.begin + dtype.itemsize
        end += sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
        if end > len(self._data):
            raise FormatError(
                f"{self.path}: variable '{path}' cannot be read: the file is truncated: expected {end} bytes, "
                f"found {len(self._data)}"
            )
        values: NDArray = np.ndarray(shape, dtype, self._data, variable.begin, tuple(strides))
        return values[region].astype(dtype.newbyteorder("="))

    def close(self) -> None:
        """Give files back."""
        if isinstance(self._data, mmap.mmap):
            self._data.close()


class _Header:
    """The header of a file. Raises `ValueError` and `struct.error` where it is damaged."""

    def __init__(self, data: bytes | mmap.mmap) -> None:
        self._data, self._at = data, 4
        self.version = data[3]
        wide = self.version == 5
        # Counts and lengths; where values begin.
        self._count = struct.Struct(">q" if wide else ">i")
        self._offset = struct.Struct(">i" if self.version == 1 else ">q")
        self._int = struct.Struct(">i")
        records = self._take(self._count)
        self._dimensions = self._dims()
        self.unlimited = tuple(name for name, length in self._dimensions if length == 0)
        self.attrs = self._attributes()
        self._found = self._layouts()
        self._step = self._record()
        # A file that is being written says -1: as many records as there are.
        self._records = records if records >= 0 else self._written()

    def _take(self, kind: struct.Struct) -> int:
        (value,) = kind.unpack_from(self._data, self._at)
        self._at += kind.size
        return int(value)

    def _length(self) -> int:
        """A count of things that are there: each has a byte at least."""
        count = self._take(self._count)
        if not 0 <= count <= len(self._data) - self._at:
            raise ValueError(f"at {self._at}: a count of {count}")
        return count

    def _bytes(self, count: int) -> bytes:
        begin = self._at
        self._at += count + -count % 4
        found = self._data[begin : begin + count]
        if len(found) < count:
            raise ValueError(f"at {begin}: expected {count} bytes, found {len(found)}")
        return found

    def _name(self) -> str:
        # Some writers count the NUL that ends a name in C; the netCDF library ends the name there, too.
        return self._bytes(self._length()).partition(b"\0")[0].decode("utf-8")

    def _list(self, tag: int) -> range:
        """The numbers of the items of a list."""
        found, count = self._take(self._int), self._length()
        if found != tag and (found, count) != (0, 0):
            raise ValueError(f"at {self._at}: expected a list of kind {tag}, found {found}")
        return range(count)

    def _dims(self) -> list[tuple[str, int]]:
        found = []
        for _ in self._list(DIMENSIONS):
            name, length = self._name(), self._take(self._count)
            if length < 0:
                raise ValueError(f"dimension '{name}' has length {length}")
            found.append((name, length))
        return found

    def _attributes(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _ in self._list(ATTRIBUTES):
            name, kind, count = self._name(), self._take(self._int), self._length()
            if kind == CHAR:
                text = self._bytes(count)
                # As the netCDF4 package gives them: a fill value is a byte.
                found[name] = (
                    text if name == "_FillValue" else text.decode("utf-8", "replace").replace("\0", "")
                )
                continue
            dtype = np.dtype(TYPES[kind])
            values = np.frombuffer(self._bytes(count * dtype.itemsize), dtype).astype(dtype.newbyteorder("="))
            found[name] = values[0] if count == 1 else values
        return found

    def _layouts(self) -> list[tuple[str, list[int], dict[str, Any], np.dtype[Any], int]]:
        found = []
        for _ in self._list(VARIABLES):
            name = self._name()
            dims = [self._take(self._count) for _ in range(self._length())]
            if any(not 0 <= dim < len(self._dimensions) for dim in dims):
                raise ValueError(f"variable '{name}' names a dimension that is not there: {dims}")
            attrs, kind = self._attributes(), self._take(self._int)
            # The size of the variable follows from its shape, and does not always fit here.
            self._take(self._count)
            begin = self._take(self._offset)
            if begin < 0:
                raise ValueError(f"variable '{name}' begins at {begin}")
            found.append((name, dims, attrs, np.dtype(TYPES[kind]), begin))
        return found

    def _has_records(self, dims: list[int]) -> bool:
        return bool(dims) and self._dimensions[dims[0]][1] == 0

    def _record(self) -> int:
        """Bytes of one record of all variables."""
        sizes = [
            math.prod(self._dimensions[dim][1] for dim in dims[1:]) * dtype.itemsize
            for _, dims, _, dtype, _ in self._found
            if self._has_records(dims)
        ]
        # Each variable's is filled up to four bytes, but not that of one alone.
        return sizes[0] if len(sizes) == 1 else sum(size + -size % 4 for size in sizes)

    def _written(self) -> int:
        begins = [begin for _, dims, _, _, begin in self._found if self._has_records(dims)]
        return max(len(self._data) - min(begins), 0) // max(self._step, 1) if begins else 0

    def variables(self) -> dict[str, _Variable]:
        """The variables by name."""
        found = {}
        for name, dims, attrs, dtype, begin in self._found:
            records = self._has_records(dims)
            lengths = [self._dimensions[dim][1] for dim in dims]
            shape = (self._records, *lengths[1:]) if records else tuple(lengths)
            fill = attrs.get("_FillValue")
            if fill is not None and dtype.kind == "S":
                attrs["_FillValue"] = fill = np.bytes_(fill)
            names = tuple(self._dimensions[dim][0] for dim in dims)
            spec = ArraySpec(
                name, shape, dtype.newbyteorder("="), names, attrs, fill, contiguous_chunk(shape)
            )
            found[name] = _Variable(spec, dtype, begin, self._step if records else 0)
        return found
