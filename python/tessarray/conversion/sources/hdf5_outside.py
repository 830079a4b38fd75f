"""What of an HDF5 file lies outside of it: values in other files, and filters that are not built in.

A file from somebody else may name any other file of this machine, by an external link, as the storage of a data set or
as the source of a virtual one. Reading it would copy that other file. So none is read unless the user says so.
"""

from __future__ import annotations

import importlib
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Deflate, shuffle, fletcher32, szip, nbit, scale-offset, and h5py's own LZF.
BUILT_IN = {1, 2, 3, 4, 5, 6, 32000}
FILTERS = {
    305: "LZO", 307: "bzip2", 32001: "Blosc", 32004: "LZ4", 32008: "bitshuffle", 32013: "ZFP", 32015: "Zstandard",
    32017: "SZ", 32018: "FCIDECOMP", 32022: "BitGroom", 32023: "granular BitRound", 32024: "SZ3", 32026: "Blosc2",
    32028: "SPERR",
}  # fmt: skip
DEPTH = 16
# How netCDF-4 stores a variable that has a dimension's name without being its coordinate.
NOT_A_COORDINATE = "_nc4_non_coord_"


def outside(h5py: Any, dataset: Any) -> str | None:
    """Why the values of a data set are not all in its own file; None if they are. Reads no value."""
    return _outside(h5py, dataset, 0)


def _outside(h5py: Any, dataset: Any, depth: int) -> str | None:
    properties = dataset.id.get_create_plist()
    if properties.get_external_count():
        name = os.fsdecode(properties.get_external(0)[0])
        return f"its values lie in another file, '{name}'"
    if properties.get_layout() != h5py.h5d.VIRTUAL:
        return None
    for number in range(properties.get_virtual_count()):
        name = properties.get_virtual_filename(number)
        if name not in (".", dataset.file.filename):
            return f"it is a virtual data set with values of another file, '{name}'"
        inner = properties.get_virtual_dsetname(number)
        # A name with numbers to be put in is no path; one that takes a link may lead anywhere.
        target = None if "%" in inner or depth >= DEPTH else dataset.file.get(inner)
        if not isinstance(target, h5py.Dataset):
            return f"it is a virtual data set of '{inner}', which cannot be followed"
        if _file_number(h5py, target) != _file_number(h5py, dataset):
            return f"it is a virtual data set with values of another file, '{target.file.filename}'"
        found = _outside(h5py, target, depth + 1)
        if found is not None:
            return found
    return None


def _file_number(h5py: Any, item: Any) -> int:
    return int(h5py.h5o.get_info(item.id).fileno)


def missing_sources(h5py: Any, dataset: Any) -> str | None:
    """The first file that a data set names and that is not there: HDF5 gives fill values for it, and no error."""
    properties = dataset.id.get_create_plist()
    folder = Path(dataset.file.filename).parent
    names = [os.fsdecode(properties.get_external(i)[0]) for i in range(properties.get_external_count())]
    if properties.get_layout() == h5py.h5d.VIRTUAL:
        found = (properties.get_virtual_filename(i) for i in range(properties.get_virtual_count()))
        names += [name for name in found if name != "." and "%" not in name]
    return next((name for name in names if not (folder / name).exists()), None)


def missing_filter(h5py: Any, dataset: Any) -> str | None:
    """The filter without which the values cannot be decoded; None if all are there.

    Imports `hdf5plugin`, which brings most filters, where one is needed and it is installed.
    """
    properties = dataset.id.get_create_plist()
    codes = [properties.get_filter(number)[0] for number in range(properties.get_nfilters())]
    for code in codes:
        if code in BUILT_IN or h5py.h5z.filter_avail(code):
            continue
        try:
            importlib.import_module("hdf5plugin")
        except ImportError:
            return f"its HDF5 filter {_name(code)} is not installed: pip install hdf5plugin"
        if not h5py.h5z.filter_avail(code):
            return f"its HDF5 filter {_name(code)} is not installed, nor is it in hdf5plugin"
    return None


def _name(code: int) -> str:
    return f"{code} ({FILTERS[code]})" if code in FILTERS else str(code)


@dataclass
class Survey:
    """What the netCDF library would not say of a file. outside: whether anything of it is in other files. odd: whether
    it has types that are no numbers and no text. filtered: data sets with filters that HDF5 itself has not."""

    outside: bool = False
    odd: bool = False
    filtered: list[str] = field(default_factory=list)


def survey(h5py: Any, path: Path) -> Survey:
    """Look at every object of a file, without values. Cost: 0.1 ms for each."""
    found = Survey()
    with h5py.File(path, "r") as file:
        _survey(h5py, file, found)
    return found


def _survey(h5py: Any, file: Any, found: Survey) -> None:
    seen: set[int] = set()
    groups = [file]
    while groups:
        group = groups.pop()
        seen.add(int(h5py.h5o.get_info(group.id).addr))
        _in_group(h5py, group, groups, seen, found)


def _netcdf_path(name: bytes) -> str:
    return "/".join(part.removeprefix(NOT_A_COORDINATE) for part in os.fsdecode(name).strip("/").split("/"))


def _in_group(h5py: Any, group: Any, groups: list[Any], seen: set[int], found: Survey) -> None:
    h5t = h5py.h5t
    usual = {h5t.INTEGER, h5t.FLOAT, h5t.STRING, h5t.ENUM}
    links: list[tuple[bytes, int]] = []
    group.id.links.iterate(lambda name, info: links.append((name, info.type)), info=True)
    for name, kind in links:
        if kind == h5py.h5l.TYPE_EXTERNAL:
            found.outside = True
        if kind != h5py.h5l.TYPE_HARD:
            continue
        item = h5py.h5o.open(group.id, name)
        if isinstance(item, h5py.h5g.GroupID):
            if int(h5py.h5o.get_info(item).addr) not in seen:
                groups.append(h5py.Group(item))
        elif isinstance(item, h5py.h5d.DatasetID):
            properties = item.get_create_plist()
            if properties.get_external_count() or properties.get_layout() == h5py.h5d.VIRTUAL:
                found.outside |= outside(h5py, h5py.Dataset(item)) is not None
            codes = {properties.get_filter(number)[0] for number in range(properties.get_nfilters())}
            if not codes <= BUILT_IN:
                found.filtered.append(_netcdf_path(h5py.h5i.get_name(item)))
            kind = item.get_type()
            is_text = isinstance(kind, h5t.TypeStringID)
            found.odd |= not is_text and kind.get_class() not in usual
