"""What shows a tree takes a pipeline of an encoder and the tree, and speaks of the columns of the table."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV

from dipolar import CovariateEncoder, DipoleSurvivalTree, LogRankSurvivalTree, make_pipeline, survival_outcome
from dipolar.plotting import plot_importance, plot_tree
from dipolar.tree.described import describe, importances_by_column
from dipolar.tree.export import export_dot, export_text, to_dict
from dipolar.tree.names import Names
from dipolar.tree.ways import way_to
from tests.report_trees import ENCODED, clinic, encoded


def staged(n=300):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"stage": rng.choice(["I", "II", "III"], n), "years": rng.integers(40, 90, n) * 1.0})
    time = rng.exponential(np.where(X["stage"] == "III", 1.0, 50.0) / (X["years"] / 60) ** 2)
    return X, survival_outcome(time, np.ones(n, dtype=bool))


@pytest.mark.parametrize("tree", [LogRankSurvivalTree(max_depth=1), DipoleSurvivalTree(max_terms=1, max_depth=1)])
def test_a_split_of_levels_is_said_of_the_column(tree):
    X, y = staged()
    model = make_pipeline(CovariateEncoder(reference=None), tree).fit(X, y)
    question = export_text(model).splitlines()[0].split("  (")[0]
    assert question in ("stage is I or II", "stage is III")
    assert export_text(model[-1]).startswith("stage=III")
    assert to_dict(model)["nodes"][0]["rule"] == model.node_frame()["rule"][0] == question
    assert question in export_dot(model)
    assert to_dict(model)["feature_names"] == list(model[:-1].get_feature_names_out())
    drawn = " ".join(text.get_text() for text in plot_tree(model).texts)
    assert question in " ".join(drawn.replace("\N{NO-BREAK SPACE}", " ").split())


def test_sums_name_the_level():
    _, _, model = encoded("linear")
    rule = export_text(model).splitlines()[0]
    terms = ("(age missing)", "(sex f)", "(stage I)", "(stage II)", "grade", "smoker", "admitted [days]", "(code rare)")
    assert all(term in rule for term in terms)
    assert "=" not in rule.split("  (")[0].replace("<=", "").replace(">=", "")


def test_gaps_that_were_learnt_from_are_said():
    _, _, model = encoded("univariate, gaps")
    rules = model.node_frame()["rule"]
    assert rules.str.contains(" or missing").any() or rules.str.contains(" is known").any()
    assert not rules.str.replace("<=", "").str.contains("=").any()


@pytest.mark.parametrize("kind", list(ENCODED))
def test_a_way_holds_for_the_rows_of_its_node_only(kind):
    """Each row meets all that is said on the way to its leaf: checked on cuts, by their conditions."""
    X, _, model = encoded(kind)
    tree, names, _ = describe(model)
    record, covariates = tree.tree_, model[:-1].transform(X)
    leaf, covariates = tree.apply(covariates), covariates.to_numpy()
    for node in record.leaves:
        rows = covariates[leaf == node]
        for parent, child in pairwise(record.path_to(int(node))):
            cut = record.splits.cut(parent, names, bool(child == record.left[parent]))
            if cut is not None:
                values = rows[:, cut.feature]
                known = ~np.isnan(values)
                assert ((values[known] > cut.threshold) == cut.above).all()


def test_a_way_says_each_column_once():
    X, y = staged()
    model = make_pipeline(CovariateEncoder(), LogRankSurvivalTree(max_depth=5, min_samples_leaf=5)).fit(X, y)
    tree, names, _ = describe(model)
    for leaf in tree.tree_.leaves:
        way = way_to(tree.tree_, int(leaf), names)
        assert len(way) <= 2 and sum("years" in part for part in way) <= 1
    assert way_to(tree.tree_, 0, names) == []


def test_a_way_of_names_alone():
    X, y = staged()
    tree = LogRankSurvivalTree(max_depth=2).fit(X[["years"]], y)
    way = way_to(tree.tree_, int(tree.tree_.leaves[0]), ["x"])
    assert len(way) == 1 and way[0].startswith("x ")


def test_importances_are_summed_by_column():
    _, _, model = encoded("linear")
    columns, shares = importances_by_column(model)
    assert columns == list(clinic()[0]) and shares.sum() == pytest.approx(1)
    stages = [feature.column == "stage" for feature in model[0].features_]
    assert shares[columns.index("stage")] == pytest.approx(model[-1].feature_importances_[stages].sum())
    labels = [label.get_text() for label in plot_importance(model).get_yticklabels()]
    assert set(labels) <= set(columns) and "stage" in labels


def test_searches_are_looked_into():
    X, y = staged()
    pipeline = make_pipeline(CovariateEncoder(), LogRankSurvivalTree(max_depth=1))
    search = GridSearchCV(pipeline, {"logranksurvivaltree__max_depth": [1, 2]}, cv=2).fit(X, y)
    assert export_text(search) == export_text(search.best_estimator_)


def test_names_that_are_given_win():
    X, y = staged()
    model = make_pipeline(CovariateEncoder(), LogRankSurvivalTree(max_depth=1)).fit(X, y)
    names = [f"covariate {number}" for number in range(model[-1].n_features_in_)]
    assert export_text(model, feature_names=names).startswith("covariate ")
    assert list(Names.of(names)) == Names.of(names).plain == names


def test_a_median_that_rests_on_one_row():
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    event = np.r_[np.ones(10), np.zeros(9), 1].astype(bool)
    tree = LogRankSurvivalTree(min_samples_leaf=5).fit(X, survival_outcome(np.arange(1.0, 21.0), event))
    assert [table.median_rests_on_one for table in tree.tree_.tables] == [False, True]
    text = export_text(tree)
    assert text.count("rests on one row") == 1 and "median 20 (rests on one row)" in text
