"""Tuning: the answer of a grid search, stated rules for ties, failures that end in a number or a clear error."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning, NotFittedError
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, StratifiedKFold

from dipolar import DipoleSurvivalTree, DipoleSVM, LogRankSurvivalTree, SurvivalTreeCV, survival_outcome
from dipolar.candidates import risk_trend
from dipolar.datasets import load_remission, load_whas500
from dipolar.kernels import GaussianKernel
from dipolar.metrics import concordance_index, get_scorer, logrank_test
from tests.models import paper_tree

TREE = DipoleSurvivalTree(DipoleSVM(), min_samples_leaf=10, pruning="fixed")
BOTH = {
    "dipole": (TREE, {"svm__kernel": ["linear", "rbf"], "svm__kappa": [1.0, 100.0]}, "concordance"),
    "log-rank": (
        LogRankSurvivalTree(),
        {"min_samples_leaf": [5, 20], "criterion": ["logrank", "gehan"]},
        "concordance",
    ),
    "bootstrap": (
        LogRankSurvivalTree(pruning="bootstrap", n_bootstraps=2, min_samples_leaf=10),
        {"criterion": ["logrank", "exponential"]},
        "neg_ibs",
    ),
}


@pytest.fixture(scope="module")
def whas500():
    return load_whas500(return_X_y=True)


@pytest.fixture(scope="module", params=["dipole", "log-rank"])
def tuned(request, whas500):
    tree, grid, choosing = BOTH[request.param]
    options = {"max_depth": [0, 1, 3], "scoring": (choosing, "neg_ibs"), "tolerance": 0, "level": None}
    return SurvivalTreeCV(tree, param_grid=grid, **options, random_state=0).fit(*whas500)


@pytest.mark.parametrize("name", list(BOTH))
def test_it_is_a_grid_search(whas500, name):
    """Growing trees once to the largest depth and cutting them back changes nothing."""
    X, y = whas500
    tree, grid, choosing = BOTH[name]
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    folds = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, y["event"]))
    ours = SurvivalTreeCV(
        tree, param_grid=grid, max_depth=[1, 3], cv=folds, scoring=choosing, tolerance=0, level=None, random_state=0
    ).fit(X, y)
    theirs = GridSearchCV(
        clone(tree).set_params(random_state=seed), grid | {"max_depth": [1, 3]}, cv=folds, scoring=get_scorer(choosing)
    ).fit(X, y)
    names = [*sorted(grid), "max_depth"]
    wanted = pd.DataFrame(theirs.cv_results_["params"]).assign(score=theirs.cv_results_["mean_test_score"])
    wanted = wanted.sort_values(names)["score"].to_numpy()
    found = ours.cv_results_.sort_values(names)[f"mean_test_{choosing}"]
    np.testing.assert_allclose(found, wanted, rtol=1e-12)
    assert ours.best_score_ == pytest.approx(theirs.best_score_)
    assert wanted.std() > 0


def test_results_are_a_table(tuned):
    table = tuned.cv_results_
    assert len(table) == 12
    splits = table[[f"split{fold}_test_neg_ibs" for fold in range(5)]]
    np.testing.assert_allclose(splits.mean(axis=1), table["mean_test_neg_ibs"])
    np.testing.assert_allclose(splits.std(axis=1), table["std_test_neg_ibs"])
    assert set(tuned.best_params_) < set(table.columns)
    assert (table["mean_fit_time"] > 0).all() and tuned.refit_time_ > 0
    assert (table["mean_n_leaves"] >= 1).all()
    for name, value in tuned.best_params_.items():
        assert table.loc[tuned.best_index_, name] == value


def test_chosen_tree_is_the_candidate_fitted_to_all_rows(whas500, tuned):
    X, y = whas500
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    by_hand = clone(tuned.estimator).set_params(**tuned.best_params_, random_state=seed).fit(X, y)
    assert tuned.best_estimator_.tree_ == by_hand.tree_
    assert list(tuned.best_estimator_.feature_names_in_) == list(X.columns)
    assert tuned.n_leaves_ == by_hand.n_leaves_ > 1


def test_all_predictions_are_those_of_the_chosen_tree(whas500, tuned, tmp_path):
    X, y = whas500
    tree = tuned.best_estimator_
    for method in ("predict", "predict_median", "predict_quantile", "predict_rmst", "apply"):
        np.testing.assert_array_equal(getattr(tuned, method)(X), getattr(tree, method)(X))
    np.testing.assert_array_equal(
        tuned.predict_quantile(X, 0.2, unreached="mean"), tree.predict_quantile(X, 0.2, "mean")
    )
    np.testing.assert_array_equal(tuned.predict_rmst(X, 100.0), tree.predict_rmst(X, 100.0))
    for method in ("predict_survival_function", "predict_cumulative_hazard_function"):
        ours, theirs = getattr(tuned, method), getattr(tree, method)
        np.testing.assert_array_equal(ours(X, return_array=True), theirs(X, return_array=True))
        np.testing.assert_array_equal(ours(X, [5.0, 50.0]), theirs(X, [5.0, 50.0]))
        assert ours(X)[7](33.0) == theirs(X)[7](33.0)
    for attribute in ("unique_times_", "event_times_", "feature_importances_", "n_leaves_"):
        np.testing.assert_array_equal(getattr(tuned, attribute), getattr(tree, attribute))
    assert tuned.score(X, y) == tree.score(X, y) == concordance_index(y, tuned.predict(X))
    assert tuned.to_html(tmp_path / "page.html").exists()


def test_a_loaded_search_predicts_with_the_chosen_tree(whas500, tuned, tmp_path):
    X, y = whas500
    tuned.save(tmp_path / "model")
    loaded = SurvivalTreeCV.load(tmp_path / "model")
    assert loaded.best_estimator_.tree_ == tuned.best_estimator_.tree_
    assert type(loaded.best_estimator_) is type(tuned.best_estimator_)
    assert repr(loaded.best_estimator_) == repr(tuned.best_estimator_)
    assert repr(loaded.estimator) == repr(tuned.estimator) and loaded.max_depth == (0, 1, 3)
    assert list(loaded.feature_names_in_) == list(X.columns)
    np.testing.assert_array_equal(loaded.predict(X), tuned.predict(X))
    np.testing.assert_array_equal(loaded.predict_median(X), tuned.predict_median(X))
    assert loaded.score(X, y) == tuned.score(X, y)
    assert not hasattr(loaded, "cv_results_")
    # Its parameters came back, so that the search can be made again.
    assert clone(loaded).fit(X, y).best_params_ == tuned.best_params_
    with pytest.raises(ValueError, match="holds a 'SurvivalTreeCV', not a"):
        type(tuned.best_estimator_).load(tmp_path / "model")


def test_the_default_search_is_saved(tmp_path):
    X, y = load_remission(return_X_y=True)
    search = SurvivalTreeCV(random_state=0).fit(X, y)
    search.save(tmp_path / "model")
    loaded = SurvivalTreeCV.load(tmp_path / "model")
    assert loaded.get_params() == search.get_params()
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))


def test_unfitted_searches_say_so():
    for method in ("predict", "apply", "predict_median", "predict_survival_function"):
        with pytest.raises(NotFittedError):
            getattr(SurvivalTreeCV(), method)(np.zeros((2, 2)))
    with pytest.raises(NotFittedError):
        SurvivalTreeCV().save("nowhere")


def test_progress_is_told_on_request(capsys):
    X, y = load_remission(return_X_y=True)
    SurvivalTreeCV(param_grid={"svm__kappa": [1.0, 10.0]}, cv=3, verbose=1).fit(X, y)
    assert "tuning: 6 of 6 fits\n" in capsys.readouterr().out


def test_number_of_workers_does_not_matter(whas500, tuned):
    parallel = clone(tuned).set_params(n_jobs=2).fit(*whas500)
    drop = ["mean_fit_time"]
    assert parallel.cv_results_.drop(columns=drop).equals(tuned.cv_results_.drop(columns=drop))


@pytest.mark.parametrize("tree", [TREE, LogRankSurvivalTree()], ids=["dipole", "log-rank"])
def test_the_smallest_tree_that_is_nearly_as_good_is_taken(tree):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    y = rng.exponential(np.exp(X[:, 0]))
    greedy, modest = (
        SurvivalTreeCV(tree, max_depth=[0, 1, 2, 3], random_state=0, tolerance=tolerance, level=None).fit(X, y)
        for tolerance in (0, 1)
    )
    table, best = greedy.cv_results_, greedy.cv_results_.loc[greedy.best_index_]
    assert best["mean_test_concordance"] == table["mean_test_concordance"].max() == greedy.best_score_
    folds = [f"split{fold}_test_concordance" for fold in range(5)]
    errors = [np.std(best[folds] - row[folds], ddof=1) / np.sqrt(5) for _, row in table.iterrows()]
    allowed = table[best["mean_test_concordance"] - table["mean_test_concordance"] <= errors]
    chosen = table.loc[modest.best_index_]
    assert chosen["mean_n_leaves"] == allowed["mean_n_leaves"].min() <= best["mean_n_leaves"]
    assert modest.best_index_ in allowed.index
    if "svm__kappa" in table:
        as_small = allowed[allowed["mean_n_leaves"] == chosen["mean_n_leaves"]]
        assert chosen["svm__kappa"] == as_small["svm__kappa"].min()


@pytest.mark.parametrize("level", [0.01, None])
def test_where_there_is_nothing_to_learn_the_answer_is_one_leaf(level):
    """By the test on held-out rows, and by the best mean where no split is allowed."""
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(120, 3)), rng.exponential(size=120)
    leaf = 61 if level is None else 15
    search = SurvivalTreeCV(
        DipoleSurvivalTree(min_samples_leaf=leaf),
        param_grid={"svm__kappa": [1, 10]},
        tolerance=0,
        level=level,
        random_state=0,
    ).fit(X, y)
    assert search.n_leaves_ == 1
    of_one_leaf = search.cv_results_[search.cv_results_["max_depth"] == 0]
    assert (of_one_leaf["mean_n_leaves"] == 1).all() and (of_one_leaf["mean_test_concordance"] == 0.5).all()
    assert np.ptp(search.predict(X)) == 0


def test_equal_scores_give_the_smallest_kappa(whas500):
    """With kappa this small every tree is a single leaf and scores 0.5."""
    grid = {"svm__kappa": [1e-12, 1e-13, 1e-11]}
    tied = SurvivalTreeCV(param_grid=grid, max_depth=[2], cv=3, tolerance=0).fit(*whas500)
    assert (tied.cv_results_["mean_test_concordance"] == 0.5).all()
    assert tied.best_params_ == {"svm__kappa": 1e-13, "max_depth": 2}
    assert tied.n_leaves_ == 1


def test_one_leaf_trees_score_one_half_by_the_paper_s_concordance(whas500):
    tied = SurvivalTreeCV(param_grid={}, max_depth=[0], cv=3, scoring="concordance_paper").fit(*whas500)
    assert tied.best_score_ == 0.5


def test_the_depth_may_be_left_to_the_tree(whas500):
    grid = {"min_samples_leaf": [10, 60], "svm__cut": ["svm", "logrank"], "inherit": [0.0, 5.0]}
    search = SurvivalTreeCV(DipoleSurvivalTree(max_depth=2), param_grid=grid, max_depth=None, cv=2, random_state=0)
    search.fit(*whas500)
    assert len(search.cv_results_) == 8
    assert set(search.best_params_) == set(grid)
    chosen = search.best_estimator_
    assert chosen.max_depth == 2 and chosen.min_samples_leaf == search.best_params_["min_samples_leaf"]
    assert chosen.svm.cut == search.best_params_["svm__cut"]
    in_grid = clone(search).set_params(param_grid={"max_depth": [1, 2]}).fit(*whas500)
    assert set(in_grid.best_params_) == {"max_depth"}


def test_machines_in_the_grid_are_each_candidate_s_own(whas500):
    """Setting a parameter of a machine from the grid changes neither that machine nor those of other candidates."""
    machines = [DipoleSVM(), DipoleSVM(GaussianKernel())]
    options = {"max_depth": [2], "cv": 2, "random_state": 0}
    both = SurvivalTreeCV(param_grid={"svm": machines, "svm__kappa": [1e-12, 50.0]}, **options).fit(*whas500)
    assert [machine.kappa for machine in machines] == [30.0, 30.0]
    assert list(both.cv_results_["mean_n_leaves"] > 1) == [False, True, False, True]
    grid = {"svm__kernel": ["linear", "rbf"], "svm__kappa": [1e-12, 50.0]}
    named = SurvivalTreeCV(param_grid=grid, **options).fit(*whas500)
    score = "mean_test_concordance"
    assert sorted(both.cv_results_[score]) == sorted(named.cv_results_[score])


def test_parameters_of_the_tree_and_its_machine_are_set_through_the_search():
    search = SurvivalTreeCV(DipoleSurvivalTree(DipoleSVM()))
    search.set_params(estimator__svm__kappa=7.0, estimator__max_leaf_nodes=3, cv=4)
    assert search.get_params()["estimator__svm__kappa"] == 7.0
    copy = clone(search)
    assert copy.estimator is not search.estimator and copy.estimator.svm.kappa == 7.0
    assert copy.estimator.max_leaf_nodes == 3 and copy.cv == 4
    X, y = load_remission(return_X_y=True)
    fitted = copy.set_params(param_grid={}, max_depth=[1], random_state=0).fit(X, y)
    assert fitted.best_estimator_.svm.kappa == 7.0
    assert not hasattr(copy.estimator, "tree_") and copy.estimator.random_state is None


def test_defaults_by_kind_of_tree(whas500):
    X, y = whas500[0][:100], whas500[1][:100]
    dipole = SurvivalTreeCV(cv=2, max_depth=[1], random_state=0).fit(X, y)
    assert type(dipole.best_estimator_) is DipoleSurvivalTree
    assert set(dipole.best_params_) == {"svm__kappa", "min_samples_leaf", "max_depth"}

    class Renamed(LogRankSurvivalTree):
        """A kind of tree of one's own."""

    for kind in (LogRankSurvivalTree, Renamed):
        search = SurvivalTreeCV(kind(), cv=2, max_depth=[1], random_state=0).fit(X, y)
        assert type(search.best_estimator_) is kind
        assert set(search.best_params_) == {"min_samples_leaf", "max_depth"}


