"""The pruning path, against an exhaustive search over all subtrees, and the rules that choose a member."""

import threading
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipolar.curves import tabulate
from dipolar.resampling import draw_with_replacement
from dipolar.survival import Survival
from dipolar.tree.growing import grow_on
from dipolar.tree.limits import GrowthLimits
from dipolar.tree.pruning import (
    bootstrap_statistics,
    choose_member,
    pruning_path,
    split_statistics,
)
from dipolar.tree.record import Tree
from dipolar.tree.splits import AxisCuts
from tests.growing import axis_splitter, grow, in_time_order
from tests.reference.pruning import best_subtree
from tests.test_growing import sample


@st.composite
def small_trees(draw):
    """Trees of at most eight splits with statistics that often tie."""
    left, parent = [-1], [-1]
    for _ in range(draw(st.integers(0, 8))):
        leaves = [node for node in range(len(left)) if left[node] < 0]
        node = draw(st.sampled_from(leaves))
        left[node] = len(left)
        left += [-1, -1]
        parent += [node, node]
    n = len(left)
    statistics = draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 3.0, 7.25]), min_size=n, max_size=n))
    return np.array(left, np.int32), np.array(parent, np.int32), np.array(statistics)


def as_tree(left, parent, statistics):
    """A record with these splits; the rows do not matter here."""
    n = len(left)
    is_split = left >= 0
    n_leaves = int((~is_split).sum())
    rows = np.arange(n_leaves)
    tables = tabulate(Survival(rows + 1.0, np.ones(n_leaves, bool)), np.ones(n_leaves), rows, n_leaves)
    depth = np.zeros(n, np.int32)
    for node in range(1, n):
        depth[node] = depth[parent[node]] + 1
    sizes = np.where(is_split, 0.0, 1.0)
    for node in range(n - 1, 0, -1):
        sizes[parent[node]] += sizes[node]
    statistics = np.where(is_split, statistics, 0.0)
    cuts = AxisCuts.collect([(0, 0.0, False, False) if split else None for split in is_split])
    return Tree(left, parent, depth, sizes, sizes, statistics, statistics, cuts, tables)


@pytest.mark.compiled
@given(small_trees(), st.floats(0.0, 9.0))
def test_the_member_at_every_price_is_the_best_of_all_subtrees(arrays, price):
    tree = as_tree(*arrays)
    path = pruning_path(tree)
    middles = (path.alphas[:-1] + path.alphas[1:]) / 2
    for alpha in [price, *path.alphas, *middles, path.alphas[-1] + 1]:
        splits = frozenset(np.flatnonzero(path.splits_of(path.member_at(alpha))).tolist())
        expected, worth = best_subtree(tree.left, tree.logrank, alpha)
        assert tree.logrank[list(splits)].sum() - alpha * len(splits) == pytest.approx(worth, abs=1e-9)
        assert splits == expected


@pytest.mark.compiled
@given(small_trees())
def test_the_path_is_nested_and_its_numbers_add_up(arrays):
    tree = as_tree(*arrays)
    path = pruning_path(tree)
    assert path.alphas[0] == 0 and (np.diff(path.alphas[1:]) > 0).all()
    assert path.n_splits[0] == tree.is_split.sum() and path.n_splits[-1] == 0
    for member in range(len(path)):
        keep = path.splits_of(member)
        assert path.n_splits[member] == keep.sum() == path.n_leaves[member] - 1
        assert path.statistics[member] == pytest.approx(tree.logrank[keep].sum(), abs=1e-9)
        pruned = tree.restrict(keep)
        pruned.check(1)
        assert pruned.n_leaves == path.n_leaves[member]
        assert pruned.tables.n_samples.sum() == tree.n_leaves
        if member:
            assert not (keep & ~path.splits_of(member - 1)).any()


def test_pruned_leaves_equal_leaves_of_the_rows():
    X, survival = sample()
    tree = grow(X, survival, min_samples_leaf=5)
    path = pruning_path(tree)
    pruned = tree.restrict(path.splits_of(path.member_at(8.0)))
    assert 1 < pruned.n_leaves < tree.n_leaves
    direct = pruned.refill(X, survival, np.ones(len(X)))
    assert direct == pruned


LEAVES_OF_TEN = GrowthLimits(min_samples_leaf=10)


