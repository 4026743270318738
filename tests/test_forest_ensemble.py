"""What forests average: against the mean of single trees, row by row and tree by tree."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import UndefinedMetricWarning

from dipolar import LogRankSurvivalForest, survival_outcome
from dipolar._core.ensemble import add_steps, sum_up
from dipolar.curves import life_table
from dipolar.forest.drawing import tree_generator
from dipolar.metrics import concordance_index, integrated_brier_score
from dipolar.resampling import draw_with_replacement
from dipolar.rows import arrange_rows
from dipolar.survival import check_outcome
from tests.models import forest_of


def generated(n=120, p=4, seed=0):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n, p)), 2)
    time = np.ceil(20 * rng.exponential(np.exp(-X[:, 0] - 0.5 * X[:, 1])))
    return X, survival_outcome(time, rng.random(n) < 0.7)


FORESTS = {
    "logrank": LogRankSurvivalForest(n_estimators=7, min_samples_leaf=4, random_state=0),
    "dipole": forest_of(n_estimators=7, min_samples_leaf=6, min_samples_split=12, random_state=0),
    "kernels": forest_of(n_estimators=4, kernel=("linear", "quadratic", "rbf"), random_state=1),
}


@pytest.fixture(scope="module", params=list(FORESTS))
def fitted(request):
    X, y = generated()
    return FORESTS[request.param].fit(X, y), X, y


def leaf_tables(forest, X):
    """The life table of each row's leaf in each tree."""
    nodes = forest.apply(X)
    for number, tree in enumerate(forest.forest_.trees):
        position = {leaf: k for k, leaf in enumerate(tree.leaves)}
        yield [tree.tables[position[node]] for node in nodes[:, number]]


@pytest.mark.compiled
def test_steps_add_up_to_curves():
    table = np.zeros((2, 4))
    offset, place, step = np.array([0, 2, 3]), np.array([0, 2, 1], np.int32), np.array([0.5, 0.25, 1.0])
    add_steps(np.array([1, 0]), np.array([0, 1]), offset, place, step, table)
    add_steps(np.array([1]), np.array([1]), offset, place, step, table)
    np.testing.assert_array_equal(table, [[0, 1, 0, 0], [0.5, 1, 0.25, 0]])
    sum_up(table, np.array([-1.0, 0.5]), 1.0)
    np.testing.assert_array_equal(table, [[1, 0, 0, 0], [1.25, 1.75, 1.875, 1.875]])


def test_curves_are_means_over_trees(fitted):
    forest, X, _ = fitted
    survival = forest.predict_survival_function(X, return_array=True)
    hazard = forest.predict_cumulative_hazard_function(X, return_array=True)
    wanted_survival, wanted_hazard = np.zeros_like(survival), np.zeros_like(hazard)
    for tables in leaf_tables(forest, X):
        wanted_survival += [table.survival_function()(forest.unique_times_) for table in tables]
        wanted_hazard += [table.cumulative_hazard_function()(forest.unique_times_) for table in tables]
    np.testing.assert_allclose(survival, wanted_survival / len(forest.forest_), atol=1e-12)
    np.testing.assert_allclose(hazard, wanted_hazard / len(forest.forest_), atol=1e-12)
    assert (np.diff(survival, axis=1) <= 1e-15).all() and survival.min() >= 0 and survival.max() <= 1
    of_events = forest.predict_cumulative_hazard_function(X, forest.event_times_)
    np.testing.assert_allclose(forest.predict(X), of_events.sum(axis=1))


def test_functions_are_the_arrays(fitted):
    forest, X, y = fitted
    table = forest.predict_survival_function(X, return_array=True)
    functions = forest.predict_survival_function(X)
    np.testing.assert_array_equal([f(forest.unique_times_) for f in functions], table)
    assert functions[0](0.0) == 1.0
    assert functions[0].domain == (0.0, y["time"].max())


def test_leaf_tables_are_those_of_the_sample(fitted):
    forest, X, y = fitted
    rows = arrange_rows(X, check_outcome(y), np.ones(len(X)))
    for number, tree in enumerate(forest.forest_.trees):
        counts = draw_with_replacement(rows.weight, 1.0, tree_generator(forest.seed_, number))
        leaf = tree.apply(rows.X)
        for position, node in enumerate(tree.leaves):
            inside = (leaf == node) & (counts > 0)
            outcome = rows.survival.take(inside)
            wanted = life_table(outcome.time, outcome.event, counts[inside])
            for name in ("time", "at_risk", "events"):
                np.testing.assert_allclose(getattr(tree.tables[position], name), getattr(wanted, name))


