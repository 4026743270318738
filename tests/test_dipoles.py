"""Cut-offs and orientation against the list of all pairs.

Times are whole numbers times a unit in which they cannot be represented exactly; the list of pairs sees the whole ones.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dipolar import DipoleSVM
from dipolar.node_svm.dipoles import Cutoffs
from dipolar.node_svm.learning import check_svm
from dipolar.survival import Survival
from tests.dipoles import Dipoles, Rule, score_levels
from tests.reference import dipoles as reference

pytestmark = pytest.mark.compiled


UNITS = (1.0, 0.1, 1 / 12, 1 / 365.25, 1 / 7, 1e-8, 1e8)


@st.composite
def outcomes(draw, max_rows=12):
    """Times on a coarse grid, so that ties of every kind are common."""
    n = draw(st.integers(1, max_rows))
    time = np.array(draw(st.lists(st.integers(0, 12), min_size=n, max_size=n)), dtype=float)
    event = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    weight = np.array(draw(st.lists(st.integers(1, 3), min_size=n, max_size=n)), dtype=float)
    return Survival(time, event), weight


@st.composite
def rules(draw):
    pure, mixed = draw(st.sampled_from([(0.25, 0.75), (0.0, 1.0), (0.15, 0.55), (0.5, 0.51), (0.0, 0.05), (0.9, 1.0)]))
    return Rule(pure, mixed, draw(st.sampled_from([0.0, 1.0, 2.5])), draw(st.sampled_from(["text", "scripts"])))


def scores_of(draw, n):
    """Few distinct values of both signs, with mirrored pairs."""
    return np.array(draw(st.lists(st.sampled_from([-2.0, -0.1, 0.0, 0.1, 1.3, 2.0]), min_size=n, max_size=n)))


def in_unit(survival, unit):
    return Survival(survival.time * unit, survival.event)


@given(outcomes(), rules(), st.sampled_from(UNITS))
def test_cutoffs_equal_the_order_statistics_of_all_gaps(outcome, rule, unit):
    survival, weight = outcome
    rows = reference.repeat_rows(weight)
    expected = reference.cutoffs(
        survival.time[rows], survival.event[rows], rule.pure_quantile, rule.mixed_quantile, rule.cutoff_rule
    )
    found = Dipoles(in_unit(survival, unit), weight, rule).cutoffs
    if rule.cutoff_rule == "text" and unit == 1.0:  # an order statistic is one of the gaps: no rounding is excused
        np.testing.assert_array_equal((found.pure, found.mixed), expected)
    else:
        rounding = 1e-14 * unit * survival.time.max()
        np.testing.assert_allclose((found.pure, found.mixed), np.multiply(expected, unit), rtol=1e-14, atol=rounding)


@settings(max_examples=300)
@given(st.data(), outcomes(), rules(), st.sampled_from(UNITS))
def test_orientation_equals_the_sum_over_all_pairs(data, outcome, rule, unit):
    survival, weight = outcome
    scores = scores_of(data.draw, len(weight))
    rows = reference.repeat_rows(weight)
    cutoffs = reference.cutoffs(
        survival.time[rows], survival.event[rows], rule.pure_quantile, rule.mixed_quantile, rule.cutoff_rule
    )
    expected = reference.orient(
        survival.time[rows],
        survival.event[rows],
        scores[rows],
        *cutoffs,
        rule.pure_weight,
        1.0,
        rule.cutoff_rule,
    )
    dipoles = Dipoles(in_unit(survival, unit), weight, rule)
    for found, of_copies in zip(dipoles.orient(scores), expected):
        np.testing.assert_allclose(found, np.bincount(rows, of_copies, minlength=len(weight)), rtol=1e-14)


@given(st.data(), outcomes(), st.sampled_from([0.0, 0.1, 2.0, 2.5, np.inf]))
def test_orientation_with_foreign_cutoffs(data, outcome, cut):
    """Root-scope cut-offs need not be gaps of the node's own rows."""
    survival, weight = outcome
    scores = scores_of(data.draw, len(weight))
    rows = reference.repeat_rows(weight)
    rule = Rule(cutoff_rule=data.draw(st.sampled_from(["text", "scripts"])))
    dipoles = Dipoles(survival, weight, rule, Cutoffs(cut, 2 * cut, 12.0))
    expected = reference.orient(
        survival.time[rows], survival.event[rows], scores[rows], cut, 2 * cut, 1.0, 1.0, rule.cutoff_rule
    )
    for found, of_copies in zip(dipoles.orient(scores), expected):
        np.testing.assert_allclose(found, np.bincount(rows, of_copies, minlength=len(weight)), rtol=1e-14)


