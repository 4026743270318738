"""The picture of the tree in Chromium: clicked, walked by keyboard, closed, zoomed and pruned."""

import numpy as np
import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.browser import PREDICT, assert_nodes_are_apart, close
from tests.report_trees import as_json, whas


def test_a_click_on_a_leaf_shows_its_numbers(page, tmp_path):
    X, y, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html", X=X, y=y))
    frame = tree.node_frame()
    leaves = frame.index[frame.is_leaf]
    assert sorted(int(item.get_attribute("data-number")) for item in page.all("#canvas .leaf")) == leaves.tolist()
    for leaf in leaves:
        page.find(f'#canvas [data-number="{leaf}"]').click()
        assert page.text("#details h3") == f"Leaf {leaf}"
        shown = page.pairs("#details .pairs")
        assert int(shown["Rows"]) == frame.n[leaf]
        assert int(shown["Events"].split(" ")[0]) == frame.events[leaf]
        if np.isinf(frame["median"][leaf]):
            assert shown["Median"].startswith("not reached")
        else:
            assert float(shown["Median"].split(" ")[0]) == pytest.approx(frame["median"][leaf], rel=1e-3)
        assert len(page.all("#details .path li")) == frame.depth[leaf]
        assert len(page.all("#details .chart .curve")) == 1
        assert "optimistic" in page.text("#details .band-note")
    last = page.all("#details .path li")[-1].text
    parent = frame.parent[leaves[-1]]
    assert last.split(" ")[0] == frame.rule[parent].split(" ")[0]


def test_the_slider_walks_the_pruning_path(page, tmp_path):
    X, _, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html"))
    slider = page.find("#size")
    path = tree.pruning_path_
    assert page.text("#size-text") == f"{tree.n_leaves_} leaves, the fitted tree"
    slider.send_keys(Keys.HOME)
    rows = X.to_numpy()[::25]
    sizes = []
    for member in range(len(path) - 1, -1, -1):
        drawn = len(page.all("#canvas .leaf"))
        sizes.append(drawn)
        assert page.text("#size-text").startswith(f"{drawn} lea")
        assert len(page.all("#leaves-table tbody tr")) == drawn
        pruned = tree.prune(path.alphas[member])
        found = page.run(PREDICT, as_json(rows), [], member)
        assert [one["leaf"] for one in found] == pruned.apply(X.iloc[::25]).tolist()
        close([one["risk"] for one in found], pruned.predict(X.iloc[::25]))
        slider.send_keys(Keys.ARROW_RIGHT)
    assert sizes == path.n_leaves[::-1].tolist()
    page.find("#size-reset").click()
    assert len(page.all("#canvas .leaf")) == tree.n_leaves_


def test_branches_close_and_open(page, tmp_path):
    _, _, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html"))
    before = len(page.all("#canvas .node"))
    root = page.find('#canvas [data-node="0"]')
    left = page.find(f'#canvas [data-number="{tree.tree_.left[0]}"]')
    inner = left if tree.tree_.left[tree.tree_.left[0]] >= 0 else root
    inner.find_element(By.CSS_SELECTOR, ".toggle").click()
    assert len(page.all("#canvas .node")) < before
    assert page.all("#canvas .node.closed")
    page.find("#expand").click()
    assert len(page.all("#canvas .node")) == before


def test_another_size_opens_all_branches_and_predicts_again(page, tmp_path):
    X, _, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html"))
    for field in page.all("#person-form [data-column]"):
        field.send_keys(repr(float(X.iloc[0, int(field.get_attribute("data-column"))])))
    page.find("#person-form .primary").click()
    page.find('#canvas [data-node="0"] .toggle').click()
    assert len(page.all("#canvas .node")) == 1
    page.find("#size").send_keys(Keys.ARROW_LEFT)
    smaller = tree.prune(tree.pruning_path_.alphas[tree.member_ + 1])
    assert len(page.all("#canvas .leaf")) == smaller.n_leaves_ < tree.n_leaves_
    assert page.text("#person-leaf") == f"Leaf {smaller.apply(X.iloc[[0]])[0]}"
    assert "not the fitted one" in page.text("#person-result .note")


