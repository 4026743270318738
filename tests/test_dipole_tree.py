"""The dipole tree: the paper's example, scikit-learn's checks, weights, options, and inputs that nobody wants."""

import pickle
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dipolar import DipoleSurvivalTree, survival_outcome
from dipolar.datasets import load_mgus, load_remission, load_whas500
from dipolar.kernels import PrecomputedKernel
from dipolar.simulation import simulate
from dipolar.survival import check_outcome
from tests.growing import split_logrank
from tests.models import paper_svm, paper_tree


@parametrize_with_checks(
    [
        paper_tree(),
        paper_tree(kernel="linear", standardize=True, dipole_scope="node", min_samples_split=5),
        paper_tree(kernel="quadratic", cut="logrank", pruning="bootstrap", n_bootstraps=2),
    ]
)
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def whas500():
    X, y = load_whas500(return_X_y=True)
    return X, y


# The paper's table of medians in the leaves, from left to right. The quadratic tree splits its last node, of median
# 8, once more: its log-rank statistic is far above the price of a split.
REMISSION_MEDIANS = {
    "linear": [24.25, 22, 11.5, 6],
    "quadratic": [26, 23, 11.5, 8, 2],
    "rbf": [24.25, 23, 10, 3],
}


def remission_tree(kernel, **changes):
    """The authors' settings."""
    parameters = {
        "kernel": kernel,
        "kappa": np.exp(3),
        "sigma2": 1.0,
        "pure_quantile": 0.15,
        "mixed_quantile": 0.55,
        "cutoff_rule": "scripts",
        "margin_quantile": 0.10,
        "init": "quartile",
        "min_samples_split": 11,
        "pruning": "fixed",
        "alpha": 2.2,
    }
    X, y = load_remission(return_X_y=True)
    return paper_tree(**(parameters | changes)).fit(X[["TR", "logWBC"]], y)


def leaf_medians(tree):
    """Medians of the leaves from left to right."""
    frame = tree.node_frame(unreached="mean")
    medians, waiting = [], [0]
    while waiting:
        node = frame.loc[waiting.pop()]
        if node.is_leaf:
            medians.append(node["median"])
        else:
            waiting += [node.right, node.left]
    return medians


@pytest.mark.parametrize("kernel", REMISSION_MEDIANS)
def test_remission_medians_are_the_paper_s(kernel):
    assert leaf_medians(remission_tree(kernel)) == REMISSION_MEDIANS[kernel]


@pytest.mark.parametrize("kernel", REMISSION_MEDIANS)
def test_remission_tree_does_not_depend_on_how_precisely_it_is_solved(kernel):
    """Rows on the surface and ties of scores are decided by rule; what a solver leaves uncertain decides nothing."""
    expected = remission_tree(kernel).node_frame()
    for solver_tol in (1e-5, 1e-8):
        assert remission_tree(kernel, solver_tol=solver_tol).node_frame()["n"].equals(expected["n"])


def test_osqp_grows_the_same_tree():
    ours = remission_tree("linear").node_frame()
    theirs = remission_tree("linear", solver="osqp", solver_tol=1e-5).node_frame()
    assert ours["n"].equals(theirs["n"])