@pytest.mark.parametrize("grid", [5, [3.0, 1.5, 40.0], np.array([10.0])])
def test_a_grid_thins_the_curves_and_changes_nothing_else(grid):
    X, y = generated()
    every = LogRankSurvivalForest(n_estimators=5, random_state=0).fit(X, y)
    some = LogRankSurvivalForest(n_estimators=5, random_state=0, time_grid=grid).fit(X, y)
    wanted = [f(some.unique_times_) for f in every.predict_survival_function(X)]
    np.testing.assert_allclose(some.predict_survival_function(X, return_array=True), wanted, atol=1e-12)
    np.testing.assert_array_equal(some.predict(X), every.predict(X))
    if isinstance(grid, int):
        assert len(some.unique_times_) == grid and set(some.unique_times_) <= set(every.unique_times_)
        assert some.unique_times_[-1] == every.unique_times_[-1]
    else:
        np.testing.assert_array_equal(some.unique_times_, np.sort(grid))


def test_quantiles_and_means_are_read_off_the_curves(fitted):
    forest, X, _ = fitted
    functions = forest.predict_survival_function(X)
    times = forest.unique_times_
    for q in (0.2, 0.5, 0.9):
        below = [[t for t in times if f(t) <= 1 - q] for f in functions]
        np.testing.assert_array_equal(forest.predict_quantile(X, q), [b[0] if b else np.inf for b in below])
    largest = forest.predict_quantile(X, 0.999, unreached="largest")
    assert (largest <= times[-1]).all() and np.isfinite(largest).all()
    for horizon in (0.0, 2.5, 10.0, 1e3):
        fine = np.linspace(0, horizon, 40_001)
        middle = 0.5 * (fine[1:] + fine[:-1]) if horizon else np.empty(0)
        wanted = [np.sum(f(middle)) * horizon / 40_000 if horizon else 0.0 for f in functions]
        np.testing.assert_allclose(forest.predict_rmst(X, horizon), wanted, rtol=2e-3)
    restricted = forest.predict_quantile(X, 0.999, unreached="restricted_mean")
    unreached = np.isinf(forest.predict_quantile(X, 0.999))
    np.testing.assert_allclose(restricted[unreached], forest.predict_rmst(X)[unreached])
    assert np.isnan(forest.predict_quantile(X, 0.999, unreached="nan")[unreached]).all()


def test_proximity_counts_common_leaves(fitted):
    forest, X, _ = fitted
    nodes = forest.apply(X[:20])
    wanted = (nodes[:, None, :] == nodes[None, :, :]).mean(axis=2)
    np.testing.assert_allclose(forest.proximity(X[:20]), wanted)
    np.testing.assert_allclose(forest.proximity(X[:5], X[:20]), wanted[:5])


def unseen(forest, X, y, weight):
    """For each tree, which rows its sample leaves out."""
    rows = arrange_rows(X, check_outcome(y), weight)
    for number in range(len(forest.forest_)):
        counts = draw_with_replacement(rows.weight, 1.0, tree_generator(forest.seed_, number))
        yield np.array([row < 0 or counts[row] == 0 for row in rows.number])


