"""Trees and single cuts on rows in any order, by the library's splitters and grower."""

from typing import NamedTuple

import numpy as np

from dipolar._core.logrank import two_sample_logrank
from dipolar.rows import TrainingRows
from dipolar.survival import Survival
from dipolar.tree.axis_finder import AxisSplitter
from dipolar.tree.growing import grow_on, grow_tree
from dipolar.tree.limits import GrowthLimits
from dipolar.weightings import make_family


class Cut(NamedTuple):
    """The cut of a root, and the rows that it sends left."""

    gain: float
    logrank: float
    feature: int
    threshold: float
    missing_left: bool
    goes_left: np.ndarray


def in_time_order(X, survival, weight=None):
    """Return the rows as trees are grown on them, and their order."""
    weight = np.ones(len(survival)) if weight is None else weight
    order = np.lexsort((~survival.event, survival.time))
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    return TrainingRows(np.asarray(X, float)[order], survival.take(order), weight[order], order, number), order


def axis_splitter(n_features, criterion="logrank", exponents=(1.0, 0.0), max_features=None):
    return AxisSplitter(make_family("criterion", criterion, exponents), max_features or n_features)


def grow(X, survival, weight=None, splitter=None, seed=0, **limits):
    """Grow a tree; the numbers of rows are not part of it."""
    rows, _ = in_time_order(X, survival, weight)
    splitter = splitter or axis_splitter(rows.X.shape[1])
    return grow_on(rows, splitter, GrowthLimits(**limits), np.random.default_rng(seed))[0]


def grow_by(finder, survival, weight=None, **limits):
    """Grow a tree by a finder of the test's own; rows come in time order."""
    weight = np.ones(len(survival)) if weight is None else weight
    return grow_tree(finder, survival, weight, GrowthLimits(**limits))


def root_cut(X, survival, weight=None, limits=None, splitter=None, **settings):
    """Return the best cut of all rows, None where there is none."""
    rows, order = in_time_order(X, survival, weight)
    rng = np.random.default_rng(0)
    splitter = splitter or axis_splitter(rows.X.shape[1], **settings)
    finder = splitter.finder(rows.survival, rows.weight, limits or GrowthLimits(), rng, *splitter.prepare(rows, rng))
    gain, logrank = finder.find(np.array([0]), np.array([len(order)]), np.array([-1]))
    if not gain[0] > 0:
        return None
    cuts = finder.freeze(np.array([0]))
    goes_left = np.empty(len(order), bool)
    goes_left[order] = finder.goes_left
    return Cut(
        float(gain[0]), float(logrank[0]), int(cuts.feature[0]), float(cuts.threshold[0]), bool(cuts.missing_left[0]),
        goes_left,
    )  # fmt: skip


def split_logrank(survival, weight, goes_left):
    """The log-rank chi-square of a split of rows in any order."""
    order = np.argsort(survival.time, kind="stable")
    return float(two_sample_logrank(survival.time[order], survival.event[order], weight[order], goes_left[order]))


def outcome(time, event):
    return Survival(np.asarray(time, float), np.asarray(event, bool))
