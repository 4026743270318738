"""The hazard start: one Newton step of Cox's partial likelihood from zero, against the formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipolar._core.search import START_RIDGE, hazard_scores, mean_square, solve_by_covariance


def rows(seed, n, rank):
    """Outcomes with ties in ascending order, weights, and centred features that are correlated."""
    rng = np.random.default_rng(seed)
    time = np.sort(rng.integers(1, 8, n)).astype(float)
    features = rng.normal(size=(rank, rank)) @ rng.normal(size=(rank, n)) + 0.3 * rng.normal(size=(rank, n))
    features -= features.mean(axis=1, keepdims=True)
    return time, rng.random(n) < 0.7, rng.integers(1, 4, n).astype(float), features


def newton_step(time, event, weight, features):
    at_risk = np.array([weight[time >= t].sum() for t in time])
    hazard = np.array([sum(weight[k] * event[k] / at_risk[k] for k in np.flatnonzero(time <= t)) for t in time])
    covariance = np.cov(features, aweights=weight, ddof=0).reshape(len(features), -1)
    ridge = START_RIDGE * np.trace(covariance) / len(features)
    direction = np.linalg.solve(covariance + ridge * np.eye(len(features)), features @ (weight * (event - hazard)))
    return -direction @ features


@pytest.mark.compiled
@settings(max_examples=60)
@given(st.integers(0, 10**6), st.integers(3, 40), st.integers(1, 6))
def test_scores_are_the_newton_step(seed, n, rank):
    time, event, weight, features = rows(seed, n, rank)
    scores = np.empty(n)
    hazard_scores(time, event, weight, features, scores)
    expected = newton_step(time, event, weight, features)
    np.testing.assert_allclose(scores, expected, atol=1e-3 * max(np.abs(expected).max(), 1e-12))


@pytest.mark.compiled
def test_no_direction_stays_none():
    features, weight = np.random.default_rng(0).normal(size=(3, 9)), np.ones(9)
    solution = np.zeros(3)
    solve_by_covariance(features, weight, 0.1, np.zeros(3), solution, np.empty(9))
    assert not solution.any()


def test_the_coding_of_a_factor_hardly_matters():
    """Against which of its levels the others are told: the order of scores is nearly the same."""
    rng = np.random.default_rng(1)
    level = rng.integers(0, 4, 300)
    time = np.sort(rng.exponential(size=300))
    codings = [np.array([level == k for k in range(4) if k != reference], float) for reference in (0, 3)]
    scores = []
    for features in codings:
        features -= features.mean(axis=1, keepdims=True)
        scores.append(np.empty(300))
        hazard_scores(time, np.ones(300, bool), np.ones(300), features, scores[-1])
    assert np.corrcoef(*scores)[0, 1] > 0.98


def test_mean_square_is_the_total_variance():
    _, _, weight, features = rows(3, 30, 4)
    expected = np.trace(np.cov(features, aweights=weight, ddof=0))
    assert mean_square(features, weight) == pytest.approx(expected)
    assert mean_square(np.zeros((2, 5)), np.ones(5)) == 1.0
