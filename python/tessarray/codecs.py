"""Codecs as small values: what `filters`, `serializer` and `compressors` of `create_array` take.

Each says its own Zarr JSON with `to_dict`. A short text (`"blosc:lz4:5:shuffle"`, `"zstd:3"`), that JSON, and codec
objects of zarr-python and numcodecs are taken in the same places.

>>> from tessarray.codecs import Blosc
>>> Blosc(cname="zstd", clevel=7).to_dict()["name"]
'blosc'
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, dataclass_transform

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


@dataclass_transform(frozen_default=True)
class Codec:
    """A codec by its Zarr name; the fields of each class are its settings, and `None` leaves one to the engine.

    Every class below it is a frozen dataclass, with the name that its definition gives.
    """

    name: ClassVar[str]

    def __init_subclass__(cls, *, name: str) -> None:
        cls.name = name
        dataclass(frozen=True)(cls)

    def to_dict(self) -> dict[str, Any]:
        """The Zarr v3 JSON: `{"name": ..., "configuration": {...}}`."""
        settings = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        settings = {
            name: list(v) if isinstance(v, tuple) else v for name, v in settings.items() if v is not None
        }
        return {"name": self.name, "configuration": settings} if settings else {"name": self.name}


class Bytes(Codec, name="bytes"):
    """Array to bytes: elements one after the other, in this byte order."""

    endian: Literal["little", "big"] | None = "little"


class Transpose(Codec, name="transpose"):
    """Array to array: axis `i` of what is stored is axis `order[i]` of the array."""

    order: tuple[int, ...] = ()


class VLenUtf8(Codec, name="vlen-utf8"):
    """Array to bytes: strings of any length."""


class VLenBytes(Codec, name="vlen-bytes"):
    """Array to bytes: byte strings of any length."""


class PackBits(Codec, name="packbits"):
    """Array to bytes: of each bool or number the bits `first_bit` to `last_bit` only (0 is the lowest; all by default).

    What is not stored reads as zeros, and above the stored bits of a signed integer as its sign. `padding_encoding`:
    where a byte says how many bits of the last byte are unused.
    """

    padding_encoding: Literal["none", "first_byte", "last_byte"] | None = None
    first_bit: int | None = None
    last_bit: int | None = None


class Pcodec(Codec, name="numcodecs.pcodec"):
    """Array to bytes: numbers only; small at a good speed. `level` 0 to 12."""

    level: int = 8


class Delta(Codec, name="numcodecs.delta"):
    """Array to array: differences of neighbours. `dtype` and `astype` as NumPy spells them (`"<i4"`)."""

    dtype: str = "<i4"
    astype: str | None = None


class FixedScaleOffset(Codec, name="numcodecs.fixedscaleoffset"):
    """Array to array: `round((x - offset) * scale)`. Loses what is finer than `1 / scale`."""

    offset: float = 0
    scale: float = 1
    dtype: str = "<f8"
    astype: str | None = None


class ScaleOffset(Codec, name="scale_offset"):
    """Array to array: `(x - offset) * scale` in the array's own type; an integer that would leave it is an error."""

    offset: float = 0
    scale: float = 1


class CastValue(Codec, name="cast_value"):
    """Array to array: the values as another integer or float type, named as Zarr does (`"int16"`).

    A value that the type does not have is rounded; one out of its range is an error, or clamped, or wraps.
    `scalar_map` says what single values become: `{"encode": [["NaN", -32768]], "decode": [[-32768, "NaN"]]}`.
    """

    data_type: str = "int16"
    rounding: Literal[
        "nearest-even", "towards-zero", "towards-positive", "towards-negative", "nearest-away"
    ] = "nearest-even"
    out_of_range: Literal["clamp", "wrap"] | None = None
    scalar_map: dict[str, list[list[Any]]] | None = None


class BitRound(Codec, name="numcodecs.bitround"):
    """Array to array: floats keep this many bits of their mantissa. Loses the others."""

    keepbits: int = 10


class Blosc(Codec, name="blosc"):
    """Bytes to bytes: shuffle, then a fast compressor, in blocks. `typesize` `None` is the size of one element."""

    cname: Literal["blosclz", "lz4", "lz4hc", "zlib", "zstd"] = "lz4"
    clevel: int = 5
    shuffle: Literal["noshuffle", "shuffle", "bitshuffle"] = "shuffle"
    typesize: int | None = None
    blocksize: int = 0


class Zstd(Codec, name="zstd"):
    """Bytes to bytes: level -131072 to 22; more is smaller and slower."""

    level: int = 3
    checksum: bool = False


class Gzip(Codec, name="gzip"):
    """Bytes to bytes: level 0 to 9."""

    level: int = 6


class Zlib(Codec, name="numcodecs.zlib"):
    """Bytes to bytes: level 0 to 9."""

    level: int = 6


class Lz4(Codec, name="numcodecs.lz4"):
    """Bytes to bytes: `acceleration` 1 and up; more is faster and larger."""

    acceleration: int = 1


class Bz2(Codec, name="numcodecs.bz2"):
    """Bytes to bytes: level 1 to 9."""

    level: int = 9


class Lzma(Codec, name="numcodecs.lzma"):
    """Bytes to bytes: the formats of Python's `lzma` (1 xz, 2 alone, 3 raw), whose numbers the settings have.

    `preset` 0 to 9; more is smaller and slower. `filters` go with format 3 only, which needs them.
    """

    format: int = 1
    check: int = -1
    preset: int | None = None
    filters: tuple[dict[str, Any], ...] | None = None


class Snappy(Codec, name="numcodecs.snappy"):
    """Bytes to bytes."""


class Shuffle(Codec, name="numcodecs.shuffle"):
    """Bytes to bytes: first bytes of all elements, then second bytes, and so on."""

    elementsize: int = 4


class Crc32c(Codec, name="crc32c"):
    """Bytes to bytes: a checksum, verified on every read."""


class Adler32(Codec, name="numcodecs.adler32"):
    """Bytes to bytes: a checksum, verified on every read."""


class Fletcher32(Codec, name="numcodecs.fletcher32"):
    """Bytes to bytes: the checksum of HDF5, verified on every read."""
