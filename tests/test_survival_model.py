"""What all models share: curves at any times against step functions, and one meaning of their times."""

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from dipolar import (
    DipoleSurvivalForest,
    DipoleSurvivalTree,
    DipoleSVM,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
)
from dipolar.datasets import load_whas500

MODELS = {
    "cuts": LogRankSurvivalTree(max_depth=3),
    "surfaces": DipoleSurvivalTree(DipoleSVM("rbf")),
    "forest of cuts": LogRankSurvivalForest(5, random_state=0),
    "forest of surfaces": DipoleSurvivalForest(n_estimators=5, random_state=0),
    "tuned": SurvivalTreeCV(param_grid={}, max_depth=[2], cv=2, random_state=0),
    "tuned cuts": SurvivalTreeCV(LogRankSurvivalTree(), param_grid={}, max_depth=[2], cv=2, random_state=0),
}
CURVES = ["predict_survival_function", "predict_cumulative_hazard_function"]


@pytest.fixture(scope="module")
def whas500():
    return load_whas500(return_X_y=True)


@pytest.fixture(scope="module", params=list(MODELS))
def fitted(request, whas500):
    return MODELS[request.param].fit(*whas500)


@pytest.mark.parametrize("method", CURVES)
def test_curves_at_times_are_the_step_functions_there(fitted, method, whas500):
    """Whatever the times: at jumps, just before them, twice, out of order, before the first and after the last."""
    X, y = whas500
    predict, some = getattr(fitted, method), np.quantile(y["time"], [0.1, 0.5, 0.9])
    functions = predict(X)
    jumps = functions[0].x[[0, len(functions[0].x) // 2, -1]]
    times = np.concatenate((some[::-1], jumps, np.nextafter(jumps, 0), [0.0, 1e-9, some[0], 1e6]))
    table = predict(X, times)
    assert table.shape == (len(X), len(times))
    np.testing.assert_allclose(table, [function(times) for function in functions], rtol=1e-12)
    np.testing.assert_array_equal(table[:, 0], predict(X, [times[0]])[:, 0])
    assert (table[:, times == 0.0] == (1.0 if method == CURVES[0] else 0.0)).all()
    # Beyond its last time a curve keeps its last value.
    np.testing.assert_allclose(table[:, -1], [function.y[-1] for function in functions], rtol=1e-12)
    assert predict(X, []).shape == (len(X), 0)


@pytest.mark.parametrize("method", CURVES)
def test_the_array_is_the_table_at_all_times(fitted, method, whas500):
    X, y = whas500
    predict = getattr(fitted, method)
    np.testing.assert_array_equal(fitted.unique_times_, np.unique(y["time"]))
    np.testing.assert_array_equal(fitted.event_times_, np.unique(y["time"][y["event"]]))
    np.testing.assert_array_equal(predict(X, return_array=True), predict(X, fitted.unique_times_))


@pytest.mark.parametrize("grid", [[10.0, 100.0, 1000.0], 7])
def test_a_time_grid_is_what_the_arrays_are_for(grid, whas500):
    X, y = whas500
    forest = LogRankSurvivalForest(5, random_state=0, time_grid=grid).fit(X, y)
    assert len(forest.unique_times_) == (grid if isinstance(grid, int) else len(grid))
    table = forest.predict_survival_function(X, return_array=True)
    assert table.shape == (len(X), len(forest.unique_times_))
    np.testing.assert_array_equal(forest.predict_survival_function(X, forest.unique_times_), table)
    between = np.array([50.0, 99.9])
    wanted = [function(between) for function in forest.predict_survival_function(X)]
    np.testing.assert_array_equal(forest.predict_survival_function(X, between), wanted)


@pytest.mark.parametrize("method", CURVES)
def test_what_is_no_list_of_times_is_refused(fitted, method, whas500):
    predict, X = getattr(fitted, method), whas500[0]
    with pytest.raises(ValueError, match="times and return_array=True both ask for a table"):
        predict(X, [1.0], return_array=True)
    for times in (5.0, [[1.0, 2.0]], [np.nan], [np.inf, 1.0], ["soon"], "soon", [1.0, [2.0]]):
        with pytest.raises(ValueError, match="times must be a list of finite times, got"):
            predict(X, times)


@pytest.mark.parametrize("name", list(MODELS))
def test_a_model_that_is_not_fitted_says_so(name, whas500):
    unfitted = type(MODELS[name])()
    for options in ({}, {"times": [1.0]}, {"return_array": True}):
        with pytest.raises(NotFittedError):
            unfitted.predict_survival_function(whas500[0], **options)