def test_root_split_is_the_dipole_svm_s(whas500):
    X, y = whas500
    svm = paper_svm(kernel="quadratic", standardize=True).fit(X, y)
    tree = paper_tree(kernel="quadratic", standardize=True, max_depth=1).fit(X, y)
    assert tree.n_leaves_ == 2
    np.testing.assert_array_equal(tree.apply(X) == tree.tree_.left[0] + 1, svm.predict(X) == 1)
    np.testing.assert_allclose(tree.split_scores(X, node=0), svm.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf", "laplacian"])
def test_weight_two_is_the_row_twice(kernel, whas500):
    X, y = whas500
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    repeated = np.repeat(np.arange(len(X)), weight)
    tree = paper_tree(kernel=kernel, standardize=True, max_depth=3, pruning="fixed")
    weighted = clone(tree).fit(X, y, sample_weight=weight)
    twice = clone(tree).fit(X.iloc[repeated], y[repeated])
    assert weighted.node_frame().equals(twice.node_frame())
    np.testing.assert_array_equal(weighted.predict(X), twice.predict(X))


def test_order_of_rows_does_not_matter(whas500):
    X, y = whas500
    shuffled = np.random.default_rng(1).permutation(len(X))
    tree = paper_tree(kernel="rbf", standardize=True, max_depth=3)
    a, b = clone(tree).fit(X, y), clone(tree).fit(X.iloc[shuffled], y[shuffled])
    np.testing.assert_array_equal(a.predict(X), b.predict(X))


def test_node_scope_grows_beyond_root_scope(whas500):
    """With the root's cut-offs a branch ends when its times are close; with its own it goes on."""
    X, y = whas500
    root = paper_tree(kernel="linear", standardize=True).fit(X, y)
    node = paper_tree(kernel="linear", standardize=True, dipole_scope="node").fit(X, y)
    assert node.n_leaves_ > root.n_leaves_ > 2


def test_logrank_threshold_is_at_least_as_good_at_the_root(whas500):
    X, y = whas500
    parameters = {"kernel": "linear", "standardize": True, "max_depth": 1}
    by_svm = paper_tree(**parameters).fit(X, y)
    by_logrank = paper_tree(**parameters, cut="logrank").fit(X, y)
    assert by_logrank.tree_.logrank[0] >= by_svm.tree_.logrank[0]
    # The same direction, another cut.
    np.testing.assert_allclose(by_logrank.tree_.splits.coefficient, by_svm.tree_.splits.coefficient)
    # And no cut along that direction is better.
    scores = by_svm.split_scores(X, node=0)
    survival = check_outcome(y)
    best = max(split_logrank(survival, np.ones(len(X)), scores <= cut) for cut in np.unique(scores)[:-1])
    assert by_logrank.tree_.logrank[0] == pytest.approx(best)


def test_oblique_and_all_positive_special_cases(whas500):
    """Large kappa: the ridge vanishes, and more of it changes nothing. All-positive: one solve per node."""
    X, y = whas500
    oblique = [
        paper_tree(kernel="linear", standardize=True, kappa=kappa, max_depth=2).fit(X, y).predict(X)
        for kappa in (1e5, 1e6)
    ]
    np.testing.assert_array_equal(*oblique)
    positive = paper_tree(kernel="linear", init="positive", max_reorientations=0, max_depth=1).fit(X, y)
    svm = paper_svm(kernel="linear", init="positive", max_reorientations=0).fit(X, y)
    assert svm.n_reorientations_ == 0
    assert len(svm.criterion_path_) == 1
    np.testing.assert_array_equal(positive.apply(X) == 1, svm.predict(X) == 0)


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf"])
def test_saved_and_pickled_trees_predict_the_same_and_are_small(kernel, tmp_path):
    data = simulate("planar-4", 4000, random_state=0)
    tree = paper_tree(kernel=kernel, max_rank=50).fit(data.X, data.y)
    path = tmp_path / "tree.dipolar"
    tree.save(path)
    for copy in (DipoleSurvivalTree.load(path), pickle.loads(pickle.dumps(tree))):
        np.testing.assert_array_equal(copy.predict(data.X), tree.predict(data.X))
        assert repr(copy) == repr(tree)
    assert path.stat().st_size < 1_000_000
    assert len(pickle.dumps(tree)) < 1_000_000
    assert tree.n_leaves_ > 3


def test_a_function_of_the_user_s_own_as_kernel(whas500, tmp_path):
    X, y = whas500
    named = paper_tree(kernel="linear", standardize=True, max_depth=2).fit(X, y)
    own = paper_tree(kernel=dot_product, standardize=True, max_depth=2).fit(X, y)
    np.testing.assert_array_equal(named.apply(X), own.apply(X))
    with pytest.raises(ValueError, match=r"kernel=.*dot_product.* cannot be saved: .* Use pickle"):
        own.save(tmp_path / "tree.dipolar")
    assert not list(tmp_path.iterdir())


def dot_product(A, B):
    return A @ B.T


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_bootstrap_gives_the_same_tree_for_any_number_of_workers(n_jobs, whas500):
    X, y = whas500
    tree = paper_tree(
        kernel="linear", standardize=True, pruning="bootstrap", n_bootstraps=4, random_state=0, n_jobs=n_jobs
    ).fit(X, y)
    serial = clone(tree).set_params(n_jobs=None).fit(X, y)
    assert tree.node_frame().equals(serial.node_frame())
    np.testing.assert_array_equal(tree.pruning_path_.alphas, serial.pruning_path_.alphas)
    assert tree.n_leaves_ <= tree.grown_.n_leaves


def test_it_works_where_scikit_learn_does(whas500):
    X, y = whas500
    pipeline = make_pipeline(StandardScaler(), paper_tree(kernel="linear", max_depth=2))
    search = GridSearchCV(pipeline, {"dipolesurvivaltree__svm__kappa": [1e-3, 1.0]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.6
    assert cross_validate(pipeline, X, y, cv=3)["test_score"].min() > 0.5


def test_missing_values_are_refused_with_the_way_out():
    X, y = load_mgus(return_X_y=True)
    with pytest.raises(ValueError, match=r"X contains NaN: hgb \(1\)\. Fill them.*CovariateEncoder"):
        paper_tree().fit(X, y)


def test_what_did_not_converge_is_told_and_not_split(monkeypatch, whas500):
    X, y = whas500
    monkeypatch.setattr("dipolar.node_svm.solvers.MAX_OSQP_STEPS", 20)
    with pytest.warns(ConvergenceWarning, match=r"1 nodes of the tree were not split because their problem"):
        tree = paper_tree(kernel="linear", standardize=True, max_depth=2, solver="osqp").fit(X, y)
    assert tree.n_unconverged_ == 1
    assert tree.n_leaves_ == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "precomputed"}, "kernel='precomputed' is not for trees.*function"),
        ({"kernel": PrecomputedKernel()}, "kernel='precomputed' is not for trees.*function"),
        ({"kernel": "cubic"}, "kernel must be one of .* got 'cubic'"),
        ({"kappa": 0}, r"kappa must be a number >= 1e-20 and <= 1e\+20, got 0"),
        ({"dipole_scope": "leaf"}, "dipole_scope must be one of .'node', 'root'., got 'leaf'"),
        ({"cut": 0.5}, "cut must be one of .'svm', 'logrank'., got 0.5"),
        ({"margin": -1.0}, r"margin must be a number >= 1e-75 and <= 1e\+75, got -1.0"),
        ({"margin": "wide"}, r"margin must be a number >= 1e-75 and <= 1e\+75, got 'wide'"),
        ({"init": "random"}, "init must be one of"),
        ({"max_rank": 0}, "max_rank must be an integer >= 1, got 0"),
        ({"sigma2": 0.0, "kernel": "rbf"}, "sigma2 must be a number"),
        ({"max_terms": 0}, "max_terms must be an integer >= 1, got 0. None lets splits use all covariates"),
        ({"max_terms": 2.5}, "max_terms must be an integer >= 1, got 2.5"),
        ({"inherit": -1.0}, "inherit must be a number >= 0 and <= 1e\\+06, got -1.0"),
    ],
)
def test_bad_parameters_are_named(parameters, message, whas500):
    with pytest.raises(ValueError, match=message):
        paper_tree(**parameters).fit(*whas500)


