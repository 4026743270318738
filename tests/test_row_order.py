"""What is learnt depends on which rows were seen how often: not on their order, nor on how often a row is written."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning

from dipolar import (
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
    survival_outcome,
)
from tests.models import forest_of, paper_svm, paper_tree

SMALL = {"min_samples_split": 4, "min_samples_leaf": 1, "random_state": 0}
CV = {"cv": 3, "random_state": 0}
FOREST = SMALL | {"n_estimators": 3, "min_logrank": 0.5}

MODELS = {
    "svm": DipoleSVM(),
    "paper's svm": paper_svm(kernel="linear"),
    "gaussian svm": paper_svm(init="quartile", standardize=True),
    "scripts' svm": paper_svm(kernel="quadratic", cutoff_rule="scripts"),
    "log-rank tree": LogRankSurvivalTree(**SMALL),
    "one covariate": LogRankSurvivalTree(max_features=1, **SMALL),
    "fixed": LogRankSurvivalTree(criterion="gehan", pruning="fixed", alpha=1.0, **SMALL),
    "bootstrap": LogRankSurvivalTree(max_features=1, pruning="bootstrap", n_bootstraps=3, alpha=1.0, **SMALL),
    "validation": LogRankSurvivalTree(max_features=2, pruning="validation", alpha=0.5, **SMALL),
    "exponential": LogRankSurvivalTree(criterion="exponential", max_leaf_nodes=4, **SMALL),
    "dipole tree": DipoleSurvivalTree(max_depth=3, **SMALL),
    "few terms": DipoleSurvivalTree(max_terms=2, max_depth=3, **SMALL),
    "few terms in curves": DipoleSurvivalTree(DipoleSVM("quadratic", cut="logrank"), max_terms=1, **SMALL),
    "polynomial tree": DipoleSurvivalTree(DipoleSVM("quadratic", cut="logrank"), max_leaf_nodes=4, **SMALL),
    "paper's tree": paper_tree(kernel="linear", dipole_scope="node", max_depth=2, **SMALL),
    "gaussian tree": paper_tree(cut="logrank", max_depth=2, **SMALL),
    "dipole bootstrap": paper_tree(
        kernel="linear", pruning="bootstrap", n_bootstraps=2, alpha=0.5, max_depth=2, **SMALL
    ),
    "dipole validation": paper_tree(kernel="linear", pruning="validation", alpha=0.5, max_depth=2, **SMALL),
    "log-rank forest": LogRankSurvivalForest(max_features=1, **FOREST),
    "without replacement": LogRankSurvivalForest(bootstrap=False, max_features=2, **FOREST),
    "half": LogRankSurvivalForest(max_samples=0.5, **FOREST),
    "ten": LogRankSurvivalForest(max_samples=10, max_leaf_nodes=4, **FOREST),
    "dipole forest": DipoleSurvivalForest(max_features=1, **FOREST),
    "mixed forest": forest_of(kernel=("linear", "quadratic", "rbf"), bootstrap=False, **FOREST),
    "tuned forest": DipoleSurvivalForest(tune={"min_samples_leaf": [1, 4], "max_features": [1, 3]}, **FOREST),
    "svm forest": forest_of(cut="svm", **FOREST),
    "tuned": SurvivalTreeCV(
        DipoleSurvivalTree(**SMALL), max_depth=(0, 1, 2), param_grid={"svm__kappa": (1.0, 100.0)}, **CV
    ),
    "tuned by brier": SurvivalTreeCV(
        DipoleSurvivalTree(**SMALL), max_depth=None, param_grid={"svm__kappa": (10.0,)}, scoring="neg_ibs", **CV
    ),
    "tuned cuts": SurvivalTreeCV(
        LogRankSurvivalTree(max_features=1, **SMALL), max_depth=(0, 1, 2), param_grid={"min_samples_leaf": (1, 3)}, **CV
    ),
}


@st.composite
def weighted_rows(draw):
    """Rows full of ties, with weights from 0 to 3, and the same rows written out in some order."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n = draw(st.integers(16, 40))
    n_values, n_times = draw(st.sampled_from([2, 5, 100])), draw(st.sampled_from([4, 12, 1000]))
    X = rng.integers(-n_values, n_values, (n, 3)).astype(float)
    time = rng.integers(1, n_times, n) + 0.0
    event = rng.random(n) < 0.8
    weight = rng.integers(draw(st.integers(0, 1)), 4, n)
    weight[:4], event[:4] = 2, True
    return X, time, event, weight, rng


