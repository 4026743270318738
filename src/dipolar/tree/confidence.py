"""Pointwise confidence limits of Kaplan-Meier curves."""

from __future__ import annotations

import numpy as np
from scipy.stats import norm

from dipolar.curves import LifeTable
from dipolar.parameters import check_share

__all__ = ["confidence_limits"]


def confidence_limits(table: LifeTable, level: float = 0.95) -> tuple[np.ndarray, np.ndarray]:
    r"""Return lower and upper limits of the survival curve at every time of a life table.

    The limits of :math:`\log(-\log S)` with Greenwood's variance, brought back to the scale of S,

    .. math:: \hat S(t)^{\exp(\pm z \hat\sigma(t) / \log \hat S(t))}, \qquad
              \hat\sigma^2(t) = \sum_{t_k \le t} \frac{d_k}{Y_k (Y_k - d_k)},

    which stay between 0 and 1. They are 1 before the first event and NaN where the curve is 0: nobody is left to
    tell the error from.

    Parameters
    ----------
    table : LifeTable
    level : float, default=0.95
        Probability that the limits at one time hold the true survival.
    """
    level = check_share("level", level, hint="0.95 is common.")
    survival, left = table.survival, table.at_risk - table.events
    alive = left > 0
    terms = np.divide(table.events, table.at_risk * left, out=np.zeros_like(left), where=alive)
    deviation = np.sqrt(np.cumsum(terms))
    lower, upper = np.ones_like(survival), np.ones_like(survival)
    inner = (survival > 0) & (survival < 1) & alive
    with np.errstate(over="ignore"):  # rows that count for next to nothing: from 0 to 1
        spread = np.exp(norm.ppf(0.5 + level / 2) * deviation[inner] / -np.log(survival[inner]))
    lower[inner], upper[inner] = survival[inner] ** spread, survival[inner] ** (1 / spread)
    ended = np.cumsum(~alive) > 0
    lower[ended] = upper[ended] = np.nan
    return lower, upper
