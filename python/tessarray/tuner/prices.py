"""What a store costs a month: prices, as a preset or as a text, and the bill of a layout.

    parse_prices("aws-s3")
    parse_prices("storage=0.023/GB-month,get=0.0004/1000,put=0.005/1000,egress=0.09/GB")
    parse_prices("aws-s3,egress=0")            a preset with something changed: here, readers in the same region

GB is 10^9 bytes and GiB 2^30; the presets are per GiB, as the services bill. They are list prices in US dollars at the
date that each carries, first tier, without free allowances, taxes or discounts. They change: give your own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from tessarray.tuner.errors import TuneError

__all__ = ["PRESETS", "Bill", "PriceError", "Prices", "bill", "monthly", "parse_prices"]

GIB = 1 << 30
SIZES = {"B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
SIZES |= {"KIB": 1 << 10, "MIB": 1 << 20, "GIB": GIB, "TIB": 1 << 40}
COUNTS = {"k": 10**3, "M": 10**6, "million": 10**6}
EXAMPLE = "storage=0.023/GB-month,get=0.0004/1000,put=0.005/1000,egress=0.09/GB"


class PriceError(TuneError):
    """A text that is neither a preset of prices nor a list of them."""


@dataclass(frozen=True)
class Prices:
    """Money for a byte stored for a month, a GET, a PUT, and a byte that leaves the store."""

    name: str
    storage: float
    get: float
    put: float
    egress: float
    currency: str = "USD"
    as_of: str | None = None
    note: str = "prices as given"


@dataclass(frozen=True)
class Bill:
    """One month in money: what is stored, GETs, PUTs, and what leaves the store."""

    storage: float
    reading: float
    writing: float
    egress: float

    @property
    def total(self) -> float:
        """All of it."""
        return self.storage + self.reading + self.writing + self.egress


def _listed(name: str, service: str, storage: float, get: float, put: float, egress: float) -> Prices:
    """A preset, from money per GiB-month, 1000 GETs, 1000 PUTs and GiB."""
    note = f"list prices of {service}, first tier, in {AS_OF}; override them with your own"
    return Prices(name, storage / GIB, get / 1000, put / 1000, egress / GIB, as_of=AS_OF, note=note)


AS_OF = "March 2026"
S3 = "Amazon S3 Standard (US East, N. Virginia)"
PRESETS: Mapping[str, Prices] = {
    one.name: one
    for one in (
        _listed("aws-s3", f"{S3}, read over the Internet", 0.023, 0.0004, 0.005, 0.09),
        _listed("aws-s3-inside", f"{S3}, read in the same region", 0.023, 0.0004, 0.005, 0.0),
        _listed("gcs", "Google Cloud Storage Standard (us-central1), read from outside", 0.020, 0.0004, 0.005, 0.12),
        _listed("r2", "Cloudflare R2 Standard", 0.015, 0.00036, 0.0045, 0.0),
    )
}  # fmt: skip


def parse_prices(text: str) -> Prices:
    """Prices from a preset's name, `name=amount/unit` entries, or a preset and entries that change it.

    Entries: `storage` per size and month ("0.023/GB-month"), `get` and `put` per requests ("0.0004/1000", "0.4/M"),
    `egress` per size ("0.09/GB"), `currency`. What is left out costs nothing, or what the preset says. 0 needs no unit.
    Raises `PriceError`.
    """
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not parts:
        raise PriceError(f"prices: expected {_choices()}, found nothing")
    found = Prices(text, 0.0, 0.0, 0.0, 0.0)
    if "=" not in parts[0]:
        if parts[0] not in PRESETS:
            raise PriceError(f"prices: expected {_choices()}, found '{parts[0]}'")
        found = PRESETS[parts.pop(0)]
        if parts:
            found = replace(found, name=text, note=f"{found.note}; changed: {', '.join(parts)}")
    seen: set[str] = set()
    for part in parts:
        name, equals, amount = (piece.strip() for piece in part.partition("="))
        if name in seen:
            raise PriceError(f"prices: expected each price once, found '{name}' twice")
        seen.add(name)
        if not equals or (name != "currency" and name not in UNITS):
            raise PriceError(
                f"prices: expected storage, get, put, egress or currency as name=amount, found '{part}'"
            )
        change: dict[str, Any] = {name: _currency(amount) if name == "currency" else _money(name, amount)}
        found = replace(found, **change)
    return found


def _choices() -> str:
    return f"one of {', '.join(PRESETS)}, or prices such as '{EXAMPLE}'"


def _currency(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z]{3}", text):
        raise PriceError(f"prices: expected a currency of three letters such as EUR, found '{text}'")
    return text.upper()


def _money(name: str, text: str) -> float:
    """Money per byte-month, request or byte."""
    match = re.fullmatch(r"(\d+(?:\.\d*)?(?:[eE]-?\d+)?|\.\d+)\s*(?:/\s*(.+))?", text)
    unit = match and match[2]
    if match is not None and float(match[1]) == 0 and unit is None:
        return 0.0
    per = UNITS[name](unit) if unit else None
    if match is None or per is None:
        raise PriceError(f"prices: {name}: expected {EXPECTED[name]}, found '{text}'")
    return float(match[1]) / per


def _size(unit: str) -> int | None:
    return SIZES.get(unit.strip().upper())


def _size_month(unit: str) -> int | None:
    match = re.fullmatch(r"(\w+)\s*[-/ ]\s*month", unit.strip(), re.IGNORECASE)
    return _size(match[1]) if match else None


def _requests(unit: str) -> int | None:
    plain = unit.strip().removesuffix("requests").strip()
    return int(plain) if plain.isdecimal() and int(plain) > 0 else COUNTS.get(plain)


UNITS: Mapping[str, Callable[[str], int | None]] = {
    "storage": _size_month, "get": _requests, "put": _requests, "egress": _size
}  # fmt: skip
EXPECTED = {
    "storage": "an amount per size and month such as 0.023/GB-month",
    "get": "an amount per requests such as 0.0004/1000",
    "put": "an amount per requests such as 0.005/1000",
    "egress": "an amount per size such as 0.09/GB",
}


def bill(
    prices: Prices,
    stored_bytes: float,
    requests_per_access: float,
    fetched_per_access: float,
    accesses_per_month: float,
    puts: float = 0,
) -> Bill:
    """A month of a store of `stored_bytes` that is read `accesses_per_month` times.

    Each access makes `requests_per_access` GETs and takes `fetched_per_access` bytes out of the store. `puts` are the
    objects written in that month: the files of a layout for data that are written once a month, 0 for data at rest.
    """
    return Bill(
        storage=prices.storage * stored_bytes,
        reading=prices.get * requests_per_access * accesses_per_month,
        writing=prices.put * puts,
        egress=prices.egress * fetched_per_access * accesses_per_month,
    )


def monthly(
    prices: Prices,
    stored_bytes: float,
    requests_per_access: float,
    fetched_per_access: float,
    accesses_per_month: float,
    puts: float = 0,
) -> float:
    """The total of `bill`, in the currency of the prices."""
    return bill(prices, stored_bytes, requests_per_access, fetched_per_access, accesses_per_month, puts).total
