"""Step functions, life tables, and what is read off them: Kaplan-Meier, Nelson-Aalen, quantiles, means.

A :class:`LifeTable` holds the distinct times of one group of rows with the weight of the events, of the censorings
and of the rows at risk at each; a :class:`LifeTables` holds many of them, one per leaf of a tree, in flat arrays.

A curve may be asked for any time, and the answer never raises: before its first step a curve has its starting
value (1 for survival, 0 for a cumulative hazard), and beyond the last follow-up time, the end of its
`domain`, it keeps its last value. Nothing is known out there; whoever minds compares with `domain`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from dipolar._core.kaplan_meier import fill_life_tables, fill_product_limit
from dipolar.records import Record, offsets, reals
from dipolar.survival import LARGEST_TIME, Survival, check_outcome
from dipolar.validation import LARGEST_TOTAL, SMALLEST_WEIGHT, check_sample_weight

__all__ = [
    "UNREACHED_RULES",
    "LifeTable",
    "LifeTables",
    "StepFunction",
    "check_unreached",
    "kaplan_meier",
    "life_table",
    "nelson_aalen",
    "tabulate",
]

UNREACHED_RULES = ("inf", "nan", "mean", "largest", "restricted_mean")

# R's tolerance for "the curve equals the level on this step": the square root of the machine epsilon.
FLAT_STEP_TOLERANCE = float(np.sqrt(np.finfo(float).eps))

# Sums of the same weights in another order may differ by this, as a share of them.
ROUNDING_OF_SUMS = 1e-9

# What weights of rows sum to, but for rounding.
LEAST_AT_RISK, MOST_AT_RISK = 0.5 * SMALLEST_WEIGHT, 2 * LARGEST_TOTAL


@dataclass(frozen=True, eq=False)
class StepFunction:
    """A right-continuous step function.

    Parameters
    ----------
    x : ndarray of shape (n_steps,)
        Where the function steps, ascending.
    y : ndarray of shape (n_steps,)
        The value from each step on, `f(t) = y[k]` for `x[k] <= t < x[k + 1]`.
    start : float
        The value before the first step.
    domain : tuple of float
        The range of times that data support. Outside it the function keeps its first or last value.

    Examples
    --------
    >>> from dipolar.curves import kaplan_meier
    >>> survival = kaplan_meier([2.0, 3.0, 4.0, 5.0], [1, 0, 1, 0])
    >>> survival([0.0, 2.0, 4.5, 99.0])
    array([1.   , 0.75 , 0.375, 0.375])
    """

    x: np.ndarray
    y: np.ndarray
    start: float
    domain: tuple[float, float]

    def __call__(self, t: Any) -> np.ndarray | float:
        """Return the value at `t`, a number or an array of them; NaN where `t` is NaN."""
        t = np.asarray(t, dtype=np.float64)
        values = np.concatenate([[self.start], self.y])
        result = values[np.searchsorted(self.x, t, side="right")]
        result = np.where(np.isnan(t), np.nan, result)
        return float(result) if t.ndim == 0 else result


@dataclass(frozen=True, eq=False)
class LifeTable:
    """The distinct times of one group of rows, with what happened at each."""

    time: np.ndarray  # (n_times,) distinct follow-up times, ascending
    events: np.ndarray  # (n_times,) weight of the events at each time; 0 where rows were only censored
    censored: np.ndarray  # (n_times,) weight of the rows censored at each time
    at_risk: np.ndarray  # (n_times,) weight at risk just before each time

    @cached_property
    def survival(self) -> np.ndarray:
        """Kaplan-Meier estimate `S(t) = prod_{t_k <= t} (1 - d_k / Y_k)` at every time."""
        return np.cumprod(1.0 - self.events / self.at_risk)

    @cached_property
    def cumulative_hazard(self) -> np.ndarray:
        """Nelson-Aalen estimate `H(t) = sum_{t_k <= t} d_k / Y_k` at every time."""
        return np.cumsum(self.events / self.at_risk)

    @property
    def beyond(self) -> np.ndarray:
        """Weight followed beyond each time: as nobody enters late, these rows are at risk at the next one."""
        return np.append(self.at_risk[1:], 0.0)

    @property
    def domain(self) -> tuple[float, float]:
        """From time zero to the last follow-up time."""
        return 0.0, float(self.time[-1])

    def survival_function(self) -> StepFunction:
        """Return the Kaplan-Meier estimate as a function with steps at the event times."""
        steps = self.events > 0
        return StepFunction(self.time[steps], self.survival[steps], 1.0, self.domain)

    def cumulative_hazard_function(self) -> StepFunction:
        """Return the Nelson-Aalen estimate as a function with steps at the event times."""
        steps = self.events > 0
        return StepFunction(self.time[steps], self.cumulative_hazard[steps], 0.0, self.domain)

    def mean_time(self) -> float:
        """Return the weighted mean of the observed times, events and censorings alike."""
        return float(np.average(self.time, weights=self.events + self.censored))

    def median(self, unreached: str = "inf") -> float:
        """Return the median survival time; see :meth:`quantile`."""
        return self.quantile(0.5, unreached)

    @property
    def median_rests_on_one(self) -> bool:
        """Whether the curve falls to 1/2 only where one row is left, whose time the median then is."""
        below = np.flatnonzero(self.survival <= 0.5 + FLAT_STEP_TOLERANCE)
        return bool(len(below)) and bool(self.at_risk[below[0]] <= 1.0)

    def quantile(self, q: float, unreached: str = "inf") -> float:
        """Return the time by which a share `q` has had the event.

        This is the first time with `S(t) <= 1 - q`; where the curve equals `1 - q` on a whole step, the
        middle of that step (the rule of R's `survfit`; the last step ends at the last follow-up time).

        Parameters
        ----------
        q : float in (0, 1)
            The share; 0.5 is the median.
        unreached : {"inf", "nan", "mean", "largest", "restricted_mean"}, default="inf"
            What to return where the curve stays above `1 - q`: infinity, NaN, the mean of the observed times
            (the rule of Maung, Lazar and Zheng), the last follow-up time, or the area under the curve up to
            that time.
        """
        level = 1.0 - q
        below = np.flatnonzero(self.survival <= level + FLAT_STEP_TOLERANCE)
        if not len(below):
            return self._unreached(unreached)
        first = below[0]
        if self.survival[first] < level - FLAT_STEP_TOLERANCE:
            return float(self.time[first])
        lower = np.flatnonzero(self.survival < level - FLAT_STEP_TOLERANCE)
        end = lower[0] if len(lower) else len(self.time) - 1
        return float(0.5 * self.time[first] + 0.5 * self.time[end])

    def rmst(self, horizon: float) -> float:
        """Return the restricted mean survival time, the area under the curve from 0 to `horizon`."""
        inside = self.time < horizon
        edges = np.concatenate([[0.0], self.time[inside], [horizon]])
        heights = np.concatenate([[1.0], self.survival[inside]])
        return float(np.sum(np.diff(edges) * heights))

    def _unreached(self, rule: str) -> float:
        if rule == "mean":
            return self.mean_time()
        if rule == "largest":
            return float(self.time[-1])
        if rule == "restricted_mean":
            return self.rmst(float(self.time[-1]))
        return np.inf if rule == "inf" else np.nan


@dataclass(frozen=True, eq=False)
class LifeTables(Record):
    """Life tables of many groups in flat arrays; group g owns the entries offset[g] to offset[g + 1]."""

    offset: Annotated[np.ndarray, offsets("groups", into="entries", may_be_empty=False)]
    time: Annotated[np.ndarray, reals("entries", low=0, high=LARGEST_TIME)]
    events: Annotated[np.ndarray, reals("entries", low=0, high=MOST_AT_RISK)]
    censored: Annotated[np.ndarray, reals("entries", low=0, high=MOST_AT_RISK)]
    at_risk: Annotated[np.ndarray, reals("entries", low=LEAST_AT_RISK, high=MOST_AT_RISK)]

    def __len__(self) -> int:
        return len(self.offset) - 1

    def __getitem__(self, group: int) -> LifeTable:
        entries = slice(self.offset[group], self.offset[group + 1])
        return LifeTable(self.time[entries], self.events[entries], self.censored[entries], self.at_risk[entries])

    def __iter__(self) -> Iterator[LifeTable]:
        return (self[group] for group in range(len(self)))

    @property
    def n_samples(self) -> np.ndarray:
        """Weight of the rows of every group."""
        return np.add.reduceat(self.events + self.censored, self.offset[:-1])

    @property
    def n_events(self) -> np.ndarray:
        """Weight of the events of every group."""
        return np.add.reduceat(self.events, self.offset[:-1])

    def rows(self) -> tuple[Survival, np.ndarray, np.ndarray]:
        """Return outcomes, weights and groups of the rows behind the tables, those that are alike as one."""
        # Every entry stands for two rows: its events and its censorings, where there are any.
        weight = np.concatenate([self.events, self.censored])
        rows = np.flatnonzero(weight > 0)
        event = np.repeat([True, False], len(self.time))
        group = np.repeat(np.arange(len(self)), np.diff(self.offset))
        return Survival(np.tile(self.time, 2)[rows], event[rows]), weight[rows], np.tile(group, 2)[rows]

    def merge(self, group: np.ndarray) -> LifeTables:
        """Pool groups: old group g becomes part of new group `group[g]`, numbered from 0 without gaps."""
        outcome, weight, old = self.rows()
        return tabulate(outcome, weight, group[old], int(group.max()) + 1)

    def check(self, n_groups: int) -> None:
        """Raise ValueError unless every group has a life table (used on files)."""
        self.check_arrays(groups=n_groups)
        follows = np.ones(len(self.time), dtype=bool)  # another entry of its group
        follows[self.offset[:-1]] = False
        follows = follows[1:]
        if (self.time[1:] <= self.time[:-1])[follows].any():
            raise ValueError("the times of a life table do not ascend")
        staying = np.where(follows, self.at_risk[1:], 0.0) if len(follows) else np.empty(0)
        leaving = self.events + self.censored
        if (np.abs(self.at_risk - np.append(staying, 0.0) - leaving) > ROUNDING_OF_SUMS * self.at_risk).any():
            raise ValueError("the rows at risk in a life table are not those that leave it later")
        if (self.events > self.at_risk).any():  # be it by rounding: a curve would fall below 0
            raise ValueError("a life table has more events than rows at risk")

    def estimates(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the Kaplan-Meier and the Nelson-Aalen estimate at every entry."""
        survival, hazard = np.empty_like(self.time), np.empty_like(self.time)
        fill_product_limit(self.offset, self.events, self.at_risk, survival, hazard)
        return survival, hazard

    def hazard_sums(self, times: np.ndarray) -> np.ndarray:
        """Return the sum of every group's cumulative hazard over `times` (ascending), without a table of it.

        The jump at an event time counts once for each of `times` that is not earlier.
        """
        later = len(times) - np.searchsorted(times, self.time, side="left")
        return np.add.reduceat(self.events / self.at_risk * later, self.offset[:-1])

    def on_grid(self, groups: np.ndarray, times: np.ndarray, *, hazard: bool = False) -> np.ndarray:
        """Return the curves of some groups at the given times, shape (len(groups), len(times))."""
        survival, cumulative = self.estimates()
        flat, start = (cumulative, 0.0) if hazard else (survival, 1.0)
        table = np.empty((len(groups), len(times)))
        for i, group in enumerate(groups):
            entries = slice(self.offset[group], self.offset[group + 1])
            values = np.concatenate([[start], flat[entries]])
            table[i] = values[np.searchsorted(self.time[entries], times, side="right")]
        return table


def tabulate(survival: Survival, weight: np.ndarray, group: np.ndarray | None = None, n_groups: int = 1) -> LifeTables:
    """Tabulate checked outcomes by group (0, 1, ..., none of them empty); None puts all rows in one."""
    if group is None:
        group = np.zeros(len(survival), dtype=np.int64)
    order = np.lexsort((survival.time, group))
    n = len(order)
    columns = np.empty((4, n))
    offset = np.zeros(n_groups + 1, dtype=np.int64)
    n_entries = fill_life_tables(
        group[order].astype(np.int64), survival.time[order], survival.event[order], weight[order],
        *columns, offset,
    )  # fmt: skip
    return LifeTables(offset, *(column[:n_entries].copy() for column in columns))


def life_table(time: Any, event: Any = None, sample_weight: Any = None) -> LifeTable:
    """Tabulate one group of right-censored times.

    Parameters
    ----------
    time : array-like of shape (n_samples,)
        Follow-up times.
    event : array-like of shape (n_samples,), default=None
        True where the event was observed; None means everywhere.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row counts. Rows of weight zero are left out.
    """
    survival = check_outcome(np.asarray(time) if event is None else (np.asarray(time), np.asarray(event)),
                             require_event=False)  # fmt: skip
    weight = check_sample_weight(sample_weight, len(survival))
    seen = weight > 0
    if not seen.any():
        raise ValueError(
            f"a curve needs at least one row of positive weight, got {len(survival)} rows. "
            "Check time and sample_weight."
        )
    return tabulate(survival.take(seen), weight[seen])[0]


def kaplan_meier(time: Any, event: Any = None, sample_weight: Any = None) -> StepFunction:
    """Return the Kaplan-Meier estimate of the survival function.

    `S(t) = prod_{t_k <= t} (1 - d_k / Y_k)`, with d_k events among Y_k rows at risk at the event time t_k.
    The parameters are those of :func:`life_table`.

    References
    ----------
    Kaplan, E. L. and Meier, P. (1958). Nonparametric estimation from incomplete observations. Journal of the
    American Statistical Association 53, 457-481.
    """
    return life_table(time, event, sample_weight).survival_function()


def nelson_aalen(time: Any, event: Any = None, sample_weight: Any = None) -> StepFunction:
    """Return the Nelson-Aalen estimate of the cumulative hazard, `H(t) = sum_{t_k <= t} d_k / Y_k`.

    The parameters are those of :func:`life_table`.

    References
    ----------
    Aalen, O. (1978). Nonparametric inference for a family of counting processes. Annals of Statistics 6,
    701-726.
    """
    return life_table(time, event, sample_weight).cumulative_hazard_function()


def check_unreached(rule: Any) -> str:
    """Check the name of the rule for a quantile that a curve does not reach."""
    if rule not in UNREACHED_RULES:
        raise ValueError(
            f"unreached must be one of {', '.join(map(repr, UNREACHED_RULES))}, got {rule!r}. It says what "
            "to return where a survival curve stays above the level asked for; 'inf' is the default."
        )
    return str(rule)
