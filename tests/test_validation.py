"""What fit and predict accept as covariates and weights."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator

from dipolar import survival_outcome
from dipolar.validation import check_fit_data, check_predict_data, check_sample_weight


class Estimator(BaseEstimator):
    """Somewhere for the checks to leave feature names."""


TIME = np.array([5.0, 8.0, 3.0, 9.0])
EVENT = np.array([True, False, True, False])
Y = survival_outcome(TIME, EVENT)
X = np.arange(8.0).reshape(4, 2)


def refused(message, X=X, y=Y, sample_weight=None, **options):
    with pytest.raises(ValueError, match=message):
        check_fit_data(Estimator(), X, y, sample_weight, **options)


# --- accepted --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        np.asfortranarray,
        np.ndarray.tolist,
        lambda X: X.astype(np.int32),
        lambda X: X.astype(np.float32),
        lambda X: pd.DataFrame(X, columns=["a", "b"]),
        lambda X: pl.DataFrame(X, schema=["a", "b"]),
    ],
)
def test_forms_of_covariates(form):
    checked, survival, weight = check_fit_data(Estimator(), form(X), Y)
    assert checked.dtype == np.float64 and checked.flags.c_contiguous
    np.testing.assert_array_equal(checked, X)
    np.testing.assert_array_equal(survival.time, TIME)
    np.testing.assert_array_equal(survival.event, EVENT)
    np.testing.assert_array_equal(weight, np.ones(4))


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_feature_names_are_kept_and_compared(frame):
    estimator = Estimator()
    named = frame({"age": X[:, 0], "dose": X[:, 1]})
    check_fit_data(estimator, named, Y)
    assert estimator.feature_names_in_.tolist() == ["age", "dose"]
    assert estimator.n_features_in_ == 2
    np.testing.assert_array_equal(check_predict_data(estimator, named), X)
    with pytest.raises(ValueError, match="feature names"):
        check_predict_data(estimator, frame({"age": X[:, 0], "other": X[:, 1]}))


def test_predict_wants_the_columns_of_fit():
    estimator = Estimator()
    check_fit_data(estimator, X, Y)
    np.testing.assert_array_equal(check_predict_data(estimator, X[:1]), X[:1])
    with pytest.raises(ValueError, match="X has 1 features, but Estimator is expecting 2"):
        check_predict_data(estimator, X[:, :1])


@given(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=4, max_size=4).filter(lambda w: w[0] > 0))
def test_rows_of_weight_zero_are_left_out(weights):
    seen = np.array(weights) > 0
    checked, survival, weight = check_fit_data(Estimator(), X, Y, weights)
    np.testing.assert_array_equal(checked, X[seen])
    np.testing.assert_array_equal(survival.time, TIME[seen])
    np.testing.assert_array_equal(survival.event, EVENT[seen])
    np.testing.assert_array_equal(weight, np.array(weights)[seen])


@pytest.mark.parametrize("form", [list, tuple, np.array, pd.Series, lambda w: np.array(w, dtype=np.int64)])
def test_forms_of_weights(form):
    weight = check_sample_weight(form([1, 2, 0]), 3)
    assert weight.dtype == np.float64
    np.testing.assert_array_equal(weight, [1.0, 2.0, 0.0])


def test_one_weight_for_all_rows():
    np.testing.assert_array_equal(check_sample_weight(2.5, 3), [2.5, 2.5, 2.5])
    np.testing.assert_array_equal(check_sample_weight(None, 3), [1.0, 1.0, 1.0])


# --- refused covariates ----------------------------------------------------------------------------------


def with_gaps():
    gaps = np.ones((4, 3))
    gaps[0, 1] = gaps[1, 1] = gaps[3, 2] = np.nan
    return gaps


def test_missing_values_are_counted_by_column():
    refused(r"X contains NaN: column 1 \(2\), column 2 \(1\)\. Fill them, .*CovariateEncoder", with_gaps())
    named = pd.DataFrame(with_gaps(), columns=["age", "hgb", "creat"])
    refused(r"X contains NaN: hgb \(2\), creat \(1\)\. Fill them", named)


def test_missing_values_at_predict():
    estimator = Estimator()
    named = pd.DataFrame(np.ones((4, 3)), columns=["age", "hgb", "creat"])
    check_fit_data(estimator, named, Y)
    gaps = pd.DataFrame(with_gaps(), columns=named.columns)
    with pytest.raises(ValueError, match=r"X contains NaN: hgb \(2\), creat \(1\)"):
        check_predict_data(estimator, gaps)
    np.testing.assert_array_equal(check_predict_data(estimator, gaps, allow_nan=True), with_gaps())


def test_missing_values_can_be_allowed_but_infinity_cannot():
    checked, _, _ = check_fit_data(Estimator(), with_gaps(), Y, allow_nan=True)
    np.testing.assert_array_equal(checked, with_gaps())
    infinite = with_gaps()
    infinite[2, 0] = -np.inf
    for allow_nan in (False, True):
        refused(r"X contains infinity \(inf\): column 0 \(1\)\. Replace", infinite, allow_nan=allow_nan)


def test_many_columns_with_gaps_are_cut_short():
    refused(r"column 7 \(4\) and 3 more columns\. Fill them", np.full((4, 11), np.nan))


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (np.empty((0, 2)), r"0 sample\(s\)"),
        (np.empty((4, 0)), r"0 feature\(s\)"),
        (np.arange(4.0), "Expected 2D array, got 1D array"),
        (np.ones((4, 2, 2)), "dim 3"),
        (np.full((4, 1), "red"), r"X has columns that are not numbers: column 0 \('red'\).*CovariateEncoder"),
        (X + 1j, "Complex data not supported"),
    ],
)
def test_bad_covariates(bad, message):
    refused(message, bad)


def test_lengths_differ():
    refused(r"inconsistent numbers of samples: \[3, 4\]", X[:3])


# --- refused outcomes and weights ------------------------------------------------------------------------


def test_outcome_is_checked():
    refused("y has no events: all 4 rows are censored", y=(TIME, np.zeros(4)))
    refused("time is negative in 4 of 4 rows", y=(-TIME, EVENT))
    refused("requires y to be passed", y=None)


def test_no_event_is_left_by_the_weights():
    refused("y has no events: all 2 rows are censored", sample_weight=[0, 1, 0, 1])


@pytest.mark.parametrize("weight", [[0, 0, 0, 0], 0.0])
def test_weights_are_all_zero(weight):
    refused("sample_weight is zero in every row. At least one row needs a positive weight", sample_weight=weight)


@pytest.mark.parametrize(
    ("weight", "message"),
    [
        ([1, -2, -1, 1], r"sample_weight must not be negative, got -2.0 in row 1 \(2 such rows\)"),
        (-1.0, r"sample_weight must not be negative, got -1.0 in row 0 \(4 such rows\)"),
        ([1, 2, 3], r"one value per row, shape \(4,\), got shape \(3,\)"),
        (np.ones((4, 1)), r"one value per row, shape \(4,\), got shape \(4, 1\)"),
        ([1, np.nan, 1, 1], "sample_weight contains NaN"),
        ([1, np.inf, 1, 1], "sample_weight contains infinity"),
        (np.nan, "sample_weight contains NaN"),
    ],
)
def test_bad_weights(weight, message):
    refused(message, sample_weight=weight)
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weight, 4)
