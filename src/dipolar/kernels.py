"""Kernels: Gram blocks by matrix products, and explicit features where a kernel has few."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, factorial, prod
from typing import Any, ClassVar

import numpy as np

from dipolar.parameters import check_number

__all__ = ["LARGEST_SCALE", "Kernel", "PrecomputedKernel", "make_kernel", "mean_squared_deviation"]

# Explicit monomials are used up to this number; beyond it the pivoted factor is cheaper.
MAX_MONOMIALS = 256

# Features, and everything that is compared with them, are at most this large, so that their squares stay finite, and at
# least the reciprocal of it where they are not 0.
LARGEST_SCALE = 1e75

MAX_DEGREE = 20


@dataclass(frozen=True)
class Kernel:
    """A similarity of rows; subclasses say which."""

    #: Whether the Gram matrix has a rank that does not grow with the number of rows.
    has_finite_rank: ClassVar[bool] = False

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return the matrix of k(a, b) for the rows of A and B."""
        raise NotImplementedError

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        """Return k(a, a) for the rows of A."""
        raise NotImplementedError

    def n_features(self, n_columns: int) -> int | None:
        """Number of explicit features on rows of this width; None where there are infinitely or too many."""
        return None

    def features(self, A: np.ndarray) -> np.ndarray:
        """Return explicit features whose inner products are the kernel, up to an added constant."""
        raise NotImplementedError


@dataclass(frozen=True)
class LinearKernel(Kernel):
    """k(u, v) = <u, v>"""

    has_finite_rank: ClassVar[bool] = True

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return A @ B.T

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ij->i", A, A)

    def n_features(self, n_columns: int) -> int | None:
        return n_columns

    def features(self, A: np.ndarray) -> np.ndarray:
        return A


@dataclass(frozen=True)
class PolynomialKernel(Kernel):
    """k(u, v) = (<u, v> + coef0) ^ degree

    Its features are the monomials of degree d in (sqrt(coef0), x1, ..., xp), each times the square root of its
    multinomial coefficient. The constant one is left out: it moves the intercept and nothing else.
    """

    degree: int
    coef0: float
    has_finite_rank: ClassVar[bool] = True

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return (A @ B.T + self.coef0) ** self.degree

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return (np.einsum("ij,ij->i", A, A) + self.coef0) ** self.degree

    def n_features(self, n_columns: int) -> int | None:
        if self.coef0 > 0:
            count = comb(n_columns + self.degree, self.degree) - 1
        else:
            count = comb(n_columns + self.degree - 1, self.degree)
        return count if count <= MAX_MONOMIALS else None

    def monomials(self, n_columns: int) -> list[tuple[int, ...]]:
        """The column numbers that each feature multiplies, repeated for powers; () would be the constant."""
        lowest = 1 if self.coef0 > 0 else self.degree
        return [
            columns
            for order in range(lowest, self.degree + 1)
            for columns in combinations_with_replacement(range(n_columns), order)
        ]

    def features(self, A: np.ndarray) -> np.ndarray:
        factors, sizes = _monomial_factors(self, A.shape[1])
        padded = np.column_stack((A, np.ones(len(A))))
        result = padded[:, factors[0]]
        for columns in factors[1:]:
            result *= padded[:, columns]
        result *= sizes
        return result


