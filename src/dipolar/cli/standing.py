"""Where a model stands: its cross-validated scores beside one curve for all, Cox's model and a forest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dipolar.cli.baselines import cox_package
from dipolar.cli.choices import Asked, ModelKind
from dipolar.cli.contenders import NO_COX, Baseline, Contender, baselines
from dipolar.cli.data import Data
from dipolar.cli.estimators import make_model
from dipolar.cli.evaluation import Evaluation, cross_validate, most_folds
from dipolar.cli.terminal import Terminal
from dipolar.cli.verdict import verdict_on
from dipolar.tree.limits import GrowthLimits

__all__ = ["Standing", "find_standing"]

FOLDS = 5

# The forest beside a tree is only a yardstick: so many trees on so many rows, within these bounds.
TREES_BY_ROWS = 50_000
FEWEST_TREES, MOST_TREES = 20, 100

# Of more rows than this so many are drawn: scores then hardly change any more, and time does.
MOST_ROWS = 10_000

# A step of Cox's model takes as long as rows times the square of covariates; of more than this, it is left out.
MOST_COX = 10**8

EXPLAINED = (
    "C: share of pairs in the right order, 1/2 is chance, high is good. IBS: mean squared error of the survival "
    "curves, low is good. ±: standard errors; differences of more than two count."
)


@dataclass(frozen=True)
class Standing:
    """The scores of a model beside those of others, and what they say; without scores, why there are none."""

    name: str
    result: Evaluation | None
    notes: list[str]

    @property
    def verdict(self) -> str | None:
        """What the scores say, in a sentence."""
        return None if self.result is None else verdict_on(self.result, self.name)

    def tell(self, terminal: Terminal) -> None:
        """Print the scores for people."""
        if self.result is not None:
            terminal.show(self.result.grid(f"Is it any good? Scores over {self.result.folds} folds"))
        if self.verdict:
            terminal.say(self.verdict, "bold")
        terminal.say(" ".join([EXPLAINED, *self.notes] if self.result is not None else self.notes))

    def to_json(self) -> dict[str, Any]:
        scores = [] if self.result is None else self.result.to_json()
        folds = None if self.result is None else self.result.folds
        return {"folds": folds, "models": scores, "verdict": self.verdict, "notes": self.notes}


def find_standing(data: Data, kind: ModelKind, asked: Asked, n_covariates: int, done: Callable[..., None]) -> Standing:
    """Cross-validate a model beside the others; `done` is told how many fits of how many are finished."""
    model = Contender(kind, _as_deep(kind, asked, int(data.y["event"].sum())))
    folds = min(FOLDS, most_folds(data))
    if folds < 2:
        return Standing(model.name, None, ["Not cross-validated: that needs two events and two censored rows."])
    rows = _drawn(data, asked.seed)
    others, notes = _others(rows, kind, asked, n_covariates)
    if len(rows.y) < len(data.y):
        notes.insert(0, f"Scores are of {len(rows.y)} rows drawn from the {len(data.y)}.")
    contenders = [model, *others]
    total = folds * len(contenders)
    result = cross_validate(
        rows,
        contenders,
        folds=folds,
        seed=asked.seed,
        jobs=asked.jobs,
        done=lambda number: done(number, total, f"scoring: {number} of {total} fits"),
    )
    notes += [f"The {name} could not be scored on some folds: {reason}" for name, reason in result.failures.items()]
    return Standing(model.name, result, notes)


def _as_deep(kind: ModelKind, asked: Asked, n_events: int) -> Asked:
    """Return what has been asked, with the depth that all rows have led to: folds have fewer events."""
    if kind.is_forest or asked.tune:
        return asked
    depth = GrowthLimits.of(make_model(kind, asked), n_events).max_depth
    return replace(asked, max_depth=int(depth)) if np.isfinite(depth) else asked


def _others(
    data: Data, kind: ModelKind, asked: Asked, n_covariates: int
) -> tuple[list[Contender | Baseline], list[str]]:
    """Return what a model is held against, and what there is to say about that."""
    others: list[Contender | Baseline] = []
    notes = []
    if kind is not ModelKind.forest:
        n_trees = int(np.clip(TREES_BY_ROWS // len(data.y), FEWEST_TREES, MOST_TREES))
        others.append(Contender(ModelKind.forest, Asked(trees=n_trees, seed=asked.seed)))
        if n_trees < MOST_TREES:
            notes.append(f"The forest is of {n_trees} trees, to be quick; dipolar evaluate grows {MOST_TREES}.")
    is_slow = len(data.y) * n_covariates**2 > MOST_COX
    others += [each for each in baselines() if each.package is None or not is_slow]
    if cox_package() is None:
        notes.append(NO_COX)
    elif is_slow:
        notes.append(
            f"Cox's model is left out: with {n_covariates} covariates it takes long; dipolar evaluate fits it."
        )
    return others, notes


def _drawn(data: Data, seed: int) -> Data:
    """Return the rows, or some of very many."""
    n = len(data.y)
    if n <= MOST_ROWS:
        return data
    kept = np.random.default_rng(seed).choice(n, MOST_ROWS, replace=False)
    return data.take(np.sort(kept))
