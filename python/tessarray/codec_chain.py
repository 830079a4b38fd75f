"""A codec chain in its three parts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

JSONCodec = dict[str, Any]

# Array-to-bytes codecs, without the "numcodecs." that some have in front.
SERIALIZERS = {"bytes", "endian", "vlen-utf8", "vlen-bytes", "sharding_indexed", "pcodec"}


def _serializes(chain: Sequence[JSONCodec], at: int) -> bool:
    """Whether this codec makes bytes of the array; `packbits` does unless `bytes` comes next."""
    if chain[at]["name"] == "packbits":
        return at + 1 == len(chain) or chain[at + 1]["name"] != "bytes"
    return chain[at]["name"].removeprefix("numcodecs.") in SERIALIZERS


def split_chain(chain: Sequence[JSONCodec]) -> tuple[tuple[JSONCodec, ...], JSONCodec, tuple[JSONCodec, ...]]:
    """Filters, serializer and compressors; of the inner chunks, where the chain shards.

    >>> filters, serializer, compressors = split_chain([{"name": "bytes"}, {"name": "zstd"}])
    >>> serializer["name"], [codec["name"] for codec in compressors]
    ('bytes', ['zstd'])
    """
    for at, codec in enumerate(chain):
        if _serializes(chain, at):
            if codec["name"] == "sharding_indexed":
                return split_chain(codec["configuration"]["codecs"])
            return tuple(chain[:at]), codec, tuple(chain[at + 1 :])
    return tuple(chain), {"name": "bytes"}, ()
