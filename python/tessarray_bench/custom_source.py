"""Values of a workload file that lie in a file of the user's: `.npy`, or a variable of a netCDF or HDF5 file."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tessarray_bench import data as values_of
from tessarray_bench.custom_table import CustomError, Table, meant
from tessarray_bench.model import Data

DTYPES = ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "string")
MAGIC_HDF5 = b"\x89HDF\r\n\x1a\n"


def describe(table: Table, folder: Path) -> Data:
    """What lies in the file that a `[data]` table names, seen from a folder."""
    for key in ("shape", "dtype", "kind", "seed"):
        if key in table:
            raise table.wrong(key, "nothing, as `file` has the values")
    path = folder / table.text("file")
    if not path.is_file():
        raise table.wrong("file", "a file that is there", f"looked for {path}")
    if "variable" in table:
        variable = table.text("variable")
        with _opened(table.file, table.at("variable"), path, variable) as found:
            shape, dtype = tuple(int(n) for n in found.shape), _short(table, "variable", found.dtype)
        place = f"{path}::{variable}"
    elif path.suffix == ".npy":
        try:
            stored = np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, OSError, EOFError) as problem:
            raise table.wrong("file", "a .npy file without objects", " ".join(str(problem).split())) from None
        if not stored.dtype.isnative:
            raise table.wrong("file", "values in this machine's byte order", f"it has {stored.dtype.str}")
        shape, dtype, place = stored.shape, _short(table, "file", stored.dtype), str(path)
    else:
        raise table.wrong("file", "a .npy file, or `variable` beside it for netCDF and HDF5")
    if not shape or 0 in shape:
        raise table.wrong("file", "values along at least one axis", f"the shape is {list(shape)}")
    return Data("file", shape, dtype, 0, place)


def _short(table: Table, key: str, dtype: Any) -> str:
    """A dtype's short name here."""
    if dtype is str or getattr(dtype, "kind", "") in "UT" or (dtype.kind == "O" and _text_inside(dtype)):
        return "string"
    short = f"{dtype.kind}{dtype.itemsize}"
    if short not in DTYPES:
        raise table.wrong(key, f"values of one of {', '.join(DTYPES)}", f"it has {dtype}")
    return short


def _text_inside(dtype: Any) -> bool:
    return "vlen" in (dtype.metadata or {}) and dtype.metadata["vlen"] is str


@contextlib.contextmanager
def _opened(file: str, key: str, path: Path, variable: str) -> Iterator[Any]:
    """A variable of a netCDF or HDF5 file, which gives its values as they are stored; `/` goes into groups."""
    with path.open("rb") as raw:
        hdf5 = raw.read(8) == MAGIC_HDF5
    with contextlib.ExitStack() as stack:
        try:
            if hdf5:
                import h5py

                held = stack.enter_context(h5py.File(path, "r"))
            else:
                import netCDF4

                held = stack.enter_context(netCDF4.Dataset(path))
                held.set_auto_maskandscale(False)
                held.set_auto_chartostring(False)
        except ImportError as problem:
            raise CustomError(
                file, key, f"the module {problem.name}, to read {path}", "no such module"
            ) from None
        except OSError as problem:
            raise CustomError(file, key, f"a netCDF or HDF5 file at {path}", str(problem)) from None
        try:
            found = held[variable]
            found.shape, found.dtype  # noqa: B018 - a group has none
        except (KeyError, IndexError, AttributeError):
            top = held if hdf5 else held.variables
            names = sorted(str(name) for name in top if hasattr(top[name], "shape"))
            hint = meant(variable, names) or f"there are {', '.join(names) or 'none'}"
            raise CustomError(file, key, f"a variable of {path}", repr(variable), hint) from None
        yield found


def source_file(data: Data, folder: Path) -> Path:
    """The `.npy` file of the values, wherever they come from; what has to be made for it goes into the folder."""
    if data.kind == "file" and "::" in (data.path or ""):
        return extract(data, folder)
    return values_of.source_file(data, folder)


def extract(data: Data, folder: Path) -> Path:
    """Copy the variable that `data.path` names (`FILE::VARIABLE`) into a `.npy` file of the folder, slab by slab."""
    assert data.path is not None
    file, _, variable = data.path.rpartition("::")
    out = folder / f"file-{hashlib.sha256(os.fsencode(data.path)).hexdigest()[:16]}.npy"
    if out.exists():
        return out
    folder.mkdir(parents=True, exist_ok=True)
    partial = out.with_suffix(".partial")
    with _opened(file, "variable", Path(file), variable) as found:
        if tuple(found.shape) != data.shape:
            raise CustomError(
                file, variable, f"the shape {list(data.shape)} that it had", str(list(found.shape))
            )
        if data.dtype == "string":
            texts = [
                t.decode() if isinstance(t, bytes) else str(t) for t in np.asarray(found[...]).reshape(-1)
            ]
            with partial.open("wb") as raw:
                np.save(raw, np.array(texts, "U").reshape(data.shape))
        else:
            values = np.lib.format.open_memmap(partial, "w+", np.dtype(data.dtype), data.shape)
            step = values_of.rows_of(data)
            for first in range(0, data.shape[0], step):
                values[first : first + step] = found[first : first + step]
            del values
    partial.replace(out)
    return out
