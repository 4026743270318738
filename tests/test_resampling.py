"""Samples of weighted rows, against drawing one row after the other."""

import time
import tracemalloc

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import binom, chi2, hypergeom

from dipolar import LogRankSurvivalForest, LogRankSurvivalTree, resampling, survival_outcome
from dipolar.resampling import deal_out, draw_with_replacement, draw_without_replacement
from tests.models import forest_of

N_SAMPLES = 6_000

# A chi-square statistic this unlikely is no chance.
SURPRISE = 1e-5


@pytest.fixture(params=["few draws", "halving"])
def way(request, monkeypatch):
    """Small samples are drawn in either way."""
    if request.param == "halving":
        monkeypatch.setattr(resampling, "FEW_DRAWS", 0)


def one_by_one(weight, n_draws, rng):
    """Draw positions along the cumulated weights."""
    edges = np.cumsum(weight)
    drawn = np.searchsorted(edges, rng.random(n_draws) * edges[-1], side="right")
    return np.bincount(np.minimum(drawn, len(weight) - 1), minlength=len(weight))


def shuffled(weight, n_draws, rng):
    """Write every row as often as it counts, shuffle, and take the first."""
    rows = rng.permutation(np.repeat(np.arange(len(weight)), weight.astype(int)))
    return np.bincount(rows[:n_draws], minlength=len(weight))


def samples(draw, *arguments, n_samples=N_SAMPLES):
    rng = np.random.default_rng(0)
    return np.array([draw(*arguments, rng) for _ in range(n_samples)])


def require_same_distribution(ours, theirs):
    """Compare how often whole samples turn up; rare ones are pooled."""
    both, which = np.unique(np.concatenate((ours, theirs)), axis=0, return_inverse=True)
    table = np.array([np.bincount(part, minlength=len(both)) for part in np.split(which.ravel(), [len(ours)])])
    common = table.sum(axis=0) >= 40
    table = np.column_stack((table[:, common], table[:, ~common].sum(axis=1)))
    table = table[:, table.sum(axis=0) > 0]
    expected = table.sum(axis=1, keepdims=True) * table.sum(axis=0) / table.sum()
    statistic = ((table - expected) ** 2 / expected).sum()
    assert chi2.sf(statistic, table.shape[1] - 1) > SURPRISE
    assert table.shape[1] >= 10  # there was something to compare


@pytest.mark.parametrize("weight", [np.ones(5), np.array([1.0, 3.0, 0.5, 2.0]), np.array([0.3, 4.0, 0.7, 2.0, 0.2])])
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_with_replacement_is_one_draw_after_the_other(weight, share, way):
    n_draws = round(share * weight.sum())
    ours = samples(draw_with_replacement, weight, share)
    assert (ours.sum(axis=1) == n_draws).all()
    require_same_distribution(ours, samples(one_by_one, weight, n_draws))


@pytest.mark.parametrize("weight", [np.ones(7), np.array([1.0, 3.0, 2.0, 2.0, 1.0])])
@pytest.mark.parametrize("share", [0.632, 0.3])
def test_without_replacement_is_the_first_of_shuffled_rows(weight, share, way):
    n_draws = round(share * weight.sum())
    ours = samples(draw_without_replacement, weight, share)
    assert (ours.sum(axis=1) == n_draws).all()
    require_same_distribution(ours, samples(shuffled, weight, n_draws))


def test_moments_of_large_and_very_unequal_weights():
    """A light row beside heavy ones is drawn as often as it should be, wherever it stands."""
    weight = np.concatenate((np.full(200, 0.75), [2.0**52], np.full(200, 1.5)))
    ours = samples(draw_with_replacement, weight, 1.0, n_samples=2000)
    light = np.delete(ours, 200, axis=1)
    expected = np.delete(weight, 200)
    np.testing.assert_allclose(light[:, :200].mean(), 0.75, rtol=0.01)
    np.testing.assert_allclose(light[:, 200:].mean(), 1.5, rtol=0.01)
    np.testing.assert_allclose(light.var(axis=0).mean(), expected.mean(), rtol=0.02)  # as Poisson numbers are
    assert (ours.sum(axis=1) == round(weight.sum())).all()


@pytest.mark.parametrize("total", [2.0**31, 2.0**40, 2.0**53])
def test_moments_of_large_equal_weights(total):
    weight = np.full(8, total / 8)
    ours = samples(draw_with_replacement, weight, 1.0, n_samples=4000)
    law = binom(total, 1 / 8)
    np.testing.assert_allclose(ours.mean(), total / 8, rtol=1e-12)
    np.testing.assert_allclose(ours.std(axis=0), law.std(), rtol=0.06)
    covariance = np.cov(ours[:, 0], ours[:, 5])[0, 1] / law.var()
    assert covariance == pytest.approx(-1 / 7, abs=0.06)


