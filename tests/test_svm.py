"""The estimator: scikit-learn's own checks, what it promises in its docstring, and what it refuses."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import laplacian_kernel
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dipolar import survival_outcome
from dipolar.datasets import load_mgus, load_remission
from dipolar.kernels import PrecomputedKernel
from dipolar.simulation import simulate
from tests.models import kernel_of, paper_svm
from tests.reference.dipoles import orient

KERNELS = ["linear", "quadratic", "polynomial", "rbf", "laplacian", "sigmoid"]


@parametrize_with_checks(
    [paper_svm(), paper_svm(kernel="linear", init="quartile"), paper_svm(kernel="quadratic", standardize=True)]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def planar():
    data = simulate("planar-2", 150, random_state=0)
    return data.X, data.y


def close(found, expected, tol=1e-6):
    """Equal up to a fraction of the largest."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=tol * np.abs(expected).max())


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kappa", [np.exp(-4), np.exp(3)])
def test_score_is_the_sum_over_the_support_vectors(planar, kernel, kappa):
    X, y = planar
    new = simulate("planar-2", 50, random_state=1).X
    svm = paper_svm(kernel, kappa).fit(X, y)
    block = kernel_of(kernel, X, np.ones(len(X)), degree=3, coef0=1.0).block(new, svm.support_vectors_)
    close(svm.decision_function(new), block @ svm.dual_coef_ + svm.intercept_)
    np.testing.assert_array_equal(svm.support_vectors_, X[svm.support_])
    assert len(svm.support_) == len(svm.dual_coef_) <= svm.rank_ + 1


def test_coef_is_the_normal_of_a_linear_surface(planar):
    X, y = planar
    svm = paper_svm("linear").fit(X, y)
    close(svm.decision_function(X), X @ svm.coef_ + svm.intercept_)
    assert not hasattr(paper_svm("quadratic").fit(X, y), "coef_")


def test_predict_is_the_sign_of_the_score(planar):
    X, y = planar
    svm = paper_svm("quadratic").fit(X, y)
    np.testing.assert_array_equal(svm.predict(X), svm.decision_function(X) >= 0)
    assert set(svm.predict(X)) == {0, 1}


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel != "sigmoid"])
@pytest.mark.parametrize("init", ["median", "quartile", "positive"])
def test_what_a_fit_says_of_itself(planar, kernel, init):
    X, y = planar
    svm = paper_svm(kernel, init=init, tol=1e-4).fit(X, y)
    assert svm.status_ == "settled"
    assert 0 <= svm.duality_gap_ <= 1e-4
    assert np.all(np.diff(svm.criterion_path_) <= 0)
    assert svm.n_reorientations_ == len(svm.criterion_path_) - 1
    assert svm.margin_ > 0
    assert 0 < svm.cutoffs_.pure < svm.cutoffs_.mixed
    assert 0 <= svm.factor_residual_ <= 1e-4


def test_the_positive_part_of_a_sigmoid_kernel_is_used_and_the_rest_reported(planar):
    svm = paper_svm("sigmoid", standardize=True, coef0=0.0).fit(*planar)
    assert svm.status_ == "settled"
    assert svm.duality_gap_ <= 1e-6
    assert svm.factor_residual_ > 0.1


def test_a_saturated_sigmoid_kernel_is_constant(planar):
    """tanh of 30 is 1: all rows look the same."""
    assert paper_svm("sigmoid").fit(*planar).status_ == "constant"


def test_the_last_criterion_is_that_of_the_surface(planar):
    """By the definition: list every pair, orient it by the scores, and add up the hinges and the ridge term."""
    X, y = planar
    svm = paper_svm("linear", kappa=0.05, tol=0.0).fit(X, y)
    upward, downward = orient(
        *(y["time"], y["event"], svm.decision_function(X), svm.cutoffs_.pure, svm.cutoffs_.mixed, 1.0, 1.0, "text")
    )
    scores = svm.decision_function(X)
    loss = upward @ np.maximum(0, svm.margin_ - scores) + downward @ np.maximum(0, svm.margin_ + scores)
    expected = 0.5 * svm.coef_ @ svm.coef_ + 0.05 * loss
    assert svm.criterion_path_[-1] == pytest.approx(expected, rel=1e-5)


