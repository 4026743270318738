"""Brier scores against the definition, R, scikit-survival, and in all forms of predictions."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dipolar import LogRankSurvivalTree, survival_outcome
from dipolar.curves import kaplan_meier
from dipolar.datasets import load_whas500
from dipolar.metrics import TruncationWarning, brier_score, integrated_brier_score, time_grid
from dipolar.metrics import predictions as predictions_module
from tests.reference import metrics as reference
from tests.test_metrics_concordance import tied_rows

R_TIMES = [30, 180, 365, 730, 1095, 1500, 2000]


@pytest.fixture(scope="module")
def leaves():
    """Outcomes of WHAS500 with a Kaplan-Meier curve in each of four groups."""
    X, y = load_whas500(return_X_y=True)
    group = (2 * X["chf"] + (X["hr"] >= 90)).to_numpy(int)
    curves = [kaplan_meier(y["time"][group == g], y["event"][group == g]) for g in range(4)]
    return y, curves, group


@pytest.fixture(scope="module")
def split():
    """Training and test rows with a smooth prediction for each test row."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=300)
    time, censoring = rng.exponential(20 * np.exp(-x)).round() + 1, rng.exponential(30, size=300).round() + 1
    y = survival_outcome(np.minimum(time, censoring), time <= censoring)
    times = np.arange(5.0, 40.0, 3.0)
    return y[:150], y[150:], np.exp(-times / 20 * np.exp(x[150:, None])), times


