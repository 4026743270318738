"""Forests that choose their settings out of bag: what is tried, what is taken, and what the forest then is."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone

from dipolar import DipoleSurvivalForest, DipoleSVM, LogRankSurvivalForest, survival_outcome
from dipolar.datasets import load_whas500
from dipolar.forest import dipole_forest, tuning
from dipolar.model_file import ModelFileError
from tests.test_forest_ensemble import generated
from tests.test_persistence import edit

SMALL = {"n_estimators": 8, "min_samples_split": 10, "random_state": 0}
GRID = {"min_samples_leaf": [3, 25], "min_logrank": [0.0, 3.84]}
BOTH = [LogRankSurvivalForest(tune=GRID, **SMALL), DipoleSurvivalForest(tune=GRID, **SMALL)]
ids = lambda forest: type(forest).__name__  # noqa: E731

pytestmark = pytest.mark.filterwarnings("ignore:.*are in the sample of every tree:UserWarning")


def with_chosen(forest):
    """The same forest with the chosen settings as parameters."""
    return clone(forest).set_params(tune=False, **forest.best_params_)


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_it_is_the_forest_with_the_chosen_settings(forest):
    X, y = generated()
    tuned = clone(forest).set_params(oob_score=True).fit(X, y)
    assert set(tuned.best_params_) == set(GRID)
    plain = with_chosen(tuned).fit(X, y)
    assert tuned.forest_ == plain.forest_
    assert (tuned.oob_score_, tuned.oob_brier_) == (plain.oob_score_, plain.oob_brier_)
    np.testing.assert_array_equal(tuned.predict(X), plain.predict(X))
    np.testing.assert_array_equal(
        tuned.importance(X, y, kind="negate").importances, plain.importance(X, y, kind="negate").importances
    )
    assert tuned.summary_tree(X, y, random_state=0).agreement == plain.summary_tree(X, y, random_state=0).agreement
    assert str(tuned.tree(0).get_params()) == str(plain.tree(0).get_params())
    assert tuned.tree(0).min_samples_leaf == tuned.best_params_["min_samples_leaf"]


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_the_best_out_of_bag_score_decides(forest):
    X, y = generated()
    tuned = clone(forest).fit(X, y)
    table = tuned.tuning_results_
    assert list(table.columns) == [*sorted(GRID), "oob_brier", "oob_concordance", "mean_n_leaves", "seconds"]
    assert len(table) == 4
    best = table.loc[table["oob_brier"].idxmin()]
    assert {name: best[name] for name in GRID} == tuned.best_params_
    for _, row in table.iterrows():
        alone = clone(forest).set_params(tune=False, oob_score=True, **{name: row[name] for name in GRID}).fit(X, y)
        np.testing.assert_allclose([row["oob_brier"], row["oob_concordance"]], [alone.oob_brier_, alone.oob_score_])
        assert row["mean_n_leaves"] == np.mean([tree.n_leaves for tree in alone.forest_.trees])


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_parameters_are_not_rewritten(forest):
    X, y = generated()
    tuned = clone(forest)
    before = str(tuned.get_params())
    tuned.fit(X, y)
    assert str(tuned.get_params()) == before
    plain = tuned.set_params(tune=False).fit(X, y)
    assert plain.best_params_ == {} and plain.tuning_results_.empty
    assert plain.forest_ == clone(plain).fit(X, y).forest_


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_one_seed_one_choice(forest):
    X, y = generated()
    alone = clone(forest).fit(X, y)
    shuffled = np.random.default_rng(0).permutation(len(X))
    for other in (clone(forest).set_params(n_jobs=2).fit(X, y), clone(forest).fit(X[shuffled], y[shuffled])):
        assert other.best_params_ == alone.best_params_
        assert other.forest_ == alone.forest_
        columns = ["oob_brier", "oob_concordance"]
        assert other.tuning_results_[columns].equals(alone.tuning_results_[columns])


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_a_warm_start_keeps_the_settings(forest):
    X, y = generated()
    grown = clone(forest).set_params(n_estimators=3, warm_start=True).fit(X, y)
    chosen, table = grown.best_params_, grown.tuning_results_
    grown.set_params(n_estimators=8).fit(X, y)
    assert grown.best_params_ is chosen and grown.tuning_results_ is table
    assert grown.forest_ == with_chosen(grown).set_params(warm_start=False).fit(X, y).forest_


@pytest.mark.parametrize("forest", BOTH, ids=ids)
def test_files_keep_the_choice(forest, tmp_path):
    X, y = generated()
    tuned = clone(forest).fit(X, y)
    tuned.save(tmp_path / "forest")
    for again in (type(forest).load(tmp_path / "forest"), pickle.loads(pickle.dumps(tuned))):
        assert again.best_params_ == tuned.best_params_
        assert again.forest_ == tuned.forest_
        assert again.tree(1).min_samples_leaf == tuned.tree(1).min_samples_leaf
        np.testing.assert_array_equal(
            again.importance(X, y, kind="negate").importances, tuned.importance(X, y, kind="negate").importances
        )


def test_files_keep_machines_that_were_chosen(tmp_path):
    X, y = generated()
    quadratic = DipoleSVM("quadratic", cut="logrank")
    tuned = DipoleSurvivalForest(tune={"svm": [[DipoleSVM(cut="logrank"), quadratic]]}, **SMALL).fit(X, y)
    tuned.save(tmp_path / "forest")
    again = DipoleSurvivalForest.load(tmp_path / "forest")
    assert [svm.kernel for svm in again.best_params_["svm"]] == ["linear", "quadratic"]
    np.testing.assert_array_equal(again.predict(X), tuned.predict(X))


@pytest.mark.parametrize(
    "chosen",
    [[], None, "leaf", {"n_estimators": 3}, {"nonsense": 3}, {"min_samples_leaf": -1}, {"svm": 3}, {"svm__kernel": 3}],
)
def test_a_damaged_choice_is_refused(chosen, tmp_path):
    DipoleSurvivalForest(**SMALL).fit(*generated()).save(tmp_path / "forest")
    edit(tmp_path / "forest", header={"chosen": chosen})
    with pytest.raises(ModelFileError):
        DipoleSurvivalForest.load(tmp_path / "forest")


def test_what_true_tries_has_the_forest_as_it_is_given():
    X, y = load_whas500(return_X_y=True)
    for forest in (LogRankSurvivalForest, DipoleSurvivalForest):
        assert forest._recommended[0] == {}
        tuned = forest(n_estimators=8, min_events_leaf=2, tune=True, random_state=0).fit(X, y)
        assert len(tuned.tuning_results_) == len(forest._recommended)
        assert tuned.best_params_.keys() in [settings.keys() for settings in forest._recommended]
        assert not tuned.tuning_results_["oob_brier"].isna().any()


def trial(settings, brier, spread=0.0):
    parts = brier + spread * np.array([-1.0, 1.0] * (tuning.PARTS // 2))
    return tuning._Trial(settings, brier, parts, 0.5, 2.0, 0.0)


def test_the_forest_as_given_is_left_for_something_better_only():
    given, other = trial({}, 0.1), {"min_logrank": 0.0}
    assert tuning._best([given, trial(other, 0.099, spread=0.002)]).settings == other
    assert tuning._best([given, trial(other, 0.099, spread=0.004)]) is given
    undefined = tuning._Trial(other, 0.09, np.full(tuning.PARTS, np.nan), 0.5, 2.0, 0.0)
    assert tuning._best([given, undefined]) is undefined
    assert tuning._best([trial(other, 0.1), trial(other, 0.0999)]).brier == 0.0999
    first = trial(other, 0.1)
    assert tuning._best([trial(other, np.nan), first, trial({"max_depth": 1}, 0.1 - 1e-16)]) is first


def test_parameters_of_a_machine():
    X, y = generated()
    grid = {"svm__kernel": ["quadratic"], "svm__kappa": [1.0]}
    tuned = DipoleSurvivalForest(tune=grid, **SMALL).fit(X, y)
    svm = clone(dipole_forest.FOREST_SVM).set_params(kernel="quadratic", kappa=1.0)
    assert tuned.forest_ == DipoleSurvivalForest(svm, **SMALL).fit(X, y).forest_
    tuned = DipoleSurvivalForest(tune={"svm": [svm]}, **SMALL).fit(X, y)
    assert tuned.best_params_["svm"] is not svm
    own = DipoleSVM(cut="logrank")
    DipoleSurvivalForest(own, tune={"svm__kappa": [7.0]}, **SMALL).fit(X, y)
    assert own.kappa != 7.0


@pytest.mark.parametrize(
    ("tune", "text"),
    [
        (None, "tune must be True, False or a dict"),
        ("yes", "tune must be True, False or a dict"),
        ({"min_samples_leaf": 3}, "tune must be True, False or a dict"),
        ([], "at least one candidate"),
        ({"n_estimators": [3]}, "decide how trees grow, got 'n_estimators'"),
        ({"nonsense": [3]}, "Choose from"),
        ({"min_samples_leaf": [-3]}, "min_samples_leaf must be"),
        ({"bootstrap": [False], "max_samples": [1.0]}, "Set tune=False"),
    ],
)
@pytest.mark.parametrize("forest", [LogRankSurvivalForest, DipoleSurvivalForest])
def test_errors_name_what_is_wrong(forest, tune, text):
    with pytest.raises(ValueError, match=text):
        forest(tune=tune, **SMALL).fit(*generated())


def test_rows_that_no_score_is_defined_on():
    X = np.arange(12.0)[:, None]
    y = survival_outcome(np.ones(12), np.arange(12) < 6)
    with pytest.raises(ValueError, match=r"tune cannot choose .* Set tune=False"):
        LogRankSurvivalForest(tune=True, **SMALL).fit(X, y)


def test_a_curved_truth_is_found():
    """Where the linear splits of the default see little, the forest takes others, and is nearer to the truth."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    rate = np.exp(X[:, 0] ** 2 + X[:, 0] * X[:, 1])
    y = survival_outcome(rng.exponential(1.0 / rate))
    new, times = rng.normal(size=(500, 5)), np.quantile(y["time"], [0.2, 0.4, 0.6, 0.8])
    truth = np.exp(-np.outer(np.exp(new[:, 0] ** 2 + new[:, 0] * new[:, 1]), times))
    for forest in (LogRankSurvivalForest(random_state=0), DipoleSurvivalForest(random_state=0)):
        plain, tuned = clone(forest).fit(X, y), clone(forest).set_params(tune=True).fit(X, y)
        errors = [np.linalg.norm(model.predict_survival_function(new, times) - truth) for model in (plain, tuned)]
        assert errors[1] < 0.9 * errors[0]
