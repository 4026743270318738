"""Tuning: the answer of a grid search, stated rules for ties, failures that end in a number or a clear error."""

import numpy as np
import pytest
from dipolar.tree.dipole_splitter import RootMemory
from sklearn.base import clone
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import GridSearchCV, KFold, RandomizedSearchCV, StratifiedKFold
from sklearn.utils.estimator_checks import parametrize_with_checks

from dipolar import SurvivalTreeCV, survival_outcome
from dipolar.datasets import load_remission, load_whas500
from dipolar.metrics import get_scorer
from tests.models import paper_tree

TREE = paper_tree(standardize=True, min_samples_leaf=5, pruning="fixed", max_rank=20)


@parametrize_with_checks([SurvivalTreeCV(kernel="linear", eta=[-2.0, 1.0], cv=2)])
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def whas500():
    return load_whas500(return_X_y=True)


@pytest.fixture(scope="module")
def tuned(whas500):
    search = SurvivalTreeCV(
        kernel=("linear", "rbf"),
        eta=[-6, -3, 0],
        max_depth=[1, 3],
        estimator=TREE,
        scoring=("concordance", "neg_ibs"),
        random_state=0,
    )
    return search.fit(*whas500)


def test_it_is_a_grid_search(whas500, tuned):
    """What is shared between values of kappa, and cutting deep trees back, changes nothing."""
    X, y = whas500
    seed = int(np.random.RandomState(0).randint(2**31 - 1))
    folds = list(StratifiedKFold(5, shuffle=True, random_state=1).split(X, y["event"]))
    tuned = clone(tuned).set_params(cv=folds, scoring="concordance").fit(X, y)
    grid = GridSearchCV(
        clone(TREE).set_params(random_state=seed),
        {"kernel": ["linear", "rbf"], "kappa": np.exp([-6.0, -3.0, 0.0]), "max_depth": [1, 3]},
        cv=folds,
        scoring=get_scorer("concordance"),
    ).fit(X, y)
    ours = tuned.cv_results_.sort_values(["kernel", "kappa", "max_depth"])["mean_test_concordance"]
    keys = [grid.cv_results_[f"param_{name}"] for name in ("max_depth", "kappa", "kernel")]
    order = np.lexsort([np.array(key.tolist()) for key in keys])
    np.testing.assert_allclose(ours, grid.cv_results_["mean_test_score"][order], rtol=1e-12)
    assert tuned.best_kappa_ == grid.best_params_["kappa"]
    assert tuned.best_params_["kernel"] == grid.best_params_["kernel"]
    assert tuned.best_score_ == pytest.approx(grid.best_score_)


def test_results_are_a_table(tuned):
    table = tuned.cv_results_
    assert len(table) == 12
    splits = table[[f"split{fold}_test_neg_ibs" for fold in range(5)]]
    np.testing.assert_allclose(splits.mean(axis=1), table["mean_test_neg_ibs"])
    np.testing.assert_allclose(splits.std(axis=1), table["std_test_neg_ibs"])
    np.testing.assert_allclose(np.exp(table["eta"]), table["kappa"])
    assert (table["mean_fit_time"] > 0).all()
    assert (table["mean_n_leaves"] >= 1).all()


def test_chosen_tree_is_the_candidate_fitted_to_all_rows(whas500, tuned):
    X, y = whas500
    by_hand = clone(TREE).set_params(**tuned.best_params_).fit(X, y)
    np.testing.assert_array_equal(tuned.predict(X), by_hand.predict(X))
    assert list(tuned.best_estimator_.feature_names_in_) == list(X.columns)
    assert tuned.n_leaves_ == by_hand.n_leaves_
    assert tuned.score(X, y) == by_hand.score(X, y)


def test_number_of_workers_does_not_matter(whas500, tuned):
    parallel = clone(tuned).set_params(n_jobs=2).fit(*whas500)
    drop = ["mean_fit_time"]
    assert parallel.cv_results_.drop(columns=drop).equals(tuned.cv_results_.drop(columns=drop))


def test_one_standard_error_takes_the_smallest_tree_that_is_nearly_as_good(whas500, tuned):
    modest = clone(tuned).set_params(one_standard_error=True).fit(*whas500)
    table, best = tuned.cv_results_, tuned.cv_results_.loc[tuned.best_index_]
    bar = best["mean_test_concordance"] - best["std_test_concordance"] / np.sqrt(5)
    allowed = table[table["mean_test_concordance"] >= bar]
    assert len(allowed) > 1
    chosen = table.loc[modest.best_index_]
    assert chosen["mean_n_leaves"] == allowed["mean_n_leaves"].min()
    assert chosen["mean_test_concordance"] >= bar


