r"""Brier scores of predicted survival probabilities under censoring.

Glossary
--------
S_i(t)      predicted probability that row i is event-free at time t
G           probability of being uncensored, estimated by the reverse Kaplan-Meier method
case        row with an event up to t; its error is S_i(t)^2
control     row that is followed beyond t; its error is (1 - S_i(t))^2
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dipolar._core.brier import add_squared_errors
from dipolar.metrics.censoring import CensoringDistribution
from dipolar.metrics.checks import Rows, check_rows, check_times
from dipolar.metrics.grids import FollowUp, authors_grid, check_outside, default_grid, paper_grid, restrict_times
from dipolar.metrics.predictions import SurvivalPredictions, check_predictions
from dipolar.parameters import check_choice, check_flag

__all__ = ["VARIANTS", "BrierScore", "brier_score", "integrated_brier_score"]

VARIANTS = ("graf", "paper", "authors")


class BrierScore(NamedTuple):
    """Brier scores and the times that they belong to."""

    times: np.ndarray
    scores: np.ndarray


def brier_score(
    y_train: Any,
    y_test: Any,
    survival: Any,
    times: Any = None,
    *,
    variant: str = "graf",
    left_limit: bool = False,
    outside: str = "error",
    sample_weight: Any = None,
    train_weight: Any = None,
) -> BrierScore:
    r"""Return the Brier score of predicted survival curves at some times.

    The squared error of the predicted probabilities, with weights that make up for the rows that are
    censored before a time. Three definitions, which differ in the weights:

    .. math::

        BS_{graf}(t) = \frac1n \sum_i \Big\{
            \frac{S_i(t)^2\, \delta_i 1(t_i \le t)}{\hat G(t_i)} +
            \frac{(1 - S_i(t))^2\, 1(t_i > t)}{\hat G(t)} \Big\}

    =========  ==================================  ================  ==============================================
    variant    weight of a case, of a control      G from            remarks
    =========  ==================================  ================  ==============================================
    "graf"     1 / G(t_i) or G(t_i-), 1 / G(t)     training rows     the one to report
    "paper"    1 / G(t_i), 1 / G(t_i)              training rows     as printed by Maung, Lazar and Zheng
    "authors"  1 / G(t_i), 1 / G(t)                evaluated rows    as in their scripts: rows with an event at the
                                                                     time of a censoring count as at risk of it
    =========  ==================================  ================  ==============================================

    Under "paper" and "authors" a G(t_i) of zero is replaced by the smallest positive value of G, as the
    scripts do. A control of the paper's formula is weighted by what happens to it after t, so that this
    variant does not estimate a squared error; it is here to reproduce printed figures.

    Parameters
    ----------
    y_train : outcomes in any accepted form
        The rows that the censoring distribution is estimated from. `variant="authors"` reads the evaluated
        rows instead; pass None there.
    y_test : outcomes in any accepted form
        The rows that are evaluated.
    survival : array, sequence of step functions, or pair (curves, index)
        Predicted survival probabilities: shape (n_test, n_times) with a column per time; or n_test
        functions of time, of which rows of a leaf may share one object; or the distinct curves (array or
        functions) and the number of the curve of every row. The last two cost one curve per leaf.
    times : array-like of shape (n_times,), default=None
        Ascending times. None takes the grid of the variant, see :func:`time_grid`.
    variant : {"graf", "paper", "authors"}, default="graf"
        See the table.
    left_limit : bool, default=False
        Whether the cases of variant "graf" are weighted by G(t_i-), as in R's pec, riskRegression and
        survival, instead of G(t_i), as in Graf et al. and in scikit-survival.
    outside : {"error", "truncate"}, default="error"
        What to do with given times outside the data: raise an error that lists them, or drop them with a
        `TruncationWarning`. Usable are times before the last evaluated time and, for "graf", up to where G of
        the training rows is known and positive.
    sample_weight, train_weight : array-like, default=None
        How often each evaluated and each training row counts.

    Returns
    -------
    result : BrierScore
        Named tuple of the `times` that were used and the `scores` at them.

    Notes
    -----
    With `variant="graf"` it equals scikit-survival's `brier_score`, which drops cases with G(t_i) = 0
    silently, refuses times before the first evaluated one, and needs one curve per row. With
    `left_limit=True` it equals R's `pec::pec(cens.model="marginal")` and `riskRegression::Score` where
    evaluated and training rows are the same.

    References
    ----------
    Graf, E., Schmoor, C., Sauerbrei, W. and Schumacher, M. (1999). Assessment and comparison of prognostic
    classification schemes for survival data. Statistics in Medicine 18, 2529-2545.
    """
    scoring = _Scoring.check(y_train, y_test, variant, left_limit, sample_weight, train_weight)
    return _score(scoring, survival, times, check_outside(outside))


def integrated_brier_score(
    y_train: Any,
    y_test: Any,
    survival: Any,
    times: Any = None,
    *,
    variant: str = "graf",
    left_limit: bool = False,
    outside: str = "error",
    sample_weight: Any = None,
    train_weight: Any = None,
) -> float:
    r"""Return the Brier score integrated over time by the trapezoid rule.

    =========  =================================================  ==============================================
    variant    integral over the times, divided by                default times (:func:`time_grid`)
    =========  =================================================  ==============================================
    "graf"     their range, last - first (as scikit-survival)     event times inside the follow-up of both sets
    "paper"    the largest time of the evaluated rows             midpoints of consecutive distinct event times
    "authors"  the largest of the times                           every fifth geometric mean of distinct times
    =========  =================================================  ==============================================

    Parameters are those of :func:`brier_score`. The last two variants integrate from their first time on and
    divide by more than the range, as the paper and its scripts do, so that they are smaller than an average.

    Returns
    -------
    score : float

    References
    ----------
    Graf, E., Schmoor, C., Sauerbrei, W. and Schumacher, M. (1999). Assessment and comparison of prognostic
    classification schemes for survival data. Statistics in Medicine 18, 2529-2545.
    """
    scoring = _Scoring.check(y_train, y_test, variant, left_limit, sample_weight, train_weight)
    grid, scores = _score(scoring, survival, times, check_outside(outside))
    if len(grid) < 2:
        raise ValueError(
            f"times: an integral needs at least two usable times, got {len(grid)}. Pass more, or use brier_score."
        )
    widths = np.diff(grid) / scoring.divisor(grid)
    return float(widths @ (scores[1:] + scores[:-1])) / 2.0


@dataclass(frozen=True)
class _Scoring:
    """A variant, with what it needs to know about the rows."""

    variant: str
    left_limit: bool
    test: Rows
    censoring: CensoringDistribution

    @classmethod
    def check(
        cls, y_train: Any, y_test: Any, variant: str, left_limit: bool, sample_weight: Any, train_weight: Any
    ) -> _Scoring:
        check_choice("variant", variant, VARIANTS, hint="'graf' is the one to report.")
        left_limit = check_flag("left_limit", left_limit)
        if left_limit and variant != "graf":
            raise ValueError(f"left_limit=True belongs to variant='graf', got variant={variant!r}, which uses G(t_i).")
        test = check_rows(y_test, sample_weight, "y_test")
        if variant == "authors":
            return cls(variant, False, test, CensoringDistribution.from_rows(test, events_first=False))
        if y_train is None:
            raise ValueError(
                f"y_train is None, and variant={variant!r} estimates the censoring distribution from it. Pass the "
                "training outcomes; if there are none, y_test may stand in for them."
            )
        train = check_rows(y_train, train_weight, "y_train")
        return cls(variant, left_limit, test, CensoringDistribution.from_rows(train))

    def default_times(self) -> np.ndarray:
        if self.variant == "graf":
            return default_grid(self.test, self.censoring)
        return paper_grid(self.test) if self.variant == "paper" else authors_grid(self.test)

    def follow_up(self) -> FollowUp:
        """The paper's formula reads G at the rows only, so that the training rows set no bound to its times."""
        return FollowUp(0.0, float(self.test.time.max()), None if self.variant == "paper" else self.censoring)

    def case_weight(self) -> np.ndarray:
        return np.where(self.test.event, self._inverse(), 0.0)

    def control_weight(self) -> np.ndarray:
        return self._inverse() if self.variant == "paper" else self.test.weight

    def control_factor(self, times: np.ndarray) -> np.ndarray:
        return np.ones(len(times)) if self.variant == "paper" else 1.0 / self.censoring.at(times)

    def divisor(self, times: np.ndarray) -> float:
        if self.variant == "graf":
            return float(times[-1] - times[0])
        return float(self.test.time.max()) if self.variant == "paper" else float(times[-1])

    def _inverse(self) -> np.ndarray:
        """Return the weight of each row over G at its time."""
        G = self.censoring.of_case(self.test.time, self.left_limit)
        # Under "graf" such a row lies behind every usable time, and any value will do.
        return self.test.weight / np.where(G > 0, G, self.censoring.smallest_positive())


