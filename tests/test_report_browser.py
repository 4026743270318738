"""The report in Chromium: clicked, typed into, walked by keyboard, printed, and compared with Python."""

import base64
import functools
import json
import os
import re
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from lifelines import KaplanMeierFitter
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from dipolar import DipoleSurvivalTree, LogRankSurvivalTree, survival_outcome
from dipolar.datasets import load_whas500
from dipolar.metrics import logrank_test

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")

OPTIONS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip


class Page:
    """A browser with a report open."""

    def __init__(self, profile):
        options = webdriver.ChromeOptions()
        options.binary_location = CHROMIUM
        for option in (*OPTIONS, f"--user-data-dir={profile}"):
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))

    def open(self, path, width=1440, height=1000):
        self.resize(width, height)
        self.driver.get("about:blank")
        for kind in ("browser", "performance"):
            self.driver.get_log(kind)
        self.driver.get(path.as_uri())
        return self

    def resize(self, width, height=1000):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.find(selector).text

    def pairs(self, selector):
        """The terms and descriptions of a list."""
        terms, values = ([item.text for item in self.all(f"{selector} {tag}")] for tag in ("dt", "dd"))
        return dict(zip(terms, values, strict=True))

    def press(self, *keys):
        for key in keys:
            webdriver.ActionChains(self.driver).send_keys(key).perform()

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    if CHROMIUM is None or DRIVER is None:
        if os.environ.get("CI") == "true":
            pytest.fail("chromium and chromedriver are needed: apt-get install chromium chromium-driver")
        pytest.skip("needs chromium and chromedriver")
    page = Page(tmp_path_factory.mktemp("profile"))
    yield page
    page.driver.quit()


@functools.cache
def whas():
    """A univariate tree of the Worcester Heart Attack Study."""
    X, y = load_whas500(return_X_y=True)
    return X, y, LogRankSurvivalTree(min_samples_leaf=15, pruning="fixed", alpha=12).fit(X, y)


def random_rows(n=200, n_features=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, n_features)) * 3 + 1
    hazard = np.exp(0.4 * X[:, 0] - 0.1 * X[:, 1] ** 2 / 3)
    time = np.round(rng.exponential(100 / hazard), 1)
    return X, survival_outcome(time, rng.random(n) < 0.7)


@functools.cache
def fitted(name):
    """Training rows and a tree, by the kind of its splits."""
    X, y = random_rows()
    if name == "univariate":
        X[np.random.default_rng(3).random(X.shape) < 0.1] = np.nan
        return X, LogRankSurvivalTree(min_samples_leaf=8).fit(X, y)
    settings = {
        "linear": {"kernel": "linear", "standardize": True},
        "quadratic": {"kernel": "quadratic", "kappa": 0.1, "standardize": True},
        "cubic": {"kernel": "polynomial", "degree": 3, "coef0": 0.5, "kappa": 0.01},
        "gaussian": {"kernel": "rbf", "standardize": True},
        "laplacian": {"kernel": "laplacian"},
        "sigmoid": {"kernel": "sigmoid", "gamma": 0.02, "standardize": True},
        "quadratic of rows": {"kernel": "quadratic", "kappa": 0.01, "standardize": True},
    }[name]
    if name == "quadratic of rows":  # 350 monomials are too many to be listed
        X, y = random_rows(n=80, n_features=25)
    return X, DipoleSurvivalTree(min_samples_split=40, min_samples_leaf=3, **settings).fit(X, y)


KINDS = ["univariate", "linear", "quadratic", "cubic", "gaussian", "laplacian", "sigmoid", "quadratic of rows"]


def people(X, n=200, seed=7):
    """Rows near and beyond the training rows, with missing values where these have some."""
    rng = np.random.default_rng(seed)
    rows = np.nanmean(X, axis=0) + 1.5 * np.nanstd(X, axis=0) * rng.normal(size=(n, X.shape[1]))
    if np.isnan(X).any():
        rows[rng.random(rows.shape) < 0.2] = np.nan
    return rows


def as_json(rows):
    return [[None if np.isnan(value) else float(value) for value in row] for row in rows]


PREDICT = """
const [rows, times, member] = arguments;
return rows.map((row) => {
  const p = member === null ? dipolarReport.predict(row) : dipolarReport.predict(row, member);
  return { leaf: p.leaf, risk: p.risk, median: p.median, rmst: p.restrictedMean,
           steps: p.steps.map(({ node, score, left }) => [node, score, left]),
           survival: times.map(p.survivalAt), hazard: times.map(p.hazardAt) };
});
"""


