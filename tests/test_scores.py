"""One rule: a row goes left exactly where its score is below 0, on the surface too, alone and among others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dipolar import DipoleSurvivalTree, DipoleSVM, LogRankSurvivalTree
from dipolar.datasets import load_dataset
from dipolar.kernels import LinearKernel
from dipolar.node_svm.factors import Surface
from dipolar.tree.splits import AxisCuts
from tests.models import forest_of, paper_svm, paper_tree

DATA = ["remission", "addicts", "cost", "leuksurv", "mgus", "whas500"]
KERNELS = ["linear", "quadratic", "polynomial", "rbf", "laplacian", "sigmoid"]
FOREST_KERNELS = ["linear", "quadratic", "rbf"]
N_PAIRS = 15


def load(name, *, complete):
    X, y = load_dataset(name, return_X_y=True)
    X = X.to_numpy(float)
    known = ~np.isnan(X).any(axis=1) | (not complete)
    return X[known], y[known]


def bisect(sign, left, right):
    """Move two rows towards each other until nothing lies between them; `sign` is False at `left`, True at `right`."""
    for _ in range(200):
        middle = 0.5 * (left + right)
        if (middle == left).all() or (middle == right).all():
            break
        left, right = (left, middle) if sign(middle[None, :])[0] else (middle, right)
    return [left, right]


def rows_at_surfaces(tree, X):
    """Rows on every surface of a tree and at the edges of what counts as on it, between rows that reach the node."""
    path = tree.decision_path(X).toarray()
    nodes = map(int, np.flatnonzero(tree.tree_.is_split))
    return np.concatenate([rows_at_surface(tree.tree_.splits, node, X[path[:, node]]) for node in nodes])


def rows_at_surface(splits, node, here):
    surface = splits.surface(node)
    columns = splits.columns(node) if hasattr(splits, "columns") else slice(None)
    goes_left, rows = splits.goes_left(here, node), []
    for pair in zip(here[goes_left][:N_PAIRS], here[~goes_left][:N_PAIRS]):
        rows += bisect(lambda x: splits.score(x, node) >= 0, *pair)
        rows += bisect(lambda x: surface.sums(((x - splits.mean) / splits.scale)[:, columns]) >= 0, *pair)
    return np.array(rows)


def rows_at_thresholds(tree, X):
    cuts, rows = tree.tree_.splits, []
    for node in np.flatnonzero(tree.tree_.is_split):
        feature, at = cuts.feature[node], cuts.threshold[node]
        if np.isinf(at):
            continue
        for value in (np.nextafter(at, -np.inf), at, np.nextafter(at, np.inf), np.nan):
            told = X[:N_PAIRS].copy()
            told[:, feature] = value
            rows.append(told)
    return np.concatenate(rows)


def assert_signs_are_sides(tree, X):
    record, path = tree.tree_, tree.decision_path(X).toarray()
    scores = tree.split_scores(X)
    assert not np.isnan(scores).any()
    assert record.is_split.any()
    for column, node in enumerate(map(int, np.flatnonzero(record.is_split))):
        here = path[:, node]
        went_left = path[here, record.left[node]]
        np.testing.assert_array_equal(scores[here, column] < 0, went_left)
        np.testing.assert_array_equal(tree.split_scores(X, node=node), scores[:, column])


@pytest.mark.parametrize("name", DATA)
def test_signs_are_sides_of_cuts(name):
    X, y = load(name, complete=False)
    tree = LogRankSurvivalTree(min_samples_leaf=5, max_depth=4).fit(X, y)
    for rows in (X, rows_at_thresholds(tree, X)):
        assert_signs_are_sides(tree, rows)


def test_a_value_at_the_threshold_goes_left_and_its_score_says_so():
    x = np.array([1.0, 2.0, 3.0, 4.0]).repeat(10)
    tree = LogRankSurvivalTree(max_depth=1).fit(x[:, None], x)
    (at,) = tree.tree_.splits.threshold[tree.tree_.is_split]
    score = tree.split_scores([[at - 1], [at], [np.nextafter(at, 9)], [at + 1]], node=0)
    assert (score < 0).tolist() == [True, True, False, False]
    assert score[0] == -1 and score[3] == 1 and abs(score[1]) < 1e-300


@pytest.mark.parametrize("missing_left", [False, True])
@pytest.mark.parametrize("threshold", [2.0, np.inf])
def test_missing_values_have_a_score_on_their_side(missing_left, threshold):
    cuts = AxisCuts.collect([(0, threshold, missing_left, True), None, None])
    X = np.array([[np.nan], [1.0]])
    np.testing.assert_array_equal(cuts.score(X, 0) < 0, [missing_left, True])
    np.testing.assert_array_equal(cuts.route(X, np.array([1, -1, -1], np.int32)), [1 if missing_left else 2, 1])


@pytest.mark.parametrize("cut", ["svm", "logrank"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", DATA)
def test_signs_are_sides_of_surfaces(name, kernel, cut):
    X, y = load(name, complete=True)
    tree = paper_tree(
        kernel=kernel, kappa=0.1, standardize=True, cut=cut, max_depth=2, max_rank=30, random_state=0
    ).fit(X, y)
    assert_signs_are_sides(tree, X)
    rows = rows_at_surfaces(tree, X)
    assert_signs_are_sides(tree, rows)


@pytest.mark.parametrize("cut", ["svm", "logrank"])
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["addicts", "whas500"])
def test_signs_are_sides_of_surfaces_that_children_inherit(name, kernel, cut):
    X, y = load(name, complete=True)
    svm = DipoleSVM(kernel, kappa=10.0, cut=cut, max_rank=30)
    tree = DipoleSurvivalTree(svm, max_depth=3, min_samples_leaf=5).fit(X, y)
    assert tree.depth_ > 1
    assert_signs_are_sides(tree, X)
    rows = rows_at_surfaces(tree, X)
    assert_signs_are_sides(tree, rows)


@pytest.mark.parametrize("kernel", FOREST_KERNELS)
@pytest.mark.parametrize("name", DATA)
def test_signs_are_sides_in_forests(name, kernel):
    X, y = load(name, complete=True)
    for cut in ("svm", "logrank"):
        limits = {"min_samples_split": 10, "min_samples_leaf": 5, "min_logrank": 0.0, "max_depth": 3}
        forest = forest_of(3, kernel=kernel, cut=cut, random_state=0, **limits).fit(X, y)
        for number in range(3):
            tree = forest.tree(number)
            assert_signs_are_sides(tree, X)
            rows = rows_at_surfaces(tree, X)
            assert_signs_are_sides(tree, rows)
            np.testing.assert_array_equal(tree.apply(rows), forest.apply(rows)[:, number])


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", DATA)
def test_a_tree_of_one_split_has_the_scores_of_the_machine(name, kernel):
    X, y = load(name, complete=True)
    options = {"kernel": kernel, "kappa": 0.1, "standardize": True, "max_rank": 30, "margin": 1.0}
    svm, tree = paper_svm(**options).fit(X, y), paper_tree(max_depth=1, **options).fit(X, y)
    ours, theirs = svm.decision_function(X), tree.split_scores(X, node=0)
    # A tree adds its products one by one; the machine multiplies matrices.
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-10 * np.abs(ours).max())
    np.testing.assert_array_equal(ours < 0, theirs < 0)
    np.testing.assert_array_equal(svm.predict(X) == 0, tree.apply(X) == 1)


@given(arrays(float, 5, elements=st.floats(-2, 2)), st.floats(-0.5, 0.5))
def test_the_boundary_is_the_rule_for_rows_on_the_surface(x, boundary):
    surface = Surface(LinearKernel(), np.empty((0, 1)), np.ones(1), 0.0, boundary)
    X = np.append(x, [boundary, -boundary, 0.0])[:, None]
    score = surface.score(X)
    np.testing.assert_array_equal(score < 0, X[:, 0] < boundary)
    off_surface = np.abs(X[:, 0]) > abs(boundary)
    np.testing.assert_array_equal(score[off_surface], X[off_surface, 0])
