"""`DipoleSVM`: the support vector machine that splits one node of a survival tree."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from dipolar.dipoles import Dipoles
from dipolar.kernels import LinearKernel
from dipolar.node_svm.plan import NodeSplit, NodeSvm, SvmPlan, snap
from dipolar.node_svm.reorientation import SplitStatus
from dipolar.parameters import draw_seed
from dipolar.rows import arrange_rows
from dipolar.threads import one_blas_thread
from dipolar.validation import check_fit_data, check_predict_data

__all__ = ["DipoleSVM"]


class DipoleSVM(BaseEstimator):
    r"""Split right-censored data in two by a surface that parts dissimilar survival times.

    Pairs of rows ("dipoles") with close event times are to stay together, pairs with far times are to part. With the
    dipoles oriented, every row is pulled up with a weight :math:`\beta^+_j` and down with a weight :math:`\beta^-_j`,
    and the surface :math:`f(x) = \omega_0 + \langle \omega, \phi(x) \rangle` minimises

    .. math::

        \tfrac12 \|\omega\|^2 + \kappa \sum_j \beta^+_j \max(0, \varepsilon - f(x_j))
        + \beta^-_j \max(0, \varepsilon + f(x_j)).

    Its scores orient the dipoles anew, and so on until the criterion settles.

    Parameters
    ----------
    kernel : {"rbf", "linear", "quadratic", "polynomial", "laplacian", "sigmoid", "precomputed"} or callable, \
            default="rbf"
        Kernel of the surface. "gaussian" and "poly" are other names of "rbf" and "polynomial". A callable takes two
        matrices of rows and returns the matrix of their kernel values. With "precomputed", X is the kernel matrix.
    kappa : float, default=1.0
        Weight of the dipole loss against the ridge term; `log(kappa)` is the paper's eta. With a linear kernel and a
        large kappa the ridge term vanishes and the split is Kretowska's oblique one.
    gamma : float, default=None
        Slope of the Laplacian and sigmoid kernels; None means 1 / (total variance of X). For the Gaussian kernel
        another way to give `sigma2`: gamma = 1 / (2 sigma2).
    degree : int, default=3
        Degree of the polynomial kernel.
    coef0 : float, default=1.0
        Constant of the polynomial and sigmoid kernels.
    sigma2 : float, default=None
        Width of the Gaussian kernel exp(-|u - v|^2 / (2 sigma2)). None takes the paper's: the mean squared distance
        of the rows from their mean.
    pure_quantile, mixed_quantile : float, default=0.25, 0.75
        Quantiles of the time gaps of comparable pairs, below which a pair of events is pure and from which on a
        comparable pair is mixed.
    pure_weight, mixed_weight : float, default=1.0, 1.0
        Price factors of pure and mixed dipoles.
    cutoff_rule : {"text", "scripts"}, default="text"
        How the quantiles are taken and ties are read: as the paper's text says, or as its authors' scripts do. See
        :class:`dipolar.dipoles.DipoleRule`.
    margin : "auto" or float, default="auto"
        Hinge margin epsilon. "auto" is the `margin_quantile` of the non-zero distances between rows (of 500,000
        pairs drawn at random when there are more than 1000 rows). Only kappa / margin matters to the split.
    margin_quantile : float, default=0.23
        The quantile that `margin="auto"` takes.
    standardize : bool, default=False
        Whether to scale the covariates to mean 0 and variance 1 first.
    init : {"median", "quartile", "positive"}, default="median"
        Starting orientation. "median": each covariate is cut at its median and the cut with the smallest criterion is
        taken. "quartile": each covariate (ten of them, drawn at random, if there are more) is cut at its three
        quartiles, the problem is solved from each cut, and the best solution is taken; slower and often better.
        "positive": every dipole is oriented positively; with `max_reorientations=0` this is the criterion of
        Bobrowski and Kretowski.
    solver : {"interior_point", "osqp"}, default="interior_point"
        Solver of the convex problem. "osqp" is the paper's and needs the package osqp.
    tol : float, default=0.01
        Re-orientation stops when the criterion falls by less than this fraction.
    solver_tol : float, default=1e-6
        Relative duality gap that each solve has to prove; the default solver aims three digits further.
    max_reorientations : int, default=250
        Limit on re-orientations. 0 solves the starting orientation and stops.
    factor_tol : float, default=1e-4
        A kernel without explicit features is approximated to this fraction of its trace. The default is as good as
        exact unless kappa is large: there a surface that follows every dipole also follows what is left out.
    max_rank : int or None, default=500
        Largest rank of that approximation; None for no limit. Time grows with its square.
    random_state : int, RandomState or None, default=None
        Draws the pairs for `margin="auto"` in large data and the covariates for `init="quartile"`.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Training rows in which the surface is expressed, at most rank + 1 of them.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Those rows (standardised if asked for); empty with a precomputed kernel.
    dual_coef_ : ndarray of shape (n_support,)
        Their coefficients: the score is ``kernel(X, support_vectors_) @ dual_coef_ + intercept_``.
    coef_ : ndarray of shape (n_features,)
        Normal of the surface; linear kernel with no more than max(64, n_samples) covariates only.
    intercept_ : float
        The middle of the interval of best intercepts.
    margin_ : float
        The margin that was used.
    cutoffs_ : Cutoffs
        Time gaps `pure` and `mixed` that bound the dipoles.
    criterion_path_ : ndarray
        Optimum of each orientation that was solved; never increases.
    n_reorientations_ : int
        Number of re-orientations that were solved again.
    duality_gap_ : float
        Relative duality gap of the last solve: a proven bound on its error.
    boundary_ : float
        Rows with a score below it go left. Its size is a millionth of the margin: closer to 0 is on the surface.
    status_ : str
        "settled", "reorientation_limit", "unconverged", or why there is nothing to split: "no_mixed_dipoles",
        "one_sided", "constant".
    rank_ : int
        Rank of the factor of the kernel.
    factor_residual_ : float
        Fraction of the kernel's trace that the factor leaves out; 0 for explicit features. With an indefinite (sigmoid)
        kernel it may be large, even above 1.
    n_features_in_ : int
    feature_names_in_ : ndarray

    Notes
    -----
    A row whose score is within a millionth of the margin lies on the surface. All such rows go to one side, at fit and
    at predict alike: the one whose nearest training row is closer, so that the surface passes through the wider gap,
    and right if no training row lies on the surface. Their score is 0 on the right and minus a millionth of the
    margin on the left.

    A sample weight counts how often a row was seen: a weight of 2 gives what the row twice would give.

    References
    ----------
    .. [1] A. A. Maung, D. Lazar, Q. Zheng. Node splitting SVMs for survival trees based on an L2-regularized dipole
           splitting criteria.
    .. [2] M. Kretowska. Piecewise-linear criterion functions in oblique survival tree induction. Artificial
           Intelligence in Medicine, 2017.

    Examples
    --------
    >>> from dipolar import DipoleSVM
    >>> from dipolar.datasets import load_remission
    >>> X, y = load_remission(return_X_y=True)
    >>> split = DipoleSVM(kernel="linear").fit(X, y)
    >>> split.status_
    'settled'
    """

    def __init__(
        self,
        kernel="rbf",
        kappa=1.0,
        *,
        gamma=None,
        degree=3,
        coef0=1.0,
        sigma2=None,
        pure_quantile=0.25,
        mixed_quantile=0.75,
        pure_weight=1.0,
        mixed_weight=1.0,
        cutoff_rule="text",
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
        random_state=None,
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
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> DipoleSVM:
        """Find the surface.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Covariates; no missing values.
        y : survival outcome
            Structured array, DataFrame with two columns, (n, 2) array of (time, event), pair (time, event), or 1-D
            array of times that were all observed.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        self : DipoleSVM
        """
        plan = SvmPlan.of(self)
        X, survival, weight = check_fit_data(self, X, y, sample_weight)
        rng = np.random.default_rng(draw_seed(self.random_state))
        given = np.arange(len(X))
        if not self._is_precomputed():
            rows = arrange_rows(X, survival, weight)
            X, survival, weight, given = rows.X, rows.survival, rows.weight, rows.first

        dipoles = Dipoles(survival, weight, plan.dipole_rule())
        svm = plan.learn(X, weight, rng)
        X = svm.scaled(X)
        with one_blas_thread():
            split = svm.split(X, weight, dipoles, rng)
        self._keep(svm, split, X, given)
        self.cutoffs_ = dipoles.cutoffs
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row: negative left of the surface, positive right of it, 0 on it."""
        check_is_fitted(self)
        X = self._svm.scaled(check_predict_data(self, X))
        return snap(self._surface.score(X), self.boundary_)

    def predict(self, X: Any) -> np.ndarray:
        """Return 0 for the rows left of the surface (score < 0) and 1 for the others."""
        return (self.decision_function(X) >= 0).astype(np.int64)

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _keep(self, svm: NodeSvm, split: NodeSplit, X: np.ndarray, given: np.ndarray) -> None:
        """Assign what a user may look at."""
        solution, factor = split.settled.solution, split.factor
        used, coefficients = factor.expansion(solution.weights)
        self._svm, self._surface = svm, split.surface
        self.margin_ = svm.settings.margin
        self.boundary_ = split.boundary
        self.support_ = given[used]
        self.support_vectors_ = np.empty((0, X.shape[1])) if self._is_precomputed() else X[used]
        self.dual_coef_ = coefficients
        self.intercept_ = split.surface.intercept
        self.criterion_path_ = split.settled.criterion_path
        self.n_reorientations_ = split.settled.n_reorientations
        self.duality_gap_ = solution.relative_gap
        self.status_ = str(split.settled.status)
        self.rank_ = factor.rank
        self.factor_residual_ = factor.residual
        if factor.is_explicit and isinstance(factor.kernel, LinearKernel):
            self.coef_ = solution.weights
        if split.settled.status is SplitStatus.UNCONVERGED:
            warnings.warn(
                f"The node problem was solved to a relative duality gap of {self.duality_gap_:.1e}, not "
                f"{self.solver_tol:.1e}. Scale the covariates, lower kappa, or raise solver_tol.",
                ConvergenceWarning,
                stacklevel=3,
            )

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.target_tags.positive_only = True
        tags.input_tags.pairwise = self._is_precomputed()
        return tags