@pytest.mark.parametrize("cutoff_rule", ["text", "scripts"])
@pytest.mark.parametrize("seed", range(6))
def test_orientation_of_more_rows_than_a_node_of_the_tree_has_slots(seed, cutoff_rule):
    """Up to three levels of the tree of sums, with ties in times and scores or without."""
    rng = np.random.RandomState(seed)
    n = (15, 16, 17, 255, 256, 300)[seed]
    time, scores = rng.exponential(size=n), rng.normal(size=n)
    if seed % 2:
        time, scores = np.ceil(9 * time), np.round(scores, 1)
    survival, rule = Survival(time, rng.uniform(size=n) < 0.7), Rule(0.3, 0.6, cutoff_rule=cutoff_rule)
    dipoles = Dipoles(survival, np.ones(n), rule)
    cutoffs = dipoles.cutoffs
    expected = reference.orient(time, survival.event, scores, cutoffs.pure, cutoffs.mixed, 1.0, 1.0, cutoff_rule)
    np.testing.assert_array_equal(dipoles.orient(scores), expected)


@given(st.data(), outcomes())
def test_a_mixed_pair_exists_exactly_when_orientation_finds_one(data, outcome):
    survival, weight = outcome
    dipoles = Dipoles(survival, np.ones_like(weight), Rule(pure_weight=0.0))
    upward, _ = dipoles.orient(np.zeros(len(weight)))
    assert dipoles.has_mixed == bool(upward.any())


def assert_sums_of_pairs(time, scores, weight):
    """All rows are events. A pair counts as often as the product of its weights says; rounding makes no pulls."""
    survival = Survival(time, np.ones(len(time), dtype=bool))
    upward, downward = Dipoles(survival, weight, Rule(), Cutoffs(1.5, 2.0, 9.0)).orient(scores)

    level = score_levels(scores)
    same_sign = np.add.outer(level, level) >= 0
    gap = np.abs(np.subtract.outer(time, time))
    pairs = np.outer(weight, weight)
    np.fill_diagonal(pairs, np.maximum(0.0, weight * (weight - 1)))
    expected_total = (pairs * ((gap < 1.5) | (gap >= 2.0))).sum(axis=1)
    np.testing.assert_allclose(upward + downward, expected_total, rtol=1e-9, atol=1e-12 * expected_total.max())
    pure_up = (pairs * (gap < 1.5) * same_sign).sum(axis=1)
    assert np.all(upward >= pure_up - 1e-9 * expected_total.max())

    order = np.lexsort((np.arange(len(time)), time))
    earlier = np.argsort(order)[:, None] < np.argsort(order)
    goes_up = np.where(earlier, level[:, None] >= level, level[:, None] > level)
    none_up = ~((gap >= 2.0) & goes_up).any(axis=1) & (pure_up == 0.0)
    np.testing.assert_array_equal(upward[none_up], 0.0)
    clear_up = (pairs * ((gap >= 2.0) & goes_up)).sum(axis=1) + pure_up > 1e-11 * np.outer(weight, weight).sum()
    assert np.all(upward[clear_up] > 0.0)


@given(st.lists(st.floats(0.01, 5), min_size=2, max_size=10), st.randoms(use_true_random=False))
def test_fractional_weights_scale_each_pair(weights, random):
    n = len(weights)
    time = np.array([float(random.randint(0, 4)) for _ in range(n)])
    scores = np.array([random.choice([-1.0, 0.0, 1.0]) for _ in range(n)])
    assert_sums_of_pairs(time, scores, np.array(weights))


