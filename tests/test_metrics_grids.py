"""Time grids: every rule by hand, and their bounds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dipolar import survival_outcome
from dipolar.metrics import brier_score, time_grid

Y = survival_outcome([1.0, 2.0, 2.0, 4.0, 8.0, 9.0], [1, 0, 1, 0, 1, 1])


def test_default_holds_event_times_that_both_sets_are_followed_beyond():
    np.testing.assert_array_equal(time_grid(Y), [1.0, 2.0, 8.0])
    np.testing.assert_array_equal(time_grid(Y, survival_outcome([3.0, 9.0], [0, 1])), [1.0, 2.0, 8.0])
    # The training rows end with a censoring at 5: nobody is uncensored from there on.
    np.testing.assert_array_equal(time_grid(Y, survival_outcome([3.0, 5.0], [1, 0])), [1.0, 2.0])


def test_default_ends_where_few_are_followed():
    y = survival_outcome(np.arange(1.0, 101.0))
    assert time_grid(y, size=1000)[-1] == 95.0
    assert time_grid(y, size=1000, sample_weight=np.where(y["time"] > 90, 100.0, 1.0))[-1] == 99.0


def test_default_is_thinned_at_even_ranks():
    y = survival_outcome(np.arange(1.0, 1001.0))
    grid = time_grid(y, size=11)
    np.testing.assert_array_equal(grid, 1.0 + np.round(np.linspace(0, 949, 11)))


def test_papers_and_authors_rules():
    np.testing.assert_allclose(time_grid(Y, rule="paper"), [1.5, 5.0, 8.5])
    np.testing.assert_allclose(time_grid(Y, rule="authors", every=2), np.sqrt([1 * 2, 4 * 8]))


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=2, max_size=15), st.integers(0, 14))
def test_a_default_grid_is_always_usable(rows, cut):
    y = survival_outcome([float(t) for t, _ in rows], [e for _, e in rows])
    train = y[: max(1, cut % len(y))]
    try:
        grid = time_grid(y, train)
    except ValueError as error:
        assert "no default time grid" in str(error)
        return
    scores = brier_score(train, y, np.full((len(y), len(grid)), 0.5), grid).scores
    assert np.isfinite(scores).all()


@pytest.mark.parametrize(
    ("y", "settings", "message"),
    [
        (survival_outcome([1.0, 2.0], [0, 0]), {}, "0 events among 2 rows.*Pass times"),
        (survival_outcome([1.0, 2.0], [0, 1]), {"rule": "paper"}, "1 distinct event times"),
        (survival_outcome([2.0, 2.0], [0, 1]), {"rule": "authors"}, "1 distinct times"),
        (Y, {"rule": "graf"}, "rule must be one of"),
        (Y, {"size": 1}, "size must be an integer >= 2"),
        (Y, {"every": 0}, "every must be an integer >= 1"),
    ],
)
def test_errors_name_the_fault(y, settings, message):
    with pytest.raises(ValueError, match=message):
        time_grid(y, **settings)
