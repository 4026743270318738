"""Forests as estimators: scikit-learn's checks and tools, seeds and workers, weights, files, summaries, ugly inputs."""

import json
import pickle
import zipfile

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.inspection import PartialDependenceDisplay, partial_dependence, permutation_importance
from sklearn.model_selection import GridSearchCV, cross_validate

from dipolar import DipoleSurvivalForest, DipoleSurvivalTree, DipoleSVM, LogRankSurvivalForest, LogRankSurvivalTree
from dipolar.curves import kaplan_meier
from dipolar.datasets import load_whas500
from dipolar.metrics import concordance_index, get_scorer, scorers
from dipolar.plotting import plot_tree
from dipolar.tree.export import export_text
from tests.models import forest_of
from tests.test_forest_ensemble import generated

SMALL = {"n_estimators": 6, "min_samples_leaf": 5, "min_samples_split": 10, "random_state": 0}
BOTH = [LogRankSurvivalForest(**SMALL), forest_of(**SMALL)]
ids = lambda forest: type(forest).__name__  # noqa: E731


@pytest.fixture(scope="module")
def whas500():
    return load_whas500(return_X_y=True)


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_the_number_of_workers_and_the_order_of_rows_do_not_matter(forest):
    X, y = generated()
    alone = clone(forest).fit(X, y)
    assert alone.forest_ == clone(forest).set_params(n_jobs=2).fit(X, y).forest_
    shuffled = np.random.default_rng(0).permutation(len(X))
    assert alone.forest_ == clone(forest).fit(X[shuffled], y[shuffled]).forest_
    assert alone.forest_ != clone(forest).set_params(random_state=1).fit(X, y).forest_
    np.testing.assert_array_equal(alone.predict(X), alone.set_params(n_jobs=2).predict(X))


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_weight_two_is_the_row_twice_and_weight_zero_no_row(forest):
    X, y = generated()
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    repeated = np.repeat(np.arange(len(X)), weight)
    weighted, unweighted = clone(forest).fit(X, y, weight), clone(forest).fit(X[repeated], y[repeated])
    assert weighted.forest_ == unweighted.forest_


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_a_warm_start_adds_the_trees_that_one_fit_would_have_grown(forest):
    X, y = generated()
    whole = clone(forest).fit(X, y)
    grown = clone(forest).set_params(n_estimators=2, warm_start=True, oob_score=False).fit(X, y)
    first = grown.forest_.trees[0]
    grown.set_params(n_estimators=6).fit(X, y)
    assert grown.forest_ == whole.forest_ and grown.forest_.trees[0] is first
    with pytest.raises(ValueError, match="n_estimators must be at least 6 with warm_start=True"):
        grown.set_params(n_estimators=5).fit(X, y)
    with pytest.raises(ValueError, match="differ from those of the first fit"):
        grown.set_params(n_estimators=8).fit(X + 1.0, y)


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_limits_are_kept(forest):
    X, y = generated()
    limits = {"max_depth": 3, "max_leaf_nodes": 5, "min_samples_leaf": 9, "min_events_leaf": 4, "min_logrank": 1.0}
    for tree in clone(forest).set_params(**limits).fit(X, y).forest_.trees:
        assert tree.max_depth <= 3 and tree.n_leaves <= 5
        assert tree.n_samples[tree.leaves].min() >= 9 and tree.n_events[tree.leaves].min() >= 4
        assert (tree.logrank[tree.is_split] >= 1.0).all()
    assert all(
        t.n_leaves == 2 for t in clone(forest).set_params(max_leaf_nodes=2, min_logrank=0).fit(X, y).forest_.trees
    )


def test_samples_are_as_large_as_asked_for():
    X, y = generated()

    def sizes(**settings):
        return {tree.n_samples[0] for tree in LogRankSurvivalForest(**SMALL, **settings).fit(X, y).forest_.trees}

    assert sizes() == {120}
    assert sizes(max_samples=0.5) == sizes(max_samples=60) == {60}
    assert sizes(bootstrap=False) == {76}
    assert sizes(bootstrap=False, max_samples=1.0) == {120}


