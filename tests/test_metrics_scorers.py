"""Scorers in scikit-learn's tools, for our trees and for scikit-survival's models, and two worked failures."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from dipolar import LogRankSurvivalTree, survival_outcome
from dipolar.datasets import load_whas500
from dipolar.metrics import (
    SCORER_NAMES,
    TruncationWarning,
    concordance_index,
    concordance_index_ipcw,
    cumulative_dynamic_auc,
    get_scorer,
    integrated_brier_score,
    scorers,
)

TIMES = np.array([180.0, 365.0, 730.0, 1095.0, 1500.0])


@pytest.fixture(scope="module")
def data():
    X, y = load_whas500(return_X_y=True)
    return X.to_numpy(float), y


@pytest.fixture(scope="module")
def fitted(data):
    X, y = data
    return LogRankSurvivalTree(max_depth=3).fit(X[::2], y[::2])


class RememberingModel(BaseEstimator):
    """A model with scikit-survival's contract that keeps its training outcomes."""

    def fit(self, X, y):
        self.training_outcome_ = y
        return self

    def predict(self, X):
        return X[:, 0]


def test_every_scorer_is_its_metric(data, fitted):
    X, y = data
    train, X_test, test = y[::2], X[1::2], y[1::2]
    risk, curves = fitted.predict(X_test), fitted.predict_survival_function(X_test)
    median = fitted.predict_median(X_test, unreached="mean")
    expected = {
        "concordance": concordance_index(test, risk),
        "concordance_exclude": concordance_index(test, risk, ties="exclude"),
        "concordance_paper": concordance_index(test, -median, ties="exclude", tied_times="exclude"),
        "concordance_ipcw": concordance_index_ipcw(train, test, risk, tau=1500.0),
        "auc": cumulative_dynamic_auc(train, test, risk, TIMES).mean,
        "neg_ibs": -integrated_brier_score(train, test, curves, TIMES),
        "neg_ibs_paper": -integrated_brier_score(train, test, curves, TIMES, variant="paper"),
        "neg_ibs_authors": -integrated_brier_score(None, test, curves, TIMES, variant="authors"),
    }
    assert set(expected) == set(SCORER_NAMES)
    for name, scorer in scorers(*SCORER_NAMES, times=TIMES, tau=1500.0).items():
        assert scorer(fitted, X_test, test) == pytest.approx(expected[name], rel=1e-12), name
    assert expected["neg_ibs"] != pytest.approx(-integrated_brier_score(test, test, curves, TIMES), rel=1e-6)


class TestTrainingOutcomes:
    """Where the censoring distribution comes from."""

    def test_a_tree_knows_its_training_rows_also_weighted_and_pruned(self, data):
        X, y = data
        weight = np.resize([0.0, 1.0, 2.0, 0.5], len(y))
        tree = LogRankSurvivalTree(max_depth=4).fit(X, y, weight).prune(3.0)
        expected = integrated_brier_score(
            y, y[1::2], tree.predict_survival_function(X[1::2]), TIMES, train_weight=weight
        )
        assert get_scorer("neg_ibs", times=TIMES)(tree, X[1::2], y[1::2]) == pytest.approx(-expected, rel=1e-10)

    def test_given_outcomes_come_first_then_the_estimators_then_the_evaluated(self, data):
        X, y = data
        train, test, risk = y[::2], y[1::2], X[1::2, 0]
        model = RememberingModel().fit(X[::2], train)
        from_model = get_scorer("concordance_ipcw", tau=1500.0)(model, X[1::2], test)
        assert from_model == concordance_index_ipcw(train, test, risk, tau=1500.0)
        given = get_scorer("concordance_ipcw", tau=1500.0, y_train=y)(model, X[1::2], test)
        assert given == concordance_index_ipcw(y, test, risk, tau=1500.0)
        del model.training_outcome_
        evaluated = get_scorer("concordance_ipcw", tau=1500.0)(model, X[1::2], test)
        assert evaluated == concordance_index_ipcw(test, test, risk, tau=1500.0)
        assert len({from_model, given, evaluated}) == 3

    def test_inside_pipelines_and_searches(self, data):
        X, y = data
        pipeline = make_pipeline(StandardScaler(), LogRankSurvivalTree(max_depth=2))
        search = GridSearchCV(pipeline, {"logranksurvivaltree__max_depth": [2]}, cv=2).fit(X[::2], y[::2])
        plain = LogRankSurvivalTree(max_depth=2).fit(X[::2], y[::2])
        for name, scorer in scorers(*SCORER_NAMES, times=TIMES, tau=1500.0).items():
            expected = scorer(plain, X[1::2], y[1::2])
            assert scorer(search, X[1::2], y[1::2]) == pytest.approx(expected), name
            assert scorer(search.best_estimator_, X[1::2], y[1::2]) == pytest.approx(expected), name


