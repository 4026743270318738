"""Dynamic AUC against every case and control, R and scikit-survival."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dipolar import survival_outcome
from dipolar.datasets import load_whas500
from dipolar.metrics import TruncationWarning, cumulative_dynamic_auc, time_grid
from tests.reference import metrics as reference
from tests.test_metrics_concordance import tied_rows

TIMES = [30, 180, 365, 730, 1095, 1500, 2000]


@pytest.fixture(scope="module")
def whas():
    X, y = load_whas500(return_X_y=True)
    return X["hr"].to_numpy(float), y


@given(tied_rows(), tied_rows(), st.booleans(), st.data())
def test_equals_every_case_and_control(train, test, left_limit, data):
    time, event, risk, weight = test
    assume((event & (time < time.max())).any())
    t = data.draw(st.sampled_from(np.arange(time[event].min(), time.max(), 0.5)))
    source = [np.append(a, b) for a, b in zip((train[0], train[1], train[3]), (9.0, False, 1.0))]
    mine = cumulative_dynamic_auc(
        tuple(source[:2]), (time, event), risk, [t],
        left_limit=left_limit, sample_weight=weight, train_weight=source[2],
    )  # fmt: skip
    expected = reference.auc(source, (time, event), risk, weight, t, left_limit)
    assert mine.auc[0] == pytest.approx(expected, rel=1e-10)
    assert mine.mean == mine.auc[0]


def test_with_left_limits_the_last_training_time_can_be_used():
    # G is zero at time 3 and 1/2 before it, and the event at time 3 is divided by the latter.
    train = survival_outcome([1.0, 2.0, 3.0, 3.0], [1, 0, 1, 0])
    test = survival_outcome([1.0, 3.0, 5.0, 6.0], [1, 1, 0, 0])
    risk = [4, 1, 2, 3]
    result = cumulative_dynamic_auc(train, test, risk, [3.0], left_limit=True)
    source = [train["time"], train["event"], np.ones(4)]
    expected = reference.auc(source, (test["time"], test["event"]), risk, np.ones(4), 3.0, True)
    assert result.auc[0] == pytest.approx(expected, rel=1e-12)
    with pytest.raises(ValueError, match=r"outside the data \(3\).*and t < 3"):
        cumulative_dynamic_auc(train, test, risk, [3.0])


def test_a_light_event_has_a_mean():
    # Beside the other rows its step of the Kaplan-Meier curve is lost in rounding.
    y = survival_outcome([1.0, 2.0, 3.0], [1, 1, 0])
    weight = [1e-12, 1e-12, 1e12]
    result = cumulative_dynamic_auc(y, y, [3, 1, 2], [1.0, 2.0], sample_weight=weight)
    assert result.mean == pytest.approx(result.auc.mean(), rel=1e-9)


def test_equal_to_r(whas):
    hr, y = whas
    # Score(list(m = d$hr / 300), Surv(time, event) ~ 1, d, times = times, metrics = "auc", cens.model = "km")
    # of riskRegression 2022.11.28
    expected = [
        0.5796338098821169, 0.6130010834236186, 0.6357358111501757, 0.6780921227381440, 0.6995507790378962,
        0.6364271346295627, 0.5869112184132660,
    ]  # fmt: skip
    np.testing.assert_allclose(cumulative_dynamic_auc(y, y, hr, TIMES, left_limit=True).auc, expected, atol=1e-10)


@pytest.mark.parametrize("columns", [False, True])
def test_equal_to_scikit_survival(whas, columns):
    theirs = pytest.importorskip("sksurv.metrics")
    hr, y = whas
    # scikit-survival wants a positive G at every evaluated event.
    train, test = y[::2], y[1::2][y[1::2]["time"] < 2000]
    risk = hr[1::2][y[1::2]["time"] < 2000]
    times = TIMES[:-1]
    if columns:
        risk = risk[:, None] * np.linspace(1, -1, len(times))
    auc, mean = theirs.cumulative_dynamic_auc(train, test, risk, times)
    mine = cumulative_dynamic_auc(train, test, risk, times)
    np.testing.assert_allclose(mine.auc, auc, atol=1e-10)
    assert mine.mean == pytest.approx(mean, abs=1e-10)


def test_weight_two_is_the_row_twice_and_zero_is_absent(whas):
    hr, y = whas
    count = np.resize([0, 1, 2, 3], len(y))
    rows = np.repeat(np.arange(len(y)), count)
    weighted = cumulative_dynamic_auc(y, y, hr, sample_weight=count, train_weight=count)
    repeated = cumulative_dynamic_auc(y[rows], y[rows], hr[rows])
    np.testing.assert_array_equal(weighted.times, repeated.times)
    np.testing.assert_allclose(weighted.auc, repeated.auc)
    assert weighted.mean == pytest.approx(repeated.mean)


def test_default_times_and_a_constant_risk(whas):
    _, y = whas
    result = cumulative_dynamic_auc(y[::2], y[1::2], np.zeros(len(y) // 2))
    np.testing.assert_array_equal(result.times, time_grid(y[1::2], y[::2]))
    np.testing.assert_allclose(result.auc, 0.5)


def test_times_without_cases_or_controls_are_outside(whas):
    hr, y = whas
    first, last = y["time"][y["event"]].min(), y["time"].max()
    with pytest.raises(ValueError, match=rf"2 of 3 times lie outside the data \({first / 2:g}, {last:g}\)"):
        cumulative_dynamic_auc(y, y, hr, [first / 2, 365.0, last])
    with pytest.warns(TruncationWarning):
        kept = cumulative_dynamic_auc(y, y, hr[:, None] * [0, 1, 0], [first / 2, 365.0, last], outside="truncate")
    np.testing.assert_allclose(kept.auc, cumulative_dynamic_auc(y, y, hr, 365.0).auc)


def test_errors_name_the_fault(whas):
    hr, y = whas
    with pytest.raises(ValueError, match="no events among its 2 rows"):
        cumulative_dynamic_auc(y, survival_outcome([1.0, 2.0], [0, 0]), [1, 2], [1.0])
    with pytest.raises(ValueError, match=r"risk should have shape \(461,\) or \(461, 1\)"):
        cumulative_dynamic_auc(y, y, np.ones((461, 2)), 365.0)
    with pytest.raises(ValueError, match="risk is NaN"):
        cumulative_dynamic_auc(y, y, np.where(hr > 90, np.nan, 1.0), 365.0)