def test_missing_values_are_taken_where_the_tree_takes_them(whas500):
    X, y = whas500[0].astype(float), whas500[1]
    X.iloc[::4, 0] = np.nan
    options = {"param_grid": {}, "max_depth": [1, 2], "cv": 2, "random_state": 0}
    assert np.isfinite(SurvivalTreeCV(LogRankSurvivalTree(), **options).fit(X, y).predict(X)).all()
    with pytest.raises(ValueError, match="X contains NaN"):
        SurvivalTreeCV(**options).fit(X, y)


def test_scikit_learn_s_own_searches_work(whas500):
    X, y = whas500
    grid = {"svm__kappa": [1.0, 100.0], "svm__mixed_quantile": [0.6, 0.75]}
    search = RandomizedSearchCV(DipoleSurvivalTree(DipoleSVM()), grid, n_iter=2, cv=2, random_state=0)
    assert search.fit(X, y).best_score_ > 0.5


def test_halving_search_works(whas500):
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    X, y = whas500
    kappas = [1.0, 10.0, 100.0]
    search = HalvingGridSearchCV(
        DipoleSurvivalTree(DipoleSVM()), {"svm__kappa": kappas}, cv=2, random_state=0, min_resources=150
    )
    assert search.fit(X, y).best_params_["svm__kappa"] in kappas