@pytest.mark.parametrize("seed", range(10))
def test_fractional_weights_of_very_different_sizes(seed):
    rng = np.random.RandomState(seed)
    assert_sums_of_pairs(rng.exponential(2.0, 200), rng.normal(size=200), 10.0 ** rng.uniform(-6, 3, 200))


def test_rounding_makes_no_pulls_in_large_samples():
    """All pure pairs lean down; sums of ten thousand tenths are not exact, and their differences are not zero."""
    n = 10_000
    survival = Survival(np.random.RandomState(0).exponential(size=n), np.ones(n, dtype=bool))
    dipoles = Dipoles(survival, np.full(n, 0.1), Rule(), Cutoffs(1.0, np.nan, 9.0))
    upward, downward = dipoles.orient(-1.0 - np.random.RandomState(1).uniform(size=n))
    np.testing.assert_array_equal(upward, 0.0)
    assert np.mean(downward > 0.0) > 0.99


def test_a_light_row_pulls_however_heavy_the_others_are():
    """A row that was seen once, beside one that was seen 10^15 times."""
    survival = Survival(np.array([1.0, 2.0, 9.0]), np.ones(3, dtype=bool))
    dipoles = Dipoles(survival, np.array([1.0, 1.0, 1e15]), Rule(pure_weight=0.0), Cutoffs(0.5, 5.0, 9.0))
    upward, downward = dipoles.orient(np.array([3.0, 2.0, 1.0]))
    np.testing.assert_array_equal(upward, [1e15, 1e15, 0.0])
    np.testing.assert_array_equal(downward, [0.0, 0.0, 2e15])


@pytest.mark.parametrize("weight", [[1.0, 0.0, 0.0], [1e-200, 1e-200, 1e-200], [0.1, 0.2, 0.3]])
def test_cutoffs_by_the_scripts_of_next_to_no_weight(weight):
    survival = Survival(np.array([1.0, 2.0, 4.0]), np.ones(3, dtype=bool))
    cutoffs = Dipoles(survival, np.array(weight), Rule(cutoff_rule="scripts")).cutoffs
    gaps = (cutoffs.pure, cutoffs.mixed)
    assert all(np.isnan(gap) or 1.0 <= gap <= 3.0 for gap in gaps)


def test_mirrored_scores_tie_after_rounding():
    """0.1 + 0.2 and 0.3 differ in the last bit; on the grid their pure pair leans up."""
    survival = Survival(np.array([1.0, 1.0, 5.0]), np.array([True, True, True]))
    scores = np.array([0.1 + 0.2, -0.3 - 1e-16, 1.0])
    dipoles = Dipoles(survival, np.ones(3), Rule(), Cutoffs(0.5, 4.0, 9.0))
    upward, _ = dipoles.orient(scores)
    mirrored, _ = dipoles.orient(np.array([0.3, -0.1 - 0.2, 1.0]))
    np.testing.assert_array_equal(upward, mirrored)
    assert score_levels(scores)[0] == -score_levels(scores)[1]


def test_all_scores_zero_is_the_all_positive_orientation():
    """Every pure pair up, every mixed pair up for its earlier and down for its later member."""
    survival = Survival(np.array([1.0, 2.0, 9.0]), np.array([True, True, False]))
    dipoles = Dipoles(survival, np.ones(3), Rule(), Cutoffs(2.0, 5.0, 9.0))
    upward, downward = dipoles.orient(np.zeros(3))
    np.testing.assert_array_equal(upward, [2.0, 2.0, 0.0])
    np.testing.assert_array_equal(downward, [0.0, 0.0, 2.0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pure_quantile": 0.8}, r"mixed_quantile must be larger than pure_quantile, got 0.75 <= 0.8"),
        ({"pure_quantile": 25}, r"pure_quantile must be a number >= 0 and <= 1, got 25"),
        ({"pure_weight": -1.0}, r"pure_weight must be a number >= 0 and <= 1e\+20, got -1.0"),
        ({"cutoff_rule": "book"}, r"cutoff_rule must be one of \['text', 'scripts'\], got 'book'"),
    ],
)
def test_rules_refuse_nonsense(arguments, message):
    with pytest.raises(ValueError, match=message):
        check_svm(DipoleSVM(**arguments))
