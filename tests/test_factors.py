"""Factors of kernels: what they reproduce, what they leave out, and that they stay small."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from dipolar.kernels import GaussianKernel, LinearKernel, PolynomialKernel
from dipolar.node_svm import factors
from dipolar.node_svm.factors import Surface, factorise
from tests.models import kernel_of

RNG = np.random.default_rng(0)
KERNELS = ("linear", "quadratic", "polynomial", "rbf", "laplacian")


def fitted_kernel(name, X, **parameters):
    return kernel_of(name, X, np.ones(len(X)), **parameters)


def centred(gram):
    """The Gram matrix of features whose columns have mean zero."""
    return gram - gram.mean(axis=0) - gram.mean(axis=1)[:, None] + gram.mean()


@st.composite
def rows(draw, max_rows=15):
    """Few values, so that rows repeat; sometimes more columns than rows."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    X = rng.choice([-1.0, 0.0, 0.5, 2.0], size=(draw(st.integers(1, max_rows)), draw(st.integers(1, 6))))
    return X + draw(st.sampled_from([0.0, 0.0, 3.0]))


@given(st.sampled_from(KERNELS), rows())
def test_features_reproduce_the_centred_kernel(name, X):
    kernel = fitted_kernel(name, X)
    factor = factorise(kernel, X, tol=1e-12)
    gram = kernel.block(X, X)
    np.testing.assert_allclose(factor.features.mean(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(factor.features @ factor.features.T, centred(gram), atol=1e-8 * np.abs(gram).max())
    assert factor.features.flags.f_contiguous


@given(st.sampled_from(KERNELS), rows(), st.integers(0, 100))
def test_the_surface_of_some_weights_has_their_scores(name, X, seed):
    kernel = fitted_kernel(name, X)
    factor = factorise(kernel, X)
    weights = np.random.default_rng(seed).normal(size=factor.rank)
    expected = factor.features @ weights + 0.7
    surface = factor.surface(weights, 0.7)
    np.testing.assert_allclose(surface.score(X), expected, rtol=1e-6, atol=1e-6 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("shape", [(40, 3), (12, 30), (70, 1)])
def test_the_expansion_in_training_rows_is_the_same_surface(name, shape):
    X, new = RNG.normal(size=shape), RNG.normal(size=(15, shape[1]))
    kernel = fitted_kernel(name, X)
    factor = factorise(kernel, X)
    # As a solver's: a combination of the features of the rows.
    weights = RNG.normal(size=len(X)) @ factor.features
    used, coefficients = factor.expansion(weights)
    surface = factor.surface(weights, -0.3)
    expected = surface.score(new)
    assert len(used) == len(coefficients) <= factor.rank + 1
    assert len(np.unique(used)) == len(used)
    found = kernel.block(new, X[used]) @ coefficients + surface.intercept
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_few_features_are_used_as_they_are():
    X = RNG.normal(size=(50, 4))
    for kernel in (fitted_kernel("linear", X), fitted_kernel("quadratic", X)):
        factor = factorise(kernel, X)
        assert factor.is_explicit
        assert factor.residual == 0.0
        np.testing.assert_allclose(factor.features + factor.centre, kernel.features(X))


def test_more_columns_than_rows_need_no_more_rank_than_rows():
    X = RNG.normal(size=(20, 500))
    for name in ("linear", "quadratic"):
        factor = factorise(fitted_kernel(name, X), X)
        assert not factor.is_explicit
        assert factor.rank <= 20
        gram = centred(fitted_kernel(name, X).block(X, X))
        np.testing.assert_allclose(factor.features @ factor.features.T, gram, atol=1e-9 * np.abs(gram).max())


def test_a_small_covariate_of_a_finite_kernel_is_not_rounded_away():
    """The trace tolerance would drop the second covariate, and with it the only thing that tells the rows apart."""
    X = np.column_stack((np.full(100, 1e4), RNG.normal(size=100), np.zeros((100, 98))))
    factor = factorise(fitted_kernel("linear", np.repeat(X, 2, axis=1)), np.repeat(X, 2, axis=1), tol=1e-3)
    assert not factor.is_explicit
    expected = 2 * np.outer(X[:, 1] - X[:, 1].mean(), X[:, 1] - X[:, 1].mean())
    np.testing.assert_allclose(factor.features @ factor.features.T, expected, atol=1e-5)


@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_the_residual_is_what_is_left_out_and_within_the_tolerance(tol):
    X = RNG.normal(size=(200, 3))
    kernel = fitted_kernel("rbf", X)
    factor = factorise(kernel, X, tol=tol)
    uncentred = factor.features + factor.centre
    left_out = np.trace(kernel.block(X, X) - uncentred @ uncentred.T) / 200
    assert factor.residual == pytest.approx(left_out, rel=1e-6, abs=1e-12)
    assert factor.residual <= tol
    # One basis row fewer would not have met it.
    shorter = factorise(kernel, X, tol=0.0, max_rank=factor.rank - 1)
    assert shorter.rank == factor.rank - 1
    assert shorter.residual > tol


@pytest.mark.parametrize("max_rank", [1, 7, 64, 65, 130])
@pytest.mark.parametrize("few_rows", [0, 400])
def test_the_rank_has_a_limit(max_rank, few_rows, monkeypatch):
    """Also where storage for the columns grows, at 64 and 128."""
    monkeypatch.setattr(factors, "FEW_ROWS", few_rows)
    X = RNG.normal(size=(300, 4))
    kernel = fitted_kernel("laplacian", X)
    factor = factorise(kernel, X, tol=0.0, max_rank=max_rank)
    assert factor.rank == len(factor.basis) == len(factor.basis_rows) == max_rank
    np.testing.assert_array_equal(factor.basis_rows, X[factor.basis])
    np.testing.assert_allclose(
        factor.triangle @ factor.triangle.T, kernel.block(X, X)[np.ix_(factor.basis, factor.basis)]
    )
    assert 0 < factor.residual < 1


@pytest.mark.parametrize("name", ["rbf", "laplacian", "sigmoid"])
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_the_whole_matrix_and_its_columns_give_the_same_factor(name, tol, monkeypatch):
    X = RNG.normal(size=(150, 3))
    kernel = fitted_kernel(name, X)
    whole = factorise(kernel, X, tol=tol)
    monkeypatch.setattr(factors, "FEW_ROWS", 0)
    by_columns = factorise(kernel, X, tol=tol)
    np.testing.assert_array_equal(whole.basis, by_columns.basis)
    np.testing.assert_allclose(whole.features, by_columns.features, atol=1e-8)
    assert whole.residual == pytest.approx(by_columns.residual, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "sigmoid"])
def test_the_basis_does_not_depend_on_how_rows_lie_in_memory(name):
    """Rows that are represented as badly as others are taken in their order, and not as rounding has it."""
    for seed in range(20):
        X = 30.0 + 10.0 * np.random.default_rng(seed).normal(size=(80, 4))
        kernel = fitted_kernel(name, X)
        rows, columns = (factorise(kernel, Z, tol=1e-2) for Z in (np.ascontiguousarray(X), np.asfortranarray(X)))
        np.testing.assert_array_equal(rows.basis, columns.basis)
        if name != "sigmoid":
            assert rows.basis[0] == 0


def test_each_distinct_row_enters_the_basis_once():
    distinct = RNG.normal(size=(6, 2))
    X = distinct[RNG.integers(0, 6, size=80)]
    factor = factorise(fitted_kernel("rbf", X, sigma2=1.0), X, tol=0.0)
    assert factor.rank == len(np.unique(X, axis=0)) == 6
    assert factor.residual == pytest.approx(0.0, abs=1e-12)


def test_an_indefinite_kernel_is_factored_as_far_as_it_goes_and_says_so():
    X = RNG.normal(size=(60, 3)) * 2
    kernel = fitted_kernel("sigmoid", X, gamma=1.0, coef0=-1.0)
    gram = kernel.block(X, X)
    assert np.linalg.eigvalsh(gram).min() < -1  # it is indefinite, and not by rounding
    factor = factorise(kernel, X)
    assert factor.rank >= 1
    assert np.isfinite(factor.features).all()
    assert factor.residual > 0.01
    uncentred = factor.features + factor.centre
    left_out = np.diagonal(gram - uncentred @ uncentred.T).copy()
    left_out[factor.basis] = 0.0
    assert factor.residual == pytest.approx(np.abs(left_out).sum() / np.abs(np.diagonal(gram)).sum(), rel=1e-6)


def test_a_negative_definite_kernel_leaves_nothing_to_work_with():
    X = RNG.normal(size=(10, 2))
    factor = factorise(fitted_kernel(lambda a, b: -(a @ b.T), X), X)
    assert factor.rank == 0
    assert factor.residual == 1.0
    np.testing.assert_array_equal(factor.surface(np.empty(0), 2.0).score(X), np.full(10, 2.0))


def test_callable_and_precomputed_kernels_have_the_factor_of_the_named_one():
    X, new = RNG.normal(size=(50, 3)), RNG.normal(size=(8, 3))
    sigma2 = 1.3

    def gram(a, b):
        return rbf_kernel(a, b, gamma=0.5 / sigma2)

    named = factorise(fitted_kernel("rbf", X, sigma2=sigma2), X)
    called = factorise(fitted_kernel(gram, X), X)
    looked_up = factorise(fitted_kernel("precomputed", gram(X, X)), gram(X, X))
    weights = RNG.normal(size=named.rank)
    expected = named.surface(weights, 0.1).score(new)
    np.testing.assert_array_equal(named.basis, called.basis)
    np.testing.assert_array_equal(named.basis, looked_up.basis)
    np.testing.assert_allclose(called.surface(weights, 0.1).score(new), expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(looked_up.surface(weights, 0.1).score(gram(new, X)), expected, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", KERNELS)
def test_constant_rows_have_features_of_zero(name):
    X = np.full((9, 2), 1.5)
    factor = factorise(fitted_kernel(name, X), X)
    np.testing.assert_allclose(factor.features, 0.0, atol=1e-12)
    surface = factor.surface(np.zeros(factor.rank), 0.4)
    assert surface.is_flat
    np.testing.assert_array_equal(surface.score(X), np.full(9, 0.4))


@pytest.mark.parametrize("name", ["linear", "quadratic", "rbf", "laplacian"])
def test_a_row_has_the_same_score_in_any_company(name):
    """To the last bit: sides of the surface are decided by it."""
    X = RNG.normal(size=(300, 5))
    kernel = fitted_kernel(name, X)
    surface = Surface(kernel, X[:40], RNG.normal(size=40), 0.3, -1e-6)
    scores = surface.score(X)
    np.testing.assert_array_equal(surface.score(np.asfortranarray(X)), scores)
    np.testing.assert_array_equal(surface.score(X[7:9]), scores[7:9])
    np.testing.assert_array_equal(surface.score(X[::-1]), scores[::-1])
    np.testing.assert_array_equal(np.concatenate([surface.score(row[None, :]) for row in X]), scores)


def test_a_large_gaussian_factor_never_holds_a_square_matrix():
    """A matrix of 20,000 x 20,000 would take 3200 MB; the factor of rank 50 takes 8."""
    X = RNG.normal(size=(20_000, 4))
    tracemalloc.start()
    try:
        factor = factorise(fitted_kernel("rbf", X), X, max_rank=50)
        factor.surface(np.ones(50), 0.0).score(X)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert factor.features.shape == (20_000, 50)
    assert peak < 100e6


def test_no_monomials_beyond_their_limit():
    X = RNG.normal(size=(30, 40))
    factor = factorise(PolynomialKernel(3, 1.0), X)
    assert not factor.is_explicit
    assert factor.rank <= 30


@pytest.mark.parametrize("kernel", [LinearKernel(), PolynomialKernel(2, 1.0), PolynomialKernel(3, 0.0)])
def test_a_surface_over_rows_is_one_over_features(kernel):
    rng = np.random.default_rng(3)
    rows, X = rng.normal(size=(5, 4)), rng.normal(size=(20, 4))
    over_rows = Surface(kernel, rows, rng.normal(size=5), 0.7)
    over_features = over_rows.without_rows()
    assert len(over_features.rows) == 0
    np.testing.assert_allclose(over_features.score(X), over_rows.score(X), rtol=1e-10, atol=1e-10)
    assert over_features.without_rows() is over_features


@pytest.mark.parametrize("kernel", [GaussianKernel(1.0), PolynomialKernel(4, 1.0)])
def test_a_surface_of_many_features_keeps_its_rows(kernel):
    surface = Surface(kernel, np.ones((2, 8)), np.ones(2), 0.0)
    assert surface.without_rows() is surface
