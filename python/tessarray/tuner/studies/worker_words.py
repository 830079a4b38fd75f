"""What a scaling over workers means, in words: where to stop, and when not to parallelise."""

from __future__ import annotations

from typing import Any

from tessarray.tuner.result import WorkerFigures
from tessarray.tuner.scaling import choose_workers
from tessarray.tuner.studies.model import Table
from tessarray.tuner.wording import byte_text, count_text, digits, seconds_text

__all__ = ["stop_at", "worker_meaning", "worth_from"]

WORKS = {"read all": "Reading all", "slices": "Reading slices", "write": "Writing"}
GAIN = 1.05  # so much faster must all workers be to be worth it


def stop_at(table: Table, work: str) -> WorkerFigures:
    """The number of workers beyond which more are not worth it, with its figures."""
    rows: list[dict[str, Any]] = [row for row in table.records() if row["work"] == work]
    figures = [
        WorkerFigures(int(row["workers"]), row["time"].value, row["speed-up"].value, row["efficiency"].value)
        for row in rows
    ]
    count = choose_workers(figures)
    return next(one for one in figures if one.workers == count)


def worth_from(table: Table) -> tuple[float, float] | None:
    """The smallest selection (bytes, chunks) from which on all workers are faster beyond doubt; None where none is."""
    found = None
    for row in reversed(table.records()):
        gain: Any = row["gain"]
        if gain.value < GAIN or gain.low <= 1:
            break
        found = (float(row["selection"]), float(row["chunks"]))  # type: ignore[arg-type]
    return found


def worker_meaning(works: Table, sizes: Table) -> tuple[str, ...]:
    """Two to four sentences from the two tables."""
    most = max(int(count) for count in works.column("workers") if isinstance(count, int))
    if most == 1:
        return (
            "There is one worker only, so there is nothing to share out: give --threads, or run it on more cores.",
            f"With it, reading all takes {seconds_text(works.records()[0]['time'].value)}.",  # type: ignore[union-attr]
        )
    found = []
    for work, words in WORKS.items():
        best = stop_at(works, work)
        if best.workers == 1:
            found.append(f"{words}: one worker is as fast as {most}.")
        else:
            found.append(
                f"{words}: stop at {best.workers} workers, {digits(best.speedup)} times as fast as one "
                f"({best.efficiency * 100:.0f} % of each is put to use)."
            )
    return (*found, _threshold(sizes, most))


def _threshold(sizes: Table, most: int) -> str:
    start = worth_from(sizes)
    if start is None and len(sizes.rows) == 1:
        return "All that was read lies in one chunk, and a chunk is one worker's: more workers need smaller chunks."
    if start is None:
        largest = byte_text(float(sizes.rows[-1][0]))  # type: ignore[arg-type]
        return (
            f"No selection up to {largest} was read faster by {most} workers than by one beyond doubt: "
            "do not parallelise."
        )
    nbytes, chunks = start
    if sizes.rows and sizes.rows[0][0] == nbytes:
        return f"Even the smallest selection ({byte_text(nbytes)}) is read faster by {most} workers."
    return (
        f"Below {byte_text(nbytes)} ({count_text(chunks)} chunks) one worker is as fast as {most}: there, read several "
        f"selections at once instead of one with more workers."
    )