def _score(scoring: _Scoring, survival: Any, times: Any, outside: str) -> BrierScore:
    given = None if times is None else check_times(times)
    predictions = check_predictions(survival, scoring.test, None if given is None else len(given))
    if given is None:
        grid = scoring.default_times()
        kept = np.ones(len(grid), dtype=bool)
    else:
        kept = restrict_times(given, scoring.follow_up(), outside)
        grid = given[kept]
    return BrierScore(grid, _squared_error(scoring, predictions, grid, kept))


def _squared_error(
    scoring: _Scoring, predictions: SurvivalPredictions, times: np.ndarray, kept: np.ndarray
) -> np.ndarray:
    """Return the weighted mean of the squared errors at each time, curve by curve instead of row by row."""
    case, control = scoring.case_weight(), scoring.control_weight()
    position = np.searchsorted(times, scoring.test.time, side="left")
    offset, rows = predictions.rows_of_curves()
    case_at, control_at = np.empty(len(times) + 1), np.empty(len(times) + 1)
    cases, controls = np.zeros(len(times)), np.zeros(len(times))
    for start, table in predictions.blocks(times, kept):
        own = offset[start : start + len(table) + 1]
        add_squared_errors(table, own, rows, position, case, control, case_at, control_at, cases, controls)
    return (cases + scoring.control_factor(times) * controls) / scoring.test.weight.sum()
