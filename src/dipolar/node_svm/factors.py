"""Low-rank factors of kernels, and the surfaces that are linear in them.

A *factor* of a kernel on some rows is a matrix of features with `features @ features.T = K`, exactly or nearly.
Where the kernel has few features of its own (linear; polynomial with few monomials) those are used. Elsewhere it is
a pivoted incomplete Cholesky factor: rows are added to a basis, the worst represented one first, until the trace
of what is left is a small fraction of the trace of K. On a few rows LAPACK does that to the whole of K; on many, no
n x n matrix is ever made.

The columns of a factor are centred. The intercept of the surface absorbs the shift, and the node problem, whose
dual variables sum to zero, does not notice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr, solve_triangular
from scipy.linalg.lapack import dpstrf

from dipolar.kernels import LARGEST_SCALE, Kernel, PrecomputedKernel

__all__ = ["Factor", "Surface", "factorise", "few_features", "is_explicit", "snap"]

# Rows that are scored at a time, and fewer where they are wide.
ROWS_AT_A_TIME, FEWEST_AT_A_TIME = 512, 32

# Numbers that rows that are scored at a time should have in all.
NUMBERS_AT_A_TIME = 1 << 20

# Explicit features are used while they are no more than the rows, or no more than this.
FEW_FEATURES = 64

# Up to this many rows the kernel matrix is small (1 MB) and is made; LAPACK factors it several times faster.
FEW_ROWS = 400

# A pivot below this fraction of the largest diagonal element is rounding, or the indefinite part of the kernel.
NO_PIVOT = 1e-13

# Scores this close to the boundary of a surface, as a fraction of it, may be on either side of it by rounding.
AT_THE_EDGE = 1e-3

# A kernel of finite rank is factored down to rounding: its small directions may be whole covariates.
FINITE_RANK_TOL = 1e-12


@dataclass(frozen=True)
class Factor:
    """Features of some rows whose inner products are the kernel, and how to find those of other rows.

    Either the kernel's explicit features, or those of a basis of rows: features(x) = triangle^-1 k(basis, x).
    """

    kernel: Kernel
    features: np.ndarray  # (n_samples, rank), centred; each column is contiguous
    centre: np.ndarray  # (rank,) what was subtracted
    basis: np.ndarray  # (rank,) row numbers of the basis, empty for explicit features
    basis_rows: np.ndarray  # (rank, n_columns) those rows
    triangle: np.ndarray  # (rank, rank) lower triangle, the Cholesky factor of the kernel on the basis
    residual: (
        float  # trace of what the factor leaves out over the trace of the kernel; may pass 1 if that is indefinite
    )
    is_explicit: bool

    @property
    def rank(self) -> int:
        return self.features.shape[1]

    def surface(self, weights: np.ndarray, intercept: float) -> Surface:
        """The function of a row that `features @ weights + intercept` is on the factor's own rows."""
        shifted = float(intercept - self.centre @ weights)
        if self.is_explicit:
            return Surface(self.kernel, self.basis_rows, np.asarray(weights), shifted)
        return Surface(self.kernel, self.basis_rows, self._basis_coefficients(weights), shifted).without_rows()

    def _basis_coefficients(self, weights: np.ndarray) -> np.ndarray:
        """Return c with features(x) w = sum_k c_k k(basis_k, x)."""
        return solve_triangular(self.triangle, weights, lower=True, trans="T", check_finite=False)

    def expansion(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Row numbers and coefficients, no more than rank + 1, with sum_k coefficient_k k(row_k, x) = features(x) w.

        Up to a constant for a pivoted factor, whose coefficients do not sum to zero. Explicit features are expressed
        in rows chosen by a pivoted QR decomposition; that the coefficients sum to zero keeps the intercept.
        """
        if not self.is_explicit:
            return self.basis, self._basis_coefficients(weights)
        if not weights.any():
            return self.basis, np.empty(0)
        lifted = np.vstack((self.features.T, np.ones(len(self.features))))
        size = np.sqrt(np.einsum("ij,ij->i", lifted, lifted))
        present = size > 0
        lifted, size = lifted[present], size[present]
        triangle, pivots = qr(lifted / size[:, None], mode="r", pivoting=True, check_finite=False)
        leading = np.abs(np.diagonal(triangle))
        rows = np.sort(pivots[: np.count_nonzero(leading > 1e-12 * leading[0])])
        wanted = np.append(weights, 0.0)[present] / size
        coefficients = np.linalg.lstsq(lifted[:, rows] / size[:, None], wanted, rcond=None)[0]
        return rows, coefficients


@dataclass(frozen=True)
class Surface:
    """A score for any row: explicit features or kernel values with a few rows, times coefficients, plus intercept.

    A row goes left exactly where its score is below 0. Which way rows on the surface go is a matter of rule, not of
    rounding, and the boundary is that rule: they are the rows with a sum no larger than it in size, and they go left
    if it is positive and right if not.
    """

    kernel: Kernel
    rows: np.ndarray  # (rank, n_columns) basis rows, or (0, n_columns) where the features are explicit
    coefficients: np.ndarray  # (rank,)
    intercept: float
    boundary: float = 0.0

    def score(self, X: np.ndarray) -> np.ndarray:
        """Scores of the rows of X: on the surface 0 where it goes right, and minus the boundary where it goes left."""
        scores, tolerance = self.sums(X), abs(self.boundary)
        # Matrix products round a row's score in ways that depend on the rows beside it. Where that could decide whether
        # a row is on the surface, it is scored alone, so that it goes the same way in any company.
        for row in np.flatnonzero(np.abs(np.abs(scores) - tolerance) <= AT_THE_EDGE * tolerance):
            scores[row] = self.sums(X[row : row + 1])[0]
        return snap(scores, self.boundary)

    def sums(self, X: np.ndarray) -> np.ndarray:
        """Scores as they are computed; rows on the surface may have either sign.

        A matrix product rounds by the shapes and the layout of its matrices. Here all of them have the same: rows are
        scored so many at a time, filled up with copies of the first, so that a row has the same score in any company.
        """
        scores = np.full(len(X), self.intercept)
        if self.is_flat:
            return scores
        n_rows = max(FEWEST_AT_A_TIME, min(ROWS_AT_A_TIME, NUMBERS_AT_A_TIME // max(1, X.shape[1])))
        basis, part = np.ascontiguousarray(self.rows), np.empty((n_rows, X.shape[1]))
        for first in range(0, len(X), n_rows):
            here = X[first : first + n_rows]
            part[: len(here)], part[len(here) :] = here, X[0]
            with np.errstate(over="ignore", invalid="ignore"):
                values = self.kernel.block(part, basis) if len(basis) else self.kernel.features(part)
                scores[first : first + len(here)] += (values @ self.coefficients)[: len(here)]
        _require_scores(scores)
        return scores

    def without_rows(self) -> Surface:
        """Return the same score over the kernel's explicit features, where these are a list of monomials."""
        n_columns = self.rows.shape[1]
        monomials = self.kernel.monomials(n_columns)
        if not len(self.rows) or monomials is None or self.kernel.n_features(n_columns) is None:
            return self
        coefficients = self.kernel.features(self.rows).T @ self.coefficients
        constant = dict(monomials).get((), 0.0)  # the one term of the kernel that is no feature
        return Surface(
            self.kernel, self.rows[:0], coefficients, float(self.intercept + constant * self.coefficients.sum())
        )

    @property
    def is_flat(self) -> bool:
        """Whether the score is the same everywhere."""
        return not self.coefficients.any()


def snap(scores: np.ndarray, boundary: float) -> np.ndarray:
    """Give the rows on the surface, in place, a score that tells their side: 0 on the right, the least below 0 left."""
    on_surface = np.abs(scores) <= abs(boundary)
    scores[on_surface] = np.where(scores[on_surface] < boundary, -abs(boundary), 0.0)
    return scores


def _require_scores(scores: np.ndarray) -> None:
    lost = np.flatnonzero(~np.isfinite(scores))
    if len(lost):
        raise ValueError(
            f"X has {len(lost)} rows, the first of them row {lost[0]}, that are too far from the training rows for "
            "their score to be a number. Check the units of X."
        )


def factorise(
    kernel: Kernel, X: np.ndarray, tol: float = 1e-4, max_rank: int | None = None, *, whole: bool = False
) -> Factor:
    """Factor the kernel on the rows of X.

    Parameters
    ----------
    kernel : Kernel
    X : ndarray of shape (n_samples, n_columns)
    tol : float
        The pivoted factor stops when the trace of what it leaves out is below `tol` times the trace of the kernel.
    max_rank : int, default=None
        The most columns a pivoted factor may have; None for no limit but the number of rows.
    whole : bool
        Whether the kernel matrix is made whatever the number of rows: where it is small beside X.
    """
    with np.errstate(over="ignore", invalid="ignore"):
        if is_explicit(kernel, X.shape[1], len(X)):
            factor = _explicit_factor(kernel, X)
        else:
            diagonal = kernel.diagonal(X)
            _require_moderate(kernel, diagonal, LARGEST_SCALE**2)
            tol = min(tol, FINITE_RANK_TOL) if kernel.has_finite_rank else tol
            most = len(X) if max_rank is None else min(max_rank, len(X))
            factor = _pivoted_factor(kernel, X, diagonal, tol, most, whole or len(X) <= FEW_ROWS)
    _require_moderate(kernel, factor.features, LARGEST_SCALE)
    return factor


def is_explicit(kernel: Kernel, n_columns: int, n_rows: int) -> bool:
    """Whether the explicit features of a kernel, if it has any, are used for so many rows."""
    n_features = kernel.n_features(n_columns)
    return n_features is not None and bool(few_features(n_features, n_rows))


def few_features(n_features: Any, n_rows: Any) -> Any:
    """Whether so many explicit features are few enough for so many rows; numbers or arrays."""
    return n_features <= np.maximum(n_rows, FEW_FEATURES)


def _require_moderate(kernel: Kernel, values: np.ndarray, bound: float) -> None:
    """Refuse features, or kernel values, that compiled code could not square."""
    largest = max(values.max(initial=0.0), -values.min(initial=0.0))
    if not largest <= bound:  # also where it is NaN
        raise ValueError(
            f"kernel {kernel!r} takes values of size {largest:.2g} on these rows of X, and beyond {bound:.2g} "
            "arithmetic fails. Pass standardize=True, scale the covariates, or take a lower degree."
        )


def _explicit_factor(kernel: Kernel, X: np.ndarray) -> Factor:
    features, centre = _centred(kernel.features(X))
    none = np.empty(0, dtype=np.int64)
    return Factor(kernel, features, centre, none, np.empty((0, X.shape[1])), np.empty((0, 0)), 0.0, True)


def _pivoted_factor(
    kernel: Kernel, X: np.ndarray, diagonal: np.ndarray, tol: float, max_rank: int, whole: bool
) -> Factor:
    """Pivoted incomplete Cholesky (Fine and Scheinberg 2001); each step adds the row that is represented worst."""
    find = _pivot_matrix if whole else _pivot_columns
    columns, rows, residual = find(kernel, X, diagonal, tol, max_rank)
    triangle = np.tril(columns[:, rows].T)
    features, centre = _centred(columns.T)
    return Factor(kernel, features, centre, rows, _basis_rows(kernel, X, rows), triangle, residual, False)


def _pivot_matrix(
    kernel: Kernel, X: np.ndarray, diagonal: np.ndarray, tol: float, max_rank: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """Columns of the factor (one per row of the result), their pivots, and what they leave out: all at once."""
    gram = kernel.block(X, _basis_rows(kernel, X, np.arange(len(X))))
    # A block has the diagonal up to rounding, which would choose the first of rows that are all represented as badly.
    np.fill_diagonal(gram, diagonal)
    trace = np.abs(diagonal).sum()
    # LAPACK stops at a pivot; as long as the trace that is left is too large, some pivot is larger than its mean.
    least = max(NO_PIVOT * diagonal.max(initial=0.0), tol * trace / len(X), np.finfo(float).tiny)
    lower, pivots, rank, _ = dpstrf(gram, lower=1, tol=least)
    if not diagonal.max(initial=0.0) > least:
        rank = 0
    columns = np.empty((min(rank, max_rank), len(X)))
    columns[:, pivots - 1] = np.tril(lower)[:, : len(columns)].T
    left = np.abs(diagonal - np.cumsum(columns**2, axis=0)).sum(axis=1)
    enough = np.flatnonzero(left <= tol * trace)
    rank = enough[0] + 1 if len(enough) else len(columns)
    residual = float((left[rank - 1] if rank else trace) / trace) if trace > 0 else 0.0
    return columns[:rank], (pivots[:rank] - 1).astype(np.int64), residual


def _pivot_columns(
    kernel: Kernel, X: np.ndarray, diagonal: np.ndarray, tol: float, max_rank: int
) -> tuple[np.ndarray, np.ndarray, float]:
    """The same column by column, in memory that grows with the rank alone."""
    remainder = diagonal.copy()
    largest = remainder.max(initial=0.0)
    trace = np.abs(remainder).sum()
    columns = np.empty((min(max_rank, 64), len(X)))  # grown by doubling
    basis: list[int] = []
    left = trace
    while len(basis) < max_rank and left > tol * trace:
        pivot = int(np.argmax(remainder))
        if not remainder[pivot] > NO_PIVOT * largest:
            break
        rank = len(basis)
        if rank == len(columns):
            columns = np.concatenate((columns, np.empty((min(rank, max_rank - rank), len(X)))))
        column = kernel.block(X, _basis_rows(kernel, X, np.array([pivot])))[:, 0]
        column -= columns[:rank, pivot] @ columns[:rank]
        column /= np.sqrt(remainder[pivot])
        columns[rank] = column
        remainder -= column * column
        basis.append(pivot)
        remainder[basis] = 0.0
        left = np.abs(remainder).sum()
    residual = float(left / trace) if trace > 0 else 0.0
    return columns[: len(basis)], np.array(basis, dtype=np.int64), residual


def _centred(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Subtract the column means; a constant column becomes exactly zero, whatever the rounding of its mean."""
    centre = features.mean(axis=0)
    centred = np.asfortranarray(features - centre)
    centred[:, np.ptp(features, axis=0) == 0] = 0.0
    return centred, centre


def _basis_rows(kernel: Kernel, X: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """What `kernel.block` needs of training rows to compare others with them."""
    return rows[:, None].astype(np.float64) if isinstance(kernel, PrecomputedKernel) else X[rows]