def close(actual, expected):
    np.testing.assert_allclose(np.asarray(actual, dtype=float), expected, rtol=1e-9, atol=1e-9)


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
        for node, score, _ in one["steps"]:
            expected = tree.grown_.splits.score(row[None, :], node)[0]
            assert (score is None) == bool(np.isnan(expected))
            if score is not None:
                assert score == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert page.complaints() == []


def test_rows_on_the_boundary_go_where_python_sends_them(page, tmp_path):
    X, tree = fitted("univariate")
    cuts = tree.tree_.splits
    rows = np.repeat(np.nanmean(X, axis=0)[None, :], 3 * tree.tree_.n_nodes, axis=0)
    for node in np.flatnonzero(tree.tree_.is_split):
        at = cuts.threshold[node]
        rows[3 * node : 3 * node + 3, cuts.feature[node]] = [np.nextafter(at, -np.inf), at, np.nextafter(at, np.inf)]
    page.open(tree.to_html(tmp_path / "tree.html"))
    found = page.run(PREDICT, as_json(rows), [], None)
    assert [one["leaf"] for one in found] == tree.apply(rows).tolist()


@pytest.mark.parametrize("kind", ["univariate", "quadratic", "gaussian"])
def test_typing_into_the_form(page, tmp_path, kind):
    X, tree = fitted(kind)
    page.open(tree.to_html(tmp_path / "tree.html"))
    for row in people(X, 3):
        page.find("#person-clear").click()
        for field in page.all("#person-form [data-feature]"):
            value = row[int(field.get_attribute("data-feature"))]
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
    assert page.complaints() == []


def test_the_form_refuses_what_is_no_number(page, tmp_path):
    _, tree = fitted("gaussian")
    page.open(tree.to_html(tmp_path / "tree.html"))
    fields = page.all("#person-form [data-feature]")
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
    assert page.complaints() == []


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
    assert page.complaints() == []


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
    for field in page.all("#person-form [data-feature]"):
        field.send_keys(repr(float(X.iloc[0, int(field.get_attribute("data-feature"))])))
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
        if focused().get_attribute("data-feature") is not None:
            break
    row = X.iloc[[0]]
    names = []
    while focused().get_attribute("data-feature") is not None:
        feature = int(focused().get_attribute("data-feature"))
        names.append(feature)
        page.press(*repr(float(row.iloc[0, feature])), Keys.TAB)
    assert names == sorted(set(tree.tree_.splits.feature[tree.tree_.is_split].tolist()))
    assert focused().text == "Predict"
    outline = page.run("return getComputedStyle(document.activeElement).outlineWidth")
    assert outline == "3px"
    page.press(Keys.SPACE)
    assert page.text("#person-leaf") == f"Leaf {tree.apply(row)[0]}"
    assert page.complaints() == []


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


NAMES = [
    "<script>window.hacked = 1</script>",
    "</script><img src=x onerror='window.hacked = 2'>",
    "👩‍⚕️ 🫀 " * 8,
    "a covariate with a very long name, measured twice at baseline and once later on",
]


def hostile_tree(seed=5, **settings):
    X, y = random_rows(240, seed=seed)
    return LogRankSurvivalTree(**settings).fit(pd.DataFrame(X, columns=NAMES), y)


def test_names_are_text(page, tmp_path):
    tree = hostile_tree(min_samples_leaf=12)
    X, y = random_rows(240, seed=5)
    title = "<img src=x onerror='window.hacked = 3'>"
    page.open(
        tree.to_html(tmp_path / "tree.html", X=pd.DataFrame(X, columns=NAMES), y=y, title=title, time_unit="<b>d</b>")
    )
    assert page.run("return window.hacked") is None
    assert page.text("h1") == title and page.driver.title == title
    assert not page.all("img") and not page.all("main b") and len(page.all("script")) == 2
    labels = [label.get_attribute("textContent") for label in page.all("#person-form label")]
    assert labels == NAMES
    assert {cell.get_attribute("textContent") for cell in page.all("#data-body tbody th")} == set(NAMES)
    assert page.complaints() == []


OVERLAPS = """
const boxes = [...document.querySelectorAll("#canvas .node .box")].map((box) => box.getBoundingClientRect());
const hit = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
let n = 0;
boxes.forEach((a, i) => boxes.slice(i + 1).forEach((b) => { if (hit(a, b)) n += 1; }));
const outside = [...document.querySelectorAll("#canvas .node")].flatMap((node) => {
  const box = node.querySelector(".box").getBoundingClientRect();
  return [...node.querySelectorAll("text")].filter((text) => {
    const t = text.getBoundingClientRect();
    return t.left < box.left - 1 || t.right > box.right + 1 || t.top < box.top - 2 || t.bottom > box.bottom + 2;
  }).map((text) => text.textContent);
});
return [n, outside];
"""


