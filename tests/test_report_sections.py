"""The sections of the page in Chromium: curves, two leaves side by side, rows, scores, parameters."""

import re

import numpy as np
import pytest
from lifelines import KaplanMeierFitter
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import Select

from dipolar.metrics import logrank_test
from tests.browser import close
from tests.models import forest_of
from tests.report_trees import fitted, hostile_tree, random_rows, whas


def test_curves_have_the_limits_of_lifelines(page, tmp_path):
    X, y, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html"))
    leaf = tree.apply(X)
    for number in tree.tree_.leaves:
        node = int(page.find(f'#canvas [data-number="{number}"]').get_attribute("data-node"))
        curve = page.run("return dipolarReport.curve(arguments[0])", node)
        mine = y[leaf == number]
        oracle = KaplanMeierFitter().fit(mine["time"], mine["event"])
        limits = oracle.confidence_interval_.iloc[1:].to_numpy()
        survival = oracle.survival_function_.iloc[1:, 0].to_numpy()
        alive = survival > 0
        close(np.array(curve["survival"]), survival)
        close(np.array(curve["lower"], dtype=float)[alive], limits[alive, 0])
        close(np.array(curve["upper"], dtype=float)[alive], limits[alive, 1])
        assert all(value is None for value in np.array(curve["lower"], dtype=object)[~alive])


def test_two_leaves_side_by_side(page, tmp_path):
    X, y, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html"))
    leaf = tree.apply(X)
    nodes = {int(o.text.split(":")[0].split(" ")[1]): o.get_attribute("value") for o in page.all("#compare-a option")}
    assert sorted(nodes) == tree.tree_.leaves.tolist()
    numbers = sorted(nodes)
    for first, second in [(numbers[0], numbers[1]), (numbers[-1], numbers[0])]:
        for select, number in (("#compare-a", first), ("#compare-b", second)):
            Select(page.find(select)).select_by_value(nodes[number])
        both = np.isin(leaf, (first, second))
        test = logrank_test(y[both], leaf[both])
        found = page.run("return dipolarReport.logrank(+arguments[0], +arguments[1])", nodes[first], nodes[second])
        assert found["statistic"] == pytest.approx(test.statistic, rel=1e-9)
        assert found["p"] == pytest.approx(test.p_value, rel=1e-9)
        statistic, p = re.search(
            r"= ([\d.e-]+) on 1 degree of freedom, p = ([\d.e-]+)\.", page.text("#compare-test")
        ).groups()
        assert float(statistic) == pytest.approx(test.statistic, rel=1e-3)
        assert float(p) == pytest.approx(test.p_value, rel=0.06)
        assert len(page.all("#compare-result .chart .curve")) == 2
        assert "optimistic" in page.text("#compare-result .band-note")
        rows = [cell.text for cell in page.all("#compare-result tbody th")]
        assert rows == [f"Leaf {first}", f"Leaf {second}"]
    Select(page.find("#compare-b")).select_by_value(nodes[numbers[-1]])
    assert "same leaf" in page.text("#compare-result")


def test_rows_are_listed_by_leaf_if_asked_for(page, tmp_path):
    X, y, tree = whas()
    page.open(tree.to_html(tmp_path / "without.html", X=X, y=y))
    assert not page.find("#rows").is_displayed()
    page.open(tree.to_html(tmp_path / "with.html", X=X, y=y, include_rows=True))
    number = int(tree.tree_.leaves[0])
    page.find(f'#canvas [data-number="{number}"]').click()
    mine = tree.apply(X) == number
    assert (
        page.text("#rows-lead") == f"Rows of the training data in leaf {number}: {min(50, mine.sum())} of {mine.sum()}."
    )
    first = [cell.text for cell in page.all("#rows-table tbody tr:first-child td")]
    expected = [*X[mine].iloc[0], y[mine]["time"][0]]
    assert [float(text) for text in first[:-1]] == pytest.approx(expected, rel=1e-3)
    assert first[-1] == ("event" if y[mine]["event"][0] else "censored")
    assert "include_rows=True" in page.text("#about-body")


def test_scores_and_parameters_are_shown(page, tmp_path):
    X, y, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html", X=X, y=y, scores="training"))
    rows = {row.find_element(By.TAG_NAME, "th").text: row for row in page.all("#scores-table tbody tr")}
    assert list(rows) == ["Harrell’s C", "C of the medians", "Integrated Brier score"]
    assert rows["Harrell’s C"].find_element(By.TAG_NAME, "td").text == f"{tree.score(X, y):.4f}"
    assert "On the training data (461 rows, 176 events)" in page.text("#scores-table thead")
    shown = {row.find_element(By.TAG_NAME, "th").text: row.find_element(By.TAG_NAME, "td").text
             for row in page.all("#parameters tbody tr")}  # fmt: skip
    assert shown["alpha"] == "12" and shown["pruning"] == "'fixed'" and shown["max_depth"] == "'auto'"


def test_a_tree_of_several_kernels_tells_each(page, tmp_path):
    """Surfaces, parameters and rows of the training data are called by the kernels that they belong to."""
    _, tree = fitted("member mixed")
    record = tree.grown_
    page.open(tree.to_html(tmp_path / "tree.html"))
    for word in ("linear", "quadratic", "cubic", "Gaussian"):
        assert word in page.text("#tree-lead")
    assert f"{len(record.splits.basis)} rows" in page.text("#about-rows")
    assert "the Gaussian surfaces are expressed in them" in page.text("#about-rows")
    shown = {row.find_element(By.TAG_NAME, "th").text: row.find_element(By.TAG_NAME, "td").text
             for row in page.all("#parameters tbody tr")}  # fmt: skip
    kernels = [record.splits.surface(int(node)).kernel for node in np.flatnonzero(record.is_split)]
    widths = {kernel.sigma2 for kernel in kernels if kernel.word == "Gaussian"}
    told = [float(number) for number in shown["sigma2 (Gaussian score, as fitted)"].split(" to ")]
    assert told == pytest.approx(sorted({min(widths), max(widths)}), rel=1e-3)
    assert shown["degree (cubic score, as fitted)"] == "3" and shown["degree (quadratic score, as fitted)"] == "2"


def test_the_form_asks_for_what_the_tree_looks_at(page, tmp_path):
    X, y = random_rows(120)
    X[:, 2] = 1.0  # a covariate that no node can use
    tree = forest_of(1, max_features=2, random_state=5).fit(X, y).tree(0)
    page.open(tree.to_html(tmp_path / "tree.html"))
    looked_at = np.unique(tree.grown_.splits.column).tolist()
    assert 1 < len(looked_at) < 4
    asked = page.all("#person-form [data-column]")
    assert [int(field.get_attribute("data-column")) for field in asked] == looked_at


def test_a_tree_of_one_leaf_predicts(page, tmp_path):
    tree = hostile_tree(min_samples_leaf=240)
    page.open(tree.to_html(tmp_path / "tree.html"))
    assert "one leaf" in page.text("#person-lead")
    assert not page.find("#compare").is_displayed() and not page.find("#size-control").is_displayed()
    page.find("#person-form .primary").click()
    assert page.text("#person-leaf") == "Leaf 0"
    assert float(page.text("#person-risk")) == pytest.approx(tree.leaf_risk_[0], rel=1e-3)
