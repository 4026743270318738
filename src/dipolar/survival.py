"""Right-censored outcomes: one checked record, and the forms of `y` it is read from.

Everything that enters the library as `y` passes through :func:`check_outcome` once. What comes
out is a :class:`Survival`, and nothing behind that border checks again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["Survival", "check_outcome", "survival_outcome"]

OUTCOME_DTYPE = np.dtype([("event", np.bool_), ("time", np.float64)])

ACCEPTED_FORMS = (
    "Pass a structured array (dipolar.survival_outcome(time, event) makes one), a DataFrame with a time and "
    "an event column, an (n, 2) array of (time, event), a pair (time, event), or a 1-D array of times that "
    "were all observed."
)

# How many offending rows an error message lists.
ROWS_SHOWN = 5

# Sums and products of times have to stay finite.
LARGEST_TIME = 1e100

# Times, and differences of times, that are this close, as a share of the largest time, differ by rounding only: months
# divided by 12 are still on a grid, but no longer exactly.
TIME_ROUNDING = 2.0**-40


@dataclass(frozen=True)
class Survival:
    """Right-censored outcomes, already checked."""

    time: np.ndarray  # (n_samples,) float64, 0 to LARGEST_TIME; times that differ by rounding are equal
    event: np.ndarray  # (n_samples,) bool, True where the event was seen

    def __len__(self) -> int:
        return len(self.time)

    def take(self, rows: np.ndarray | slice) -> Survival:
        """Return the outcomes of the given rows."""
        return Survival(self.time[rows], self.event[rows])


def survival_outcome(time: Any, event: Any = None) -> np.ndarray:
    """Build the structured outcome array that survival estimators take as `y`.

    Parameters
    ----------
    time : array-like of shape (n_samples,)
        Follow-up times; finite and not negative.
    event : array-like of shape (n_samples,), default=None
        True (or 1) where the event was observed, False (or 0) where follow-up was censored. None means
        that every event was observed.

    Returns
    -------
    y : ndarray of shape (n_samples,), dtype [('event', '?'), ('time', '<f8')]
        The form that scikit-survival uses as well.

    Examples
    --------
    >>> from dipolar import survival_outcome
    >>> survival_outcome([5.0, 8.0], [1, 0])
    array([( True, 5.), (False, 8.)], dtype=[('event', '?'), ('time', '<f8')])
    """
    time = _as_times(time)
    event = np.ones(len(time), dtype=bool) if event is None else _as_events(event)
    _require_equal_length(len(time), len(event))
    y = np.empty(len(time), dtype=OUTCOME_DTYPE)
    y["event"] = event
    y["time"] = time
    return y


def check_outcome(y: Any, *, require_event: bool = True, join: bool = True) -> Survival:
    """Read any accepted form of `y` into a checked :class:`Survival`.

    Parameters
    ----------
    y : structured array, DataFrame, (n, 2) array, pair or 1-D array
        See the accepted forms in the user guide.
    require_event : bool, default=True
        Whether an outcome without a single event is an error.
    join : bool, default=True
        Whether times that differ by rounding are made equal.
    """
    time, event = _split_columns(y)
    time = _as_times(time)
    event = np.ones(len(time), dtype=bool) if event is None else _as_events(event)
    _require_equal_length(len(time), len(event))
    if require_event and len(event) and not event.any():
        raise ValueError(
            f"y has no events: all {len(event)} rows are censored, and there is nothing to learn from. "
            "If the event column is coded the other way round, pass 1 - event."
        )
    return Survival(join_close_times(time) if join else time, event)


def _split_columns(y: Any) -> tuple[Any, Any]:
    """Return the (time, event) columns of `y`; event is None where all events were observed."""
    if y is None:
        # The first words are the ones that scikit-learn uses and its checks look for.
        raise ValueError(f"requires y to be passed, but the target y is None. {ACCEPTED_FORMS}")
    if isinstance(y, Survival):
        return y.time, y.event
    if _is_pair(y):
        return y[0], y[1]
    if hasattr(y, "columns") and hasattr(y, "shape"):
        return _split_frame(y)
    try:
        values = np.asarray(y)
    except ValueError as error:
        raise ValueError(f"y cannot be read as an array: {error} {ACCEPTED_FORMS}") from error
    if values.dtype.names is not None:
        return _split_structured(values)
    if values.ndim == 2 and values.shape[1] == 2:
        return values[:, 0], values[:, 1]
    if values.ndim == 2 and values.shape[1] == 1:
        _warn_column_vector()
        return values[:, 0], None
    if values.ndim != 1:
        raise ValueError(f"y should be a survival outcome, got an array of shape {values.shape}. {ACCEPTED_FORMS}")
    return values, None


def _is_pair(y: Any) -> bool:
    """Tell `(time, event)` from a sequence that happens to hold two rows."""
    if not isinstance(y, tuple | list) or len(y) != 2:
        return False
    both_arrays = all(hasattr(part, "__array__") or hasattr(part, "to_numpy") for part in y)
    both_columns = isinstance(y, tuple) and all(np.ndim(part) == 1 for part in y)
    return both_columns or (both_arrays and all(np.ndim(part) == 1 for part in y))


def _split_structured(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    names = values.dtype.names or ()
    if len(names) != 2:
        raise ValueError(
            f"y should have two fields, one of events and one of times, got {list(names)}. {ACCEPTED_FORMS}"
        )
    columns = {name: values[name] for name in names}
    return _tell_time_from_event(columns)


def _split_frame(frame: Any) -> tuple[np.ndarray, np.ndarray | None]:
    names = list(frame.columns)
    if len(names) == 1:
        return np.asarray(frame[names[0]]), None
    if len(names) != 2:
        raise ValueError(
            f"y should have two columns, one of times and one of events, got {len(names)}: {names[:8]}. "
            "Select the two, for example y[['time', 'event']]."
        )
    if names[0] == names[1]:
        raise ValueError(f"y has two columns of the same name, {names[0]!r}. Rename one, or pass (time, event).")
    return _tell_time_from_event({name: np.asarray(frame[name]) for name in names})


def _tell_time_from_event(columns: dict[Any, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Find out which of two named columns is the event indicator: by dtype, else by its values."""
    (first, a), (second, b) = columns.items()
    for looks_like_event in (_is_boolean, _is_binary):
        a_is_event, b_is_event = looks_like_event(a), looks_like_event(b)
        if a_is_event != b_is_event:
            return (b, a) if a_is_event else (a, b)
    raise ValueError(
        f"y has the columns {first!r} and {second!r}, and exactly one of them should hold the events as 0/1 "
        "or boolean values. Convert the event column to bool, or pass the pair (time, event)."
    )


