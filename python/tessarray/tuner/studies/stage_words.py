"""What shares of time mean, in words."""

from __future__ import annotations

from typing import Any

from tessarray.tuner.studies.model import Table
from tessarray.tuner.wording import digits, seconds_text

__all__ = ["stage_meaning"]

STAGES = ("I/O", "decoding", "assembly", "the rest")
CURES = {
    "I/O": "fewer and larger requests (larger chunks, shards), or a nearer store, would help; a faster codec would not",
    "decoding": "a faster codec, or chunks of which more is used, would help; a faster disk would not",
    "assembly": "chunks whose rows are rows of the result would help; codec and store hardly matter",
    "the rest": "the read is as fast as its planning and the memory for its result: read more at once",
}
MOST = 0.5
COLD = 2.0


def stage_meaning(table: Table, verdict: str = "") -> tuple[str, ...]:
    """Two to four sentences from the table of the study. verdict: what `explain` says of the slowest read."""
    rows: list[dict[str, Any]] = table.records()
    time = sum(row["time"].value for row in rows)
    shares = {
        stage: sum(row[stage].value * row["time"].value for row in rows) / max(time, 1e-12)
        for stage in STAGES
    }
    top = max(STAGES, key=lambda stage: shares[stage])
    told = ", ".join(f"{stage} {shares[stage] * 100:.0f} %" for stage in STAGES)
    found = [f"Over all queries: {told}."]
    if shares[top] >= MOST:
        found.append(f"Most of it is {top}: {CURES[top]}.")
    else:
        found.append("No stage takes half of the time, so no single change will make it much faster.")
    cold = max(rows, key=lambda row: row["first read"].value / max(row["time"].value, 1e-12))
    factor = cold["first read"].value / max(cold["time"].value, 1e-12)
    if factor >= COLD:
        found.append(
            f"The first read of '{cold['query']}' takes {seconds_text(cold['first read'].value)}, {digits(factor)} "
            "times a later one: keep arrays open."
        )
    if verdict:
        found.append(f"Of the slowest read, `tessarray explain` says: {verdict.rstrip('.')}.")
    return tuple(found)
