"""TIFF, OME-TIFF, ImageJ and whatever else tifffile reads: each series one array, axes as dimension names.

Series that lie flat in the file are mapped into memory; the others are decoded by page, only the tiles or strips that
a region touches.
"""

from __future__ import annotations

import itertools
import math
import re
import threading
from pathlib import Path
from typing import Any

import numpy as np

from tessarray.conversion.errors import FormatError
from tessarray.conversion.model import ArraySpec, GroupSpec, NDArray, Region
from tessarray.conversion.sources.base import FileSource, contiguous_chunk, need


class TiffSource(FileSource):
    """The series of one TIFF file, at full resolution: the root array if there is one, else named arrays."""

    kind = "TIFF"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.lock = threading.RLock()
        tifffile = need("tifffile", str(path))
        try:
            self._file = tifffile.TiffFile(path)
            series = list(self._file.series)
        except Exception as error:  # tifffile raises many kinds on damaged files
            raise FormatError(f"{path}: not readable as TIFF: {error}") from error
        if not series:
            raise FormatError(f"{path}: a TIFF file without images")
        self._series = {"": series[0]} if len(series) == 1 else _named(series)
        self._flat = {name: self._map(item) for name, item in self._series.items()}
        for name, item in self._series.items():
            if len(item.levels) > 1:
                self.warnings.append(
                    f"{name or path.name}: of {len(item.levels)} resolutions, the full one is copied"
                )

    def _map(self, series: Any) -> NDArray | None:
        if series.dataoffset is None or series.dtype is None:
            return None
        dtype = np.dtype(series.dtype).newbyteorder(self._file.byteorder)
        return np.memmap(self.path, dtype, "r", series.dataoffset, series.shape, "C")

    def groups(self) -> list[GroupSpec]:
        """Every group, parents first."""
        return [] if "" in self._series else [GroupSpec("")]

    def arrays(self) -> list[ArraySpec]:
        """Every array, in the source's order."""
        specs = []
        for name, series in self._series.items():
            shape = tuple(int(n) for n in series.shape)
            dims = (
                tuple(axis.lower() for axis in series.axes) if len(set(series.axes)) == len(shape) else None
            )
            chunk = contiguous_chunk(shape) if self._flat[name] is not None else _page_chunk(series)
            attrs = {"tiff_description": series.keyframe.description} if series.keyframe.description else {}
            specs.append(ArraySpec(name, shape, np.dtype(series.dtype), dims, attrs, None, chunk))
        return specs

    def read(self, path: str, region: Region) -> NDArray:
        """The values of a region, as they are stored."""
        flat = self._flat[path]
        if flat is not None:
            return np.array(flat[region])
        with self.lock:
            try:
                return self._read_pages(self._series[path], region)
            except (ValueError, RuntimeError, OSError) as error:
                raise FormatError(f"{self.path}: series '{path}' cannot be read: {error}") from error

    def _read_pages(self, series: Any, region: Region) -> NDArray:
        outer = len(series.shape) - len(series.keyframe.shape)
        out = np.empty([part.stop - part.start for part in region], series.dtype)
        for corner in itertools.product(*(range(part.start, part.stop) for part in region[:outer])):
            number = int(np.ravel_multi_index(corner, series.shape[:outer])) if corner else 0
            place = tuple(at - part.start for at, part in zip(corner, region, strict=False))
            page = series.pages[number]
            # A missing page of a series reads as zeros, as tifffile has it.
            out[place] = 0 if page is None else _read_page(page, region[outer:])
        return out

    def close(self) -> None:
        """Give files back."""
        self._flat = {}
        self._file.close()


def _named(series: list[Any]) -> dict[str, Any]:
    names = [
        re.sub(r"[^\w.-]+", "_", item.name).strip("._") or f"series_{at}" for at, item in enumerate(series)
    ]
    if len(set(names)) < len(names):
        names = [f"{name}_{at}" for at, name in enumerate(names)]
    return dict(zip(names, series, strict=True))


def _page_chunk(series: Any) -> tuple[int, ...]:
    page = series.keyframe
    outer = (1,) * (len(series.shape) - len(page.shape))
    if page.is_tiled and len(page.shape) == 2:
        return (*outer, page.tilelength, page.tilewidth)
    if len(page.shape) == 2 and page.rowsperstrip:
        return (*outer, min(page.rowsperstrip, page.shape[0]), page.shape[1])
    return (*outer, *page.shape)


def _read_page(page: Any, region: Region) -> NDArray:
    """A region of one page: only its segments if it is a plain plane, else all of it."""
    keyframe = page.keyframe
    if len(keyframe.shape) != 2 or math.prod(keyframe.chunked) <= 1:
        return np.asarray(page.asarray()[region])
    rows, columns = region
    height, width = keyframe.chunks[:2]
    across = math.ceil(keyframe.shape[1] / width)
    out = np.zeros((rows.stop - rows.start, columns.stop - columns.start), keyframe.dtype)
    file = page.parent.filehandle
    for row in range(rows.start // height, math.ceil(rows.stop / height)):
        for column in range(columns.start // width, math.ceil(columns.stop / width)):
            index = row * across + column
            file.seek(page.dataoffsets[index])
            data = file.read(page.databytecounts[index])
            tile = keyframe.decode(data, index, jpegtables=page.jpegtables)[0]
            if tile is not None:
                _place(out, tile[0, :, :, 0], (rows.start, columns.start), (row * height, column * width))
    return out


def _place(out: NDArray, tile: NDArray, origin: tuple[int, int], corner: tuple[int, int]) -> None:
    """Copy what a tile whose first pixel is `corner` shares with `out`, whose first pixel is `origin`."""
    into, part = [], []
    for axis in range(2):
        low = max(corner[axis], origin[axis])
        high = min(corner[axis] + tile.shape[axis], origin[axis] + out.shape[axis])
        into.append(slice(low - origin[axis], high - origin[axis]))
        part.append(slice(low - corner[axis], high - corner[axis]))
    out[tuple(into)] = tile[tuple(part)]
