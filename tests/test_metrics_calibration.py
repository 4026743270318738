"""Calibration curves against R and lifelines, and D-calibration against its definition."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from dipolar import LogRankSurvivalTree, survival_outcome
from dipolar.curves import kaplan_meier
from dipolar.datasets import load_whas500
from dipolar.metrics import calibration_curve, d_calibration
from tests.reference import metrics as reference


@pytest.fixture(scope="module")
def whas():
    X, y = load_whas500(return_X_y=True)
    return X, y, (2 * X["chf"] + (X["hr"] >= 90)).to_numpy(int)


def test_probabilities_that_almost_vanish_stay_in_the_lowest_bin():
    result = d_calibration(([1.0, 2.0, 3.0], [0, 1, 0]), [5e-324, 1e-310, 0.75], n_bins=2, sample_weight=[0.3, 1, 1])
    np.testing.assert_allclose(result.counts, [0.3 + 1 + 0.5 / 0.75, 0.25 / 0.75])


def test_bins_are_a_summary():
    with pytest.raises(ValueError, match="n_bins must be an integer >= 2 and <= 1000, got 1000000000"):
        d_calibration([1.0, 2.0], [0.5, 0.5], n_bins=10**9)


class TestCalibrationCurve:
    def test_equal_to_r(self, whas):
        _, y, group = whas
        frame = calibration_curve(y, np.full(len(y), 0.7), 730.0, groups=group)
        # f <- survfit(Surv(time, event) ~ g, d); summary(f, times = 730)[c("surv", "std.err", "n.risk")]
        expected = {
            "observed": [0.8602831137057384, 0.7255875367422084, 0.5387306346826585, 0.3398872449431122],
            "std_error": [0.02423022520288901, 0.04417391479453536, 0.07354868359409288, 0.05407101198176651],
            "n_at_risk": [135, 57, 21, 23],
        }
        frame = frame.sort_values("group")
        for name, values in expected.items():
            np.testing.assert_allclose(frame[name], values, atol=1e-10)

    def test_the_leaves_of_a_tree_are_calibrated_on_their_own_rows(self, whas):
        X, y, _ = whas
        tree = LogRankSurvivalTree(max_depth=3, min_samples_leaf=30).fit(X, y)
        functions = tree.predict_survival_function(X)
        by_curve = calibration_curve(y, functions, 365.0, groups="curves")
        by_leaf = calibration_curve(y, functions, 365.0, groups=tree.apply(X))
        assert len(by_curve) == tree.n_leaves_
        np.testing.assert_allclose(by_curve["predicted"], by_curve["observed"], rtol=1e-12)
        np.testing.assert_allclose(by_leaf["observed"], by_curve["observed"])
        # Curves are numbered as they appear, whatever their addresses are.
        first = by_curve.set_index("group")["predicted"][0]
        assert first == pytest.approx(functions[0](365.0))

    def test_quantile_groups_have_about_equal_weight(self, whas):
        X, y, _ = whas
        prediction = 1 - X["hr"].to_numpy() / 300
        frame = calibration_curve(y, prediction, 365.0, n_groups=5)
        assert len(frame) == 5
        assert frame["n_samples"].sum() == len(y)
        assert frame["n_samples"].between(80, 105).all()
        assert (np.diff(frame["predicted"]) > 0).all()

    def test_equal_predictions_stay_together(self):
        y = survival_outcome(np.arange(1.0, 9.0))
        frame = calibration_curve(y, [0.5] * 7 + [0.9], 2.0, n_groups=4)
        np.testing.assert_array_equal(frame["n_samples"], [7, 1])

    def test_weight_two_is_the_row_twice(self, whas):
        X, y, _ = whas
        count = np.resize([0, 1, 2, 3], len(y))
        rows = np.repeat(np.arange(len(y)), count)
        prediction = 1 - X["hr"].to_numpy() / 300
        weighted = calibration_curve(y, prediction, 365.0, sample_weight=count)
        repeated = calibration_curve(y[rows], prediction[rows], 365.0)
        np.testing.assert_allclose(weighted.to_numpy(float), repeated.to_numpy(float), rtol=1e-10)

    def test_unknown_estimates_are_nan(self):
        y = survival_outcome([1.0, 2.0, 3.0, 9.0, 1.0, 2.0], [1, 0, 1, 0, 1, 1])
        frame = calibration_curve(y, [0.5] * 6, 5.0, groups=[0, 0, 1, 1, 2, 2]).set_index("group")
        assert np.isnan(frame.loc[0, "observed"])
        assert frame.loc[1, "observed"] == 0.5
        assert frame.loc[2, "observed"] == 0.0
        assert frame.loc[0, "n_at_risk"] == 0.0
        assert calibration_curve(y, [0.5] * 6, 0.5)["observed"].tolist() == [1.0]

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"time": 99.0}, "time must not exceed the last time of y, 4, got 99"),
            ({"time": -1.0}, "time must be a number >= 0"),
            ({"groups": "deciles"}, "groups should be 'quantiles', 'curves' or hold one label per row"),
            ({"groups": [1, "a", None, 2]}, "groups should hold labels of one kind"),
            ({"n_groups": 0}, "n_groups must be an integer >= 1"),
            ({"survival": [0.1, 0.2]}, "survival should have 4 rows"),
        ],
    )
    def test_errors_name_the_fault(self, change, message):
        y = survival_outcome([1.0, 2.0, 3.0, 4.0])
        with pytest.raises(ValueError, match=message):
            calibration_curve(**({"y": y, "survival": [0.5] * 4, "time": 2.0} | change))


class TestDCalibration:
    @given(
        st.lists(
            st.tuples(
                st.sampled_from([0.0, 0.05, 0.1, 0.25, 0.3, 0.5, 0.77, 0.9, 1.0]),
                st.booleans(),
                st.sampled_from([0.5, 1.0, 3.0]),
            ),
            min_size=1,
            max_size=20,
        ),
        st.sampled_from([2, 4, 5, 8]),
    )
    def test_counts_equal_the_definition(self, rows, n_bins):
        probability, event, weight = map(np.array, zip(*rows))
        y = survival_outcome(np.ones(len(rows)), event)
        mine = d_calibration(y, probability, n_bins=n_bins, sample_weight=weight)
        expected = reference.bin_counts(probability, event, weight, n_bins)
        np.testing.assert_allclose(mine.counts, expected, rtol=1e-10, atol=1e-12)
        test = chisquare(expected)
        assert mine.statistic == pytest.approx(test.statistic, abs=1e-10)
        assert mine.p_value == pytest.approx(test.pvalue, abs=1e-10)

    def test_functions_are_read_at_the_rows_own_times(self, whas):
        _, y, group = whas
        curves = [kaplan_meier(y["time"][group == g], y["event"][group == g]) for g in range(4)]
        own = np.array([curves[g](t) for g, t in zip(group, y["time"])])
        expected = d_calibration(y, own)
        for form in ((curves, group), np.array(curves, dtype=object)[group]):
            assert d_calibration(y, form).statistic == pytest.approx(expected.statistic, rel=1e-12)

    def test_weight_two_is_the_row_twice(self, whas):
        X, y, _ = whas
        count = np.resize([0, 1, 2, 3], len(y))
        rows = np.repeat(np.arange(len(y)), count)
        probability = 1 - X["hr"].to_numpy() / 300
        weighted = d_calibration(y, probability, sample_weight=count)
        assert weighted.statistic == pytest.approx(d_calibration(y[rows], probability[rows]).statistic)

    def test_right_curves_pass_and_wrong_ones_fail(self):
        rng = np.random.default_rng(0)
        p_values = []
        for _ in range(200):
            time, censoring = rng.exponential(size=300), rng.exponential(1.5, size=300)
            y = survival_outcome(np.minimum(time, censoring), time <= censoring)
            p_values.append(d_calibration(y, np.exp(-y["time"])).p_value)
            assert d_calibration(y, np.exp(-2 * y["time"])).p_value < 0.01
        # Spreading censored rows makes the counts less variable than the chi-square law has it, so that the
        # p-values of right curves are too large rather than too small.
        assert kstest(p_values, "uniform", alternative="greater").pvalue > 0.01
        assert np.mean(p_values) > 0.5

    def test_errors_name_the_fault(self):
        y = survival_outcome([1.0, 2.0])
        with pytest.raises(ValueError, match="n_bins must be an integer >= 2"):
            d_calibration(y, [0.5, 0.5], n_bins=1)
        with pytest.raises(ValueError, match="one column per time, 1 of them, got 2"):
            d_calibration(y, np.full((2, 2), 0.5))
