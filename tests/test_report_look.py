"""How the page looks, in Chromium: nothing overlaps or runs off, on paper, in the dark and on a phone."""

import base64
import re

import pandas as pd
import pytest

from tests.browser import assert_nodes_are_apart
from tests.report_trees import HOSTILE_NAMES, fitted, hostile_tree, random_rows, whas


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("case", ["whas500", "long names", "forty leaves", "one leaf", "gaussian"])
def test_nothing_runs_off_the_page(page, tmp_path, case, width):
    X, y = random_rows(240, seed=5)
    frame = pd.DataFrame(X, columns=HOSTILE_NAMES)
    if case == "whas500":
        X, y, tree = whas()
        frame = X
    elif case == "gaussian":
        (_, y), tree = random_rows(), fitted("gaussian")[1]
        frame = random_rows()[0]
    else:
        settings = {
            "long names": {"min_samples_leaf": 15},
            "forty leaves": {"max_leaf_nodes": 40, "min_samples_leaf": 3},
        }
        tree = hostile_tree(**settings.get(case, {"min_samples_leaf": 240}))
        assert tree.n_leaves_ == {"forty leaves": 40, "one leaf": 1}.get(case, tree.n_leaves_)
    page.open(tree.to_html(tmp_path / "tree.html", X=frame, y=y), width)
    assert page.run("return document.documentElement.scrollWidth") <= width
    assert len(page.all("#canvas .leaf")) == tree.n_leaves_
    assert_nodes_are_apart(page)
    page.find("#layout").click()
    assert_nodes_are_apart(page)
    small = page.run("""
      const controls = document.querySelectorAll("main button:not(.link), main input, main select");
      return [...controls].filter((e) => e.offsetParent && e.getBoundingClientRect().height < 30).length""")
    assert small == 0


def test_it_prints(page, tmp_path):
    X, y, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html", X=X, y=y))
    printed = base64.b64decode(page.driver.execute_cdp_cmd("Page.printToPDF", {"printBackground": False})["data"])
    assert printed.startswith(b"%PDF")
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b(?!s)", printed)) <= 8
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        page.resize(700)
        page.run('document.querySelector("#person-form").requestSubmit()')
        assert page.find("#person-result .chart").is_displayed()
        page.run('document.querySelector("#person-clear").click()')
        assert not page.find("#person").is_displayed() and not page.find("nav").is_displayed()
        assert page.find("#canvas .leaf").is_displayed() and page.find("#leaves-table").is_displayed()
        assert page.run("return document.documentElement.scrollWidth") <= 700
        assert page.find("#canvas svg").size["width"] <= 700
    finally:
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_dark_and_light(page, tmp_path):
    _, _, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html"))
    colours = []
    for scheme in ("light", "dark"):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        colours.append(page.run("return getComputedStyle(document.body).backgroundColor"))
    page.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    assert colours[0] != colours[1]