def test_equal_scores_give_the_smallest_kappa(whas500):
    """With kappa this small every tree is a single leaf and scores 0.5."""
    tied = SurvivalTreeCV(kernel="linear", eta=[-30, -28, -29], cv=3, random_state=0).fit(*whas500)
    assert (tied.cv_results_["mean_test_concordance"] == 0.5).all()
    assert tied.best_kappa_ == pytest.approx(np.exp(-30))
    assert tied.n_leaves_ == 1


def test_one_leaf_trees_score_one_half_by_the_paper_s_concordance(whas500):
    tied = SurvivalTreeCV(kernel="linear", eta=[-30], cv=3, scoring="concordance_paper").fit(*whas500)
    assert tied.best_score_ == 0.5


def test_further_parameters_are_tuned(whas500):
    grid = {"min_samples_leaf": [5, 60], "threshold": ["svm", "logrank"]}
    search = SurvivalTreeCV(kernel="linear", eta=[-3], max_depth=None, param_grid=grid, cv=2, random_state=0).fit(
        *whas500
    )
    assert len(search.cv_results_) == 4
    assert set(search.best_params_) == {"kernel", "kappa", "min_samples_leaf", "threshold"}
    assert search.best_estimator_.min_samples_leaf == search.best_params_["min_samples_leaf"]


def test_scikit_learn_s_own_searches_work(whas500):
    X, y = whas500
    search = RandomizedSearchCV(
        TREE, {"kappa": [1e-3, 1e-1], "mixed_quantile": [0.6, 0.75]}, n_iter=2, cv=2, random_state=0
    )
    assert search.fit(X, y).best_score_ > 0.5


def test_halving_search_works(whas500):
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.model_selection import HalvingGridSearchCV

    X, y = whas500
    search = HalvingGridSearchCV(TREE, {"kappa": [1e-3, 1e-2, 1e-1]}, cv=2, random_state=0, min_resources=150)
    assert search.fit(X, y).best_params_["kappa"] in (1e-3, 1e-2, 1e-1)


def test_test_times_beyond_the_training_times():
    """Sorted by time and cut in two: the Brier score truncates its grid and the concordance does not mind."""
    X, y = load_remission(return_X_y=True)
    order = np.argsort(y["time"], kind="stable")
    early, late = np.array_split(order, 2)
    search = SurvivalTreeCV(kernel="linear", eta=[-2, 2], cv=[(early, late)]).fit(X, y)
    assert np.isfinite(search.best_score_)
    with (
        pytest.warns(FitFailedWarning, match="'neg_ibs' is not defined on a test fold"),
        pytest.raises(ValueError, match="scoring='neg_ibs' is not defined on every fold of cv="),
    ):
        SurvivalTreeCV(kernel="linear", eta=[-2], cv=[(early, late)], scoring="neg_ibs").fit(X, y)


def test_a_fold_without_events():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = survival_outcome(rng.exponential(size=60), np.arange(60) < 40)
    with (
        pytest.warns(FitFailedWarning, match="not defined on a test fold of 20 rows"),
        pytest.raises(
            ValueError, match=r"scoring='concordance' is not defined on every fold of cv=KFold.*\. Use fewer folds"
        ),
    ):
        SurvivalTreeCV(kernel="linear", eta=[0], cv=KFold(3)).fit(X, y)
    # Folds of equal shares of events, the default, have no such fold.
    assert np.isfinite(SurvivalTreeCV(kernel="linear", eta=[0], cv=3).fit(X, y).best_score_)


