"""Trees of forests, grown level by level: against the trees that are grown node by node, and against the definition."""

import numpy as np
import pytest
from dipolar.forest.surface_finder import SurfaceRecipe
from dipolar.tree.logrank_splitter import LogRankSplitter
from hypothesis import given, settings
from hypothesis import strategies as st

from dipolar._core.logrank import FAMILIES
from dipolar._core.surfaces import GAUSSIAN, LINEAR, QUADRATIC, surface_score
from dipolar.forest.drawing import draw_orders
from dipolar.node_svm.dipoles import DipoleRule, Dipoles
from dipolar.node_svm.problem import NodeProblem
from dipolar.node_svm.solvers import solve
from dipolar.survival import Survival
from dipolar.tree.axis_finder import AxisRecipe
from dipolar.tree.growing import grow_by_levels, grow_tree
from dipolar.tree.limits import GrowthLimits, split_logrank
from tests.test_logrank import samples

pytestmark = pytest.mark.compiled

LIMITS = GrowthLimits(min_samples_split=2, min_samples_leaf=1)


def by_time(X, survival, weight):
    """The order in which forests keep rows: by time, events first among equal times."""
    order = np.lexsort((~survival.event, survival.time))
    return X[order], survival.take(order), weight[order]


def grow(recipe, X, survival, weight, limits=LIMITS, seed=0):
    rng = np.random.default_rng(seed)
    finder = recipe.finder(survival, weight, limits, rng, *recipe.prepare(X, np.maximum(weight, 1e-300)))
    return grow_by_levels(finder, survival, weight, limits)


def recipe_of(**changes):
    settings = {
        "kernels": (LINEAR,), "kappa": 100.0, "quantiles": (0.25, 0.75), "prices": (1.0, 1.0), "max_features": 2,
        "by_logrank": True, "max_reorientations": 2, "solver_tol": 1e-2, "max_rows": 1000, "max_rank": 6,
    }  # fmt: skip
    return SurfaceRecipe(**settings | changes)


def sketch(tree, node=0):
    """A tree as nested tuples, whatever the numbers of its nodes."""
    size = round(tree.n_samples[node], 9), round(tree.n_events[node], 9)
    if tree.left[node] < 0:
        table = tree.tables[int(np.searchsorted(tree.leaves, node))]
        return size, tuple(table.time), tuple(np.round(table.at_risk, 9)), tuple(np.round(table.events, 9))
    cut = tree.splits
    split = cut.feature[node], cut.threshold[node], cut.missing_left[node], cut.missing_seen[node]
    children = sketch(tree, tree.left[node]), sketch(tree, tree.left[node] + 1)
    return size, split, tree.depth[node], round(tree.gain[node], 7), round(tree.logrank[node], 7), *children


@pytest.mark.parametrize("criterion", list(FAMILIES))
@settings(max_examples=15)
@given(samples(with_missing=True), st.integers(1, 3), st.sampled_from([None, 2, 3]))
def test_levels_give_the_same_tree_as_nodes(criterion, sample, min_leaf, max_leaves):
    X, survival, weight = by_time(*sample)
    limits = GrowthLimits(min_samples_leaf=min_leaf, min_samples_split=2, max_leaf_nodes=max_leaves or np.inf)
    if not survival.event.any():
        return
    slow = grow_tree(X, survival, weight, LogRankSplitter(criterion), limits, np.random.default_rng(0))
    fast = grow(AxisRecipe(FAMILIES[criterion], (1.0, 0.0), X.shape[1]), X, survival, weight, limits)
    assert sketch(fast) == sketch(slow)
    fast.check(X.shape[1])


@settings(max_examples=20)
@given(samples())
def test_rows_that_are_not_sampled_do_not_matter(sample):
    X, survival, weight = by_time(*sample)
    weight = np.where(np.arange(len(weight)) % 3 == 1, 0.0, weight)
    seen = weight > 0
    if not survival.event[seen].any():
        return
    recipe = AxisRecipe(0, (1.0, 0.0), X.shape[1])
    assert sketch(grow(recipe, X, survival, weight)) == sketch(grow(recipe, X[seen], survival.take(seen), weight[seen]))


def test_constant_covariates_are_not_counted_among_those_drawn():
    rng = np.random.default_rng(0)
    X = np.zeros((60, 20))
    X[:, 13] = rng.normal(size=60)
    survival = Survival(np.sort(rng.exponential(size=60)), np.ones(60, bool))
    for seed in range(5):
        axis = grow(AxisRecipe(0, (1.0, 0.0), 1), X, survival, np.ones(60), GrowthLimits(max_depth=1), seed)
        assert axis.splits.feature[0] == 13
        oblique = grow(recipe_of(), X, survival, np.ones(60), GrowthLimits(max_depth=1), seed)
        assert list(oblique.splits.column) == [13]


def planar(n=80, p=4, seed=0, censored=0.3):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, p)), 2)
    time = np.round(rng.exponential(np.exp(-X[:, 0] - X[:, 1])), 2)
    return by_time(X, Survival(time, rng.random(n) > censored), rng.integers(1, 3, n).astype(float))


