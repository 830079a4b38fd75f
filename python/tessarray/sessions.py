"""What calls share: worker threads, codecs and caches.

A call without `session=` uses one default session, with a thread a core or as `TESSARRAY_THREADS` says.

>>> from tessarray import Session
>>> Session(threads=2).threads
2
"""

from __future__ import annotations

import inspect
from typing import Any, Literal, Protocol

from tessarray._native import Session, default_session

__all__ = ["Session", "UserCodec", "default_session", "register_codec"]


class UserCodec(Protocol):
    """A bytes-to-bytes codec written in Python; `register_codec` takes its class.

    Settings come as keyword arguments of the class, or to a class method `from_config(settings)` where it has one.
    Methods are called from worker threads, several at a time.
    """

    def encode(self, data: bytes, /) -> bytes:
        """The encoded form of a chunk's bytes."""
        ...

    def decode(self, data: bytes, size: int | None, /) -> bytes:
        """The bytes of the chunk; exactly `size` of them where it is not `None`. May leave `size` out."""
        ...


def _session(threads: int | None, verify: Literal["first", "always"]) -> Session:
    """For unpickling."""
    return Session(threads, verify=verify)


def takes_size(codec: Any) -> bool:
    """Whether `decode` has a second argument for the size; numcodecs' `out` is not one."""
    try:
        names = [
            name
            for name, parameter in inspect.signature(codec.decode).parameters.items()
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
    except ValueError:
        return False
    return len(names) > 1 and names[1] != "out"


def register_codec(name: str, cls: Any, *, session: Session | None = None) -> None:
    """Register a codec class under a name, for arrays that are created or opened from now on.

    The name is what stands in the metadata: choose one that is yours (`"org.example.xor"`). The default session is
    used where none is given. Costs the interpreter lock for every chunk.

    >>> import numpy as np, tessarray
    >>> class Invert:
    ...     def encode(self, data):
    ...         return bytes(255 - b for b in data)
    ...     def decode(self, data, size):
    ...         return bytes(255 - b for b in data)
    >>> tessarray.register_codec("org.example.invert", Invert)
    >>> a = tessarray.create_array({}, data=np.arange(5), compressors={"name": "org.example.invert"})
    >>> a[1:3].tolist()
    [1, 2]
    """
    (session or default_session()).register_codec(name, cls)
