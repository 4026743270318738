"""Times at which scores are computed: grids of a stated rule, and what to do with times outside the data."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from dipolar.metrics.censoring import CensoringDistribution
from dipolar.metrics.checks import Rows, check_rows
from dipolar.parameters import check_choice, check_number
from dipolar.quantiles import thin_out

__all__ = ["FollowUp", "TruncationWarning", "check_outside", "restrict_times", "time_grid", "warn_truncated"]

# A default grid ends where less than this share of the evaluated rows is still followed: beyond, a handful of
# rows with large weights would decide the score.
FOLLOWED_SHARE = 0.05

# How many times an error message lists.
TIMES_SHOWN = 6


class TruncationWarning(UserWarning):
    """A score was computed on a part of the times that it was asked for."""


@dataclass(frozen=True)
class FollowUp:
    """The times at which a score can be computed."""

    start: float  # first usable time, included
    end: float  # last follow-up time of the evaluated rows, not included: nobody is known to live longer
    censoring: CensoringDistribution | None = None  # must know a positive G, where given
    left_limit: bool = False  # whether G(t-) is what has to be positive

    def covers(self, times: np.ndarray) -> np.ndarray:
        """Tell which times can be used."""
        inside = (times >= self.start) & (times < self.end)
        return inside if self.censoring is None else inside & self.censoring.covers(times, self.left_limit)

    def rule(self) -> str:
        """Say which times can be used."""
        text = f"{self.start:g} <= t < {self.end:g}, the last time of the evaluated rows"
        if self.censoring is None:
            return text
        end = self.censoring.time[-1]
        relation = "<=" if self.censoring.covers(end, self.left_limit) else "<"
        return f"{text}, and t {relation} {end:g}, up to where the training rows know the censoring distribution"


def time_grid(
    y_test: Any,
    y_train: Any = None,
    *,
    rule: str = "default",
    size: int = 100,
    every: int = 5,
    sample_weight: Any = None,
    train_weight: Any = None,
) -> np.ndarray:
    r"""Return the times at which a score is computed when none are given.

    ============  ============================================================================================
    rule          grid
    ============  ============================================================================================
    "default"     the distinct event times of the evaluated rows that lie inside the follow-up of both sets
                  (before the last evaluated time, where the training rows know a positive probability of being
                  uncensored) and at which 5 % of the evaluated rows are followed further; more than `size` are
                  thinned to `size` of them at even ranks, first and last included
    "paper"       the midpoints of consecutive distinct event times of the evaluated rows
    "authors"     the geometric means of consecutive distinct times, events and censorings alike, of the
                  evaluated rows, every fifth of them (`every`)
    ============  ============================================================================================

    Parameters
    ----------
    y_test : outcomes in any accepted form
        The evaluated rows.
    y_train : outcomes in any accepted form, default=None
        The training rows, read by the default rule only; None sets no bound by them.
    rule : {"default", "paper", "authors"}, default="default"
        See the table.
    size : int, default=100
        Largest number of times under the default rule.
    every : int, default=5
        Step of the authors' rule. Their simulations take every 5th time, their tuning every 2nd.
    sample_weight, train_weight : array-like, default=None
        How often each row counts.
    """
    check_choice("rule", rule, ("default", "paper", "authors"))
    size = int(check_number("size", size, low=2, whole=True, hint="The trapezoid rule needs two times."))
    every = int(check_number("every", every, low=1, whole=True, hint="1 takes every time."))
    test = check_rows(y_test, sample_weight, "y_test")
    if rule == "default":
        train = None if y_train is None else check_rows(y_train, train_weight, "y_train")
        return default_grid(test, None if train is None else CensoringDistribution.from_rows(train), size)
    return paper_grid(test) if rule == "paper" else authors_grid(test, every)


def default_grid(test: Rows, censoring: CensoringDistribution | None, size: int = 100) -> np.ndarray:
    """Return event times inside the follow-up of both sets; see :func:`time_grid`."""
    candidates = np.unique(test.time[test.event])
    usable = candidates[FollowUp(0.0, float(test.time.max()), censoring).covers(candidates)]
    followed = np.append(np.cumsum(test.weight[::-1])[::-1], 0.0)
    beyond = followed[np.searchsorted(test.time, usable, side="right")]
    grid = usable[beyond >= FOLLOWED_SHARE * followed[0]]
    if not len(grid):
        raise ValueError(
            f"y_test has {int(test.event.sum())} events among {len(test)} rows and none of them at a time that both "
            "sets are followed beyond, so that there is no default time grid. Pass times."
        )
    return thin_out(grid, size)


def paper_grid(test: Rows) -> np.ndarray:
    """Return the midpoints of consecutive distinct event times."""
    times = _at_least_two(np.unique(test.time[test.event]), "event times")
    return np.unique(0.5 * (times[1:] + times[:-1]))


def authors_grid(test: Rows, every: int = 5) -> np.ndarray:
    """Return every so manieth geometric mean of consecutive distinct times."""
    times = _at_least_two(np.unique(test.time), "times")
    # Roots before the product, which might vanish.
    return np.unique((np.sqrt(times[1:]) * np.sqrt(times[:-1]))[::every])


def check_outside(outside: Any) -> str:
    """Check the rule for times outside the data."""
    hint = "It says what to do with times outside the data."
    return str(check_choice("outside", outside, ("error", "truncate"), hint=hint))


def restrict_times(times: np.ndarray, follow_up: FollowUp, outside: str) -> np.ndarray:
    """Return which of the given times are kept, or raise an error that says which ones to drop."""
    kept = follow_up.covers(times)
    if kept.all():
        return kept
    dropped = times[~kept]
    shown = ", ".join(f"{t:g}" for t in dropped[:TIMES_SHOWN]) + (", ..." if len(dropped) > TIMES_SHOWN else "")
    fault = f"{len(dropped)} of {len(times)} times lie outside the data ({shown}); usable are {follow_up.rule()}"
    if outside == "error":
        raise ValueError(f"times: {fault}. Drop them, or pass outside='truncate' to have them dropped.")
    if not kept.any():
        raise ValueError(f"times: {fault}. None is left to compute a score at.")
    warn_truncated(f"times: {fault}. They are dropped.")
    return kept


def warn_truncated(message: str) -> None:
    """Warn that a part of what was asked for is left out."""
    warnings.warn(message, TruncationWarning, stacklevel=4)


def _at_least_two(times: np.ndarray, what: str) -> np.ndarray:
    if len(times) < 2:
        raise ValueError(
            f"y_test has {len(times)} distinct {what}, and the grid lies between two or more of them. Pass times."
        )
    return times
