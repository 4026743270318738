"""Surfaces as splits: hyperplanes and kernel expansions, grown, pruned, routed and turned into arrays."""

import numpy as np
import pytest

from dipolar import DipoleSVM
from dipolar.kernels import GaussianKernel, LinearKernel
from dipolar.node_svm.factors import Surface
from dipolar.survival import check_outcome
from dipolar.tree.pruning import pruning_path
from dipolar.tree.record import Tree
from dipolar.tree.splits import Splits
from dipolar.tree.surface_finder import SurfaceSplitter
from dipolar.tree.surfaces import Surfaces, surface_shares
from tests.growing import grow
from tests.test_growing import sample

MACHINES = {
    "linear": ("linear",),
    "quadratic": ("quadratic",),
    "rbf": ("rbf",),
    "laplacian": ("laplacian",),
    "mixed": ("linear", "quadratic", "rbf"),
}


@pytest.fixture(params=[False, True], ids=["raw", "standardised"])
def standardize(request):
    return request.param


@pytest.fixture(params=[1, 2, 3], ids=lambda m: f"{m} columns")
def max_features(request):
    return request.param


@pytest.fixture(params=["svm", "logrank"])
def cut(request):
    return request.param


@pytest.fixture(params=list(MACHINES))
def grown(request, standardize, max_features, cut):
    X, survival = sample(200)
    X = X * [1.0, 20.0, 0.1] + 3
    svms = tuple(DipoleSVM(kernel, standardize=standardize, cut=cut) for kernel in MACHINES[request.param])
    inherit = 5.0 if max_features == 3 and len(svms) == 1 else 0.0
    splitter = SurfaceSplitter(svms, max_features, inherit=inherit)
    return grow(X, survival, splitter=splitter, min_samples_leaf=10), X


def test_rows_find_the_leaves_that_they_grew(grown):
    tree, X = grown
    tree.check(X.shape[1])
    leaf, counts = np.unique(tree.apply(X), return_counts=True)
    np.testing.assert_array_equal(leaf, tree.leaves)
    np.testing.assert_array_equal(counts, tree.n_samples[leaf])


