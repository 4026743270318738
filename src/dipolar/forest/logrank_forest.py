"""`LogRankSurvivalForest`: a random survival forest with univariate cuts."""

from __future__ import annotations

from typing import Any

from dipolar.forest.estimator import BaseSurvivalForest, shared_parameters
from dipolar.tree.axis_finder import AxisSplitter
from dipolar.tree.logrank_tree import LogRankSurvivalTree

__all__ = ["LogRankSurvivalForest"]

# What `tune=True` tries.
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"min_samples_leaf": 20},
    {"max_features": 0.5},
    {"max_features": 0.5, "min_samples_leaf": 20},
    {"max_features": None},
    {"max_features": None, "min_samples_leaf": 20},
)


class LogRankSurvivalForest(BaseSurvivalForest):
    r"""A random survival forest: log-rank trees, each on a sample of rows, with covariates drawn in each node.

    Every node takes the cut with the largest statistic over all cuts of some drawn covariates, exactly, in
    O(n log n), as a :class:`~dipolar.LogRankSurvivalTree` does. Missing values are learnt in the same way.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    criterion, fleming_harrington
        As in :class:`~dipolar.LogRankSurvivalTree`.
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        How many covariates are tried in each node; None tries all. Covariates that are constant in a node do not count,
        and more are drawn while none of them has an admissible cut.
    bootstrap : bool, default=True
        Whether the sample of a tree is drawn with replacement. Rows are drawn among as many as the weights count: of a
        row of weight 2 both may be in a sample, or one. What is left of a weight besides whole rows counts for the size
        of samples with replacement, and is in a sample without replacement or not.
    max_samples : int, float or None, default=None
        Size of a sample: a number of rows, or a share of them. None draws as many as there are with replacement, and
        a share of 0.632 without.
    max_depth : int, default=None
        Largest number of splits on the way to a leaf.
    max_leaf_nodes : int, default=None
        Largest number of leaves of a tree; the leaf with the largest statistic is then split first.
    min_samples_split : float, default=20
        Rows that a node needs to be split. All sizes are sums of weights: a row that was drawn twice counts twice.
    min_samples_leaf : float, default=10
        Rows that both children need.
    min_events_leaf : float, default=0
        Events that both children need.
    min_logrank : float, default=6.63
        Log-rank chi-square that a split needs, whatever the criterion; the default is the 99 percent point of its
        distribution. Splits that are worth less add more noise than they explain.
    time_grid : int, array-like or None, default=None
        The times at which curves are averaged: all distinct event times of the training data, that many of their
        quantiles, or these times. Predicted curves are exact at them and constant in between. It bounds
        the size of predictions and not that of the forest, which grows with its leaves.
    oob_score : bool, default=False
        Whether to predict each training row by the trees that have not seen it, and to score that.
    tune : bool, dict or list of dicts, default=False
        Whether the forest chooses some of its parameters by the integrated Brier score of rows that its first 50 trees
        have not seen. True tries the forest as it is given, leaves of 20 rows, and half and all of the covariates with
        leaves of either size; it takes another setting where that is better by more than the standard error of the
        difference. A dict of lists such as ``{"min_samples_leaf": [5, 20]}``, or a list of such dicts, is tried instead
        in all combinations, and the best is taken. The parameters themselves are left as they are: see `best_params_`.
    warm_start : bool, default=False
        Whether another call of `fit` on the same rows adds trees up to `n_estimators`. The forest is then the one that
        a single call would have grown, with the settings that the first call has chosen.
    n_jobs : int, default=None
        Number of threads. The forest does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of all that is random.
    verbose : int, default=0
        Whether to print progress on long fits.

    Attributes
    ----------
    forest_ : dipolar.forest.record.Forest
        The trees as frozen named arrays.
    unique_times_ : ndarray
        The distinct times of the training data; the time grid, if one was asked for.
    event_times_ : ndarray
        The distinct event times of the training data.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each covariate in the sum of log-rank statistics; see also :meth:`importance`.
    oob_prediction_ : ndarray of shape (n_samples,)
        Out-of-bag risks, NaN for rows that every tree has seen. This and the following only with `oob_score`.
    oob_times_, oob_survival_ : ndarray
        Out-of-bag survival curves, of shape (n_samples, n_times), and the at most 100 times they are given at.
    oob_score_, oob_brier_ : float
        Harrell's concordance index of the former, and the integrated Brier score of the latter; NaN, with a warning,
        where the rows do not define them. A choice by `tune` makes the latter too small, on average by less than one
        percent of it.
    best_params_ : dict
        The settings that `tune` has chosen, with which the forest was grown; empty for those that it was given.
    tuning_results_ : DataFrame
        What `tune` has tried, in that order: its settings, `oob_brier` and `oob_concordance` of the first trees, their
        `mean_n_leaves`, and `seconds`. Empty without `tune`; a saved model does not keep it.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    References
    ----------
    Ishwaran, H., Kogalur, U. B., Blackstone, E. H. and Lauer, M. S. (2008). Random survival forests. Annals of Applied
    Statistics 2, 841-860.

    Examples
    --------
    >>> from dipolar import LogRankSurvivalForest
    >>> from dipolar.datasets import load_whas500
    >>> X, y = load_whas500(return_X_y=True)
    >>> forest = LogRankSurvivalForest(oob_score=True, random_state=0).fit(X, y)
    >>> round(forest.oob_score_, 2)
    0.72
    """

    _allow_nan = True
    _split_kinds = ("axis",)
    _recommended = SETTINGS

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="logrank",
        fleming_harrington=(1.0, 0.0),
        max_features="sqrt",
        bootstrap=True,
        max_samples=None,
        max_depth=None,
        max_leaf_nodes=None,
        min_samples_split=20,
        min_samples_leaf=10,
        min_events_leaf=0,
        min_logrank=6.63,
        time_grid=None,
        oob_score=False,
        tune=False,
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.fleming_harrington = fleming_harrington
        self.max_features = max_features
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_events_leaf = min_events_leaf
        self.min_logrank = min_logrank
        self.time_grid = time_grid
        self.oob_score = oob_score
        self.tune = tune
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _single_tree(self) -> LogRankSurvivalTree:
        return LogRankSurvivalTree(**shared_parameters(self, LogRankSurvivalTree))

    def _splitter(self, n_features: int) -> AxisSplitter:
        return self._single_tree()._splitter(n_features)