ONE = {"param_grid": {"svm__kappa": [10.0]}, "max_depth": [1]}


def test_test_times_beyond_the_training_times():
    """Sorted by time and cut in two: the Brier score truncates its grid and the concordance does not mind."""
    X, y = load_remission(return_X_y=True)
    order = np.argsort(y["time"], kind="stable")
    early, late = np.array_split(order, 2)
    search = SurvivalTreeCV(param_grid={"svm__kappa": [1.0, 10.0]}, cv=[(early, late)]).fit(X, y)
    assert np.isfinite(search.best_score_)
    with (
        pytest.warns(FitFailedWarning, match="'neg_ibs' is not defined on a test fold"),
        pytest.raises(ValueError, match="scoring='neg_ibs' is not defined on every fold of cv="),
    ):
        SurvivalTreeCV(**ONE, cv=[(early, late)], scoring="neg_ibs").fit(X, y)


def test_a_fold_without_events():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = survival_outcome(rng.exponential(size=60), np.arange(60) < 40)
    with (
        pytest.warns(FitFailedWarning, match="not defined on a test fold of 20 rows"),
        pytest.raises(ValueError, match=r"scoring='concordance' is not defined on every fold .* Use fewer folds"),
    ):
        SurvivalTreeCV(**ONE, cv=KFold(3)).fit(X, y)
    # Folds of equal shares of events, the default, have no such fold.
    assert np.isfinite(SurvivalTreeCV(**ONE, cv=3).fit(X, y).best_score_)


