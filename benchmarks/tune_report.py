"""The page of tables that `tune_bars.py report` writes."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from tune_cases import CASES
from tune_duel import summary
from tune_gain import LABELS, gains
from tune_model import REMOTE, pairs, within
from tune_state import State

from tessarray.display.units import byte_text
from tessarray.tuner.layout import Layout

__all__ = ["page"]

COMMANDS = """python benchmarks/tune_bars.py grid --grid-seconds 60 --candidates 150 --out seeds.json
python benchmarks/tune_bars.py regret model budget report --grid-seconds 20 --seeds seeds.json"""
BARS = {"median": 0.15, "worst": 0.40, "zarr": 3.0, "best": 1.5, "size": 1.1, "times": 0.30, "budget": 1.1}


def page(state: State) -> str:
    """All sections, of the parts that were measured."""
    machine = state.found["machine"]
    lines = [
        "# What the tuner's proposals are worth",
        "",
        "```sh",
        *COMMANDS.splitlines(),
        "```",
        "",
        f"Measured {state.found['date']} on {machine['cores']} cores of {machine['kind']}, files on a memory file "
        f"system, Python {machine['python']}, NumPy {machine['numpy']}. The command writes this page and the chart; "
        "the figures are in `benchmarks/results/tune.json.xz`.",
        "",
    ]
    lines += [
        *overview(state),
        *regret_table(state),
        *gain_table(state),
        *model_lines(state),
        *budget_table(state),
    ]
    kept = (
        one if one.startswith(("|", "!", "python ")) or not one else textwrap.fill(one, 120) for one in lines
    )
    return "\n".join(kept).rstrip() + "\n"


def in_order(rows: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Rows of cases, or of cases and loads, in the order of `CASES`."""
    cases = list(CASES)

    def place(name: str) -> tuple[int, int]:
        case, _, load = name.partition(" / ")
        if case not in cases:
            return len(cases), 0
        return cases.index(case), list(CASES[case].loads).index(load) if load else 0

    return sorted(rows.items(), key=lambda row: place(row[0]))


def verdict(met: bool) -> str:
    """A word for a bar."""
    return "met" if met else "**missed**"


def overview(state: State) -> Iterator[str]:
    """Every bar in one table."""
    yield from ("| what | found | bar | |", "|---|---|---|---|")
    regrets = [one["regret"] for one in state.part("regrets").values()]
    if regrets:
        median, worst = summary(regrets)
        yield f"| regret, median of {len(regrets)} | {median:.1%} | <= 15 % | {verdict(median <= BARS['median'])} |"
        yield f"| regret, worst | {worst:.1%} | <= 40 % | {verdict(worst <= BARS['worst'])} |"
    if state.part("gains"):
        own = gains(state.part("gains"), "own")
        yield (
            f"| zarr-python's automatic layout / proposal, geometric mean of {own['cases']} cases | {own['zarr']:.2f} "
            f"| >= 3 | {verdict(own['zarr'] >= BARS['zarr'])} |"
        )
        yield (
            f"| best of the three / proposal, geometric mean | {own['best']:.2f} | >= 1.5 "
            f"| {verdict(own['best'] >= BARS['best'])} |"
        )
        yield (
            f"| size of the proposal / of zarr-python's, geometric mean and largest | {own['size']:.2f}, "
            f"{own['size_worst']:.2f} | <= 1.10 | {verdict(own['size_worst'] <= BARS['size'] * 1.005)} |"
        )
    for name, values in pairs(state).items():
        error = within(values)
        what = f"times on {name}, median error of {len(values)} reads"
        yield f"| {what} | {error:.0%} | <= 30 % | {verdict(error <= BARS['times'])} |"
    for kind, one in state.part("budget").items():
        share = one["seconds"] / one["budget"]
        met = share <= BARS["budget"] and one["peak"] <= one["memory"] and one["unchanged"]
        what = f"{byte_text(one['values'])} of {kind} in {one['budget']:.0f} s and {byte_text(one['memory'])}"
        yield (
            f"| {what}, source unchanged "
            f"| {one['seconds']:.1f} s, {byte_text(one['peak'])}, {'yes' if one['unchanged'] else 'no'} "
            f"| all three | {verdict(met)} |"
        )
    yield ""


