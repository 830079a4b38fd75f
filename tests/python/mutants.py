"""Random changes to good documents: of their JSON values, and of their bytes."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any

from hostile import document, sharding

GOOD = [
    document(),
    document(codecs=[sharding()]),
    document(
        data_type="float32",
        fill_value="NaN",
        codecs=[
            {"name": "bytes", "configuration": {"endian": "little"}},
            {"name": "zstd", "configuration": {"level": 3, "checksum": True}},
        ],
    ),
]
ODD: list[Any] = [
    None,
    True,
    -1,
    0,
    1,
    2,
    2**31,
    2**32,
    2**53 + 1,
    2**63,
    2**64,
    1.5,
    1e308,
    [0],
    [2**62] * 4,
    [],
    [[]],
]
ODD += ["", "a", "NaN", "r8", "int32", "../x", "\u0000", {}, {"name": "x"}, {"name": "bytes"}]


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The path of every value inside a document."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for number, item in enumerate(value):
            yield from places(item, (*path, number))


def change_a_value(rng: random.Random, value: Any) -> None:
    path = rng.choice(list(places(value)))
    at = value
    for key in path[:-1]:
        at = at[key]
    if rng.random() < 0.2:
        del at[path[-1]]
    else:
        at[path[-1]] = rng.choice(ODD)


def change_bytes(rng: random.Random, text: bytearray) -> None:
    for _ in range(rng.choice([1, 2, 8])):
        where = rng.randrange(len(text))
        new = bytes(rng.randrange(256) for _ in range(rng.choice([0, 1, 3])))
        text[where : where + rng.choice([0, 1, 1, 5])] = new


def mutant(rng: random.Random) -> bytes:
    value = json.loads(json.dumps(rng.choice(GOOD)))
    for _ in range(rng.choice([1, 1, 2, 3])):
        change_a_value(rng, value)
    text = bytearray(json.dumps(value).encode())
    if rng.random() < 0.3:
        change_bytes(rng, text)
    return bytes(text)
