"""A design says how rows come about: covariates, hazard, censoring, end of follow-up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from dipolar.simulation.distributions import EXPONENTIAL, Baseline

__all__ = ["Design", "checked_rows"]


@dataclass(frozen=True)
class Design:
    """How covariates, event times and censoring times are drawn.

    Event times have the hazard h(t | x) = h0(t) exp(predictor(x)). A row is censored where its censoring
    time or the end of follow-up comes before its event.

    Parameters
    ----------
    covariates : callable (n, rng) -> array of shape (n, n_covariates)
        Sampler of the covariates, such as :class:`NormalCovariates`; `rng` is a NumPy Generator.
    predictor : callable X -> array of shape (n,)
        Log hazard relative to the baseline, such as :class:`QuadraticPredictor`.
    baseline : Weibull, Gompertz or an object with the same methods, default=EXPONENTIAL
        Distribution of the event times at predictor 0.
    censoring : callable (X, rng) -> array of shape (n,), default=None
        Sampler of censoring times, such as :class:`WeibullCensoring`; it may use the covariates. None censors
        at the end of follow-up only.
    follow_up : float, default=inf
        Administrative end: rows still at risk at this time are censored at it.
    observed : sequence of int, default=None
        Columns of the covariates that a model gets to see as `X`; the others act on the hazard unseen. None
        shows all of them.
    name : str, default="user-defined"
    description : str, default=""
        One line that says what is special about the design.

    Examples
    --------
    >>> from dipolar.simulation import Design, Gompertz, NormalCovariates, QuadraticPredictor, simulate
    >>> saddle = Design(
    ...     covariates=NormalCovariates(means=(0, 0), sds=(1, 1)),
    ...     predictor=QuadraticPredictor(-1.0, linear=(0, 0), squares=(1, -1)),
    ...     baseline=Gompertz(shape=0.1),
    ...     follow_up=20.0,
    ... )
    >>> simulate(saddle, 100, random_state=0).X.shape
    (100, 2)
    """

    covariates: Callable[[int, np.random.Generator], np.ndarray]
    predictor: Callable[[np.ndarray], np.ndarray]
    baseline: Baseline = EXPONENTIAL
    censoring: Callable[[np.ndarray, np.random.Generator], np.ndarray] | None = None
    follow_up: float = np.inf
    observed: tuple[int, ...] | None = None
    name: str = "user-defined"
    description: str = ""

    def __post_init__(self) -> None:
        _require_callable("covariates", self.covariates, "A sampler takes (n, rng), for example NormalCovariates.")
        _require_callable("predictor", self.predictor, "It takes X, for example a QuadraticPredictor.")
        if self.censoring is not None:
            _require_callable("censoring", self.censoring, "A sampler takes (X, rng), or is None for no censoring.")
        _require_baseline(self.baseline)
        if not self.follow_up > 0:
            raise ValueError(f"follow_up must be positive, got {self.follow_up}. inf means without an end.")
        if self.observed is not None:
            object.__setattr__(self, "observed", _checked_columns(self.observed))

    def linear_predictor(self, X: Any) -> np.ndarray:
        """Return the log hazard relative to the baseline at the rows of X.

        Parameters
        ----------
        X : array-like of shape (n, n_covariates)
            All covariates, unseen ones included. Evaluate it on a grid to draw the true level sets.
        """
        X = np.asarray(X, dtype=np.float64)
        if X.ndim != 2:
            raise ValueError(f"X should have shape (n, n_covariates), got shape {X.shape}. One point is X[None, :].")
        return checked_rows(self.predictor(X), len(X), "predictor")


def checked_rows(values: Any, n: int, name: str, may_be_infinite: bool = False) -> np.ndarray:
    """Return what a user's function made as floats, one per row."""
    values = np.asarray(values, dtype=np.float64)
    if values.shape != (n,):
        raise ValueError(f"{name} should return one number per row, shape ({n},), got shape {values.shape}.")
    bad = np.isnan(values) if may_be_infinite else ~np.isfinite(values)
    if bad.any():
        raise ValueError(
            f"{name} should return {'numbers' if may_be_infinite else 'finite numbers'}, got "
            f"{values[bad][0]} in {bad.sum()} of {n} rows. Bound it where the covariates make it overflow."
        )
    return values


def _checked_columns(observed: Any) -> tuple[int, ...]:
    columns = tuple(observed)
    if not columns or any(not isinstance(column, Integral) or column < 0 for column in columns):
        raise ValueError(
            f"observed should hold at least one column number, each an integer >= 0, got {observed!r}. "
            "None shows every covariate."
        )
    return tuple(int(column) for column in columns)


def _require_callable(name: str, value: Any, way_out: str) -> None:
    if not callable(value):
        raise ValueError(f"{name} must be callable, got {value!r}. {way_out}")


def _require_baseline(baseline: Any) -> None:
    needed = ("log_hazard", "log_cumulative_hazard", "time_at")
    missing = [method for method in needed if not hasattr(baseline, method)]
    if missing:
        raise ValueError(
            f"baseline must have the methods {', '.join(needed)}, got {baseline!r} without "
            f"{', '.join(missing)}. Use EXPONENTIAL, Weibull(shape) or Gompertz(shape)."
        )