def test_depths_grow_with_the_number_of_rows(whas500):
    X, y = whas500
    for rows, copies, deepest in ((16, 1, 1), (16, 4, 2), (64, 1, 2), (len(X), 1, 3)):
        search = SurvivalTreeCV(param_grid={"svm__kappa": [10.0]}, cv=2, random_state=0)
        search.fit(X[:rows], y[:rows], np.full(rows, float(copies)))
        assert sorted(set(search.cv_results_["max_depth"])) == list(range(deepest + 1))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"estimator": "tree"}, "estimator must be a DipoleSurvivalTree or LogRankSurvivalTree, got 'tree'"),
        ({"estimator": DipoleSVM()}, "estimator must be a DipoleSurvivalTree or LogRankSurvivalTree"),
        ({"param_grid": [{"svm__kappa": [1]}]}, "param_grid must be None or a dict"),
        ({"param_grid": {"svm__kappa": []}}, "param_grid must be None or a dict of lists"),
        ({"param_grid": {"kappa": [1]}}, "param_grid must name parameters of DipoleSurvivalTree, got 'kappa'.*svm__"),
        ({"param_grid": {"svm__cost": [1]}}, "param_grid must name parameters of DipoleSurvivalTree, got 'svm__cost'"),
        ({"param_grid": {"max_depth": [1]}}, "param_grid must not name max_depth"),
        ({"param_grid": {"svm__kappa": [-1.0]}}, "kappa must be a number"),
        (
            {"estimator": LogRankSurvivalTree(), "param_grid": {"svm__kappa": [1]}},
            "param_grid must name parameters of LogRankSurvivalTree, got 'svm__kappa'",
        ),
        ({"max_depth": []}, "max_depth must list at least one"),
        ({"max_depth": "deep"}, "max_depth must be \"auto\", a list of depths or None, got 'deep'"),
        ({"max_depth": [-1]}, "max_depth must be an integer >= 0, got -1"),
        ({"max_depth": [1.5]}, "max_depth must be an integer >= 0, got 1.5"),
        ({"cv": 1}, "cv must be an integer >= 2, got 1"),
        ({"cv": 1000}, "cv=1000 folds are more than there are rows"),
        ({"scoring": "accuracy"}, "accuracy"),
        ({"scoring": ()}, "scoring must list at least one"),
        ({"scoring": {}}, "scoring must name functions"),
    ],
)
def test_bad_parameters_are_named(parameters, message, whas500):
    with pytest.raises(ValueError, match=message):
        SurvivalTreeCV(**parameters).fit(*whas500)


