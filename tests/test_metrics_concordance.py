"""Concordance indices against every pair, R, scikit-survival and lifelines."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.exceptions import UndefinedMetricWarning

from dipolar import survival_outcome
from dipolar.datasets import load_whas500
from dipolar.metrics import TruncationWarning, concordance_index, concordance_index_ipcw
from tests.reference import concordance as pairs
from tests.reference import metrics as reference


@pytest.fixture(scope="module")
def whas():
    X, y = load_whas500(return_X_y=True)
    return X["hr"].to_numpy(float), y


@st.composite
def tied_rows(draw, min_size=2, max_size=14):
    """Times, events, risks and weights from few values, so that everything is tied."""
    n = draw(st.integers(min_size, max_size))
    column = st.lists(st.integers(0, 4), min_size=n, max_size=n)
    weight = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=n, max_size=n)))
    return np.array(draw(column), float), np.array(draw(column)) < 3, np.array(draw(column), float), weight


@pytest.mark.compiled
@given(tied_rows())
def test_equals_every_pair(rows):
    time, event, risk, weight = rows
    concordant, discordant, tied = pairs.count_pairs(time, event, risk, weight)
    assume(concordant + discordant + tied > 0)
    half = (concordant + tied / 2) / (concordant + discordant + tied)
    assert concordance_index((time, event), risk, sample_weight=weight) == pytest.approx(half, rel=1e-10)
    assume(concordant + discordant > 0)
    exclude = concordant / (concordant + discordant)
    assert concordance_index((time, event), risk, ties="exclude", sample_weight=weight) == pytest.approx(exclude)


@given(tied_rows())
def test_the_printed_formula_compares_strictly_ordered_times_only(rows):
    time, event, risk, _ = rows
    comparable = event[:, None] & (time[:, None] < time) & (risk[:, None] != risk)
    assume(comparable.any())
    expected = (comparable & (risk[:, None] > risk)).sum() / comparable.sum()
    assert concordance_index((time, event), risk, ties="exclude", tied_times="exclude") == pytest.approx(expected)


@pytest.mark.compiled
@given(tied_rows(), tied_rows(), st.booleans(), st.sampled_from([1.5, 2.0, 9.0]))
def test_uno_equals_every_pair(train, test, left_limit, tau):
    train_time, train_event, _, train_weight = train
    time, event, risk, weight = test
    late = (train_time.max() + 1, False, 1.0)
    train = [np.append(column, last) for column, last in zip((train_time, train_event, train_weight), late)]
    early = event & (time < tau)
    assume((early[:, None] & ((time[:, None] < time) | ((time[:, None] == time) & ~event))).any())
    assume(not (early & (time >= late[0])).any())
    mine = concordance_index_ipcw(
        tuple(train[:2]), (time, event), risk, tau,
        left_limit=left_limit, sample_weight=weight, train_weight=train[2],
    )  # fmt: skip
    expected = reference.uno(train, (time, event), risk, weight, tau, left_limit)
    assert mine == pytest.approx(expected, rel=1e-10)


def test_equal_to_r(whas):
    hr, y = whas
    weight = np.resize([1, 2, 0.5], len(y))
    # d <- read.csv("whas500.csv"); w <- rep(c(1, 2, 0.5), length.out = nrow(d)); survival 3.5-3
    # concordance(Surv(time, event) ~ hr, d, reverse = TRUE)$concordance
    assert concordance_index(y, hr) == pytest.approx(0.6304270903365061, abs=1e-10)
    # concordance(Surv(time, event) ~ hr, d, reverse = TRUE, weights = w)$concordance
    assert concordance_index(y, hr, sample_weight=weight) == pytest.approx(0.6307817841209757, abs=1e-10)
    # concordance(Surv(time, event) ~ hr, d, reverse = TRUE, timewt = "n/G2")$concordance
    uno = concordance_index_ipcw(y, y, hr, left_limit=True, outside="error")
    assert uno == pytest.approx(0.5487614802917304, abs=1e-10)
    # m <- round(hr / 20); o <- outer(time, time, "<") * event * outer(m, m, "!="); sum(o * outer(m, m, ">")) / sum(o)
    paper = concordance_index(y, np.round(hr / 20), ties="exclude", tied_times="exclude")
    assert paper == pytest.approx(0.6474202031193326, abs=1e-10)


def test_uno_with_left_limits_counts_the_events_at_the_last_time(whas):
    # All that is left at the last time is censored: G is zero there, and G before it is what R divides by.
    # t <- c(1,2,3,4,4); e <- c(1,0,1,1,0); r <- c(3,4,5,1,2)
    # concordance(Surv(t, e) ~ r, reverse = TRUE, timewt = "n/G2")$concordance; survival 3.5-3
    y = survival_outcome([1.0, 2.0, 3.0, 4.0, 4.0], [1, 0, 1, 1, 0])
    risk = [3, 4, 5, 1, 2]
    assert concordance_index_ipcw(y, y, risk, left_limit=True) == pytest.approx(0.59523809523809523, rel=1e-14)
    with pytest.raises(ValueError, match=r"1 events from time 4 on.*tau=4"):
        concordance_index_ipcw(y, y, risk)
    # d$m <- ceiling(d$time / 100); s <- d[d$m <= 4, ]; last <- s$m == 4
    # s$event[last] <- rep(c(1, 0), length.out = sum(last))
    # concordance(Surv(m, event) ~ hr, s, reverse = TRUE, timewt = "n/G2")$concordance
    hr, y = whas
    hundreds = np.ceil(y["time"] / 100)
    early = hundreds <= 4
    time, event = hundreds[early], y["event"][early].copy()
    event[time == 4] = np.resize([True, False], (time == 4).sum())
    uno = concordance_index_ipcw((time, event), (time, event), hr[early], left_limit=True)
    assert uno == pytest.approx(0.54945717732207477, rel=1e-12)


def test_equal_to_scikit_survival(whas):
    theirs = pytest.importorskip("sksurv.metrics")
    hr, y = whas
    mine = concordance_index(y, hr)
    assert mine == pytest.approx(theirs.concordance_index_censored(y["event"], y["time"], hr)[0], abs=1e-10)
    train, test = y[::2], y[1::2]
    for tau in (365.0, 1000.0, 2000.0):
        expected = theirs.concordance_index_ipcw(train, test, hr[1::2], tau)[0]
        assert concordance_index_ipcw(train, test, hr[1::2], tau) == pytest.approx(expected, abs=1e-10)


def test_equal_to_lifelines(whas):
    theirs = pytest.importorskip("lifelines.utils")
    hr, y = whas
    for risk in (hr, np.round(hr / 20)):
        expected = theirs.concordance_index(y["time"], -risk, y["event"])
        assert concordance_index(y, risk) == pytest.approx(expected, abs=1e-10)


def test_weight_two_is_the_row_twice_and_zero_is_absent(whas):
    hr, y = whas
    count = np.resize([0, 1, 2, 3], len(y))
    rows = np.repeat(np.arange(len(y)), count)
    assert concordance_index(y, hr, sample_weight=count) == pytest.approx(concordance_index(y[rows], hr[rows]))
    for options in ({"tau": 1500.0}, {"tau": 700.0, "left_limit": True}):
        mine = concordance_index_ipcw(y, y, hr, sample_weight=count, train_weight=count, **options)
        assert mine == pytest.approx(concordance_index_ipcw(y[rows], y[rows], hr[rows], **options))


def test_infinite_risks_are_ranked():
    y = survival_outcome([1.0, 2.0, 3.0], [1, 1, 1])
    assert concordance_index(y, [np.inf, 0.0, -np.inf]) == 1.0


def test_a_constant_prediction():
    y = survival_outcome([1.0, 2.0, 3.0], [1, 0, 1])
    assert concordance_index(y, np.ones(3)) == 0.5
    with pytest.warns(UndefinedMetricWarning, match="ties='exclude' leaves none: 0.5 is returned"):
        assert concordance_index(y, np.ones(3), ties="exclude") == 0.5
    with pytest.warns(UndefinedMetricWarning):
        assert concordance_index(y, np.ones(3), ties="exclude", undefined=0.0) == 0.0


def test_uno_where_the_training_rows_end_too_early():
    train = survival_outcome([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 0])
    test = survival_outcome([0.5, 1.5, 3.5, 4.5, 6.0], [1, 1, 1, 1, 0])
    risk = [5, 3, 4, 1, 2]
    with pytest.raises(ValueError, match=r"1 events from time 4\.5 on.*followed up to 4.*tau=4\.5"):
        concordance_index_ipcw(train, test, risk)
    with pytest.warns(TruncationWarning, match="they are left out, as with tau=4.5"):
        truncated = concordance_index_ipcw(train, test, risk, outside="truncate")
    assert truncated == concordance_index_ipcw(train, test, risk, tau=4.5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda y: concordance_index(y, [1.0, 2.0]), r"risk should have shape \(3,\).*got \(2,\)"),
        (lambda y: concordance_index(y, [1.0, np.nan, 2.0]), "risk is NaN in 1 rows, the first of them row 1"),
        (lambda y: concordance_index(y, ["a", "b", "c"]), "risk should be an array of numbers: could not convert"),
        (lambda y: concordance_index(y, [1, 2, 10**400]), "risk should be an array of numbers"),
        (lambda y: concordance_index(y, [1j, 2, 3]), "risk should be an array of real numbers, got dtype complex128"),
        (lambda y: concordance_index(y, [1, 2, 3], sample_weight=[1e200, 1e200, 1]), "sample_weight must be 0 or at"),
        (
            lambda y: concordance_index_ipcw(y, y, [1, 2, 3], train_weight=[1e200, 1, 1]),
            r"train_weight must be 0 or at least 1e-12, and sum to at most 9\.0072e\+15, got a sum of 1e\+200",
        ),
        (lambda y: concordance_index_ipcw(y, y, [1, 2, 3], left_limit="yes"), "left_limit must be True or False"),
        (lambda y: concordance_index(y, [1, 2, 3], ties="drop"), r"ties must be one of \['half', 'exclude'\]"),
        (lambda y: concordance_index(y, [1, 2, 3], tied_times=None), "tied_times must be one of"),
        (lambda y: concordance_index(y, [1, 2, 3], undefined=np.nan), "undefined must be a number"),
        (lambda y: concordance_index(y, [1, 2, 3], sample_weight=[0, 0, 0]), "no rows of positive weight"),
        (lambda y: concordance_index((y["time"], [0, 0, 0]), [1, 2, 3]), "no comparable pair among its 3 rows"),
        (lambda y: concordance_index_ipcw(y, y, [1, 2, 3], tau=1.0), r"no comparable pair.*before tau"),
        (lambda y: concordance_index_ipcw(y, y, [1, 2, 3], tau=-1.0), "tau must be a number > 0"),
        (lambda y: concordance_index_ipcw(y, y, [1, 2, 3], outside="drop"), "outside must be one of"),
    ],
)
def test_errors_name_the_fault(call, message):
    with pytest.raises(ValueError, match=message):
        call(survival_outcome([1.0, 2.0, 3.0], [1, 1, 1]))