@pytest.mark.filterwarnings("ignore::dipolar.metrics.TruncationWarning")
@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_scores_and_searches_take_forests(forest, whas500):
    X, y = whas500
    found = cross_validate(clone(forest), X, y, cv=3, scoring=scorers("concordance", "concordance_ipcw", "neg_ibs"))
    assert found["test_concordance"].mean() > 0.65
    fitted = clone(forest).fit(X, y)
    assert fitted.score(X, y) == concordance_index(y, fitted.predict(X))
    # The censoring distribution is that of the training rows, which a forest knows.
    some = X.iloc[:150], y[:150]
    assert get_scorer("neg_ibs")(fitted, *some) == pytest.approx(get_scorer("neg_ibs", y_train=y)(fitted, *some))
    search = GridSearchCV(clone(forest), {"min_samples_leaf": [5, 100]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.6


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_partial_dependence_through_scikit_learn(forest, whas500):
    X, y = whas500
    X = X.astype(float)
    forest = clone(forest).fit(X, y)
    assert is_regressor(forest)
    result = partial_dependence(forest, X, ["bmi"], grid_resolution=5, kind="average")
    told = X.copy()
    told["bmi"] = result["grid_values"][0][2]
    assert result["average"][0, 2] == pytest.approx(forest.predict(told).mean())
    display = PartialDependenceDisplay.from_estimator(forest, X, ["bmi", ("bmi", "hr")], grid_resolution=4)
    assert len(display.axes_.ravel()) == 2
    assert permutation_importance(forest, X, y, n_repeats=1).importances_mean[X.columns.get_loc("chf")] > 0


def test_missing_values_are_learnt_by_cuts_and_refused_by_surfaces():
    X, y = generated()
    X[::3, 0] = np.nan
    forest = LogRankSurvivalForest(**SMALL).fit(X, y)
    assert any(tree.splits.missing_seen.any() for tree in forest.forest_.trees)
    assert np.isfinite(forest.predict(X)).all()
    assert np.isfinite(forest.importance(X, y, kind="negate").importances).all()
    with pytest.raises(ValueError, match="X contains NaN: column 0"):
        forest_of(**SMALL).fit(X, y)


# Files.


@pytest.fixture(scope="module", params=["logrank", "dipole", "kernels"])
def named(request):
    X, y = generated()
    frame = pd.DataFrame(X, columns=["age", "bmi", "höhe", "x"])
    forest = {
        "logrank": LogRankSurvivalForest(**SMALL, time_grid=[1.0, 5.0, 20.0]),
        "dipole": forest_of(**SMALL),
        "kernels": forest_of(**SMALL, kernel=("linear", "quadratic", "rbf")),
    }[request.param]
    return forest.fit(frame, y), frame, y


def sequences_as_tuples(model):
    return {name: tuple(value) for name, value in model.get_params(deep=False).items() if isinstance(value, list)}


def test_a_loaded_forest_is_the_saved_one(named, tmp_path):
    forest, X, y = named
    forest.save(tmp_path / "forest")
    loaded = type(forest).load(tmp_path / "forest")
    assert loaded.forest_ == forest.forest_
    # Machines are equal when they look so, and sequences come back as tuples.
    assert repr(loaded) == repr(clone(forest).set_params(**sequences_as_tuples(forest)))
    assert list(loaded.feature_names_in_) == ["age", "bmi", "höhe", "x"]
    np.testing.assert_array_equal(loaded.predict(X), forest.predict(X))
    np.testing.assert_array_equal(
        loaded.predict_survival_function(X, return_array=True), forest.predict_survival_function(X, return_array=True)
    )
    np.testing.assert_array_equal(
        loaded.importance(X, y, random_state=0).importances, forest.importance(X, y, random_state=0).importances
    )
    grown = loaded.set_params(warm_start=True, n_estimators=8).fit(X, y)
    assert grown.forest_.trees[:6] == forest.forest_.trees and len(grown.forest_) == 8


def test_files_of_other_models_and_damaged_ones_are_refused(named, tmp_path):
    forest, _, _ = named
    path = tmp_path / "forest"
    forest.save(path)
    other = DipoleSurvivalForest if isinstance(forest, LogRankSurvivalForest) else LogRankSurvivalForest
    with pytest.raises(ValueError, match=f"holds a '{type(forest).__name__}'"):
        other.load(path)
    data = path.read_bytes()
    for size in (0, 100, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        with pytest.raises(ValueError, match="not a complete saved dipolar"):
            type(forest).load(path)


@pytest.mark.parametrize("name", ["left", "length.left", "splits.column", "splits.offset", "all.offset", "times"])
def test_arrays_that_form_no_forest_are_refused(name, tmp_path):
    X, y = generated()
    path = tmp_path / "forest"
    forest_of(**SMALL).fit(X, y).save(path)
    with zipfile.ZipFile(path) as archive:
        entries = {entry: archive.read(entry) for entry in archive.namelist()}
    with zipfile.ZipFile(path) as archive, archive.open(f"arrays/{name}.npy") as stream:
        values = np.lib.format.read_array(stream)
    values = values.copy()
    values[len(values) // 2] += 1000
    with zipfile.ZipFile(path, "w") as archive:
        for entry, content in entries.items():
            if entry != f"arrays/{name}.npy":
                archive.writestr(entry, content)
        with archive.open(f"arrays/{name}.npy", "w") as stream:
            np.lib.format.write_array(stream, values)
    with pytest.raises(ValueError, match="not a complete saved dipolar"):
        DipoleSurvivalForest.load(path)


def test_a_file_says_what_wrote_it(tmp_path):
    X, y = generated()
    LogRankSurvivalForest(**SMALL).fit(X, y).save(tmp_path / "forest")
    with zipfile.ZipFile(tmp_path / "forest") as archive:
        header = json.loads(archive.read("header.json"))
    assert header["estimator"] == "LogRankSurvivalForest" and header["version"] == 1


def test_pickles_are_small_and_memory_grows_with_leaves():
    X, y = generated(800)
    y["time"] = np.random.default_rng(0).permutation(800)  # as many distinct times as there can be
    limits = {"min_samples_leaf": 3, "min_samples_split": 6, "min_logrank": 0.0}
    forest = LogRankSurvivalForest(n_estimators=10, random_state=0, **limits).fit(X, y)
    forest.predict_survival_function(X)
    n_leaves = sum(tree.n_leaves for tree in forest.forest_.trees)
    assert len(pickle.dumps(forest)) < 400 * n_leaves  # scikit-survival keeps 16 bytes per leaf and distinct time


# Single trees and summaries.


def test_a_tree_of_the_forest_can_be_looked_at(named):
    forest, X, _ = named
    for number in (0, 5):
        tree = forest.tree(number)
        np.testing.assert_array_equal(tree.apply(X), forest.apply(X)[:, number])
        assert "age" in export_text(tree) or "bmi" in export_text(tree)
        assert tree.n_leaves_ == forest.forest_.trees[number].n_leaves
    with pytest.raises(ValueError, match="number must be an integer >= 0 and <= 5, got 6"):
        forest.tree(6)


@pytest.mark.parametrize("kernel", ["linear", "quadratic", "rbf", ("linear", "rbf")])
def test_a_tree_of_the_forest_is_that_member_and_says_its_kernel(whas500, kernel, tmp_path):
    X, y = whas500
    forest = forest_of(n_estimators=3, kernel=kernel, random_state=0).fit(X, y)
    alone = [forest.tree(number) for number in range(3)]
    np.testing.assert_allclose(np.mean([tree.predict(X) for tree in alone], axis=0), forest.predict(X))
    for number, tree in enumerate(alone):
        assert tree.svm.kernel == (kernel if isinstance(kernel, str) else kernel[0])
        assert len(tree.tree_.splits.kernels) == (1 if isinstance(kernel, str) else len(kernel))
        assert tree.tree_ == forest.forest_.trees[number]
        np.testing.assert_array_equal(tree.apply(X), forest.apply(X)[:, number])
        tree.save(tmp_path / "tree")
        np.testing.assert_array_equal(DipoleSurvivalTree.load(tmp_path / "tree").predict(X), tree.predict(X))
    times = forest.unique_times_
    curves = [[curve(times) for curve in tree.predict_survival_function(X[:20])] for tree in alone]
    np.testing.assert_allclose(
        np.mean(curves, axis=0), forest.predict_survival_function(X[:20], return_array=True), atol=1e-12
    )


def test_the_summary_tree_agrees_with_the_forest_and_shows_the_outcomes(whas500):
    X, y = whas500
    forest = forest_of(n_estimators=40, random_state=0).fit(X, y)
    limits = {"criterion": "exponential", "min_samples_leaf": 10}
    trees = [LogRankSurvivalTree(max_leaf_nodes=leaves, **limits) for leaves in (2, 6)]
    summary = forest.summary_tree(X, y, trees=trees, random_state=0)
    assert list(summary.candidates["n_leaves"]) == [2, 6]
    assert summary.agreement == summary.candidates["agreement"].max() > 0.55
    assert summary.candidates["agreement"][0] < summary.candidates["agreement"][1]
    tree = summary.tree
    leaf = tree.apply(X)
    for node, table in zip(tree.tree_.leaves, tree.tree_.tables):
        inside = leaf == node
        wanted = kaplan_meier(y["time"][inside], y["event"][inside])
        np.testing.assert_allclose(table.survival_function().y, wanted.y)
    assert plot_tree(tree) is not None


def explained(curves, leaves):
    """Share of the variance of curves between the leaves of a tree."""
    means = pd.DataFrame(curves).groupby(leaves).transform("mean").to_numpy()
    return 1 - ((curves - means) ** 2).sum() / ((curves - curves.mean(axis=0)) ** 2).sum()


def test_the_summary_tree_follows_the_forest_more_closely_than_a_tree_of_the_outcomes_does():
    """On the average of some samples: in a single one the difference may be anything from nothing to 0.08."""
    tree = LogRankSurvivalTree(criterion="exponential", max_leaf_nodes=6, min_samples_leaf=10)
    gains, misses = [], []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(250, 10))
        y = rng.exponential(np.exp(-0.4 * X[:, 0] - 0.4 * X[:, 1]))
        forest = forest_of(n_estimators=40, random_state=0).fit(X, y)
        summary = forest.summary_tree(X, y, trees=[tree], random_state=0)
        fresh = rng.normal(size=(500, 10))
        curves = forest.predict_survival_function(fresh, return_array=True)
        of_summary = explained(curves, summary.tree.apply(fresh))
        gains.append(of_summary - explained(curves, clone(tree).fit(X, y).apply(fresh)))
        misses.append(of_summary - summary.agreement)
    assert np.mean(gains) > 0.02
    assert 0.0 < np.mean(misses) < 0.15  # the trees of its cross-validation learn from fewer rows


def test_summaries_try_cuts_and_planes():
    X, y = generated(60)
    forest = LogRankSurvivalForest(n_estimators=20, min_logrank=0.0, random_state=0).fit(X, y)
    summary = forest.summary_tree(X, y, max_leaf_nodes=3, cv=3, random_state=0)
    assert len(summary.candidates) > 2 and summary.candidates["n_leaves"].max() <= 3
    assert 0.2 < summary.agreement <= 1
    assert isinstance(summary.tree, LogRankSurvivalTree | DipoleSurvivalTree)
    again = forest.summary_tree(X, y, max_leaf_nodes=3, cv=3, random_state=0)
    assert again.agreement == summary.agreement


# Ugly inputs.


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_estimators": 0}, "n_estimators must be an integer >= 1, got 0"),
        ({"max_samples": 1.5}, "max_samples must be a number > 0 and <= 1, got 1.5"),
        ({"max_samples": 500}, "max_samples must be an integer >= 1 and <= 120, got 500"),
        ({"max_features": 9}, "max_features must be"),
        ({"min_samples_leaf": 0}, "min_samples_leaf must be a number >= 1, got 0"),
        ({"random_state": -1}, r"random_state must be None, an integer from 0 to 2\*\*32 - 1 or .*, got -1"),
        ({"bootstrap": "no"}, "bootstrap must be True or False, got 'no'"),
        ({"oob_score": None}, "oob_score must be True or False, got None"),
        ({"warm_start": 2}, "warm_start must be True or False, got 2"),
        ({"time_grid": 0}, "time_grid must be an integer >= 1, got 0"),
        ({"time_grid": "all"}, "time_grid must be None, an integer or an array of times, got 'all'"),
        ({"time_grid": [1.0, -2.0]}, r"time_grid must hold times from 0 to 1e\+100"),
        ({"time_grid": [1.0, 1e101]}, r"time_grid must hold times from 0 to 1e\+100"),
        ({"time_grid": [1.0, np.nan]}, r"time_grid must hold times from 0 to 1e\+100"),
        ({"time_grid": []}, r"time_grid must hold times from 0 to 1e\+100"),
    ],
)
@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_bad_parameters_are_named(forest, settings, message):
    X, y = generated()
    with pytest.raises(ValueError, match=message):
        clone(forest).set_params(**settings).fit(X, y)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"svm": "linear"}, "svm must be a DipoleSVM, a list of them or None, got 'linear'"),
        ({"svm": []}, r"svm must be a DipoleSVM, a list of them or None, got \[\]"),
        ({"svm": [DipoleSVM(), "rbf"]}, "svm must be a DipoleSVM, a list of them or None"),
        ({"svm": [DipoleSVM(), DipoleSVM(standardize=False)]}, "must agree in standardize"),
        ({"svm": [DipoleSVM(), DipoleSVM(cutoff_rule="scripts")]}, "must agree in cutoff_rule"),
        ({"svm": DipoleSVM("precomputed", standardize=False)}, "kernel='precomputed' is not for trees"),
        ({"svm": DipoleSVM("cubic")}, "kernel must be one of .*, got 'cubic'"),
        ({"svm": DipoleSVM(kappa=0.0)}, r"kappa must be a number >= 1e-20 and <= 1e\+20, got 0.0"),
        ({"svm": DipoleSVM(cut="median")}, "cut must be one of"),
        ({"svm": DipoleSVM(pure_quantile=0.9)}, "mixed_quantile must be larger than pure_quantile"),
        ({"svm": DipoleSVM(max_reorientations=-1)}, "max_reorientations must be an integer >= 0 .*, got -1"),
        ({"svm": [DipoleSVM(), DipoleSVM(solver_tol=0.0)]}, "solver_tol must be a number > 0 and <= 1, got 0.0"),
        ({"max_node_samples": 1}, "max_node_samples must be an integer >= 2, got 1"),
    ],
)
def test_bad_parameters_of_surfaces_are_named(settings, message):
    X, y = generated()
    with pytest.raises(ValueError, match=message):
        DipoleSurvivalForest(**SMALL).set_params(**settings).fit(X, y)


