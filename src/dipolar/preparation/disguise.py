"""Covariates that are the outcome under another name: known only when it is all over, and no use for predicting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata

__all__ = ["Disguise", "find_disguises"]

# From this rank correlation on, in at least so many rows.
CORRELATION = 0.98
ROWS = 20


@dataclass(frozen=True)
class Disguise:
    """A covariate, what it seems to be, and their rank correlation.

    Attributes
    ----------
    column : str
    what : {"time", "event"}
    correlation : float
    """

    column: str
    what: str
    correlation: float

    def words(self) -> str:
        """Return what there is to say about it."""
        return (
            f"{self.column} may be the {self.what} in disguise (rank correlation {self.correlation:.2f}): a covariate "
            "that is known only afterwards predicts nothing."
        )


def find_disguises(X: np.ndarray, columns: Sequence[str], time: np.ndarray, event: np.ndarray) -> list[Disguise]:
    """Return the columns of which a covariate orders the rows almost as the time, or as the event, does.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Covariates; rows with NaN are left out, one covariate at a time.
    columns : sequence of str
        The column that each covariate was made from.
    time, event : ndarray of shape (n_samples,)
        The outcome.
    """
    found = {}
    for column, values in zip(columns, X.T):
        known = ~np.isnan(values)
        for what, outcome in (("time", time), ("event", event)):
            correlation = _rank_correlation(values[known], np.asarray(outcome)[known])
            if known.sum() >= ROWS and abs(correlation) >= CORRELATION:
                found[column, what] = Disguise(column, what, correlation)
    return list(found.values())


def _rank_correlation(first: np.ndarray, second: np.ndarray) -> float:
    """Return Spearman's correlation; 0 where one of the two is constant."""
    if len(first) < 2 or len(np.unique(first)) < 2 or len(np.unique(second)) < 2:
        return 0.0
    return float(np.corrcoef(rankdata(first), rankdata(second))[0, 1])
