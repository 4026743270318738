"""`DipoleSVM`: the support vector machine that splits one node of a survival tree."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from dipolar.kernels import LinearKernel, is_precomputed, require_square
from dipolar.node_svm.dipoles import find_cutoffs
from dipolar.node_svm.factors import Surface
from dipolar.node_svm.learning import LearntSvm, NodeSplit, check_svm, learn, spread
from dipolar.node_svm.search import SplitStatus
from dipolar.node_svm.spans import Span
from dipolar.rows import TrainingRows, arrange_rows
from dipolar.threads import one_blas_thread
from dipolar.validation import check_fit_data, check_predict_data

__all__ = ["DipoleSVM"]

# What is drawn at random (pairs for a margin, covariates for quartile starts) is the same in every fit.
SEED = 0


class DipoleSVM(BaseEstimator):
    r"""Split right-censored data in two by a surface that parts dissimilar survival times.

    Pairs of rows ("dipoles") with close event times are to stay together, pairs with far times are to part. With the
    dipoles oriented, every row is pulled up with a weight :math:`\beta^+_j` and down with a weight :math:`\beta^-_j`,
    and the surface :math:`f(x) = \omega_0 + \langle \omega, \phi(x) \rangle` minimises

    .. math::

        \tfrac12 \|\omega\|^2 + \kappa \sum_j \beta^+_j \max(0, \varepsilon - f(x_j))
        + \beta^-_j \max(0, \varepsilon + f(x_j)).

    Its scores may orient the dipoles anew, and so on until the criterion settles.

    Parameters
    ----------
    kernel : str, Kernel or callable, default="linear"
        Kernel of the surface: "linear", "quadratic", "polynomial" ("poly"), "rbf" ("gaussian"), "laplacian", "sigmoid",
        one of :mod:`dipolar.kernels` with its parameters, such as ``GaussianKernel(sigma2=2.0)``, or a function of two
        matrices of rows that returns the matrix of their kernel values. With "precomputed", X is the kernel matrix.
    kappa : float, default=30.0
        Weight of the dipole loss against the ridge term: the larger, the more closely the surface follows the dipoles.
    kappa_scale : {"mean", "sum"}, default="mean"
        What kappa weighs. "mean": the mean loss of a dipole, on kernel features whose mean square is 1, so that one
        value means the same for any number of rows, of covariates, and for any kernel. "sum": the sum of the losses on
        the features as they are, as in the paper, whose eta is then `log(kappa)`; with a linear kernel and a large
        kappa the ridge term vanishes and the split is Kretowska's oblique one.
    pure_quantile, mixed_quantile : float, default=0.25, 0.75
        Quantiles of the time gaps of comparable pairs, below which a pair of events is pure and from which on a
        comparable pair is mixed.
    pure_weight : float, default=0.1
        Weight of a pure dipole; that of a mixed one is 1. The paper has 1. At full weight the pure dipoles can pin a
        surface to a gap in the data that has nothing to do with survival.
    cutoff_rule : {"text", "scripts"}, default="text"
        How the quantiles are taken and ties are read: as the paper's text says, or as its authors' scripts do. By the
        text a cut-off is order statistic number floor(quantile * number of pairs), a pair with a gap below it is pure,
        an event is comparable with a censoring at the same time, and equal scores pull the earlier time up. By the
        scripts it is an interpolated quantile (R's type 7), a gap that equals it is pure too, such a pair is not
        comparable, and equal scores pull the later time up.
    margin : float or DistanceQuantile, default=1.0
        Hinge margin epsilon. Only kappa / margin matters to the split. The paper's is a quantile of the distances
        between rows: ``dipolar.node_svm.DistanceQuantile(0.23)``.
    standardize : bool, default=True
        Whether to scale the covariates to mean 0 and variance 1 first.
    init : {"hazard", "median", "quartile", "positive"}, default="hazard"
        Where the search starts. "hazard": one Newton step of Cox's partial likelihood from zero, along the kernel's
        features: the martingale residuals times the features, over their covariance with a little ridge. "median", the
        paper's: each covariate is cut at its median and the cut with the smallest criterion is taken. "quartile", the
        authors' scripts': each covariate (ten of them, drawn at random, if there are more) is cut at its three
        quartiles, the problem is solved from each cut, and the best solution is taken. "positive": every dipole is
        oriented positively; with `max_reorientations=0` this is the criterion of Bobrowski and Kretowski.
    cut : {"svm", "logrank"}, default="svm"
        Where along its score the data are cut: at 0, or where the log-rank statistic between both sides is largest.
    tol : float, default=0.01
        Re-orientation stops when the criterion falls by less than this fraction.
    max_reorientations : int, default=0
        How often the scores may orient the dipoles anew. 0 solves the starting orientation and stops, which suits the
        hazard start best (see docs/trees.md). The paper's search goes on until it settles: 250 is as good as no limit.
    solver : {"interior_point", "osqp"}, default="interior_point"
        Solver of the convex problem. "osqp" is the paper's and needs the package osqp.
    solver_tol : float, default=1e-6
        Relative duality gap that each solve has to prove; the default solver aims three digits further.
    factor_tol : float, default=1e-4
        A kernel without explicit features is approximated to this fraction of its trace. The default is as good as
        exact unless kappa is large: there a surface that follows every dipole also follows what is left out.
    max_rank : int or None, default=500
        Largest rank of that approximation; None for no limit. Time grows with its square.

    Attributes
    ----------
    support_ : ndarray of shape (n_support,)
        Training rows in which the surface is expressed, at most rank + 1 of them.
    support_vectors_ : ndarray of shape (n_support, n_features)
        Those rows (standardised if asked for); empty with a precomputed kernel.
    dual_coef_ : ndarray of shape (n_support,)
        Their coefficients: the score is ``kernel(X, support_vectors_) @ dual_coef_ + intercept_``.
    coef_ : ndarray of shape (n_features,)
        Normal of the surface; linear kernel only.
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
        Relative duality gap of the last solve: a proven bound on its error; 0 where there is
        nothing to solve.
    boundary_ : float
        Rows with a score below it go left. Its size is a millionth of the margin: closer to 0 is on the surface.
    status_ : str
        "settled"; "reorientation_limit"; "interrupted", where a later round could not be solved and the surface is that
        of the round before; "unconverged", where no solve reached its tolerance; or why there is nothing to split and
        all scores are 0: "no_mixed_dipoles", "one_sided", "constant".
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
    >>> split = DipoleSVM().fit(X, y)
    >>> split.status_
    'settled'
    """

    def __init__(
        self,
        kernel="linear",
        kappa=30.0,
        *,
        kappa_scale="mean",
        pure_quantile=0.25,
        mixed_quantile=0.75,
        pure_weight=0.1,
        cutoff_rule="text",
        margin=1.0,
        standardize=True,
        init="hazard",
        cut="svm",
        tol=1e-2,
        max_reorientations=0,
        solver="interior_point",
        solver_tol=1e-6,
        factor_tol=1e-4,
        max_rank=500,
    ):
        self.kernel = kernel
        self.kappa = kappa
        self.kappa_scale = kappa_scale
        self.pure_quantile = pure_quantile
        self.mixed_quantile = mixed_quantile
        self.pure_weight = pure_weight
        self.cutoff_rule = cutoff_rule
        self.margin = margin
        self.standardize = standardize
        self.init = init
        self.cut = cut
        self.tol = tol
        self.max_reorientations = max_reorientations
        self.solver = solver
        self.solver_tol = solver_tol
        self.factor_tol = factor_tol
        self.max_rank = max_rank

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
        check_svm(self)
        X, survival, weight = check_fit_data(self, X, y, sample_weight, drop_unseen=False)
        is_square = is_precomputed(self.kernel)
        rows = arrange_rows(X, survival, weight, events_first=self.cutoff_rule == "text")
        if is_square:
            require_square(X)
            rows = replace(rows, X=rows.X[:, rows.first])
        rng = np.random.default_rng(SEED)

        svm = learn(self, rows, rng)
        Z = svm.scaled_rows(rows)
        with one_blas_thread():
            span = spread([svm], Z)
            near = Z if span is None else span.coordinates
            found = svm.split(near, rows.survival, rows.weight, rng)
            surface, _, _ = svm.cut(found.surface, near, rows.survival, rows.weight)
            surface = surface if span is None else span.restore(surface, found.factor.basis)
        self._keep(svm, found, surface, rows, span)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Return the score of each row: negative left of the surface, positive right of it, 0 on it."""
        check_is_fitted(self)
        X = check_predict_data(self, X)
        X = X[:, self._columns] if is_precomputed(self.kernel) else self._svm.scaled(X)
        return self._surface.score(X)

    def predict(self, X: Any) -> np.ndarray:
        """Return 0 for the rows left of the surface (score < 0) and 1 for the others."""
        return (self.decision_function(X) >= 0).astype(np.int64)

    def _keep(self, svm: LearntSvm, found: NodeSplit, surface: Surface, rows: TrainingRows, span: Span | None) -> None:
        """Assign what a user may look at."""
        settled, factor = found.settled, found.factor
        in_rows = factor if span is None or not factor.is_explicit else span
        used, coefficients = in_rows.expansion(settled.weights)
        self._svm, self._surface = svm, surface
        self._columns = rows.first if is_precomputed(self.kernel) else None
        self.margin_ = svm.rules.margin
        self.boundary_ = surface.boundary
        self.support_ = rows.first[used]
        Z = svm.scaled_rows(rows)
        self.support_vectors_ = np.empty((0, Z.shape[1])) if is_precomputed(self.kernel) else Z[used]
        self.dual_coef_ = coefficients
        self.intercept_ = surface.intercept
        quantiles = self.pure_quantile, self.mixed_quantile
        self.cutoffs_ = find_cutoffs(rows.survival, rows.weight, *quantiles, self.cutoff_rule)
        self.criterion_path_ = settled.criterion_path
        self.n_reorientations_ = max(0, len(settled.criterion_path) - 1)
        self.duality_gap_ = settled.relative_gap
        self.status_ = str(settled.status)
        self.rank_ = factor.rank
        self.factor_residual_ = factor.residual
        if isinstance(surface.kernel, LinearKernel):
            self.coef_ = surface.coefficients
        if settled.status is SplitStatus.UNCONVERGED:
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
        tags.input_tags.pairwise = is_precomputed(self.kernel)
        return tags
