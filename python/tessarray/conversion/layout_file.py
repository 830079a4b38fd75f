"""Layout files: the layout of one variable as `tessarray tune` proposes it, in JSON (format "tessarray-layout/1").

What is read of one: `format`; `variable`, `shape` and `dtype`, which say what array the layout was found for; and
`layout` with `chunks`, `shards` (null: every chunk is an object), `codec` (a short text, "none" or "pcodec:8"),
`checksum` and `filters` (array to array, JSON texts). Everything else in it is for people and for the tuner. A file is
only ever data: nothing in it names a path to open or a class to load.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tessarray
from tessarray.conversion.errors import LayoutError
from tessarray.conversion.layout import Extents, Layout
from tessarray.conversion.model import ArraySpec
from tessarray.display.units import byte_text

FORMAT = "tessarray-layout/1"
PCODEC_LEVEL = 8
CRC32C = {"name": "crc32c"}
LARGEST_FILE = 64 << 20

LayoutFile = str | os.PathLike[str] | Mapping[str, Any]


@dataclass(frozen=True)
class VariableLayout:
    """The layout that a variable is to get, and the shape and data type it was found for."""

    variable: str
    shape: Extents
    dtype: str
    layout: Layout
    document: Mapping[str, Any]  # its `layout`, as it stands in the file

    @property
    def lossy(self) -> bool:
        """Whether values are changed on the way; only lossy layouts have filters."""
        return bool(self.layout.coding and self.layout.coding["filters"])

    def find(self, specs: Sequence[ArraySpec], source: str) -> ArraySpec:
        """The array of a source that the layout is for. Raises `LayoutError` where there is none, or it differs."""
        found = [spec for spec in specs if spec.path == self.variable]
        if not found and len(specs) == 1 and "" in (specs[0].path, self.variable):
            # A source that is one bare array, or was one when it was tuned, has no name to tell.
            found = list(specs)
        if not found:
            names = ", ".join(sorted(spec.path for spec in specs)[:20]) or "none"
            raise LayoutError(
                f"{source}: the layout is for variable '{self.variable}', found {names}; tune a variable of this "
                f"source, and check include and exclude",
                expected=self.variable,
                found=names,
            )
        (spec,) = found
        self._check(spec, source)
        return spec

    def _check(self, spec: ArraySpec, source: str) -> None:
        for what, expected, actual in (
            ("shape", self.shape, tuple(spec.shape)),
            ("data type", _native_name(self.dtype), _native_name(spec.dtype)),
        ):
            if expected != actual:
                raise LayoutError(
                    f"{source}: variable '{spec.path}': the layout is for {what} {expected}, found {actual}; tune this "
                    f"source to get a layout for it",
                    expected=str(expected),
                    found=str(actual),
                )


def read_layout(given: LayoutFile) -> VariableLayout:
    """A layout file, or its content. Raises `LayoutError` where it is none."""
    label = "layout" if isinstance(given, Mapping) else os.fspath(given)
    document = given if isinstance(given, Mapping) else _load(Path(given).expanduser())
    if document.get("format") != FORMAT:
        raise LayoutError(
            f"{label}: expected a layout file of format '{FORMAT}', found {document.get('format')!r}",
            expected=FORMAT,
            found=repr(document.get("format")),
        )
    try:
        shape = _extents(document["shape"], least=0)
        layout = _layout(document["layout"], len(shape))
        return VariableLayout(
            str(document["variable"]), shape, str(document["dtype"]), layout, document["layout"]
        )
    except KeyError as error:
        raise LayoutError(f"{label}: expected an entry {error}, found none") from error
    except LayoutError as error:
        raise LayoutError(f"{label}: {error}", expected=error.expected, found=error.found) from error
    except (TypeError, ValueError) as error:
        raise LayoutError(f"{label}: {error}") from error


def _load(path: Path) -> Mapping[str, Any]:
    try:
        if path.stat().st_size > LARGEST_FILE:
            raise LayoutError(
                f"{path}: expected a layout file, found {byte_text(path.stat().st_size)} of something"
            )
        document = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise LayoutError(
            f"{path}: no such file; `tessarray tune SRC --out {path.name}` writes one"
        ) from None
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise LayoutError(f"{path}: expected a layout file (JSON), found something else: {error}") from error
    if not isinstance(document, dict):
        raise LayoutError(f"{path}: expected a layout file (a JSON object), found {type(document).__name__}")
    return document


def _layout(given: Any, dimensions: int) -> Layout:
    if not isinstance(given, Mapping):
        raise LayoutError(
            f"expected a layout of chunks, shards and codec, found {given!r}", found=repr(given)
        )
    chunks = _extents(given["chunks"])
    shards = None if given["shards"] is None else _extents(given["shards"])
    for name, extents in (("chunks", chunks), ("shards", shards)):
        if extents is not None and len(extents) != dimensions:
            raise LayoutError(
                f"{name}: expected {dimensions} extents, one an axis, found {extents}",
                expected=str(dimensions),
                found=str(extents),
            )
    if shards is not None and any(s % c for s, c in zip(shards, chunks, strict=True)):
        raise LayoutError(
            f"shards: expected multiples of the chunks {chunks}, found {shards}",
            expected=str(chunks),
            found=str(shards),
        )
    coding = codec_arguments(
        str(given["codec"]),
        bool(given.get("checksum", True)),
        [str(text) for text in given.get("filters", ())],
        sharded=shards is not None,
    )
    return Layout(chunks, shards, coding)


def codec_arguments(
    codec: str, checksum: bool, filters: Sequence[str] = (), *, sharded: bool = True
) -> dict[str, Any]:
    """`filters`, `serializer` and `compressors` for `tessarray.create_array`, from the texts of a layout.

    With `checksum`, inner chunks of shards get a crc32c. Without shards, that is left to the compressor if it has a
    checksum of its own (blosc, zstd, gzip), since not every reader knows crc32c.

    Raises `LayoutError` for texts that name no codec.
    """
    compressors: list[Any] = []
    serializer: Any = "auto"
    name, _, level = codec.partition(":")
    try:
        if name == "pcodec":
            settings = {"level": int(level) if level else PCODEC_LEVEL}
            serializer = {"name": "numcodecs.pcodec", "configuration": settings}
        elif codec != "none":
            compressors = list(tessarray._native.codecs_from_text(codec))
        lossy = [json.loads(text) for text in filters]
    except (tessarray.TessarrayError, ValueError) as error:
        raise LayoutError(f"codec: {error}", found=codec) from error
    if checksum:
        compressors = compressors if not sharded and _checks_itself(compressors) else [*compressors, CRC32C]
    return {"filters": lossy or None, "serializer": serializer, "compressors": compressors or None}


def _checks_itself(compressors: list[Any]) -> bool:
    """Whether the last codec holds a checksum in its own format; zstd is told to."""
    last: dict[str, Any] = compressors[-1] if compressors else {"name": "none"}
    if last["name"] == "zstd":
        last["configuration"] = {**last.get("configuration", {}), "checksum": True}
    return last["name"] in ("blosc", "zstd", "gzip")


def _extents(given: Any, least: int = 1) -> Extents:
    if not isinstance(given, list | tuple) or not all(type(n) is int and n >= least for n in given):
        raise LayoutError(f"expected extents such as [64, 512, 512], found {given!r}", found=repr(given))
    return tuple(given)


def _native_name(dtype: Any) -> str:
    """The name of a data type whatever its byte order; of types that NumPy has not, their text."""
    try:
        return str(np.dtype(dtype).newbyteorder("="))
    except TypeError:
        return str(dtype)
