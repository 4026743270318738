"""The tree estimators: thin, shaped like scikit-learn's and scikit-survival's."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from dipolar._core.logrank import FAMILIES
from dipolar.node_svm.plan import SvmPlan
from dipolar.node_svm.reorientation import SplitStatus
from dipolar.parameters import check_choice, check_exponents, count_features
from dipolar.tree.dipole_splitter import DIPOLE_SCOPES, THRESHOLDS, DipoleSplitter, RootMemory
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.tree.logrank_splitter import LogRankSplitter
from dipolar.tree.splitter import Splitter

__all__ = ["DipoleSurvivalTree", "LogRankSurvivalTree"]


class LogRankSurvivalTree(BaseSurvivalTree):
    r"""A survival tree with univariate splits of the log-rank family.

    Every node takes the covariate and the cut with the largest statistic over all possible cuts,

    .. math:: \chi^2 = \Big(\sum_k W_k \big(d_{Lk} - Y_{Lk} \tfrac{d_k}{Y_k}\big)\Big)^2 \Big/
              \sum_k W_k^2 \frac{d_k (Y_k - d_k)}{Y_k - 1} \frac{Y_{Lk}}{Y_k} \Big(1 -
              \frac{Y_{Lk}}{Y_k}\Big),

    with :math:`d_k` events among :math:`Y_k` rows at risk at the event time :math:`t_k`, the subscript L
    marking the left child. All cuts of a covariate are tried exactly, in O(n log n).

    Missing values are learnt: each cut is tried with the missing rows on either side, as is the split of
    missing against known, and the better side is stored. Where a node saw no missing value, one goes to the
    larger child.

    Parameters
    ----------
    criterion : {"logrank", "gehan", "tarone-ware", "fleming-harrington", "exponential"}, default="logrank"
        The statistic: weights :math:`W_k` of 1, :math:`Y_k`, :math:`\sqrt{Y_k}` or
        :math:`S(t_k-)^\rho (1 - S(t_k-))^\gamma`; or the likelihood ratio of two exponential rates after
        times were replaced by the root's cumulative hazard (LeBlanc and Crowley 1992).
    fleming_harrington : tuple of two floats, default=(1.0, 0.0)
        The exponents :math:`(\rho, \gamma)`, not negative. Read for that criterion only.
    max_depth : int, default=None
        Largest number of splits on the way to a leaf.
    max_leaf_nodes : int, default=None
        Largest number of leaves; the leaf with the largest statistic is then split first.
    min_samples_split : float, default=6
        Rows that a node needs to be split. All sizes are sums of weights.
    min_samples_leaf : float, default=3
        Rows that both children need.
    min_events_leaf : float, default=0
        Events that both children need.
    min_logrank : float, default=0.0
        Log-rank chi-square that a split needs, whatever the criterion.
    max_features : int, float, "sqrt", "log2" or None, default=None
        How many covariates are drawn in each node; None tries all.
    pruning : {None, "fixed", "validation", "bootstrap"}, default=None
        Which member of the split-complexity path to keep: the whole tree; the smallest subtree that maximises
        :math:`G - \alpha |S|` on the training rows; the same on held-out rows; the same after the bootstrap
        has corrected :math:`G` for having been maximised. G sums the log-rank statistics of the splits.
    alpha : float, default=4.0
        Price of a split. LeBlanc and Crowley recommend 2 to 4; 4 is near the 0.05 quantile of a chi-square.
    n_bootstraps : int, default=25
        Number of resamples of the bootstrap rule.
    validation_fraction : float, default=0.3
        Share of rows, whatever their weights, that the validation rule holds out. The leaves are estimated
        from all rows afterwards.
    n_jobs : int, default=None
        Number of threads for the bootstrap rule. The tree does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of all that is random: drawn covariates, held-out rows, resamples.
    verbose : int, default=0
        Whether to print progress on long fits.

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
        Share of each covariate in the sum of log-rank statistics.
    n_features_in_, feature_names_in_ : int, ndarray
        As in scikit-learn.

    References
    ----------
    LeBlanc, M. and Crowley, J. (1992). Relative risk trees for censored survival data. Biometrics 48,
    411-425.

    LeBlanc, M. and Crowley, J. (1993). Survival trees by goodness of split. Journal of the American
    Statistical Association 88, 457-467.

    Ishwaran, H., Kogalur, U. B., Blackstone, E. H. and Lauer, M. S. (2008). Random survival forests. Annals
    of Applied Statistics 2, 841-860.

    Examples
    --------
    >>> import numpy as np
    >>> from dipolar import survival_outcome
    >>> from dipolar.trees import LogRankSurvivalTree
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> y = survival_outcome([9, 8, 10, 9, 11, 8, 2, 3, 1, 2, 3, 1], [1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1])
    >>> tree = LogRankSurvivalTree(max_depth=1).fit(X, y)
    >>> tree.predict_median([[0.0], [11.0]])
    array([9.5, 3. ])
    """

    _allow_nan = True
    _split_kinds = ("axis",)

    def __init__(
        self,
        *,
        criterion="logrank",
        fleming_harrington=(1.0, 0.0),
        max_depth=None,
        max_leaf_nodes=None,
        min_samples_split=6,
        min_samples_leaf=3,
        min_events_leaf=0,
        min_logrank=0.0,
        max_features=None,
        pruning=None,
        alpha=4.0,
        n_bootstraps=25,
        validation_fraction=0.3,
        n_jobs=None,
        random_state=None,
        verbose=0,
    ):
        self.criterion = criterion
        self.fleming_harrington = fleming_harrington
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_events_leaf = min_events_leaf
        self.min_logrank = min_logrank
        self.max_features = max_features
        self.pruning = pruning
        self.alpha = alpha
        self.n_bootstraps = n_bootstraps
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def _make_splitter(self, n_features: int) -> LogRankSplitter:
        check_choice("criterion", self.criterion, tuple(FAMILIES), hint="'logrank' is the usual one.")
        max_features = count_features(self.max_features, n_features)
        return LogRankSplitter(self.criterion, check_exponents(self.fleming_harrington), max_features)


class DipoleSurvivalTree(BaseSurvivalTree):
    r"""A survival tree whose nodes are split by a kernel support vector machine.

    In every node, pairs of rows with close event times ("pure dipoles") should stay together and pairs with far times
    ("mixed dipoles") should part. The surface that a :class:`~dipolar.DipoleSVM` finds for the rows of the node is
    the split: rows with a score below 0 go left. A branch ends where no pair ought to part any more.

    Parameters
    ----------
    kernel : {"rbf", "linear", "quadratic", "polynomial", "laplacian", "sigmoid"} or callable, default="rbf"
        Kernel of the surfaces. A callable takes two matrices of rows and returns the matrix of their kernel values;
        a tree with such a kernel can be pickled, if the callable can, but not saved by :meth:`save`.
    kappa : float, default=1.0
        Weight of the dipole loss against the ridge term, exp(eta) in the paper. A linear kernel with a large kappa
        (1e6, say) gives Kretowska's oblique tree.
    gamma, degree, coef0, sigma2 : float, int, float, float
        Of the kernels, as in :class:`~dipolar.DipoleSVM`. A width that is not given is learnt at the root and kept
        for the tree.
    pure_quantile, mixed_quantile, pure_weight, mixed_weight, cutoff_rule
        Of the dipoles, as in :class:`~dipolar.DipoleSVM`.
    dipole_scope : {"root", "node"}, default="root"
        Whether the cut-offs of the time gaps are those of all training rows, as in the paper, or each node's own.
        With "root" a branch ends when all its pairs are close by the standard of the root; with "node" it goes on.
    margin, margin_quantile, standardize
        As in :class:`~dipolar.DipoleSVM`, learnt at the root.
    init, solver, tol, solver_tol, max_reorientations, factor_tol, max_rank
        Of the search in each node, as in :class:`~dipolar.DipoleSVM`. `init="positive"` with
        `max_reorientations=0` is the all-positive criterion of Bobrowski and Kretowski.
    threshold : {"svm", "logrank"}, default="svm"
        Where along its score a node is cut: at 0, as the SVM says, or where the log-rank statistic between the
        children is largest.
    max_depth : int, default=None
        Largest number of splits on the way to a leaf.
    max_leaf_nodes : int, default=None
        Largest number of leaves; the leaf with the largest log-rank statistic is then split first.
    min_samples_split : float, default=20
        Rows that a node needs to be split. All sizes are sums of weights.
    min_samples_leaf : float, default=1
        Rows that both children need. A node whose surface leaves fewer on one side is not split.
    min_events_leaf : float, default=0
        Events that both children need.
    min_logrank : float, default=0.0
        Log-rank chi-square that a split needs.
    pruning, alpha, n_bootstraps, validation_fraction, n_jobs, random_state, verbose
        As in :class:`~dipolar.LogRankSurvivalTree`. The paper prunes by the bootstrap.

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
        Number of nodes whose solve did not reach its tolerance; a warning tells if there are any.
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
    >>> tree = DipoleSurvivalTree(kernel="linear", max_depth=2, standardize=True).fit(X, y)
    >>> tree.n_leaves_
    4
    """

    # Of drawn covariates where it is a tree of a forest.
    _split_kinds = ("surface", "drawn_surface")

    def __init__(
        self,
        *,
        kernel="rbf",
        kappa=1.0,
        gamma=None,
        degree=3,
        coef0=1.0,
        sigma2=None,
        pure_quantile=0.25,
        mixed_quantile=0.75,
        pure_weight=1.0,
        mixed_weight=1.0,
        cutoff_rule="text",
        dipole_scope="root",
        margin="auto",
        margin_quantile=0.23,
        standardize=False,
        init="median",
        solver="interior_point",
        tol=1e-2,
        solver_tol=1e-6,
        max_reorientations=250,
        factor_tol=1e-4,
        max_rank=500,
        threshold="svm",
        max_depth=None,
        max_leaf_nodes=None,
        min_samples_split=20,
        min_samples_leaf=1,
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
        self.kernel = kernel
        self.kappa = kappa
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.sigma2 = sigma2
        self.pure_quantile = pure_quantile
        self.mixed_quantile = mixed_quantile
        self.pure_weight = pure_weight
        self.mixed_weight = mixed_weight
        self.cutoff_rule = cutoff_rule
        self.dipole_scope = dipole_scope
        self.margin = margin
        self.margin_quantile = margin_quantile
        self.standardize = standardize
        self.init = init
        self.solver = solver
        self.tol = tol
        self.solver_tol = solver_tol
        self.max_reorientations = max_reorientations
        self.factor_tol = factor_tol
        self.max_rank = max_rank
        self.threshold = threshold
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

    def remember(self, memory: RootMemory) -> DipoleSurvivalTree:
        """Share with other trees what does not depend on kappa; used when kappa is tuned."""
        self._memory = memory
        return self

    def _make_splitter(self, n_features: int) -> DipoleSplitter:
        check_choice("dipole_scope", self.dipole_scope, DIPOLE_SCOPES, hint="'root' is the paper's.")
        check_choice("threshold", self.threshold, THRESHOLDS, hint="'svm' is the paper's.")
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' is not for trees, which are grown on parts and resamples of the rows. Pass the "
                "kernel as a callable, or split a single node with DipoleSVM."
            )
        return DipoleSplitter(SvmPlan.of(self), self.dipole_scope, self.threshold, getattr(self, "_memory", None))

    def _check_parameters(self) -> None:
        super()._check_parameters()
        plan = SvmPlan.of(self)
        plan.dipole_rule()
        # Kernel, margin and settings are checked where they are fixed by the rows of the root; any two rows will do.
        plan.learn(np.array([[0.0], [1.0]]), np.ones(2), np.random.default_rng(0))

    def _warn_about(self, splitter: Splitter) -> None:
        assert isinstance(splitter, DipoleSplitter)
        self.n_unconverged_ = splitter.ends[SplitStatus.UNCONVERGED]
        if self.n_unconverged_:
            warnings.warn(
                f"In {self.n_unconverged_} of {sum(splitter.ends.values())} nodes the problem was not solved to a "
                f"relative duality gap of {self.solver_tol:g}. Scale the covariates (standardize=True), lower kappa, "
                "or raise solver_tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