@pytest.mark.compiled
@given(tied_rows(), tied_rows(), st.sampled_from(["graf", "left", "paper", "authors"]), st.data())
def test_equals_the_definition(train, test, variant, data):
    train_time, train_event, _, train_weight = train
    time, event, leaf, weight = test
    assume(time.max() > 0)
    heights = np.array(data.draw(st.lists(st.sampled_from([0.0, 0.3, 0.5, 1.0]), min_size=5, max_size=5)))
    t = data.draw(st.sampled_from(np.arange(0, time.max(), 0.5)))
    left, name = variant == "left", "graf" if variant == "left" else variant
    source = [train_time, train_event, train_weight]
    if name == "graf":
        # A late training row keeps G known and positive at t; the paper's formula must do without.
        source = [np.append(a, b) for a, b in zip(source, (9.0, False, 1.0))]
    if name == "authors":
        assume(reference.censoring_at(t, time, event, weight, events_first=False) > 1e-12)
    mine = brier_score(
        tuple(source[:2]), (time, event), (heights[:, None], leaf.astype(int)), [t],
        variant=name, left_limit=left, sample_weight=weight, train_weight=source[2],
    )  # fmt: skip
    expected = reference.brier(source, (time, event), heights[leaf.astype(int)], weight, t, name, strict=left)
    assert mine.scores[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_equal_to_r(leaves):
    y, curves, group = leaves
    # d$g <- 2 * d$chf + (d$hr >= 90); S: Kaplan-Meier of g at times; pec 2022.05.04, riskRegression 2022.11.28
    # pec(list(m = S), Surv(time, event) ~ 1, d, times = times, exact = FALSE, cens.model = "marginal")$AppErr$m
    # Score(list(m = 1 - S), Surv(time, event) ~ 1, d, times = times, metrics = "brier", cens.model = "km")
    expected = [
        0.03617495558585006, 0.12138735765464018, 0.14972004069902684, 0.17498698715393718, 0.17973734488923671,
        0.20721620470165983, 0.22378302298343483,
    ]  # fmt: skip
    mine = brier_score(y, y, (curves, group), R_TIMES, left_limit=True)
    np.testing.assert_allclose(mine.scores, expected, atol=1e-10)


def test_the_papers_and_the_authors_integrals(leaves):
    y, curves, group = leaves
    # G <- survfit(Surv(time, event == 0) ~ 1, d), G(t_i) = 0 replaced by its smallest positive value;
    # u <- sort(unique(d$time)); times <- sqrt(u[-1] * u[-length(u)])[seq(1, length(u) - 1, 5)];
    # trapezoid / max(times) of mean(S^2 * (time <= t) * event / G(time) + (1 - S)^2 * (time > t) / G(t))
    authors = integrated_brier_score(None, y, (curves, group), variant="authors")
    assert authors == pytest.approx(0.1807057033846373, abs=1e-10)
    # G <- prodlim(Hist(time, event) ~ 1, d, reverse = TRUE); e <- sort(unique(d$time[d$event == 1]));
    # times <- (e[-1] + e[-length(e)]) / 2; trapezoid / max(d$time), G(time) in both terms
    paper = integrated_brier_score(y, y, (curves, group), variant="paper")
    assert paper == pytest.approx(0.4090588288576311, abs=1e-10)


def test_the_paper_replaces_a_zero_by_the_smallest_positive_value():
    y = survival_outcome([1.0, 2.0, 3.0], [0, 1, 0])
    # G is 2/3 from time 1 on and 0 from time 3 on, and the row that is followed to time 3 needs its inverse.
    mine = brier_score(y, y, np.full(3, 0.5), [1.5], variant="paper")
    assert mine.scores[0] == pytest.approx((0.25 / (2 / 3) + 0.25 / (2 / 3)) / 3)


def test_equal_to_scikit_survival(split):
    theirs = pytest.importorskip("sksurv.metrics")
    train, test, S, times = split
    mine = brier_score(train, test, S, times)
    np.testing.assert_allclose(mine.scores, theirs.brier_score(train, test, S, times)[1], atol=1e-10)
    expected = theirs.integrated_brier_score(train, test, S, times)
    assert integrated_brier_score(train, test, S, times) == pytest.approx(expected, abs=1e-10)


def test_no_censoring_is_a_mean_square():
    rng = np.random.default_rng(0)
    y = survival_outcome(rng.exponential(size=50))
    S = rng.random((50, 3))
    times = [0.2, 0.5, 1.0]
    expected = ((S - (y["time"][:, None] > times)) ** 2).mean(axis=0)
    for variant in ("graf", "paper", "authors"):
        np.testing.assert_allclose(brier_score(y, y, S, times, variant=variant).scores, expected)
    np.testing.assert_allclose(brier_score(y, y, S, times, left_limit=True).scores, expected)


class TestForms:
    """One prediction, said in different ways."""

    def test_all_forms_agree(self, leaves, monkeypatch):
        y, curves, group = leaves
        table = np.array([curve(R_TIMES) for curve in curves])
        expected = brier_score(y, y, table[group], R_TIMES).scores
        functions = np.array(curves, dtype=object)[group]
        for form in ((curves, group), (table, group), functions, list(functions), table[group].tolist()):
            np.testing.assert_allclose(brier_score(y, y, form, R_TIMES).scores, expected, rtol=1e-12)
        monkeypatch.setattr(predictions_module, "BLOCK_CELLS", 10)
        for form in (table[group], (curves, group)):
            np.testing.assert_allclose(brier_score(y, y, form, R_TIMES).scores, expected, rtol=1e-12)

    def test_a_leaf_is_evaluated_once(self, leaves):
        y, curves, group = leaves
        calls = []

        def counted(curve):
            return lambda t: calls.append(1) or curve(t)

        functions = np.array([counted(curve) for curve in curves], dtype=object)[group]
        brier_score(y, y, functions, R_TIMES)
        assert len(calls) == 4

    def test_one_time_takes_one_probability_per_row(self, leaves):
        y, curves, group = leaves
        values = np.array([curve(365.0) for curve in curves])[group]
        expected = brier_score(y, y, (curves, group), [365.0]).scores
        np.testing.assert_allclose(brier_score(y, y, values, 365.0).scores, expected, rtol=1e-12)

    def test_the_rows_of_a_tree(self):
        X, y = load_whas500(return_X_y=True)
        tree = LogRankSurvivalTree(max_depth=3).fit(X, y)
        functions = tree.predict_survival_function(X)
        rows = np.array([function(R_TIMES) for function in functions])
        mine = brier_score(y, y, functions, R_TIMES).scores
        np.testing.assert_allclose(mine, brier_score(y, y, rows, R_TIMES).scores, rtol=1e-12)

    def test_scikit_survival_functions_keep_their_last_value(self, leaves):
        functions = pytest.importorskip("sksurv.functions")
        y, _, _ = leaves
        curve = functions.StepFunction(np.array([1.0, 100.0, 500.0]), np.array([0.9, 0.4, 0.4]), domain=(0, 500))
        S = np.where(np.array(R_TIMES) >= 100, 0.4, 0.9)
        mine = brier_score(y, y, ([curve], np.zeros(len(y), int)), R_TIMES).scores
        np.testing.assert_allclose(mine, brier_score(y, y, np.tile(S, (len(y), 1)), R_TIMES).scores)


@pytest.mark.parametrize("variant", ["graf", "paper", "authors"])
def test_weight_two_is_the_row_twice_and_zero_is_absent(leaves, variant):
    y, curves, group = leaves
    count = np.resize([0, 1, 2, 3], len(y))
    rows = np.repeat(np.arange(len(y)), count)
    weighted = integrated_brier_score(
        y, y, (curves, group), variant=variant, sample_weight=count, train_weight=count
    )  # fmt: skip
    repeated = integrated_brier_score(y[rows], y[rows], (curves, group[rows]), variant=variant)
    assert weighted == pytest.approx(repeated, rel=1e-12)


def test_default_times_are_those_of_the_grid(leaves):
    y, curves, group = leaves
    train, test, index = y[::2], y[1::2], group[1::2]
    for variant, rule in (("graf", "default"), ("paper", "paper"), ("authors", "authors")):
        result = brier_score(train, test, (curves, index), variant=variant)
        np.testing.assert_array_equal(result.times, time_grid(test, train, rule=rule))


class TestOutside:
    """Times that the data do not reach."""

    def test_the_error_says_which_times_to_drop(self, leaves):
        y, curves, group = leaves
        last = y["time"].max()
        with pytest.raises(ValueError, match=rf"1 of 2 times lie outside the data \({last:g}\).*outside='truncate'"):
            brier_score(y, y, (curves, group), [365.0, last])

    def test_truncating_drops_their_columns(self, leaves):
        y, curves, group = leaves
        times = np.array([0.0, 365.0, 1000.0, 5000.0])
        table = np.array([curve(times) for curve in curves])[group]
        with pytest.warns(TruncationWarning, match=r"1 of 4 times lie outside the data \(5000\)"):
            mine = brier_score(y, y, table, times, outside="truncate")
        np.testing.assert_array_equal(mine.times, times[:3])
        np.testing.assert_allclose(mine.scores, brier_score(y, y, table[:, :3], times[:3]).scores)

    def test_training_rows_that_end_early_bound_graf_but_not_the_paper(self, leaves):
        y, curves, group = leaves
        train = y[y["time"] < 1000]
        with pytest.raises(
            ValueError, match=r"1 of 2 times lie outside the data \(1500\).*where the training rows know"
        ):
            brier_score(train, y, (curves, group), [365.0, 1500.0])
        assert len(brier_score(train, y, (curves, group), [365.0, 1500.0], variant="paper").times) == 2
        assert brier_score(train, y, (curves, group)).times.max() < 1000

    def test_nothing_left(self, leaves):
        y, curves, group = leaves
        with pytest.raises(ValueError, match="None is left to compute a score at"):
            brier_score(y, y, (curves, group), [5000.0, 6000.0], outside="truncate")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variant": "brier"}, "variant must be one of"),
        ({"variant": "paper", "left_limit": True}, "left_limit=True belongs to variant='graf'"),
        ({"y_train": None}, "y_train is None, and variant='graf'"),
        ({"times": [3.0, 2.0]}, "times must ascend strictly"),
        ({"times": [-1.0, 2.0]}, "times must be finite and not negative"),
        ({"times": []}, "non-empty"),
        ({"times": None}, "survival is an array, and times says which times its columns belong to"),
        ({"survival": np.full((4, 3), 0.5)}, "one column per time, 2 of them, got 3"),
        ({"survival": np.full((3, 2), 0.5)}, "survival should have 4 rows.*got 3"),
        ({"survival": np.full((4, 2), 1.5)}, "probabilities between 0 and 1, got 1.5"),
        ({"survival": np.full((4, 2), np.nan)}, "probabilities between 0 and 1, got nan"),
        ({"survival": np.full((4, 2, 1), 0.5)}, r"survival has shape \(4, 2, 1\)"),
        ({"survival": (np.full((2, 2), 0.5), [0, 1, 2, 0])}, "index must lie between 0 and 1"),
        ({"survival": (np.full((2, 2), 0.5), [0.0, 1.0, 1.0, 0.0])}, "index should hold one integer per row"),
        ({"survival": [lambda t: 0.5] * 4}, r"a function of 2 times should return as many.*got shape \(\)"),
        ({"survival": [np.cos, np.cos, 0.5, 0.5]}, "survival holds functions, but entry 2 is float"),
        ({"survival": [["alive"] * 2] * 4}, "survival should be an array of numbers"),
        ({"survival": 0.5}, "survival cannot be read: float"),
        ({"times": ["soon", "late"]}, "times should be an array of numbers"),
        ({"left_limit": np.ones(2)}, "left_limit must be True or False"),
        ({"outside": "ignore"}, "outside must be one of"),
    ],
)
def test_errors_name_the_fault(change, message):
    y = survival_outcome([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    given = {"y_train": y, "y_test": y, "survival": np.full((4, 2), 0.5), "times": [1.0, 2.0]} | change
    with pytest.raises(ValueError, match=message):
        brier_score(**given)


def test_times_of_any_unit_have_one_integral():
    time, event = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), [1, 0, 1, 1, 0]
    survival = np.linspace(0.9, 0.1, 15).reshape(3, 5).T
    plain = [
        integrated_brier_score((time, event), (time, event), survival, [1.0, 2.0, 3.0], variant=variant)
        for variant in ("graf", "paper", "authors")
    ]
    # Products of widths and scores would vanish, or the roots of products of times be infinite.
    for unit in (5e-324, 1e-300, 1e99):
        y = time * unit, event
        scaled = [
            integrated_brier_score(y, y, survival, np.array([1.0, 2.0, 3.0]) * unit, variant=variant)
            for variant in ("graf", "paper", "authors")
        ]
        assert scaled == pytest.approx(plain, rel=1e-9)


def test_an_integral_needs_two_times():
    y = survival_outcome([1.0, 2.0, 3.0, 4.0], [1, 0, 1, 1])
    with pytest.raises(ValueError, match="at least two usable times, got 1"):
        integrated_brier_score(y, y, np.full(4, 0.5), [2.0])
