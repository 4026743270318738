"""Surfaces as splits: hyperplanes and kernel expansions, grown, pruned, routed and turned into arrays."""

import numpy as np
import pytest

from dipolar.kernels import GaussianKernel, LinearKernel, PolynomialKernel
from dipolar.node_svm.factors import Surface
from dipolar.tree.limits import Split, Splitter, split_logrank
from dipolar.tree.pruning import pruning_path
from dipolar.tree.record import Tree
from dipolar.tree.surfaces import SurfaceCut, Surfaces, surface_shares
from tests.test_growing import grow, sample


class RandomSurfaces(Splitter):
    """Splits at the median score of a random surface; explicit features and basis rows in turns where both work."""

    def __init__(self, kernel, standardize):
        self.kernel, self.standardize = kernel, standardize

    def begin(self, X, survival, weight, limits, rng):
        self.mean, self.scale = (X.mean(axis=0), X.std(axis=0)) if self.standardize else (None, None)
        self.X = (X - self.mean) / self.scale if self.standardize else X
        self.survival, self.weight = survival, weight
        self.explicit = self.kernel.n_features(X.shape[1]) is not None

    def find(self, node, rng):
        X = self.X[node.rows]
        rows = X[:0] if self.explicit and node.depth % 2 else X[rng.choice(len(X), 4, replace=False)]
        values = self.kernel.block(X, rows) if len(rows) else self.kernel.features(X)
        coefficients = rng.normal(size=values.shape[1])
        surface = Surface(self.kernel, rows, coefficients, -float(np.median(values @ coefficients)), -1e-9)
        goes_left = surface.score(X) < 0
        if goes_left.all() or not goes_left.any():
            return None
        logrank = split_logrank(self.survival.take(node.rows), self.weight[node.rows], goes_left)
        return Split(SurfaceCut(surface, surface_shares(surface, X)), goes_left, logrank, logrank)

    def freeze(self, cuts):
        return Surfaces.collect(cuts, self.kernel, self.X.shape[1], self.mean, self.scale)


@pytest.fixture(params=[False, True], ids=["raw", "standardised"])
def standardize(request):
    return request.param


@pytest.fixture(params=[LinearKernel(), PolynomialKernel(2, 1.0), GaussianKernel(2.0)], ids=lambda k: type(k).__name__)
def grown(request, standardize):
    X, survival = sample(200)
    X = X * [1.0, 20.0, 0.1] + 3
    return grow(X, survival, splitter=RandomSurfaces(request.param, standardize), min_samples_leaf=10), X


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
        np.testing.assert_allclose(pruned.splits.score(X, new), tree.splits.score(X, old), rtol=1e-12)
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


def cut_of(coefficients, rows, intercept=0.0, kernel=None):
    surface = Surface(kernel or LinearKernel(), rows, np.asarray(coefficients, float), intercept, -1e-9)
    return SurfaceCut(surface, np.full(rows.shape[1], 1 / rows.shape[1]))


def test_each_basis_row_is_kept_once():
    basis = np.array([[1.0, 2.0], [3.0, 4.0]])
    kernel = GaussianKernel(1.0)
    cut = cut_of([1.0, -1.0], basis, kernel=kernel)
    splits = Surfaces.collect([cut, cut, None, None, None], kernel, 2)
    assert splits.basis.shape == (2, 2)
    np.testing.assert_array_equal(splits.score(basis, 0), splits.score(basis, 1))


def test_the_boundary_decides_about_rows_on_the_surface():
    splits = Surfaces.collect([cut_of([1.0], np.empty((0, 1)), -1.0), None, None], LinearKernel(), 1)
    X = np.array([[1.0], [1.0 - 1e-12], [1.0 - 1e-6], [2.0]])
    np.testing.assert_array_equal(splits.goes_left(X, 0), [False, False, True, False])


def test_the_rule_of_a_hyperplane_is_in_the_units_of_the_data():
    cut = cut_of([2.0, 0.0], np.empty((0, 2)), 1.0)
    splits = Surfaces.collect([cut, None, None], LinearKernel(), 2, mean=[3.0, 0.0], scale=[4.0, 1.0])
    # 2 (age - 3) / 4 + 1 = 0.5 age - 0.5
    assert splits.rule(0, ["age", "bmi"]) == "age < 1"


def test_shares_of_a_hyperplane_are_its_slopes_times_the_spread():
    X = np.random.default_rng(0).normal(size=(60, 3)) * [1.0, 10.0, 5.0]
    surface = Surface(LinearKernel(), X[:0], np.array([1.0, -0.5, 0.0]), 0.3)
    expected = np.abs([1.0, -0.5, 0.0]) * np.abs(X - X.mean(axis=0)).mean(axis=0)
    np.testing.assert_allclose(surface_shares(surface, X), expected / expected.sum())
    flat = Surface(LinearKernel(), X[:0], np.zeros(3), 0.3)
    np.testing.assert_allclose(surface_shares(flat, X), np.full(3, 1 / 3))


@pytest.mark.parametrize(
    ("name", "value"),
    [("basis_row", [9, 0]), ("offset", [0, 3]), ("basis_offset", [0, 1]), ("split", [0, 0, -1]), ("shares", [[1.0]])],
)
def test_damaged_arrays_are_refused(name, value):
    kernel = GaussianKernel(1.0)
    splits = Surfaces.collect([cut_of([1.0, 2.0], np.eye(2), kernel=kernel), None, None], kernel, 2)
    splits.check(np.array([True, False, False]), 2)
    damaged = Surfaces.from_arrays(splits.to_arrays() | {name: np.array(value)}, splits.settings())
    with pytest.raises(ValueError, match=rf"Surfaces\.{name}|the surfaces do not belong"):
        damaged.check(np.array([True, False, False]), 2)


def test_an_unknown_kernel_is_refused():
    splits = Surfaces.collect([None], LinearKernel(), 1)
    with pytest.raises(ValueError, match=r"unknown kernel 'os.system'"):
        Surfaces.from_arrays(splits.to_arrays(), {"kernel": {"name": "os.system", "parameters": {}}})