def test_a_scorer_of_one_s_own_chooses(whas500):
    """It is called by (estimator, X, y), and may stand in a dict beside others."""

    def few_leaves(tree, X, y):
        return -float(tree.n_leaves_)

    options = {"param_grid": {}, "max_depth": [1, 2], "cv": 2, "random_state": 0}
    alone = SurvivalTreeCV(**options, scoring=few_leaves).fit(*whas500)
    assert alone.scorer_names_ == ["few_leaves"] and alone.best_params_ == {"max_depth": 1}
    both = SurvivalTreeCV(**options, scoring={"size": few_leaves, "order": get_scorer("concordance")}).fit(*whas500)
    assert both.scorer_names_ == ["size", "order"] and both.best_params_ == {"max_depth": 1}
    assert (both.cv_results_["mean_test_order"] > 0.5).all()


def test_a_scorer_of_ones_own_meets_rows_as_often_as_they_are_given(whas500):
    """Also where equal rows are one row with a weight."""
    X, y = np.tile(whas500[0].to_numpy()[:60], (3, 1)), np.tile(whas500[1][:60], 3)

    def count(tree, X, y):
        sizes.append((len(X), len(y)))
        return 0.5

    for weight, total in ((None, 180), (np.full(180, 1e9), 180), (np.arange(180) < 60, 60)):
        sizes = []
        SurvivalTreeCV(param_grid={}, max_depth=1, cv=3, scoring=count).fit(X, y, weight)
        assert np.sum(sizes, axis=0).tolist() == [total, total]