def test_margin_is_a_quantile_of_the_distances(planar):
    X, y = planar
    assert paper_svm().fit(X, y).margin_ == pytest.approx(np.quantile(pdist(X), 0.23))
    assert paper_svm(margin_quantile=0.5).fit(X, y).margin_ == pytest.approx(np.quantile(pdist(X), 0.5))
    assert paper_svm(margin=0.3).fit(X, y).margin_ == 0.3


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf"])
def test_order_of_the_rows_does_not_matter(planar, kernel):
    X, y = planar
    shuffled = np.random.default_rng(0).permutation(len(X))
    expected = paper_svm(kernel).fit(X, y)
    found = paper_svm(kernel).fit(X[shuffled], y[shuffled])
    np.testing.assert_array_equal(found.decision_function(X), expected.decision_function(X))
    np.testing.assert_array_equal(shuffled[found.support_], expected.support_)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("standardize", [False, True])
def test_a_weight_of_two_is_the_row_twice(planar, kernel, standardize):
    X, y = planar
    weight = np.random.default_rng(0).integers(0, 4, size=len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    weighted = paper_svm(kernel, standardize=standardize, init="quartile").fit(X, y, sample_weight=weight)
    repeated = paper_svm(kernel, standardize=standardize, init="quartile").fit(X[rows], y[rows])
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))
    np.testing.assert_array_equal(weighted.criterion_path_, repeated.criterion_path_)


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf"])
@pytest.mark.parametrize("cutoff_rule", ["text", "scripts"])
def test_copies_that_are_too_far_apart_to_be_merged_count_the_same(planar, kernel, cutoff_rule):
    """Nothing but the arithmetic of weights makes these two equal."""
    X, y = planar
    rng = np.random.default_rng(0)
    weight = rng.integers(1, 4, size=len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    copies = X[rows] + 1e-10 * rng.normal(size=(len(rows), 2))
    settings = {"kernel": kernel, "margin": 0.5, "cutoff_rule": cutoff_rule, "standardize": True}
    weighted = paper_svm(**settings).fit(X, y, sample_weight=weight)
    repeated = paper_svm(**settings).fit(copies, y[rows])
    assert repeated.cutoffs_ == weighted.cutoffs_
    close(repeated.decision_function(X), weighted.decision_function(X), tol=1e-4)


def test_weights_change_the_surface(planar):
    X, y = planar
    weight = np.where(X[:, 0] > 1.2, 5.0, 1.0)
    plain, weighted = paper_svm("linear").fit(X, y), paper_svm("linear").fit(X, y, sample_weight=weight)
    assert np.abs(plain.coef_ - weighted.coef_).max() > 1e-3


@pytest.mark.parametrize("weighted", [False, True])
def test_standardize_is_a_fit_to_scaled_covariates(planar, weighted):
    X, y = planar
    X = X * [1.0, 1000.0] + [0.0, 5.0]
    weight = np.where(X[:, 0] > 1.2, 5.0, 1.0) if weighted else None
    scaled = StandardScaler().fit(X, sample_weight=weight).transform(X)
    svm = paper_svm(standardize=True).fit(X, y, sample_weight=weight)
    expected = paper_svm().fit(scaled, y, sample_weight=weight)
    close(svm.decision_function(X), expected.decision_function(scaled))
    close(svm.support_vectors_, expected.support_vectors_)


def test_a_function_is_as_good_as_a_name(planar):
    X, y = planar
    gamma = 1.0 / X.var(axis=0).sum()
    named = paper_svm("laplacian").fit(X, y)
    called = paper_svm(lambda a, b: laplacian_kernel(a, b, gamma)).fit(X, y)
    close(called.decision_function(X), named.decision_function(X))


@pytest.mark.parametrize("kernel", ["precomputed", PrecomputedKernel()])
def test_a_precomputed_matrix_is_as_good_as_a_name(planar, kernel):
    """With the margin given and no starting covariates needed, it is the same fit."""
    X, y = planar
    new = simulate("planar-2", 50, random_state=1).X
    gamma = 1.0 / X.var(axis=0).sum()
    settings = {"margin": 0.5, "init": "positive"}
    named = paper_svm("laplacian", gamma=gamma, **settings).fit(X, y)
    looked_up = paper_svm(kernel, **settings).fit(laplacian_kernel(X, gamma=gamma), y)
    block = laplacian_kernel(new, X, gamma)
    close(looked_up.decision_function(block), named.decision_function(new), tol=1e-5)
    close(
        block[:, looked_up.support_] @ looked_up.dual_coef_ + looked_up.intercept_, looked_up.decision_function(block)
    )
    assert looked_up.support_vectors_.shape == (0, len(X))


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_pickle_predicts_the_same(planar, kernel):
    X, y = planar
    svm = paper_svm(kernel, standardize=True).fit(X, y)
    copy = pickle.loads(pickle.dumps(svm))
    np.testing.assert_array_equal(copy.decision_function(X), svm.decision_function(X))


def test_a_model_does_not_keep_the_training_set():
    data = simulate("planar-2", 5000, random_state=0)
    assert len(pickle.dumps(paper_svm("linear").fit(data.X, data.y))) < 10_000
    assert len(pickle.dumps(paper_svm("rbf", max_rank=20).fit(data.X, data.y))) < 20_000


def test_fit_does_not_touch_parameters_or_input(planar):
    X, y = planar
    before, outcome = X.copy(), y.copy()
    svm = paper_svm("quadratic", kappa=2, standardize=True)
    parameters = svm.get_params()
    svm.fit(X, y)
    assert svm.get_params() == parameters
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(y, outcome)
    assert not hasattr(clone(svm), "intercept_")
    assert clone(svm).get_params() == parameters


def test_what_is_drawn_is_the_same_in_every_fit():
    """More than ten covariates are drawn for the quartile starts, more than 1000 rows for the margin."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1100, 12))
    y = rng.exponential(np.exp(X[:, 0]))
    first, second = (paper_svm("linear", init="quartile").fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.decision_function(X), second.decision_function(X))
    assert first.margin_ == second.margin_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_solver_of_the_paper_finds_the_same_surface(kernel):
    """For one orientation; a search may take another turn where the solver is less exact."""
    data = simulate("planar-2", 60, random_state=0)
    start = {"kernel": kernel, "init": "positive", "max_reorientations": 0}
    ours = paper_svm(**start).fit(data.X, data.y)
    theirs = paper_svm(**start, solver="osqp", solver_tol=1e-7).fit(data.X, data.y)
    close(theirs.decision_function(data.X), ours.decision_function(data.X), tol=1e-3)
    assert theirs.criterion_path_[0] == pytest.approx(ours.criterion_path_[0], rel=1e-5)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_large_kappa_and_a_small_one_split_real_data(kernel):
    X, y = load_mgus(return_X_y=True)
    rows = X.notna().all(axis=1).to_numpy()
    for kappa in (np.exp(-4), np.exp(4)):
        svm = paper_svm(kernel, kappa, standardize=True).fit(X[rows], y[rows])
        assert svm.status_ == "settled"
        assert svm.duality_gap_ <= 1e-6


def test_repeated_binary_covariates():
    """Remission has 42 rows of integer times, and repeats."""
    X, y = load_remission(return_X_y=True)
    svm = paper_svm("rbf", kappa=np.exp(3), sigma2=1.0).fit(X, y)
    assert svm.status_ == "settled"
    assert set(svm.predict(X)) == {0, 1}
    assert len(np.unique(svm.support_)) == len(svm.support_)


def outcome(time, event=None):
    return survival_outcome(time, np.ones(len(time), dtype=bool) if event is None else event)


SPREAD = np.arange(12.0).reshape(-1, 1)
DEGENERATE = {
    "constant covariates": (np.ones((12, 3)), outcome(np.arange(12.0)), {"constant"}),
    "one row": (SPREAD[:1], outcome([2.0]), {"no_mixed_dipoles"}),
    "one event, the last": (SPREAD, outcome(np.arange(12.0), np.arange(12) == 11), {"no_mixed_dipoles"}),
    "one event, the first": (SPREAD, outcome(np.arange(12.0), np.arange(12) == 0), {"settled", "one_sided"}),
    "two rows": (SPREAD[:2], outcome([1.0, 5.0]), {"settled"}),
}


@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("init", ["median", "quartile", "positive"])
def test_degenerate_nodes_are_ordinary_results(name, kernel, init):
    X, y, statuses = DEGENERATE[name]
    svm = paper_svm(kernel, init=init).fit(X, y)
    assert svm.status_ in statuses
    assert np.isfinite(svm.decision_function(X)).all()
    assert svm.duality_gap_ <= 1e-6
    if "settled" not in statuses:
        assert len(set(svm.predict(X))) == 1


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_tied_times_are_dipoles_of_gap_zero(kernel):
    """All gaps are 0, and so are the cut-offs: a gap that reaches the mixed one makes every pair mixed."""
    svm = paper_svm(kernel).fit(SPREAD, outcome(np.full(12, 3.0)))
    assert (svm.cutoffs_.pure, svm.cutoffs_.mixed) == (0.0, 0.0)
    assert svm.status_ == "settled"


@settings(max_examples=60)
@given(st.data())
def test_any_small_data_set_can_be_split(data):
    n = data.draw(st.integers(1, 12))
    rng = np.random.default_rng(data.draw(st.integers(0, 10_000)))
    X = rng.choice([-1.0, 0.0, 1.0, 10.0], size=(n, data.draw(st.integers(1, 3))))
    event = rng.uniform(size=n) < 0.7
    event[0] = True
    kappa = data.draw(st.sampled_from([1e-6, 1e-2, 1.0, 1e4]))
    kernel = data.draw(st.sampled_from(KERNELS))
    svm = paper_svm(kernel, kappa, init=data.draw(st.sampled_from(["median", "quartile"])))
    svm.fit(X, outcome(rng.integers(0, 5, size=n).astype(float), event))
    assert svm.status_ in ("settled", "no_mixed_dipoles", "one_sided", "constant")
    assert np.all(np.diff(svm.criterion_path_) <= 0)
    assert np.isfinite(svm.decision_function(X)).all()


def test_an_unreached_tolerance_warns_with_the_gap(planar, monkeypatch):
    """The surface is there all the same, and says how good it is."""
    monkeypatch.setattr("dipolar.node_svm.solvers.MAX_OSQP_STEPS", 50)
    X, y = planar
    with pytest.warns(ConvergenceWarning, match=r"solved to a relative duality gap of .*, not 1\.0e-06\. Scale"):
        svm = paper_svm("linear", solver="osqp").fit(X, y)
    assert svm.status_ == "unconverged"
    assert 1e-6 < svm.duality_gap_ < 1
    assert set(svm.predict(X)) == {0, 1}


def test_the_limit_on_reorientations(planar):
    X, y = planar
    free = paper_svm("quadratic", tol=0.0).fit(X, y)
    assert free.n_reorientations_ >= 2
    one = paper_svm("quadratic", tol=0.0, max_reorientations=1).fit(X, y)
    assert (one.status_, one.n_reorientations_) == ("reorientation_limit", 1)
    np.testing.assert_array_equal(one.criterion_path_, free.criterion_path_[:2])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kappa": 0}, r"kappa must be a number >= 1e-20 and <= 1e\+20, got 0\. It is exp\(eta\)"),
        ({"kappa": "1"}, r"kappa must be a number >= 1e-20 and <= 1e\+20, got '1'"),
        ({"kernel": "tanh"}, r"kernel must be one of .* got 'tanh'"),
        ({"pure_quantile": 0.8}, r"mixed_quantile must be larger than pure_quantile, got 0\.75 <= 0\.8"),
        ({"mixed_quantile": 75}, r"mixed_quantile must be a number >= 0 and <= 1, got 75\. Quantiles are fractions"),
        ({"pure_weight": -1}, r"pure_weight must be a number >= 0 and <= 1e\+20, got -1"),
        ({"cutoff_rule": "r"}, r"cutoff_rule must be one of \['text', 'scripts'\], got 'r'"),
        ({"margin": 0}, r"margin must be a number >= 1e-75 and <= 1e\+75, got 0\. Or pass a DistanceQuantile"),
        (
            {"margin": "wide"},
            r"margin must be a number >= 1e-75 and <= 1e\+75, got 'wide'\. Or pass a DistanceQuantile",
        ),
        ({"margin_quantile": 23}, r"margin must be a number >= 0 and <= 1, got 23"),
        ({"init": "mean"}, r"init must be one of \['hazard', 'median', 'quartile', 'positive'\], got 'mean'"),
        ({"solver": "smo"}, r"solver must be one of \['interior_point', 'osqp'\], got 'smo'"),
        ({"tol": -1}, r"tol must be a number >= 0, got -1"),
        ({"solver_tol": 0}, r"solver_tol must be a number > 0 and <= 1, got 0"),
        ({"max_reorientations": -1}, r"max_reorientations must be .* >= 0 and <= 1e\+06, got -1"),
        ({"factor_tol": 2}, r"factor_tol must be a number >= 0 and <= 1, got 2"),
        ({"max_rank": 0}, r"max_rank must be an integer >= 1, got 0\. None sets no limit"),
        ({"kernel": "precomputed"}, r"X must be the square kernel matrix of the training rows, got \(150, 2\)"),
        ({"kernel": "precomputed", "standardize": True}, r"standardize=True needs covariates"),
        ({"kernel": PrecomputedKernel(), "standardize": True}, r"standardize=True needs covariates"),
        ({"kernel": "polynomial", "degree": 1.5}, r"degree must be .*got 1\.5"),
        ({"sigma2": -1.0}, r"sigma2 must be .*got -1\.0"),
    ],
)
def test_bad_parameters_are_refused_with_the_rule(planar, parameters, message):
    with pytest.raises(ValueError, match=message):
        paper_svm(**parameters).fit(*planar)


def test_prediction_needs_the_columns_of_the_fit(planar):
    X, y = planar
    with pytest.raises(ValueError, match="X has 1 features, but DipoleSVM is expecting 2"):
        paper_svm("linear").fit(X, y).predict(X[:, :1])
    with pytest.raises(ValueError, match=r"X contains NaN: column 1 \(1\)"):
        paper_svm("linear").fit(X, y).predict([[1.0, np.nan]])
