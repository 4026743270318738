"""What a design is put together from: baseline hazards, covariates, predictors and censoring.

Glossary
--------
h0, H0   hazard and cumulative hazard of a row whose linear predictor is 0
k        `shape` of a Weibull distribution
a        `shape` of a Gompertz distribution

Baselines work on the logarithm of H0, because a linear predictor of a few hundred overflows on the way to a
survival probability that is 0 all the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.special import xlogy

__all__ = [
    "EXPONENTIAL",
    "Baseline",
    "Gompertz",
    "NormalCovariates",
    "QuadraticPredictor",
    "Weibull",
    "WeibullCensoring",
]


class Baseline(Protocol):
    """A baseline distribution of event times, by its log hazards."""

    def log_hazard(self, time: np.ndarray) -> np.ndarray:
        """Return log h0(t)."""
        ...

    def log_cumulative_hazard(self, time: np.ndarray) -> np.ndarray:
        """Return log H0(t)."""
        ...

    def time_at(self, log_cumulative_hazard: np.ndarray) -> np.ndarray:
        """Return the t that has the given log H0(t)."""
        ...


@dataclass(frozen=True)
class Weibull:
    """Weibull baseline: h0(t) = k t^(k-1), H0(t) = t^k.

    With the linear predictor `lin`, event times are Weibull with shape k and scale exp(-lin / k). Shape 1 is
    the exponential distribution with rate exp(lin).

    Parameters
    ----------
    shape : float, default=1.0
        k > 0. Hazards fall over time below 1 and rise above it.
    """

    shape: float = 1.0

    def __post_init__(self) -> None:
        _require_positive("shape", self.shape)

    def log_hazard(self, time: np.ndarray) -> np.ndarray:
        """Return log k + (k - 1) log t."""
        return np.log(self.shape) + xlogy(self.shape - 1.0, time)

    def log_cumulative_hazard(self, time: np.ndarray) -> np.ndarray:
        """Return k log t."""
        return xlogy(self.shape, time)

    def time_at(self, log_cumulative_hazard: np.ndarray) -> np.ndarray:
        """Return exp(log H0 / k)."""
        with np.errstate(over="ignore"):
            return np.exp(log_cumulative_hazard / self.shape)


@dataclass(frozen=True)
class Gompertz:
    """Gompertz baseline: h0(t) = exp(a t), H0(t) = (exp(a t) - 1) / a.

    Parameters
    ----------
    shape : float
        a > 0, the rate at which the log hazard rises.
    """

    shape: float

    def __post_init__(self) -> None:
        _require_positive("shape", self.shape)

    def log_hazard(self, time: np.ndarray) -> np.ndarray:
        """Return a t."""
        return self.shape * np.asarray(time, dtype=np.float64)

    def log_cumulative_hazard(self, time: np.ndarray) -> np.ndarray:
        """Return log((exp(a t) - 1) / a) = a t + log(1 - exp(-a t)) - log a."""
        exponent = self.log_hazard(time)
        with np.errstate(divide="ignore"):  # log H0(0) is -inf
            return exponent + np.log(-np.expm1(-exponent)) - np.log(self.shape)

    def time_at(self, log_cumulative_hazard: np.ndarray) -> np.ndarray:
        """Return log(1 + a H0) / a."""
        return np.logaddexp(0.0, np.log(self.shape) + log_cumulative_hazard) / self.shape


@dataclass(frozen=True)
class NormalCovariates:
    """Independent normal covariates.

    Parameters
    ----------
    means, sds : sequences of float, of equal length
        Mean and standard deviation (not variance) of each covariate.
    """

    means: tuple[float, ...]
    sds: tuple[float, ...]

    def __post_init__(self) -> None:
        _freeze_vectors(self, "means", "sds")
        if len(self.means) != len(self.sds) or not self.means:
            raise ValueError(
                f"means and sds should have one value per covariate, got {len(self.means)} means and "
                f"{len(self.sds)} sds. Give both the same length, at least 1."
            )
        if min(self.sds) < 0:
            raise ValueError(
                f"sds must not be negative, got {min(self.sds)}. They are standard deviations; 0 makes a constant."
            )

    def __call__(self, n: int, rng: np.random.Generator) -> np.ndarray:
        """Draw an (n, n_covariates) array."""
        return rng.normal(self.means, self.sds, size=(n, len(self.means)))


@dataclass(frozen=True)
class QuadraticPredictor:
    """Linear predictor without cross terms.

        lin(x) = constant + sum_j linear_j x_j + sum_j squares_j (x_j - centre_j)^2

    Its level sets are hyperplanes, parabolas, ellipses or hyperbolas: all that the paper simulates.

    Parameters
    ----------
    constant : float
    linear : sequence of float
        One coefficient per covariate.
    squares, centre : sequences of float, default=()
        Coefficients and centres of the squared terms; empty means 0 for every covariate.
    """

    constant: float
    linear: tuple[float, ...]
    squares: tuple[float, ...] = ()
    centre: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _freeze_vectors(self, "linear", "squares", "centre")
        for name in ("squares", "centre"):
            if len(getattr(self, name)) not in (0, len(self.linear)):
                raise ValueError(
                    f"{name} should be empty or as long as linear ({len(self.linear)}), got "
                    f"{len(getattr(self, name))} values. Write 0 for a covariate without this term."
                )

    def __call__(self, X: np.ndarray) -> np.ndarray:
        """Evaluate at the rows of X."""
        if X.shape[1] != len(self.linear):
            raise ValueError(
                f"X should have {len(self.linear)} columns, one per coefficient, got {X.shape[1]}. "
                "The predictor needs every covariate of the design, unseen ones included."
            )
        centre = np.array(self.centre) if self.centre else np.zeros(X.shape[1])
        squares = np.array(self.squares) if self.squares else np.zeros(X.shape[1])
        return self.constant + X @ np.array(self.linear) + (X - centre) ** 2 @ squares


@dataclass(frozen=True)
class WeibullCensoring:
    """Censoring times independent of everything else: P(C > t) = exp(-(t / scale)^shape).

    Parameters
    ----------
    scale : float
        Mean of the censoring times where shape = 1, the exponential distribution.
    shape : float, default=1.0
    """

    scale: float
    shape: float = 1.0

    def __post_init__(self) -> None:
        _require_positive("scale", self.scale)
        _require_positive("shape", self.shape)

    def __call__(self, X: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Draw one censoring time for each row of X."""
        return self.scale * rng.weibull(self.shape, size=len(X))


def _require_positive(name: str, value: Any) -> None:
    if not (np.isfinite(value) and value > 0):
        raise ValueError(f"{name} must be positive and finite, got {value}. 1 is the plain choice.")


def _freeze_vectors(record: Any, *names: str) -> None:
    """Turn the named fields into tuples of floats, so that equal records compare and hash as equal."""
    for name in names:
        values = np.asarray(getattr(record, name), dtype=np.float64)
        if values.ndim != 1 or not np.isfinite(values).all():
            raise ValueError(f"{name} should be a sequence of finite numbers, got {getattr(record, name)!r}.")
        object.__setattr__(record, name, tuple(values.tolist()))


EXPONENTIAL = Weibull(shape=1.0)
