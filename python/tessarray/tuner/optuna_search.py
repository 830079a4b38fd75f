"""Stage 4 of the search: Optuna proposes, real reads decide.

The model's best layouts are enqueued; then the TPE sampler proposes, learning from all that was measured. Each is read
selection by selection, and Optuna's Wilcoxon pruner stops those that are behind the best on the same selections.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tessarray.errors import MissingPackageError
from tessarray.tuner.layout import Layout
from tessarray.tuner.queries import QueryClass
from tessarray.tuner.ranking import Ranked
from tessarray.tuner.space import Space
from tessarray.tuner.trial import Trial

if TYPE_CHECKING:
    from tessarray.tuner.search import Search

__all__ = ["optuna_search"]

ENQUEUED = 24
PER_SHAPE = 3
MOST_PREDICTIONS = 400
IDLE = 200  # proposals in a row that are known, forbidden or hopeless: the space is exhausted
SELECTIONS = 4
HOPELESS = 2.0
SHARE = 0.72  # of the budget: when this stage ends


def optuna_search(search: Search, space: Space, ranked: Ranked) -> None:
    """Measure layouts until the stage's share of the budget is spent or nothing new is proposed."""
    try:
        import optuna
    except ImportError as error:
        raise MissingPackageError("tune: the search needs optuna; install tessarray[tune]") from error
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
        # It says so where layouts have different numbers of selections, as their sizes allow: that is meant.
        warnings.filterwarnings("ignore", message=".*WilcoxonPruner.*")
        study = optuna.create_study(
            sampler=optuna.samplers.TPESampler(seed=search.task.seed, multivariate=True, n_startup_trials=12),
            pruner=optuna.pruners.WilcoxonPruner(p_threshold=0.1, n_startup_steps=3),
        )
        for params in enqueued(ranked, search.ranking.selected()):
            study.enqueue_trial(params)
        predicted = {layout: score for score, layout, _ in ranked}
        known: set[Layout] = set()
        idle = 0
        while search.clock.until(SHARE) > 0 and idle < IDLE:
            asked = study.ask()
            layout = space.suggested(asked)
            if layout in known or not space.allowed(layout) or hopeless(search, layout, predicted):
                study.tell(asked, state=optuna.trial.TrialState.PRUNED)
                idle += 1
                continue
            idle = 0
            search.say("search", layout.text())
            known.add(layout)
            value = measured(search, layout, asked)
            if search.board.best is not None and search.board.best.layout == layout:
                # A new best: what is one step from it comes next.
                for params in space.neighbours(layout):
                    if space.from_params(params) not in known:
                        study.enqueue_trial(params)
            if math.isfinite(value):
                study.tell(asked, value)
            else:
                study.tell(asked, state=optuna.trial.TrialState.PRUNED)


def enqueued(ranked: Ranked, selected: Sequence[tuple[int, ...]] = ()) -> list[dict[str, Any]]:
    """The model's best, at most `PER_SHAPE` of one chunk shape, so that shapes get their chance too. Chunks that are
    what a class selects come second: folklore's answer, which is right where a class is alone.
    """
    found: list[dict[str, Any]] = []
    seen: dict[tuple[int, ...], int] = {}
    for _, layout, params in ranked:
        if seen.get(layout.chunks, 0) < PER_SHAPE:
            seen[layout.chunks] = seen.get(layout.chunks, 0) + 1
            found.append(params)
        if len(found) == ENQUEUED:
            break
    folklore = [
        params
        for chunks in selected
        for params in [one for _, layout, one in ranked if layout.chunks == chunks][:2]
        if params not in found
    ]
    return found[:PER_SHAPE] + folklore + found[PER_SHAPE:]


def hopeless(search: Search, layout: Layout, predicted: dict[Layout, float]) -> bool:
    """Whether the model puts a layout far behind the best that was measured."""
    if search.board.best is None:
        return False
    if layout not in predicted:
        predicted[layout] = search.ranking.score(layout)
    return predicted[layout] > HOPELESS * search.board.best_value


def measured(search: Search, layout: Layout, asked: Any) -> float:
    """The objective's value of a layout, read for real; infinite where it was pruned or breaks a limit."""
    remote = search.task.target.remote
    trial = Trial(layout, search.ground)
    draws = trial.plan(1 if remote else SELECTIONS)
    if not search.affords(trial, draws):
        draws = dict.fromkeys(draws, 1)
        if not search.affords(trial, draws):
            return math.inf
    if not trial.prepare(draws, search.patience(trial, draws)):
        return math.inf
    step = 0
    for number in range(max(draws.values())):
        for one in search.task.classes:
            place = number % draws[one.name]
            seconds = min(trial.time(one, place) for _ in range(1 if remote else 2))
            if number == 0:
                note(search, one, trial)
            asked.report(one.weight * seconds, step)
            step += 1
        if number and asked.should_prune():
            trial.close()
            return math.inf
    value = search.board.note(trial)
    search.observe(trial)
    return value


def note(search: Search, query: QueryClass, trial: Trial) -> None:
    """Keep what the model said of a read before it was made, beside what it took."""
    if len(search.found.predictions) < MOST_PREDICTIONS:
        box, factor = trial.part(query.name, 0)
        search.found.predictions.append(
            {
                "query": query.name,
                "layout": trial.layout.text(),
                "predicted": search.model.predict(query, [box], trial.layout) * factor,
                "measured": float(np.median(trial.times[query.name, 0])),
            }
        )
