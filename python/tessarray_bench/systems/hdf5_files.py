"""What the libraries of HDF5 files have in common: a fleet is a folder of files, small arrays are of one file.

An adapter says how a file is made and opened, and how a variable of it is defined and found; the rest is here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tessarray_bench.model import Layout, Workload
from tessarray_bench.systems.base import System

SHUFFLES = ("none", "byte", "bit")  # by their numbers in the Blosc filter


class HDF5Files(System):
    """A library of HDF5 files. netCDF-4 files are HDF5 files: each library reads the other's."""

    suffix = ""  # of the files of a fleet

    @classmethod
    def variables(cls, workers: int | None) -> dict[str, str]:
        return {} if workers is None else {"BLOSC_NTHREADS": str(workers)}

    # ---- what an adapter says

    def made(self, path: Path) -> Any:
        """A new file, open for writing; a context manager."""
        raise NotImplementedError

    def opened(self, path: Path) -> Any:
        """A file, open for reading; a context manager."""
        raise NotImplementedError

    def stored(self, file: Any, name: str) -> Any:
        """A variable of a file; slicing it gives its values as they are stored."""
        raise NotImplementedError

    def named(self, file: Any) -> Mapping[str, Any]:
        """The variables of a file by name."""
        raise NotImplementedError

    def add(self, file: Any, name: str, shape: tuple[int, ...], dtype: str, layout: Layout | None) -> Any:
        """A new variable of a file, of fixed lengths, that assignment fills."""
        raise NotImplementedError

    # ---- a fleet: one file a dataset

    def write_fleet(
        self, path: Path, datasets: Iterator[tuple[str, dict[str, Any]]], workload: Workload
    ) -> None:
        path.mkdir()
        suffix = Path(self.store).suffix
        for name, variables in datasets:
            with self.made(path / f"{name}{suffix}") as file:
                for variable, values in variables.items():
                    layout = layout_of(workload, values.ndim)
                    self.add(file, variable, values.shape, values.dtype.str, layout)[...] = values

    def open_fleet(self, path: Path, workload: Workload) -> Path:
        self.suffix = next(path.iterdir()).suffix
        return path

    def read_fleet(self, handle: Path, variable: str, names: Sequence[str], share: float) -> list[Any]:
        found = []
        for name in names:
            with self.opened(handle / f"{name}{self.suffix}") as file:
                data = self.stored(file, variable)
                found.append(data[tuple(slice(math.ceil(share * n)) for n in data.shape)])
        return found

    def read_dataset(self, handle: Path, name: str) -> dict[str, Any]:
        with self.opened(handle / f"{name}{self.suffix}") as file:
            return {variable: self.stored(file, variable)[...] for variable in self.named(file)}

    # ---- small arrays: variables of one file

    def create_small(self, path: Path, workload: Workload) -> Any:
        return self.made(path)

    def write_small(self, array: Any, values: Any) -> None:
        array[...] = values

    def open_small(self, path: Path, workload: Workload) -> Any:
        return self.opened(path)

    def read_small(self, array: Any) -> Any:
        return array[...]

    def close(self, handle: Any) -> None:
        self.finish(handle)


def layout_of(workload: Workload, ndim: int) -> Layout | None:
    """The layout of a variable of a fleet, if one is asked for that has as many axes."""
    layout = workload.layout
    return layout if layout is not None and len(layout.chunks) == ndim else None
