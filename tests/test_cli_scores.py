"""Scores of the command line: the same folds for all, Cox's model of either package, standard errors, and words."""

import json

import numpy as np
import pandas as pd
import pytest

from dipolar import DipoleSurvivalTree
from dipolar.cli import baselines, standing
from dipolar.cli.baselines import Cox, KaplanMeier
from dipolar.cli.evaluation import MEASURES, Evaluation
from dipolar.cli.verdict import best_in_words, verdict_on
from dipolar.datasets import load_whas500
from dipolar.metrics import concordance_index, get_scorer
from tests.test_cli import QUICK, QUICK_FIT, dipolar, refused


@pytest.fixture(scope="module")
def whas500():
    return load_whas500(return_X_y=True)


def test_both_packages_have_the_same_cox_model(whas500):
    X, y = whas500
    first, second = (Cox(package).fit(X, y) for package in ("sksurv", "lifelines"))
    assert np.corrcoef(first.predict(X), second.predict(X))[0, 1] > 0.9999
    score = get_scorer("neg_ibs")
    assert score(first, X, y) == pytest.approx(score(second, X, y), abs=2e-3)
    assert concordance_index(y, first.predict(X)) > 0.7


def test_one_curve_for_all_orders_nobody(whas500):
    X, y = whas500
    model = KaplanMeier().fit(X, y)
    assert concordance_index(y, model.predict(X)) == 0.5
    assert {curve(365) for curve in model.predict_survival_function(X)} == {model.curve_(365)}


def fake(tree, forest, cox=None):
    """Scores on five folds: Harrell's C and the IBS of each model."""
    pairs = {"tree": tree, "forest": forest, "Cox": cox, "Kaplan-Meier": ([0.5] * 5, [0.2] * 5)}
    scores = {name: np.column_stack([*pair, np.full(5, np.nan)]) for name, pair in pairs.items() if pair}
    assert all(column.shape == (5, len(MEASURES)) for column in scores.values())
    return Evaluation(scores, 5, 1, {})


STEPS = np.array([-0.01, 0.0, 0.01, 0.02, -0.02])
GOOD, FAIR = (0.8 + STEPS, 0.10 + STEPS / 2), (0.7 + STEPS, 0.15 + STEPS / 2)


def test_words_follow_the_paired_differences():
    seen = "On rows that it has not seen, the tree is"
    assert (
        verdict_on(fake(GOOD, FAIR), "tree") == f"{seen} better than one curve for all and the forest on both scores."
    )
    assert verdict_on(fake(FAIR, GOOD, FAIR), "tree") == (
        f"{seen} better than one curve for all on both scores, worse than the forest on both scores, and about as "
        "good as Cox's model."
    )
    useless = (0.5 + STEPS, 0.2 + STEPS)
    assert verdict_on(fake(useless, useless), "tree").startswith(f"{seen} no better than one curve for all, and about")
    mixed = (GOOD[0], 0.2 + STEPS)
    assert verdict_on(fake(mixed, mixed), "tree").startswith(
        f"{seen} better than one curve for all by Harrell's C but no better by the IBS; and about as good as the forest"
    )
    assert best_in_words(fake(GOOD, FAIR, GOOD)) == (
        "Best by Harrell's C: tree (0.800); not clearly worse: Cox. "
        "Best by the IBS: tree (0.100); not clearly worse: Cox."
    )
    assert ", clearly ahead of all others." in best_in_words(fake(GOOD, FAIR))


def test_scores_that_are_not_known_are_left_out():
    unknown = (np.full(5, np.nan), np.full(5, np.nan))
    result = fake(GOOD, unknown)
    assert result.n_unscored == 5 and result.to_json()[1]["harrell_c"] == {"mean": None, "se": None}
    assert "forest" not in verdict_on(result, "tree")
    assert verdict_on(fake(unknown, unknown), "tree") is None


