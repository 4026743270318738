"""Every accepted form of y gives the same record, and every bad one a message that helps."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.exceptions import DataConversionWarning

from dipolar import survival_outcome
from dipolar.survival import OUTCOME_DTYPE, TIME_ROUNDING, Survival, check_outcome


@st.composite
def outcomes(draw, max_rows=8):
    """At least one event, and times that are not all 0 or 1: a column of 0/1 can only be the events."""
    n = draw(st.integers(1, max_rows))
    time = draw(st.lists(st.floats(0, 1e6) | st.integers(0, 3).map(float), min_size=n, max_size=n))
    event = draw(st.lists(st.booleans(), min_size=n, max_size=n))
    time[draw(st.integers(0, n - 1))] = draw(st.floats(1.5, 1e6))
    event[draw(st.integers(0, n - 1))] = True
    return np.array(time), np.array(event)


event_codes = st.sampled_from([bool, np.int8, np.int64, np.float32, np.float64])
names = st.sampled_from([("time", "event"), ("event", "time"), ("a", "b"), ("b", "a"), ("futime", "Status")])


def assert_same_record(y, time, event):
    record = check_outcome(y)
    assert isinstance(record, Survival)
    assert record.time.dtype == np.float64 and record.event.dtype == bool
    np.testing.assert_allclose(record.time, time, rtol=0, atol=TIME_ROUNDING * np.max(time, initial=0.0))
    np.testing.assert_array_equal(record.event, event)


# --- accepted forms --------------------------------------------------------------------------------------


@given(outcomes(), event_codes, names, st.booleans())
def test_structured_array_of_any_order_and_names(outcome, code, field_names, event_first):
    time, event = outcome
    fields = [(field_names[0], np.float64), (field_names[1], code)]
    y = np.empty(len(time), dtype=fields[::-1] if event_first else fields)
    y[field_names[0]], y[field_names[1]] = time, event
    assert_same_record(y, time, event)
    assert_same_record(y.view(np.recarray), time, event)


@given(outcomes(), event_codes, names, st.booleans(), st.sampled_from([pd.DataFrame, pl.DataFrame]))
def test_frame_of_any_column_order(outcome, code, column_names, event_first, frame):
    time, event = outcome
    columns = [(column_names[0], time), (column_names[1], event.astype(code))]
    assert_same_record(frame(dict(columns[::-1] if event_first else columns)), time, event)


@given(outcomes())
def test_nullable_pandas_columns(outcome):
    time, event = outcome
    times = pd.array(time, dtype="Float64")
    for dtype in ("boolean", "Int64"):
        assert_same_record(pd.DataFrame({"d": pd.array(event, dtype=dtype), "t": times}), time, event)


def test_frame_with_any_index():
    frame = pd.DataFrame({"time": [3.0, 2.0], "event": [0, 1]}, index=[7, 3])
    assert_same_record(frame, [3.0, 2.0], [False, True])


@given(outcomes())
def test_two_column_array_is_time_then_event(outcome):
    time, event = outcome
    y = np.column_stack([time, event])
    assert_same_record(y, time, event)
    assert_same_record(y.tolist(), time, event)
    assert_same_record(np.asfortranarray(y), time, event)


@given(
    outcomes(),
    event_codes,
    st.sampled_from([np.asarray, pd.Series, pl.Series]),
    st.sampled_from([tuple, list]),
)
def test_pair_of_arrays_or_series(outcome, code, column, sequence):
    time, event = outcome
    assert_same_record(sequence([column(time), column(event.astype(code))]), time, event)


@given(outcomes())
def test_tuple_of_lists_is_a_pair(outcome):
    time, event = outcome
    assert_same_record((time.tolist(), event.tolist()), time, event)


def test_two_rows_in_a_list_are_rows():
    assert_same_record([[5.0, 1], [8.0, 0]], [5.0, 8.0], [True, False])
    assert_same_record([(5.0, True), (8.0, False)], [5.0, 8.0], [True, False])


@given(outcomes(), st.sampled_from([np.asarray, pd.Series, pl.Series, list]))
def test_one_dimension_means_all_observed(outcome, column):
    time, _ = outcome
    assert_same_record(column(time), time, np.ones(len(time), dtype=bool))


def test_single_column_frame_means_all_observed():
    assert_same_record(pd.DataFrame({"t": [5.0, 8.0]}), [5.0, 8.0], [True, True])


def test_column_vector_is_read_with_a_warning():
    with pytest.warns(DataConversionWarning, match="column-vector y was passed"):
        record = check_outcome(np.array([[5.0], [8.0]]))
    np.testing.assert_array_equal(record.time, [5.0, 8.0])
    assert record.event.all()


@given(outcomes())
def test_round_trip_through_survival_outcome(outcome):
    time, event = outcome
    y = survival_outcome(time, event)
    assert y.dtype == OUTCOME_DTYPE
    assert_same_record(y, time, event)
    assert_same_record(check_outcome(y), time, event)
    np.testing.assert_array_equal(survival_outcome(time)["event"], True)


def test_record_does_not_share_memory_with_y():
    y = survival_outcome([5.0, 8.0], [1, 1])
    time, event = np.array([5.0, 8.0]), np.array([True, True])
    from_fields, from_pair = check_outcome(y), check_outcome((time, event))
    y["time"], y["event"], time[:], event[:] = 0, False, 0, False
    for record in (from_fields, from_pair):
        np.testing.assert_array_equal(record.time, [5.0, 8.0])
        assert record.event.all()


def test_take_and_length():
    record = check_outcome(([5.0, 8.0, 9.0], [1, 0, 1]))
    assert len(record) == 3
    taken = record.take(np.array([2, 1]))
    np.testing.assert_array_equal(taken.time, [9.0, 8.0])
    np.testing.assert_array_equal(taken.event, [True, False])


def test_time_zero_and_a_single_row_are_accepted():
    assert_same_record(([0.0], [1]), [0.0], [True])


# --- refused values --------------------------------------------------------------------------------------


def refused(message, y):
    with pytest.raises(ValueError, match=message):
        check_outcome(y)


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (-3.0, r"time is negative in 1 of 3 rows \(row 1: -3.0\)\. .*must be >= 0"),
        (np.nan, r"time is NaN in 1 of 3 rows \(row 1: nan\)\. Drop these rows, or impute"),
        (np.inf, r"time is infinite \(inf\) in 1 of 3 rows \(row 1: inf\)\. Use the last follow-up time"),
        (-np.inf, r"time is infinite \(inf\) in 1 of 3 rows \(row 1: -inf\)"),
    ],
)
def test_bad_times(bad, message):
    time, event = np.array([1.0, bad, 2.0]), np.array([True, False, True])
    structured = np.array(list(zip(event, time)), dtype=OUTCOME_DTYPE)
    for y in [
        (time, event),
        np.column_stack([time, event]),
        time,
        structured,
        pd.DataFrame({"e": event, "t": time}),
    ]:
        refused(message, y)
    with pytest.raises(ValueError, match=message):
        survival_outcome(time, event)


def test_many_bad_rows_are_counted_and_five_are_shown():
    refused(r"negative in 8 of 8 rows \(row 0: -1.0, .*row 4: -1.0 and 3 more\)", -np.ones(8))


@pytest.mark.parametrize("bad", [2, -1, 0.5, np.nan])
def test_events_must_be_zero_or_one(bad):
    time, event = np.array([1.0, 2.0, 3.0]), np.array([1.0, bad, 0.0])
    message = rf"event is not 0 or 1 in 1 of 3 rows \(row 1: {float(bad)}\)\. Code observed events as 1"
    refused(message, (time, event))
    refused(message, np.column_stack([time, event]))
    with pytest.raises(ValueError, match=message):
        survival_outcome(time, event)


def test_codes_one_and_two_get_their_own_way_out():
    refused(
        r"not 0 or 1 in 2 of 3 rows .*codes 1 = censored, 2 = event that is event == 2\.",
        ([1, 2, 3], [1, 2, 2]),
    )
    with pytest.raises(ValueError) as caught:
        check_outcome(([1, 2, 3], [0, 1, 2]))
    assert "event == 2" not in str(caught.value)


@pytest.mark.parametrize("event", [["dead", "alive"], [None, "alive"], [object(), 1]])
def test_events_must_be_numbers(event):
    refused("event must be boolean or 0/1, got dtype .* Code observed events as 1", ([1.0, 2.0], event))


def test_missing_events():
    refused(r"event is not 0 or 1 in 1 of 2 rows \(row 1: None\)", ([1.0, 2.0], [True, None]))
    refused("event must be boolean or 0/1", ([1.0, 2.0], pd.Series([True, None], dtype="boolean")))


@pytest.mark.parametrize("swap", [False, True])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_missing_event_in_a_frame(frame, swap):
    columns = {"t": [1.0, 2.5], "e": [True, None]}
    refused(
        "columns '.' and '.', and exactly one of them should hold the events",
        frame(dict(reversed(columns.items())) if swap else columns),
    )


def test_missing_event_in_a_nullable_frame():
    frame = pd.DataFrame({"t": [1.0, 2.5], "e": pd.array([True, None], dtype="boolean")})
    refused("columns 't' and 'e', and exactly one of them should hold the events", frame)


def test_times_that_are_dates_or_durations():
    days = np.array([1, 2], dtype="timedelta64[D]")
    dates = np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")
    for time, dtype in ((days, "timedelta64"), (dates, "datetime64")):
        message = rf"time must hold numbers, got {dtype}.*np.timedelta64\(1, 'D'\)"
        refused(message, (time, [1, 0]))
        refused(message, time)
        refused(message, pd.DataFrame({"time": time, "event": [1, 0]}))
        refused(message, pd.DataFrame({"event": [True, False], "time": time}))


@pytest.mark.parametrize("time", [["early", "late"], [object(), 1.0]])
def test_times_must_be_numbers(time):
    refused("time must hold numbers, got dtype", (time, [1, 0]))


def test_complex_values():
    refused("Complex data not supported: time must hold real numbers", np.array([1.0 + 1j, 2.0]))
    refused("Complex data not supported: event must be boolean or 0/1", ([1.0, 2.0], np.array([1 + 2j, 0])))


# --- refused forms ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("sequence", [tuple, list])
def test_lengths_differ(sequence):
    message = "time and event should have the same length, got 3 times and 2 events"
    refused(message, sequence([np.array([1.0, 2.0, 3.0]), np.array([1, 0])]))
    with pytest.raises(ValueError, match=message):
        survival_outcome([1.0, 2.0, 3.0], [1, 0])


def test_no_events():
    y = ([1.0, 2.0], [0, 0])
    refused(r"y has no events: all 2 rows are censored.*pass 1 - event", y)
    assert not check_outcome(y, require_event=False).event.any()


def test_none():
    refused("requires y to be passed, but the target y is None.*Pass a structured array", None)


@pytest.mark.parametrize("y", [np.ones((4, 3)), np.ones((2, 2, 2)), 3.0, {"time": [1.0]}, [[1, 2, 3], [1, 0, 1]]])
def test_other_shapes(y):
    refused(r"y should be a survival outcome, got an array of shape \(.*\)\. Pass a structured array", y)


@pytest.mark.parametrize("y", [[[1, 2, 3], [1, 0]], ([1.0, 2.0], None), (np.ones((3, 1)), np.ones(3))])
def test_ragged_sequences(y):
    refused("y cannot be read as an array: .*Pass a structured array", y)


def test_three_columns():
    columns = {"time": [1.0, 2.0], "event": [1, 0], "id": [7, 8]}
    for frame in (pd.DataFrame, pl.DataFrame):
        refused(r"two columns, one of times and one of events, got 3: \['time', 'event', 'id'\]", frame(columns))
    three_fields = np.zeros(2, dtype=[("a", bool), ("b", float), ("c", float)])
    refused(r"y should have two fields.*got \['a', 'b', 'c'\]", three_fields)


def test_two_dimensional_parts():
    with pytest.raises(ValueError, match=r"time should be one-dimensional, got shape \(2, 2\)"):
        survival_outcome(np.ones((2, 2)))
    with pytest.raises(ValueError, match=r"event should be one-dimensional, got shape \(\)"):
        survival_outcome([1.0], 1)


@pytest.mark.parametrize(
    "columns",
    [
        {"t": [0, 1, 1], "e": [1, 0, 1]},  # both could be the events
        {"t": [True, True, False], "e": [True, False, True]},
        {"t": [5.0, 6.0, 7.0], "e": [1, 2, 2]},  # neither could
        {"t": [5.0, 6.0, 7.0], "e": ["dead", "alive", "dead"]},
    ],
)
def test_ambiguous_columns(columns):
    refused(
        r"y has the columns 't' and 'e', and exactly one of them should hold the events.*pass the pair",
        pd.DataFrame(columns),
    )


def test_boolean_events_decide_where_times_are_binary_too():
    assert_same_record(pd.DataFrame({"t": [0, 1, 1], "e": [True, False, True]}), [0, 1, 1], [True, False, True])


def test_columns_of_the_same_name():
    refused(
        r"two columns of the same name, 'a'\. Rename one",
        pd.DataFrame([[5.0, 1], [2.0, 0]], columns=["a", "a"]),
    )
