"""Which way to choose the next layout to read is worth its code: `python benchmarks/tune_ablation.py [--budget 12]`.

For the cases and loads of `tune_cases.py`, `tune` runs with the same budget and seed, all else being equal, and

- `neighbours`: what it does: the model's best, and what is one step from each new best (`exploration.py`);
- `optuna`: the model's best and those neighbours enqueued, TPE (multivariate) for the rest;
- `tpe`: Optuna alone, nothing enqueued;
- `random`: layouts drawn evenly over the space, those that the model holds for hopeless left out as in all others.

The proposals of one load are then stored anew and read in turns at other places. A row's figures are times over that
of `neighbours`: above 1 the other is slower. Needs `pip install optuna`. Results go to `--out` after every load.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from tune_bars import DUEL_BYTES, OFFLINE_SEED, above, say
from tune_cases import Case, chosen
from tune_duel import duel, geometric_mean
from tune_grid import Field

import tessarray
from tessarray.tuner import search as pipeline
from tessarray.tuner.exploration import Explorer, explore, first_choices
from tessarray.tuner.layout import Layout
from tessarray.tuner.layout_space import LayoutSpace
from tessarray.tuner.ranking import Ranked, Ranking
from tessarray.tuner.reading import Run
from tessarray.tuner.target import Scratch, parse_store
from tessarray.tuner.tuning import tune

IDLE = 200  # proposals in a row that are known, forbidden or hopeless: the space is exhausted


def at_random(run: Run, ranking: Ranking, ranked: Ranked, predictions: list[dict[str, Any]]) -> None:
    """Every choice drawn evenly."""
    rng = np.random.default_rng(run.task.seed)
    explorer, idle = Explorer(run, ranking, predictions), 0
    while run.clock.left("search") > 0 and idle < IDLE:
        layout = ranking.space.drawn(rng)
        idle = 0 if explorer.worth(layout) else idle + 1
        if not idle:
            explorer.read(layout)


def by_optuna(
    run: Run, ranking: Ranking, ranked: Ranked, predictions: list[dict[str, Any]], enqueue: bool = True
) -> None:
    """TPE, and whether the model's best and the neighbours of each new best are enqueued."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    warnings.simplefilter("ignore")
    sampler = optuna.samplers.TPESampler(seed=run.task.seed, multivariate=True, n_startup_trials=12)
    study = optuna.create_study(sampler=sampler)
    space, explorer, idle = ranking.space, Explorer(run, ranking, predictions), 0
    for layout in first_choices(ranked, ranking.selected()) if enqueue else ():
        study.enqueue_trial(params_of(space, layout))
    while run.clock.left("search") > 0 and idle < IDLE:
        asked = study.ask()
        ladders = [space.ladder(axis) for axis in range(len(space.shape))]
        chunks = tuple(
            steps[asked.suggest_int(f"chunk{axis}", 0, len(steps) - 1)] for axis, steps in enumerate(ladders)
        )
        sharding = space.shardings[asked.suggest_int("sharding", 0, len(space.shardings) - 1)]
        layout = space.layout(chunks, sharding, asked.suggest_categorical("codec", list(space.codecs)))
        idle = 0 if explorer.worth(layout) else idle + 1
        value = math.inf if idle else explorer.read(layout)
        if not idle and enqueue and run.board.best is not None and run.board.best.layout == layout:
            for near in explorer.neighbours(layout):
                study.enqueue_trial(params_of(space, near))
        if math.isfinite(value):
            study.tell(asked, value)
        else:
            study.tell(asked, state=optuna.trial.TrialState.PRUNED)


def params_of(space: LayoutSpace, layout: Layout) -> dict[str, Any]:
    """A layout of the space as Optuna's parameters."""
    ways = [way for way in space.shardings if space.layout(layout.chunks, way, layout.codec) == layout]
    found: dict[str, Any] = {"sharding": space.shardings.index(ways[0]), "codec": layout.codec}
    return found | {
        f"chunk{axis}": space.ladder(axis).index(length) for axis, length in enumerate(layout.chunks)
    }


def by_tpe_alone(run: Run, ranking: Ranking, ranked: Ranked, predictions: list[dict[str, Any]]) -> None:
    """TPE without the model's best."""
    by_optuna(run, ranking, ranked, predictions, enqueue=False)


WAYS: dict[str, Callable[[Run, Ranking, Ranked, list[dict[str, Any]]], None]] = {
    "neighbours": explore,
    "optuna": by_optuna,
    "tpe": by_tpe_alone,
    "random": at_random,
}


