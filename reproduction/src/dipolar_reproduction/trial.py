"""One model on one pair of samples: tuned, grown and pruned on the first, scored on the second.

The tree is pruned by both rules and scored three times: unpruned, pruned by the bootstrap as the text says, and pruned
at a fixed price as the scripts do. All three are members of one path, so that nothing is grown for them anew.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from dipolar_reproduction.models import Model
from dipolar_reproduction.scores import Rows, brier_scores, rounded, score_tree, tree_concordances

# Under which names the three trees are recorded.
RULES = ("grown", "bootstrap", "fixed")
STAGES = ("tuning", "growing", "pruning", "scoring")

# Of every path the largest member with at most so many leaves is scored, for accuracy against size.
PATH_SIZES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)

# Prices at which the size of the tree is recorded, to see which of them a printed size fits.
THRESHOLDS = (2.8, 5.6, 10.0, 20.0)


class Stopwatch:
    """Adds up the seconds of stages."""

    def __init__(self, *stages: str) -> None:
        self.seconds = dict.fromkeys(stages, 0.0)

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

    def record(self) -> dict[str, float]:
        return {name: round(seconds, 4) for name, seconds in self.seconds.items()}


def run_trial(model: Model, train: Rows, test: Rows, seed: int) -> dict[str, Any]:
    """Return what is recorded of a model: its eta, sizes, scores and seconds.

    The seconds of "pruning" are those of the resampled trees, and of the tree itself, which is grown once more there.
    """
    watch = Stopwatch(*STAGES)
    with warnings.catch_warnings():
        # How many nodes were not solved to their tolerance is recorded; folds that a score is not defined on show as
        # candidates that are not chosen.
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FitFailedWarning)
        # Some designs censor next to nothing, and folds cannot share that out.
        warnings.filterwarnings("ignore", message="The least populated class", category=UserWarning)
        kappa = _tune(model, train, seed, watch)
        with watch.stage("pruning"):
            tree = (model.make(seed) if kappa is None else model.make_tuned(seed, kappa)).fit(*train)
    with watch.stage("scoring"):
        trees = {"grown": tree.prune(0.0), "bootstrap": tree, "fixed": tree.prune(model.fixed_alpha)}
        record = {
            "eta": None if kappa is None else round(float(np.log(kappa)), 6),
            # A split of statistic 0 is cut at a price of 0 already, but belongs to the unpruned size.
            "nodes": {rule: trees[rule].tree_.n_nodes for rule in RULES} | {"grown": tree.grown_.n_nodes},
            "nodes_at": [tree.prune(price).tree_.n_nodes for price in THRESHOLDS],
            "scores": {rule: score_tree(trees[rule], train, test) for rule in RULES},
            "path": _score_path(tree, train, test),
            "unconverged": int(getattr(tree, "n_unconverged_", 0)),
        }
    return {**record, "seconds": watch.record()}


def _tune(model: Model, train: Rows, seed: int, watch: Stopwatch) -> float | None:
    """Choose kappa by the largest mean of the paper's concordance; a model without candidates is only grown."""
    if not model.etas:
        with watch.stage("growing"):
            model.make(seed, pruning=None).fit(*train)
        return None
    search = model.make_search(seed, model.etas, "concordance_paper")
    with watch.stage("tuning"):
        search.fit(*train)
    watch.seconds["tuning"] -= search.refit_time_
    watch.seconds["growing"] += search.refit_time_
    return float(search.best_params_["svm__kappa"])


def _score_path(tree: Any, train: Rows, test: Rows) -> list[list[float | None]]:
    """Return (leaves, paper's C, Harrell's C, IBS by Graf) of members of the pruning path, from small to large."""
    path = tree.pruning_path_
    members = {int(np.flatnonzero(path.n_leaves <= size)[0]) for size in PATH_SIZES}
    return [_score_member(tree.prune(path.alphas[member]), train, test) for member in sorted(members, reverse=True)]


def _score_member(tree: Any, train: Rows, test: Rows) -> list[float | None]:
    curves = tree.predict_survival_function(test.X)
    return [tree.n_leaves_, *tree_concordances(tree, test), *brier_scores(train.y, test.y, curves, ["graf"])]


def average_trials(trials: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the trials of several folds as one: means of sizes and scores, sums of seconds, no path.

    A score that is not defined on a fold is left out of its mean.
    """
    return {
        "eta": None,
        "nodes": {rule: _mean([trial["nodes"][rule] for trial in trials]) for rule in RULES},
        "nodes_at": [_mean(values) for values in zip(*(trial["nodes_at"] for trial in trials))],
        "scores": {
            rule: [_mean(values) for values in zip(*(trial["scores"][rule] for trial in trials))] for rule in RULES
        },
        "unconverged": sum(trial["unconverged"] for trial in trials),
        "seconds": {stage: round(sum(trial["seconds"][stage] for trial in trials), 4) for stage in STAGES},
    }


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return rounded(float(np.mean(known))) if known else None
