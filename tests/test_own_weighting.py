"""A weighting of one's own: a name and three exponents, and trees, forests, tests and files know it."""

import numpy as np
import pytest

from dipolar import LogRankSurvivalForest, LogRankSurvivalTree, ModelFileError, survival_outcome
from dipolar._core.logrank import FAMILIES
from dipolar.metrics import logrank_test
from dipolar.weightings import register_weighting, weightings
from tests.reference.logrank import all_cuts, statistic


@pytest.fixture
def names(monkeypatch):
    """Registers two weightings, and forgets them after the test."""
    monkeypatch.setattr("dipolar.weightings.FAMILIES", known := dict(FAMILIES))
    register_weighting("peto", rho=1.0)
    register_weighting("early", at_risk=0.5, rho=0.5, gamma=0.25)
    return known


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.integers(0, 6, size=(80, 3)).astype(float)
    time = np.ceil(4 * rng.exponential(np.exp(-0.3 * X[:, 0])))
    return X, survival_outcome(time, rng.random(80) < 0.7)


def test_it_is_the_statistic_of_its_exponents(names, data):
    """Beside the definition, with weights that no other name has."""
    X, y = data
    early = lambda Y, S: Y**0.5 * S**0.5 * (1 - S) ** 0.25  # noqa: E731
    rows = y["time"], y["event"], np.ones(len(y))
    expected = max(statistic(*rows, left, early) for x in X.T for left in all_cuts(x))
    tree = LogRankSurvivalTree(criterion="early", max_depth=1).fit(X, y)
    assert tree.tree_.gain[0] == pytest.approx(expected, rel=1e-9)
    left = tree.apply(X) == 1
    assert statistic(*rows, left, early) == pytest.approx(expected, rel=1e-9)
    assert logrank_test(y, left, weighting="early").statistic == pytest.approx(expected, rel=1e-9)
    assert tree.tree_.logrank[0] == pytest.approx(logrank_test(y, left).statistic, rel=1e-9)
    assert tree.tree_.logrank[0] != pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize("model", [LogRankSurvivalTree(), LogRankSurvivalForest(n_estimators=3, random_state=0)])
def test_two_names_of_one_weighting_make_one_model(names, data, model):
    risks = [
        model.set_params(criterion=name, fleming_harrington=(1.0, 0.0)).fit(*data).predict(data[0])
        for name in ("peto", "fleming-harrington")
    ]
    np.testing.assert_array_equal(*risks)


def test_a_file_names_it_and_is_refused_where_it_is_not_known(names, data, tmp_path):
    tree = LogRankSurvivalTree(criterion="peto", max_depth=2).fit(*data)
    tree.save(tmp_path / "tree")
    np.testing.assert_array_equal(LogRankSurvivalTree.load(tmp_path / "tree").predict(data[0]), tree.predict(data[0]))
    del names["peto"]
    with pytest.raises(ModelFileError, match=r"criterion must be one of .*'peto'"):
        LogRankSurvivalTree.load(tmp_path / "tree")


def test_names_are_unique_and_exponents_are_numbers(names):
    assert "exponential" not in weightings() and {"peto", "early", "gehan"} <= set(weightings())
    register_weighting("peto", rho=1.0)  # the same once more, as a module does that is loaded anew
    for name in ("peto", "gehan", "exponential", 3):
        with pytest.raises(ValueError, match="name must be a string that no other weighting has"):
            register_weighting(name, rho=0.25)
    with pytest.raises(ValueError, match="gamma must be a number >= 0, got -1"):
        register_weighting("late", gamma=-1)
    with pytest.raises(ValueError, match=r"weighting must be one of .*got 'exponential'"):
        logrank_test(survival_outcome([1, 2], [1, 1]), [0, 1], weighting="exponential")


def test_an_exponent_of_zero_leaves_its_factor_out(names):
    """Just before the first event the curve is at 1, and 0 to the power of 0 is 1."""
    register_weighting("flat")
    X, y = np.arange(8.0)[:, None], survival_outcome([1, 2, 3, 4, 8, 7, 6, 5], np.ones(8, bool))
    trees = [
        LogRankSurvivalTree(criterion=name, max_depth=1, min_samples_leaf=1).fit(X, y).tree_
        for name in ("flat", "logrank")
    ]
    assert trees[0].gain[0] == trees[1].gain[0] == trees[0].logrank[0] > 0
