"""Threads, codecs and caches."""

from typing import Any, Literal, Self, final

@final
class Session:
    """Worker threads, registered codecs and caches that calls share.

    threads: workers; as `TESSARRAY_THREADS` says or one a core where left out. They start when first needed, and
    again in a forked process. verify: `"always"` if every read of arrays that are opened with this session, those of
    packs and collections included, verifies the checksums of the chunks that it touches; `"first"` if a chunk of 16 KiB
    or more is verified when a handle first reads it, and again after every write of it.
    """

    def __new__(cls, threads: int | None = None, *, verify: Literal["first", "always"] = "first") -> Self: ...
    @property
    def threads(self) -> int: ...
    @property
    def verify(self) -> Literal["first", "always"]: ...
    def codecs(self) -> list[str]: ...
    def register_codec(self, name: str, cls: Any) -> None: ...

def default_session() -> Session: ...
