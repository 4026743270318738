"""Numbers at the ends of what floating point holds: an error that names the argument, or an answer that is right."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from dipolar import (
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
    survival_outcome,
)
from dipolar.kernels import GaussianKernel, LaplacianKernel
from tests.models import forest_of, paper_svm, paper_tree

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 2))
TIME = np.minimum(RNG.exponential(np.exp(X[:, 0])), 5.0)
EVENT = RNG.random(N) < 0.8

SVMS = {
    f"svm, {kernel}{', scaled' * standardize}": paper_svm(kernel=kernel, standardize=standardize)
    for kernel in ("linear", "quadratic", "rbf", "laplacian", "sigmoid")
    for standardize in (False, True)
}
DIPOLE_MODELS = SVMS | {
    "recommended svm": DipoleSVM(),
    "recommended tree": DipoleSurvivalTree(DipoleSVM(), max_depth=2, min_samples_leaf=3),
    "paper's tree": paper_tree(kernel="linear", max_depth=2),
    "gaussian tree": paper_tree(max_depth=2, pruning="bootstrap", n_bootstraps=2, random_state=0),
    "linear forest": forest_of(2, random_state=0, min_logrank=1),
    "mixed forest": forest_of(3, kernel=("quadratic", "rbf"), random_state=0, min_logrank=1),
    "tuned": SurvivalTreeCV(
        DipoleSurvivalTree(DipoleSVM(), min_samples_leaf=5), param_grid={}, max_depth=(0, 2), cv=2, random_state=0
    ),
}
MODELS = DIPOLE_MODELS | {
    "log-rank tree": LogRankSurvivalTree(),
    "exponential tree": LogRankSurvivalTree(criterion="exponential", pruning="validation", random_state=0),
    "gehan tree": LogRankSurvivalTree(criterion="gehan", pruning="bootstrap", n_bootstraps=2, random_state=0),
    "log-rank forest": LogRankSurvivalForest(2, random_state=0, min_logrank=1),
}

# Covariates are at most 1e75 and squares of their differences are numbers; times are at most 1e100; weights are counts.
SCALES = {
    "X": [5e-324, 1e-200, 1e-74, 1e-40, 1e40, 1e74, 1e100, 1e155, 1e200, 1e250, 1e307],
    "time": [5e-324, 1e-300, 1e-50, 1e50, 1e99, 1e101, 1e155, 3e307],
    "sample_weight": [5e-324, 1e-155, 1e-13, 1e-11, 1e8, 1e13, 1e20, 1e155, 1e308],
}
REFUSED = {
    "X": {1e100, 1e155, 1e200, 1e250, 1e307},
    "time": {1e101, 1e155, 3e307},
    "sample_weight": {5e-324, 1e-155, 1e-13, 1e20, 1e155, 1e308},
}


def fit(model, X=X, time=TIME, weight=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return clone(model).fit(X, survival_outcome(time, EVENT), weight)


def require_sense(fitted, X):
    """Everything that is predicted is a number, and a search that says it ended well has numbers to show for it."""
    if isinstance(fitted, DipoleSVM):
        assert np.isfinite(fitted.decision_function(X)).all()
        assert set(fitted.predict(X)) <= {0, 1}
        shown = (fitted.cutoffs_.pure, fitted.cutoffs_.mixed, fitted.intercept_, fitted.margin_)
        assert np.isfinite(shown).all() and np.isfinite(fitted.dual_coef_).all()
        if fitted.status_ in ("settled", "reorientation_limit"):
            assert np.isfinite(fitted.duality_gap_) and np.isfinite(fitted.criterion_path_).all()
            assert fitted.duality_gap_ <= fitted.solver_tol
        return
    curves = fitted.predict_survival_function(X, return_array=True)
    assert np.isfinite(curves).all() and (curves >= 0).all() and (curves <= 1).all()
    assert (np.diff(curves, axis=1) <= 1e-12).all()
    assert np.isfinite(fitted.predict(X)).all()
    assert np.isfinite(fitted.predict_cumulative_hazard_function(X, return_array=True)).all()
    assert not np.isnan(fitted.predict_median(X)).any()
    assert np.isfinite(fitted.predict_rmst(X)).all()


@pytest.mark.parametrize("argument", list(SCALES))
@pytest.mark.parametrize("name", list(MODELS))
def test_any_scale_is_refused_by_name_or_leads_to_numbers(name, argument):
    for scale in SCALES[argument]:
        rows = {"X": X, "time": TIME, "weight": np.ones(N)}
        key = argument.removeprefix("sample_")
        rows[key] = rows[key] * scale
        try:
            fitted = fit(MODELS[name], **rows)
        except ValueError as error:
            assert scale in REFUSED[argument] or argument == "X", (scale, str(error))
            # A kernel may be too steep for covariates that are within the bounds.
            assert str(error).startswith((f"{argument} ", "kernel Poly")), (scale, str(error))
        else:
            assert scale not in REFUSED[argument]
            require_sense(fitted, rows["X"])


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("one", [1e-12, 2.0**52])
def test_one_row_weighs_much_more_or_less(name, one):
    weight = np.where(np.arange(N) == 3, one, 1.0)
    require_sense(fit(MODELS[name], weight=weight), X)


@pytest.mark.parametrize("name", list(MODELS))
def test_one_row_is_far_away(name):
    far = X.copy()
    far[0, 0] = 9e74
    try:
        fitted = fit(MODELS[name], far)
    except ValueError as error:
        assert str(error).startswith("kernel Poly")
    else:
        require_sense(fitted, far)
    fitted = fit(MODELS[name])
    for value in (-9e74, 9e74, 1e-300, 0.0):
        far[0] = value
        require_sense(fitted, far)


def with_machines(model, change):
    """The model with a change of each of its machines."""
    if isinstance(model, DipoleSVM):
        return change(clone(model))
    if isinstance(model, SurvivalTreeCV):
        return clone(model).set_params(estimator=with_machines(model.estimator, change))
    if isinstance(model, DipoleSurvivalForest):
        return clone(model).set_params(svm=[change(clone(svm)) for svm in model.svm])
    return clone(model).set_params(svm=change(clone(model.svm)))


@pytest.mark.parametrize("name", list(DIPOLE_MODELS))
@pytest.mark.parametrize(
    ("parameter", "allowed", "refused"),
    [
        ("pure_weight", (1e20, 1e-300), (1e21, 1e308)),
        ("kappa", (1e20, 1e-20), (1e21, 1e308, 1e-21)),
        ("margin", (1e75, 1e-74), (1e76, 1e308, 1e-300)),
    ],
)
def test_any_number_of_a_machine_is_refused_by_name_or_leads_to_numbers(name, parameter, allowed, refused):
    def model(value):
        return with_machines(DIPOLE_MODELS[name], lambda svm: svm.set_params(**{parameter: value}))

    for value in allowed:
        require_sense(fit(model(value)), X)
    for value in refused:
        with pytest.raises(ValueError, match=f"^{parameter} must be"):
            fit(model(value))


@pytest.mark.parametrize("name", list(DIPOLE_MODELS))
@pytest.mark.parametrize(
    ("kernel", "parameter", "allowed", "refused"),
    [
        (GaussianKernel, "sigma2", (1e149, 1e-149), (1e151, 1e-151, 1e308)),
        (LaplacianKernel, "gamma", (1e-70, 1e70), (0.0, np.inf)),
    ],
)
def test_any_width_of_a_kernel_is_refused_by_name_or_leads_to_numbers(name, kernel, parameter, allowed, refused):
    def model(value):
        return with_machines(DIPOLE_MODELS[name], lambda svm: svm.set_params(kernel=kernel(value)))

    for value in allowed:
        require_sense(fit(model(value)), X)
    for value in refused:
        with pytest.raises(ValueError, match=f"^{parameter} must be"):
            fit(model(value))


def test_what_once_ended_the_process():
    """NaN in compiled code once walked out of its arrays."""
    with pytest.raises(ValueError, match=r"^X holds values beyond 1e\+75"):
        fit(paper_svm(), X * 1e250)
    with pytest.raises(ValueError, match=r"^X holds values beyond 1e\+75"):
        fit(paper_svm(kernel="quadratic"), X * 1e155)
    with pytest.raises(ValueError, match=r"^pure_weight must be"):
        fit(paper_svm(pure_weight=1e308))
    for standardize in (False, True):
        for scale in (1e60, 1e74):
            try:
                require_sense(fit(paper_svm(kernel="quadratic", standardize=standardize), X * scale), X * scale)
            except ValueError as error:
                assert not standardize and str(error).startswith("kernel ")


@pytest.mark.parametrize(
    "name",
    [
        "log-rank tree",
        "exponential tree",
        "gehan tree",
        "log-rank forest",
        "recommended svm",
        "recommended tree",
        "linear forest",
        "mixed forest",
        "tuned",
    ],
)
def test_units_of_covariates_and_times_do_not_matter(name):
    """Powers of two, so that nothing is rounded; these models scale what they measure distances in."""
    wanted = fit(MODELS[name])
    for scale in (2.0**-240, 2.0**240):
        scaled = fit(MODELS[name], X * scale, TIME * scale)
        np.testing.assert_array_equal(scaled.predict(X * scale), wanted.predict(X))


def test_scores_of_gaussian_surfaces_on_large_covariates():
    """At the edge of what is allowed they are those of the same rows in other units."""
    ours, theirs = (
        fit(paper_svm(standardize=True), X * scale).decision_function(X * scale) for scale in (1.0, 2.0**240)
    )
    np.testing.assert_allclose(theirs, ours, rtol=1e-6)


def test_large_weights_are_counts():
    """A thousand million rows in the place of each give the tree of one in the place of each, grown without limits."""
    trees = [
        fit(paper_tree(kernel="linear", max_depth=1, min_samples_split=2), weight=np.full(N, weight))
        for weight in (1.0, 1e9)
    ]
    small, large = (tree.apply(X) for tree in trees)
    assert (small == large).mean() > 0.9
