"""Weighted quantiles against numpy's, with every value repeated as often as its weight says."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import pdist

from dipolar.quantiles import MAX_ROWS_ALL_PAIRS, pairwise_distance_quantile, weighted_quantile

QUANTILES = [0.0, 0.01, 0.23, 0.25, 1 / 3, 0.5, 0.75, 0.9, 1.0]


@given(
    st.lists(st.tuples(st.sampled_from([-3.0, 0.0, 0.1, 2.0, 7.5]), st.integers(1, 4)), min_size=1, max_size=8),
    st.sampled_from(QUANTILES),
)
def test_whole_weights_are_repetitions(pairs, quantile):
    values, weight = map(np.array, zip(*pairs))
    expected = np.quantile(np.repeat(values, weight), quantile)
    assert weighted_quantile(values, weight.astype(float), quantile) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=20), st.sampled_from(QUANTILES))
def test_unit_weights_give_numpys_quantile(values, quantile):
    values = np.array(values)
    found = weighted_quantile(values, np.ones(len(values)), quantile)
    assert found == pytest.approx(np.quantile(values, quantile), rel=1e-12, abs=1e-6)


@given(st.lists(st.floats(0.01, 0.4), min_size=2, max_size=8), st.sampled_from(QUANTILES))
def test_weights_below_one_stay_within_the_values(weights, quantile):
    values = np.arange(len(weights), dtype=float)
    assert 0 <= weighted_quantile(values, np.array(weights), quantile) <= len(weights) - 1


@given(st.integers(0, 1000), st.sampled_from(QUANTILES))
def test_distances_are_those_of_all_repeated_rows_that_differ(seed, quantile):
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, size=(rng.integers(2, 9), 2)).astype(float)
    weight = rng.integers(1, 4, size=len(X))
    distances = pdist(np.repeat(X, weight, axis=0))
    distances = distances[distances > 0]
    expected = np.quantile(distances, quantile) if len(distances) else 1.0
    found = pairwise_distance_quantile(X, weight.astype(float), quantile, np.random.default_rng(0))
    assert found == pytest.approx(expected)


def test_one_row_and_equal_rows_have_a_margin_too():
    for X in (np.ones((1, 3)), np.ones((5, 3)), np.ones((MAX_ROWS_ALL_PAIRS + 1, 1))):
        assert pairwise_distance_quantile(X, np.ones(len(X)), 0.23, np.random.default_rng(0)) == 1.0


def test_drawn_pairs_come_close_to_all_pairs():
    X = np.random.default_rng(0).normal(size=(MAX_ROWS_ALL_PAIRS + 200, 3))
    all_distances = pdist(X)
    for seed in range(3):
        found = pairwise_distance_quantile(X, np.ones(len(X)), 0.23, np.random.default_rng(seed))
        assert np.mean(all_distances <= found) == pytest.approx(0.23, abs=0.003)  # five standard errors


def test_drawn_pairs_respect_the_weights():
    """Two groups of 600; all the weight is on the first, so the distances are those within it."""
    rng = np.random.default_rng(0)
    X = np.concatenate((rng.normal(size=(600, 1)), 1000 + rng.normal(size=(600, 1))))
    weight = np.repeat([1.0, 1e-9], 600)
    found = pairwise_distance_quantile(X, weight, 0.9, rng)
    assert found == pytest.approx(np.quantile(pdist(X[:600]), 0.9), rel=0.02)
