"""Layouts of variables, each made out once: a fleet has few."""

from __future__ import annotations

from typing import Any

import numpy as np

from tessarray._native import KindCore
from tessarray.array_arguments import array_arguments
from tessarray.conversion.layout import choose
from tessarray.conversion.model import ArraySpec
from tessarray.sessions import Session

# Variables of more distinct shapes than this get chunks of few sizes, somewhat larger than they are: a reader makes
# each kind of array out anew, and of the chunk's rest only zeros are stored.
SHAPES = 8
# What is kept; a fleet has less.
KNOWN = 4096


class Kinds:
    """Kinds of variables by dtype, shape, dimensions and fill value."""

    def __init__(self, chunks: Any, compressors: Any, session: Session | None) -> None:
        self._chunks, self._compressors, self._session = chunks, compressors, session
        self._known: dict[Any, KindCore] = {}
        self._shapes: dict[Any, set[tuple[int, ...]]] = {}

    def of(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: Any,
        dims: tuple[str, ...] | None,
        fill: Any,
        chunks: Any,
        compressors: Any,
    ) -> KindCore:
        """The kind of a variable."""
        plain = chunks is None and compressors is None
        filled = fill.tobytes() if isinstance(fill, np.generic) else fill
        key = (name, shape, dtype, dims, filled)
        if plain and key in self._known:
            return self._known[key]
        cut = self._cut(name, shape, dtype, dims, self._chunks if chunks is None else chunks)
        kind = self._kind(shape, dtype, dims, fill, cut, compressors)
        if plain:
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[key] = kind
        return kind

    def _kind(
        self, shape: tuple[int, ...], dtype: Any, dims: Any, fill: Any, cut: Any, compressors: Any
    ) -> KindCore:
        chunks, shards = cut
        wanted = self._compressors if compressors is None else compressors
        arguments, _ = array_arguments(
            shape=shape,
            dtype=dtype,
            chunks=chunks,
            shards=shards,
            compressors=wanted,
            fill_value=fill,
            dimension_names=dims,
        )
        return KindCore(arguments, self._session)

    def _cut(self, name: str, shape: tuple[int, ...], dtype: Any, dims: Any, chunks: Any) -> tuple[Any, Any]:
        whole = dtype if isinstance(dtype, np.dtype) else np.dtype("V32")
        spec = ArraySpec(name, shape, whole, dims)
        layout = choose(spec, chunks, "auto", 1 << 30)
        if chunks != "auto" or layout.shards is not None or layout.chunks != tuple(max(n, 1) for n in shape):
            return layout.chunks, layout.shards
        seen = self._shapes.setdefault((name, dtype, len(shape)), set())
        if len(seen) < SHAPES:
            seen.add(shape)
        if shape in seen:
            return layout.chunks, None
        return tuple(map(_rounded, layout.chunks)), None


def _rounded(extent: int) -> int:
    """The next of 1 to 8, 10, 12, 14, 16, 20, 24, 28, 32, ...: at most a quarter more."""
    step = 1 << max(extent.bit_length() - 3, 0)
    return -(-extent // step) * step
