"""Log-rank tests of several groups against the definition, R, lifelines and scikit-survival."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dipolar import survival_outcome
from dipolar.datasets import load_whas500
from dipolar.metrics import logrank_test
from tests.reference import metrics as reference
from tests.test_metrics_concordance import tied_rows

WEIGHTS = {
    "logrank": lambda Y, S: 1.0,
    "gehan": lambda Y, S: Y,
    "tarone-ware": lambda Y, S: np.sqrt(Y),
    "fleming-harrington": lambda Y, S: S**0.5 * (1 - S) ** 0.25,
}


@pytest.fixture(scope="module")
def whas():
    X, y = load_whas500(return_X_y=True)
    return y, (2 * X["chf"] + (X["hr"] >= 90)).to_numpy(int)


@given(tied_rows(min_size=4), st.sampled_from(sorted(WEIGHTS)))
def test_equals_the_definition(rows, weighting):
    time, event, group, weight = rows
    weight = 2 * weight
    assume(event.any() and len(set(group)) > 1)
    mine = logrank_test(
        (time, event), group, weighting=weighting, fleming_harrington=(0.5, 0.25), sample_weight=weight
    )  # fmt: skip
    U, V = reference.logrank(time, event, weight, group, WEIGHTS[weighting])
    np.testing.assert_allclose(mine.observed - mine.expected, U, atol=1e-9)
    singular = np.linalg.svd(V, compute_uv=False)
    assume(not ((singular > 1e-12) & (singular < 1e-6)).any())
    assert mine.degrees_of_freedom == (singular > 1e-6).sum()
    assert mine.statistic == pytest.approx(U @ np.linalg.pinv(V, rcond=1e-8) @ U, abs=1e-6, rel=1e-6)


def test_equal_to_r(whas):
    y, group = whas
    # survdiff(Surv(time, event) ~ g, d)[c("chisq", "exp")]; survdiff(..., rho = 1)$chisq; survival 3.5-3
    mine = logrank_test(y, group)
    assert mine.statistic == pytest.approx(86.36602706132173, rel=1e-10)
    expected = [90.42054104616176, 44.79367039575324, 16.80757447565746, 23.97821408242755]
    np.testing.assert_allclose(mine.expected, expected, rtol=1e-10)
    early = logrank_test(y, group, weighting="fleming-harrington")
    assert early.statistic == pytest.approx(86.45000633028162, rel=1e-10)


@pytest.mark.parametrize(
    ("weighting", "theirs"), [("logrank", None), ("gehan", "wilcoxon"), ("tarone-ware", "tarone-ware")]
)
def test_equal_to_lifelines(whas, weighting, theirs):
    statistics = pytest.importorskip("lifelines.statistics")
    y, group = whas
    expected = statistics.multivariate_logrank_test(y["time"], group, y["event"], weightings=theirs)
    mine = logrank_test(y, group, weighting=weighting)
    assert mine.statistic == pytest.approx(expected.test_statistic, rel=1e-10)
    assert mine.p_value == pytest.approx(expected.p_value, rel=1e-8)


def test_equal_to_scikit_survival(whas):
    compare = pytest.importorskip("sksurv.compare")
    y, group = whas
    statistic, p_value = compare.compare_survival(y, group)
    assert logrank_test(y, group).statistic == pytest.approx(statistic, rel=1e-10)
    assert logrank_test(y, group).p_value == pytest.approx(p_value, rel=1e-8)


def test_weight_two_is_the_row_twice_and_zero_is_absent(whas):
    y, group = whas
    count = np.resize([0, 1, 2, 3], len(y))
    rows = np.repeat(np.arange(len(y)), count)
    for weighting in WEIGHTS:
        weighted = logrank_test(y, group, weighting=weighting, sample_weight=count)
        repeated = logrank_test(y[rows], group[rows], weighting=weighting)
        assert weighted.statistic == pytest.approx(repeated.statistic, rel=1e-10)


def test_labels_may_be_text(whas):
    y, group = whas
    result = logrank_test(y, np.array(["a", "b", "c", "d"])[group])
    assert result.groups.tolist() == ["a", "b", "c", "d"]
    assert result.statistic == logrank_test(y, group).statistic


def test_groups_that_are_never_at_risk_together():
    result = logrank_test(survival_outcome([1.0, 1.0, 5.0, 5.0], [1, 1, 0, 0]), [0, 0, 0, 1])
    assert result.degrees_of_freedom == 1
    apart = logrank_test(survival_outcome([1.0, 5.0], [0, 1]), [0, 1])
    assert (apart.statistic, apart.p_value, apart.degrees_of_freedom) == (0.0, 1.0, 0)


@pytest.mark.parametrize(
    ("y", "groups", "settings", "message"),
    [
        (([1.0, 2.0], [1, 1]), [0, 0], {}, "at least two different labels"),
        (([1.0, 2.0], [1, 1]), [0], {}, r"one label per row, shape \(2,\), got shape \(1,\)"),
        (([1.0, 2.0], [0, 0]), [0, 1], {}, "no events among its 2 rows"),
        (([1.0, 2.0], [1, 1]), [0, 1], {"weighting": "peto"}, "weighting must be one of"),
        (([1.0, 2.0], [1, 1]), [0, 1], {"fleming_harrington": (-1, 0)}, "fleming_harrington must be a number >= 0"),
    ],
)
def test_errors_name_the_fault(y, groups, settings, message):
    with pytest.raises(ValueError, match=message):
        logrank_test(y, groups, **settings)