def test_folds_of_ones_own_are_numbers_of_the_rows_as_they_are_given(whas500):
    X, y = whas500
    folds = [(np.arange(300), np.arange(300, len(X)))]
    order = np.random.default_rng(0).permutation(len(X))
    place = np.argsort(order)
    moved = [(place[train], place[test]) for train, test in folds]
    search = SurvivalTreeCV(param_grid={"svm__kappa": [1.0, 10.0]}, cv=folds, random_state=0)
    ours = search.fit(X, y).cv_results_.filter(like="mean_test")
    theirs = search.set_params(cv=moved).fit(X.iloc[order], y[order]).cv_results_.filter(like="mean_test")
    np.testing.assert_array_equal(ours, theirs)


def test_more_folds_than_rows(whas500):
    X, y = whas500
    with pytest.raises(ValueError, match=r"cv must be a number of folds.* got \[\]: there are no folds in it"):
        SurvivalTreeCV(cv=[]).fit(X, y)
    with pytest.raises(ValueError, match=r"cv=7 folds are more than there are rows: n_samples=6"):
        SurvivalTreeCV(cv=7).fit(X[:6], y[:6])


@pytest.mark.parametrize("pruning", [None, "fixed"])
@pytest.mark.parametrize("tree", [TREE, paper_tree("linear", dipole_scope="node")], ids=["inherits", "paper's"])
def test_cut_back_is_a_shallower_fit(tree, pruning, whas500):
    X, y = whas500
    tree = clone(tree).set_params(pruning=pruning)
    deep = clone(tree).set_params(max_depth=5).fit(X, y)
    for depth in (0, 1, 2, 3):
        shallow = clone(tree).set_params(max_depth=depth).fit(X, y)
        assert deep.cut_back(depth).tree_ == shallow.tree_
        np.testing.assert_array_equal(deep.cut_back(depth).predict(X), shallow.predict(X))
    with pytest.raises(ValueError, match="cut_back needs pruning=None or 'fixed', got 'bootstrap'"):
        clone(tree).set_params(pruning="bootstrap", n_bootstraps=1).fit(X, y).cut_back(1)


def trend_by_hand(y, risk, weight):
    """Event by event: how far the ranks of those who have it are from what is expected among those at risk."""
    below = np.array([weight[risk < r].sum() + 0.5 * weight[risk == r].sum() for r in risk])
    rank = below / weight.sum() - 0.5
    score = variance = 0.0
    for t in np.unique(y["time"][y["event"]]):
        at_risk, now = y["time"] >= t, (y["time"] == t) & y["event"]
        n, events = weight[at_risk].sum(), weight[now].sum()
        mean = np.average(rank[at_risk], weights=weight[at_risk])
        score += weight[now] @ (rank[now] - mean)
        spread = np.average((rank[at_risk] - mean) ** 2, weights=weight[at_risk])
        variance += events * spread * ((n - events) / (n - 1) if n > 1 else 0.0)
    return score, variance


@pytest.mark.parametrize("seed", range(20))
def test_the_trend_of_held_out_rows_is_that_of_its_definition(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 40))
    y = survival_outcome(rng.integers(1, 9, n).astype(float), rng.random(n) < 0.6)
    risk, weight = rng.integers(0, 4, n).astype(float), rng.integers(1, 4, n).astype(float)
    np.testing.assert_allclose(risk_trend(y, risk, weight), trend_by_hand(y, risk, weight), atol=1e-9)


def test_the_trend_of_two_groups_is_the_log_rank_test():
    rng = np.random.default_rng(3)
    y = survival_outcome(rng.integers(1, 30, 80).astype(float), rng.random(80) < 0.7)
    risk = (rng.random(80) < 0.5).astype(float)
    score, variance = risk_trend(y, risk, np.ones(80))
    assert score**2 / variance == pytest.approx(logrank_test(y, risk).statistic)
