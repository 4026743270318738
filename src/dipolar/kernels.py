"""Kernels: Gram blocks by matrix products, explicit features where a kernel has few, and what else it is known by.

Everything about a kernel stands in its class: its mathematics, the word that rules call it by, the plain form that
files and exports hold, and the JavaScript that computes it in a web page. `@register_kernel` lets saved models name it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, factorial, log, prod
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from dipolar.parameters import check_number

__all__ = [
    "KERNELS",
    "LARGEST_SCALE",
    "Kernel",
    "Monomial",
    "PrecomputedKernel",
    "is_precomputed",
    "make_kernel",
    "mean_squared_deviation",
    "register_kernel",
    "require_square",
]

# Columns that are multiplied, repeated for powers; () is the constant.
Monomial = tuple[int, ...]

# Explicit monomials are used up to this number; beyond it the pivoted factor is cheaper.
MAX_MONOMIALS = 256

# A polynomial of more terms is not written out.
MAX_TERMS = 2000

# Features, and everything that is compared with them, are at most this large, so that their squares stay finite, and at
# least the reciprocal of it where they are not 0.
LARGEST_SCALE = 1e75

MAX_DEGREE = 20


# The kernels that a file may name. A name from a file only ever selects an entry of this table.
KERNELS: dict[str, type[Kernel]] = {}


def register_kernel(cls: type[Kernel]) -> type[Kernel]:
    """Let files name a kernel: models with it can then be saved and loaded. All its fields have to be numbers."""
    known = KERNELS.get(cls.__name__, cls)
    if known.__module__ != cls.__module__:
        raise ValueError(
            f"{cls.__name__} of {cls.__module__} has the name of a kernel of {known.__module__}, and saved models tell "
            "kernels by their names. Give the class another one."
        )
    KERNELS[cls.__name__] = cls
    return cls


@dataclass(frozen=True)
class Kernel:
    """A similarity of rows; subclasses say which.

    A kernel needs `block` and `diagonal`. Its parameters are the fields of its dataclass. What else it can say about
    itself is optional, and names what works with it: the defaults mean that it cannot be written out as a sum, that
    no web page computes it, and that rules speak of "the kernel".
    """

    #: Whether the Gram matrix has a rank that does not grow with the number of rows.
    has_finite_rank: ClassVar[bool] = False

    #: Whether it sees of two rows only their inner products, so that rows may be given in any orthonormal basis.
    is_rotation_invariant: ClassVar[bool] = False

    #: k(u, v) as a JavaScript function of two arrays of numbers and an object of the parameters; None: there is none.
    javascript: ClassVar[str | None] = None

    def check(self) -> None:
        """Raise ValueError if a parameter is out of range; None, where it may be, is learnt from the training rows."""

    def fit(self, X: np.ndarray, weight: np.ndarray) -> Kernel:
        """Return the kernel with all its parameters fixed: those that are None are learnt from the training rows."""
        self.check()
        return self

    def narrowed(self, share: float) -> Kernel:
        """Return the kernel as it should be on a share of the covariates that it was fitted to."""
        return self

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        """Return the matrix of k(a, b) for the rows of A and B."""
        raise NotImplementedError

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        """Return k(a, a) for the rows of A."""
        raise NotImplementedError

    def moves(self, A: np.ndarray, B: np.ndarray, coefficients: np.ndarray, steps: np.ndarray) -> np.ndarray | None:
        """Return by how much the sum of coefficients times k(a, b) over the rows b of B changes with covariates.

        One covariate at a time moves by its step. Nearly, where each is a small part of the kernel, and by matrix
        products, which is what wide rows need; None where the kernel has no such form.
        """
        return None

    def n_features(self, n_columns: int) -> int | None:
        """Number of explicit features on rows of this width; None where there are infinitely or too many."""
        return None

    def features(self, A: np.ndarray) -> np.ndarray:
        """Return explicit features whose inner products are the kernel, up to an added constant."""
        raise NotImplementedError

    def monomials(self, n_columns: int) -> list[tuple[Monomial, float]] | None:
        """Return monomials m and weights w with k(u, v) = sum of w m(u) m(v); None for no polynomial, or a huge one.

        Where there are explicit features, each is one of these monomials times the square root of its weight, in this
        order; the constant is none of them.
        """
        return None

    @property
    def word(self) -> str:
        """What goes before "score" in rules."""
        return "kernel"

    def to_dict(self) -> dict[str, Any]:
        """Return the name and the parameters of the kernel as JSON types; functions are left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            "name": type(self).__name__,
            "parameters": {
                name: value.item() if isinstance(value, np.generic) else value
                for name, value in values.items()
                if value is None or isinstance(value, Real)
            },
        }

    @staticmethod
    def from_dict(plain: Mapping[str, Any]) -> Kernel:
        """Undo `to_dict` for a kernel that is registered."""
        if not (isinstance(plain, Mapping) and isinstance(plain.get("parameters"), Mapping)):
            raise ValueError(f"a kernel should be a name and its parameters, got {plain!r:.200}")
        name, parameters = plain.get("name"), plain["parameters"]
        if not isinstance(name, str) or name not in KERNELS:
            raise ValueError(
                f"an unknown kernel {name!r:.60}; known are {sorted(KERNELS)}. Import the module that registers it "
                "first"
            )
        wanted = [field.name for field in fields(KERNELS[name])]
        if sorted(parameters) != sorted(wanted):
            raise ValueError(f"{name} has the parameters {wanted}, got {dict(parameters)!r:.200}")
        for parameter, value in parameters.items():
            if value is not None:
                check_number(parameter, value)
        kernel = KERNELS[name](**parameters)
        kernel.check()
        return kernel