def test_the_standard_error_knows_that_training_rows_are_shared():
    values = 0.8 + STEPS
    mean, error = fake(GOOD, FAIR).mean_and_error("tree", "harrell_c")
    assert mean == pytest.approx(values.mean()) and error == pytest.approx(values.std(ddof=1) * np.sqrt(1 / 5 + 1 / 4))
    assert fake(GOOD, FAIR).lead("tree", "forest", "ibs")[0] == pytest.approx(0.05)


def test_fit_ends_with_scores_of_the_tree_that_it_shows(whas500):
    from sklearn.model_selection import StratifiedKFold

    result = json.loads(dipolar("fit", "whas500", "--json").stdout)["scores"]
    names = [model["model"] for model in result["models"]]
    assert names == ["tree", "forest", "Cox", "Kaplan-Meier"] and result["folds"] == 5
    assert result["verdict"].startswith("On rows that it has not seen, the tree is better than one curve for all")
    X, y = whas500
    splitter = StratifiedKFold(5, shuffle=True, random_state=np.random.RandomState(0))
    scores = [
        concordance_index(y[test], DipoleSurvivalTree(max_depth=3).fit(X.iloc[train], y[train]).predict(X.iloc[test]))
        for train, test in splitter.split(X, y["event"])
    ]
    assert result["models"][0]["harrell_c"]["mean"] == pytest.approx(np.mean(scores))


def test_people_read_whether_it_is_any_good_and_may_turn_it_off():
    told = dipolar("fit", "remission", *QUICK)
    assert told.exit_code == 0 and told.stderr == ""
    assert "Is it any good? Scores over 5 folds" in told.stdout and "Kaplan-Meier" in told.stdout
    assert "the univariate tree is" in " ".join(told.stdout.split())
    assert "Is it any good" not in dipolar("fit", "remission", *QUICK_FIT).stdout
    assert dipolar("fit", "remission", *QUICK, "--quiet").output == ""


def test_too_few_events_to_cross_validate(tmp_path):
    pd.DataFrame({"time": range(1, 21), "event": [1] + [0] * 19, "x": range(20)}).to_csv(tmp_path / "a.csv")
    told = " ".join(dipolar("fit", tmp_path / "a.csv", *QUICK, "--only", "x").stdout.split())
    assert "Not cross-validated: that needs two events and two censored rows." in told


def test_without_a_package_cox_is_left_out_and_it_is_said(monkeypatch):
    monkeypatch.setattr(baselines, "find_spec", lambda _: None)
    document = json.loads(dipolar("fit", "remission", *QUICK, "--json").stdout)["scores"]
    assert [model["model"] for model in document["models"]] == ["univariate tree", "forest", "Kaplan-Meier"]
    assert "it needs scikit-survival or lifelines" in document["notes"][0]
    told = " ".join(dipolar("evaluate", "remission", *QUICK, "--folds", 2).stdout.split())
    assert "it needs scikit-survival or lifelines" in told


def test_large_tables_are_scored_on_some_rows_and_it_is_said(monkeypatch):
    monkeypatch.setattr(standing, "MOST_ROWS", 40)
    monkeypatch.setattr(standing, "MOST_COX", 10)
    monkeypatch.setattr(standing, "TREES_BY_ROWS", 1000)
    document = json.loads(dipolar("fit", "remission", *QUICK, "--json").stdout)["scores"]
    drawn, trees, cox = document["notes"]
    assert drawn == "Scores are of 40 rows drawn from the 42." and "of 25 trees" in trees
    assert cox.startswith("Cox's model is left out: with 2 covariates")


def test_a_baseline_that_cannot_be_fitted_is_told_and_ours_are_refused(monkeypatch):
    def no_solution(*_):
        raise ValueError("no solution")

    monkeypatch.setattr(Cox, "fit", no_solution)
    document = json.loads(dipolar("fit", "remission", *QUICK, "--json").stdout)["scores"]
    assert "no solution" in document["notes"][-1] and document["models"][2]["ibs"]["mean"] is None
    result = dipolar("evaluate", "remission", *QUICK, "--folds", 2)
    assert result.stderr == "warning: Cox could not be fitted on some folds: no solution\n"
    assert "alpha" in refused("evaluate", "remission", *QUICK, "--alpha", -1)
