"""The models that the command line offers: the library's own, with what the user has asked for."""

from __future__ import annotations

from typing import Any

from dipolar import (
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
)
from dipolar.cli.choices import Asked, Kernel, ModelKind, Pruning
from dipolar.survival_model import SurvivalModel

__all__ = ["FOREST_TYPES", "TREE_TYPES", "Forest", "SurvivalTree", "make_model"]

SurvivalTree = LogRankSurvivalTree | DipoleSurvivalTree
Forest = LogRankSurvivalForest | DipoleSurvivalForest

TREE_TYPES = (LogRankSurvivalTree, DipoleSurvivalTree)
FOREST_TYPES = (LogRankSurvivalForest, DipoleSurvivalForest)


def make_model(kind: ModelKind, asked: Asked) -> SurvivalModel:
    """Return the unfitted estimator."""
    if kind.is_forest:
        return _forest(kind, asked)
    tree = _tree(kind, asked.of(kind))
    return SurvivalTreeCV(tree, random_state=asked.seed, n_jobs=asked.jobs) if asked.tune else tree


def _forest(kind: ModelKind, asked: Asked) -> Forest:
    make = LogRankSurvivalForest if kind.is_univariate else DipoleSurvivalForest
    return make(**_given(n_estimators=asked.trees), tune=asked.tune, random_state=asked.seed, n_jobs=asked.jobs)


def _tree(kind: ModelKind, asked: Asked) -> SurvivalTree:
    """Return the unfitted tree; candidates of `--tune` are copies of it."""
    shared = _given(
        max_depth=asked.max_depth,
        min_samples_split=asked.min_split,
        min_samples_leaf=asked.min_leaf,
        alpha=asked.alpha,
        n_bootstraps=asked.bootstraps,
        random_state=asked.seed,
        n_jobs=1 if asked.tune else asked.jobs,
    )
    if asked.pruning is not None:
        shared["pruning"] = None if asked.pruning is Pruning.none else asked.pruning.value
    if kind.is_univariate:
        return LogRankSurvivalTree(**shared)
    svm = DipoleSVM((asked.kernel or Kernel.linear).value, **_given(kappa=asked.kappa, standardize=asked.standardize))
    return DipoleSurvivalTree(svm, **shared, **_given(max_terms=asked.max_terms))


def _given(**values: Any) -> dict[str, Any]:
    """Return the values that somebody has given."""
    return {name: value for name, value in values.items() if value is not None}
