"""From what users write for codecs to Zarr v3 JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any, Literal

from tessarray._native import codecs_from_text
from tessarray.errors import InvalidArgumentError, InvalidTypeError

JSONCodec = dict[str, Any]
Choice = list[JSONCodec] | Literal["auto"]

# numcodecs names that Zarr v3 has as codecs of its own, with the same settings.
CORE = {"blosc", "zstd", "gzip", "vlen-utf8", "vlen-bytes"}
BLOSC_SHUFFLES = {0: "noshuffle", 1: "shuffle", 2: "bitshuffle"}


def codec_choice(value: object, place: str, itemsize: int) -> Choice:
    """Any form of a list of codecs: `"auto"`, `None` (none), one codec, or several."""
    if value is None:
        return []
    if isinstance(value, str) and value == "auto":
        return "auto"
    if isinstance(value, str | Mapping) or not isinstance(value, Iterable):
        return _codecs(value, place, itemsize)
    return [codec for item in value for codec in _codecs(item, place, itemsize)]


def _codecs(value: object, place: str, itemsize: int) -> list[JSONCodec]:
    if isinstance(value, str):
        return codecs_from_text(value)
    if isinstance(value, Mapping):
        return [_from_mapping(value, place, itemsize)]
    for method in ("to_dict", "get_config"):
        if callable(convert := getattr(value, method, None)):
            return [_from_mapping(convert(), place, itemsize)]
    raise InvalidTypeError(
        f"{place}: expected a codec, its JSON, a short text such as 'zstd:3', or 'auto'; "
        f"found {type(value).__name__}"
    )


def _from_mapping(value: Mapping[str, Any], place: str, itemsize: int) -> JSONCodec:
    if isinstance(value.get("name"), str):
        settings = value.get("configuration") or {}
        codec: JSONCodec = {"name": value["name"], "configuration": _plain(settings)}
        if value.get("must_understand") is False:
            codec["must_understand"] = False
        return codec
    if isinstance(value.get("id"), str):
        return _from_numcodecs(dict(value), itemsize)
    raise InvalidArgumentError(
        f"{place}: a codec needs a 'name' (Zarr v3) or an 'id' (numcodecs): {dict(value)!r}"
    )


def _from_numcodecs(settings: dict[str, Any], itemsize: int) -> JSONCodec:
    name = settings.pop("id")
    if name == "blosc":
        shuffle = settings.get("shuffle", 1)
        if shuffle == -1:
            shuffle = 2 if itemsize == 1 else 1
        settings["shuffle"] = BLOSC_SHUFFLES.get(shuffle, shuffle)
    return {"name": name if name in CORE else f"numcodecs.{name}", "configuration": _plain(settings)}


def _plain(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as JSON has them: enums by value, tuples as lists, and what was left open left out."""
    plain = {}
    for name, value in settings.items():
        if isinstance(value, Enum):
            value = value.value
        if isinstance(value, Mapping):
            value = _plain(value)
        elif isinstance(value, tuple | list):
            value = [_plain(item) if isinstance(item, Mapping) else item for item in value]
        if value is not None:
            plain[name] = value
    return plain