class TestInScikitLearn:
    def test_several_at_once_in_cross_validation(self, data):
        X, y = data
        scoring = scorers("concordance", "concordance_exclude", "neg_ibs", "auc", times=TIMES)
        results = cross_validate(LogRankSurvivalTree(max_depth=3), X, y, cv=KFold(3, shuffle=True, random_state=0),
                                 scoring=scoring, error_score="raise")  # fmt: skip
        assert (results["test_concordance"] > 0.55).all()
        assert (results["test_concordance_exclude"] > results["test_concordance"]).all()
        assert ((results["test_neg_ibs"] < -0.1) & (results["test_neg_ibs"] > -0.25)).all()
        assert (results["test_auc"] > 0.55).all()

    def test_a_search_picks_the_best(self, data):
        X, y = data
        search = GridSearchCV(
            LogRankSurvivalTree(), {"max_depth": [1, 3]}, scoring=scorers("concordance", "neg_ibs", times=TIMES),
            refit="neg_ibs", cv=KFold(3, shuffle=True, random_state=0), error_score="raise",
        ).fit(X, y)  # fmt: skip
        best = np.argmax(search.cv_results_["mean_test_neg_ibs"])
        assert search.best_index_ == best

    def test_one_as_a_callable_in_parallel_processes(self, data):
        X, y = data
        scorer = get_scorer("neg_ibs", times=TIMES)
        assert repr(pickle.loads(pickle.dumps(scorer))) == repr(scorer)
        serial, parallel = (
            cross_validate(
                LogRankSurvivalTree(max_depth=2),
                X,
                y,
                cv=KFold(2, shuffle=True, random_state=0),
                scoring=scorer,
                n_jobs=n_jobs,
            )
            for n_jobs in (None, 2)
        )
        np.testing.assert_array_equal(serial["test_score"], parallel["test_score"])

    def test_models_of_scikit_survival(self, data):
        linear = pytest.importorskip("sksurv.linear_model")
        their_trees = pytest.importorskip("sksurv.tree")
        X, y = data
        cv = KFold(3, shuffle=True, random_state=0)
        names = [name for name in SCORER_NAMES if name != "concordance_paper"]
        for model in (linear.CoxPHSurvivalAnalysis(), their_trees.SurvivalTree(max_depth=3)):
            results = cross_validate(model, X, y, cv=cv, scoring=scorers(tau=1500.0, times=TIMES, y_train=y),
                                     error_score="raise")  # fmt: skip
            assert all(np.isfinite(results[f"test_{name}"]).all() for name in names)
            own = cross_validate(model, X, y, cv=cv)["test_score"]
            np.testing.assert_allclose(results["test_concordance"], own, atol=1e-10)

    def test_sample_weights_count_rows(self, data, fitted):
        X, y = data
        count = np.resize([0, 1, 2, 3], len(y))
        rows = np.repeat(np.arange(len(y)), count)
        for name, scorer in scorers(*SCORER_NAMES, tau=1500.0, times=TIMES).items():
            expected = scorer(fitted, X[rows], y[rows])
            assert scorer(fitted, X, y, sample_weight=count) == pytest.approx(expected), name


