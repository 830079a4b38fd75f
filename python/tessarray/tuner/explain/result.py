"""What `explain` found, as values and for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tessarray.tuner.expected import Touch
from tessarray.tuner.explain.causes import Cause
from tessarray.tuner.explain.stages import Stages
from tessarray.tuner.layout import Layout

__all__ = ["Diagnosis", "Explanation"]


@dataclass(frozen=True)
class Diagnosis:
    """One cause. `verdict`: one line. `evidence`: what was measured or counted that says so. `cure`: what to change;
    `layout`: the chunks, shards and codec of it, if it is one. `saved`: the share of the read's time that the
    cure is expected to save; `effect` says it in words, with the counts before and after.
    """

    cause: Cause
    verdict: str
    evidence: tuple[str, ...]
    cure: str
    effect: str
    saved: float
    layout: Layout | None = None
    after: Touch | None = None


@dataclass(frozen=True)
class Explanation:
    """Why a read takes as long as it does.

    selection: what was asked for; part: what of it was read if all would have been too much, else None. Counts:
    `chunks` (inner chunks if sharded), `objects` (shards, or chunks) that are stored of those `objects_touched`,
    `blocks` codec blocks of `block` bytes that are decoded, if the codec has any. `requests` are the byte
    ranges that the first read asked the store for, `fetched` their bytes; `decoded` and `used` are bytes of values.
    Times in seconds: `first` as found, `warm` the lower quartile of later runs, which `stages` add up to.
    """

    store: str
    array: str
    shape: tuple[int, ...]
    dtype: str
    dims: tuple[str | None, ...] | None
    layout: Layout
    codecs: str
    selection: str
    part: str | None
    chunks: int
    objects: int
    objects_touched: int
    block: int | None
    blocks: int | None
    requests: int
    fetched: int
    decoded: int
    used: int
    latency: float
    bandwidth: float
    first: float
    warm: float
    stages: Stages
    diagnosis: Diagnosis
    considered: Mapping[str, float]
    command: str
    notes: tuple[str, ...] = ()

    @property
    def cause(self) -> Cause:
        """The cause, or `Cause.NOTHING`."""
        return self.diagnosis.cause

    @property
    def fetch_amplification(self) -> float:
        """Bytes fetched for a byte of values that was asked for; below 1 if compression saves more."""
        return self.fetched / max(self.used, 1)

    @property
    def decode_amplification(self) -> float:
        """Bytes of values decoded for a byte of values that was asked for."""
        return self.decoded / max(self.used, 1)

    def document(self) -> dict[str, Any]:
        """As JSON holds it: what `tessarray explain --json` prints."""
        found = {name: _plain(getattr(self, name)) for name in self.__dataclass_fields__}
        return found | {
            "fetch_amplification": self.fetch_amplification,
            "decode_amplification": self.decode_amplification,
        }

    def __str__(self) -> str:
        from tessarray.tuner.explain.printed import text

        return text(self)


def _plain(value: Any) -> Any:
    if isinstance(value, Cause):
        return value.value
    if hasattr(value, "__dataclass_fields__"):
        return {name: _plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if isinstance(value, tuple):
        return [_plain(one) for one in value]
    return dict(value) if isinstance(value, Mapping) else value