def test_depths_grow_with_the_number_of_rows(whas500):
    X, y = whas500
    for rows, copies, deepest in ((16, 1, 2), (16, 4, 3), (64, 1, 3), (len(X), 1, 4)):
        search = SurvivalTreeCV(eta=[-4], cv=2, random_state=0)
        search.fit(X[:rows], y[:rows], np.full(rows, float(copies)))
        assert sorted(set(search.cv_results_["max_depth"])) == list(range(1, deepest + 1))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"eta": []}, r"eta must list at least one value, got \[\]"),
        ({"eta": [np.inf]}, "eta must be a number >= -46 and <= 46, got inf"),
        ({"eta": "all"}, "eta must be a number >= -46 and <= 46, got 'all'"),
        ({"kernel": []}, "kernel must list at least one value"),
        ({"kernel": None}, "kernel must be one of .*, got None"),
        ({"kernel": {"a": 1}}, "kernel must be one of .*, got {'a': 1}"),
        ({"max_depth": 1.5}, "max_depth must be an integer >= 1, got 1.5"),
        ({"param_grid": 3}, "param_grid must be None or a dict of lists of values, got 3"),
        ({"param_grid": {"alpha": 2.0}}, "param_grid must be None or a dict of lists of values"),
        ({"scoring": None}, "scoring must be one of .*, got None"),
        ({"scoring": {"own": 3}}, "scoring must name functions of .*, got {'own': 3}"),
        ({"estimator": "tree"}, "estimator must be None or a DipoleSurvivalTree, got 'tree'"),
        ({"one_standard_error": "no"}, "one_standard_error must be True or False, got 'no'"),
        ({"param_grid": {"kappa": [1]}}, "param_grid must name parameters .* other than kernel, kappa .* got 'kappa'"),
        ({"max_depth": []}, "max_depth must list at least one value"),
        ({"max_depth": "deep"}, "max_depth must be \"auto\", a list of depths or None, got 'deep'"),
        ({"max_depth": [0]}, "max_depth must be an integer >= 1, got 0"),
        ({"param_grid": {"depth": [1]}}, "got 'depth'"),
        ({"scoring": "accuracy"}, "scoring must be one of .*, got 'accuracy'"),
    ],
)
def test_bad_parameters_are_named(parameters, message, whas500):
    with pytest.raises(ValueError, match=message):
        SurvivalTreeCV(**parameters).fit(*whas500)


def test_a_scorer_of_ones_own_meets_rows_as_often_as_they_are_given(whas500):
    """Also where equal rows are one row with a weight."""
    X, y = np.tile(whas500[0].to_numpy()[:60], (3, 1)), np.tile(whas500[1][:60], 3)

    def count(tree, X, y):
        sizes.append((len(X), len(y)))
        return 0.5

    for weight, total in ((None, 180), (np.full(180, 1e9), 180), (np.arange(180) < 60, 60)):
        sizes = []
        DipoleSurvivalTreeCV(eta=[-4], max_depth=1, param_grid={}, cv=3, scoring=count).fit(X, y, weight)
        assert np.sum(sizes, axis=0).tolist() == [total, total]


def test_folds_of_ones_own_are_numbers_of_the_rows_as_they_are_given(whas500):
    X, y = whas500
    folds = [(np.arange(300), np.arange(300, len(X)))]
    order = np.random.default_rng(0).permutation(len(X))
    place = np.argsort(order)
    moved = [(place[train], place[test]) for train, test in folds]
    search = DipoleSurvivalTreeCV(eta=[-4, -2], cv=folds)
    ours = search.fit(X, y).cv_results_.filter(like="mean_test")
    theirs = search.set_params(cv=moved).fit(X.iloc[order], y[order]).cv_results_.filter(like="mean_test")
    np.testing.assert_array_equal(ours, theirs)


def test_more_folds_than_rows(whas500):
    X, y = whas500
    with pytest.raises(ValueError, match=r"cv=7 folds are more than there are rows: n_samples=6"):
        DipoleSurvivalTreeCV(eta=[0], cv=7).fit(X[:6], y[:6])
    with pytest.raises(ValueError, match=r"cv must be an integer >= 2, got 1"):
        DipoleSurvivalTreeCV(eta=[0], cv=1).fit(X, y)


def test_memory_forgets_other_rows(whas500):
    X, y = whas500
    memory = RootMemory()
    half = paper_tree(kernel="rbf", max_depth=2, max_rank=20).remember(memory).fit(X[:200], y[:200])
    full = paper_tree(kernel="rbf", max_depth=2, max_rank=20).remember(memory).fit(X, y)
    for tree, rows in ((half, slice(0, 200)), (full, slice(None))):
        fresh = clone(tree).fit(X[rows], y[rows])
        np.testing.assert_array_equal(tree.predict(X), fresh.predict(X))


@pytest.mark.parametrize("pruning", [None, "fixed"])
def test_cut_back_is_a_shallower_fit(pruning, whas500):
    X, y = whas500
    tree = paper_tree(kernel="linear", standardize=True, dipole_scope="node", pruning=pruning)
    deep = clone(tree).set_params(max_depth=5).fit(X, y)
    for depth in (1, 2, 3):
        shallow = clone(tree).set_params(max_depth=depth).fit(X, y)
        assert sorted(deep.cut_back(depth).node_frame()["n"]) == sorted(shallow.node_frame()["n"])
        np.testing.assert_array_equal(deep.cut_back(depth).predict(X), shallow.predict(X))
    with pytest.raises(ValueError, match="cut_back needs pruning=None or 'fixed', got 'bootstrap'"):
        clone(tree).set_params(pruning="bootstrap", n_bootstraps=1).fit(X, y).cut_back(1)
