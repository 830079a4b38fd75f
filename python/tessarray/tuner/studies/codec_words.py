"""What measured codecs mean, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tessarray.tuner.result import Estimate
from tessarray.tuner.studies.model import Table
from tessarray.tuner.wording import digits, rate_text

__all__ = ["codec_meaning"]

RANDOM_BITS = 7.9
WORTH = 1.1  # a codec that makes values less smaller than this is no answer to 'which is fastest'


def codec_meaning(tables: Sequence[Table], now: str | None = None) -> tuple[str, ...]:
    """Two to four sentences from the tables of the study. now: the codec that the array has."""
    rows: list[dict[str, Any]] = tables[0].records()
    smallest = max(rows, key=lambda row: row["ratio"].value)
    coded = [row for row in rows if row["codec"] != "none"] or rows
    coded = [row for row in coded if row["ratio"].value >= WORTH] or coded
    quick = max(coded, key=lambda row: row["decode"].value)
    found = [_extremes(smallest, quick)]
    found += _middle(rows, smallest, now)
    found += _blocks(tables[2])
    found += _checksum(tables[1])
    return tuple(found)


def _extremes(smallest: dict[str, Any], quick: dict[str, Any]) -> str:
    text = (
        f"Smallest: {smallest['codec']}, {digits(smallest['ratio'].value)} times smaller, decodes "
        f"{rate_text(smallest['decode'].value)} a thread"
    )
    if smallest is quick:
        return f"{text}, and no other decodes faster."
    return (
        f"{text}; fastest to decode: {quick['codec']}, {rate_text(quick['decode'].value)}, "
        f"{digits(quick['ratio'].value)} times smaller."
    )


def _middle(rows: Sequence[dict[str, Any]], smallest: dict[str, Any], now: str | None) -> list[str]:
    """A codec that is nearly as small and much faster; and where the present one stands."""
    found = []
    near = [row for row in rows if row["ratio"].value >= 0.9 * smallest["ratio"].value]
    best = max(near, key=lambda row: (row["encode"].value * row["decode"].value) ** 0.5)
    if best is not smallest:
        found.append(
            f"Within 10 % of the smallest size, {best['codec']} encodes "
            f"{digits(best['encode'].value / smallest['encode'].value)} and decodes "
            f"{digits(best['decode'].value / smallest['decode'].value)} times as fast."
        )
    mine = next((row for row in rows if row["codec"] == now), None)
    if mine is not None and not mine["front"]:
        better = [
            row
            for row in rows
            if row["front"]
            and all(row[name].value >= mine[name].value for name in ("ratio", "encode", "decode"))
        ]
        if better:
            found.append(f"The array's own {now} is beaten in all three by {better[0]['codec']}.")
    return found


def _blocks(table: Table) -> list[str]:
    """How random the values are, and whether places differ."""
    rows: list[dict[str, Any]] = table.records()
    if not rows:
        return []
    shuffled = [float(row["shuffled"]) for row in rows]
    plain = [float(row["as they are"]) for row in rows]
    if min(shuffled) > RANDOM_BITS:
        return [
            f"The bytes are as good as random ({digits(min(shuffled))} of 8 bits each): no lossless codec makes them "
            "much smaller."
        ]
    ratios = [float(row["best ratio"]) for row in rows if row["best ratio"]]
    spread = ""
    if ratios and max(ratios) > 1.5 * min(ratios):
        spread = f" Places differ: the best ratio is {digits(min(ratios))} to {digits(max(ratios))} by block."
    return [
        f"Bytes hold {digits(sum(plain) / len(plain))} of 8 bits as they come, and "
        f"{digits(sum(shuffled) / len(shuffled))} in the least random byte of an element, which is what "
        f"a shuffle shows a codec.{spread}"
    ]


def _checksum(table: Table) -> list[str]:
    """What a checksum adds."""
    rows = table.records()
    if not rows:
        return []
    last = rows[-1]
    read, write = last["of a read"], last["of a write"]
    assert isinstance(read, Estimate)
    assert isinstance(write, Estimate)
    if read.low <= 0:
        return [f"A crc32c checksum beside {last['beside']} costs a read nothing that could be measured."]
    return [
        f"A crc32c checksum beside {last['beside']} adds {read.value * 100:.1f} % to decoding and "
        f"{max(write.value, 0) * 100:.1f} % to encoding."
    ]
