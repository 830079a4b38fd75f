"""What a proposal gains over the layouts that other libraries choose: the same engine reads all, in turns.

Each library's chunks are measured twice: with its own default codec, and with the proposal's, so that only the shapes
differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tune_duel import duel, geometric_mean, stored_size
from tune_grid import Field

from tessarray.tuner.baselines import H5PY, NETCDF, ZARR, defaults
from tessarray.tuner.layout import Layout

__all__ = ["LABELS", "gain", "gains"]

LABELS = (ZARR, H5PY, NETCDF)
DEAREST = 2 << 30  # bytes of values that storing one of them may write
REPEATS = 4
DRAWS = 4


def gain(field: Field, ours: Layout, weights: Mapping[str, float], seconds: float) -> dict[str, Any]:
    """Seconds and sizes of the proposal and of the others, with their own codecs and with the proposal's."""
    from tessarray.tuner.trial import Trial

    shape, dtype = field.values.shape, field.values.dtype
    own = defaults(shape, dtype)
    same = defaults(shape, dtype, ours.codec, checksum=ours.checksum)
    entries = [(label, "own", own[label]) for label in LABELS] + [
        (label, "same", same[label]) for label in LABELS
    ]
    affordable: list[tuple[str, str, Layout]] = []
    dear: list[tuple[str, str, Layout]] = []
    for entry in entries:
        trial = Trial(entry[2], field.ground)
        (affordable if trial.cost(trial.plan(1)) <= DEAREST else dear).append(entry)
    found = duel(field, [ours, *(layout for _, _, layout in affordable)], weights, seconds, REPEATS, DRAWS)
    document: dict[str, Any] = {
        "seconds": found.seconds(0),
        "own": {},
        "same": {},
        "unmeasured": [f"{label}, {codec} codec" for label, codec, _ in dear],
        "places": len(found.times[0]),
    }
    for number, (label, codec, _) in enumerate(affordable, 1):
        document[codec][label] = found.seconds(number)
    document["stored"], document["stored_whole"] = stored_size(field, ours)
    document["stored_own"] = {label: stored_size(field, own[label])[0] for label in LABELS}
    return document


def gains(rows: Mapping[str, Mapping[str, Any]], codec: str) -> dict[str, float]:
    """Geometric means over cases: of zarr-python's time over ours, and of the best of them over ours; and the
    size of ours over that of zarr-python's, as geometric mean and worst.
    """
    ratios = [one[codec][ZARR] / one["seconds"] for one in rows.values() if ZARR in one[codec]]
    best = [
        min(one[codec][label] for label in LABELS if label in one[codec]) / one["seconds"]
        for one in rows.values()
        if any(label in one[codec] for label in LABELS)
    ]
    sizes = [one["stored"] / one["stored_own"][ZARR] for one in rows.values()]
    return {
        "zarr": geometric_mean(ratios),
        "best": geometric_mean(best),
        "size": geometric_mean(sizes),
        "size_worst": max(sizes),
        "cases": len(rows),
    }
