"""The store a layout is tuned for: a local folder, memory, or a stand-in for an object store.

`s3-like(ttfb=30ms,bw=200MB/s,concurrency=16)` is memory behind a first-byte time, a bandwidth and a limit on requests
at once, which `ThrottleStore` adds. What a real store does is not guessed: give its figures.
"""

from __future__ import annotations

import re
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tessarray
from tessarray import stores
from tessarray.conversion.size import parse_size
from tessarray.tuner.errors import ConstraintError
from tessarray.tuner.expected import LOCAL, REMOTE, Merging

__all__ = ["Target", "parse_store", "seconds_of"]

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "": 1.0, "min": 60.0, "m": 60.0}


PROBE_BYTES = 4 << 20


@dataclass(frozen=True)
class Target:
    """kind: `local`, `memory` or `s3-like`. first_byte: seconds. bandwidth: bytes a second, of all requests at once."""

    kind: str
    first_byte: float = 0.0
    bandwidth: float = 0.0
    concurrency: int = 16
    folder: str | None = None

    @property
    def remote(self) -> bool:
        """Whether requests cost a first-byte time."""
        return self.kind == "s3-like"

    @property
    def merging(self) -> Merging:
        """How the engine joins byte ranges on such a store."""
        return REMOTE if self.remote else LOCAL

    def text(self) -> str:
        """For people, and as `parse_store` reads it."""
        if not self.remote:
            return self.kind
        return (
            f"s3-like(ttfb={self.first_byte * 1e3:g}ms,bw={self.bandwidth / 1e6:g}MB/s,"
            f"concurrency={self.concurrency})"
        )


class Scratch:
    """Fresh stores of a target's kind, all removed by `close`. A context manager."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self._folder: Path | None = None
        self._count = 0

    def store(self) -> Any:
        """A new, empty store."""
        self._count += 1
        if self.target.kind == "local":
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="tessarray-tune-", dir=self.target.folder))
            return tessarray.LocalStore(self._folder / str(self._count))
        return self.slow(tessarray.MemoryStore())

    def slow(self, store: Any) -> Any:
        """A store behind the target's network, if it has one."""
        if not self.target.remote:
            return store
        return stores.ThrottleStore(
            store,
            first_byte=self.target.first_byte,
            bandwidth=int(self.target.bandwidth),
            concurrency=self.target.concurrency,
        )

    def quick(self, store: Any) -> Any:
        """The store without its network: for preparing what is to be read."""
        return store.store if self.target.remote else store

    def remove(self, store: Any) -> None:
        """Give back what a store takes."""
        if self.target.kind == "local":
            shutil.rmtree(store.root, ignore_errors=True)

    def close(self) -> None:
        """Remove every store."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def __enter__(self) -> Scratch:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def parse_store(text: str, folder: str | None = None) -> Target:
    """`local`, `memory` or `s3-like(ttfb=30ms,bw=200MB/s,concurrency=16)`. Raises `ConstraintError` for others."""
    match = re.fullmatch(r"\s*(local|memory|s3-like)\s*(?:\((.*)\))?\s*", text)
    if not match:
        raise ConstraintError(
            f"store: expected local, memory or s3-like(ttfb=30ms,bw=200MB/s), found '{text}'"
        )
    kind, inner = match[1], match[2]
    if kind != "s3-like":
        if inner:
            raise ConstraintError(f"store: {kind} takes no settings, found '({inner})'")
        return Target(kind, folder=folder)
    settings = _settings(inner or "", text)
    ttfb = seconds_of(settings.get("ttfb", "30ms"), "store: ttfb")
    bandwidth = float(parse_size(settings.get("bw", "200MB/s").removesuffix("/s")))
    try:
        concurrency = int(settings.get("concurrency", "16"))
    except ValueError:
        concurrency = 0
    if bandwidth <= 0 or concurrency < 1:
        raise ConstraintError(
            f"store: expected a bandwidth above 0 and a concurrency of 1 or more in '{text}'"
        )
    return Target(kind, ttfb, bandwidth, concurrency, folder)


def _settings(inner: str, text: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for part in (part.strip() for part in inner.split(",") if part.strip()):
        name, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or name not in ("ttfb", "bw", "concurrency"):
            raise ConstraintError(f"store: expected ttfb=, bw= or concurrency= in '{text}', found '{part}'")
        found[name] = value
    return found


def seconds_of(text: str | float, what: str) -> float:
    """`60`, `"60s"`, `"30ms"`, `"2min"` as seconds above 0. Raises `ConstraintError`."""
    match = re.fullmatch(r"\s*([0-9.]+(?:e-?\d+)?)\s*([a-z]*)\s*", str(text))
    try:
        found = float(match[1]) * UNITS[match[2]] if match else -1.0
    except (KeyError, ValueError):
        found = -1.0
    if not 0 < found < 1e7:
        raise ConstraintError(f"{what}: expected a time such as 60s, 2min or 30ms, found '{text}'")
    return found


def first_byte_and_bandwidth(scratch: Scratch) -> dict[str, float]:
    """Measured on a store of the target's kind: seconds to a value of one byte, bytes a second of a value of 4 MiB,
    and seconds to open an array. Medians of a few.
    """
    small, large = b"x", bytes(PROBE_BYTES)
    store = scratch.store()
    quick = scratch.quick(store)
    quick.put("small", small)
    quick.put("large", large)
    tessarray.create_array(quick, name="a", shape=(1,), dtype="u1")

    def timed(act: Any, repeats: int) -> float:
        times = []
        for _ in range(repeats):
            started = time.perf_counter()
            act()
            times.append(time.perf_counter() - started)
        return sorted(times)[len(times) // 2]

    first = timed(lambda: store.get("small"), 5)
    whole = timed(lambda: store.get("large"), 3)
    opened = timed(lambda: tessarray.open_array(store, path="a", mode="r"), 3)
    scratch.remove(store)
    return {
        "first_byte": first,
        "bandwidth": len(large) / max(whole - first, 1e-6),
        "open": opened,
    }
