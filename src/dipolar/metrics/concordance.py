"""Concordance indices: Harrell's, the one without tied predictions, and Uno's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from dipolar._core.concordance import concordance_counts
from dipolar.metrics.censoring import CensoringDistribution
from dipolar.metrics.checks import Rows, check_risk, check_rows
from dipolar.metrics.grids import check_outside, warn_truncated
from dipolar.parameters import check_choice, check_flag, check_number

__all__ = ["concordance_index", "concordance_index_ipcw"]


def concordance_index(
    y: Any,
    risk: Any,
    *,
    ties: str = "half",
    tied_times: str = "comparable",
    undefined: float = 0.5,
    sample_weight: Any = None,
) -> float:
    r"""Return the share of comparable pairs that the predicted risks order correctly.

    A pair is comparable when the earlier time is an event. With ties in the predictions counted one half this
    is Harrell's concordance index,

    .. math:: C = \frac{\sum_{i,j} \delta_i 1(t_i < t_j)
              \{1(r_i > r_j) + \tfrac12 1(r_i = r_j)\}}{\sum_{i,j} \delta_i 1(t_i < t_j)},

    and with tied predictions left out of both sums it is the index of Maung, Lazar and Zheng. The second
    flatters models with few distinct predictions: for a tree of two leaves, only the pairs that it separates
    count. It takes O(n log n).

    Parameters
    ----------
    y : structured array, DataFrame, (n, 2) array, pair or 1-D array
        Outcomes in any accepted form.
    risk : array-like of shape (n_samples,)
        Predicted risks, higher = earlier event. For predicted times pass their negative; infinite values
        are ranked, NaN is an error.
    ties : {"half", "exclude"}, default="half"
        What a comparable pair with equal risks counts: one half, or nothing in both sums.
    tied_times : {"comparable", "exclude"}, default="comparable"
        Whether an event and a censoring at the same time are a pair, the censored row living longer. The
        printed formula of the paper leaves them out. Two events at one time never are a pair.
    undefined : float, default=0.5
        What to return, with an `UndefinedMetricWarning`, where `ties="exclude"` leaves no pair because the
        prediction is constant, as that of a tree with one leaf is.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts; a pair counts the product.

    Returns
    -------
    concordance : float

    Raises
    ------
    ValueError
        Where no pair is comparable, as in rows without events.

    Notes
    -----
    With the defaults it equals R's `survival::concordance(Surv(time, event) ~ risk, reverse=TRUE)`, also
    with weights, `lifelines.utils.concordance_index(time, -risk, event)` and scikit-survival's
    `concordance_index_censored`. scikit-survival takes risks that differ by up to 1e-8 as tied; here only
    equal ones are.

    References
    ----------
    Harrell, F. E., Lee, K. L. and Mark, D. B. (1996). Multivariable prognostic models. Statistics in Medicine
    15, 361-387.

    Examples
    --------
    >>> from dipolar.metrics import concordance_index
    >>> y = [1.0, 2.0, 3.0, 4.0], [1, 1, 0, 1]
    >>> concordance_index(y, [3, 1, 1, 1])
    0.8
    >>> concordance_index(y, [3, 1, 1, 1], ties="exclude")
    1.0
    """
    check_choice("ties", ties, ("half", "exclude"), hint="'half' is Harrell's index.")
    check_choice("tied_times", tied_times, ("comparable", "exclude"), hint="'comparable' is Harrell's index.")
    check_number("undefined", undefined, low=0, high=1, hint="0.5 says that a constant prediction orders nothing.")
    rows = check_rows(y, sample_weight)
    risk = check_risk(risk, rows)
    time = rows.time if tied_times == "comparable" else _censored_before_events(rows)
    return _index(concordance_counts(time, rows.event, risk, rows.weight), ties, undefined, len(rows))


def concordance_index_ipcw(
    y_train: Any,
    y_test: Any,
    risk: Any,
    tau: float | None = None,
    *,
    left_limit: bool = False,
    outside: str = "error",
    sample_weight: Any = None,
    train_weight: Any = None,
) -> float:
    r"""Return Uno's concordance index, which does not depend on the censoring of the evaluated rows.

    .. math:: C_\tau = \frac{\sum_{i,j} \delta_i \hat G(t_i)^{-2} 1(t_i < t_j, t_i < \tau)
              \{1(r_i > r_j) + \tfrac12 1(r_i = r_j)\}}
              {\sum_{i,j} \delta_i \hat G(t_i)^{-2} 1(t_i < t_j, t_i < \tau)},

    with :math:`\hat G` the reverse Kaplan-Meier estimate from the training rows. It takes O(n log n).

    Parameters
    ----------
    y_train, y_test : outcomes in any accepted form
        The rows that the censoring distribution is estimated from, and the rows that are evaluated.
    risk : array-like of shape (n_test,)
        Predicted risks of the evaluated rows, higher = earlier event.
    tau : float, default=None
        Events from this time on are not counted as the earlier row of a pair; None counts all.
    left_limit : bool, default=False
        Whether to weight by :math:`\hat G(t_i-)`, as R's `survival::concordance(timewt="n/G2")` does, or by
        :math:`\hat G(t_i)`, as scikit-survival does.
    outside : {"error", "truncate"}, default="error"
        What to do about events beyond the last training time or with a zero under their fraction (:math:`\hat G(t_i)`,
        or the left limit): raise an error that names a usable `tau`, or leave them out as earlier rows, with a
        `TruncationWarning`.
    sample_weight, train_weight : array-like, default=None
        How often each evaluated and each training row counts.

    References
    ----------
    Uno, H., Cai, T., Pencina, M. J., D'Agostino, R. B. and Wei, L. J. (2011). On the C-statistics for
    evaluating overall adequacy of risk prediction procedures with censored survival data. Statistics in
    Medicine 30, 1105-1117.
    """
    check_outside(outside)
    left_limit = check_flag("left_limit", left_limit)
    train, test = check_rows(y_train, train_weight, "y_train"), check_rows(y_test, sample_weight, "y_test")
    risk = check_risk(risk, test)
    censoring = CensoringDistribution.from_rows(train)
    early = test.event.copy()
    if tau is not None:
        early &= test.time < check_number("tau", tau, above=0, hint="It is a time on the scale of y.")
    early = _restrict_events(test, early, censoring, left_limit, outside)

    survivor = censoring.of_case(test.time, left_limit)
    event_weight = np.zeros(len(test))
    event_weight[early] = test.weight[early] / survivor[early] ** 2
    counts = concordance_counts(test.time, test.event, risk, test.weight, event_weight)
    return _index(counts, "half", 0.5, len(test))


def _censored_before_events(rows: Rows) -> np.ndarray:
    """Return times in which a censoring comes just before the events that it is tied with."""
    rank = np.unique(rows.time, return_inverse=True)[1].reshape(-1)
    return 2.0 * rank + rows.event


def _restrict_events(
    test: Rows, early: np.ndarray, censoring: CensoringDistribution, left_limit: bool, outside: str
) -> np.ndarray:
    """Leave out the events at which G, or its left limit, is unknown or zero, or say how to."""
    beyond = early & ~censoring.covers(test.time, left_limit)
    if not beyond.any():
        return early
    first = float(test.time[beyond].min())
    fault = (
        f"y_test has {beyond.sum()} events from time {first:g} on, where the training rows (followed up to "
        f"{censoring.time[-1]:g}) do not tell the probability of being uncensored"
    )
    if outside == "error":
        raise ValueError(f"{fault}. Pass tau={first:g} or outside='truncate' to leave them out.")
    warn_truncated(f"{fault}: they are left out, as with tau={first:g}.")
    return early & ~beyond


def _index(counts: tuple[float, float, float], ties: str, undefined: float, n_rows: int) -> float:
    concordant, discordant, tied = counts
    if concordant + discordant + tied == 0:
        raise ValueError(
            f"y has no comparable pair among its {n_rows} rows, and no concordance can be computed. At least one "
            "event (before tau, if that is given) must come before another row's time; use fewer or stratified "
            "folds if this is a fold of a cross-validation."
        )
    if ties == "half":
        return (concordant + 0.5 * tied) / (concordant + discordant + tied)
    if concordant + discordant == 0:
        warnings.warn(
            f"All comparable pairs have equal predictions, and ties='exclude' leaves none: {undefined:g} is "
            "returned. Use ties='half' to count them one half.",
            UndefinedMetricWarning,
            stacklevel=3,
        )
        return float(undefined)
    return concordant / (concordant + discordant)
