"""Calibration: do predicted probabilities agree with what was observed?"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2

from dipolar.curves import LifeTable, tabulate
from dipolar.metrics.checks import Rows, check_labels, check_rows
from dipolar.metrics.predictions import SurvivalPredictions, check_predictions
from dipolar.parameters import check_number

__all__ = ["DCalibration", "calibration_curve", "d_calibration"]

# More bins than this are no summary.
MOST_BINS = 1000


class DCalibration(NamedTuple):
    """Chi-square test of uniform survival probabilities, and the weight of the rows in every bin."""

    statistic: float
    p_value: float
    counts: np.ndarray


def calibration_curve(
    y: Any,
    survival: Any,
    time: float,
    *,
    groups: Any = "quantiles",
    n_groups: int = 10,
    sample_weight: Any = None,
) -> pd.DataFrame:
    r"""Compare predicted survival probabilities at one time with Kaplan-Meier estimates, group by group.

    Parameters
    ----------
    y : outcomes in any accepted form
        The rows that are evaluated.
    survival : array, sequence of step functions, or pair (curves, index)
        Predictions as for :func:`brier_score`; an array holds the probabilities at `time`, one per row (or
        per curve).
    time : float
        The time at which they are compared; somebody must be followed up to it.
    groups : {"quantiles", "curves"} or array-like of shape (n_samples,), default="quantiles"
        Groups of rows with similar predictions: `n_groups` of about equal weight, rows with equal
        predictions never being separated; one group per distinct curve, that is per leaf; or the given
        labels, for example `tree.apply(X)`.
    n_groups : int, default=10
        Number of quantile groups; ties may leave fewer. Read for `groups="quantiles"` only.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts.

    Returns
    -------
    curve : DataFrame
        One row per group, by ascending prediction: `group`, `predicted` (mean probability), `observed`
        (Kaplan-Meier at `time`), `std_error` of the latter (Greenwood), `n_samples`, `n_at_risk` (followed up
        to `time`). Where a group's last row is censored before `time`, `observed` and `std_error` are NaN.
    """
    time = check_number("time", time, low=0, hint="It is a time on the scale of y.")
    rows = check_rows(y, sample_weight)
    if time > rows.time.max():
        raise ValueError(f"time must not exceed the last time of y, {rows.time.max():g}, got {time:g}.")
    predictions = check_predictions(survival, rows, 1)
    predicted = predictions.at_one_time(time)
    labels = _groups(groups, n_groups, rows, predictions, predicted)
    names, number = np.unique(labels, return_inverse=True)
    tables = tabulate(rows.survival, rows.weight, number.reshape(-1), len(names))
    entries = [
        _compare(name, table, predicted[number == g], rows.weight[number == g], time)
        for g, (name, table) in enumerate(zip(names, tables))
    ]
    frame = pd.DataFrame(entries)
    return frame.sort_values("predicted", kind="stable", ignore_index=True)


def d_calibration(y: Any, survival: Any, *, n_bins: int = 10, sample_weight: Any = None) -> DCalibration:
    r"""Test whether predicted survival probabilities at the observed times are uniform (D-calibration).

    If the curves are right, :math:`S_i(T_i)` is uniform on [0, 1]. An event counts in the bin of
    :math:`S_i(t_i)`. A censored row's probability is only known to be smaller than :math:`s = S_i(t_i)`, and
    the row is spread evenly over [0, s]: with bin width :math:`b`, each bin below that of s gets
    :math:`b / s`, and its own bin :math:`(s - \text{its lower edge}) / s`. The statistic

    .. math:: \sum_k \frac{(N_k - N / B)^2}{N / B}

    is compared with a chi-square distribution with B - 1 degrees of freedom. A large p-value speaks for the
    model.

    Parameters
    ----------
    y : outcomes in any accepted form
        The rows that are evaluated.
    survival : sequence of step functions, pair (functions, index), or array of shape (n_samples,)
        Predicted survival curves, or the probabilities at the rows' own times. Bins hold their lower edge and
        the last one also 1.
    n_bins : int, default=10
        Number of bins B.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts.

    Returns
    -------
    result : DCalibration
        Named tuple of `statistic`, `p_value` and `counts`, the weight in the bins from 0 to 1.

    Notes
    -----
    Step functions take few values, and leaf curves are estimated: the test is approximate for a tree.

    References
    ----------
    Haider, H., Hoehn, B., Davis, S. and Greiner, R. (2020). Effective ways to build and evaluate individual
    survival distributions. Journal of Machine Learning Research 21, 1-63.
    """
    n_bins = int(check_number("n_bins", n_bins, low=2, high=MOST_BINS, whole=True, hint="10 is common."))
    rows = check_rows(y, sample_weight)
    predictions = check_predictions(survival, rows, 1)
    if predictions.is_tabulated:
        values = predictions.at_one_time(0.0)
    else:
        values = predictions.at_own_times(rows.time)
    counts = _bin_counts(np.clip(values, 0.0, 1.0), rows, n_bins)
    expected = counts.sum() / n_bins
    statistic = float(np.sum((counts - expected) ** 2) / expected)
    return DCalibration(statistic, float(chi2.sf(statistic, n_bins - 1)), counts)


def _bin_counts(probability: np.ndarray, rows: Rows, n_bins: int) -> np.ndarray:
    """Return the weight in every bin; a censored row is spread over its bin and those below."""
    edges = np.arange(n_bins + 1) / n_bins
    own = np.minimum(np.searchsorted(edges, probability, side="right") - 1, n_bins - 1)
    whole = rows.event | (probability == 0)
    counts = np.bincount(own, np.where(whole, rows.weight, 0.0), minlength=n_bins)
    p, b, w = probability[~whole], own[~whole], rows.weight[~whole]
    counts += np.bincount(b, w * ((p - edges[b]) / p), minlength=n_bins)
    # A row spreads over all bins below its own: sums over the bins above each bin.
    spread = np.bincount(b, np.where(b > 0, w / np.maximum(p, edges[1]) / n_bins, 0.0), minlength=n_bins)
    counts[:-1] += np.cumsum(spread[:0:-1])[::-1]
    return counts


def _groups(
    groups: Any, n_groups: int, rows: Rows, predictions: SurvivalPredictions, predicted: np.ndarray
) -> np.ndarray:
    if isinstance(groups, str) and groups == "curves":
        return predictions.index
    if isinstance(groups, str) and groups == "quantiles":
        n_groups = int(check_number("n_groups", n_groups, low=1, whole=True, hint="10 is common."))
        return _quantile_groups(predicted, rows.weight, n_groups)
    names, number = check_labels(groups, rows, "be 'quantiles', 'curves' or ")
    return names[number]


def _quantile_groups(values: np.ndarray, weight: np.ndarray, n_groups: int) -> np.ndarray:
    """Number groups of about equal weight by ascending value; equal values stay together."""
    levels, rank = np.unique(values, return_inverse=True)
    mass = np.bincount(rank.reshape(-1), weight, minlength=len(levels))
    middle = (np.cumsum(mass) - 0.5 * mass) / mass.sum()
    return np.minimum((middle * n_groups).astype(np.int64), n_groups - 1)[rank.reshape(-1)]


def _compare(name: Any, table: LifeTable, predicted: np.ndarray, weight: np.ndarray, time: float) -> dict[str, Any]:
    """Return the entries of one group."""
    observed, error = _kaplan_meier_at(table, time)
    later = np.searchsorted(table.time, time, side="left")
    return {
        "group": name,
        "predicted": float(np.average(predicted, weights=weight)),
        "observed": observed,
        "std_error": error,
        "n_samples": float(table.at_risk[0]),
        "n_at_risk": float(table.at_risk[later]) if later < len(table.time) else 0.0,
    }


def _kaplan_meier_at(table: LifeTable, time: float) -> tuple[float, float]:
    """Return the estimate and its standard error by Greenwood's formula; NaN where it is not known."""
    up_to = table.time <= time
    if not up_to.any():
        return 1.0, 0.0
    estimate = float(table.survival[up_to][-1])
    if estimate <= 0:
        return 0.0, 0.0
    if time > table.time[-1]:
        return np.nan, np.nan
    d, Y = table.events[up_to], table.at_risk[up_to]
    alive = (table.censored + table.beyond)[up_to]
    return estimate, float(estimate * np.sqrt(np.sum(d / Y / alive)))
