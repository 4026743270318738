"""Log-rank tests between any number of groups."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2

from dipolar.curves import LifeTables, tabulate
from dipolar.metrics.checks import Rows, check_rows
from dipolar.parameters import check_choice, check_number

__all__ = ["LogRankTest", "logrank_test"]

WEIGHTINGS = ("logrank", "gehan", "tarone-ware", "fleming-harrington")


@dataclass(frozen=True, eq=False)
class LogRankTest:
    """Result of a log-rank test; the last three have one entry per group."""

    statistic: float  # chi-square
    p_value: float
    degrees_of_freedom: int
    groups: np.ndarray  # labels
    observed: np.ndarray  # weighted events, sum_k W_k d_gk
    expected: np.ndarray  # what they would be if the groups did not differ


def logrank_test(
    y: Any,
    groups: Any,
    *,
    weighting: str = "logrank",
    fleming_harrington: tuple[float, float] = (1.0, 0.0),
    sample_weight: Any = None,
) -> LogRankTest:
    r"""Test whether groups of rows have the same hazard.

    With :math:`d_{gk}` events among :math:`Y_{gk}` rows of group g at risk at the event time :math:`t_k`,

    .. math::

        U_g = \sum_k W_k \Big(d_{gk} - Y_{gk} \frac{d_k}{Y_k}\Big), \qquad
        V_{gh} = \sum_k W_k^2\, \frac{d_k (Y_k - d_k)}{Y_k - 1}\, \frac{Y_{gk}}{Y_k}
                 \Big(1(g = h) - \frac{Y_{hk}}{Y_k}\Big),

    and :math:`U^\top V^- U` is chi-square distributed with as many degrees of freedom as V has rank, the number
    of groups less one as a rule.

    Parameters
    ----------
    y : outcomes in any accepted form
        Outcomes, at least one of them an event.
    groups : array-like of shape (n_samples,)
        Label of the group of every row, for example `tree.apply(X)`.
    weighting : {"logrank", "gehan", "tarone-ware", "fleming-harrington"}, default="logrank"
        The weight :math:`W_k`: 1, :math:`Y_k`, :math:`\sqrt{Y_k}`, or
        :math:`\hat S(t_k-)^\rho (1 - \hat S(t_k-))^\gamma` with the Kaplan-Meier estimate of all rows.
    fleming_harrington : tuple of two floats, default=(1.0, 0.0)
        The exponents :math:`(\rho, \gamma)`, not negative. Read for that weighting only.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts: weight 2 is the row twice.

    Returns
    -------
    result : LogRankTest

    Notes
    -----
    It equals R's `survdiff(Surv(time, event) ~ group, rho=rho)` and lifelines'
    `multivariate_logrank_test` with the same weights. Where the groups are never at risk together the statistic is
    0 and the p-value 1.

    References
    ----------
    Harrington, D. P. and Fleming, T. R. (1982). A class of rank test procedures for censored survival data.
    Biometrika 69, 553-566.
    """
    check_choice("weighting", weighting, WEIGHTINGS)
    rho, gamma = (
        check_number("fleming_harrington", value, low=0, hint="The pair (1, 0) stresses early differences.")
        for value in fleming_harrington
    )
    rows = check_rows(y, sample_weight)
    names, number = _number_groups(groups, rows)
    if not rows.event.any():
        raise ValueError(f"y has no events among its {len(rows)} rows, and hazards cannot be compared.")

    times = np.unique(rows.time[rows.event])
    at_risk, events = _on_event_times(tabulate(rows.survival, rows.weight, number, len(names)), times)
    total, deaths = at_risk.sum(axis=0), events.sum(axis=0)
    weight = _weights(weighting, rho, gamma, total, deaths)
    share = at_risk / total
    observed, expected = events @ weight, share @ (weight * deaths)
    factor = np.zeros(len(times))
    several = total > 1
    factor[several] = (weight**2 * deaths * (total - deaths))[several] / (total[several] - 1.0)
    variance = np.diag(share @ factor) - (share * factor) @ share.T
    statistic, rank = _quadratic_form(observed - expected, variance)
    p_value = float(chi2.sf(statistic, rank)) if rank else 1.0
    return LogRankTest(statistic, p_value, rank, names, observed, expected)


def _number_groups(groups: Any, rows: Rows) -> tuple[np.ndarray, np.ndarray]:
    labels = np.asarray(groups)
    if labels.shape != (rows.n_given,):
        raise ValueError(f"groups should hold one label per row, shape ({rows.n_given},), got shape {labels.shape}.")
    names, number = np.unique(labels[rows.origin], return_inverse=True)
    if len(names) < 2:
        raise ValueError(f"groups should hold at least two different labels, got only {names[0]!r}.")
    return names, number.reshape(-1)


def _on_event_times(tables: LifeTables, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the weight at risk and of events of every group at the given times."""
    at_risk, events = np.zeros((len(tables), len(times))), np.zeros((len(tables), len(times)))
    for g, table in enumerate(tables):
        at_risk[g] = np.append(table.at_risk, 0.0)[np.searchsorted(table.time, times, side="left")]
        dying = table.events > 0
        events[g, np.searchsorted(times, table.time[dying])] = table.events[dying]
    return at_risk, events


def _weights(weighting: str, rho: float, gamma: float, at_risk: np.ndarray, deaths: np.ndarray) -> np.ndarray:
    if weighting == "logrank":
        return np.ones(len(at_risk))
    if weighting == "gehan":
        return at_risk
    if weighting == "tarone-ware":
        return np.sqrt(at_risk)
    before = np.append(1.0, np.cumprod(1.0 - deaths / at_risk)[:-1])
    return np.maximum(before, 0.0) ** rho * (1.0 - before) ** gamma


def _quadratic_form(U: np.ndarray, V: np.ndarray) -> tuple[float, int]:
    """Return U' V^- U and the rank of V; its rows sum to zero, so that one group is left out."""
    U, V = U[1:], V[1:, 1:]
    rank = int(np.linalg.matrix_rank(V, hermitian=True))
    if rank == 0:
        return 0.0, 0
    return float(U @ np.linalg.pinv(V, hermitian=True) @ U), rank