def bootstrap(X, survival, weight, n_jobs=1, n_bootstraps=6, as_published=False):
    rows, _ = in_time_order(X, survival, weight)
    splitter = axis_splitter(X.shape[1])
    path = pruning_path(grow_on(rows, splitter, LEAVES_OF_TEN, np.random.default_rng(0))[0])
    rng = np.random.default_rng(5)
    honest = bootstrap_statistics(
        path, splitter, LEAVES_OF_TEN, rows, n_bootstraps, rng, n_jobs, as_published=as_published
    )
    return path.with_honest(honest)


@pytest.mark.parametrize("as_published", [False, True])
def test_bootstrap_equals_its_description(as_published):
    X, survival = sample()
    n = len(X)
    path = bootstrap(X, survival, np.ones(n), n_bootstraps=3, as_published=as_published)
    order = in_time_order(X, survival)[1]
    X, survival = X[order], survival.take(order)
    optimism = np.zeros((3, len(path)))
    for b, rng in enumerate(np.random.default_rng(5).spawn(3)):
        rows = np.repeat(np.arange(n), draw_with_replacement(np.ones(n), 1.0, rng).astype(int))
        tree = grow(X[rows], survival.take(rows), min_samples_leaf=10)
        resampled = pruning_path(tree)
        original = split_statistics(tree, X, survival, np.ones(n))
        gains = [
            tree.logrank[keep].sum() - original[keep].sum() for keep in map(resampled.splits_of, range(len(resampled)))
        ]
        for k in range(len(path)):
            price = np.sqrt(path.alphas[k] * path.alphas[k + 1]) if k + 1 < len(path) else np.inf
            at_price = gains[resampled.member_at(price)]
            optimism[b, k] = at_price if as_published else 2 / 3 * in_line(resampled.n_splits, gains, path.n_splits[k])
    np.testing.assert_allclose(path.honest_statistics, path.statistics - optimism.mean(axis=0), rtol=1e-8)
    assert path.honest_statistics[-1] == 0.0


def in_line(sizes, values, size):
    """A value between those of the two sizes around, or beyond the largest as far again."""
    if size > sizes[0]:
        return values[0] * size / sizes[0]
    smaller = next(k for k in range(len(sizes)) if sizes[k] <= size)
    if sizes[smaller] == size:
        return values[smaller]
    share = (size - sizes[smaller]) / (sizes[smaller - 1] - sizes[smaller])
    return values[smaller] + share * (values[smaller - 1] - values[smaller])


def test_noise_is_not_pruned_for_twice_the_noise():
    """The published rule takes off what resamples gain at one price, which is more."""
    X, survival = sample()
    corrected, published = (bootstrap(X, survival, np.ones(len(X)), as_published=rule) for rule in (False, True))
    assert (corrected.honest_statistics >= published.honest_statistics).all()
    assert corrected.honest_statistics[0] > published.honest_statistics[0]


def test_bootstrap_does_not_depend_on_the_number_of_workers():
    X, survival = sample()
    one, two = (bootstrap(X, survival, np.ones(len(X)), n_jobs) for n_jobs in (1, 2))
    np.testing.assert_array_equal(one.honest_statistics, two.honest_statistics)


def test_optimism_is_taken_off():
    X, survival = sample()
    path = bootstrap(X, survival, np.ones(len(X)))
    assert (path.honest_statistics[:-1] < path.statistics[:-1]).all()
    member = choose_member(path, 4.0)
    assert path.member_at(4.0) <= member
    worth = path.honest_statistics - 4.0 * path.n_splits
    assert worth[member] == worth.max()


def test_the_smallest_of_equally_good_members_is_chosen():
    path = pruning_path(as_tree(np.array([1, -1, 3, -1, -1], np.int32), np.array([-1, 0, 0, 2, 2], np.int32),
                                np.array([9.0, 0, 3.0, 0, 0])))  # fmt: skip
    path = path.with_honest(4.0 * path.n_splits.astype(float))
    assert choose_member(path, 4.0) == len(path) - 1
    assert choose_member(path, 3.0) == 0


def test_an_interrupt_leaves_no_worker_behind():
    X, survival = sample()
    rows, _ = in_time_order(X, survival)
    splitter = axis_splitter(X.shape[1])
    path = pruning_path(grow(X, survival, min_samples_leaf=10))
    before = threading.active_count()

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        bootstrap_statistics(path, splitter, LEAVES_OF_TEN, rows, 50, np.random.default_rng(1), 2, interrupt)
    deadline = time.monotonic() + 10
    while threading.active_count() > before and time.monotonic() < deadline:
        time.sleep(0.01)
    assert threading.active_count() <= before
