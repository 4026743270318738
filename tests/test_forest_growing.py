"""Trees of forests: single trees on samples and drawn covariates, which do what their surfaces say."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipolar import DipoleSurvivalForest, DipoleSurvivalTree, DipoleSVM, LogRankSurvivalForest, LogRankSurvivalTree
from dipolar._core.logrank import FAMILIES
from dipolar.kernels import GaussianKernel, LinearKernel, PolynomialKernel
from dipolar.node_svm.problem import NodeProblem
from dipolar.node_svm.solvers import solve
from dipolar.survival import Survival, survival_outcome
from dipolar.tree.drawing import draw_orders
from dipolar.tree.splits import Splits
from dipolar.tree.surface_finder import SurfaceSplitter
from tests.dipoles import Dipoles, Rule
from tests.growing import axis_splitter, grow, split_logrank
from tests.reference import logrank as reference
from tests.test_logrank import samples

pytestmark = pytest.mark.compiled

# A forest of one tree that sees every row and tries every covariate.
WHOLE = {"n_estimators": 1, "bootstrap": False, "max_samples": 1.0, "max_features": None}
SVMS = {
    "linear": DipoleSVM(),
    "quadratic": DipoleSVM("quadratic", kappa=10.0, cut="logrank"),
    "rbf": DipoleSVM("rbf", kappa=10.0),
    "median": DipoleSVM("linear", init="median", standardize=False),
    "scripts": DipoleSVM("linear", cutoff_rule="scripts", init="quartile"),
}


def outcome_of(survival):
    return survival_outcome(survival.time, survival.event)


@pytest.mark.parametrize("criterion", list(FAMILIES))
@settings(max_examples=8)
@given(samples(with_missing=True), st.integers(1, 3), st.sampled_from([None, 2, 3]))
def test_a_whole_tree_of_a_forest_is_the_single_tree_of_cuts(criterion, sample, min_leaf, max_leaves):
    X, survival, weight = sample
    if not survival.event.any() or np.isnan(X).all(axis=0).any():
        return
    limits = {"min_samples_leaf": min_leaf, "min_samples_split": 2, "max_leaf_nodes": max_leaves, "min_logrank": 0.0}
    tree = LogRankSurvivalTree(criterion=criterion, max_depth=None, **limits).fit(X, outcome_of(survival), weight)
    forest = LogRankSurvivalForest(criterion=criterion, **WHOLE, **limits).fit(X, outcome_of(survival), weight)
    assert forest.forest_.trees[0] == tree.tree_
    np.testing.assert_allclose(forest.predict(X), tree.predict(X))


@pytest.mark.parametrize("max_leaves", [None, 4])
@pytest.mark.parametrize("name", list(SVMS))
def test_a_whole_tree_of_a_forest_is_the_single_tree_of_surfaces(name, max_leaves):
    X, survival, weight = planar(n=120)
    limits = {"min_samples_leaf": 8, "min_samples_split": 20, "max_leaf_nodes": max_leaves, "min_logrank": 0.0}
    limits["max_depth"] = 4
    tree = DipoleSurvivalTree(SVMS[name], inherit=0.0, **limits).fit(X, outcome_of(survival), weight)
    forest = DipoleSurvivalForest(SVMS[name], max_node_samples=None, **WHOLE, **limits)
    forest.fit(X, outcome_of(survival), weight)
    assert tree.n_leaves_ > 2
    assert forest.forest_.trees[0] == tree.tree_ == forest.tree(0).tree_
    np.testing.assert_allclose(forest.predict(X), tree.predict(X))
    np.testing.assert_allclose(forest.feature_importances_, tree.feature_importances_)


@settings(max_examples=20)
@given(samples(), st.sampled_from(sorted(FAMILIES)))
def test_rows_that_are_not_sampled_do_not_matter(sample, criterion):
    X, survival, weight = sample
    weight = np.where(np.arange(len(weight)) % 3 == 1, 0.0, weight)
    seen = weight > 0
    if not survival.event[seen].any():
        return
    splitter = axis_splitter(X.shape[1], criterion)
    whole = grow(X, survival, weight, splitter, min_samples_split=2)
    assert whole == grow(X[seen], survival.take(seen), weight[seen], splitter, min_samples_split=2)


@settings(max_examples=30)
@given(samples())
def test_exponential_gains_are_those_of_exposures_in_the_sample(sample):
    """Its exposures come from the hazard of all rows of the sample, in every node."""
    X, survival, weight = sample
    weight = np.where(np.arange(len(weight)) % 3 == 1, 0.0, weight)
    seen = weight > 0
    if not survival.event[seen].any():
        return
    X, survival, weight = X[seen], survival.take(seen), weight[seen]
    exposure = reference.baseline_hazard(survival.time, survival.event, weight)
    tree = grow(X, survival, weight, axis_splitter(X.shape[1], "exponential"), min_samples_split=2)
    for node, rows in rows_of_nodes(tree, X):
        here, left = np.isin(np.arange(len(X)), rows), tree.splits.goes_left(X[rows], node)
        ratio = reference.exponential_ratio(survival.event[here], exposure[here], weight[here], left)
        assert tree.gain[node] == pytest.approx(ratio, rel=1e-9, abs=1e-12)


def rows_of_nodes(tree, X):
    """The numbers of the rows in every node that is split."""
    pending = [(0, np.arange(len(X)))]
    while pending:
        node, rows = pending.pop()
        if tree.left[node] >= 0:
            yield node, rows
            left = tree.splits.goes_left(X[rows], node)
            pending += [(tree.left[node], rows[left]), (tree.left[node] + 1, rows[~left])]


def surface_splitter(n_features, *svms, max_features=None, max_rows=np.inf):
    return SurfaceSplitter(svms, max_features or n_features, max_rows)


def forest_svm(kernel="linear", kappa=100.0, **settings):
    return DipoleSVM(kernel, kappa, **{"pure_weight": 1.0, "cut": "logrank", "solver_tol": 1e-2} | settings)


def test_constant_covariates_are_not_counted_among_those_drawn():
    rng = np.random.default_rng(0)
    X = np.zeros((60, 20))
    X[:, 13] = rng.normal(size=60)
    survival = Survival(np.sort(rng.exponential(size=60)), np.ones(60, bool))
    for seed in range(5):
        axis = grow(X, survival, splitter=axis_splitter(20, max_features=1), seed=seed, max_depth=1)
        assert axis.splits.feature[0] == 13
        oblique = grow(X, survival, None, surface_splitter(20, forest_svm(), max_features=2), seed, max_depth=1)
        assert list(oblique.splits.column) == [13]


def planar(n=80, p=4, seed=0, censored=0.3):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, p)), 2)
    time = np.round(rng.exponential(np.exp(-X[:, 0] - X[:, 1])), 2)
    return X, Survival(time, rng.random(n) > censored), rng.integers(1, 3, n).astype(float)


@pytest.mark.parametrize("cut", ["logrank", "svm"])
@pytest.mark.parametrize(
    "kernels", [("linear",), ("quadratic",), ("rbf",), ("linear", "quadratic", "rbf")], ids="-".join
)
def test_surfaces_do_what_they_say(kernels, cut):
    """Sizes, statistics and leaves follow from the surfaces as they are stored."""
    X, survival, weight = planar()
    splitter = surface_splitter(4, *(forest_svm(kernel, cut=cut) for kernel in kernels), max_features=3)
    limits = {"min_samples_leaf": 4, "min_events_leaf": 2, "min_samples_split": 8}
    tree = grow(X, survival, weight, splitter, **limits)
    tree.check(X.shape[1])
    assert tree.n_leaves > 2
    assert len(tree.splits.kernels) == len(kernels)
    assert (tree.n_samples[tree.leaves] >= 4).all() and (tree.n_events[tree.leaves] >= 2).all()
    n_seen = 0
    for node, rows in rows_of_nodes(tree, X):
        left = tree.splits.goes_left(X[rows], node)
        assert len(tree.splits.columns(node)) == 3
        assert tree.n_samples[node] == pytest.approx(weight[rows].sum())
        assert tree.n_events[node] == pytest.approx(weight[rows] @ survival.event[rows])
        assert tree.n_samples[tree.left[node]] == pytest.approx(weight[rows][left].sum())
        assert tree.logrank[node] == pytest.approx(split_logrank(survival.take(rows), weight[rows], left))
        n_seen += 1
    assert n_seen == tree.is_split.sum()
    np.testing.assert_array_equal(tree.apply(X), _walk(tree, X))
    np.testing.assert_array_equal(tree.apply(X), Splits.route(tree.splits, X, tree.left))


def _walk(tree, X):
    """The leaf of every row, one row and one score at a time."""
    leaves = []
    for x in X:
        node = 0
        while tree.left[node] >= 0:
            node = tree.left[node] + (not tree.splits.score(x[None, :], node)[0] < 0)
        leaves.append(node)
    return np.array(leaves)


@pytest.mark.parametrize("kernel", [LinearKernel(), PolynomialKernel(2, 1.0), GaussianKernel(2.0)], ids=repr)
def test_scores_of_drawn_covariates_are_those_of_the_kernel_on_them(kernel):
    """A Gaussian kernel on some of the covariates is as much narrower as they are fewer."""
    X, survival, weight = planar()
    tree = grow(X, survival, weight, surface_splitter(4, forest_svm(kernel), max_features=2), max_depth=1)
    splits, surface = tree.splits, tree.splits.surface(0)
    assert len(splits.columns(0)) == 2
    if isinstance(kernel, GaussianKernel):
        assert surface.kernel == GaussianKernel(1.0)
    else:
        assert surface.kernel == kernel
    Z = splits.prepare(X)[:, splits.columns(0)]
    by_hand = surface.score(Z)
    np.testing.assert_allclose(splits.score(X, 0), by_hand, atol=1e-9)
    np.testing.assert_array_equal(tree.apply(X) == tree.left[0], by_hand < 0)


@pytest.mark.parametrize("kernel", ["linear", "quadratic"])
@pytest.mark.parametrize("kappa", [20.0, 80.0])
def test_the_surface_solves_the_node_problem(kernel, kappa):
    """Without re-orientation: the optimum for the dipoles as one Newton step of the likelihood orients them."""
    X, survival, weight = planar()
    svm = forest_svm(kernel, kappa, max_reorientations=0, cut="svm")
    tree = grow(X, survival, weight, surface_splitter(4, svm), max_depth=1)
    order = np.lexsort((~survival.event, survival.time))
    X, survival, weight = X[order], survival.take(order), weight[order]
    features = tree.splits.surface(0).kernel.features(tree.splits.prepare(X))
    features = features - features.mean(axis=0)

    at_risk = np.array([weight[survival.time >= time].sum() for time in survival.time])
    deaths = np.where(survival.event, weight / at_risk, 0.0)
    hazard = np.array([deaths[survival.time <= time].sum() for time in survival.time])
    centred = features - np.average(features, axis=0, weights=weight)
    covariance = (centred * weight[:, None]).T @ centred / weight.sum()
    ridge = 0.1 * np.trace(covariance) / len(covariance) * np.eye(len(covariance))
    gradient = features.T @ (weight * (hazard - survival.event))
    start = features @ np.linalg.solve(covariance + ridge, gradient)
    upward, downward = Dipoles(survival, weight, Rule()).orient(start)
    total = upward.sum() + downward.sum()
    spread = np.average((features - np.average(features, axis=0, weights=weight)) ** 2, axis=0, weights=weight).sum()
    wanted = solve(NodeProblem(features, upward, downward, kappa / total / spread, 1.0), tol=1e-8)
    found = tree.splits.surface(0)
    np.testing.assert_allclose(found.coefficients, wanted.weights, atol=2e-3 * np.abs(wanted.weights).max())
    np.testing.assert_allclose(tree.splits.score(X, 0), wanted.scores, atol=5e-3 * np.abs(wanted.scores).max())


def test_few_rows_suffice_for_a_direction():
    X, survival, weight = planar(n=300, censored=0.1)
    truth = np.array([1.0, 1.0, 0.0, 0.0]) / np.sqrt(2.0)

    def direction(**rows):
        tree = grow(X, survival, weight, surface_splitter(4, forest_svm(max_reorientations=2), **rows), max_depth=1)
        full = np.zeros(4)
        full[tree.splits.column] = tree.splits.coefficient
        return full / np.linalg.norm(full)

    all_rows, some_rows = direction(), direction(max_rows=80)
    assert (all_rows != some_rows).any()
    assert abs(all_rows @ some_rows) > 0.9
    assert abs(all_rows @ truth) > 0.9


def test_orders_of_covariates_are_fair():
    orders = draw_orders(3000, 4, 2, np.random.default_rng(0))
    assert (np.sort(orders, axis=1) == np.arange(4)).all()
    np.testing.assert_allclose(np.bincount(orders[:, 0]) / 3000, 0.25, atol=0.03)
    np.testing.assert_array_equal(draw_orders(3, 4, 4, np.random.default_rng(0)), np.tile(np.arange(4), (3, 1)))
