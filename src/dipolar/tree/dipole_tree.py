"""`DipoleSurvivalTree`: a tree whose nodes are split by a `DipoleSVM`."""

from __future__ import annotations

import numpy as np

from dipolar.kernels import is_precomputed
from dipolar.node_svm.factors import few_features
from dipolar.node_svm.learning import learn, spread
from dipolar.node_svm.svm import DipoleSVM
from dipolar.parameters import check_choice, check_number
from dipolar.rows import TrainingRows
from dipolar.threads import one_blas_thread
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.growing import Finder
from dipolar.tree.surface_finder import SurfaceSplitter, warn_about_unconverged

__all__ = ["DipoleSurvivalTree"]

DIPOLE_SCOPES = ("node", "root")

# An inherited score is squared with the other features.
LARGEST_INHERIT = 1e6


class DipoleSurvivalTree(BaseSurvivalTree):
    r"""A survival tree whose nodes are split by a kernel support vector machine.

    In every node, pairs of rows with close event times ("pure dipoles") should stay together and pairs with far times
    ("mixed dipoles") should part. The surface that a :class:`~dipolar.DipoleSVM` finds for the rows of the node is
    the split: rows with a score below 0 go left. A branch ends where no pair ought to part any more.

    Parameters
    ----------
    svm : DipoleSVM, default=None
        The machine that splits the nodes; None is ``DipoleSVM()``, the recommended one. Scale, width of the kernel and
        margin are learnt at the root and kept for the tree. Its parameters are set and tuned as `svm__kappa` and so on.
        A tree whose kernel is a function can be pickled, if the function can, but not saved by :meth:`save`.
    inherit : float, default=5.0
        Weight of the parent's surface in its children: there its score, scaled to this standard deviation, is one more
        feature, and the search starts from it. 0 is the paper's tree, whose nodes know nothing of each other.
        Surfaces that `max_terms` narrows are not inherited: each node chooses its own covariates.
    max_terms : int, default=None
        Largest number of covariates that a split uses; None lets it use all. The surface of a node is found with all
        covariates, and found again without the least influential ones, by the shares of `feature_importances_`, until
        so many are left. Linear splits then have coefficients in the units of the data, relative to the most
        influential covariate and rounded to as few digits as part the training rows of the node alike, and rules
        write them as they are. A node in which a surface on the way does not part the rows is not split. With as many
        terms as covariates, or more, the tree is that of None.
    dipole_scope : {"node", "root"}, default="node"
        Whether the cut-offs of the time gaps are each node's own or, as in the paper, those of all training rows. With
        "root" a branch ends when all its pairs are close by the standard of the root; with "node" it goes on.
    max_depth : int, "auto" or None, default="auto"
        Largest number of splits on the way to a leaf. "auto" is 3 where there are 150 events or more and 2 where there
        are fewer, for a tree whose size nothing else limits; with `max_leaf_nodes` or `pruning`, and with None, there
        is no limit.
    max_leaf_nodes : int, default=None
        Largest number of leaves; the leaf with the largest log-rank statistic is then split first.
    min_samples_split : float, default=2
        Rows that a node needs to be split. All sizes are sums of weights.
    min_samples_leaf : float, default=15
        Rows that both children need. A node whose surface leaves fewer on one side is not split.
    min_events_leaf : float, default=0
        Events that both children need.
    min_logrank : float, default=0.0
        Log-rank chi-square that a split needs.
    pruning, alpha, n_bootstraps, validation_fraction, n_jobs, random_state, verbose
        As in :class:`~dipolar.LogRankSurvivalTree`. The paper prunes by "leblanc-crowley".

    Attributes
    ----------
    tree_ : dipolar.tree.record.Tree
        The pruned tree as frozen named arrays.
    grown_ : dipolar.tree.record.Tree
        The tree before pruning.
    pruning_path_ : dipolar.tree.pruning.PruningPath
        Prices, sizes and statistics of the nested subtrees; `member_` is the one that was taken.
    unique_times_, event_times_ : ndarray
        The distinct times, and the distinct event times, of the training data.
    leaf_risk_ : ndarray of shape (n_leaves,)
        Risk of each leaf.
    n_leaves_, depth_ : int
        Size of the tree.
    feature_importances_ : ndarray of shape (n_features,)
        Share of each covariate in the sum of log-rank statistics. A split shares its statistic among the covariates
        by the mean absolute change of its score when a covariate is set to its mean over the node.
    n_unconverged_ : int
        Number of nodes that were not split because their problem was not solved to the tolerance of the machine; a
        warning tells if there are any.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    Notes
    -----
    The fitted tree keeps the coefficients of its surfaces and, for kernels without explicit features, the rows
    of the training data in which the surfaces are expressed. Linear and small polynomial kernels keep none.

    References
    ----------
    Maung, A. A., Lazar, D. and Zheng, Q. Node splitting SVMs for survival trees based on an L2-regularized dipole
    splitting criteria.

    Kretowska, M. (2017). Piecewise-linear criterion functions in oblique survival tree induction. Artificial
    Intelligence in Medicine 75, 32-39.

    Bobrowski, L. and Kretowski, M. (2000). Induction of multivariate decision trees by using dipolar criteria. PKDD
    2000, 331-336.

    Examples
    --------
    >>> from dipolar import DipoleSurvivalTree
    >>> from dipolar.datasets import load_whas500
    >>> X, y = load_whas500(return_X_y=True)
    >>> tree = DipoleSurvivalTree(max_depth=2).fit(X, y)
    >>> tree.n_leaves_
    4
    """

    _split_kinds = ("surface",)
    _tells_shares = True

    def __init__(
        self,
        svm=None,
        *,
        inherit=5.0,
        max_terms=None,
        dipole_scope="node",
        max_depth="auto",
        max_leaf_nodes=None,
        min_samples_split=2,
        min_samples_leaf=15,
        min_events_leaf=0,
        min_logrank=0.0,
        pruning=None,
        alpha=4.0,
        n_bootstraps=25,
        validation_fraction=0.3,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.svm = svm
        self.inherit = inherit
        self.max_terms = max_terms
        self.dipole_scope = dipole_scope
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_events_leaf = min_events_leaf
        self.min_logrank = min_logrank
        self.pruning = pruning
        self.alpha = alpha
        self.n_bootstraps = n_bootstraps
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _splitter(self, n_features: int) -> SurfaceSplitter:
        check_choice("dipole_scope", self.dipole_scope, DIPOLE_SCOPES, hint="'root' is the paper's.")
        inherit = check_number("inherit", self.inherit, low=0, high=LARGEST_INHERIT, hint="5 is common; 0 is none.")
        svm = DipoleSVM() if self.svm is None else self.svm
        if not isinstance(svm, DipoleSVM):
            raise ValueError(f"svm must be a DipoleSVM or None, which is DipoleSVM(), got {svm!r}.")
        max_terms = self._max_terms()
        return SurfaceSplitter(
            (svm,),
            n_features,
            inherit=0.0 if max_terms < n_features else inherit,
            max_terms=max_terms,
            root_cutoffs=self.dipole_scope == "root",
            tells_shares=self._tells_shares,
        )

    def _max_terms(self) -> float:
        if self.max_terms is None:
            return np.inf
        return check_number("max_terms", self.max_terms, low=1, hint="None lets splits use all covariates.", whole=True)

    def _in_coordinates(self, rows: TrainingRows, X: np.ndarray) -> np.ndarray | None:
        """Return wide rows, and then X, so that the tree, grown without standardising, finds in them what it finds.

        The tree will be grown on the first ones; None where they are not wide.
        """
        svm = self.svm
        if self._max_terms() < X.shape[1] or not isinstance(svm, DipoleSVM) or is_precomputed(svm.kernel):
            return None
        if few_features(X.shape[1], len(rows.X)):
            return None
        with one_blas_thread():
            learnt = learn(svm, rows, np.random.default_rng(0))
            span = spread([learnt], learnt.scaled_rows(rows))
            return None if span is None else np.vstack((span.inside, span.locate(learnt.scaled(X))))

    def _warn_about(self, finder: Finder) -> None:
        self.n_unconverged_ = finder.n_unconverged
        warn_about_unconverged(finder.n_unconverged, "the tree", stacklevel=4)
