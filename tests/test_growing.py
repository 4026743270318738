"""Growing: limits, order of growth, and trees that would overflow a recursive one."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipolar._core.logrank import FAMILIES
from dipolar.survival import Survival
from dipolar.tree.limits import GrowthLimits
from dipolar.tree.pruning import pruning_path, split_statistics
from dipolar.tree.splits import AxisCuts, Splits
from tests.growing import axis_splitter, grow, grow_by, root_cut, split_logrank
from tests.test_logrank import samples


def sample(n=300, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    time = rng.exponential(np.exp(-X[:, 0]))
    censoring = rng.exponential(2.0, size=n)
    return X, Survival(np.minimum(time, censoring), time <= censoring)


class ChainFinder:
    """Sends one row left and the rest right: the deepest tree there is."""

    def __init__(self, n):
        self.orders = np.arange(n, dtype=np.int32).reshape(1, -1)
        self.goes_left = np.zeros(n, dtype=bool)
        self.thresholds = []

    def find(self, start, stop, parent):
        for first, last in zip(start, stop):
            self.goes_left[first:last] = np.arange(first, last) == first
            self.thresholds.append(first + 0.5)
        return np.ones(len(start)), start % 7 + 1.0

    def freeze(self, found):
        is_split = found >= 0
        threshold = np.append(self.thresholds, np.nan)[found]
        feature = np.where(is_split, 0, -1).astype(np.int32)
        return AxisCuts(feature, threshold, np.zeros(len(found), bool), np.zeros(len(found), bool))


def sketch(tree, node=0):
    """A tree as nested tuples, whatever the numbers of its nodes."""
    size = round(tree.n_samples[node], 9), round(tree.n_events[node], 9)
    if tree.left[node] < 0:
        return (size,)
    cut = tree.splits
    split = cut.feature[node], cut.threshold[node], cut.missing_left[node]
    children = sketch(tree, tree.left[node]), sketch(tree, tree.left[node] + 1)
    return size, *split, round(tree.gain[node], 7), round(tree.logrank[node], 7), *children


def grown_node_by_node(X, survival, weight, criterion, limits):
    """The same by recursion: each node is the root of a tree on its own rows."""
    size = round(weight.sum(), 9), round(weight @ survival.event, 9)
    too_small = weight.sum() < max(limits.min_samples_split, 2 * limits.min_samples_leaf)
    if too_small or not survival.event.any() or len(weight) == 1:
        return (size,)
    cut = root_cut(X, survival, weight, limits, criterion=criterion)
    if cut is None:
        return (size,)
    sides = [
        grown_node_by_node(X[rows], survival.take(rows), weight[rows], criterion, limits)
        for rows in (cut.goes_left, ~cut.goes_left)
    ]
    return size, cut.feature, cut.threshold, cut.missing_left, round(cut.gain, 7), round(cut.logrank, 7), *sides


@pytest.mark.compiled
@pytest.mark.parametrize("criterion", [name for name in FAMILIES if name != "exponential"])
@settings(max_examples=15)
@given(samples(with_missing=True), st.integers(1, 3))
def test_levels_give_the_same_tree_as_nodes(criterion, outcome, min_leaf):
    """The exponential criterion, whose exposures are those of the root, knows more than the rows of a node."""
    X, survival, weight = outcome
    limits = {"min_samples_leaf": min_leaf, "min_samples_split": 2}
    tree = grow(X, survival, weight, axis_splitter(X.shape[1], criterion), **limits)
    assert sketch(tree) == grown_node_by_node(X, survival, weight, criterion, GrowthLimits(**limits))
    tree.check(X.shape[1])


@given(
    st.integers(1, 6),
    st.integers(2, 40),
    st.integers(1, 15),
    st.integers(0, 5),
    st.sampled_from([0.0, 2.0, 6.0]),
)
def test_limits_hold(max_depth, min_split, min_leaf, min_events, min_logrank):
    X, survival = sample(120)
    tree = grow(X, survival, max_depth=max_depth, min_samples_split=min_split, min_samples_leaf=min_leaf,
                min_events_leaf=min_events, min_logrank=min_logrank)  # fmt: skip
    is_split = tree.is_split
    assert tree.max_depth <= max_depth
    assert (tree.n_samples[is_split] >= min_split).all()
    assert (tree.logrank[is_split] >= min_logrank).all()
    if is_split.any():
        assert tree.n_samples.min() >= min_leaf
        assert tree.n_events.min() >= min_events


@pytest.mark.parametrize("limit", [None, 9])
def test_record_agrees_with_the_rows(limit):
    X, survival = sample()
    weight = np.random.default_rng(1).integers(1, 4, len(X)).astype(float)
    tree = grow(X, survival, weight, min_samples_leaf=10, max_leaf_nodes=limit or np.inf)
    tree.check(X.shape[1])
    leaf = tree.apply(X)
    for number, node in enumerate(tree.leaves):
        rows = leaf == node
        assert tree.n_samples[node] == weight[rows].sum() == tree.tables.n_samples[number]
        assert tree.n_events[node] == (weight * survival.event)[rows].sum()
    # Rows that are sent down again meet the statistics that chose the splits.
    np.testing.assert_allclose(split_statistics(tree, X, survival, weight), tree.logrank, rtol=1e-9)
    children = tree.left[tree.is_split]
    np.testing.assert_array_equal(
        tree.n_samples[tree.is_split], tree.n_samples[children] + tree.n_samples[children + 1]
    )


def test_best_first_splits_the_largest_gain():
    X, survival = sample()
    whole = grow(X, survival, min_samples_leaf=10)
    for n_leaves in (2, 3, 6, 12, whole.n_leaves + 5):
        tree = grow(X, survival, min_samples_leaf=10, max_leaf_nodes=n_leaves)
        # The whole tree holds every split there is: walk it, always to the largest gain in reach.
        reach, taken = [0], []
        while reach and len(taken) < n_leaves - 1:
            node = max(reach, key=lambda number: whole.gain[number])
            reach.remove(node)
            taken.append(whole.gain[node])
            reach += [child for child in (whole.left[node], whole.left[node] + 1) if whole.left[child] >= 0]
        np.testing.assert_allclose(np.sort(tree.gain[tree.is_split]), np.sort(taken), rtol=1e-12)


def test_best_first_is_nested():
    X, survival = sample()
    sizes = [grow(X, survival, min_samples_leaf=10, max_leaf_nodes=k) for k in range(2, 10)]
    for small, large in pairwise(sizes):
        gains = set(small.gain[small.is_split])
        added = sorted(set(large.gain[large.is_split]) - gains)
        assert len(added) == 1
        assert gains <= set(large.gain)


@pytest.mark.parametrize("criterion", ["logrank", "gehan", "tarone-ware", "fleming-harrington", "exponential"])
def test_every_criterion_records_the_log_rank_statistic(criterion):
    X, survival = sample()
    tree = grow(X, survival, splitter=axis_splitter(3, criterion), max_depth=1)
    left = tree.splits.goes_left(X, 0)
    assert tree.logrank[0] == pytest.approx(split_logrank(survival, np.ones(len(X)), left), rel=1e-9)
    assert (criterion == "logrank") == (tree.gain[0] == tree.logrank[0])


def test_a_chain_of_a_hundred_thousand_nodes():
    n = 50_001
    X = np.arange(n, dtype=float).reshape(-1, 1)
    survival = Survival(np.ones(n), np.ones(n, dtype=bool))
    tree = grow_by(ChainFinder(n), survival)
    assert tree.n_nodes == 2 * n - 1
    assert tree.max_depth == n - 1
    rows = np.array([0, 1, n // 2, n - 2])
    np.testing.assert_array_equal(tree.depth[tree.apply(X[rows])], rows + 1)
    np.testing.assert_array_equal(Splits.route(tree.splits, X[rows], tree.left), tree.apply(X[rows]))
    path = pruning_path(tree)
    assert path.n_splits[0] == n - 1 and path.n_splits[-1] == 0
    assert tree.restrict(path.splits_of(len(path) - 2)).n_leaves == path.n_leaves[-2]
    assert len(tree.path_to(tree.n_nodes - 1)) == n


def test_drawn_covariates_depend_on_the_seed_only():
    X, survival = sample(p=6)
    trees = [grow(X, survival, splitter=axis_splitter(6, max_features=2), seed=seed, max_depth=4) for seed in (1, 1, 2)]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]


def test_the_generic_route_equals_the_compiled_one():
    X, survival = sample()
    X[::7, 0] = np.nan
    tree = grow(X, survival, min_samples_leaf=5)
    np.testing.assert_array_equal(Splits.route(tree.splits, X, tree.left), tree.apply(X))
