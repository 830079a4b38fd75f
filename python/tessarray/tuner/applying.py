"""Writing a source in the layout that was proposed for one of its variables."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import tessarray
from tessarray.conversion import ConversionReport, convert
from tessarray.conversion.errors import LayoutError
from tessarray.stores import pack_of
from tessarray.tuner.errors import LayoutFileError
from tessarray.tuner.result import TuneResult, read_layout_file

__all__ = ["apply"]


def apply(
    result: TuneResult | Mapping[str, Any] | str | os.PathLike[str],
    dst: str | os.PathLike[str],
    src: Any = None,
    **arguments: Any,
) -> ConversionReport:
    """Write a source to `dst`, the tuned variable in the proposed layout, the others as `tessarray.convert` does.

    `result` is a `TuneResult`, the document of one, or the path of a `layout.json`. `src` is by default the source that
    was tuned; it is given if that was no file, or if another file of the same shape and data type is meant.
    `arguments` are those of `tessarray.convert` (`include`, `verify`, `memory`, `overwrite`, ...).

    The source is only read, and nothing is at `dst` until all of it is. Raises `LayoutFileError` if the layout is of
    another variable, shape or data type, and what `tessarray.convert` raises. Cost: one conversion.
    """
    document = _document(result)
    source = _source(document) if src is None else _openable(src, document)
    try:
        return convert(source, dst, layout=document, **arguments)
    except LayoutError as error:
        raise LayoutFileError(str(error), expected=error.expected, found=error.found) from error


def _document(result: Any) -> Mapping[str, Any]:
    if isinstance(result, TuneResult):
        return result.document()
    return result if isinstance(result, Mapping) else read_layout_file(result)


def _source(document: Mapping[str, Any]) -> Any:
    """The source that was tuned. Raises `LayoutFileError` if nothing is at its path."""
    label = document.get("source")
    if not isinstance(label, str):
        raise LayoutFileError(f"layout file: expected the path of a source, found {label!r}; pass src")
    if "://" not in label and not Path(label).expanduser().exists() and pack_of(label) is None:
        raise LayoutFileError(
            f"the layout was found for '{label}', and no file is there; pass src, the data to write"
        )
    return _openable(label, document)


def _openable(src: Any, document: Mapping[str, Any]) -> Any:
    """What `convert` opens: packs are opened here, and a bare array gets the name of the variable."""
    if isinstance(src, str | os.PathLike):
        pack = None if "://" in os.fspath(src) else pack_of(Path(src).expanduser())
        if pack is not None:
            store, inner = pack
            return tessarray.open(store, path=inner or None, mode="r")
        return os.fspath(src)
    if type(src).__module__.partition(".")[0] == "xarray" and hasattr(src, "to_dataset"):
        return src.to_dataset(name=src.name or document.get("variable") or "values")
    if not isinstance(src, tessarray.Array) and hasattr(src, "shape") and hasattr(src, "dtype"):
        return {str(document.get("variable") or "array"): src}
    return src