def test_pruned_surfaces_are_the_same_surfaces(grown):
    tree, X = grown
    path = pruning_path(tree)
    keep = path.splits_of(len(path) // 2)
    pruned = tree.restrict(keep)
    pruned.check(X.shape[1])
    for new, old in zip(np.flatnonzero(pruned.is_split), np.flatnonzero(keep)):
        np.testing.assert_allclose(pruned.splits.score(X, new), tree.splits.score(X, old), rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(pruned.splits.feature_shares(new, 3), tree.splits.feature_shares(old, 3))
        assert pruned.splits.rule(new, ["a", "b", "c"]) == tree.splits.rule(old, ["a", "b", "c"])
    assert len(pruned.splits.basis) <= len(tree.splits.basis)
    assert tree.restrict(np.zeros(tree.n_nodes, bool)).n_leaves == 1


def test_arrays_and_back(grown):
    tree, X = grown
    again = Tree.from_arrays(tree.to_arrays(), tree.splits.kind, tree.splits.settings())
    assert again == tree
    again.check(X.shape[1])
    np.testing.assert_array_equal(again.apply(X), tree.apply(X))


def one_split(kernel, coefficients, rows, intercept=0.0, boundary=-1e-9, mean=None, scale=None):
    """The record of a tree of one split, on all columns of `rows`."""
    n_columns = rows.shape[1]
    return Surfaces.collect(
        np.array([True, False, False]), [kernel], np.zeros(1, np.int64), [np.arange(n_columns)],
        [np.full(n_columns, 1 / n_columns)], [np.asarray(coefficients, float)], [np.arange(len(rows))], rows,
        np.array([intercept]), np.array([boundary]),
        np.zeros(n_columns) if mean is None else np.asarray(mean, float),
        np.ones(n_columns) if scale is None else np.asarray(scale, float),
    )  # fmt: skip


def test_compiled_scores_are_those_of_the_kernels(grown):
    """The route, the score of a node and the surface that a user may look at say the same."""
    tree, X = grown
    splits = tree.splits
    by_nodes = Splits.route(splits, X, tree.left)
    np.testing.assert_array_equal(tree.apply(X), by_nodes)
    for node in np.flatnonzero(tree.is_split):
        surface = splits.surface(node)
        expected = surface.score(splits.prepare(X)[:, splits.columns(node)])
        np.testing.assert_allclose(splits.score(X, node), expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def test_terms_add_up_to_the_score(grown):
    tree, X = grown
    for node in np.flatnonzero(tree.is_split):
        terms = tree.splits.terms(node)
        if terms is None:
            assert len(tree.splits.surface(node).rows)
            continue
        total = sum(weight * np.prod(X[:, list(columns)], axis=1) for columns, weight in terms.items())
        score = tree.splits.surface(node).sums(tree.splits.prepare(X)[:, tree.splits.columns(node)])
        np.testing.assert_allclose(total, score, atol=1e-6 * np.abs(score).max())


def test_each_basis_row_is_kept_once():
    rows = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    kernel = GaussianKernel(1.0)
    twice = [np.arange(2)] * 2
    splits = Surfaces.collect(
        np.array([True, True, False, False, False]), [kernel], np.zeros(2, np.int64), twice, [np.full(2, 0.5)] * 2,
        [np.array([1.0, -1.0])] * 2, twice, rows, np.zeros(2), np.full(2, -1e-9), np.zeros(2), np.ones(2),
    )  # fmt: skip
    np.testing.assert_array_equal(splits.basis, rows[:2])
    np.testing.assert_array_equal(splits.score(rows, 0), splits.score(rows, 1))


def test_the_boundary_decides_about_rows_on_the_surface():
    X = np.array([[1.0], [1.0 - 1e-12], [1.0 - 1e-6], [2.0]])
    none = np.empty((0, 1))
    right = one_split(LinearKernel(), [1.0], none, -1.0, boundary=-1e-9)
    np.testing.assert_array_equal(right.goes_left(X, 0), [False, False, True, False])
    left = one_split(LinearKernel(), [1.0], none, -1.0, boundary=1e-9)
    np.testing.assert_array_equal(left.goes_left(X, 0), [True, True, True, False])


def test_the_rule_of_a_hyperplane_is_in_the_units_of_the_data():
    splits = one_split(LinearKernel(), [2.0, 0.0], np.empty((0, 2)), 1.0, mean=[3.0, 0.0], scale=[4.0, 1.0])
    # 2 (age - 3) / 4 + 1 = 0.5 age - 0.5
    assert splits.rule(0, ["age", "bmi"]) == "age < 1"


def test_shares_of_a_hyperplane_are_its_slopes_times_the_spread():
    X = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 10.0, 5.0]
    surface = Surface(LinearKernel(), X[:0], np.array([1.0, -0.5, 0.0]), 0.3)
    expected = np.abs([1.0, -0.5, 0.0]) * np.abs(X - X.mean(axis=0)).mean(axis=0)
    np.testing.assert_allclose(surface_shares(surface, X), expected / expected.sum())
    flat = Surface(LinearKernel(), X[:0], np.zeros(3), 0.3)
    np.testing.assert_allclose(surface_shares(flat, X), np.full(3, 1 / 3))


@pytest.mark.parametrize("kernel", ["linear", "quadratic"])
def test_compiled_shares_are_those_of_the_definition(kernel):
    X, survival = sample(60)
    splitter = SurfaceSplitter((DipoleSVM(kernel),), 3)
    tree = grow(X, survival, splitter=splitter, max_depth=1)
    Z = tree.splits.prepare(X)
    np.testing.assert_allclose(tree.splits.share, surface_shares(tree.splits.surface(0), Z), rtol=1e-6)


def test_a_kernel_may_have_explicit_features_on_few_columns_only():
    """A cubic has 219 features on nine columns, and too many on ten."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(250, 14))
    survival = check_outcome((rng.exponential(np.exp(X[:, 0])), rng.random(250) < 0.7))
    splitter = SurfaceSplitter((DipoleSVM("polynomial"),), 11)
    tree = grow(X, survival, splitter=splitter, max_depth=1)
    np.testing.assert_array_equal(tree.n_samples[tree.leaves], np.unique(tree.apply(X), return_counts=True)[1])


def test_an_inherited_surface_is_one_rule_and_starts_from_its_parent():
    """With a heavy inheritance a child keeps its parent's direction; without one it finds its own."""
    X, survival = sample(300)

    def directions(inherit):
        splitter = SurfaceSplitter((DipoleSVM(),), 3, inherit=inherit)
        splits = grow(X, survival, splitter=splitter, max_depth=2, min_samples_leaf=20).splits
        lines = splits.coefficient.reshape(-1, 3)
        return lines / np.linalg.norm(lines, axis=1, keepdims=True)

    heavy, free = directions(1e4), directions(0.0)
    assert len(heavy) == len(free) == 3
    assert (heavy[1:] @ heavy[0] > 0.99).all()
    assert (free[1:] @ free[0]).min() < 0.98


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("basis_row", [9, 0]), ("offset", [0, 3]), ("basis_offset", [0, 1]), ("split", [0, 0, -1]), ("share", [1.0]),
        ("column", [0, 0]), ("column", [0, 2]), ("column_offset", [0, 0]), ("kernel", [1]), ("kernel", [-1]),
        ("offset", [0, 2**62]), ("scale", [0.0, 1.0]), ("coefficient", [np.nan, 1.0]),
    ],
)  # fmt: skip
def test_damaged_arrays_are_refused(name, value):
    splits = one_split(GaussianKernel(1.0), [1.0, 2.0], np.eye(2))
    is_split = np.array([True, False, False])
    splits.check(is_split, 2)
    damaged = Surfaces.from_arrays(splits.to_arrays() | {name: np.array(value)}, splits.settings())
    with pytest.raises(ValueError, match=rf"Surfaces\.{name}|the surfaces do not belong|a surface has"):
        damaged.check(is_split, 2)


def test_an_unknown_kernel_is_refused():
    splits = one_split(LinearKernel(), [1.0], np.empty((0, 1)))
    with pytest.raises(ValueError, match=r"unknown kernel 'os.system'"):
        Surfaces.from_arrays(splits.to_arrays(), {"kernels": [{"name": "os.system", "parameters": {}}]})