def test_zoom_and_layout(page, tmp_path):
    _, _, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html"))

    def width():
        return page.find("#canvas svg").size["width"]

    fit = width()
    page.find("#zoom-in").click()
    assert width() == pytest.approx(1.25 * fit, abs=2)
    page.find("#zoom-fit").click()
    assert width() == fit
    page.find("#layout").click()
    assert page.find("#layout").get_attribute("aria-pressed") == "true"
    assert_nodes_are_apart(page)


def test_hovering_tells_about_a_node(page, tmp_path):
    _, _, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html"))
    assert not page.find("#tip").is_displayed()
    webdriver.ActionChains(page.driver).move_to_element(page.find('#canvas [data-node="0"] .title')).perform()
    assert f"{tree.tree_.n_samples[0]:g} rows, {tree.tree_.n_events[0]:g} events" in page.text("#tip")


def test_a_walk_by_keyboard(page, tmp_path):
    X, y, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html", X=X, y=y))

    def focused():
        return page.driver.switch_to.active_element

    page.press(Keys.TAB)
    assert focused().text == "Skip to the tree"
    seen = []
    for _ in range(40):
        page.press(Keys.TAB)
        seen.append(focused().get_attribute("id"))
        if focused().get_attribute("data-node") is not None:
            break
    assert focused().get_attribute("data-node") == "0"
    assert seen.index("size") < seen.index("zoom-in") < seen.index("layout")
    stroke = page.run("return getComputedStyle(document.activeElement.querySelector('.box')).strokeWidth")
    assert stroke == "4px"
    assert page.find("#tip").is_displayed()

    page.press(Keys.ARROW_RIGHT)
    assert focused().get_attribute("data-number") == str(tree.tree_.left[0])
    page.press(Keys.END, Keys.ENTER)
    number = focused().get_attribute("data-number")
    assert page.text("#details h3") == f"Leaf {number}"
    assert focused().get_attribute("aria-selected") == "true"
    page.press(Keys.HOME, Keys.ARROW_LEFT)
    assert focused().get_attribute("aria-expanded") == "false"
    assert len(page.all("#canvas .node")) == 1
    page.press(Keys.ARROW_RIGHT)
    assert focused().get_attribute("aria-expanded") == "true"
    assert len(page.all("#canvas .node")) == tree.tree_.n_nodes

    for _ in range(10):
        page.press(Keys.TAB)
        if focused().get_attribute("data-column") is not None:
            break
    row = X.iloc[[0]]
    names = []
    while focused().get_attribute("data-column") is not None:
        feature = int(focused().get_attribute("data-column"))
        names.append(feature)
        page.press(*repr(float(row.iloc[0, feature])), Keys.TAB)
    assert names == sorted(set(tree.tree_.splits.feature[tree.tree_.is_split].tolist()))
    assert focused().text == "Predict"
    outline = page.run("return getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px"
    page.press(Keys.SPACE)
    assert page.text("#person-leaf") == f"Leaf {tree.apply(row)[0]}"


def test_everything_has_a_name(page, tmp_path):
    X, y, tree = whas()
    page.open(tree.to_html(tmp_path / "tree.html", X=X, y=y))
    nameless = page.run("""
      const all = document.querySelectorAll("button, input, select, [role=treeitem], [role=img], [tabindex]");
      const isNamed = (e) => e.textContent.trim() || e.hasAttribute("aria-label") || e.hasAttribute("aria-labelledby")
        || (e.labels && e.labels.length);
      return [...all].filter((e) => !isNamed(e)).map((e) => e.outerHTML.slice(0, 80));""")
    assert nameless == []
    assert page.find('[role="tree"]').get_attribute("aria-label")
    ids = page.run('return [...document.querySelectorAll("[id]")].map((e) => e.id)')
    assert len(ids) == len(set(ids))
