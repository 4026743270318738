"""Log-rank tests of several groups against the definition, R, lifelines and scikit-survival."""

import itertools

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


class TestPermutations:
    """The honest p-value for many small groups."""

    @staticmethod
    def rows(n_groups, size, seed=0):
        rng = np.random.default_rng(seed)
        time, censoring = rng.exponential(size=(2, n_groups * size)).round(1)
        return (np.minimum(time, censoring), time <= censoring), np.repeat(np.arange(n_groups), size)

    def test_equals_all_permutations(self):
        y, group = self.rows(3, 2)
        own = logrank_test(y, group).statistic
        everything = [logrank_test(y, np.array(labels)).statistic for labels in set(itertools.permutations(group))]
        exact = np.mean(np.array(everything) >= own * (1 - 1e-9))
        drawn = logrank_test(y, group, method="permutation", n_permutations=20_000)
        assert drawn.statistic == own and drawn.method == "permutation"
        assert drawn.p_value == pytest.approx(exact, abs=4 * np.sqrt(exact * (1 - exact) / 20_000))

    @pytest.mark.parametrize("weighting", ["logrank", "gehan"])
    def test_many_small_groups_that_do_not_differ(self, weighting):
        chi2, permuted = np.array(
            [
                [
                    logrank_test(y, group, weighting=weighting, method=method, n_permutations=39).p_value <= 0.05
                    for method in ("chi2", "permutation")
                ]
                for y, group in (self.rows(30, 3, seed) for seed in range(50))
            ]
        ).mean(axis=0)
        assert chi2 > 0.15
        assert permuted < 0.13  # 0.05, give or take three standard errors

    def test_groups_that_differ(self, whas):
        y, group = whas
        assert logrank_test(y, group, method="permutation", n_permutations=999).p_value == 0.001

    def test_weight_two_is_the_row_twice_and_the_order_does_not_matter(self):
        y, group = self.rows(5, 8)
        count = np.resize([0, 1, 2, 3], len(group))
        rows = np.random.default_rng(1).permutation(np.repeat(np.arange(len(group)), count))
        weighted = logrank_test(y, group, method="permutation", sample_weight=count)
        repeated = logrank_test((y[0][rows], y[1][rows]), group[rows], method="permutation")
        assert weighted.p_value == repeated.p_value

    def test_the_seed_decides(self):
        y, group = self.rows(6, 5)
        p = [logrank_test(y, group, method="permutation", random_state=seed).p_value for seed in (0, 0, 1)]
        assert p[0] == p[1] != p[2]
        assert abs(p[0] - p[2]) < 0.1

    def test_auto_permutes_where_groups_are_small(self, whas):
        y, group = self.rows(4, 10)
        assert logrank_test(y, group, method="auto").method == "permutation"
        assert logrank_test(y, group, method="auto", sample_weight=np.full(40, 0.5)).method == "chi2"
        large = np.tile(y[0], 30), np.tile(y[1], 30)
        assert logrank_test(large, np.tile(group, 30), method="auto").method == "chi2"

    def test_they_need_whole_weights(self):
        y, group = self.rows(4, 10)
        with pytest.raises(ValueError, match=r"sample_weight must hold whole numbers that sum to at most 100000"):
            logrank_test(y, group, method="permutation", sample_weight=np.full(40, 0.5))


def test_many_groups_equal_r(whas):
    # d$g <- d$hr %/% 5; survdiff(Surv(time, event) ~ g, d)$chisq; survival 3.5-3
    y, _ = whas
    X, _ = load_whas500(return_X_y=True)
    test = logrank_test(y, X["hr"] // 5)
    assert (len(test.groups), test.degrees_of_freedom) == (26, 25)
    assert test.statistic == pytest.approx(64.517108814364704, rel=1e-10)


def test_a_light_group_counts_as_much_beside_a_heavy_one():
    # Whatever the heavy group weighs, two light ones that differ are told apart in the same way.
    rng = np.random.default_rng(0)
    time, event = rng.exponential(size=60), rng.random(60) < 0.8
    time[20:40] *= 3
    group = np.repeat([0, 1, 2], 20)
    statistics = [
        logrank_test((time, event), group, sample_weight=np.where(group == 2, heavy, 1.0)).statistic
        for heavy in (1e9, 1e11, 1e13)
    ]
    assert statistics == pytest.approx([statistics[0]] * 3, rel=1e-5)


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
        (([1.0, 2.0], [1, 1]), [0, 1], {"method": "exact"}, "method must be one of"),
        (([1.0, 2.0], [1, 1]), [0, None], {}, "groups should hold labels of one kind"),
        (([1.0, 2.0], [1, 1]), [[0], [0, 1]], {}, "groups should hold one label per row"),
        (([1.0, 2.0], [1, 1]), [0, 1], {"n_permutations": 0}, "n_permutations must be an integer >= 1"),
        (([1.0, 2.0], [1, 1]), [0, 1], {"fleming_harrington": 1}, "fleming_harrington must be a pair"),
        (([1.0, 2.0], [1, 1]), [0, 1], {"weighting": "peto"}, "weighting must be one of"),
        (([1.0, 2.0], [1, 1]), [0, 1], {"fleming_harrington": (-1, 0)}, "fleming_harrington must be a number >= 0"),
    ],
)
def test_errors_name_the_fault(y, groups, settings, message):
    with pytest.raises(ValueError, match=message):
        logrank_test(y, groups, **settings)
