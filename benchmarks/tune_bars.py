"""What the tuner is held to, measured: `python benchmarks/tune_bars.py [PART...]`.

grid: the exhaustive search alone (`tune_grid.py`), for a longer one ahead of the rest, which takes it with `--seeds`.
regret: proposals against an exhaustive search of the same layouts, and against what other libraries choose
(`tune_gain.py`), for the cases and loads of `tune_cases.py`. model: times that were predicted before they
were measured, on a local and a throttled store (`tune_model.py`). budget: a large array on disk,
the time and memory that tuning it takes, and that it is unchanged (`tune_budget.py`). report: the tables.

Results are kept in a file after every step; with `--resume` what is there is not measured again.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from tune_cases import MIXED, Case, chosen
from tune_duel import against_best
from tune_gain import gain
from tune_grid import Field, Measured, exhaustive, leaders
from tune_state import PARTS as PARTS_KEPT
from tune_state import State, earlier

from tessarray.display.units import time_text
from tessarray.tuner.layout import Layout
from tessarray.tuner.search import TRIAL_SHARE
from tessarray.tuner.target import Scratch, parse_store
from tessarray.tuner.tuning import tune

ROOT = Path(__file__).resolve().parents[1]
RACED = 5
DUEL_BYTES = 16 << 30  # no selection is cut short
OFFLINE_SEED = 1


def arguments() -> argparse.ArgumentParser:
    """The command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "part", nargs="*", choices=[[], *PARTS], help=f"of {', '.join(PARTS)} (default: all but grid)"
    )
    parser.add_argument("--budget", type=float, default=12.0, help="seconds of each tuning run")
    parser.add_argument("--candidates", type=int, default=60, help="layouts of the grid of each case")
    parser.add_argument(
        "--grid-seconds", type=float, default=25.0, help="for the exhaustive search of each case"
    )
    parser.add_argument(
        "--seeds", type=Path, help="results of an earlier 'grid', whose best are measured again"
    )
    parser.add_argument("--duel-seconds", type=float, default=2.5, help="for each race against the best")
    parser.add_argument("--cases", help="beginnings of their names, with ';' between (default: all)")
    parser.add_argument("--loads", help="beginnings of their names, with ';' between (default: all three)")
    parser.add_argument("--scale", type=float, default=1.0, help="of the elements of synthetic arrays")
    parser.add_argument("--gigabytes", type=float, default=2.0, help="of the array of the part 'budget'")
    parser.add_argument("--large-budget", type=float, default=60.0, help="seconds to tune that in")
    parser.add_argument("--memory", default="1GB", help="that it may take")
    parser.add_argument("--folder", type=Path, help="where stores are made (default: memory)")
    parser.add_argument("--out", type=Path, default=ROOT / "benchmarks" / "results" / "tune.json")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs", help="where the tables and the chart go")
    parser.add_argument("--resume", action="store_true", help="keep what the file of results has")
    parser.add_argument(
        "--keep-grids", action="store_true", help="of the file of results keep the exhaustive searches alone"
    )
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser


def above(given: argparse.Namespace) -> Path:
    """The folder that stores and sources are made in."""
    memory = Path("/dev/shm")
    return given.folder or (memory if memory.is_dir() else Path(tempfile.gettempdir()))


def regret_part(given: argparse.Namespace, state: State) -> None:
    """Proposals, the exhaustive search, races of both, and gains: for all cases and loads."""
    for case in chosen(given.cases):
        loads = [
            load
            for load in case.loads
            if not given.loads or any(load.startswith(one.strip()) for one in given.loads.split(";"))
        ]
        if all(state.has("regrets", f"{case.name} / {load}") for load in loads):
            continue
        values = case.values(given.scale)
        if values is None:
            say(f"{case.name}: skipped, its file is not here")
            continue
        for load in loads:
            name = f"{case.name} / {load}"
            if not state.has("proposals", name):
                state.put("proposals", name, proposal(case, values, load, given))
            one = state.get("proposals", name)
            say(f"{name}: {one['text']}, {time_text(one['seconds'])}, {one['searched']} layouts")
        compare(case, values, loads, given, state)


def proposal(
    case: Case, values: np.ndarray, load: str, given: argparse.Namespace, store: str = "local"
) -> dict[str, Any]:
    """One tuning run, as it is kept."""
    started = time.perf_counter()
    found = tune(
        values, case.queries(values.shape, load), objective="read", budget=given.budget, store=store,
        scratch=above(given), **case.limits,
    )  # fmt: skip
    return {
        "layout": found.best.layout.document(),
        "text": found.best.layout.text(),
        "shape": values.shape,
        "read": found.best.read.value,
        "stored": found.best.stored,
        "seconds": time.perf_counter() - started,
        "searched": found.searched,
        "tried": found.calibration.get("tried", found.searched),
        "predictions": [
            [float(f"{one[name]:.4g}") for name in ("predicted", "measured")] for one in found.predictions
        ],
    }


