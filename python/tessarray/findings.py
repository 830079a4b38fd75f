"""What a check found."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Finding"]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong in a store.

    `offset` is where in the stored value the damage is, in bytes, as far as that is known.

    `kind` is one of `truncated`, `checksum`, `corrupt`, `shard-index`, `out-of-bounds`, `leftover`, `metadata`,
    `unreadable` and `missing`; `out-of-bounds` and `leftover` are harmless.
    """

    kind: str
    key: str
    chunk: tuple[int, ...] | None
    message: str
    offset: int | None = None

    @property
    def harmless(self) -> bool:
        """Left behind by a writer that was killed; no data are affected."""
        return self.kind in ("out-of-bounds", "leftover")