@lru_cache(maxsize=16)
def _monomial_factors(kernel: PolynomialKernel, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns whose product each feature is, as many as the degree, and by what it is multiplied.

    Monomials of a lower degree are filled up with the column behind the last one, which is all ones.
    """
    degree = kernel.degree
    monomials = kernel.monomials(n_columns)
    factors = np.full((degree, len(monomials)), n_columns)
    sizes = np.empty(len(monomials))
    for feature, columns in enumerate(monomials):
        factors[: len(columns), feature] = columns
        powers = [degree - len(columns), *Counter(columns).values()]
        multinomial = factorial(degree) / prod(factorial(power) for power in powers)
        sizes[feature] = np.sqrt(multinomial * kernel.coef0 ** (degree - len(columns)))
    return factors, sizes


@dataclass(frozen=True)
class GaussianKernel(Kernel):
    """k(u, v) = exp(-|u - v|^2 / (2 sigma2))"""

    sigma2: float

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        # Distances from a common centre lose less to cancellation than distances from the origin.
        centre = B.mean(axis=0)
        A, B = A - centre, B - centre
        squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)[None, :]
        squares -= 2.0 * (A @ B.T)
        np.maximum(squares, 0.0, out=squares)
        squares *= -0.5 / self.sigma2
        return np.exp(squares, out=squares)

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.ones(len(A))


@dataclass(frozen=True)
class LaplacianKernel(Kernel):
    """k(u, v) = exp(-gamma * sum |u_i - v_i|)"""

    gamma: float

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        from scipy.spatial.distance import cdist

        return np.exp(-self.gamma * cdist(A, B, "cityblock"))

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.ones(len(A))


@dataclass(frozen=True)
class SigmoidKernel(Kernel):
    """k(u, v) = tanh(gamma * <u, v> + coef0)

    Not positive definite in general. The factor is then a positive definite kernel that agrees with it on the basis
    rows, which are added while one has a positive remainder; what is left, of either sign, is reported as the residual.
    """

    gamma: float
    coef0: float

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.tanh(self.gamma * (A @ B.T) + self.coef0)

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.tanh(self.gamma * np.einsum("ij,ij->i", A, A) + self.coef0)


@dataclass(frozen=True)
class CallableKernel(Kernel):
    """A user's function of two matrices of rows, as in scikit-learn: it returns the matrix of their kernel values."""

    function: Callable[[np.ndarray, np.ndarray], np.ndarray]

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        gram = np.asarray(self.function(A, B), dtype=np.float64)
        if gram.shape != (len(A), len(B)):
            raise ValueError(
                f"kernel should return a matrix of shape ({len(A)}, {len(B)}) for {len(A)} and {len(B)} rows, "
                f"got shape {gram.shape}."
            )
        if not np.isfinite(gram).all():
            raise ValueError("kernel returned NaN or infinite values. Scale the covariates or change the kernel.")
        return gram

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.array([self.block(row[None, :], row[None, :])[0, 0] for row in A])


@dataclass(frozen=True)
class PrecomputedKernel(Kernel):
    """X holds the kernel values themselves: one column for each row of the training set.

    A "row" is then a row of that matrix, and a basis row is told by its column.
    """

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return A[:, np.asarray(B, dtype=np.int64).ravel()]

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.diagonal(A).copy()


KERNEL_NAMES = ("linear", "polynomial", "quadratic", "rbf", "laplacian", "sigmoid", "precomputed")
ALIASES = {"poly": "polynomial", "gaussian": "rbf"}


def make_kernel(
    kernel: Any,
    X: np.ndarray,
    weight: np.ndarray,
    *,
    degree: int = 3,
    coef0: float = 1.0,
    gamma: float | None = None,
    sigma2: float | None = None,
) -> Kernel:
    """Turn a kernel's name and parameters into a kernel whose data-dependent parameters are fixed.

    Parameters
    ----------
    kernel : str, callable or Kernel
        "linear", "polynomial" ("poly"), "quadratic", "rbf" ("gaussian"), "laplacian", "sigmoid", "precomputed", or a
        function of two matrices of rows.
    X, weight : ndarray
        The training rows, for the default widths.
    degree, coef0 : int, float
        Of the polynomial kernel; coef0 also of the sigmoid kernel. The quadratic kernel is degree 2, coef0 1.
    gamma : float, default=None
        Of the Laplacian and sigmoid kernels: 1 / (number of columns * variance of X) by default. For the Gaussian
        kernel another way to say 1 / (2 sigma2).
    sigma2 : float, default=None
        Of the Gaussian kernel: the mean squared distance from the mean of the rows by default.
    """
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    name = ALIASES.get(kernel, kernel) if isinstance(kernel, str) else None
    if name == "linear":
        return LinearKernel()
    if name == "quadratic":
        return PolynomialKernel(degree=2, coef0=1.0)
    if name == "polynomial":
        return _polynomial(degree, coef0)
    if name == "rbf":
        return GaussianKernel(_gaussian_width(X, weight, gamma, sigma2))
    if name == "laplacian":
        return LaplacianKernel(_slope(X, weight, gamma))
    if name == "sigmoid":
        return SigmoidKernel(
            _slope(X, weight, gamma), check_number("coef0", coef0, low=-LARGEST_SCALE, high=LARGEST_SCALE)
        )
    if name == "precomputed":
        if X.shape[0] != X.shape[1]:
            raise ValueError(
                f"With kernel='precomputed', X must be the square kernel matrix of the training rows, got {X.shape}."
            )
        return PrecomputedKernel()
    raise ValueError(f"kernel must be one of {list(KERNEL_NAMES)} or a callable, got {kernel!r}.")


def mean_squared_deviation(X: np.ndarray, weight: np.ndarray) -> float:
    """Mean squared distance of the rows from their mean: the paper's sigma^2."""
    centred = X - np.average(X, axis=0, weights=weight)
    return float(np.average(np.einsum("ij,ij->i", centred, centred), weights=weight))


def _polynomial(degree: int, coef0: float) -> PolynomialKernel:
    whole = check_number("degree", degree, low=1, high=MAX_DEGREE, whole=True, hint="2 and 3 are common.")
    hint = "A negative one would not be positive definite."
    return PolynomialKernel(int(whole), check_number("coef0", coef0, low=0, high=LARGEST_SCALE, hint=hint))


def _gaussian_width(X: np.ndarray, weight: np.ndarray, gamma: float | None, sigma2: float | None) -> float:
    if sigma2 is not None and gamma is not None:
        raise ValueError(f"sigma2 and gamma say the same thing (gamma = 1 / (2 sigma2)), got both: {sigma2}, {gamma}.")
    if gamma is not None:
        return 0.5 / _square_scale("gamma", gamma)
    if sigma2 is not None:
        return _square_scale("sigma2", sigma2)
    return mean_squared_deviation(X, weight) or 1.0  # constant covariates: any width gives the same kernel


def _slope(X: np.ndarray, weight: np.ndarray, gamma: float | None) -> float:
    return 1.0 / (mean_squared_deviation(X, weight) or 1.0) if gamma is None else _square_scale("gamma", gamma)


def _square_scale(name: str, value: float) -> float:
    """Check a number on the scale of squared covariates, or of their reciprocal."""
    return check_number(name, value, low=LARGEST_SCALE**-2, high=LARGEST_SCALE**2)