def test_parameters_of_the_machine_are_set_through_the_forest():
    X, y = generated()
    forest = DipoleSurvivalForest(DipoleSVM(), **SMALL).set_params(svm__kappa=0.5, svm__kernel="quadratic").fit(X, y)
    assert forest.forest_ == DipoleSurvivalForest(DipoleSVM("quadratic", 0.5), **SMALL).fit(X, y).forest_
    assert forest.forest_ != DipoleSurvivalForest(DipoleSVM("quadratic"), **SMALL).fit(X, y).forest_
    search = GridSearchCV(clone(forest), {"svm__kappa": [1.0, 100.0], "svm__kernel": ["linear"]}, cv=2).fit(X, y)
    assert search.best_estimator_.svm.kappa == search.best_params_["svm__kappa"]
    assert forest.svm.kappa == 0.5


def test_one_machine_in_a_list_is_that_machine():
    X, y = generated()
    alone, listed = (DipoleSurvivalForest(svm, **SMALL).fit(X, y) for svm in (DipoleSVM(), [DipoleSVM()]))
    assert alone.forest_ == listed.forest_


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_nothing_to_split(forest):
    rng = np.random.default_rng(0)
    time, X = rng.exponential(size=30), np.ones((30, 2))
    forest = clone(forest).fit(X, time)
    assert all(tree.n_leaves == 1 for tree in forest.forest_.trees)
    assert np.ptp(forest.predict(X)) < 1e-9
    assert (forest.feature_importances_ == 0).all()
    assert (forest.importance(X, time).importances == 0).all()
    assert len(clone(forest).fit(X[:1], time[:1]).predict(X)) == 30


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_progress_is_told_on_request(forest, capsys):
    X, y = generated()
    clone(forest).set_params(verbose=1).fit(X, y)
    assert "growing: 6 of 6 trees" in capsys.readouterr().out


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_unfitted_forests_say_so(forest):
    for method in ("predict", "apply", "proximity", "predict_median"):
        with pytest.raises(NotFittedError):
            getattr(clone(forest), method)(np.zeros((2, 2)))
    with pytest.raises(NotFittedError):
        clone(forest).save("nowhere")
