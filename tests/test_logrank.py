"""The log-rank scan and the two-sample statistic, against the definition and against R."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipolar._core.logrank import FAMILIES, two_sample_logrank
from dipolar._core.surfaces import best_shift
from dipolar.survival import Survival
from dipolar.tree.limits import GrowthLimits
from tests.growing import outcome, root_cut, split_logrank
from tests.reference import logrank as reference

pytestmark = pytest.mark.compiled

# The data sets aml and ovarian of R's survival 3.5-3.
AML_TIME = [9, 13, 13, 18, 23, 28, 31, 34, 45, 48, 161, 5, 5, 8, 8, 12, 16, 23, 27, 30, 33, 43, 45]
AML_EVENT = [1, 1, 0, 1, 1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1]
AML_MAINTAINED = [1] * 11 + [0] * 12
OVARIAN_TIME = [
    59, 115, 156, 421, 431, 448, 464, 475, 477, 563, 638, 744, 769, 770, 803, 855, 1040, 1106, 1129, 1206,
    1227, 268, 329, 353, 365, 377,
]  # fmt: skip
OVARIAN_EVENT = [1, 1, 1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 0]
OVARIAN_AGE = [
    72.3315, 74.4932, 66.4658, 53.3644, 50.3397, 56.4301, 56.937, 59.8548, 64.1753, 55.1781, 56.7562, 50.1096,
    59.6301, 57.0521, 39.2712, 43.1233, 38.8932, 44.6, 53.9068, 44.2055, 59.589, 74.5041, 43.137, 63.2192,
    64.4247, 58.3096,
]  # fmt: skip
OVARIAN_RX = [1, 1, 1, 2, 1, 1, 2, 2, 1, 2, 1, 2, 2, 2, 1, 1, 1, 1, 2, 2, 2, 1, 1, 2, 2, 2]


@st.composite
def samples(draw, with_missing=False, weights=(1.0, 1.0, 2.0, 3.0), max_rows=14):
    """Small samples full of ties: few distinct times, values and weights."""
    n = draw(st.integers(2, max_rows))
    column = st.lists(st.integers(0, 5), min_size=n, max_size=n)
    time, event = np.array(draw(column), float), np.array(draw(column)) < 3
    weight = np.array(draw(st.lists(st.sampled_from(weights), min_size=n, max_size=n)))
    X = np.array([draw(column), draw(column)], float).T
    if with_missing:
        X[X == 5] = np.nan
    return X, Survival(time, event), weight


@pytest.mark.parametrize(
    ("time", "event", "left", "expected"),
    [
        # survdiff(Surv(time, status) ~ x, data = aml)$chisq
        (AML_TIME, AML_EVENT, np.array(AML_MAINTAINED) == 1, 3.3963886989776),
        # survdiff(Surv(futime, fustat) ~ (age <= 59), data = ovarian)$chisq
        (OVARIAN_TIME, OVARIAN_EVENT, np.array(OVARIAN_AGE) <= 59, 5.72123756230901),
        # survdiff(Surv(futime, fustat) ~ rx, data = ovarian)$chisq
        (OVARIAN_TIME, OVARIAN_EVENT, np.array(OVARIAN_RX) == 1, 1.06273986129141),
    ],
)
def test_two_sample_statistic_equals_survdiff(time, event, left, expected):
    survival = outcome(time, event)
    assert split_logrank(survival, np.ones(len(survival)), left) == pytest.approx(expected, rel=1e-12)
    # The scan finds the same number where the covariate allows one cut only.
    split = root_cut(left.astype(float).reshape(-1, 1), survival)
    assert split.gain == pytest.approx(expected, rel=1e-12)


def test_fleming_harrington_equals_survdiff_with_rho_one():
    # survdiff(Surv(time, status) ~ x, data = aml, rho = 1)$chisq
    X = np.array(AML_MAINTAINED, float).reshape(-1, 1)
    split = root_cut(X, outcome(AML_TIME, AML_EVENT), criterion="fleming-harrington", exponents=(1.0, 0.0))
    assert split.gain == pytest.approx(2.77927954475177, rel=1e-12)
    assert split.logrank == pytest.approx(3.3963886989776, rel=1e-12)


@settings(max_examples=80, deadline=None)
@given(
    samples(with_missing=True, weights=(1.0, 1.0, 2.0, 0.5)),
    st.sampled_from(sorted(FAMILIES)),
    st.integers(1, 4),
    st.integers(0, 2),
)
def test_best_cut_is_the_best_of_all_cuts(sample, family, min_weight, min_events):
    X, survival, weight = sample
    limits = GrowthLimits(min_samples_leaf=min_weight, min_events_leaf=min_events)
    split = root_cut(X, survival, weight, limits, criterion=family, exponents=(0.5, 1.0))
    expected = reference.best_statistic(
        X, survival.time, survival.event, weight, min_weight, min_events, family, rho=0.5, gamma=1.0
    )
    if split is None:
        assert expected < 1e-9
        return
    assert split.gain == pytest.approx(expected, rel=1e-9)
    left = split.goes_left
    assert split.logrank == pytest.approx(
        reference.statistic(survival.time, survival.event, weight, left), rel=1e-9, abs=1e-12
    )
    assert min(weight[left].sum(), weight[~left].sum()) >= min_weight
    deaths = weight * survival.event
    assert min(deaths[left].sum(), deaths[~left].sum()) >= min_events


@settings(max_examples=80, deadline=None)
@given(samples())
def test_two_sample_statistic_equals_the_definition(sample):
    X, survival, weight = sample
    left = X[:, 0] > 2
    expected = reference.statistic(survival.time, survival.event, weight, left)
    assert split_logrank(survival, weight, left) == pytest.approx(expected, rel=1e-9, abs=1e-12)
    assert split_logrank(survival, weight, ~left) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(samples(with_missing=True))
def test_a_weight_counts_repetitions(sample):
    X, survival, weight = sample
    rows = np.repeat(np.arange(len(X)), weight.astype(int))
    weighted = root_cut(X, survival, weight)
    repeated = root_cut(X[rows], survival.take(rows), np.ones(len(rows)))
    assert (weighted is None) == (repeated is None)
    if weighted is not None:
        assert weighted[2:5] == repeated[2:5]
        assert weighted.gain == pytest.approx(repeated.gain, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(samples(), st.sampled_from([1e-300, 1e-6, 1e6, 1e300]))
def test_the_scale_of_a_covariate_does_not_matter(sample, scale):
    X, survival, weight = sample
    here, there = root_cut(X, survival, weight), root_cut(X * scale, survival, weight)
    assert (here is None) == (there is None)
    if here is not None:
        assert there.gain == here.gain
        np.testing.assert_array_equal(there.goes_left, here.goes_left)


def test_a_tiny_group_in_a_large_node_keeps_its_digits():
    rng = np.random.default_rng(3)
    n = 3000
    survival = Survival(rng.exponential(size=n), rng.random(n) < 0.7)
    for edge in (np.arange(n) < 2, np.arange(n) >= n - 2):
        split = root_cut(edge.astype(float).reshape(-1, 1), survival)
        expected = split_logrank(survival, np.ones(n), edge)
        assert split.gain == pytest.approx(expected, rel=1e-10)


def test_missing_rows_can_be_a_group_of_their_own():
    X = np.array([[1.0], [1.0], [1.0], [np.nan], [np.nan], [np.nan]])
    split = root_cut(X, outcome([5, 6, 7, 1, 2, 3], [1] * 6))
    assert np.isinf(split.threshold)
    np.testing.assert_array_equal(split.goes_left, [True] * 3 + [False] * 3)


@pytest.mark.parametrize("event", [[0, 0, 0, 0], [1, 1, 1, 1]])
def test_nothing_to_gain_is_no_split(event):
    # No events at all; or two groups with the same outcomes.
    X = np.array([[0.0], [0.0], [1.0], [1.0]])
    assert root_cut(X, outcome([1, 2, 1, 2], event)) is None


def test_threshold_lies_between_neighbouring_floats():
    low = 1.0
    high = np.nextafter(low, 2.0)
    split = root_cut(np.array([[low], [low], [high], [high]]), outcome([1, 2, 5, 6], [1, 1, 1, 1]))
    np.testing.assert_array_equal(split.goes_left, [True, True, False, False])


def test_sorted_input_may_have_tied_times_in_any_order():
    time = np.array([1.0, 1.0, 1.0, 2.0])
    left = np.array([True, False, True, False])
    values = {
        two_sample_logrank(time, np.array(event, bool), np.ones(4), np.array(group, bool))
        for event, group in (((1, 0, 0, 1), left), ((0, 0, 1, 1), left[[2, 1, 0, 3]]))
    }
    assert len(values) == 1


@given(samples())
def test_the_best_shift_of_a_score(sample):
    X, survival, weight = sample
    order = np.argsort(survival.time, kind="stable")
    scores, survival, weight = X[order, 0] - 2.0, survival.take(order), weight[order]
    shift, logrank = best_shift(scores, survival.time, survival.event, weight, np.zeros(2))
    expected = reference.best_statistic(scores.reshape(-1, 1), survival.time, survival.event, weight)
    assert logrank == pytest.approx(expected, rel=1e-9, abs=1e-9)
    if logrank > 0:
        goes_left = scores - shift < 0
        statistic = reference.statistic(survival.time, survival.event, weight, goes_left)
        assert statistic == pytest.approx(expected, rel=1e-9)
        assert (np.abs(scores - shift) >= 0.5).all()  # half-way between neighbouring scores
