"""Cumulative/dynamic area under the ROC curve."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dipolar.curves import tabulate
from dipolar.metrics.censoring import CensoringDistribution
from dipolar.metrics.checks import Rows, check_risk, check_rows, check_times
from dipolar.metrics.grids import FollowUp, check_outside, default_grid, restrict_times
from dipolar.parameters import check_flag

__all__ = ["DynamicAUC", "cumulative_dynamic_auc"]


class DynamicAUC(NamedTuple):
    """Areas under the ROC curves, the times they belong to, and their mean."""

    times: np.ndarray
    auc: np.ndarray
    mean: float


def cumulative_dynamic_auc(
    y_train: Any,
    y_test: Any,
    risk: Any,
    times: Any = None,
    *,
    left_limit: bool = False,
    outside: str = "error",
    sample_weight: Any = None,
    train_weight: Any = None,
) -> DynamicAUC:
    r"""Return how well risks tell rows with an event up to a time from rows that live longer.

    .. math:: AUC(t) = \frac{\sum_{i,j} \delta_i 1(t_i \le t) 1(t_j > t) \hat G(t_i)^{-1}
              \{1(r_i > r_j) + \tfrac12 1(r_i = r_j)\}}
              {\sum_i \delta_i 1(t_i \le t) \hat G(t_i)^{-1}\ \sum_j 1(t_j > t)}

    with :math:`\hat G` the reverse Kaplan-Meier estimate from the training rows. The mean weights AUC(t) by
    the drop of the Kaplan-Meier curve of the evaluated rows since the time before,
    :math:`\sum_k AUC(\tau_k) \{\hat S(\tau_{k-1}) - \hat S(\tau_k)\} / (1 - \hat S(\tau_m))`.

    Parameters
    ----------
    y_train, y_test : outcomes in any accepted form
        The rows that the censoring distribution is estimated from, and the rows that are evaluated.
    risk : array-like of shape (n_test,) or (n_test, n_times)
        Predicted risks, higher = earlier event; with a column per time where they depend on it.
    times : array-like of shape (n_times,), default=None
        Ascending times. None takes the default grid, see :func:`time_grid`.
    left_limit : bool, default=False
        Whether to weight cases by :math:`\hat G(t_i-)` instead of :math:`\hat G(t_i)`.
    outside : {"error", "truncate"}, default="error"
        What to do with given times outside the data: raise an error that lists them, or drop them with a
        `TruncationWarning`. Usable are times from the first evaluated event on, before the last evaluated
        time, up to where G of the training rows (its left limit, if that is asked for) is known and positive.
    sample_weight, train_weight : array-like, default=None
        How often each evaluated and each training row counts.

    Returns
    -------
    result : DynamicAUC
        Named tuple of the `times` that were used, the `auc` at them and their `mean`.

    Notes
    -----
    It equals scikit-survival's `cumulative_dynamic_auc`, which takes risks within 1e-8 as tied, raises an error
    where any evaluated event lies outside the training rows' follow-up, also one after the last of the
    times, and returns NaN at times without cases.

    References
    ----------
    Uno, H., Cai, T., Tian, L. and Wei, L. J. (2007). Evaluating prediction rules for t-year survivors with
    censored regression models. Journal of the American Statistical Association 102, 527-537.
    """
    check_outside(outside)
    left_limit = check_flag("left_limit", left_limit)
    train, test = check_rows(y_train, train_weight, "y_train"), check_rows(y_test, sample_weight, "y_test")
    censoring = CensoringDistribution.from_rows(train)
    grid, kept = _grid(test, censoring, times, left_limit, outside)
    risk = check_risk(risk, test, None if times is None else len(kept))
    columns = np.broadcast_to(risk[:, None], (len(risk), len(grid))) if risk.ndim == 1 else risk[:, kept]

    survivor = censoring.of_case(test.time, left_limit)
    # An event without a positive G lies behind every usable time, and any value will do.
    case_weight = np.where(test.event, test.weight / np.where(survivor > 0, survivor, 1.0), 0.0)
    auc = _areas(test, case_weight, columns, grid, one_risk=risk.ndim == 1)
    return DynamicAUC(grid, auc, _mean(test, grid, auc))


def _grid(
    test: Rows, censoring: CensoringDistribution, times: Any, left_limit: bool, outside: str
) -> tuple[np.ndarray, np.ndarray]:
    """Return the times that are used, and which of the given times they are."""
    if times is None:
        grid = default_grid(test, censoring)
        return grid, np.ones(len(grid), dtype=bool)
    given = check_times(times)
    if not test.event.any():
        raise ValueError(
            f"y_test has no events among its {len(test)} rows, so that there are no cases to tell from controls."
        )
    follow_up = FollowUp(float(test.time[test.event].min()), float(test.time.max()), censoring, left_limit)
    kept = restrict_times(given, follow_up, outside)
    return given[kept], kept


def _areas(test: Rows, case_weight: np.ndarray, columns: np.ndarray, grid: np.ndarray, one_risk: bool) -> np.ndarray:
    areas = np.empty(len(grid))
    rank = None
    for k, t in enumerate(grid):
        if rank is None or not one_risk:
            rank = np.unique(columns[:, k], return_inverse=True)[1].reshape(-1)
        late = test.time > t
        cases = np.bincount(rank, np.where(late, 0.0, case_weight))
        controls = np.bincount(rank, np.where(late, test.weight, 0.0))
        below = np.cumsum(controls) - controls
        areas[k] = cases @ (below + 0.5 * controls) / (cases.sum() * controls.sum())
    return areas


def _mean(test: Rows, grid: np.ndarray, auc: np.ndarray) -> float:
    """Return the mean AUC, weighted by the drops of the evaluated rows' Kaplan-Meier curve."""
    if len(grid) == 1:
        return float(auc[0])
    table = tabulate(test.survival, test.weight)[0]
    # Sums of the steps, which are precise where differences of the curve would vanish.
    steps = np.append(1.0, table.survival[:-1]) * table.events / table.at_risk
    drops = np.bincount(np.searchsorted(grid, table.time), steps, minlength=len(grid))[: len(grid)]
    return float(auc @ drops / drops.sum())
