"""Codecs as small values: what `filters`, `serializer` and `compressors` of `create_array` take.

Each says its own Zarr JSON with `to_dict`. A short text (`"blosc:lz4:5:shuffle"`, `"zstd:3"`), that JSON, and codec
objects of zarr-python and numcodecs are taken in the same places.

>>> from tessarray.codecs import Blosc
>>> Blosc(cname="zstd", clevel=7).to_dict()["name"]
'blosc'
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

from tessarray._native import codecs_from_text

__all__ = [
    "Adler32",
    "BitRound",
    "Blosc",
    "Bytes",
    "Bz2",
    "CastValue",
    "Codec",
    "Crc32c",
    "Delta",
    "FixedScaleOffset",
    "Fletcher32",
    "Gzip",
    "Lz4",
    "Lzma",
    "PackBits",
    "Pcodec",
    "ScaleOffset",
    "Shuffle",
    "Snappy",
    "Transpose",
    "VLenBytes",
    "VLenUtf8",
    "Zlib",
    "Zstd",
    "from_text",
]


def from_text(text: str) -> list[dict[str, Any]]:
    """The codecs that a short text names, as Zarr v3 JSON; `+` joins several, `"none"` is none.

    >>> [codec["name"] for codec in from_text("zstd:3+crc32c")]
    ['zstd', 'crc32c']
    """
    return codecs_from_text(text)


@dataclass(frozen=True)
class Codec:
    """A codec by its Zarr name; the fields of each class are its settings, and `None` leaves one to the engine."""

    name: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """The Zarr v3 JSON: `{"name": ..., "configuration": {...}}`."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}
        settings = {
            name: list(v) if isinstance(v, tuple) else v for name, v in settings.items() if v is not None
        }
        return {"name": self.name, "configuration": settings} if settings else {"name": self.name}


@dataclass(frozen=True)
class Bytes(Codec):
    """Array to bytes: elements one after the other, in this byte order."""

    name: ClassVar[str] = "bytes"
    endian: Literal["little", "big"] | None = "little"


@dataclass(frozen=True)
class Transpose(Codec):
    """Array to array: axis `i` of what is stored is axis `order[i]` of the array."""

    name: ClassVar[str] = "transpose"
    order: tuple[int, ...] = ()


@dataclass(frozen=True)
class VLenUtf8(Codec):
    """Array to bytes: strings of any length."""

    name: ClassVar[str] = "vlen-utf8"


@dataclass(frozen=True)
class VLenBytes(Codec):
    """Array to bytes: byte strings of any length."""

    name: ClassVar[str] = "vlen-bytes"


@dataclass(frozen=True)
class PackBits(Codec):
    """Array to bytes: of each bool or number the bits `first_bit` to `last_bit` only (0 is the lowest; all by default).

    What is not stored reads as zeros, and above the stored bits of a signed integer as its sign. `padding_encoding`:
    where a byte says how many bits of the last byte are unused.
    """

    name: ClassVar[str] = "packbits"
    padding_encoding: Literal["none", "first_byte", "last_byte"] | None = None
    first_bit: int | None = None
    last_bit: int | None = None


@dataclass(frozen=True)
class Pcodec(Codec):
    """Array to bytes: numbers only; small at a good speed. `level` 0 to 12."""

    name: ClassVar[str] = "numcodecs.pcodec"
    level: int = 8


@dataclass(frozen=True)
class Delta(Codec):
    """Array to array: differences of neighbours. `dtype` and `astype` as NumPy spells them (`"<i4"`)."""

    name: ClassVar[str] = "numcodecs.delta"
    dtype: str = "<i4"
    astype: str | None = None


@dataclass(frozen=True)
class FixedScaleOffset(Codec):
    """Array to array: `round((x - offset) * scale)`. Loses what is finer than `1 / scale`."""

    name: ClassVar[str] = "numcodecs.fixedscaleoffset"
    offset: float = 0
    scale: float = 1
    dtype: str = "<f8"
    astype: str | None = None