@register_kernel
@dataclass(frozen=True)
class LinearKernel(Kernel):
    """k(u, v) = <u, v>"""

    has_finite_rank: ClassVar[bool] = True
    is_rotation_invariant: ClassVar[bool] = True
    javascript: ClassVar[str | None] = "(u, v) => u.reduce((sum, x, i) => sum + x * v[i], 0)"

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return A @ B.T

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ij->i", A, A)

    def n_features(self, n_columns: int) -> int | None:
        return n_columns

    def features(self, A: np.ndarray) -> np.ndarray:
        return A

    def monomials(self, n_columns: int) -> list[tuple[Monomial, float]] | None:
        return [((column,), 1.0) for column in range(n_columns)]

    @property
    def word(self) -> str:
        return "linear"


@register_kernel
@dataclass(frozen=True)
class PolynomialKernel(Kernel):
    """k(u, v) = (<u, v> + coef0) ^ degree

    Its features are the monomials of degree d in (sqrt(coef0), x1, ..., xp), each times the square root of its
    multinomial coefficient. The constant one is left out: it moves the intercept and nothing else.
    """

    degree: int = 3
    coef0: float = 1.0
    has_finite_rank: ClassVar[bool] = True
    is_rotation_invariant: ClassVar[bool] = True
    javascript: ClassVar[str | None] = (
        "(u, v, { degree, coef0 }) => (u.reduce((sum, x, i) => sum + x * v[i], 0) + coef0) ** degree"
    )

    def check(self) -> None:
        check_number("degree", self.degree, low=1, high=MAX_DEGREE, whole=True, hint="2 and 3 are common.")
        hint = "A negative one would not be positive definite."
        check_number("coef0", self.coef0, low=0, high=LARGEST_SCALE, hint=hint)
        # Its powers are the weights of the monomials, by whose roots coefficients are divided.
        if self.coef0 and self.degree * abs(log(self.coef0)) > 3 * log(LARGEST_SCALE):
            raise ValueError(
                f"coef0 must be 0, or between {LARGEST_SCALE**-3:g} and {LARGEST_SCALE**3:g} when taken to the power "
                f"of {self.degree}, the degree, got {self.coef0!r}. Around 1 is common."
            )

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return (A @ B.T + self.coef0) ** self.degree

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return (np.einsum("ij,ij->i", A, A) + self.coef0) ** self.degree

    def moves(self, A: np.ndarray, B: np.ndarray, coefficients: np.ndarray, steps: np.ndarray) -> np.ndarray:
        return steps * ((self.degree * (A @ B.T + self.coef0) ** (self.degree - 1) * coefficients) @ B)

    def n_features(self, n_columns: int) -> int | None:
        if self.coef0 > 0:
            count = comb(n_columns + self.degree, self.degree) - 1
        else:
            count = comb(n_columns + self.degree - 1, self.degree)
        return count if count <= MAX_MONOMIALS else None

    def features(self, A: np.ndarray) -> np.ndarray:
        factors, sizes = _monomial_factors(self, A.shape[1])
        padded = np.column_stack((A, np.ones(len(A))))
        result = padded[:, factors[0]]
        for columns in factors[1:]:
            result *= padded[:, columns]
        result *= sizes
        return result

    def monomials(self, n_columns: int) -> list[tuple[Monomial, float]] | None:
        return list(self._expansion(n_columns)) if comb(n_columns + self.degree, self.degree) <= MAX_TERMS else None

    def _expansion(self, n_columns: int) -> Iterator[tuple[Monomial, float]]:
        """Yield the monomials of the kernel by their degrees, and their multinomial coefficients."""
        for order in range(0 if self.coef0 > 0 else self.degree, self.degree + 1):
            constant = self.coef0 ** (self.degree - order)
            for columns in combinations_with_replacement(range(n_columns), order):
                powers = [self.degree - order, *Counter(columns).values()]
                yield columns, factorial(self.degree) / prod(factorial(power) for power in powers) * constant

    @property
    def word(self) -> str:
        return {1: "linear", 2: "quadratic", 3: "cubic"}.get(self.degree, f"degree {self.degree} polynomial")