def assert_nodes_are_apart(page):
    overlaps, outside = page.run(OVERLAPS)
    assert overlaps == 0
    assert outside == []


@pytest.mark.parametrize("width", [390, 1440])
@pytest.mark.parametrize("case", ["whas500", "long names", "forty leaves", "one leaf", "gaussian"])
def test_nothing_runs_off_the_page(page, tmp_path, case, width):
    X, y = random_rows(240, seed=5)
    frame = pd.DataFrame(X, columns=NAMES)
    if case == "whas500":
        X, y, tree = whas()
        frame = X
    elif case == "gaussian":
        (_, y), tree = random_rows(), fitted("gaussian")[1]
        frame = random_rows()[0]
    else:
        settings = {"long names": {"min_samples_leaf": 15}, "forty leaves": {"max_leaf_nodes": 40}}
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
    assert page.complaints() == []


def test_a_tree_of_one_leaf_predicts(page, tmp_path):
    tree = hostile_tree(min_samples_leaf=240)
    page.open(tree.to_html(tmp_path / "tree.html"))
    assert "one leaf" in page.text("#person-lead")
    assert not page.find("#compare").is_displayed() and not page.find("#size-control").is_displayed()
    page.find("#person-form .primary").click()
    assert page.text("#person-leaf") == "Leaf 0"
    assert float(page.text("#person-risk")) == pytest.approx(tree.leaf_risk_[0], rel=1e-3)


def test_the_page_adds_one_name_to_the_window(page, tmp_path):
    """Everything else is private to its script; what an id names is the browser's doing."""
    empty = tmp_path / "empty.html"
    empty.write_text("<!DOCTYPE html><title>empty</title>")
    names = "return Object.getOwnPropertyNames(window).filter((name) => !/^\\d+$/.test(name))"
    before = set(page.open(empty).run(names))
    opened = page.open(whas()[2].to_html(tmp_path / "tree.html"))
    assert set(opened.run(names)) - before == {"dipolarReport"}
    private = "return [typeof Statistics, typeof Format, typeof state, typeof drawAll]"
    assert set(opened.run(private)) == {"undefined"}


def test_the_page_asks_the_network_for_nothing(page, tmp_path):
    X, y, tree = whas()
    path = tree.to_html(tmp_path / "tree.html", X=X, y=y)
    page.open(path)
    page.find("#canvas .leaf").click()
    page.find("#person-form .primary").click()
    assert set(page.requests()) <= {path.as_uri(), "data:,"}
    assert page.complaints() == []


def test_a_request_would_be_noticed(page, tmp_path):
    """The test above can fail: a picture from elsewhere is seen."""
    path = tmp_path / "bad.html"
    path.write_text("<img src='http://127.0.0.1:9/x.png'>")
    page.open(path)
    assert "http://127.0.0.1:9/x.png" in page.requests()


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
    assert page.complaints() == []


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
    page.open(tree.to_html(tmp_path / "tree.html", X=X, y=y))
    rows = {row.find_element(By.TAG_NAME, "th").text: row for row in page.all("#scores-table tbody tr")}
    assert list(rows) == ["Harrell’s C", "C of the medians", "Integrated Brier score"]
    assert rows["Harrell’s C"].find_element(By.TAG_NAME, "td").text == f"{tree.score(X, y):.4f}"
    assert "On the training data (461 rows, 176 events)" in page.text("#scores-table thead")
    shown = {row.find_element(By.TAG_NAME, "th").text: row.find_element(By.TAG_NAME, "td").text
             for row in page.all("#parameters tbody tr")}  # fmt: skip
    assert shown["alpha"] == "12" and shown["pruning"] == "'fixed'" and shown["max_depth"] == "None"


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


def take_pictures(folder):
    """Draw the pictures of docs/report.md again: `python -m tests.test_report_browser docs/images`."""
    X, y, tree = whas()
    with tempfile.TemporaryDirectory() as scratch:
        title = "WHAS500: survival after a heart attack"
        report = tree.to_html(Path(scratch, "whas500.html"), X=X, y=y, title=title, time_unit="days")
        page = Page(Path(scratch, "profile"))
        for name, width, height in (("report_whas500", 1440, 1060), ("report_phone", 390, 1500)):
            page.open(report, width, height).driver.save_screenshot(str(Path(folder, f"{name}.png")))
        page.driver.quit()


if __name__ == "__main__":
    take_pictures(sys.argv[1])
