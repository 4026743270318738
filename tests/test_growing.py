"""Growing: limits, order of growth, and trees that would overflow a recursive one."""

from itertools import pairwise

import numpy as np
import pytest
from dipolar.tree.logrank_splitter import LogRankSplitter
from hypothesis import given
from hypothesis import strategies as st

from dipolar.survival import Survival
from dipolar.tree.growing import grow_tree
from dipolar.tree.limits import GrowthLimits, Split, Splitter, split_logrank
from dipolar.tree.pruning import pruning_path, split_statistics
from dipolar.tree.splits import AxisCuts, Splits


def sample(n=300, p=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    time = rng.exponential(np.exp(-X[:, 0]))
    censoring = rng.exponential(2.0, size=n)
    return X, Survival(np.minimum(time, censoring), time <= censoring)


def grow(X, survival, weight=None, splitter=None, seed=0, **limits):
    weight = np.ones(len(X)) if weight is None else weight
    rng = np.random.default_rng(seed)
    return grow_tree(X, survival, weight, splitter or LogRankSplitter(), GrowthLimits(**limits), rng)


class ChainSplitter(Splitter):
    """Sends one row left and the rest right: the deepest tree there is."""

    def begin(self, X, survival, weight, limits, rng):
        self.n = len(X)

    def find(self, node, rng):
        goes_left = np.zeros(len(node.rows), dtype=bool)
        goes_left[0] = True
        return Split((0, node.start + 0.5, False, False), goes_left, 1.0, float(node.start % 7 + 1))

    def freeze(self, cuts):
        return AxisCuts.collect(cuts)


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
    tree = grow(X, survival, splitter=LogRankSplitter(criterion), max_depth=1)
    left = tree.splits.goes_left(X, 0)
    assert tree.logrank[0] == pytest.approx(split_logrank(survival, np.ones(len(X)), left), rel=1e-9)
    assert (criterion == "logrank") == (tree.gain[0] == tree.logrank[0])


def test_a_chain_of_a_hundred_thousand_nodes():
    n = 50_001
    X = np.arange(n, dtype=float).reshape(-1, 1)
    survival = Survival(np.ones(n), np.ones(n, dtype=bool))
    tree = grow(X, survival, splitter=ChainSplitter())
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
    trees = [grow(X, survival, splitter=LogRankSplitter(max_features=2), seed=seed, max_depth=4) for seed in (1, 1, 2)]
    assert trees[0] == trees[1]
    assert trees[0] != trees[2]


def test_the_generic_route_equals_the_compiled_one():
    X, survival = sample()
    X[::7, 0] = np.nan
    tree = grow(X, survival, min_samples_leaf=5)
    np.testing.assert_array_equal(Splits.route(tree.splits, X, tree.left), tree.apply(X))
