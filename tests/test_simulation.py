"""Simulated outcomes against the distributions that they are said to come from."""

import doctest
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from dipolar.simulation import (
    EXPONENTIAL,
    Design,
    Gompertz,
    NormalCovariates,
    QuadraticPredictor,
    Weibull,
    WeibullCensoring,
    get_design,
    list_designs,
    paper,
    sampling,
    simulate,
)
from dipolar.simulation import design as design_module
from dipolar.simulation.paper import DESIGNS


def ellipse(X, factor=1.0):
    return factor * ((X[:, 0] - 1) ** 2 / 12.25 + (X[:, 1] - 1) ** 2 / 4 - 1)


def parabola(X, factor):
    return factor * (1 - 4 * X[:, 0] + X[:, 1] + 2 * X[:, 0] ** 2)


def plane_2(X):
    return -7.2 - 4.8 * X[:, 0] + 4.8 * X[:, 1]


def ball(X):
    return -0.3 - 0.3 * (X**2).sum(axis=1)


# The formulas once more, written out as the paper's designs state them.
PREDICTORS = {
    "planar-2": plane_2,
    "parabola-2": lambda X: parabola(X, 3.6),
    "ellipse-2": ellipse,
    "weibull-planar-2": plane_2,
    "weibull-ellipse-2": ellipse,
    "weibull-ellipse-2-text": ellipse,
    "planar-4": lambda X: -0.3 - 0.6 * X[:, 0] - 0.6 * X[:, 1] - 0.3 * X[:, 2] - 0.3 * X[:, 3],
    "ellipse-4": ball,
    "ellipse-4-scripts": ball,
    "planar-7": lambda X: -0.2 - X @ [0.4, 0.4, 0.2, 0.2, 0.3, 0.3, 0.5],
    "ellipse-7": ball,
    "ellipse-7-scripts": ball,
    "figure-planar": plane_2,
    "figure-parabola": lambda X: parabola(X, 3.5),
    "figure-ellipse": lambda X: ellipse(X, 3.0),
    "figure-hyperbola": lambda X: 3 * (-((X[:, 0] - 1) ** 2) / 12.25 + (X[:, 1] - 1) ** 2 / 4 - 1),
    "figure-ellipse-gaussian": lambda X: 5.5 * ((X[:, 0] - 1) ** 2 + (X[:, 1] - 1) ** 2 / 4 - 1),
}

MOMENTS = {
    "planar-2": [(1.2, 0.4), (2.6, 0.3)],
    "parabola-2": [(1, 0.4), (1, 0.3)],
    "ellipse-2": [(1, 1.5), (1, 2.5)],
    "planar-4": [(1.2, 1.2), (2.6, 1), (1.2, 1.41), (1.2, 1.41)],
    "ellipse-4": [(0.5, 1.2), (1, 1), (-0.5, 1.41), (-0.5, 1.41)],
    "planar-7": [(1.2, 1.2), (2.6, 1)] + [(1.2, 1.41)] * 5,
    "ellipse-7": [(0.2, 1.2), (0.6, 1), (0.2, 1.41), (-0.2, 1.41), (0.2, 1.2), (0.2, 1.2), (-0.2, 1.2)],
    "figure-ellipse": [(1, 1), (1, 2)],
}

CENSORED = {
    "planar-2": 0.17,
    "parabola-2": 0.10,
    "ellipse-2": 0.01,
    "weibull-planar-2": 0.07,
    "weibull-ellipse-2": 0.02,
    "planar-4": 0.09,
    "ellipse-4": 0.12,
    "planar-7": 0.12,
    "ellipse-7": 0.19,
}

every_design = pytest.mark.parametrize("name", list(DESIGNS))


def constant_design(baseline, log_hazard=0.0, **settings):
    """Two standard normal covariates that do not matter."""
    return Design(
        covariates=NormalCovariates((0, 0), (1, 1)),
        predictor=QuadraticPredictor(log_hazard, linear=(0, 0)),
        baseline=baseline,
        **settings,
    )


# --- the paper's designs ---------------------------------------------------------------------------------


def test_every_design_has_its_formula_written_out():
    assert set(DESIGNS) == set(PREDICTORS)