def compare(
    case: Case, values: np.ndarray, loads: list[str], given: argparse.Namespace, state: State
) -> None:
    """The exhaustive search of a case, and the races of its proposals."""
    target = parse_store("local", str(above(given)))
    with Scratch(target) as scratch:
        field = Field(case, values, scratch, OFFLINE_SEED, trial_seconds=TRIAL_SHARE * given.budget)
        if not state.has("grids", case.name):
            state.put("grids", case.name, searched(field, given))
        grid = state.get("grids", case.name)
        known, most_stored = [Measured.of(one) for one in grid["found"]], grid["most_stored"]
        raced = Field(case, values, scratch, OFFLINE_SEED + 1, write_bytes=DUEL_BYTES)
        for load in loads:
            name, weights = f"{case.name} / {load}", case.loads[load]
            if state.has("regrets", name):
                continue
            ours = Layout.from_document(state.get("proposals", name)["layout"])
            best = [one.layout for one in leaders(known, weights, most_stored, RACED)]
            found = against_best(raced, ours, best, weights, given.duel_seconds)
            found["allowed"] = field.space([ours.codec]).allowed(ours)
            if load == MIXED:
                state.put("gains", case.name, gain(raced, ours, weights, 2 * given.duel_seconds))
            state.put("regrets", name, found)
            text = Layout.from_document(found["best"]).text()
            say(
                f"{name}: {time_text(found['seconds'])}, best {time_text(found['best_seconds'])}, "
                f"regret {found['regret']:.1%} ({text})"
            )


def searched(field: Field, given: argparse.Namespace) -> dict[str, Any]:
    """The exhaustive search of a case, as it is kept."""
    case, seeds, before = field.case, [], 0
    if given.seeds is not None:
        grid = earlier(given.seeds)["grids"].get(case.name, {"found": [], "measured": 0})
        seeds, before = [Measured.of(one) for one in grid["found"]], grid["measured"]
    started = time.perf_counter()
    most_stored = field.most_stored()
    codecs = field.codecs(most_stored, 3)
    best = {
        one.layout for weights in case.loads.values() for one in leaders(seeds, weights, most_stored, RACED)
    }
    found = exhaustive(field, given.candidates, given.grid_seconds, codecs, most_stored, list(best))
    spent = time.perf_counter() - started
    say(f"{case.name}: {len(found)} layouts measured in {time_text(spent)}, codecs {', '.join(codecs)}")
    return {
        "most_stored": most_stored,
        "codecs": codecs,
        "seconds": spent,
        "measured": len(found) + before,
        "found": trimmed(case, found, most_stored),
    }


def grid_part(given: argparse.Namespace, state: State) -> None:
    """The exhaustive search alone: its best can be given to a later run with `--seeds`."""
    for case in chosen(given.cases):
        values = None if state.has("grids", case.name) else case.values(given.scale)
        if values is not None:
            with Scratch(parse_store("local", str(above(given)))) as scratch:
                field = Field(case, values, scratch, OFFLINE_SEED, trial_seconds=TRIAL_SHARE * given.budget)
                state.put("grids", case.name, searched(field, given))


def trimmed(case: Case, found: list[Measured], most_stored: float) -> list[dict[str, Any]]:
    """The leaders of every load, which is all that is asked of a grid later."""
    kept: dict[Layout, Measured] = {}
    for weights in case.loads.values():
        kept |= {one.layout: one for one in leaders(found, weights, most_stored, 3 * RACED)}
    return [one.document() for one in kept.values()]


def model_part(given: argparse.Namespace, state: State) -> None:
    """Predictions on a throttled store."""
    from tune_model import CASES_REMOTE, REMOTE

    for case in chosen(given.cases or ";".join(CASES_REMOTE)):
        if state.has("remote", case.name):
            continue
        values = case.values(given.scale)
        if values is not None:
            state.put("remote", case.name, proposal(case, values, MIXED, given, REMOTE))
            say(f"{case.name} on {REMOTE}: {state.get('remote', case.name)['text']}")


def budget_part(given: argparse.Namespace, state: State) -> None:
    """Large arrays on disk."""
    from tune_budget import measure

    for kind in ("npy", "zarr"):
        if not state.has("budget", kind):
            found = measure(kind, above(given), given.gigabytes, given.large_budget, given.memory)
            state.put("budget", kind, found)
            say(f"{kind}: {found}")


def report_part(given: argparse.Namespace, state: State) -> None:
    """The tables and the chart."""
    from tune_model import chart
    from tune_report import page

    given.docs.mkdir(parents=True, exist_ok=True)
    chart(state, given.docs / "tune-model.png")
    (given.docs / "tuning-regret.md").write_text(page(state), encoding="utf-8")
    say(f"written: {given.docs / 'tuning-regret.md'}")


def say(text: str) -> None:
    """A line at once."""
    print(text, flush=True)


PARTS: dict[str, Callable[[argparse.Namespace, State], None]] = {
    "grid": grid_part,
    "regret": regret_part,
    "model": model_part,
    "budget": budget_part,
    "report": report_part,
}


def main(given: argparse.Namespace) -> int:
    """Runs the parts that were asked for; or, as a child, one measurement."""
    if given.child:
        from tune_budget import child

        print(json.dumps(child(json.loads(given.child))))
        return 0
    state = State(given.out, given.resume or given.keep_grids)
    if given.keep_grids:
        state.found |= {name: {} for name in PARTS_KEPT if name != "grids"}
    for name in given.part or [name for name in PARTS if name != "grid"]:
        PARTS[name](given, state)
    return 0


if __name__ == "__main__":
    sys.exit(main(arguments().parse_args()))
