"""The Cox model against R's printed coefficients, scikit-survival and lifelines."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lifelines import CoxPHFitter
from sksurv.linear_model import CoxPHSurvivalAnalysis

from dipolar import survival_outcome
from dipolar.datasets import load_dataset, load_remission
from dipolar_reproduction.cox import fit_cox


def test_remission_with_interaction():
    """R: coxph(Surv(time, event) ~ TR * logWBC, ties = "breslow") gives 2.3549, 1.8028, -0.3422."""
    X, y = load_remission(return_X_y=True)
    treatment, log_wbc = X["TR"].to_numpy(float), X["logWBC"].to_numpy(float)
    fit = fit_cox(np.column_stack([treatment, log_wbc, treatment * log_wbc]), y)
    np.testing.assert_allclose(fit.coefficients, [2.3549, 1.8028, -0.3422], atol=5e-5)


@pytest.mark.parametrize("name", ["addicts", "whas500", "leuksurv"])
def test_tied_times_as_in_scikit_survival(name):
    X, y = load_dataset(name, return_X_y=True, as_frame=False)
    theirs = CoxPHSurvivalAnalysis(ties="breslow", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(fit_cox(X, y).coefficients, theirs.coef_, rtol=1e-6, atol=1e-9)


def random_rows(seed, n=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    time = rng.exponential(np.exp(-X @ [0.8, -0.5]))
    return X, survival_outcome(time, rng.random(n) < 0.7)


def test_coefficients_errors_and_likelihood_as_in_lifelines():
    X, y = random_rows(0)
    fit = fit_cox(X, y)
    frame = pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "time": y["time"], "event": y["event"]})
    theirs = CoxPHFitter().fit(frame, "time", "event")
    np.testing.assert_allclose(fit.coefficients, theirs.params_, rtol=1e-4)  # lifelines stops sooner
    np.testing.assert_allclose(fit.standard_errors, theirs.standard_errors_, rtol=1e-4)
    assert fit.log_likelihood == pytest.approx(theirs.log_likelihood_, abs=1e-6)


def log_likelihood(b, X, y):
    """The formula, row by row."""
    total = 0.0
    for i in np.flatnonzero(y["event"]):
        total += X[i] @ b - np.log(np.exp(X[y["time"] >= y["time"][i]] @ b).sum())
    return total


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 10**6))
def test_no_other_coefficients_are_better(seed):
    X, y = random_rows(seed, 40)
    y["time"] = np.ceil(3 * y["time"])  # ties
    fit = fit_cox(X, y)
    best = log_likelihood(fit.coefficients, X, y)
    for step in np.random.default_rng(seed).normal(scale=1e-3, size=(20, 2)):
        assert log_likelihood(fit.coefficients + step, X, y) <= best + 1e-9


def test_a_likelihood_without_a_maximum_is_an_error():
    X, y = random_rows(1)
    for bad in (np.column_stack([X, X[:, 0]]), -y["time"][:, None]):
        with pytest.raises(ValueError, match="partial likelihood a maximum"):
            fit_cox(bad, y)
