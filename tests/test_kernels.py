"""Kernels against scikit-learn's, explicit features against kernels, and the paper's width."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise

from dipolar.datasets import load_mgus
from dipolar.kernels import (
    KERNELS,
    MAX_MONOMIALS,
    Kernel,
    LinearKernel,
    PolynomialKernel,
    mean_squared_deviation,
)
from tests.models import kernel_of

RNG = np.random.default_rng(0)
A, B = RNG.normal(size=(30, 3)), RNG.normal(size=(20, 3))
ONES = np.ones(len(A))

NAMED = [
    ("linear", {}, lambda a, b: a @ b.T),
    ("quadratic", {}, lambda a, b: pairwise.polynomial_kernel(a, b, degree=2, gamma=1.0, coef0=1.0)),
    ("polynomial", {"degree": 3, "coef0": 0.5}, lambda a, b: pairwise.polynomial_kernel(a, b, 3, 1.0, 0.5)),
    ("poly", {"degree": 2, "coef0": 0.0}, lambda a, b: pairwise.polynomial_kernel(a, b, 2, 1.0, 0.0)),
    ("rbf", {"sigma2": 0.7}, lambda a, b: pairwise.rbf_kernel(a, b, gamma=0.5 / 0.7)),
    ("gaussian", {"sigma2": 1.25}, lambda a, b: pairwise.rbf_kernel(a, b, gamma=0.4)),
    ("laplacian", {"gamma": 0.3}, lambda a, b: pairwise.laplacian_kernel(a, b, gamma=0.3)),
    ("sigmoid", {"gamma": 0.2, "coef0": -0.5}, lambda a, b: pairwise.sigmoid_kernel(a, b, gamma=0.2, coef0=-0.5)),
]


@pytest.mark.parametrize(("name", "parameters", "theirs"), NAMED)
def test_blocks_equal_scikit_learns(name, parameters, theirs):
    kernel = kernel_of(name, A, ONES, **parameters)
    np.testing.assert_allclose(kernel.block(A, B), theirs(A, B), rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.block(A, B[:1]), theirs(A, B[:1]), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(("name", "parameters", "theirs"), NAMED)
def test_the_diagonal_is_that_of_the_gram_matrix(name, parameters, theirs):
    kernel = kernel_of(name, A, ONES, **parameters)
    np.testing.assert_allclose(kernel.diagonal(A), np.diagonal(theirs(A, A)), rtol=1e-12, atol=1e-14)


def test_a_distant_origin_does_not_blur_the_gaussian_kernel():
    kernel = kernel_of("rbf", A, ONES, sigma2=1.0)
    np.testing.assert_allclose(kernel.block(A + 1e6, B + 1e6), kernel.block(A, B), atol=1e-8)


@given(st.integers(1, 4), st.integers(1, 4), st.sampled_from([0.0, 0.3, 1.0, 2.0]), st.integers(0, 100))
def test_monomials_reproduce_the_polynomial_kernel_up_to_its_constant(n_columns, degree, coef0, seed):
    X = np.random.default_rng(seed).normal(size=(7, n_columns))
    kernel = PolynomialKernel(degree, coef0)
    features = kernel.features(X)
    assert features.shape == (7, kernel.n_features(n_columns))
    np.testing.assert_allclose(features @ features.T + coef0**degree, kernel.block(X, X), rtol=1e-10, atol=1e-10)


@given(st.integers(1, 4), st.integers(0, 4), st.sampled_from([0.0, 0.3, 1.0]), st.integers(0, 100))
def test_a_polynomial_is_the_sum_of_its_monomials(n_columns, degree, coef0, seed):
    rng = np.random.default_rng(seed)
    u, v = rng.normal(size=(5, n_columns)), rng.normal(size=(6, n_columns))
    kernel = PolynomialKernel(degree, coef0) if degree else LinearKernel()
    total = sum(
        weight * np.prod(u[:, columns], axis=1)[:, None] * np.prod(v[:, columns], axis=1)
        for columns, weight in kernel.monomials(n_columns)
    )
    np.testing.assert_allclose(total, kernel.block(u, v), rtol=1e-10, atol=1e-10)
    features = [
        np.sqrt(weight) * np.prod(u[:, columns], axis=1) for columns, weight in kernel.monomials(n_columns) if columns
    ]
    np.testing.assert_allclose(np.column_stack(features), kernel.features(u), rtol=1e-10, atol=1e-10)


def test_only_polynomials_that_are_not_huge_are_written_out():
    assert len(PolynomialKernel(2, 1.0).monomials(60)) == 1891
    assert PolynomialKernel(2, 1.0).monomials(62) is None
    assert kernel_of("rbf", A, ONES).monomials(1) is None


@pytest.mark.parametrize(("name", "parameters", "theirs"), NAMED)
def test_a_kernel_comes_back_from_its_plain_form(name, parameters, theirs):
    kernel = kernel_of(name, A, ONES, **parameters)
    assert Kernel.from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel
    assert kernel.javascript is not None and kernel.word != Kernel().word


def test_parameters_that_are_numbers_of_numpy_come_back():
    kernel = PolynomialKernel(degree=np.int64(2), coef0=np.float32(0.5))
    assert Kernel.from_dict(json.loads(json.dumps(kernel.to_dict()))) == kernel


@pytest.mark.parametrize("coef0", [1e30, 10**30, 1e-30, 1e-300])
def test_powers_of_the_constant_are_numbers(coef0):
    """Coefficients are divided by roots of them, at fit and at predict."""
    with pytest.raises(ValueError, match="power of 20"):
        PolynomialKernel(degree=20, coef0=coef0).check()
    PolynomialKernel(degree=2, coef0=1e-30).check()
    PolynomialKernel(degree=20, coef0=0).check()


def test_functions_and_precomputed_values_have_no_name_in_files():
    assert {"CallableKernel", "PrecomputedKernel"}.isdisjoint(KERNELS)


def test_only_kernels_with_few_features_list_them():
    assert kernel_of("linear", A, ONES).n_features(1000) == 1000
    assert kernel_of("quadratic", A, ONES).n_features(3) == 9
    assert kernel_of("quadratic", A, ONES).n_features(21) == 252 <= MAX_MONOMIALS
    assert kernel_of("quadratic", A, ONES).n_features(22) is None
    for name in ("rbf", "laplacian", "sigmoid"):
        assert kernel_of(name, A, ONES).n_features(1) is None


def test_the_papers_width_on_mgus():
    X, _ = load_mgus(return_X_y=True)
    X = X[["age", "hgb"]].dropna().to_numpy()
    assert mean_squared_deviation(X, np.ones(len(X))) == pytest.approx(140.67, abs=0.005)
    assert kernel_of("rbf", X, np.ones(len(X))).sigma2 == pytest.approx(140.67, abs=0.005)


def test_default_widths_are_the_total_variance():
    total = A.var(axis=0).sum()
    assert kernel_of("rbf", A, ONES).sigma2 == pytest.approx(total)
    assert kernel_of("laplacian", A, ONES).gamma == pytest.approx(1 / total)
    assert kernel_of("sigmoid", A, ONES).gamma == pytest.approx(1 / total)


def test_weights_repeat_rows_in_the_widths():
    weight = RNG.integers(1, 4, size=len(A))
    repeated = np.repeat(A, weight, axis=0)
    expected = repeated.var(axis=0).sum()
    assert mean_squared_deviation(A, weight.astype(float)) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["rbf", "laplacian", "sigmoid"])
def test_constant_covariates_have_a_width(name):
    constant = np.full((4, 2), 3.0)
    kernel = kernel_of(name, constant, np.ones(4))
    assert np.isfinite(kernel.block(constant, constant)).all()


def test_a_kernel_object_and_a_function_are_taken_as_they_are():
    kernel = PolynomialKernel(2, 0.0)
    assert kernel_of(kernel, A, ONES) is kernel
    mine = kernel_of(lambda a, b: 2 * a @ b.T, A, ONES)
    assert isinstance(mine, Kernel)
    np.testing.assert_allclose(mine.block(A, B), 2 * A @ B.T)
    np.testing.assert_allclose(mine.diagonal(A), 2 * (A * A).sum(axis=1))


def test_a_precomputed_kernel_looks_its_columns_up():
    gram = A @ A.T
    kernel = kernel_of("precomputed", gram, ONES)
    np.testing.assert_array_equal(kernel.block(gram, np.array([[4.0], [2.0]])), gram[:, [4, 2]])
    np.testing.assert_array_equal(kernel.diagonal(gram), np.diagonal(gram))


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        (
            "cosine",
            {},
            r"kernel must be one of \['linear', .*\], .* or a function of two matrices .*, got 'cosine'",
        ),
        (3, {}, r"kernel must be one of .* got 3"),
        (["rbf"], {}, r"kernel must be one of .* got \['rbf'\]"),
        ("polynomial", {"degree": 1.5}, r"degree must be .*got 1\.5"),
        ("polynomial", {"degree": 0}, r"degree must be .*got 0"),
        ("polynomial", {"coef0": -1.0}, r"coef0 must be .*got -1\.0"),
        ("rbf", {"sigma2": 0.0}, r"sigma2 must be .*got 0\.0"),
        ("rbf", {"sigma2": np.inf}, r"sigma2 must be .*got inf"),
        ("laplacian", {"gamma": 0.0}, r"gamma must be .*got 0\.0"),
        ("sigmoid", {"gamma": np.nan}, r"gamma must be .*got nan"),
        ("precomputed", {}, r"must be the square kernel matrix of the training rows, got \(30, 3\)"),
    ],
)
def test_nonsense_is_refused(name, parameters, message):
    with pytest.raises(ValueError, match=message):
        kernel_of(name, A, ONES, **parameters)


def test_functions_that_return_nonsense_are_refused():
    with pytest.raises(ValueError, match=r"shape \(30, 20\) for 30 and 20 rows, got shape \(30, 30\)"):
        kernel_of(lambda a, _: a @ a.T, A, ONES).block(A, B)
    with pytest.raises(ValueError, match="kernel returned NaN or infinite values"):
        kernel_of(lambda a, b: a @ b.T * np.nan, A, ONES).block(A, B)
