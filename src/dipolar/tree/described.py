"""A model in its parts: what shows a tree takes the tree, or a pipeline of an encoder and the tree, by this one door.

tree, names, encoder = describe(model)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from dipolar.preparation.encoder import CovariateEncoder
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.names import Names, check_names

__all__ = ["Described", "check_tree", "covariate_names", "describe", "importances_by_column", "parts_of"]


class Described(NamedTuple):
    """A fitted tree, its covariates, and the encoder that makes them, if one does."""

    tree: BaseSurvivalTree
    names: Names
    encoder: CovariateEncoder | None

    def covariates(self, X: Any) -> Any:
        """Return what the tree sees of rows."""
        return X if self.encoder is None else self.encoder.transform(X)


def describe(model: Any, feature_names: Sequence[str] | None = None) -> Described:
    """Return the parts of a fitted tree, of the tree that a search chose, or of a pipeline that ends in one of them."""
    encoder, tree = parts_of(model)
    check_tree(tree)
    return Described(tree, covariate_names(tree, feature_names, encoder), encoder)


def check_tree(tree: Any) -> None:
    """Refuse what is no fitted tree."""
    if not isinstance(tree, BaseSurvivalTree):
        raise TypeError(
            f"tree should be a fitted LogRankSurvivalTree or DipoleSurvivalTree, got a {type(tree).__name__}. Of a "
            "pipeline without CovariateEncoder, pass the tree inside it; of a forest, one of its trees, "
            "forest.tree(0), or the one that stands for it, forest.summary_tree(X, y).tree."
        )
    check_is_fitted(tree)


def parts_of(model: Any) -> tuple[CovariateEncoder | None, Any]:
    """Return the encoder of a pipeline, None without one, and the model behind it; of searches what they chose."""
    model = getattr(model, "best_estimator_", model)
    steps = [step for _, step in model.steps] if isinstance(model, Pipeline) else []
    if len(steps) != 2 or not isinstance(steps[0], CovariateEncoder):
        return None, model
    return steps[0], getattr(steps[1], "best_estimator_", steps[1])


def covariate_names(
    model: BaseEstimator, feature_names: Sequence[str] | None = None, encoder: CovariateEncoder | None = None
) -> Names:
    """Return the names of the covariates: those given, those of the encoder or the training data, or x0, x1, ..."""
    check_is_fitted(model)
    if feature_names is None and encoder is not None:
        return Names(encoder.features_)
    known = getattr(model, "feature_names_in_", None)
    return Names.of(check_names(known if feature_names is None else feature_names, model.n_features_in_))


def importances_by_column(model: Any, feature_names: Sequence[str] | None = None) -> tuple[list[str], np.ndarray]:
    """Return the columns of a model and the importance of each: the sum over the covariates made from it."""
    encoder, fitted = parts_of(model)
    names = covariate_names(fitted, feature_names, encoder)
    if encoder is None or feature_names is not None:
        return list(names), fitted.feature_importances_
    by_column = encoder.aggregate(fitted.feature_importances_)
    return list(by_column.index), by_column.to_numpy()
