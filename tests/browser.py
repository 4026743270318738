"""A browser with a report open, and the pictures of the documentation that it takes."""

import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.report_trees import whas

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
        self.driver.get_log("performance")
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
        """What the console has said since it was last asked."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses that were asked for since the page was opened."""
        messages = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


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


# What the page predicts for rows, for asking it about a member of its pruning path or the fitted tree.
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


def take_pictures(folder):
    """Draw the pictures of docs/report.md again: `python -m tests.browser docs/images`."""
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