@st.composite
def ugly_data(draw):
    """Constant columns, duplicates, one event, tied times, huge and tiny scales, p > n, odd dtypes and layouts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.sampled_from([1, 2, 3, 8, 25, 40])), draw(st.sampled_from([1, 2, 5, 30]))
    X = rng.normal(size=(n, p)) * 10.0 ** draw(st.sampled_from([-9, -3, 0, 0, 3, 6]))
    if draw(st.booleans()):
        X[:, 0] = X[0, 0]
    if draw(st.booleans()):
        X = X[rng.integers(0, max(1, n // 3), n)]
    if draw(st.booleans()):
        X[:, -1] *= 1e6
    kind = draw(st.sampled_from(["float", "fortran", "integer", "bool", "readonly", "float32"]))
    if kind == "fortran":
        X = np.asfortranarray(X)
    if kind == "integer":
        X = np.round(np.clip(X, -1e6, 1e6)).astype(int)
    if kind == "bool":
        X = X > 0
    if kind == "float32":
        X = X.astype(np.float32)
    time = rng.choice(
        draw(st.sampled_from([(1.0,), (0.0, 1.0), (1.0, 2.0, 3.0, 50.0), tuple(rng.exponential(size=9))])), n
    )
    event = rng.random(n) < draw(st.sampled_from([0.1, 0.5, 1.0]))
    event[rng.integers(n)] = True
    if kind == "readonly":
        X.setflags(write=False)
    return X, survival_outcome(time * 10.0 ** draw(st.sampled_from([-6, 0, 6])), event)


@settings(max_examples=1000)
@given(
    ugly_data(),
    st.sampled_from(["linear", "quadratic", "rbf", "laplacian", "polynomial"]),
    st.sampled_from(["root", "node"]),
    st.sampled_from(["svm", "logrank"]),
    st.sampled_from(["text", "scripts"]),
    st.sampled_from(["hazard", "median", "quartile"]),
    st.sampled_from([1e-4, 1.0, 1e4]),
    st.booleans(),
    st.sampled_from([0.0, 5.0]),
)
def test_a_valid_tree_whatever_comes(data, kernel, scope, cut, rule, init, kappa, standardize, inherit):
    X, y = data
    tree = paper_tree(
        kernel=kernel,
        kappa=kappa,
        dipole_scope=scope,
        cut=cut,
        cutoff_rule=rule,
        init=init,
        standardize=standardize,
        inherit=inherit,
        min_samples_split=4,
        max_depth=4,
        pruning="fixed",
        alpha=1.0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        tree.fit(X, y)
    frame = tree.node_frame()
    leaves = frame[frame["is_leaf"]]
    assert leaves["n"].sum() == len(X)
    assert leaves["events"].sum() == y["event"].sum()
    assert (leaves["n"] >= 1).all()
    # Rows find the leaves that they grew.
    sizes = np.bincount(tree.apply(X), minlength=len(frame))
    np.testing.assert_array_equal(sizes[leaves.index], leaves["n"])
    assert np.isfinite(tree.predict(X)).all()
    curves = tree.predict_survival_function(X, return_array=True)
    assert ((curves >= 0) & (curves <= 1)).all()
    assert (np.diff(curves, axis=1) <= 0).all()
    assert not np.isnan(tree.predict_median(X)).any()
    # Unseen rows as well, far away ones included.
    assert np.isfinite(tree.predict(np.asarray(X, dtype=float)[::-1] * 3 + 1)).all()
