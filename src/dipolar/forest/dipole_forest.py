"""`DipoleSurvivalForest`: a forest whose nodes are split by a `DipoleSVM` on drawn covariates."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from dipolar.forest.estimator import BaseSurvivalForest, shared_parameters
from dipolar.node_svm.svm import DipoleSVM
from dipolar.parameters import check_number, count_features
from dipolar.tree.dipole_tree import DipoleSurvivalTree
from dipolar.tree.surface_finder import SurfaceSplitter, warn_about_unconverged

__all__ = ["DipoleSurvivalForest"]

# What a forest is grown with. Its trees are many and look at parts of the data: precise surfaces are wasted on them.
FOREST_SVM = DipoleSVM(pure_weight=1.0, cut="logrank", max_reorientations=0, solver_tol=1e-2)

QUADRATIC = clone(FOREST_SVM).set_params(kernel="quadratic")

# What `tune=True` tries.
SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"min_samples_leaf": 20},
    {"min_logrank": 3.84},
    {"max_features": 0.5},
    {"max_features": None},
    {"svm": QUADRATIC},
    {"svm": [FOREST_SVM, QUADRATIC]},
)


class DipoleSurvivalForest(BaseSurvivalForest):
    r"""A forest of survival trees whose nodes are split by support vector machines on drawn covariates.

    In every node, pairs of rows with close event times ("pure dipoles") should stay together and pairs with far times
    ("mixed dipoles") should part. The machine finds the direction, in the space of a few drawn covariates, that does
    this best, and the node is cut along it where the log-rank statistic is largest.

    Parameters
    ----------
    svm : DipoleSVM or list of them, default=None
        The machine that finds the surfaces, or several, one of which is drawn for each node. None is a linear one whose
        dipoles all have the same weight, that solves the starting orientation, and whose score is cut where the
        log-rank statistic is largest:
        ``DipoleSVM(pure_weight=1.0, cut="logrank", max_reorientations=0, solver_tol=1e-2)``.
    n_estimators : int, default=100
        Number of trees.
    max_features : int, float, "sqrt", "log2" or None, default="sqrt"
        How many covariates a surface uses, roots and logarithms rounded up; None uses all. Those that are constant in a
        node do not count.
    max_node_samples : int or None, default=256
        How many rows of a node its surface is learnt from, evenly spread over their times; None takes all. The cut
        looks at all of them in any case.
    bootstrap, max_samples
        As in :class:`LogRankSurvivalForest`.
    max_depth, max_leaf_nodes, min_samples_split, min_samples_leaf, min_events_leaf, min_logrank
        As in :class:`LogRankSurvivalForest`.
    tune : bool, dict or list of dicts, default=False
        Whether the forest chooses some of its parameters, as in :class:`LogRankSurvivalForest`. True tries the forest
        as it is given, leaves of 20 rows, a `min_logrank` of 3.84, half and all of the covariates, the default machine
        with a quadratic kernel, and that by turns with the linear one. Settings of your own may name parameters of the
        machine: ``{"svm__kappa": [1, 10]}``.
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
    best_params_, tuning_results_
        As in :class:`LogRankSurvivalForest`.
    n_unconverged_ : int
        Number of nodes that were not split because their problem was not solved to the tolerance of the machine; a
        warning tells if there are any.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    Notes
    -----
    Scale and width of the kernel are learnt from all training rows; on some of the covariates a Gaussian kernel is as
    much narrower as they are fewer. The cut-offs of the time gaps are each node's own.

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

    _split_kinds = ("surface",)
    _recommended = SETTINGS

    def __init__(
        self,
        svm=None,
        n_estimators=100,
        *,
        max_features="sqrt",
        max_node_samples=256,
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
        self.svm = svm
        self.n_estimators = n_estimators
        self.max_features = max_features
        self.max_node_samples = max_node_samples
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

    def _template(self) -> BaseSurvivalForest:
        template = super()._template()
        return template if self.svm is not None else template.set_params(svm=clone(FOREST_SVM))

    def _single_tree(self) -> DipoleSurvivalTree:
        shared = shared_parameters(self, DipoleSurvivalTree)
        return DipoleSurvivalTree(**shared | {"svm": self._svms()[0], "inherit": 0.0})

    def _splitter(self, n_features: int) -> SurfaceSplitter:
        hint = "It counts rows; None takes all of them."
        most = self.max_node_samples
        return SurfaceSplitter(
            self._svms(),
            max_features=count_features(self.max_features, n_features, round_up=True) or n_features,
            max_rows=np.inf if most is None else check_number("max_node_samples", most, low=2, whole=True, hint=hint),
        )

    def _svms(self) -> tuple[DipoleSVM, ...]:
        svms = [FOREST_SVM if self.svm is None else self.svm] if not isinstance(self.svm, list | tuple) else self.svm
        if not len(svms) or not all(isinstance(svm, DipoleSVM) for svm in svms):
            raise ValueError(f"svm must be a DipoleSVM, a list of them or None, got {self.svm!r}.")
        return tuple(svms)

    def _warn_about(self, n_unconverged: int, n_trees: int) -> None:
        self.n_unconverged_ = n_unconverged
        warn_about_unconverged(n_unconverged, f"{n_trees} trees", stacklevel=4)
