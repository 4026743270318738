"""Wide data: what is found in coordinates, or by sorting few covariates, is what is found in all covariates."""

import io
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipolar import (
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    SurvivalTreeCV,
    survival_outcome,
)
from dipolar.kernels import GaussianKernel, LaplacianKernel, LinearKernel, PolynomialKernel, SigmoidKernel
from dipolar.node_svm import svm as svm_module
from dipolar.node_svm.factors import Surface
from dipolar.node_svm.spans import sees_angles_only, spread_over
from dipolar.rows import arrange_rows
from dipolar.survival import Survival
from dipolar.tree import axis_finder, surface_finder, surfaces
from dipolar.tree.export import export_text, to_dict
from dipolar.tree.rules import first_that_fits, sum_rules

KERNELS = ("linear", "rbf", PolynomialKernel(2), SigmoidKernel())


def wide(n=90, p=200, seed=0):
    rng = np.random.default_rng(seed)
    latent = rng.normal(size=n)
    X = rng.normal(size=(n, p))
    X[:, : p // 3] += 2.0 * latent[:, None]
    time, censored = rng.exponential(np.exp(-1.5 * latent)), rng.exponential(3.0, n)
    return X, survival_outcome(np.minimum(time, censored), time <= censored)


@pytest.fixture
def in_covariates(monkeypatch):
    """Switch the coordinates off."""

    def switch():
        for module in (surface_finder, svm_module):
            monkeypatch.setattr(module, "spread", lambda *_: None)
        monkeypatch.setattr(DipoleSurvivalTree, "_in_coordinates", lambda *_: None)

    return switch


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_machine_finds_in_coordinates_what_it_finds_in_covariates(kernel, in_covariates):
    (X, y), (unseen, _) = wide(), wide(seed=1)
    found = DipoleSVM(kernel).fit(X, y)
    in_covariates()
    expected = DipoleSVM(kernel).fit(X, y)
    assert found.status_ == expected.status_
    np.testing.assert_allclose(found.decision_function(unseen), expected.decision_function(unseen), atol=1e-6)
    np.testing.assert_allclose(found.criterion_path_, expected.criterion_path_, rtol=1e-6)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("inherit", [0.0, 5.0])
def test_a_tree_grows_in_coordinates_as_in_covariates(kernel, inherit, in_covariates):
    (X, y), (unseen, _) = wide(), wide(seed=1)
    tree = DipoleSurvivalTree(DipoleSVM(kernel), inherit=inherit, max_depth=3, min_samples_leaf=5)
    found = tree.fit(X, y)
    shares, leaves, told = found.feature_importances_, found.apply(unseen), found.n_leaves_
    np.testing.assert_array_equal(found.apply(X)[np.argsort(found.apply(X))], np.repeat(*_sizes(found)))
    in_covariates()
    expected = DipoleSurvivalTree(DipoleSVM(kernel), inherit=inherit, max_depth=3, min_samples_leaf=5).fit(X, y)
    assert told == expected.n_leaves_ > 2
    np.testing.assert_array_equal(leaves, expected.apply(unseen))
    np.testing.assert_allclose(shares, expected.feature_importances_, atol=1e-9)


def _sizes(tree):
    leaves = np.sort(tree.tree_.leaves)
    return leaves, tree.tree_.n_samples[leaves].astype(int)


@settings(max_examples=20)
@given(st.integers(2, 20), st.integers(65, 90), st.integers(0, 1000), st.booleans())
def test_coordinates_keep_kernels_of_all_rows(n, p, seed, repeats):
    rng = np.random.default_rng(seed)
    rows, others = rng.normal(size=(n, p)), rng.normal(size=(5, p))
    if repeats:
        rows[-1] = rows[0]
    span = spread_over(rows, [LinearKernel(), GaussianKernel(float(p))])
    assert span.coordinates.shape[1] <= n - repeats
    for kernel in (LinearKernel(), GaussianKernel(float(p))):
        expected = kernel.block(rows, rows)
        np.testing.assert_allclose(kernel.block(span.coordinates, span.coordinates), expected, rtol=1e-9, atol=1e-9)
        between = kernel.block(span.locate(others), span.inside)
        np.testing.assert_allclose(between, kernel.block(others, rows), rtol=1e-9, atol=1e-9)
    weights = rng.normal(size=span.coordinates.shape[1])
    np.testing.assert_allclose(rows @ span.normals(weights), span.coordinates @ weights, atol=1e-8)


def test_only_wide_rows_and_kernels_of_angles_have_coordinates():
    rng = np.random.default_rng(0)
    assert spread_over(rng.normal(size=(100, 100)), [LinearKernel()]) is None
    assert spread_over(rng.normal(size=(20, 64)), [LinearKernel()]) is None
    assert spread_over(rng.normal(size=(20, 65)), [LaplacianKernel(1.0)]) is None
    assert spread_over(np.ones((20, 65)) * 0.0, [LinearKernel()]) is None
    assert not sees_angles_only(PolynomialKernel(2), 5)  # few enough for monomials of the coordinates


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_a_tuned_tree_scores_candidates_in_coordinates_as_in_covariates(kernel, in_covariates):
    X, y = wide(n=75, p=120)
    options = {"param_grid": {"svm__kappa": [10, 100]}, "cv": 3, "scoring": ["concordance", "neg_ibs"]}
    tuned = SurvivalTreeCV(DipoleSurvivalTree(DipoleSVM(kernel)), random_state=0, **options).fit(X, y)
    in_covariates()
    expected = SurvivalTreeCV(DipoleSurvivalTree(DipoleSVM(kernel)), random_state=0, **options).fit(X, y)
    columns = [name for name in tuned.cv_results_ if "time" not in name]
    np.testing.assert_allclose(tuned.cv_results_[columns], expected.cv_results_[columns], atol=1e-9)
    assert tuned.best_params_ == expected.best_params_


def test_a_scorer_of_the_user_meets_covariates():
    X, y = wide(n=60, p=100)
    widths = set()

    def score(tree, X, y):
        widths.add(X.shape[1])
        return 0.5

    SurvivalTreeCV(param_grid={"svm__kappa": [10]}, cv=2, scoring=score, random_state=0).fit(X, y)
    assert widths == {100}


@pytest.mark.parametrize("missing", [0.0, 0.1])
def test_a_forest_that_sorts_few_covariates_is_the_one_that_sorts_all(missing, monkeypatch):
    X, y = wide(n=60, p=80)
    X = np.round(X, 1)  # ties
    X[np.random.default_rng(0).random(X.shape) < missing] = np.nan
    forests = []
    for is_wide in (True, False):
        monkeypatch.setattr(axis_finder, "_sorts_few", lambda *_, answer=is_wide: answer)
        forests.append(LogRankSurvivalForest(10, min_samples_leaf=3, min_samples_split=6, random_state=0).fit(X, y))
    assert forests[0].forest_ == forests[1].forest_
    assert max(tree.n_leaves for tree in forests[0].forest_.trees) > 2


def test_shares_of_the_first_order_are_nearly_those_of_moved_rows(monkeypatch):
    X, _ = wide(n=30, p=300)
    coefficients = np.random.default_rng(1).normal(size=len(X))
    for kernel in (GaussianKernel(300.0), PolynomialKernel(2, 300.0), SigmoidKernel(1 / 300)):
        surface = Surface(kernel, X, coefficients, 0.0)
        expected = surfaces.surface_shares(surface, X)
        monkeypatch.setattr(surfaces, "SCORED_FOR_SHARES", 1)
        np.testing.assert_allclose(surfaces.surface_shares(surface, X), expected, rtol=0.1, atol=1e-4)
        monkeypatch.undo()


def test_short_rules_of_many_terms_are_those_of_all_candidates():
    rng = np.random.default_rng(0)
    terms = {(): -1.0} | {(column,): float(weight) for column, weight in enumerate(rng.normal(size=120))}
    names, shares = [f"gene {column}" for column in range(120)], rng.dirichlet(np.ones(120))
    for width in (5, 20, 60, 200, 5000):
        short = first_that_fits(sum_rules(terms, 0.0, names, shares, width=width), width)
        assert short == first_that_fits(sum_rules(terms, 0.0, names, shares), width)


def test_what_a_wide_tree_says_is_small_and_quick():
    X, y = wide(n=80, p=3000)
    for kernel in ("linear", "rbf"):
        tree = DipoleSurvivalTree(DipoleSVM(kernel), max_depth=2).fit(X, y)
        assert tree.n_leaves_ > 1
        assert tree.feature_importances_.sum() == pytest.approx(1.0)
        assert max(map(len, export_text(tree, width=40).splitlines())) < 120
        json.dumps(to_dict(tree), allow_nan=False)
        file = io.BytesIO()
        tree.save(file)
        if kernel == "linear":
            assert file.tell() < 40 * X.shape[1] * tree.n_leaves_


def test_max_terms_of_wide_rows():
    X, y = wide(n=80, p=600)
    tree = DipoleSurvivalTree(max_terms=3, max_depth=2).fit(X, y)
    assert tree.n_leaves_ > 1
    assert (np.diff(tree.tree_.splits.column_offset) <= 3).all()


def test_a_forest_of_all_covariates_grows_in_coordinates():
    X, y = wide(n=60, p=100)
    forest = DipoleSurvivalForest(n_estimators=3, max_features=None, random_state=0).fit(X, y)
    assert forest.feature_importances_.sum() == pytest.approx(1.0)


def test_tied_rows_are_sorted_by_all_covariates_where_the_first_are_equal():
    X = np.zeros((4, 70))
    X[:, 69] = [3.0, 1.0, 2.0, 1.0]
    survival = Survival(np.ones(4), np.ones(4, bool))
    np.testing.assert_array_equal(arrange_rows(X, survival, np.ones(4)).X[:, 69], [1.0, 2.0, 3.0])
    X[:, 0] = [1.0, 2.0, 3.0, 4.0]
    np.testing.assert_array_equal(arrange_rows(X, survival, np.ones(4)).first, [0, 1, 2, 3])