@pytest.mark.parametrize("by_logrank", [True, False])
@pytest.mark.parametrize("kernels", [(LINEAR,), (QUADRATIC,), (GAUSSIAN,), (LINEAR, QUADRATIC, GAUSSIAN)])
def test_surfaces_do_what_they_say(kernels, by_logrank):
    """Sizes, statistics and leaves follow from the surfaces as they are stored."""
    X, survival, weight = planar()
    limits = GrowthLimits(min_samples_leaf=4, min_events_leaf=2, min_samples_split=8)
    tree = grow(recipe_of(kernels=kernels, by_logrank=by_logrank, max_features=3), X, survival, weight, limits)
    tree.check(X.shape[1])
    assert tree.n_leaves > 2
    assert set(tree.splits.kernel) <= set(kernels)
    assert (tree.n_samples[tree.leaves] >= 4).all() and (tree.n_events[tree.leaves] >= 2).all()
    pending = [(0, np.arange(len(X)))]
    while pending:
        node, rows = pending.pop()
        assert tree.n_samples[node] == pytest.approx(weight[rows].sum())
        assert tree.n_events[node] == pytest.approx(weight[rows] @ survival.event[rows])
        if tree.left[node] < 0:
            continue
        left = tree.splits.goes_left(X[rows], node)
        assert tree.logrank[node] == pytest.approx(split_logrank(survival.take(rows), weight[rows], left))
        pending += [(tree.left[node], rows[left]), (tree.left[node] + 1, rows[~left])]
    np.testing.assert_array_equal(tree.apply(X), _walk(tree, X))


def _walk(tree, X):
    """The leaf of every row, one row and one score at a time."""
    leaves = []
    for x in X:
        node = 0
        while tree.left[node] >= 0:
            node = tree.left[node] + (not tree.splits.score(x[None, :], node)[0] < 0)
        leaves.append(node)
    return np.array(leaves)


@pytest.mark.parametrize("kernel", [LINEAR, QUADRATIC, GAUSSIAN])
def test_compiled_scores_are_those_of_the_kernels(kernel):
    X, survival, weight = planar()
    tree = grow(recipe_of(kernels=(kernel,), max_features=3), X, survival, weight, GrowthLimits(max_depth=1))
    splits = tree.splits
    compiled = [
        surface_score(kernel, z, splits.column, splits.coefficient, splits.basis, splits.intercept[0])
        for z in splits.prepare(X)
    ]
    np.testing.assert_array_equal(compiled, splits.score(X, 0))
    np.testing.assert_allclose(compiled, splits.surface(0).score(splits.prepare(X)[:, splits.columns(0)]), atol=1e-9)


@pytest.mark.parametrize("kernel", [LINEAR, QUADRATIC])
@pytest.mark.parametrize("kappa", [5.0, 50.0])
def test_the_surface_solves_the_node_problem(kernel, kappa):
    """Without re-orientation: the optimum for the dipoles as the steepest ascent of the likelihood orients them."""
    X, survival, weight = planar()
    recipe = recipe_of(kernels=(kernel,), kappa=kappa, max_features=X.shape[1], max_reorientations=0, by_logrank=False)
    tree = grow(recipe, X, survival, weight, GrowthLimits(max_depth=1))
    Z = recipe.prepare(X, weight)[0]
    features = tree.splits.surface(0).kernel.features(Z)
    features = features - features.mean(axis=0)

    at_risk = np.cumsum(weight[::-1])[::-1]
    hazard = np.cumsum(np.where(survival.event, weight / at_risk, 0.0))
    start = features @ (features.T @ (weight * (survival.event - hazard)))
    upward, downward = Dipoles(survival, weight, DipoleRule()).orient(start)
    total = upward.sum() + downward.sum()
    wanted = solve(NodeProblem(features, upward, downward, kappa / total, 1.0), tol=1e-8)
    np.testing.assert_allclose(tree.splits.coefficient, wanted.weights, atol=2e-3 * np.abs(wanted.weights).max())
    np.testing.assert_allclose(tree.splits.score(X, 0), wanted.scores, atol=5e-3 * np.abs(wanted.scores).max())


def test_reorientation_lowers_the_criterion_and_few_rows_suffice():
    X, survival, weight = planar(n=300, censored=0.1)
    limits = GrowthLimits(max_depth=1)
    all_rows = grow(recipe_of(max_features=4), X, survival, weight, limits)
    some_rows = grow(recipe_of(max_features=4, max_rows=80), X, survival, weight, limits)

    def direction(tree):
        full = np.zeros(4)
        full[tree.splits.column] = tree.splits.coefficient
        return full / np.linalg.norm(full)

    assert abs(direction(all_rows) @ direction(some_rows)) > 0.9
    truth = np.array([1.0, 1.0, 0.0, 0.0]) / np.sqrt(2.0)
    assert abs(direction(all_rows) @ truth) > 0.9


def test_orders_of_covariates_are_fair():
    orders = draw_orders(3000, 4, 2, np.random.default_rng(0))
    assert (np.sort(orders, axis=1) == np.arange(4)).all()
    np.testing.assert_allclose(np.bincount(orders[:, 0]) / 3000, 0.25, atol=0.03)
    np.testing.assert_array_equal(draw_orders(3, 4, 4, np.random.default_rng(0)), np.tile(np.arange(4), (3, 1)))
