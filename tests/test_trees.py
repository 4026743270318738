"""The log-rank tree as an estimator: scikit-learn's checks, scikit-survival's trees, ugly inputs."""

import subprocess
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.inspection import partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from dipolar import DipoleSurvivalTree, LogRankSurvivalTree, SurvivalTreeCV, survival_outcome
from dipolar.curves import kaplan_meier, life_table
from dipolar.datasets import load_remission
from dipolar.survival import Survival
from tests.growing import split_logrank

# The limits of scikit-survival.
CLASSIC = {"max_depth": None, "min_samples_leaf": 3, "min_samples_split": 6}

CRITERIA = ["logrank", "gehan", "tarone-ware", "fleming-harrington", "exponential"]


def generated(n=300, p=4, seed=0):
    """Covariates that float32 holds exactly, as scikit-survival stores them."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)).astype(np.float32).astype(float)
    time = rng.exponential(np.exp(-X[:, 0] - 0.5 * X[:, 1] ** 2))
    censoring = rng.exponential(2.0, size=n)
    return X, survival_outcome(np.minimum(time, censoring), time <= censoring)


def whas500():
    datasets = pytest.importorskip("sksurv.datasets")
    X, y = datasets.load_whas500()
    return X.astype(np.float32).to_numpy().astype(float), survival_outcome(y["lenfol"], y["fstat"])


@pytest.fixture(scope="module")
def fitted():
    X, y = generated()
    return LogRankSurvivalTree(max_depth=4, min_samples_leaf=10).fit(X, y), X, y


@parametrize_with_checks(
    [
        LogRankSurvivalTree(),
        LogRankSurvivalTree(criterion="exponential", max_leaf_nodes=4, max_features="sqrt"),
        LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=2),
    ]
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


class TestAgainstScikitSurvival:
    LIMITS = (
        {"max_depth": 3, "min_samples_leaf": 10},
        {"min_samples_leaf": 20, "min_samples_split": 40},
        {"max_leaf_nodes": 8},
    )

    @pytest.mark.parametrize("data", [generated, whas500])
    @pytest.mark.parametrize("limits", LIMITS)
    def test_same_leaves_risks_and_curves(self, data, limits):
        sksurv_tree = pytest.importorskip("sksurv.tree")
        X, y = data()
        mine = LogRankSurvivalTree(**CLASSIC | limits).fit(X, y)
        theirs = sksurv_tree.SurvivalTree(**limits, random_state=0).fit(X, y)
        pairs = set(zip(mine.apply(X), theirs.tree_.apply(X.astype(np.float32))))
        assert len(pairs) == mine.n_leaves_ == theirs.tree_.n_leaves
        np.testing.assert_allclose(mine.predict(X), theirs.predict(X), rtol=1e-9)
        np.testing.assert_array_equal(mine.unique_times_, theirs.unique_times_)
        for method in ("predict_survival_function", "predict_cumulative_hazard_function"):
            np.testing.assert_allclose(
                getattr(mine, method)(X, return_array=True),
                getattr(theirs, method)(X, return_array=True),
                atol=1e-12,
            )
        assert mine.score(X, y) == pytest.approx(theirs.score(X, y), rel=1e-12)

    def test_same_root_split(self):
        sksurv_tree = pytest.importorskip("sksurv.tree")
        for seed in range(5):
            X, y = generated(seed=seed)
            mine = LogRankSurvivalTree(max_depth=1, min_samples_leaf=3).fit(X, y)
            theirs = sksurv_tree.SurvivalTree(max_depth=1).fit(X, y)
            assert mine.tree_.splits.feature[0] == theirs.tree_.feature[0]
            assert mine.tree_.splits.threshold[0] == pytest.approx(theirs.tree_.threshold[0], rel=1e-12)

    @pytest.mark.parametrize("data", [generated, whas500])
    def test_every_split_of_a_whole_tree_is_as_good_as_ours(self, data):
        # In small nodes several cuts tie, and either is right: compare the statistics node by node.
        sksurv_tree = pytest.importorskip("sksurv.tree")
        X, y = data()
        theirs = sksurv_tree.SurvivalTree(random_state=0).fit(X, y).tree_
        paths = theirs.decision_path(X.astype(np.float32)).toarray().astype(bool)
        for node in np.flatnonzero(theirs.children_left >= 0):
            rows = np.flatnonzero(paths[:, node])
            if not y["event"][rows].any():
                continue
            left = paths[rows, theirs.children_left[node]]
            their_statistic = split_logrank(Survival(y["time"][rows], y["event"][rows]), np.ones(len(rows)), left)
            ours = LogRankSurvivalTree(**CLASSIC | {"max_depth": 1}).fit(X[rows], y[rows]).tree_
            assert ours.logrank[0] == pytest.approx(their_statistic, rel=1e-9, abs=1e-9)


class TestSampleWeight:
    @pytest.mark.parametrize("criterion", CRITERIA)
    def test_two_is_the_row_twice(self, criterion):
        X, y = generated(200)
        y["time"] = np.round(y["time"], 1)
        X[::11, 1] = np.nan
        weight = np.random.default_rng(0).integers(0, 4, len(X))
        rows = np.repeat(np.arange(len(X)), weight)
        tree = LogRankSurvivalTree(criterion=criterion, min_samples_leaf=5, min_events_leaf=2)
        weighted = clone(tree).fit(X, y, sample_weight=weight)
        repeated = clone(tree).fit(X[rows], y[rows])
        for name, values in weighted.tree_.to_arrays().items():
            np.testing.assert_allclose(values, repeated.tree_.to_arrays()[name], rtol=1e-9, err_msg=name)
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)
        assert weighted.score(X, y, weight) == pytest.approx(repeated.score(X[rows], y[rows]))

    def test_also_after_the_bootstrap(self):
        X, y = generated(150)
        weight = np.random.default_rng(1).integers(1, 3, len(X))
        rows = np.repeat(np.arange(len(X)), weight)
        tree = LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=4, random_state=0)
        weighted, repeated = clone(tree).fit(X, y, weight), clone(tree).fit(X[rows], y[rows])
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)

    def test_fractions_are_weights_too(self):
        X, y = generated(200)
        weight = np.random.default_rng(2).random(len(X)) + 0.1
        tree = LogRankSurvivalTree(max_depth=3).fit(X, y, weight)
        assert tree.tree_.n_samples[0] == pytest.approx(weight.sum())
        assert np.isfinite(tree.predict(X)).all()


class TestPrediction:
    def test_curves_are_those_of_the_leaves(self, fitted):
        tree, X, y = fitted
        leaf = tree.apply(X)
        functions = tree.predict_survival_function(X)
        table = tree.predict_survival_function(X, return_array=True)
        medians = tree.predict_median(X, unreached="mean")
        means = tree.predict_rmst(X, horizon=1.5)
        for node in np.unique(leaf):
            rows = np.flatnonzero(leaf == node)
            own = y[rows]
            expected = kaplan_meier(own["time"], own["event"])
            np.testing.assert_array_equal(functions[rows[0]].x, np.unique(own["time"][own["event"]]))
            np.testing.assert_allclose(functions[rows[0]](tree.unique_times_), expected(tree.unique_times_))
            np.testing.assert_allclose(table[rows[-1]], expected(tree.unique_times_))
            summary = life_table(own["time"], own["event"])
            assert medians[rows[0]] == pytest.approx(summary.median("mean"))
            assert means[rows[0]] == pytest.approx(summary.rmst(1.5))

    def test_risk_is_the_summed_hazard(self, fitted):
        tree, X, y = fitted
        hazard = tree.predict_cumulative_hazard_function(X, return_array=True)
        is_event_time = np.isin(tree.unique_times_, y["time"][y["event"]])
        np.testing.assert_allclose(tree.predict(X), hazard[:, is_event_time].sum(axis=1))

    def test_arrays_are_survival_curves(self, fitted):
        tree, X, _ = fitted
        survival = tree.predict_survival_function(X, return_array=True)
        assert ((survival >= 0) & (survival <= 1)).all() and (np.diff(survival, axis=1) <= 0).all()
        hazard = tree.predict_cumulative_hazard_function(X, return_array=True)
        assert np.isfinite(hazard).all() and (np.diff(hazard, axis=1) >= 0).all()

    def test_quantiles_ascend(self, fitted):
        tree, X, _ = fitted
        quantiles = [tree.predict_quantile(X, q) for q in (0.1, 0.25, 0.5, 0.75)]
        assert all((low <= high).all() for low, high in pairwise(quantiles))

    def test_paths_scores_and_leaves_agree(self, fitted):
        tree, X, _ = fitted
        record = tree.tree_
        path = tree.decision_path(X).toarray()
        scores = tree.split_scores(X)
        splits = np.flatnonzero(record.is_split)
        assert scores.shape == (len(X), len(splits))
        for column, node in enumerate(splits):
            here = path[:, node]
            np.testing.assert_array_equal(scores[:, column], tree.split_scores(X, node))
            np.testing.assert_array_equal(scores[here, column] <= 0, path[here, record.left[node]])
        assert path[np.arange(len(X)), tree.apply(X)].all()
        np.testing.assert_array_equal(path.sum(axis=1), record.depth[tree.apply(X)] + 1)

    def test_missing_values_follow_the_learnt_side(self):
        X, y = generated(400, 2)
        X[X[:, 0] > 1, 0] = np.nan
        tree = LogRankSurvivalTree(max_depth=1).fit(X, y)
        assert tree.tree_.splits.feature[0] == 0 and not tree.tree_.splits.missing_left[0]
        tree = LogRankSurvivalTree(max_depth=1).fit(-X, y)
        assert tree.tree_.splits.missing_left[0]
        assert tree.apply([[np.nan, 0.0]]) == tree.tree_.left[0]
        assert tree.node_frame()["rule"][0].endswith("or missing")

    def test_missing_values_that_were_never_seen_follow_the_larger_child(self, fitted):
        tree, _, _ = fitted
        record = tree.tree_
        children = record.left[0], record.left[0] + 1
        larger = max(children, key=lambda node: record.n_samples[node])
        assert bool(record.splits.missing_left[0]) == (larger == children[0])
        assert "missing" not in tree.node_frame()["rule"][0]


class TestPruning:
    @pytest.mark.parametrize("rule", ["fixed", "validation", "bootstrap"])
    def test_every_rule_gives_a_member_of_the_path(self, rule):
        X, y = generated()
        tree = LogRankSurvivalTree(pruning=rule, n_bootstraps=5, random_state=0).fit(X, y)
        path = tree.pruning_path_
        assert tree.n_leaves_ == path.n_leaves[tree.member_] < tree.grown_.n_leaves
        if rule == "fixed":
            assert path.alphas[tree.member_] <= tree.alpha < path.alphas[tree.member_ + 1]
        else:
            worth = path.honest_statistics - tree.alpha * path.n_splits
            assert worth[tree.member_] == worth.max()
        assert tree.tree_.n_samples[0] == len(X)

    def test_prune_refits_nothing_and_leaves_the_original_alone(self, fitted):
        tree, X, _ = fitted
        before = tree.n_leaves_
        stump = tree.prune(1e9)
        assert stump.n_leaves_ == 1 and tree.n_leaves_ == before
        assert tree.prune(0.0).tree_ == tree.tree_
        assert len(np.unique(stump.predict(X))) == 1
        sizes = [tree.prune(alpha).n_leaves_ for alpha in tree.pruning_path_.alphas]
        np.testing.assert_array_equal(sizes, tree.pruning_path_.n_leaves)

    def test_prune_equals_fitting_with_that_price(self, fitted):
        tree, X, y = fitted
        direct = clone(tree).set_params(pruning="fixed", alpha=7.0).fit(X, y)
        assert direct.tree_ == tree.prune(7.0).tree_

    def test_workers_do_not_change_the_tree(self):
        X, y = generated()
        trees = [
            LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=4, max_features=2, n_jobs=n_jobs, random_state=3).fit(
                X, y
            )
            for n_jobs in (None, 2)
        ]
        assert trees[0].tree_ == trees[1].tree_
        np.testing.assert_array_equal(
            trees[0].pruning_path_.honest_statistics, trees[1].pruning_path_.honest_statistics
        )

    def test_progress_is_printed_on_request_only(self, capsys):
        X, y = generated(100)
        LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=2, verbose=1).fit(X, y)
        printed = capsys.readouterr().out
        assert "pruning: 2 of 2 bootstrap trees" in printed and "growing: " in printed
        LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=2).fit(X, y)
        assert capsys.readouterr().out == ""


def test_remission_medians_of_the_paper():
    # The univariate tree of the paper's Remission table: split above 10 rows, price 2.2 of half the statistic.
    X, y = load_remission(return_X_y=True)
    tree = LogRankSurvivalTree(min_samples_split=11, min_samples_leaf=1, pruning="fixed", alpha=4.4).fit(X, y)
    frame = tree.node_frame(unreached="mean")
    splits = frame[~frame["is_leaf"]]
    assert list(splits["rule"]) == ["logWBC <= 3.785", "logWBC <= 2.765", "TR <= 0.5", "logWBC <= 2.255"]

    def leaf(path):
        node = 0
        for side in path:
            node = frame["left" if side == "l" else "right"][node]
        return frame["median"][node]

    medians = {path: leaf(path) for path in ("llll", "lllr", "llr", "lr", "r")}
    assert medians == {"llll": 26.0, "lllr": 23.0, "llr": 12.0, "lr": 10.0, "r": 3.5}
    assert tree.n_leaves_ == 5


class TestScikitLearn:
    def test_pipeline_grid_search_and_cross_validation(self):
        X, y = generated()
        pipeline = make_pipeline(StandardScaler(), LogRankSurvivalTree())
        search = GridSearchCV(pipeline, {"logranksurvivaltree__max_depth": [1, 3]}, cv=3).fit(X, y)
        assert search.best_params_["logranksurvivaltree__max_depth"] == 3
        scores = cross_validate(LogRankSurvivalTree(max_depth=3), X, y, cv=3)["test_score"]
        assert (scores > 0.55).all()

    @pytest.mark.parametrize("library", ["pandas", "polars"])
    def test_data_frames(self, library, fitted):
        module = pytest.importorskip(library)
        tree, X, y = fitted
        names = ["age", "bmi", "dose", "weight"]
        frame = module.DataFrame({name: X[:, i] for i, name in enumerate(names)})
        outcome = module.DataFrame({"months": y["time"], "died": y["event"]})
        other = clone(tree).fit(frame, outcome)
        assert list(other.feature_names_in_) == names
        np.testing.assert_array_equal(other.predict(frame), tree.predict(X))
        assert other.node_frame()["rule"][0].split()[0] in names

    def test_node_frame(self, fitted):
        tree, _, y = fitted
        frame = tree.node_frame()
        assert list(frame.columns) == ["parent", "left", "right", "depth", "is_leaf", "n", "events", "median",
                                       "gain", "logrank", "rule"]  # fmt: skip
        assert isinstance(frame, pd.DataFrame) and len(frame) == tree.tree_.n_nodes
        assert frame["n"][0] == len(y) and frame["events"][0] == y["event"].sum()
        assert frame["median"][0] == life_table(y["time"], y["event"]).median()
        assert frame.loc[frame["is_leaf"], "n"].sum() == len(y)

    def test_importances(self, fitted):
        tree, X, y = fitted
        assert tree.feature_importances_.sum() == pytest.approx(1.0)
        assert tree.feature_importances_[0] == tree.feature_importances_.max()
        stump = LogRankSurvivalTree(min_logrank=1e9).fit(X, y)
        np.testing.assert_array_equal(stump.feature_importances_, np.zeros(4))

    def test_not_fitted(self):
        tree = LogRankSurvivalTree()
        for call in (
            tree.node_frame,
            lambda: tree.n_leaves_,
            lambda: tree.prune(1.0),
            lambda: tree.save("x"),
        ):
            with pytest.raises(NotFittedError):
                call()
        with pytest.raises(NotFittedError):
            tree.predict_rmst([[0.0]])

    def test_importing_compiles_nothing(self):
        code = (
            "import dipolar.tree.logrank_tree; from dipolar._core import logrank, pruning, partition; "
            "functions = [f for m in (logrank, pruning, partition) for f in vars(m).values()]; "
            "assert not any(f.signatures for f in functions if hasattr(f, 'signatures'))"
        )
        subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"criterion": "gini"}, "criterion must be one of .'logrank', .* got 'gini'"),
        ({"fleming_harrington": 1.0}, r"fleming_harrington must be a pair \(rho, gamma\), got 1.0"),
        ({"fleming_harrington": (1.0, -1.0)}, "fleming_harrington must be a number >= 0, got -1.0"),
        ({"max_depth": -1}, "max_depth must be an integer >= 0, got -1"),
        ({"max_depth": 2.5}, "max_depth must be an integer >= 0, got 2.5"),
        ({"max_leaf_nodes": 1}, "max_leaf_nodes must be an integer >= 2, got 1"),
        ({"min_samples_split": 1}, "min_samples_split must be a number >= 2, got 1"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a number >= 1, got 0"),
        ({"min_samples_leaf": True}, "min_samples_leaf must be a number >= 1, got True"),
        ({"min_events_leaf": -1}, "min_events_leaf must be a number >= 0, got -1"),
        ({"min_logrank": float("nan")}, "min_logrank must be a number >= 0, got nan"),
        ({"max_features": 9}, "max_features must be None, .* from 1 to 4 .* got 9"),
        ({"max_features": 1.5}, "max_features must be .* got 1.5"),
        ({"pruning": "cv"}, "pruning must be one of .None, 'fixed', .* got 'cv'"),
        ({"alpha": -1}, "alpha must be a number >= 0, got -1"),
        ({"n_bootstraps": 0}, "n_bootstraps must be an integer >= 1, got 0"),
        ({"validation_fraction": 1.0}, "validation_fraction must lie strictly between 0 and 1, got 1.0"),
    ],
)
def test_wrong_parameters_are_named(settings, message):
    X, y = generated(30)
    with pytest.raises(ValueError, match=message):
        LogRankSurvivalTree(**settings).fit(X, y)


def test_wrong_arguments_are_named(fitted):
    tree, X, y = fitted
    with pytest.raises(ValueError, match=r"q must lie strictly between 0 and 1, got 1.5"):
        tree.predict_quantile(X, 1.5)
    with pytest.raises(ValueError, match="unreached must be one of"):
        tree.predict_median(X, "never")
    with pytest.raises(ValueError, match="horizon must be a number >= 0, got -1"):
        tree.predict_rmst(X, -1)
    with pytest.raises(ValueError, match="node must be a node that is split, got 999"):
        tree.split_scores(X, 999)
    with pytest.raises(ValueError, match="no comparable pair among its 2 rows"):
        tree.score(X[:2], survival_outcome([1.0, 1.0], [1, 1]))
    with pytest.raises(ValueError, match=r"risk should have shape \(2,\), one value per row of y"):
        tree.score(X[:3], y[:2])
    with pytest.raises(ValueError, match="leaves none to grow the tree"):
        LogRankSurvivalTree(pruning="validation").fit(X[:1], y["time"][:1])


@st.composite
def ugly(draw):
    """Inputs that break trees: constant columns, duplicate rows, ties, extreme scales, odd dtypes."""
    n, p = draw(st.integers(1, 14)), draw(st.integers(1, 20))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    X = rng.integers(0, draw(st.sampled_from([1, 2, 4, 1000])) + 1, size=(n, p)).astype(float)
    X *= draw(st.sampled_from([1.0, 1e-300, 5e-324, 1e70, -1e15]))
    X[:, 0] = draw(st.sampled_from([0.0, 1.0, 1e75]))
    X = X[rng.integers(0, n, n)]
    dtype = draw(st.sampled_from(["float64", "float32", "int64", "int8", "bool"]))
    with np.errstate(all="ignore"):
        X = np.nan_to_num(X.astype(dtype), posinf=1e30, neginf=-1e30) if dtype == "float32" else X.astype(dtype)
    if dtype == "float64" and draw(st.booleans()):
        X[rng.random(X.shape) < 0.3] = np.nan
    time = rng.integers(0, draw(st.sampled_from([1, 3, 50])), n) * draw(st.sampled_from([1.0, 1e-300, 1e95]))
    event = rng.random(n) < draw(st.sampled_from([0.1, 0.5, 1.0]))
    event[rng.integers(n)] = True
    X = np.asfortranarray(X) if draw(st.booleans()) else X
    X.flags.writeable = draw(st.booleans())
    return X, survival_outcome(time, event)


@settings(max_examples=1000)
@given(
    ugly(),
    st.sampled_from(CRITERIA),
    st.sampled_from([None, "fixed", "bootstrap"]),
    st.integers(1, 3),
    st.sampled_from([None, 3]),
)
def test_ugly_inputs_give_a_valid_tree(data, criterion, pruning, min_leaf, max_leaf_nodes):
    X, y = data
    tree = LogRankSurvivalTree(
        criterion=criterion, pruning=pruning, n_bootstraps=2, min_samples_leaf=min_leaf, min_samples_split=2,
        max_leaf_nodes=max_leaf_nodes, random_state=0,
    ).fit(X, y)  # fmt: skip
    tree.tree_.check(X.shape[1])
    assert np.isfinite(tree.predict(X)).all()
    assert np.isfinite(tree.predict_rmst(X)).all()
    assert not np.isnan(tree.predict_median(X)).any()
    survival = tree.predict_survival_function(X, return_array=True)
    assert ((survival >= 0) & (survival <= 1)).all() and (np.diff(survival, axis=1) <= 0).all()
    leaf, counts = np.unique(tree.apply(X), return_counts=True)
    np.testing.assert_array_equal(leaf, tree.tree_.leaves)
    np.testing.assert_array_equal(counts, tree.tree_.n_samples[leaf])


@pytest.mark.parametrize("model", [LogRankSurvivalTree(), DipoleSurvivalTree(), SurvivalTreeCV(cv=2, random_state=0)])
def test_partial_dependence_and_permutation_importance(model):
    """scikit-learn's own, which want a model that predicts numbers."""
    X, y = generated()
    model = clone(model).fit(X, y)
    curve = partial_dependence(model, X, [0], grid_resolution=5, kind="average")["average"][0]
    assert curve[-1] > curve[0]  # the higher, the earlier
    assert permutation_importance(model, X, y, n_repeats=2, random_state=0).importances_mean.argmax() == 0