def test_without_replacement_in_pieces_of_several_rows():
    weight = np.full(8, 2.0**40)
    ours = samples(draw_without_replacement, weight, 0.25, n_samples=2000)
    assert (ours.sum(axis=1) == 2.0**41).all() and (ours <= weight).all()
    piece = 2.0**43 / 2.0**29
    law = hypergeom(2**29, 2**26, 2**27)
    np.testing.assert_allclose(ours.std(axis=0) / piece, law.std(), rtol=0.08)


def test_fractions_of_rows_are_left_whole(way):
    weight = np.array([0.5, 2.5, 0.25, 3.0, 0.75])
    ours = samples(draw_without_replacement, weight, 0.6, n_samples=2000)
    fraction = ours % 1.0
    assert ((fraction == 0) | (fraction == weight % 1.0)).all()
    assert (np.floor(ours).sum(axis=1) == 3).all()
    assert (fraction.sum(axis=1) >= 0.6 * 2.0).all()
    assert len(np.unique(fraction, axis=0)) > 3


weights = st.lists(
    st.one_of(st.floats(1e-12, 5.0), st.integers(1, 5).map(float), st.floats(1.0, 2.0**45)), min_size=1, max_size=12
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(weights, st.floats(1e-9, 1.0), st.integers(0, 99))
def test_samples_of_any_weights(way, weight, share, seed):
    weight = np.array(weight)
    rng = np.random.default_rng(seed)
    drawn = draw_with_replacement(weight, share, rng)
    assert drawn.sum() == max(1, round(share * weight.sum())) and (drawn >= 0).all()
    parts = draw_without_replacement(weight, share, rng)
    assert (parts >= 0).all() and (parts <= weight).all() and parts.any()
    if share == 1.0:
        np.testing.assert_array_equal(parts, weight)


def generated(n):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    return X, survival_outcome(rng.exponential(np.exp(X[:, 0])), rng.random(n) < 0.8)


@pytest.mark.parametrize(
    "model",
    [
        LogRankSurvivalForest(2),
        LogRankSurvivalForest(2, bootstrap=False),
        forest_of(2),
        LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=2),
        LogRankSurvivalTree(pruning="validation"),
    ],
    ids=["logrank", "without replacement", "dipole", "bootstrap", "validation"],
)
def test_time_and_memory_do_not_grow_with_the_weights(model):
    """Population weights: 30 rows that stand for three billion."""
    X, y = generated(30)
    model.set_params(random_state=0).fit(X, y)  # compiles
    start = time.perf_counter()
    tracemalloc.start()
    model.fit(X, y, np.full(30, 1e8))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5e6
    assert time.perf_counter() - start < 5.0
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("n_parts", [2, 3, 5])
def test_rows_are_dealt_out_evenly(n_parts, way):
    weight = np.array([1.0, 1.0, 4.0, 2.0, 7.0, 1.0, 3.0])
    stratum = np.array([0, 1, 0, 1, 1, 0, 0])
    rng = np.random.default_rng(0)
    dealt = np.array([deal_out(weight, stratum, n_parts, rng) for _ in range(500)])
    assert (dealt.sum(axis=1) == weight).all()
    for inside in (stratum == 0, stratum == 1, stratum >= 0):
        sizes = dealt[:, :, inside].sum(axis=2)
        assert (np.ptp(sizes, axis=1) <= 1).all()
    np.testing.assert_allclose(dealt[:, 0].mean(axis=0) / dealt[:, 0].sum(axis=1).mean(), weight / 19, rtol=0.3)


def test_parts_are_drawn_among_single_rows(way):
    """Rows of one stratum: the first of two parts is the first half of the shuffled rows."""
    weight = np.array([1.0, 3.0, 2.0, 2.0])
    ours = samples(lambda rng: deal_out(weight, np.zeros(4), 2, rng)[0])
    require_same_distribution(ours, samples(shuffled, weight, 4))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(weights, st.integers(2, 5), st.integers(0, 99))
def test_every_row_is_dealt_out(way, weight, n_parts, seed):
    weight = np.array(weight)
    stratum = np.arange(len(weight)) % 2
    parts = deal_out(weight, stratum, n_parts, np.random.default_rng(seed))
    assert all((part >= 0).all() for part in parts)
    np.testing.assert_array_equal(np.sum(parts, axis=0), weight)
