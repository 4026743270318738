"""The distribution of the censoring times, by which scores weight what censoring hides.

Glossary
--------
d_k, c_k, Y_k    weight of the events, of the censorings and of the rows at risk at the k-th distinct time
G                probability of not being censored up to and including a time (reverse Kaplan-Meier)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dipolar.curves import LifeTable, tabulate
from dipolar.metrics.checks import Rows

__all__ = ["CensoringDistribution"]


@dataclass(frozen=True, eq=False)
class CensoringDistribution:
    """Reverse Kaplan-Meier estimate G of the censoring distribution."""

    time: np.ndarray  # (n_times,) distinct follow-up times, ascending
    probability: np.ndarray  # (n_times,) G at each of them

    @classmethod
    def from_table(cls, table: LifeTable, *, events_first: bool = True) -> CensoringDistribution:
        """Estimate G from a life table of the outcomes, `G(t) = prod_{t_k <= t} (1 - c_k / (Y_k - d_k))`.

        With `events_first`, a row with an event at a time was not at risk of being censored at it, as in
        scikit-survival and R's prodlim; without it c_k is divided by Y_k, as in R's
        `survfit(Surv(time, 1 - event))`.
        """
        # Scores are divided by G. Sums without a difference keep it precise where it is small.
        staying = table.beyond if events_first else table.beyond + table.events
        exposed = staying + table.censored
        share = np.divide(staying, exposed, out=np.ones_like(staying), where=exposed > 0)
        return cls(table.time, np.cumprod(share))

    @classmethod
    def from_rows(cls, rows: Rows, *, events_first: bool = True) -> CensoringDistribution:
        """Estimate G from outcomes."""
        return cls.from_table(tabulate(rows.survival, rows.weight)[0], events_first=events_first)

    def at(self, t: np.ndarray) -> np.ndarray:
        """Return G(t)."""
        return self._value(t, "right")

    def before(self, t: np.ndarray) -> np.ndarray:
        """Return the left limit G(t-)."""
        return self._value(t, "left")

    def of_case(self, t: np.ndarray, left_limit: bool) -> np.ndarray:
        """Return what the weight of a case with its event at t is divided by: G(t-) or G(t)."""
        return self.before(t) if left_limit else self.at(t)

    def covers(self, t: np.ndarray, left_limit: bool = False) -> np.ndarray:
        """Tell where G, or its left limit, is known and positive: inside the follow-up, while some may stay on."""
        return (t <= self.time[-1]) & (self.of_case(t, left_limit) > 0)

    def smallest_positive(self) -> float:
        """Return the last value of G before it reaches zero."""
        return float(self.probability[self.probability > 0].min(initial=1.0))

    def _value(self, t: np.ndarray, side: Literal["left", "right"]) -> np.ndarray:
        return np.append(1.0, self.probability)[np.searchsorted(self.time, t, side=side)]