def proposed(
    way: str, case: Case, values: np.ndarray, load: str, given: argparse.Namespace
) -> dict[str, Any]:
    """One run with one way."""
    started = time.perf_counter()
    with mock.patch.object(pipeline, "explore", WAYS[way]):
        found = tune(
            values, case.queries(values.shape, load), budget=given.budget, scratch=above(given),
            threads=1 if given.cpu_time else None, **case.limits,
        )  # fmt: skip
    return {
        "layout": found.best.layout.document(),
        "searched": found.searched,
        "seconds": time.perf_counter() - started,
    }


def compared(
    case: Case, values: np.ndarray, load: str, given: argparse.Namespace, turn: int
) -> dict[str, Any]:
    """All ways on one load, and their proposals in turns."""
    order = [*given.ways[turn % len(given.ways) :], *given.ways[: turn % len(given.ways)]]
    runs = {way: proposed(way, case, values, load, given) for way in order}
    layouts = {way: Layout.from_document(one["layout"]) for way, one in runs.items()}
    distinct = list(dict.fromkeys(layouts.values()))
    with Scratch(parse_store("local", str(above(given)))) as scratch:
        threads = 1 if given.cpu_time else tessarray.default_session().threads
        field = Field(case, values, scratch, OFFLINE_SEED + 1, threads, DUEL_BYTES)
        found = duel(field, distinct, case.loads[load], given.duel_seconds)
    for way, one in runs.items():
        one["read"] = found.seconds(distinct.index(layouts[way]))
    return runs


def table(rows: dict[str, dict[str, Any]], ways: list[str]) -> str:
    """What came out, as a table."""
    base = ways[0]
    lines = [
        f"| way | time over {base}, geometric mean | faster, as fast (3 %), slower | layouts read |",
        "|---|---|---|---|",
    ]
    for way in ways:
        ratios = [one[way]["read"] / one[base]["read"] for one in rows.values()]
        counts = [
            sum(ratio < 0.97 for ratio in ratios),
            sum(0.97 <= ratio <= 1.03 for ratio in ratios),
            sum(ratio > 1.03 for ratio in ratios),
        ]
        searched = float(np.mean([one[way]["searched"] for one in rows.values()]))
        lines.append(
            f"| {way} | {geometric_mean(ratios):.3f} | {counts[0]}, {counts[1]}, {counts[2]} | {searched:.0f} |"
        )
    return "\n".join(lines)


def main() -> int:
    """All loads, then the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--budget", type=float, default=12.0, help="seconds of each tuning run")
    parser.add_argument(
        "--duel-seconds", type=float, default=2.5, help="for reading the proposals of a load in turns"
    )
    parser.add_argument("--cases", help="beginnings of their names, with ';' between (default: all)")
    parser.add_argument("--loads", nargs="*", help="beginnings of their names (default: all)")
    parser.add_argument(
        "--ways", nargs="*", choices=WAYS, default=list(WAYS), help="the first is what others are held to"
    )
    parser.add_argument("--scale", type=float, default=1.0, help="of the elements of synthetic arrays")
    parser.add_argument(
        "--cpu-time",
        action="store_true",
        help="one worker, and CPU time for every clock: on a machine that others use",
    )
    parser.add_argument("--folder", type=Path, help="where stores are made (default: memory)")
    parser.add_argument("--out", type=Path, help="a file of results, gone on with if it is there")
    given = parser.parse_args()
    if given.cpu_time:
        time.perf_counter = time.process_time
    rows: dict[str, dict[str, Any]] = {}
    if given.out is not None and given.out.exists():
        rows = json.loads(given.out.read_text())
    for case in chosen(given.cases):
        loads = [one for one in case.loads if not given.loads or one.startswith(tuple(given.loads))]
        names = {load: f"{case.name} / {load}" for load in loads if f"{case.name} / {load}" not in rows}
        values = case.values(given.scale) if names else None
        for load, name in names.items() if values is not None else ():
            rows[name] = compared(case, values, load, given, len(rows))
            base = rows[name][given.ways[0]]["read"]
            say(f"{name}: " + ", ".join(f"{way} {rows[name][way]['read'] / base:.2f}" for way in given.ways))
            if given.out is not None:
                given.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(table(rows, given.ways))
    return 0


if __name__ == "__main__":
    sys.exit(main())