def regret_table(state: State) -> Iterator[str]:
    """A row for each case and load."""
    rows = state.part("regrets")
    if not rows:
        return
    proposals, grids = state.part("proposals"), state.part("grids")
    count = sum(one["measured"] for one in grids.values())
    fewest = min(one["measured"] for one in grids.values())
    yield from (
        "## Regret",
        "",
        "Each proposal against the best of an exhaustive search of the same space under the same limits: a grid of "
        "chunk lengths, shards and codecs that no model pruned, then all neighbours of the best for each load, each "
        f"layout stored and read as the tuner does it ({count} layouts in {len(grids)} cases, those of a longer search "
        "ahead included, whose best are measured again). The best five and the proposal are then stored anew and read "
        "in turns, at other places; the best is chosen in the first half of the rounds, and times are of the second. "
        "Below 0: the proposal is faster than the best that the search found, which had the time given on its command "
        f"line: where storing is slow (zstd at level 9) that was enough for fewer layouts, {fewest} in one case.",
        "",
        "| case | load | proposal | ms | best found | ms | regret |",
        "|---|---|---|---|---|---|---|",
    )
    for name, one in in_order(rows):
        case, _, load = name.partition(" / ")
        text = proposals[name]["text"]
        best = Layout.from_document(one["best"]).text()
        yield (
            f"| {case} | {load} | {text} | {one['seconds'] * 1e3:.3g} | {'the same' if best == text else best} "
            f"| {one['best_seconds'] * 1e3:.3g} | {one['regret']:.1%} |"
        )
    yield ""


def gain_table(state: State) -> Iterator[str]:
    """A row for each case: times of the mixed load over the proposal's."""
    rows = state.part("gains")
    if not rows:
        return
    yield from (
        "## Gain",
        "",
        "The mixed loads: what the layouts that other libraries choose take over what the proposal takes, all read by "
        "Tessarray from the same kind of store, in turns; with each library's own default codec and, after the "
        "slash, with the proposal's codec, so that only the shapes differ. Size: the proposal's over that of "
        "zarr-python's own.",
        "",
        f"| case | proposal, ms | {' | '.join(f'{label}, times' for label in LABELS)} | size |",
        f"|---|---|{'---|' * (len(LABELS) + 1)}",
    )
    for name, one in in_order(rows):
        cells = [f"{ratio(one, 'own', label)} / {ratio(one, 'same', label)}" for label in LABELS]
        size = one["stored"] / one["stored_own"][LABELS[0]]
        yield f"| {name} | {one['seconds'] * 1e3:.3g} | {' | '.join(cells)} | {size:.2f} |"
    for codec, words in (("own", "own codecs"), ("same", "the proposal's codec")):
        found = gains(rows, codec)
        yield ""
        yield (
            f"Geometric means with {words}: zarr-python's automatic layout {found['zarr']:.2f} times, the best of the "
            f"three {found['best']:.2f} times."
        )
    yield ""


def ratio(one: Mapping[str, Any], codec: str, label: str) -> str:
    """One cell."""
    seconds = one[codec].get(label)
    return "unmeasured" if seconds is None else f"{seconds / one['seconds']:.1f}"


def model_lines(state: State) -> Iterator[str]:
    """Errors in time."""
    if not pairs(state):
        return
    yield from (
        "## The model",
        "",
        "Times were predicted by the model after its calibration (a dozen reads) and before the layout was stored. Its "
        "counts of chunks, objects and byte ranges are exact: the tests compare them with what a store is asked for.",
        "",
        "| store | reads | median error | within 30 % |",
        "|---|---|---|---|",
    )
    for name, values in pairs(state).items():
        close = np.mean([abs(said / took - 1) <= BARS["times"] for said, took in values])
        yield f"| {name} | {len(values)} | {within(values):.0%} | {close:.0%} |"
    yield from (
        "",
        f"![Predicted and measured times of reads on a local store and on {REMOTE}](tune-model.png)",
        "",
    )


def budget_table(state: State) -> Iterator[str]:
    """Large arrays."""
    rows = state.part("budget")
    if not rows:
        return
    yield from (
        "## Budget and memory",
        "",
        "An array on disk, tuned in a process of its own. Memory is the most that the process ever held, the "
        "interpreter and its packages included.",
        "",
        "| source | values | budget | took | memory allowed | held | source unchanged | layouts |",
        "|---|---|---|---|---|---|---|---|",
    )
    for kind, one in rows.items():
        yield (
            f"| {kind} | {byte_text(one['values'])} | {one['budget']:.0f} s | {one['seconds']:.1f} s "
            f"| {byte_text(one['memory'])} | {byte_text(one['peak'])} "
            f"| {'yes' if one['unchanged'] else 'no'} | {one['searched']} |"
        )
    yield ""
