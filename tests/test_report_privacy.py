"""What the page lets in and out, in Chromium: names are text, nothing is asked of the network."""

import pandas as pd

from tests.report_trees import HOSTILE_NAMES, hostile_tree, random_rows, whas


def test_names_are_text(page, tmp_path):
    tree = hostile_tree(min_samples_leaf=12)
    X, y = random_rows(240, seed=5)
    title = "<img src=x onerror='window.hacked = 3'>"
    page.open(
        tree.to_html(
            tmp_path / "tree.html", X=pd.DataFrame(X, columns=HOSTILE_NAMES), y=y, title=title, time_unit="<b>d</b>"
        )
    )
    assert page.run("return window.hacked") is None
    assert page.text("h1") == title and page.driver.title == title
    assert not page.all("img") and not page.all("main b") and len(page.all("script")) == 2
    labels = [label.get_attribute("textContent") for label in page.all("#person-form label")]
    assert labels == HOSTILE_NAMES
    assert {cell.get_attribute("textContent") for cell in page.all("#data-body tbody th")} == set(HOSTILE_NAMES)


def test_the_page_adds_one_name_to_the_window(page, tmp_path):
    """Everything else is private to its script; what an id names is the browser's doing."""
    empty = tmp_path / "empty.html"
    empty.write_text("<!DOCTYPE html><title>empty</title>")
    names = "return Object.getOwnPropertyNames(window).filter((name) => !/^\\d+$/.test(name))"
    before = set(page.open(empty).run(names))
    opened = page.open(whas()[2].to_html(tmp_path / "tree.html"))
    assert set(opened.run(names)) - before == {"dipolarReport"}
    private = "return [typeof $compute_statistics, typeof Format, typeof state, typeof drawTree]"
    assert set(opened.run(private)) == {"undefined"}


def test_the_page_asks_the_network_for_nothing(page, tmp_path):
    X, y, tree = whas()
    path = tree.to_html(tmp_path / "tree.html", X=X, y=y)
    page.open(path)
    page.find("#canvas .leaf").click()
    page.find("#person-form .primary").click()
    assert set(page.requests()) <= {path.as_uri(), "data:,"}


def test_a_request_would_be_noticed(page, tmp_path):
    """The test above can fail: a picture from elsewhere is seen."""
    path = tmp_path / "bad.html"
    path.write_text("<img src='http://127.0.0.1:9/x.png'>")
    page.open(path)
    assert "http://127.0.0.1:9/x.png" in page.requests()
    assert "x.png" in page.complaints()[0]