@every_design
def test_linear_predictor_is_the_stated_formula(name):
    design = get_design(name)
    X = design.covariates(50, np.random.default_rng(3))
    np.testing.assert_allclose(design.linear_predictor(X), PREDICTORS[name](X), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", MOMENTS)
def test_covariates_have_the_stated_means_and_standard_deviations(name):
    X = simulate(name, 20_000, random_state=1).X
    means, sds = np.array(MOMENTS[name]).T
    assert X.shape == (20_000, len(means))
    np.testing.assert_allclose(X.mean(axis=0), means, atol=5 * sds.max() / np.sqrt(20_000))
    np.testing.assert_allclose(X.std(axis=0), sds, rtol=0.03)
    assert np.abs(np.corrcoef(X.T) - np.eye(len(means))).max() < 0.04


@pytest.mark.parametrize("name", CENSORED)
def test_censored_fraction_is_the_stated_one(name):
    assert simulate(name, 20_000, random_state=2).censored_fraction == pytest.approx(CENSORED[name], abs=0.01)


def test_weibull_events_of_the_text_are_censored_less_often_than_stated():
    assert simulate("weibull-ellipse-2-text", 20_000, random_state=2).censored_fraction < 0.01


@every_design
def test_event_times_follow_the_true_survival_function(name):
    """S(T | x) is uniform where T has the survival function S( . | x)."""
    sample = simulate(name, 1_000, random_state=4)
    own_survival = np.diagonal(sample.survival(sample.event_time))
    assert stats.kstest(own_survival, "uniform").pvalue > 0.01


@every_design
def test_follow_up_ends_and_seen_events_are_the_event_times(name):
    sample = simulate(name, 1_000, random_state=5)
    time, event = sample.y["time"], sample.y["event"]
    assert time.max() <= sample.design.follow_up
    np.testing.assert_array_equal(time[event], sample.event_time[event])
    assert (time[~event] < sample.event_time[~event]).all()
    assert sample.censored_fraction == pytest.approx(1 - event.mean())
    assert len(sample) == 1_000


@pytest.mark.parametrize(("name", "n_observed"), [("ellipse-4", 3), ("ellipse-7", 4)])
def test_scripts_designs_hide_covariates_and_change_nothing_else(name, n_observed):
    complete, restricted = (
        simulate(name, 100, random_state=6),
        simulate(f"{name}-scripts", 100, random_state=6),
    )
    np.testing.assert_array_equal(restricted.X, complete.X[:, :n_observed])
    np.testing.assert_array_equal(restricted.y, complete.y)
    np.testing.assert_array_equal(restricted.survival([1.0, 9.0]), complete.survival([1.0, 9.0]))


def test_list_of_designs():
    listed = list_designs().set_index("name")
    assert list(listed.index) == list(DESIGNS)
    assert listed.loc["ellipse-7-scripts", ["covariates", "observed"]].tolist() == [7, 4]
    assert listed.loc["planar-2", ["covariates", "observed", "follow_up"]].tolist() == [2, 2, 70.0]
    assert listed["description"].is_unique and listed["description"].str.len().gt(0).all()


@every_design
def test_designs_are_values(name):
    design = get_design(name)
    assert design.name == name
    assert pickle.loads(pickle.dumps(design)) == design
    with pytest.raises(AttributeError):
        design.follow_up = 1.0


# --- seeds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 12345])
def test_same_seed_same_rows(seed):
    first, second = (simulate("parabola-2", 40, random_state=seed) for _ in range(2))
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)
    assert not np.array_equal(first.X, simulate("parabola-2", 40, random_state=seed + 1).X)


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_are_seeds_that_move_on(make):
    generator = make(8)
    first, second = (simulate("planar-2", 20, random_state=generator) for _ in range(2))
    np.testing.assert_array_equal(first.y, simulate("planar-2", 20, random_state=make(8)).y)
    assert not np.array_equal(first.y, second.y)


def test_no_seed_gives_fresh_rows():
    assert not np.array_equal(simulate("planar-2", 20).X, simulate("planar-2", 20).X)


# --- baselines against scipy -----------------------------------------------------------------------------

shapes = st.floats(0.2, 5.0)
predictors = st.floats(-5.0, 5.0)
positive_times = st.lists(st.floats(1e-3, 20.0), min_size=1, max_size=6).map(np.array)


