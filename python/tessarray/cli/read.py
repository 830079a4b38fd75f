"""`tessarray read`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tessarray.cli.address import open_array
from tessarray.cli.output import console, print_json
from tessarray.cli.selection import parse_selection
from tessarray.conversion.destinations.base import require_format
from tessarray.conversion.placement import make_folders


def run(address: str, selection: str, out: Path | None, stats: bool, as_json: bool) -> None:
    """Read a selection and print, write or summarise it."""
    index = parse_selection(selection)
    if out is not None:
        require_format(out, ".npy", (".npy",))
        make_folders(out)
    array = open_array(address)
    values = np.asarray(_take(array, index))
    if out is not None:
        with out.open("wb") as file:
            np.save(file, values, allow_pickle=False)
    if stats:
        found = summary(values)
        print_json(found) if as_json else _show(found)
    elif as_json:
        print_json({"shape": list(values.shape), "dtype": str(values.dtype), "values": values})
    elif out is not None:
        console().print(f"{values.dtype} ({', '.join(map(str, values.shape))}) -> {out}")
    else:
        with np.printoptions(threshold=1000, linewidth=110):
            print(values if values.ndim else values[()])


def _take(array: Any, index: tuple[Any, ...]) -> Any:
    """Lists select along their own axis, independently of each other."""
    return array.oindex[index] if any(isinstance(part, list) for part in index) else array[index]


def summary(values: np.typing.NDArray[Any]) -> dict[str, Any]:
    """Shape, type, counts and, for numbers and times, minimum, maximum and mean of what is not NaN or NaT."""
    found: dict[str, Any] = {
        "shape": list(values.shape),
        "dtype": str(values.dtype),
        "count": int(values.size),
    }
    if values.dtype.kind in "iufb" and values.size:
        numbers = values.astype(np.float64) if values.dtype.kind in "fb" else values
        missing = int(np.isnan(numbers).sum()) if numbers.dtype.kind == "f" else 0
        found["nan"] = missing
        if missing < values.size:
            found["min"], found["max"] = np.nanmin(numbers).item(), np.nanmax(numbers).item()
            found["mean"] = float(np.nanmean(numbers))
    if values.dtype.kind == "M" and values.size:
        found["nat"] = missing_of(values)
        known = values[~np.isnat(values)]
        if known.size:
            found["min"], found["max"] = str(known.min()), str(known.max())
    return found


def missing_of(values: np.typing.NDArray[Any]) -> int:
    """How many are NaN or NaT."""
    if values.dtype.kind == "M":
        return int(np.isnat(values).sum())
    return int(np.isnan(values).sum()) if values.dtype.kind == "f" else 0


def _show(found: dict[str, Any]) -> None:
    for name, value in found.items():
        console().print(f"[bold]{name:<6}[/] {value}")
