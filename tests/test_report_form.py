"""The form that predicts for one person, in Chromium: typed into, and compared with Python."""

import numpy as np
import pytest

from tests.browser import PREDICT, close
from tests.report_trees import KINDS, as_json, fitted, people


@pytest.mark.parametrize("kind", KINDS)
def test_the_form_agrees_with_python(page, tmp_path, kind):
    X, tree = fitted(kind)
    assert tree.n_leaves_ > 2
    page.open(tree.to_html(tmp_path / "tree.html"))
    rows = people(X)
    found = page.run(PREDICT, as_json(rows), tree.unique_times_.tolist(), None)
    assert [one["leaf"] for one in found] == tree.apply(rows).tolist()
    assert len({one["leaf"] for one in found}) > 2
    close([one["risk"] for one in found], tree.predict(rows))
    close([np.nan if one["median"] is None else one["median"] for one in found], tree.predict_median(rows, "nan"))
    close([one["rmst"] for one in found], tree.predict_rmst(rows))
    close([one["survival"] for one in found], tree.predict_survival_function(rows, return_array=True))
    close([one["hazard"] for one in found], tree.predict_cumulative_hazard_function(rows, return_array=True))
    for row, one in zip(rows, found):
        for node, score, left in one["steps"]:
            expected = tree.grown_.splits.score(row[None, :], node)[0]
            assert left == (expected < 0)
            assert (score is None) == bool(np.isinf(expected))
            if score is not None:
                assert score == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("kind", ["univariate", "quadratic", "gaussian"])
def test_typing_into_the_form(page, tmp_path, kind):
    X, tree = fitted(kind)
    page.open(tree.to_html(tmp_path / "tree.html"))
    for row in people(X, 3):
        page.find("#person-clear").click()
        for field in page.all("#person-form [data-column]"):
            value = row[int(field.get_attribute("data-column"))]
            field.send_keys("" if np.isnan(value) else repr(float(value)))
        page.find("#person-form .primary").click()
        assert page.text("#person-leaf") == f"Leaf {tree.apply(row[None, :])[0]}"
        risk = float(page.text("#person-risk"))
        assert risk == pytest.approx(tree.predict(row[None, :])[0], rel=1e-3)
        median = tree.predict_median(row[None, :])[0]
        shown = page.text("#person-median")
        assert shown.startswith("not reached") if np.isinf(median) else float(shown.split(" ")[0]) == pytest.approx(
            median, rel=1e-3
        )  # fmt: skip
        assert len(page.all("#person-result .path li")) == len(tree.decision_path(row[None, :]).indices) - 1
        assert len(page.all("#canvas .node.on-path")) == len(tree.decision_path(row[None, :]).indices)


def test_the_form_refuses_what_is_no_number(page, tmp_path):
    _, tree = fitted("gaussian")
    page.open(tree.to_html(tmp_path / "tree.html"))
    fields = page.all("#person-form [data-column]")
    for field, text in zip(fields, ["1,5", "two", "", "-3e-1"], strict=True):
        field.send_keys(text)
    page.find("#person-form .primary").click()
    assert page.text("#person-error").startswith("x1 is not a number; x2 is empty.")
    assert [field.get_attribute("aria-invalid") for field in fields] == ["false", "true", "true", "false"]
    assert not page.all("#person-leaf")
    fields[1].clear()
    fields[1].send_keys("2")
    fields[2].send_keys("0")
    page.find("#person-form .primary").click()
    assert page.text("#person-error") == ""
    assert page.text("#person-leaf") == f"Leaf {tree.apply([[1.5, 2.0, 0.0, -0.3]])[0]}"


def test_a_row_beyond_what_the_tree_can_score_is_refused(page, tmp_path):
    _, tree = fitted("cubic")
    page.open(tree.to_html(tmp_path / "tree.html"))
    for field, text in zip(page.all("#person-form [data-column]"), ["1e200", "-1e200", "1", "1"], strict=True):
        field.send_keys(text)
    page.find("#person-form .primary").click()
    assert page.text("#person-error").startswith("No prediction: these values are too far from the training rows")
    assert not page.all("#person-leaf")
    with pytest.raises(ValueError, match="beyond"):
        tree.predict([[1e200, -1e200, 1.0, 1.0]])


def test_without_the_form_nothing_can_be_computed(page, tmp_path):
    _, tree = fitted("gaussian")
    page.open(tree.to_html(tmp_path / "with.html"))
    assert f"{len(tree.grown_.splits.basis)} rows of the training data" in page.text("#about-rows")
    path = tree.to_html(tmp_path / "without.html", predict_form=False)
    value = repr(float(tree.grown_.splits.basis[0, 0]))
    assert value in (tmp_path / "with.html").read_text() and value not in path.read_text()
    page.open(path)
    assert "without its prediction form" in page.text("#person-lead")
    assert "No rows" in page.text("#about-rows")
    assert not page.all("#person-form input")
    refused = page.run("try { dipolarReport.predict([0, 0, 0, 0]); } catch (error) { return error.message; }")
    assert "without its prediction form" in refused