def predictions(model, X, time, event, weight, at):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("ignore", FitFailedWarning)
        try:
            fitted = clone(model).fit(X, survival_outcome(time, event), weight)
        except ValueError as error:  # nothing to score by, say
            return str(error)[:60]
    if isinstance(model, DipoleSVM):
        return fitted.decision_function(at)
    return np.column_stack([fitted.predict(at), fitted.predict_survival_function(at, return_array=True)])


@pytest.mark.parametrize("name", list(MODELS))
@settings(max_examples=12)
@given(weighted_rows())
def test_weights_copies_and_order_are_one(name, rows):
    X, time, event, weight, rng = rows
    model = MODELS[name]
    weighted = predictions(model, X, time, event, weight, X)
    written = rng.permutation(np.repeat(np.arange(len(X)), weight))
    np.testing.assert_array_equal(predictions(model, X[written], time[written], event[written], None, X), weighted)
    order = rng.permutation(len(X))
    np.testing.assert_array_equal(predictions(model, X[order], time[order], event[order], weight[order], X), weighted)


@pytest.mark.parametrize("name", list(MODELS))
@settings(max_examples=4)
@given(weighted_rows(), st.sampled_from([0.1, 0.75, 1.3]))
def test_order_of_fractional_weights(name, rows, unit):
    X, time, event, weight, rng = rows
    weight = unit * weight + 0.5 * (weight > 0)
    model = MODELS[name]
    order = rng.permutation(len(X))
    np.testing.assert_array_equal(
        predictions(model, X[order], time[order], event[order], weight[order], X),
        predictions(model, X, time, event, weight, X),
    )


def test_missing_values_and_signs_of_zero():
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (60, 2)).astype(float)
    X[rng.random(X.shape) < 0.2] = np.nan
    time, event = rng.integers(1, 6, 60) + 0.0, np.ones(60, bool)
    signed = np.where((X == 0) & (rng.random(X.shape) < 0.5), -0.0, X)
    for name in ("log-rank tree", "bootstrap", "log-rank forest"):
        order = rng.permutation(60)
        np.testing.assert_array_equal(
            predictions(MODELS[name], signed[order], time[order], event[order], None, X),
            predictions(MODELS[name], X, time, event, None, X),
        )


def test_a_forest_knows_its_rows_by_either_sign_of_zero():
    rng = np.random.default_rng(0)
    X = rng.integers(-1, 2, (60, 2)).astype(float)
    y = survival_outcome(rng.integers(1, 6, 60))
    forest = LogRankSurvivalForest(3, random_state=0).fit(X, y)
    signed = np.where(X == 0, -0.0, X)
    first = forest.importance(X, y, kind="negate").importances
    np.testing.assert_array_equal(forest.importance(signed, y, kind="negate").importances, first)


@pytest.mark.parametrize("name", ["log-rank tree", "dipole tree", "log-rank forest", "dipole forest", "svm"])
def test_rows_of_weight_zero_leave_no_trace(name):
    """Not even a time beside which all others would be equal up to rounding."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    time, event = rng.integers(1, 20, 40) + 0.0, rng.random(40) < 0.8
    wanted = predictions(MODELS[name], X, time, event, None, X)
    weight = np.append(np.ones(40), 0.0)
    more = np.vstack((X, [[1e70, 0.0]])), np.append(time, 1e90), np.append(event, True)
    np.testing.assert_array_equal(predictions(MODELS[name], *more, weight, X), wanted)
