"""Stage 5 of the search: the best few are read in turns, in an order drawn anew each round, so that a busy moment hits
all alike.

A trial that is behind the leader beyond doubt (a paired, one-sided Wilcoxon test over rounds) drops out; it ends when
one is left, or time is up. What is one step from the winner and was not tried is then read, and enters the turns.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from tessarray.tuner.leaderboard import seconds_of_trial
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.ranking import Ranking
from tessarray.tuner.reading import Run, read
from tessarray.tuner.result import Estimate
from tessarray.tuner.trial import Trial

__all__ = ["behind", "class_estimate", "in_turns", "race", "refined"]

FINALISTS = 5
RACED_DRAWS = 6  # selections of each class; of a far store two
LEAST_ROUNDS = 5  # before any drops out
MOST_ROUNDS = 60
DOUBT = 0.05  # of the test by which one drops out
DRAWS = 400  # of a bootstrap
MOST_STEPS = 6  # winners whose neighbours are read
STEP_LAYOUTS = 10  # neighbours of each, the best by the model


def in_turns(run: Run, stage: str) -> list[Trial]:
    """The best few, read in turns until the stage's time is over; the best first."""
    finalists = run.board.leaders(FINALISTS)
    target = run.task.target
    run.say("race", "storing what is read in turns")
    for trial in finalists:
        # More selections than in the search: one place must not decide.
        trial.prepare(trial.plan(2 if target.remote else RACED_DRAWS, 4.0 if target.kind == "local" else 2.0))
        trial.times.clear()

    def told(trial: Trial, turn: int) -> None:
        run.board.best = trial
        run.say("race", f"round {turn + 1}, {len(finalists)} layouts in turns")

    left, out = race(finalists, run.task.classes, run.clock.left(stage), run.rng, told, run.board.value)
    # Those that dropped out come last, whatever their times: they were beaten by more rounds than those have.
    ranked = sorted(left, key=run.board.value) + sorted(out, key=run.board.value)
    run.board.renew(ranked)
    return ranked


def refined(run: Run, ranking: Ranking, finalists: list[Trial]) -> list[Trial]:
    """The finalists, after what is one step from the winner was read, as long as time is left."""
    for _ in range(MOST_STEPS):
        winner = run.board.best
        if winner is None or run.task.target.remote:
            break
        tried = {trial.layout for trial in run.board.tried}
        near = dict.fromkeys(ranking.space.neighbours(winner.layout))
        new = [layout for layout in near if layout not in tried and ranking.space.allowed(layout)]
        before = len(tried)
        for layout in sorted(new, key=ranking.score)[:STEP_LAYOUTS]:
            if run.clock.left("refine") == 0:
                break
            run.say("refine", layout.text())
            trial = Trial(layout, ranking.ground)
            if read(run, trial):
                run.board.note(trial)
                tried.add(layout)
        if len(tried) == before:
            break
        finalists = in_turns(run, "last race")
        if finalists[0].layout == winner.layout:
            break
    return finalists


def class_estimate(trial: Trial, query: QueryClass, seed: int = 0) -> Estimate | None:
    """Mean over selections of the median time of each, with a bootstrap interval; None if nothing was timed."""
    times = [values for (name, _), values in trial.times.items() if name == query.name and values]
    if not times:
        return None
    value = float(np.mean([np.median(values) for values in times]))
    rng = np.random.default_rng(seed)
    # Selections are drawn anew, and the repeats within each.
    medians = np.array([np.median(rng.choice(values, (DRAWS, len(values))), axis=1) for values in times])
    picked = rng.integers(0, len(times), (DRAWS, len(times)))
    drawn = medians[picked, np.arange(DRAWS)[:, None]].mean(axis=1)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Estimate(value, min(float(low), value), max(float(high), value))


def round_cost(trial: Trial, classes: Sequence[QueryClass], turn: int, draws: dict[str, int]) -> float:
    """Time one selection of every class once; the weighted sum in seconds."""
    return sum(one.weight * trial.time(one, turn % draws[one.name]) for one in classes)


def race(
    trials: Sequence[Trial],
    classes: Sequence[QueryClass],
    seconds: float,
    rng: np.random.Generator,
    progress: Callable[[Trial, int], None] | None = None,
    value: Callable[[Trial], float] | None = None,
) -> tuple[list[Trial], list[Trial]]:
    """Time all trials in turns for about `seconds`, at least once each; those left at the end, and those that dropped
    out. When time ends within a round, some were read once more than others, which says nothing of them.

    `value` says what the times of a trial are worth; left out, its seconds an access, as a mean over places.
    """
    worth = value or partial(seconds_of_trial, classes=classes)
    draws = {one.name: min(trial.draws[one.name] for trial in trials) for one in classes}
    rounds: dict[int, list[float]] = {id(trial): [] for trial in trials}
    running = list(trials)
    started = time.perf_counter()
    for turn in range(MOST_ROUNDS):
        for place in rng.permutation(len(running)):
            trial = running[int(place)]
            rounds[id(trial)].append(round_cost(trial, classes, turn, draws))
            if time.perf_counter() - started > seconds and turn:
                return running, _others(trials, running)
        if progress is not None:
            progress(min(running, key=worth), turn)
        if turn + 1 >= LEAST_ROUNDS:
            running = _left(running, rounds, worth)
            if len(running) == 1 and turn + 1 >= 2 * LEAST_ROUNDS:
                break
    return running, _others(trials, running)


def _others(trials: Sequence[Trial], running: Sequence[Trial]) -> list[Trial]:
    return [one for one in trials if all(one is not other for other in running)]


def _left(
    running: Sequence[Trial], rounds: dict[int, list[float]], worth: Callable[[Trial], float]
) -> list[Trial]:
    """Those that may still be the best. Worth differs from seconds by size and speed of writing, which are fixed."""
    leader = min(running, key=worth)
    best = np.array(rounds[id(leader)])
    median = float(np.median(best))
    left = []
    for one in running:
        times = np.array(rounds[id(one)])
        # What the objective adds to the seconds of one, as a factor: then rounds compare as the objective does.
        factor = worth(one) / worth(leader) * median / float(np.median(times))
        if one is leader or not behind(times * max(factor, 1e-9), best):
            left.append(one)
    return left


def behind(times: np.ndarray, best: np.ndarray, doubt: float = DOUBT, least: int = LEAST_ROUNDS) -> bool:
    """Whether paired times are longer than the leader's beyond doubt, by `least` pairs or more."""
    from scipy.stats import wilcoxon

    paired = min(len(times), len(best))
    times, best = times[:paired], best[:paired]
    if paired < least or bool((times == best).all()):
        return False
    return float(wilcoxon(times, best, alternative="greater").pvalue) < doubt and bool(
        np.median(times) > np.median(best)
    )
