"""The forest estimators: thin, shaped like scikit-learn's and scikit-survival's."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from dipolar._core.logrank import FAMILIES
from dipolar.dipoles import DipoleRule
from dipolar.forest.axis_finder import AxisRecipe
from dipolar.forest.estimator import BaseSurvivalForest
from dipolar.forest.surface_finder import SurfaceRecipe
from dipolar.parameters import check_choice, check_exponents, check_kappa, check_number, count_features
from dipolar.tree.drawn_surfaces import KERNEL_CODES
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.trees import DipoleSurvivalTree, LogRankSurvivalTree

__all__ = ["DipoleSurvivalForest", "LogRankSurvivalForest"]

THRESHOLDS = ("svm", "logrank")

# Basis rows of a Gaussian surface: in a few covariates they represent a node well.
MAX_RANK = 16


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
        Whether the sample of a tree is drawn with replacement.
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
        The times at which curves are averaged, `unique_times_`: all distinct event times of the training data, that
        many of their quantiles, or these times. Predicted curves are exact at them and constant in between. It bounds
        the size of predictions and not that of the forest, which grows with its leaves.
    oob_score : bool, default=False
        Whether to predict each training row by the trees that have not seen it, and to score that.
    warm_start : bool, default=False
        Whether another call of `fit` on the same rows adds trees up to `n_estimators`. The forest is then the one that
        a single call would have grown.
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
        The time grid.
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
        where the rows do not define them.
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
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _single_tree(self) -> LogRankSurvivalTree:
        return LogRankSurvivalTree(**shared_parameters(self, LogRankSurvivalTree))

    def _recipe(self, n_features: int) -> AxisRecipe:
        check_choice("criterion", self.criterion, tuple(FAMILIES), hint="'logrank' is the usual one.")
        max_features = count_features(self.max_features, n_features) or n_features
        return AxisRecipe(FAMILIES[self.criterion], check_exponents(self.fleming_harrington), max_features)


class DipoleSurvivalForest(BaseSurvivalForest):
    r"""A forest of survival trees whose nodes are split by support vector machines on drawn covariates.

    In every node, pairs of rows with close event times ("pure dipoles") should stay together and pairs with far times
    ("mixed dipoles") should part. The machine finds the direction, in the space of a few drawn covariates, that does
    this best, and the node is cut along it where the log-rank statistic is largest.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of trees.
    kernel : {"linear", "quadratic", "rbf"} or tuple of them, default="linear"
        Kernel of the surfaces. Of several, one is drawn for each node.
    kappa : float, default=100.0
        Weight of the mean loss of a dipole against the ridge term. Unlike that of a tree it does not depend on the
        number of dipoles, so that surfaces do not get stiffer as nodes get smaller.
    pure_quantile, mixed_quantile, pure_weight, mixed_weight
        Of the dipoles, as in :class:`~dipolar.DipoleSVM`. The cut-offs of the time gaps are each node's own.
    threshold : {"logrank", "svm"}, default="logrank"
        Where along its score a node is cut: where the log-rank statistic between the children is largest, or at 0, as
        the machine says.
    max_reorientations : int, default=1
        How often dipoles are oriented anew.
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        How many covariates a surface uses, roots and logarithms rounded up; None uses all. Those that are constant in a
        node do not count.
    max_node_samples : int, default=256
        How many rows of a node its surface is learnt from, evenly spread over their times; the cut looks at all.
    solver_tol : float, default=1e-2
        Relative duality gap of a solve.
    bootstrap, max_samples
        As in :class:`LogRankSurvivalForest`.
    max_depth, max_leaf_nodes, min_samples_split, min_samples_leaf, min_events_leaf, min_logrank
        As in :class:`LogRankSurvivalForest`.
    time_grid, oob_score, warm_start, n_jobs, random_state, verbose
        As in :class:`LogRankSurvivalForest`.

    Attributes
    ----------
    forest_ : dipolar.forest.record.Forest
        The trees as frozen named arrays.
    unique_times_, event_times_, feature_importances_
        As in :class:`LogRankSurvivalForest`.
    oob_prediction_, oob_times_, oob_survival_, oob_score_, oob_brier_
        As in :class:`LogRankSurvivalForest`.
    n_unconverged_ : int
        Number of nodes that were not split because their problem was not solved to the tolerance, even with a
        hundredth of kappa; a warning tells if there are any.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    Notes
    -----
    Covariates are standardised by mean and standard deviation of the training rows, and the margin is 1: in the loss
    of the node problem only kappa over margin matters.

    References
    ----------
    Maung, A. A., Lazar, D. and Zheng, Q. Node splitting SVMs for survival trees based on an L2-regularized dipole
    splitting criteria.

    Jaeger, B. C., Welden, S., Lenoir, K. et al. (2024). Accelerated and interpretable oblique random survival forests.
    Journal of Computational and Graphical Statistics 33, 192-207.

    Examples
    --------
    >>> from dipolar import DipoleSurvivalForest
    >>> from dipolar.datasets import load_whas500
    >>> X, y = load_whas500(return_X_y=True)
    >>> forest = DipoleSurvivalForest(oob_score=True, random_state=1).fit(X, y)
    >>> round(forest.oob_score_, 2)
    0.73
    """

    def __init__(
        self,
        n_estimators=100,
        *,
        kernel="linear",
        kappa=100.0,
        pure_quantile=0.25,
        mixed_quantile=0.75,
        pure_weight=1.0,
        mixed_weight=1.0,
        threshold="logrank",
        max_reorientations=1,
        max_features="sqrt",
        max_node_samples=256,
        solver_tol=1e-2,
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
        warm_start=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.n_estimators = n_estimators
        self.kernel = kernel
        self.kappa = kappa
        self.pure_quantile = pure_quantile
        self.mixed_quantile = mixed_quantile
        self.pure_weight = pure_weight
        self.mixed_weight = mixed_weight
        self.threshold = threshold
        self.max_reorientations = max_reorientations
        self.max_features = max_features
        self.max_node_samples = max_node_samples
        self.solver_tol = solver_tol
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
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _single_tree(self) -> DipoleSurvivalTree:
        own = {"kernel", "kappa", "max_features"}  # these mean something else in a tree
        shared = shared_parameters(self, DipoleSurvivalTree)
        return DipoleSurvivalTree(
            kernel="linear", standardize=True, dipole_scope="node", **{n: v for n, v in shared.items() if n not in own}
        )

    def _recipe(self, n_features: int) -> SurfaceRecipe:
        rule = DipoleRule(self.pure_quantile, self.mixed_quantile, self.pure_weight, self.mixed_weight)
        check_choice("threshold", self.threshold, THRESHOLDS, hint="'logrank' is the better one in forests.")

        def whole(name: str, low: int) -> int:
            return int(check_number(name, getattr(self, name), low=low, whole=True))

        return SurfaceRecipe(
            kernels=self._kernels(),
            kappa=check_kappa(self.kappa),
            quantiles=(float(rule.pure_quantile), float(rule.mixed_quantile)),
            prices=(float(rule.pure_weight), float(rule.mixed_weight)),
            max_features=count_features(self.max_features, n_features, round_up=True) or n_features,
            by_logrank=self.threshold == "logrank",
            max_reorientations=whole("max_reorientations", 0),
            solver_tol=check_number("solver_tol", self.solver_tol, above=0, high=1),
            max_rows=whole("max_node_samples", 2),
            max_rank=MAX_RANK,
        )

    def _kernels(self) -> tuple[int, ...]:
        names = [self.kernel] if isinstance(self.kernel, str) else self.kernel
        if not isinstance(names, tuple | list) or not len(names) or any(name not in KERNEL_CODES for name in names):
            raise ValueError(
                f"kernel must be one of {list(KERNEL_CODES)} or a tuple of them, got {self.kernel!r}. Single trees, "
                "DipoleSurvivalTree, have more kernels."
            )
        return tuple(KERNEL_CODES[name] for name in names)

    def _warn_about(self, n_unconverged: int, n_trees: int) -> None:
        self.n_unconverged_ = n_unconverged
        if n_unconverged:
            warnings.warn(
                f"{n_unconverged} nodes of {n_trees} trees were not split because their problem was not solved to a "
                f"relative duality gap of {self.solver_tol:g}. Lower kappa, or raise solver_tol.",
                ConvergenceWarning,
                stacklevel=3,
            )


def shared_parameters(forest: BaseSurvivalForest, tree: type[BaseSurvivalTree]) -> dict[str, Any]:
    """Return the parameters of a forest that a tree has as well."""
    known = tree().get_params()
    return {name: value for name, value in forest.get_params(deep=False).items() if name in known}