def _is_boolean(values: np.ndarray) -> bool:
    return values.dtype == bool


def _is_binary(values: np.ndarray) -> bool:
    try:
        return bool(np.isin(values, (0, 1)).all())
    except TypeError:  # a missing value of a nullable pandas column refuses to be compared
        return False


def _as_times(time: Any) -> np.ndarray:
    values = _as_vector(time, "time")
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported: time must hold real numbers.")
    if values.dtype.kind in "mM":
        raise ValueError(
            f"time must hold numbers, got {values.dtype}. Convert durations to one unit, for example days: "
            "time / np.timedelta64(1, 'D')."
        )
    try:
        values = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"time must hold numbers, got dtype {np.asarray(time).dtype}: {error}") from error
    _refuse_rows(np.isnan(values), values, "time", "NaN", "Drop these rows, or impute their times.")
    _refuse_rows(np.isinf(values), values, "time", "infinite (inf)", "Use the last follow-up time and event = 0.")
    _refuse_rows(values < 0, values, "time", "negative", "Times are counted from entry and must be >= 0.")
    large = values > LARGEST_TIME
    _refuse_rows(large, values, "time", f"above {LARGEST_TIME:g}", "Use a larger unit of time.")
    return values


def join_close_times(time: np.ndarray) -> np.ndarray:
    """Make times that differ by rounding equal to the smallest of them: 0.1 + 0.2 and 0.3 are one time."""
    levels = np.sort(time)
    if len(levels) < 2:
        return time
    gap = np.diff(levels)
    is_rounding = (gap > 0) & (gap <= TIME_ROUNDING * levels[-1])
    if not is_rounding.any():
        return time
    levels = levels[np.concatenate(([True], gap > 0))]
    first = np.concatenate(([True], np.diff(levels) > TIME_ROUNDING * levels[-1]))
    starts = levels[first]
    return starts[np.searchsorted(starts, time, side="right") - 1]


def _as_events(event: Any) -> np.ndarray:
    values = _as_vector(event, "event")
    if values.dtype == bool:
        return np.array(values)
    if np.iscomplexobj(values):
        raise ValueError("Complex data not supported: event must be boolean or 0/1.")
    way_out = "Code observed events as 1 (or True) and censored rows as 0 (or False)"
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"event must be boolean or 0/1, got dtype {values.dtype}. {way_out}.") from error
    if set(np.unique(numbers)) == {1.0, 2.0}:
        way_out += "; for the codes 1 = censored, 2 = event that is event == 2"
    _refuse_rows(~np.isin(numbers, (0.0, 1.0)), values, "event", "not 0 or 1", f"{way_out}.")
    return numbers == 1.0


def _as_vector(values: Any, name: str) -> np.ndarray:
    values = np.asarray(values)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise ValueError(f"{name} should be one-dimensional, got shape {values.shape}. {ACCEPTED_FORMS}")
    return values


def _refuse_rows(bad: np.ndarray, values: np.ndarray, name: str, what: str, way_out: str) -> None:
    rows = np.flatnonzero(bad)
    if not len(rows):
        return
    shown = ", ".join(f"row {row}: {values[row]}" for row in rows[:ROWS_SHOWN])
    more = f" and {len(rows) - ROWS_SHOWN} more" if len(rows) > ROWS_SHOWN else ""
    raise ValueError(f"{name} is {what} in {len(rows)} of {len(values)} rows ({shown}{more}). {way_out}")


def _require_equal_length(n_times: int, n_events: int) -> None:
    if n_times != n_events:
        raise ValueError(
            f"time and event should have the same length, got {n_times} times and {n_events} events. "
            "Each row needs one of both."
        )


def _warn_column_vector() -> None:
    import warnings

    from sklearn.exceptions import DataConversionWarning

    warnings.warn(
        "A column-vector y was passed when a 1d array was expected. It is read as times that were all observed.",
        DataConversionWarning,
        stacklevel=4,
    )
