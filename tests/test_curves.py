"""Step functions, quantiles and means."""

import numpy as np
import pytest

from dipolar.curves import UNREACHED_RULES, check_unreached, kaplan_meier, life_table, nelson_aalen
from tests.test_logrank import AML_EVENT, AML_TIME


def test_a_curve_answers_for_any_time():
    survival = kaplan_meier([2.0, 3.0, 4.0, 5.0], [1, 0, 1, 0])
    assert survival.domain == (0.0, 5.0)
    np.testing.assert_array_equal(survival.x, [2.0, 4.0])
    np.testing.assert_allclose(survival([-1.0, 0.0, 1.99, 2.0, 3.0, 4.0, 5.0, 1e9]),
                               [1, 1, 1, 0.75, 0.75, 0.375, 0.375, 0.375])  # fmt: skip
    assert isinstance(survival(2.0), float)
    assert np.isnan(survival([np.nan, 1.0])).tolist() == [True, False]


def test_nelson_aalen_starts_at_zero():
    hazard = nelson_aalen([1.0, 2.0, 2.0], [1, 1, 0])
    np.testing.assert_allclose(hazard([0.5, 1.0, 2.0]), [0.0, 1 / 3, 1 / 3 + 1 / 2])


def test_no_events_is_a_flat_curve():
    table = life_table([1.0, 2.0], [0, 0])
    assert table.survival_function()(5.0) == 1.0
    assert table.median() == np.inf


@pytest.mark.parametrize(
    ("time", "event", "q", "expected"),
    [
        # quantile(survfit(Surv(t, s) ~ 1), probs = q, conf.int = FALSE), R survival 3.5-3
        ([1, 2, 3, 4], [1, 1, 1, 1], 0.5, 2.5),
        ([1, 2, 3, 4, 5, 6], [1, 1, 1, 0, 0, 1], 0.5, 4.5),
        ([1, 2, 3, 4], [1, 1, 0, 0], 0.5, 3.0),
        ([1, 1, 2, 2, 5, 5, 9, 9], [1, 1, 1, 1, 0, 0, 1, 1], 0.25, 1.5),
        ([1, 1, 2, 2, 5, 5, 9, 9], [1, 1, 1, 1, 0, 0, 1, 1], 0.5, 5.5),
        ([1, 1, 2, 2, 5, 5, 9, 9], [1, 1, 1, 1, 0, 0, 1, 1], 0.75, 9.0),
        (AML_TIME, AML_EVENT, 0.1, 8.0),
        (AML_TIME, AML_EVENT, 0.25, 12.0),
        (AML_TIME, AML_EVENT, 0.5, 27.0),
        (AML_TIME, AML_EVENT, 0.75, 43.0),
        (AML_TIME, AML_EVENT, 0.9, 48.0),
    ],
)
def test_quantiles_equal_r(time, event, q, expected):
    assert life_table(time, event).quantile(q) == expected


@pytest.mark.parametrize(
    ("rule", "expected"),
    [("inf", np.inf), ("mean", 2.5), ("largest", 4.0), ("restricted_mean", 1 + 3 * 0.75), ("nan", np.nan)],
)
def test_rules_for_a_median_that_is_not_reached(rule, expected):
    np.testing.assert_equal(life_table([1, 2, 3, 4], [1, 0, 0, 0]).median(rule), expected)


def test_every_rule_is_covered_above():
    assert set(UNREACHED_RULES) == {"inf", "nan", "mean", "largest", "restricted_mean"}
    with pytest.raises(ValueError, match=r"unreached must be one of .*'inf'.* got 'never'"):
        check_unreached("never")


def test_weights_enter_the_mean_and_the_median():
    weighted = life_table([1, 5, 9], [1, 1, 0], sample_weight=[3, 1, 2])
    repeated = life_table([1, 1, 1, 5, 9, 9], [1, 1, 1, 1, 0, 0])
    assert weighted.mean_time() == pytest.approx(repeated.mean_time())
    assert weighted.median() == repeated.median()


def test_restricted_mean_equals_r():
    # summary(survfit(Surv(time, status) ~ 1, data = aml), rmean = 40)$table["rmean"]
    assert life_table(AML_TIME, AML_EVENT).rmst(40) == pytest.approx(25.2394755003451, rel=1e-12)
    assert life_table([2.0], [1]).rmst(1.0) == 1.0
    assert life_table([2.0], [0]).rmst(7.0) == 7.0


def test_a_curve_needs_a_row():
    with pytest.raises(ValueError, match="at least one row of positive weight, got 2 rows"):
        life_table([1.0, 2.0], [1, 0], sample_weight=[0, 0])