class TestWorkedFailures:
    """What happens in folds that cannot be scored as asked, from the first line to the last."""

    @staticmethod
    def rows():
        """Eight rows sorted by time: the last fold of an unshuffled split lives longest."""
        time = np.arange(1.0, 13.0)
        event = np.array([1, 0, 1, 1, 1, 0, 1, 1, 0, 1, 1, 0])
        return np.array([[5.0], [4], [6], [3], [4], [2], [3], [1], [2], [0], [1], [0]]), survival_outcome(time, event)

    def test_test_times_beyond_the_training_times(self):
        X, y = self.rows()
        train, test = slice(0, 8), slice(6, 12)
        tree = LogRankSurvivalTree(min_samples_leaf=2, min_samples_split=4).fit(X[train], y[train])
        curves = tree.predict_survival_function(X[test])
        # The functions refuse, and name the times; or drop them, and say so.
        with pytest.raises(ValueError, match=r"2 of 4 times lie outside the data \(9, 10\); usable are 0 <= t < 12"):
            integrated_brier_score(y[train], y[test], curves, [7.0, 7.5, 9.0, 10.0])
        with pytest.warns(TruncationWarning, match=r"2 of 4 times lie outside the data \(9, 10\).*They are dropped"):
            truncated = integrated_brier_score(
                y[train], y[test], curves, [7.0, 7.5, 9.0, 10.0], outside="truncate"
            )  # fmt: skip
        assert truncated == integrated_brier_score(y[train], y[test], curves, [7.0, 7.5])
        # The scorers drop them, with the same warning; the default grid never reaches there.
        with pytest.warns(TruncationWarning, match="They are dropped"):
            assert get_scorer("neg_ibs", times=[7.0, 7.5, 9.0, 10.0])(tree, X[test], y[test]) == -truncated
        assert np.isfinite(get_scorer("neg_ibs")(tree, X[test], y[test]))
        with pytest.warns(TruncationWarning, match="events from time 10 on.*followed up to 8"):
            uno = get_scorer("concordance_ipcw")(tree, X[test], y[test])
        assert uno == concordance_index_ipcw(y[train], y[test], tree.predict(X[test]), tau=10.0)
        # A fold that lies beyond its training fold altogether has no score, and the error says so.
        with pytest.raises(ValueError, match=r"no default time grid. Pass times"):
            get_scorer("neg_ibs")(tree, X[8:], y[8:])

    def test_a_fold_without_events(self):
        X, y = self.rows()
        y = y.copy()
        y["event"][8:] = False
        tree = LogRankSurvivalTree(min_samples_leaf=2, min_samples_split=4).fit(X[:8], y[:8])
        with pytest.raises(ValueError, match=r"no comparable pair among its 4 rows.*stratified folds"):
            get_scorer("concordance")(tree, X[8:], y[8:])
        with pytest.raises(ValueError, match=r"0 events among 4 rows.*Pass times"):
            get_scorer("neg_ibs")(tree, X[8:], y[8:])
        # Survivors can be scored at given times: whoever is predicted to live should do so.
        expected = np.mean((1 - np.array([c(7.0) for c in tree.predict_survival_function(X[8:])])) ** 2)
        score = get_scorer("neg_ibs_authors", times=[7.0, 7.0 + 1e-9])(tree, X[8:], y[8:])
        assert score * (7.0 + 1e-9) / 1e-9 == pytest.approx(-expected, rel=1e-6)
        # In a cross-validation scikit-learn turns the error into NaN with a warning that quotes it.
        with pytest.warns(UserWarning, match=r"(?s)Scoring failed.*no comparable pair among its 4 rows"):
            scores = cross_validate(
                LogRankSurvivalTree(min_samples_leaf=2), X, y, cv=KFold(3), scoring=get_scorer("concordance")
            )["test_score"]
        assert np.isnan(scores[2])
        assert np.isfinite(scores[:2]).all()

    def test_a_tree_with_one_leaf(self, data):
        X, y = data
        stump = LogRankSurvivalTree(min_logrank=1e9).fit(X, y)
        assert stump.n_leaves_ == 1
        assert get_scorer("concordance")(stump, X, y) == 0.5
        assert get_scorer("concordance_ipcw", tau=1500.0)(stump, X, y) == 0.5
        for name in ("concordance_exclude", "concordance_paper"):
            with pytest.warns(UndefinedMetricWarning, match="leaves none: 0.5 is returned"):
                assert get_scorer(name)(stump, X, y) == 0.5
        assert -0.25 < get_scorer("neg_ibs")(stump, X, y) < 0


def test_errors_name_the_fault(data, fitted):
    X, y = data
    with pytest.raises(ValueError, match=r"name must be one of \['concordance'.*got 'ibs'"):
        get_scorer("ibs")
    with pytest.raises(ValueError, match="name must be one of"):
        scorers("concordance", "brier")
    with pytest.raises(ValueError, match="scorer 'concordance' has no option 'times'"):
        get_scorer("concordance", times=TIMES)
    with pytest.raises(ValueError, match=r"None of the scorers .* has an option 'time'"):
        scorers("concordance", "neg_ibs", time=TIMES)
    with pytest.raises(TypeError, match="RememberingModel has no method predict_survival_function"):
        get_scorer("neg_ibs")(RememberingModel().fit(X, y), X, y)