@lru_cache(maxsize=16)
def _monomial_factors(kernel: PolynomialKernel, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """The columns whose product each feature is, as many as the degree, and by what it is multiplied.

    Monomials of a lower degree are filled up with the column behind the last one, which is all ones.
    """
    monomials = [(columns, weight) for columns, weight in kernel._expansion(n_columns) if columns]
    factors = np.full((kernel.degree, len(monomials)), n_columns)
    for feature, (columns, _) in enumerate(monomials):
        factors[: len(columns), feature] = columns
    return factors, np.sqrt([weight for _, weight in monomials])


@register_kernel
@dataclass(frozen=True)
class GaussianKernel(Kernel):
    """k(u, v) = exp(-|u - v|^2 / (2 sigma2)); by default sigma2 is the mean squared distance from the mean"""

    sigma2: float | None = None
    is_rotation_invariant: ClassVar[bool] = True
    javascript: ClassVar[str | None] = (
        "(u, v, { sigma2 }) => Math.exp(-u.reduce((sum, x, i) => sum + (x - v[i]) ** 2, 0) / (2 * sigma2))"
    )

    def check(self) -> None:
        _check_square_scale("sigma2", self.sigma2)

    def fit(self, X: np.ndarray, weight: np.ndarray) -> GaussianKernel:
        self.check()
        # Of constant covariates any width gives the same kernel.
        return self if self.sigma2 is not None else GaussianKernel(mean_squared_deviation(X, weight) or 1.0)

    def narrowed(self, share: float) -> GaussianKernel:
        return self if self.sigma2 is None else replace(self, sigma2=self.sigma2 * share)

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        # Distances from a common centre lose less to cancellation than distances from the origin.
        centre = B.mean(axis=0)
        A, B = A - centre, B - centre
        squares = np.einsum("ij,ij->i", A, A)[:, None] + np.einsum("ij,ij->i", B, B)[None, :]
        squares -= 2.0 * (A @ B.T)
        np.maximum(squares, 0.0, out=squares)
        squares *= -0.5 / _learnt(self, self.sigma2)
        return np.exp(squares, out=squares)

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.ones(len(A))

    def moves(self, A: np.ndarray, B: np.ndarray, coefficients: np.ndarray, steps: np.ndarray) -> np.ndarray:
        pulls = self.block(A, B) * (coefficients / _learnt(self, self.sigma2))
        return steps * (pulls @ B - pulls.sum(axis=1)[:, None] * (A + 0.5 * steps))

    @property
    def word(self) -> str:
        return "Gaussian"


@register_kernel
@dataclass(frozen=True)
class LaplacianKernel(Kernel):
    """k(u, v) = exp(-gamma * sum |u_i - v_i|); by default gamma is 1 / (total variance)"""

    gamma: float | None = None
    javascript: ClassVar[str | None] = (
        "(u, v, { gamma }) => Math.exp(-gamma * u.reduce((sum, x, i) => sum + Math.abs(x - v[i]), 0))"
    )

    def check(self) -> None:
        _check_square_scale("gamma", self.gamma)

    def fit(self, X: np.ndarray, weight: np.ndarray) -> LaplacianKernel:
        self.check()
        return self if self.gamma is not None else LaplacianKernel(_slope(X, weight))

    def narrowed(self, share: float) -> LaplacianKernel:
        return self if self.gamma is None else replace(self, gamma=self.gamma / share)

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        from scipy.spatial.distance import cdist

        return np.exp(-_learnt(self, self.gamma) * cdist(A, B, "cityblock"))

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.ones(len(A))

    @property
    def word(self) -> str:
        return "Laplacian"


@register_kernel
@dataclass(frozen=True)
class SigmoidKernel(Kernel):
    """k(u, v) = tanh(gamma * <u, v> + coef0)

    Not positive definite in general. The factor is then a positive definite kernel that agrees with it on the basis
    rows, which are added while one has a positive remainder; what is left, of either sign, is reported as the residual.
    """

    gamma: float | None = None
    coef0: float = 1.0
    is_rotation_invariant: ClassVar[bool] = True
    javascript: ClassVar[str | None] = (
        "(u, v, { gamma, coef0 }) => Math.tanh(gamma * u.reduce((sum, x, i) => sum + x * v[i], 0) + coef0)"
    )

    def check(self) -> None:
        _check_square_scale("gamma", self.gamma)
        check_number("coef0", self.coef0, low=-LARGEST_SCALE, high=LARGEST_SCALE)

    def fit(self, X: np.ndarray, weight: np.ndarray) -> SigmoidKernel:
        self.check()
        return self if self.gamma is not None else replace(self, gamma=_slope(X, weight))

    def narrowed(self, share: float) -> SigmoidKernel:
        return self if self.gamma is None else replace(self, gamma=self.gamma / share)

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return np.tanh(_learnt(self, self.gamma) * (A @ B.T) + self.coef0)

    def moves(self, A: np.ndarray, B: np.ndarray, coefficients: np.ndarray, steps: np.ndarray) -> np.ndarray:
        return steps * (((1.0 - self.block(A, B) ** 2) * (coefficients * _learnt(self, self.gamma))) @ B)

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.tanh(_learnt(self, self.gamma) * np.einsum("ij,ij->i", A, A) + self.coef0)

    @property
    def word(self) -> str:
        return "sigmoid"


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

    def fit(self, X: np.ndarray, weight: np.ndarray) -> PrecomputedKernel:
        require_square(X)
        return self

    def block(self, A: np.ndarray, B: np.ndarray) -> np.ndarray:
        return A[:, np.asarray(B, dtype=np.int64).ravel()]

    def diagonal(self, A: np.ndarray) -> np.ndarray:
        return np.diagonal(A).copy()


NAMED = {
    "linear": LinearKernel(),
    "quadratic": PolynomialKernel(degree=2),
    "polynomial": PolynomialKernel(),
    "rbf": GaussianKernel(),
    "laplacian": LaplacianKernel(),
    "sigmoid": SigmoidKernel(),
    "precomputed": PrecomputedKernel(),
}
ALIASES = {"poly": "polynomial", "gaussian": "rbf"}


def make_kernel(kernel: Any) -> Kernel:
    """Return the kernel that a user means by a name, a function of two matrices of rows, or the kernel itself."""
    if isinstance(kernel, Kernel):
        return kernel
    if callable(kernel):
        return CallableKernel(kernel)
    name = ALIASES.get(kernel, kernel) if isinstance(kernel, str) else None
    if name not in NAMED:
        raise ValueError(
            f"kernel must be one of {list(NAMED)}, a kernel of dipolar.kernels such as GaussianKernel(sigma2=2.0), or "
            f"a function of two matrices of rows, got {kernel!r}."
        )
    return NAMED[name]


def is_precomputed(kernel: Any) -> bool:
    """Whether a user's kernel, a name or an object, means that X holds the kernel values."""
    return isinstance(kernel, PrecomputedKernel) or (isinstance(kernel, str) and kernel == "precomputed")


def mean_squared_deviation(X: np.ndarray, weight: np.ndarray) -> float:
    """Mean squared distance of the rows from their mean: the paper's sigma^2."""
    centred = X - np.average(X, axis=0, weights=weight)
    return float(np.average(np.einsum("ij,ij->i", centred, centred), weights=weight))


def require_square(X: np.ndarray) -> None:
    """Refuse what cannot be the kernel matrix of the training rows."""
    if X.shape[0] != X.shape[1]:
        raise ValueError(
            f"With kernel='precomputed', X must be the square kernel matrix of the training rows, got {X.shape}."
        )


def _learnt(kernel: Kernel, parameter: float | None) -> float:
    """Return a parameter that has been fixed."""
    if parameter is None:
        raise ValueError(f"{kernel!r} has a parameter that is None. Give it a number, or call kernel.fit(X, weight).")
    return parameter


def _slope(X: np.ndarray, weight: np.ndarray) -> float:
    return 1.0 / (mean_squared_deviation(X, weight) or 1.0)  # constant covariates: any slope gives the same kernel


def _check_square_scale(name: str, value: float | None) -> None:
    """Check a number on the scale of squared covariates, or of their reciprocal; None is to be learnt."""
    if value is not None:
        check_number(name, value, low=LARGEST_SCALE**-2, high=LARGEST_SCALE**2)