def truth(baseline, log_hazard, times):
    sample = simulate(constant_design(baseline, log_hazard, follow_up=1e6), 1, random_state=0)
    return sample.survival(times)[0], sample.hazard(times)[0]


@given(shapes, predictors, positive_times)
def test_weibull_is_scipys(shape, log_hazard, times):
    oracle = stats.weibull_min(shape, scale=np.exp(-log_hazard / shape))
    survival, hazard = truth(Weibull(shape), log_hazard, times)
    np.testing.assert_allclose(survival, oracle.sf(times), rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(hazard, np.exp(oracle.logpdf(times) - oracle.logsf(times)), rtol=1e-7)


@given(st.floats(0.05, 2.0), predictors, positive_times)
def test_gompertz_is_scipys(shape, log_hazard, times):
    oracle = stats.gompertz(np.exp(log_hazard) / shape, scale=1 / shape)
    survival, hazard = truth(Gompertz(shape), log_hazard, times)
    np.testing.assert_allclose(survival, oracle.sf(times), rtol=1e-7, atol=1e-300)
    np.testing.assert_allclose(hazard, np.exp(log_hazard + shape * times), rtol=1e-12)


@given(st.one_of(shapes.map(Weibull), st.floats(0.05, 2.0).map(Gompertz)), positive_times)
def test_time_at_inverts_the_cumulative_hazard(baseline, times):
    np.testing.assert_allclose(baseline.time_at(baseline.log_cumulative_hazard(times)), times, rtol=1e-9)


@pytest.mark.parametrize("shape", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("log_hazard", [-2.0, 1.0])
def test_simulated_quantiles_are_scipys_weibull_quantiles(shape, log_hazard):
    sample = simulate(constant_design(Weibull(shape), log_hazard), 20_000, random_state=7)
    oracle = stats.weibull_min(shape, scale=np.exp(-log_hazard / shape))
    assert sample.censored_fraction == 0.0
    share_below = [np.mean(sample.event_time <= oracle.ppf(level)) for level in (0.1, 0.5, 0.9)]
    np.testing.assert_allclose(share_below, (0.1, 0.5, 0.9), atol=0.012)
    assert stats.kstest(sample.y["time"], oracle.cdf).pvalue > 0.01


def test_simulated_gompertz_times_are_scipys():
    sample = simulate(constant_design(Gompertz(0.3), -1.0), 20_000, random_state=7)
    oracle = stats.gompertz(np.exp(-1.0) / 0.3, scale=1 / 0.3)
    assert stats.kstest(sample.event_time, oracle.cdf).pvalue > 0.01


def test_weibull_censoring_is_scipys():
    X = np.zeros((20_000, 1))
    times = WeibullCensoring(scale=3.0, shape=2.0)(X, np.random.default_rng(1))
    assert stats.kstest(times, stats.weibull_min(2.0, scale=3.0).cdf).pvalue > 0.01
    assert WeibullCensoring(scale=4.0)(X, np.random.default_rng(1)).mean() == pytest.approx(4.0, rel=0.03)


def test_true_functions_have_one_row_per_sample_and_one_column_per_time():
    sample = simulate("weibull-planar-2", 30, random_state=1)
    times = np.linspace(0, 50, 11)
    survival = sample.survival(times)
    assert survival.shape == sample.hazard(times).shape == (30, 11)
    assert sample.survival(2.0).shape == (30, 1)
    np.testing.assert_array_equal(survival[:, 0], 1.0)
    assert (np.diff(survival, axis=1) <= 0).all()
    assert survival.min() >= 0


@pytest.mark.parametrize("baseline", [EXPONENTIAL, Weibull(0.5), Weibull(2.0), Gompertz(0.5)])
def test_hazard_is_minus_the_slope_of_log_survival(baseline):
    sample = simulate(constant_design(baseline, -1.0), 1, random_state=0)
    step = 1e-6
    for time in (0.5, 3.0):
        before, after = np.log(sample.survival([time - step, time + step]))[0]
        assert sample.hazard(time)[0, 0] == pytest.approx((before - after) / (2 * step), rel=1e-5)


def test_hazards_at_zero():
    def at_zero(baseline):
        return simulate(constant_design(baseline), 1, random_state=0).hazard(0.0)[0, 0]

    assert [at_zero(b) for b in (Weibull(0.5), EXPONENTIAL, Weibull(2.0), Gompertz(0.7))] == [np.inf, 1, 0, 1]


@pytest.mark.parametrize("log_hazard", [-600.0, 600.0, 900.0])
@pytest.mark.parametrize("baseline", [EXPONENTIAL, Weibull(2.0), Gompertz(0.5)])
def test_extreme_predictors_stay_numbers(baseline, log_hazard):
    sample = simulate(constant_design(baseline, log_hazard, follow_up=10.0), 20, random_state=0)
    survival = sample.survival([0.0, 1.0])
    np.testing.assert_array_equal(survival[:, 0], 1.0)
    np.testing.assert_array_equal(survival[:, 1], 1.0 if log_hazard < 0 else 0.0)
    np.testing.assert_array_equal(sample.y["event"], log_hazard > 0)


# --- designs of one's own --------------------------------------------------------------------------------


def test_any_sampler_predictor_and_censoring_can_be_used():
    design = Design(
        covariates=lambda n, rng: rng.uniform(-1, 1, size=(n, 3)),
        predictor=lambda X: np.sin(3 * X[:, 0]) * X[:, 1],
        baseline=Gompertz(0.2),
        censoring=lambda X, rng: np.where(X[:, 2] > 0, np.inf, 0.5),
        follow_up=3.0,
        observed=[0, 1],
    )
    sample = simulate(design, 500, random_state=0)
    assert sample.X.shape == (500, 2)
    np.testing.assert_allclose(sample.linear_predictor, np.sin(3 * sample.X[:, 0]) * sample.X[:, 1])
    censored_at = np.unique(sample.y["time"][~sample.y["event"]])
    np.testing.assert_array_equal(censored_at, [0.5, 3.0])


def test_quadratic_predictor_adds_its_terms():
    predictor = QuadraticPredictor(1.0, linear=[2, 0], squares=[0, 3], centre=[9, 1])
    np.testing.assert_allclose(predictor(np.array([[1.0, 2.0], [0.0, 1.0]])), [1 + 2 + 3, 1.0])
    assert predictor == QuadraticPredictor(1.0, (2.0, 0.0), (0.0, 3.0), (9.0, 1.0))


def test_level_set_on_a_grid():
    """The unit ellipse of the design is where its predictor is zero."""
    angle = np.linspace(0, 2 * np.pi, 9)
    on_ellipse = np.column_stack([1 + 3.5 * np.cos(angle), 1 + 2 * np.sin(angle)])
    np.testing.assert_allclose(get_design("ellipse-2").linear_predictor(on_ellipse), 0, atol=1e-12)


# --- errors ----------------------------------------------------------------------------------------------


def test_unknown_design_lists_the_known_names():
    with pytest.raises(ValueError, match=r"design must be one of planar-2, .*, got 'spiral'.*Design") as caught:
        simulate("spiral", 10)
    assert all(name in str(caught.value) for name in DESIGNS)


@pytest.mark.parametrize("n", [0, -3, 2.5, "10"])
def test_row_count_must_be_a_positive_integer(n):
    with pytest.raises(ValueError, match=re.escape(f"n must be an integer >= 1, got {n!r}")):
        simulate("planar-2", n)


@pytest.mark.parametrize("times", [-1.0, [1.0, np.nan], [[1.0, 2.0]]])
def test_times_of_the_true_functions_are_checked(times):
    sample = simulate("planar-2", 2, random_state=0)
    for function in (sample.hazard, sample.survival):
        with pytest.raises(ValueError, match="times should be one-dimensional and >= 0"):
            function(times)


@pytest.mark.parametrize("make", [Weibull, Gompertz])
@pytest.mark.parametrize("shape", [0.0, -1.0, np.nan, np.inf])
def test_shapes_must_be_positive(make, shape):
    with pytest.raises(ValueError, match=f"shape must be positive and finite, got {shape}"):
        make(shape)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (
            lambda: NormalCovariates((1, 2), (1,)),
            "means and sds should have one value per covariate, got 2 means and 1",
        ),
        (lambda: NormalCovariates((), ()), "got 0 means and 0 sds"),
        (lambda: NormalCovariates((1,), (-2,)), "sds must not be negative, got -2.0"),
        (lambda: NormalCovariates((np.nan,), (1,)), "means should be a sequence of finite numbers"),
        (
            lambda: QuadraticPredictor(0, (1, 2), squares=(1,)),
            r"squares should be empty or as long as linear \(2\)",
        ),
        (lambda: QuadraticPredictor(0, (1, 2), centre=(1, 2, 3)), "centre should be empty .* got 3 values"),
        (lambda: WeibullCensoring(scale=0.0), "scale must be positive and finite, got 0.0"),
        (
            lambda: constant_design("weibull"),
            "baseline must have the methods .*got 'weibull' without log_hazard",
        ),
        (lambda: constant_design(EXPONENTIAL, follow_up=0.0), "follow_up must be positive, got 0.0"),
        (lambda: constant_design(EXPONENTIAL, follow_up=np.nan), "follow_up must be positive, got nan"),
        (lambda: constant_design(EXPONENTIAL, censoring=5.0), "censoring must be callable, got 5.0"),
        (
            lambda: constant_design(EXPONENTIAL, observed=[]),
            "observed should hold at least one column number",
        ),
        (lambda: constant_design(EXPONENTIAL, observed=[-1]), r"integer >= 0, got \[-1\]"),
        (lambda: Design(covariates=(1, 2), predictor=ellipse), r"covariates must be callable, got \(1, 2\)"),
        (
            lambda: Design(covariates=NormalCovariates((0,), (1,)), predictor=3),
            "predictor must be callable, got 3",
        ),
    ],
)
def test_a_bad_part_of_a_design_is_named(build, message):
    with pytest.raises(ValueError, match=message):
        build()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"covariates": lambda n, rng: np.zeros(n)},
            r"covariates should return an array of shape \(5, n_cov.*\(5,\)",
        ),
        (
            {"covariates": lambda n, rng: np.zeros((n, 3))},
            "X should have 2 columns, one per coefficient, got 3",
        ),
        (
            {"predictor": lambda X: X},
            r"predictor should return one number per row, shape \(5,\), got shape \(5, 2\)",
        ),
        (
            {"predictor": lambda X: X[:, 0] * np.inf},
            "predictor should return finite numbers, got -?inf in 5 of 5",
        ),
        (
            {"censoring": lambda X, rng: X[:, 0] * np.nan},
            "censoring should return numbers, got nan in 5 of 5",
        ),
        (
            {"censoring": lambda X, rng: np.full(5, -2.0)},
            "censoring must not return negative times, got -2.0",
        ),
        ({"observed": (0, 2)}, r"observed should hold columns below 2, .*got \(0, 2\)"),
        (
            {"predictor": lambda X: np.full(5, -800.0)},
            "follow_up must be finite for this design: 5 of 5 event times",
        ),
    ],
)
def test_a_bad_draw_is_named(changes, message):
    parts = {"covariates": NormalCovariates((0, 0), (1, 1)), "predictor": QuadraticPredictor(0, (0, 0))}
    with pytest.raises(ValueError, match=message):
        simulate(Design(**{**parts, **changes}), 5, random_state=0)


def test_predictor_wants_rows():
    with pytest.raises(ValueError, match=r"X should have shape \(n, n_covariates\), got shape \(2,\)"):
        get_design("planar-2").linear_predictor([1.0, 2.0])


def test_examples_print_what_they_say():
    page = Path(__file__).parents[1] / "docs" / "simulation.md"
    results = [doctest.testmod(module) for module in (design_module, paper, sampling)]
    results.append(doctest.testfile(str(page), module_relative=False))
    assert all(result.attempted > 0 and result.failed == 0 for result in results)


def test_table_of_the_guide_has_the_true_shares():
    page = (Path(__file__).parents[1] / "docs" / "simulation.md").read_text(encoding="utf-8")
    printed = dict(re.findall(r"^\| `([\w-]+)` .* (\d\.\d{3}) \|$", page, flags=re.MULTILINE))
    assert set(printed) == set(DESIGNS)
    for name, share in printed.items():
        assert f"{simulate(name, 20_000, random_state=0).censored_fraction:.3f}" == share
