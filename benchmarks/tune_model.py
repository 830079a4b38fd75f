"""The cost model against what happens: times that were predicted beforehand. Its counts are compared with what a store
is asked for in `tests/python/test_tune_expected.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tune_state import State

from tessarray.display import palette, pictures

__all__ = ["BAND", "REMOTE", "chart", "pairs", "within"]

REMOTE = "s3-like(ttfb=30ms,bw=200MB/s)"
CASES_REMOTE = ("cube", "camera", "classes", "COADS")
BAND = 0.3


def within(found: Sequence[Sequence[float]]) -> float:
    """The median of |predicted / measured - 1|."""
    return float(np.median([abs(said / took - 1) for said, took in found]))


def pairs(state: State) -> dict[str, list[Sequence[float]]]:
    """(predicted, measured) of all reads, by kind of store."""
    local = [pair for one in state.part("proposals").values() for pair in one["predictions"]]
    remote = [pair for one in state.part("remote").values() for pair in one["predictions"]]
    return {name: found for name, found in (("local", local), (REMOTE, remote)) if found}


def chart(state: State, path: Path, most: int = 700) -> None:
    """Predicted against measured times of both stores, with the band of 30 %."""
    found = pairs(state)
    if not found:
        return
    with pictures.style():
        figure = pictures.new_figure(5.2, 4.6)
        panel = figure.add_subplot()
        both = np.array(list(itertools.chain(*found.values())))
        line = np.geomspace(both.min() * 0.7, both.max() * 1.4, 50)
        panel.fill_between(
            line, line * (1 - BAND), line * (1 + BAND), color="0.88", label="within 30 %", lw=0
        )
        panel.plot(line, line, color="0.55", lw=0.8)
        rng = np.random.default_rng(0)
        for (name, values), colour in zip(found.items(), palette.PRINTED, strict=False):
            times = np.array(values)
            shown = times[np.sort(rng.permutation(len(times))[:most])]
            label = f"{name.partition('(')[0]}: {len(times)} reads, median error {within(values):.0%}"
            panel.scatter(shown[:, 1], shown[:, 0], s=5, color=colour, alpha=0.45, linewidth=0, label=label)
        panel.set(xscale="log", yscale="log", xlabel="measured, a read", ylabel="predicted, a read")
        pictures.unit_axis(panel.xaxis, "seconds")
        pictures.unit_axis(panel.yaxis, "seconds")
        panel.legend(loc="upper left", markerscale=2)
        figure.savefig(path, dpi=100, metadata={"Software": None})
