"""`LogRankSurvivalTree`: the classic, with univariate cuts."""

from __future__ import annotations

from dipolar.parameters import count_features
from dipolar.tree.axis_finder import AxisSplitter
from dipolar.tree.estimator import BaseSurvivalTree
from dipolar.weightings import make_family

__all__ = ["LogRankSurvivalTree"]


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
        times were replaced by the root's cumulative hazard (LeBlanc and Crowley 1992). Others can be
        registered, see :func:`dipolar.weightings.register_weighting`.
    fleming_harrington : tuple of two floats, default=(1.0, 0.0)
        The exponents :math:`(\rho, \gamma)`, not negative. Read for that criterion only.
    max_depth : int, "auto" or None, default="auto"
        Largest number of splits on the way to a leaf. "auto" is 3 where there are 150 events or more and 2 where there
        are fewer, for a tree whose size nothing else limits; with `max_leaf_nodes` or `pruning`, and with None, there
        is no limit.
    max_leaf_nodes : int, default=None
        Largest number of leaves; the leaf with the largest statistic is then split first.
    min_samples_split : float, default=2
        Rows that a node needs to be split. All sizes are sums of weights.
    min_samples_leaf : float, default=15
        Rows that both children need.
    min_events_leaf : float, default=0
        Events that both children need.
    min_logrank : float, default=0.0
        Log-rank chi-square that a split needs, whatever the criterion.
    max_features : int, float, "sqrt", "log2" or None, default=None
        How many covariates are drawn in each node; None tries all.
    pruning : {None, "fixed", "validation", "bootstrap", "leblanc-crowley"}, default=None
        Which member of the split-complexity path to keep: the whole tree; the smallest subtree that maximises
        :math:`G - \alpha |S|` on the training rows; the same on held-out rows; the same after resamples have corrected
        :math:`G` for having been maximised, by what they say of subtrees of equal size or, as published, of equal
        price. G sums the log-rank statistics of the splits.
    alpha : float, default=4.0
        Price of a split. LeBlanc and Crowley recommend 2 to 4; 4 is near the 0.05 quantile of a chi-square.
    n_bootstraps : int, default=25
        Number of resamples of the last two rules.
    validation_fraction : float, default=0.3
        Share of rows, counted by their weights, that the validation rule holds out: of a row of weight 2 one
        may be held out and the other not. The leaves are estimated from all rows afterwards.
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
    >>> from dipolar import LogRankSurvivalTree
    >>> X = np.arange(12.0).reshape(-1, 1)
    >>> y = survival_outcome([9, 8, 10, 9, 11, 8, 2, 3, 1, 2, 3, 1], [1, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1])
    >>> tree = LogRankSurvivalTree(max_depth=1, min_samples_leaf=3).fit(X, y)
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
        max_depth="auto",
        max_leaf_nodes=None,
        min_samples_split=2,
        min_samples_leaf=15,
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

    def _splitter(self, n_features: int) -> AxisSplitter:
        family = make_family("criterion", self.criterion, self.fleming_harrington)
        max_features = count_features(self.max_features, n_features) or n_features
        return AxisSplitter(family, max_features)