@pytest.mark.parametrize("times", [[5.0] * 30, [5.0] * 29 + [9.0], list(range(1, 31))])
def test_scores_that_the_rows_do_not_define_are_nan(times):
    """All rows end at one time, or one event has nothing beyond it, or no row is unseen."""
    X, y = np.arange(30.0)[:, None], survival_outcome(times)
    forest = LogRankSurvivalForest(3, oob_score=True, random_state=0)
    if len(set(times)) == 30:
        forest.set_params(bootstrap=False, max_samples=1.0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        forest.fit(X, y)
    told = [str(warning.message) for warning in caught if warning.category is UndefinedMetricWarning]
    assert np.isnan(forest.oob_brier_) and any(text.startswith("oob_brier_ is NaN, because") for text in told)
    assert np.isnan(forest.oob_score_) == any(text.startswith("oob_score_ is NaN, because") for text in told)
    assert forest.oob_survival_.shape == (30, len(forest.oob_times_))
    with pytest.raises(ValueError, match="scoring='brier' is not defined on the rows that some tree has not seen"):
        forest.importance(X, y, scoring="brier")


@pytest.mark.filterwarnings("ignore:.*no out-of-bag prediction")
@pytest.mark.parametrize("name", ["logrank", "dipole"])
def test_out_of_bag_predictions_are_those_of_trees_that_have_not_seen_the_row(name):
    X, y = generated()
    weight = np.random.default_rng(3).integers(0, 3, len(X)).astype(float)
    forest = FORESTS[name].set_params(oob_score=True).fit(X, y, weight)
    FORESTS[name].set_params(oob_score=False)
    risk, survival, count = np.zeros(len(X)), np.zeros((len(X), len(forest.oob_times_))), np.zeros(len(X))
    for out, tables in zip(unseen(forest, X, y, weight), leaf_tables(forest, X)):
        for row in np.flatnonzero(out):
            risk[row] += tables[row].cumulative_hazard_function()(forest.event_times_).sum()
            survival[row] += tables[row].survival_function()(forest.oob_times_)
            count[row] += 1
    known = count > 0
    np.testing.assert_array_equal(np.isnan(forest.oob_prediction_), ~known)
    assert (count[weight == 0] == 7).all()
    np.testing.assert_allclose(forest.oob_prediction_[known], (risk / np.maximum(count, 1))[known])
    wanted = (survival / np.maximum(count, 1)[:, None])[known]
    np.testing.assert_allclose(forest.oob_survival_[known], wanted, atol=1e-12)
    judged = known & (weight > 0)
    wanted = concordance_index(y[judged], forest.oob_prediction_[judged], sample_weight=weight[judged])
    assert forest.oob_score_ == pytest.approx(wanted)
    wanted = integrated_brier_score(
        y, y[judged], forest.oob_survival_[judged], forest.oob_times_, outside="truncate",
        sample_weight=weight[judged], train_weight=weight,
    )  # fmt: skip
    assert forest.oob_brier_ == pytest.approx(wanted)


def test_rows_that_every_tree_has_seen_are_told():
    X, y = generated(40)
    with pytest.warns(UserWarning, match="no out-of-bag prediction"):
        forest = LogRankSurvivalForest(n_estimators=1, oob_score=True, random_state=0).fit(X, y)
    assert 0 < np.isnan(forest.oob_prediction_).sum() < 40


@pytest.mark.parametrize("kind", ["permute", "negate"])
def test_importance_is_the_loss_of_forests_that_are_told_wrongly(fitted, kind):
    """With one tree, disturbing its unseen rows is disturbing the data."""
    _, X, y = fitted
    forest = type(fitted[0])(**fitted[0].get_params() | {"n_estimators": 1}).fit(X, y)
    out = next(unseen(forest, X, y, np.ones(len(X))))
    result = forest.importance(X, y, kind=kind, n_repeats=3, random_state=0)
    assert result.importances.shape == (4, 3 if kind == "permute" else 1)
    base = concordance_index(y[out], forest.predict(X[out]))
    for feature in range(4):
        told = X.copy()
        if kind == "negate":
            told[:, feature] = 2 * X[:, feature].mean() - X[:, feature]
            wanted = base - concordance_index(y[out], forest.predict(told[out]))
            assert result.importances[feature, 0] == pytest.approx(wanted, abs=1e-9)
        used = forest.forest_.trees[0].splits.used(4)[feature]
        assert used or (result.importances[feature] == 0).all()


def test_negation_flips_the_coefficient_of_oblique_splits():
    X, y = generated()
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    forest = forest_of(n_estimators=1, random_state=0).fit(X, y)
    result = forest.importance(X, y, kind="negate")
    out = next(unseen(forest, X, y, np.ones(len(X))))
    base = concordance_index(y[out], forest.predict(X[out]))
    splits = forest.forest_.trees[0].splits
    for feature in range(4):
        splits.coefficient[splits.column == feature] *= -1
        flipped = base - concordance_index(y[out], forest.predict(X[out]))
        splits.coefficient[splits.column == feature] *= -1
        assert result.importances[feature, 0] == pytest.approx(flipped, abs=1e-9)


@pytest.mark.parametrize("scoring", ["concordance", "brier"])
def test_covariates_that_matter_come_first(scoring):
    X, y = generated(300)
    for forest in (LogRankSurvivalForest(n_estimators=30), forest_of(n_estimators=30)):
        forest.set_params(random_state=0, n_jobs=2).fit(X, y)
        permuted = forest.importance(X, y, scoring=scoring, random_state=0)
        assert np.argmax(permuted.importances_mean) == 0
        assert permuted.importances_mean[0] > 2 * abs(permuted.importances_mean[2:]).max()
        assert np.argmax(forest.importance(X, y, kind="negate", scoring=scoring).importances_mean) == 0
        assert np.argmax(forest.feature_importances_) == 0
        assert forest.feature_importances_.sum() == pytest.approx(1.0)
        again = forest.set_params(n_jobs=None).importance(X, y, scoring=scoring, random_state=0)
        np.testing.assert_array_equal(permuted.importances, again.importances)


def test_importance_wants_the_rows_of_the_fit(fitted):
    forest, X, y = fitted
    with pytest.raises(ValueError, match="must be what the forest was fitted to"):
        forest.importance(X + 1.0, y)
    with pytest.raises(ValueError, match="kind must be one of"):
        forest.importance(X, y, kind="gain")
    with pytest.raises(ValueError, match="scoring must be one of"):
        forest.importance(X, y, scoring="auc")
    shuffled = np.random.default_rng(0).permutation(len(X))
    there = forest.importance(X, y, kind="negate").importances
    np.testing.assert_allclose(forest.importance(X[shuffled], y[shuffled], kind="negate").importances, there)
