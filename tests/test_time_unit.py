"""The unit of time does not matter: days, and the same days divided by something, part the rows alike."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning

from dipolar import (
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
    survival_outcome,
)
from dipolar.survival import check_outcome
from tests.dipoles import Dipoles, Rule
from tests.models import forest_of, paper_svm, paper_tree

UNITS = {"months": 1 / 12, "years": 1 / 365.25, "tenths": 0.1, "weeks": 1 / 7, "thirds": 1e9 / 3}

SMALL = {"min_samples_split": 6, "min_samples_leaf": 2, "random_state": 0}
MODELS = {
    "svm": DipoleSVM(),
    "paper's svm": paper_svm(kernel="linear"),
    "scripts' svm": paper_svm(cutoff_rule="scripts", pure_quantile=0.4, mixed_quantile=0.6),
    "quartile svm": paper_svm(kernel="quadratic", init="quartile", standardize=True, kappa=10),
    "few terms": DipoleSurvivalTree(max_terms=2, **SMALL),
    "dipole tree": DipoleSurvivalTree(**SMALL),
    "paper's tree": paper_tree(kernel="linear", max_depth=3, **SMALL),
    "node scope": paper_tree(dipole_scope="node", max_depth=3, cut="logrank", **SMALL),
    "dipole bootstrap": paper_tree(
        kernel="linear", cutoff_rule="scripts", pruning="bootstrap", n_bootstraps=2, alpha=0.5, **SMALL
    ),
    "tuned": SurvivalTreeCV(
        DipoleSurvivalTree(**SMALL), param_grid={"svm__kappa": (1.0, 100.0)}, max_depth=(1, 2), cv=3, random_state=0
    ),
    "dipole forest": DipoleSurvivalForest(n_estimators=3, min_logrank=0.5, **SMALL),
    "mixed forest": forest_of(3, kernel=("quadratic", "rbf"), cut="svm", min_logrank=0.5, pure_quantile=0.4, **SMALL),
    "tuned forest": DipoleSurvivalForest(
        n_estimators=5, tune={"min_samples_leaf": [2, 6], "max_features": [1, 3]}, min_logrank=0.5, random_state=0
    ),
    "log-rank tree": LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=2, alpha=1.0, **SMALL),
    "exponential": LogRankSurvivalTree(criterion="exponential", pruning="validation", alpha=1.0, **SMALL),
    "tarone-ware": LogRankSurvivalTree(criterion="tarone-ware", max_features=1, **SMALL),
    "log-rank forest": LogRankSurvivalForest(3, min_logrank=0.5, **SMALL),
}


@st.composite
def whole_times(draw):
    """Rows with times on a grid, so that many gaps are equal."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n, latest = draw(st.integers(20, 60)), draw(st.sampled_from([6, 15, 60, 3000]))
    X = np.round(rng.normal(size=(n, 3)), 1)
    time = np.ceil(np.minimum(latest, latest / 4 * rng.exponential(np.exp(X[:, 0]))))
    return X, time, np.append(True, rng.random(n - 1) < 0.7)


def partition(model, X, time, event):
    """Where the rows go, whatever the curves are there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", FitFailedWarning)
        fitted = clone(model).fit(X, survival_outcome(time, event))
    if isinstance(model, DipoleSVM):
        return fitted.predict(X)
    return getattr(fitted, "best_estimator_", fitted).apply(X)


@pytest.mark.parametrize("name", list(MODELS))
@settings(max_examples=10)
@given(whole_times())
def test_partitions_are_those_of_whole_times(name, rows):
    X, time, event = rows
    wanted = partition(MODELS[name], X, time, event)
    for unit in UNITS.values():
        np.testing.assert_array_equal(partition(MODELS[name], X, time * unit, event), wanted)


@pytest.mark.parametrize("rule", ["text", "scripts"])
@given(whole_times(), st.floats(0.05, 0.5), st.floats(0.5, 0.95), st.integers(0, 99))
def test_dipoles_are_those_of_whole_times(rule, rows, pure, gap, seed):
    _, time, event = rows
    rng = np.random.default_rng(seed)
    scores, weight = rng.normal(size=len(time)), rng.integers(1, 4, len(time)).astype(float)
    labels = Rule(pure, pure + gap * (1.0 - pure), 0.5, rule)

    def pulls(unit):
        return Dipoles(check_outcome((time * unit, event)), weight, labels).orient(scores)

    wanted = pulls(1.0)
    for unit in UNITS.values():
        np.testing.assert_array_equal(pulls(unit), wanted)
