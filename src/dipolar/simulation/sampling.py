"""One sample of a design, with the truth kept.

Glossary
--------
lin      `linear_predictor`, the log hazard relative to the baseline: h(t | x) = h0(t) exp(lin(x))
H        cumulative hazard, H(t | x) = H0(t) exp(lin(x)); survival is S(t | x) = exp(-H(t | x))
"""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from dipolar.simulation.design import Design, checked_rows
from dipolar.simulation.paper import get_design
from dipolar.survival import survival_outcome

__all__ = ["Simulation", "simulate"]


@dataclass(frozen=True)
class Simulation:
    """A sample of a design, and the truth behind it.

    Attributes
    ----------
    X : ndarray of shape (n, n_observed)
        The covariates that a model gets to see.
    y : structured ndarray of shape (n,)
        Outcomes, fields `event` and `time`.
    linear_predictor : ndarray of shape (n,)
        Log hazard of each row relative to the baseline.
    event_time : ndarray of shape (n,)
        Event times before any censoring.
    design : Design
    """

    X: np.ndarray
    y: np.ndarray
    linear_predictor: np.ndarray
    event_time: np.ndarray
    design: Design

    def __len__(self) -> int:
        return len(self.y)

    @property
    def censored_fraction(self) -> float:
        """Share of the rows whose event was not seen."""
        return float(np.mean(~self.y["event"]))

    def hazard(self, times: Any) -> np.ndarray:
        """Return the true hazard h0(t) exp(lin) of each row.

        Parameters
        ----------
        times : array-like of shape (n_times,) or float

        Returns
        -------
        hazard : ndarray of shape (n, n_times)
        """
        return self._exp_of_sum(self.design.baseline.log_hazard(_checked_times(times)))

    def survival(self, times: Any) -> np.ndarray:
        """Return the true survival probability exp(-H0(t) exp(lin)) of each row.

        Parameters
        ----------
        times : array-like of shape (n_times,) or float

        Returns
        -------
        survival : ndarray of shape (n, n_times)
        """
        return np.exp(-self._exp_of_sum(self.design.baseline.log_cumulative_hazard(_checked_times(times))))

    def _exp_of_sum(self, log_baseline: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):  # a hazard too large for a float is inf
            return np.exp(self.linear_predictor[:, None] + log_baseline[None, :])


def simulate(design: str | Design, n: int, random_state: Any = None) -> Simulation:
    """Draw right-censored rows from a design.

    An event time is the t at which the row's cumulative hazard reaches a standard exponential variate E:

        H0(t) exp(lin) = E,   so   t = H0^-1(E exp(-lin)).

    Parameters
    ----------
    design : str or Design
        A name that :func:`list_designs` lists, or a design of your own.
    n : int
        Number of rows.
    random_state : int, Generator, RandomState or None, default=None
        The same seed gives the same rows.

    Returns
    -------
    sample : Simulation

    Examples
    --------
    >>> from dipolar.simulation import simulate
    >>> sample = simulate("ellipse-2", 500, random_state=0)
    >>> sample.X.shape, sample.survival([1.0, 2.0]).shape
    ((500, 2), (500, 2))
    """
    design = _resolve_design(design)
    _require_row_count(n)
    rng = _make_generator(random_state)

    covariates = _draw_covariates(design, n, rng)
    linear_predictor = design.linear_predictor(covariates)
    event_time = design.baseline.time_at(np.log(rng.standard_exponential(n)) - linear_predictor)
    last_seen = np.minimum(_draw_censoring(design, covariates, rng), design.follow_up)

    return Simulation(
        X=covariates if design.observed is None else covariates[:, list(design.observed)],
        y=_observe(event_time, last_seen),
        linear_predictor=linear_predictor,
        event_time=event_time,
        design=design,
    )


def _resolve_design(design: str | Design) -> Design:
    return design if isinstance(design, Design) else get_design(design)


def _make_generator(random_state: Any) -> np.random.Generator:
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(2**31, size=4))
    return np.random.default_rng(random_state)


def _draw_covariates(design: Design, n: int, rng: np.random.Generator) -> np.ndarray:
    covariates = np.asarray(design.covariates(n, rng), dtype=np.float64)
    if covariates.ndim != 2 or len(covariates) != n:
        raise ValueError(
            f"covariates should return an array of shape ({n}, n_covariates), got shape {covariates.shape}. "
            "Return one row per sample, and a single covariate as a column."
        )
    if design.observed is not None and max(design.observed) >= covariates.shape[1]:
        raise ValueError(
            f"observed should hold columns below {covariates.shape[1]}, the number of covariates, got "
            f"{design.observed}. Columns are counted from 0."
        )
    return covariates


def _draw_censoring(design: Design, covariates: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    if design.censoring is None:
        return np.full(len(covariates), np.inf)
    times = checked_rows(design.censoring(covariates, rng), len(covariates), "censoring", may_be_infinite=True)
    if (times < 0).any():
        raise ValueError(f"censoring must not return negative times, got {times.min()}. Times start at 0.")
    return times


def _observe(event_time: np.ndarray, last_seen: np.ndarray) -> np.ndarray:
    """Return what follow-up shows of the event times."""
    time = np.minimum(event_time, last_seen)
    endless = np.isinf(time).sum()
    if endless:
        raise ValueError(
            f"follow_up must be finite for this design: {endless} of {len(time)} event times are too large "
            "for a float, and nothing censors them. Set follow_up, or raise the predictor."
        )
    return survival_outcome(time, event_time <= last_seen)


def _checked_times(times: Any) -> np.ndarray:
    times = np.atleast_1d(np.asarray(times, dtype=np.float64))
    if times.ndim != 1 or not (times >= 0).all():
        raise ValueError(f"times should be one-dimensional and >= 0, got {times!r}. Times start at 0.")
    return times


def _require_row_count(n: Any) -> None:
    if not isinstance(n, Integral) or n < 1:
        raise ValueError(f"n must be an integer >= 1, got {n!r}. It is the number of rows to draw.")