@dataclass(frozen=True)
class ScaleOffset(Codec):
    """Array to array: `(x - offset) * scale` in the array's own type; an integer that would leave it is an error."""

    name: ClassVar[str] = "scale_offset"
    offset: float = 0
    scale: float = 1


@dataclass(frozen=True)
class CastValue(Codec):
    """Array to array: the values as another integer or float type, named as Zarr does (`"int16"`).

    A value that the type does not have is rounded; one out of its range is an error, or clamped, or wraps.
    `scalar_map` says what single values become: `{"encode": [["NaN", -32768]], "decode": [[-32768, "NaN"]]}`.
    """

    name: ClassVar[str] = "cast_value"
    data_type: str = "int16"
    rounding: Literal[
        "nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"
    ] = "nearest-even"
    out_of_range: Literal["clamp", "wrap"] | None = None
    scalar_map: dict[str, list[list[Any]]] | None = None


@dataclass(frozen=True)
class BitRound(Codec):
    """Array to array: floats keep this many bits of their mantissa. Loses the others."""

    name: ClassVar[str] = "numcodecs.bitround"
    keepbits: int = 10


@dataclass(frozen=True)
class Blosc(Codec):
    """Bytes to bytes: shuffle, then a fast compressor, in blocks. `typesize` `None` is the size of one element."""

    name: ClassVar[str] = "blosc"
    cname: Literal["blosclz", "lz4", "lz4hc", "zlib", "zstd"] = "lz4"
    clevel: int = 5
    shuffle: Literal["noshuffle", "shuffle", "bitshuffle"] = "shuffle"
    typesize: int | None = None
    blocksize: int = 0


@dataclass(frozen=True)
class Zstd(Codec):
    """Bytes to bytes: level -131072 to 22; more is smaller and slower."""

    name: ClassVar[str] = "zstd"
    level: int = 3
    checksum: bool = False


@dataclass(frozen=True)
class Gzip(Codec):
    """Bytes to bytes: level 0 to 9."""

    name: ClassVar[str] = "gzip"
    level: int = 6


@dataclass(frozen=True)
class Zlib(Codec):
    """Bytes to bytes: level 0 to 9."""

    name: ClassVar[str] = "numcodecs.zlib"
    level: int = 6


@dataclass(frozen=True)
class Lz4(Codec):
    """Bytes to bytes: `acceleration` 1 and up; more is faster and larger."""

    name: ClassVar[str] = "numcodecs.lz4"
    acceleration: int = 1


@dataclass(frozen=True)
class Bz2(Codec):
    """Bytes to bytes: level 1 to 9."""

    name: ClassVar[str] = "numcodecs.bz2"
    level: int = 9


@dataclass(frozen=True)
class Lzma(Codec):
    """Bytes to bytes: the formats of Python's `lzma` (1 xz, 2 alone, 3 raw), whose numbers the settings have.

    `preset` 0 to 9; more is smaller and slower. `filters` go with format 3 only, which needs them.
    """

    name: ClassVar[str] = "numcodecs.lzma"
    format: int = 1
    check: int = -1
    preset: int | None = None
    filters: tuple[dict[str, Any], ...] | None = None


@dataclass(frozen=True)
class Snappy(Codec):
    """Bytes to bytes."""

    name: ClassVar[str] = "numcodecs.snappy"


@dataclass(frozen=True)
class Shuffle(Codec):
    """Bytes to bytes: first bytes of all elements, then second bytes, and so on."""

    name: ClassVar[str] = "numcodecs.shuffle"
    elementsize: int = 4


@dataclass(frozen=True)
class Crc32c(Codec):
    """Bytes to bytes: a checksum, verified on every read."""

    name: ClassVar[str] = "crc32c"


@dataclass(frozen=True)
class Adler32(Codec):
    """Bytes to bytes: a checksum, verified on every read."""

    name: ClassVar[str] = "numcodecs.adler32"


@dataclass(frozen=True)
class Fletcher32(Codec):
    """Bytes to bytes: the checksum of HDF5, verified on every read."""

    name: ClassVar[str] = "numcodecs.fletcher32"
