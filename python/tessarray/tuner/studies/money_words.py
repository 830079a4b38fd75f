"""What a bill means, in words."""

from __future__ import annotations

from typing import Any

from tessarray.tuner.studies.model import Table
from tessarray.tuner.wording import digits, money_text

__all__ = ["money_meaning"]

PARTS = {"storage": "storage", "requests cost": "requests", "transfer": "transfer"}


def money_meaning(table: Table, accesses: float, currency: str) -> tuple[str, ...]:
    """Two to four sentences from the table of the study, whose first row is the cheapest."""
    rows: list[dict[str, Any]] = table.records()
    best = rows[0]
    found = [
        f"Cheapest: {best['layout']} ({best['chunks']}), {money_text(best['a month'], currency)} a month."
    ]
    found.append(_against(rows, best, currency))
    found.append(_parts(rows, best))
    if accesses > 0 and best["storage"] > 0:
        spent = best["requests cost"] + best["transfer"]
        if spent > 0:
            even = accesses * best["storage"] / spent
            found.append(
                f"Storage is the larger part of {best['layout']} below {digits(even)} accesses a month, reading above: "
                + (
                    "a smaller codec helps more than a better shape."
                    if even > accesses
                    else "the shape matters more than the codec."
                )
            )
    return tuple(one for one in found if one)


def _against(rows: list[dict[str, Any]], best: dict[str, Any], currency: str) -> str:
    """Against what there is now, or zarr-python's default, or the dearest."""
    for label in ("current", "zarr-python auto"):
        other = next((row for row in rows if row["layout"] == label), None)
        if other is not None and other is not best and best["a month"] > 0:
            name = "the present layout" if label == "current" else "zarr-python's default"
            factor, amount = other["a month"] / best["a month"], money_text(other["a month"], currency)
            return f"That is {digits(factor)} times less than {name} ({amount})."
    dearest = rows[-1]
    if dearest is best or best["a month"] == 0:
        return ""
    return (
        f"The dearest here, {dearest['layout']}, costs {digits(dearest['a month'] / best['a month'])} times that "
        f"({money_text(dearest['a month'], currency)})."
    )


def _parts(rows: list[dict[str, Any]], best: dict[str, Any]) -> str:
    """What the money goes into, of the cheapest and of the dearest."""
    told = []
    for row in dict.fromkeys((rows.index(best), len(rows) - 1)):
        one = rows[row]
        part = max(PARTS, key=lambda name: one[name])
        if one["a month"] > 0:
            told.append(f"{one['layout']} {one[part] / one['a month'] * 100:.0f} % {PARTS[part]}")
    return f"What is paid for most: {', '.join(told)}." if told else ""
