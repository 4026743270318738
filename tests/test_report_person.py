"""A person and the encoder, in Chromium: the page and the pipeline agree, and the page says what it does not know."""

import warnings

import numpy as np
import pytest
from selenium.webdriver.support.ui import Select

from dipolar import CovariateEncoder, LogRankSurvivalTree, make_pipeline, survival_outcome
from dipolar.tree.described import describe
from dipolar.tree.ways import way_to
from tests.browser import close
from tests.report_trees import ENCODED, as_cells, clinic, clinic_people, encoded

PREDICT = """
const [names, people, times] = arguments;
return people.map((cells) => {
  const p = dipolarReport.predictPerson(Object.fromEntries(cells.map((cell, i) => [names[i], cell])));
  return { leaf: p.leaf, risk: p.risk, median: p.median, rmst: p.restrictedMean,
           survival: times.map(p.survivalAt), hazard: times.map(p.hazardAt) };
});
"""


@pytest.mark.parametrize("kind", list(ENCODED))
def test_page_and_pipeline_agree(page, tmp_path, kind):
    X, y, model = encoded(kind)
    tree, people = model[-1], clinic_people()
    page.open(model.to_html(tmp_path / "tree.html", X=X, y=y, scores="training"))
    found = page.run(PREDICT, list(people), as_cells(people), tree.unique_times_.tolist())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # cells that the training rows do not explain
        seen = model[:-1].transform(people)
    assert [one["leaf"] for one in found] == tree.apply(seen).tolist()
    assert len({one["leaf"] for one in found}) > 2
    close([one["risk"] for one in found], tree.predict(seen))
    close([np.nan if one["median"] is None else one["median"] for one in found], tree.predict_median(seen, "nan"))
    close([one["rmst"] for one in found], tree.predict_rmst(seen))
    close([one["survival"] for one in found], tree.predict_survival_function(seen, return_array=True))
    close([one["hazard"] for one in found], tree.predict_cumulative_hazard_function(seen, return_array=True))


def fill_in(page, **cells):
    """Type or choose, by the label of the field."""
    page.find("#person-clear").click()
    for name, cell in cells.items():
        label = next(one for one in page.all("#person-form label") if one.text.split(" (")[0] == name)
        field = page.find(f"#{label.get_attribute('for')}")
        if field.tag_name == "select":
            Select(field).select_by_visible_text(cell)
        elif field.get_attribute("type") == "date":
            page.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", field, cell)
        else:
            field.send_keys(cell)
    page.find("#person-form .primary").click()


@pytest.fixture
def clinic_page(page, tmp_path):
    X, y, model = encoded("linear")
    path = model.to_html(tmp_path / "tree.html", X=X, y=y, units={"age": "years"}, time_unit="days", scores="training")
    return page.open(path)


def person(model, **cells):
    row = dict.fromkeys(clinic()[0]) | cells
    X = clinic()[0].iloc[:1].astype(object)
    for name, cell in row.items():
        X[name] = [cell]
    return model[-1].apply(model[:-1].transform(X))[0]


def test_fields_are_of_the_kind_of_their_column(clinic_page):
    fields = {
        label.text: clinic_page.find(f"#{label.get_attribute('for')}")
        for label in clinic_page.all("#person-form label")
    }
    kinds = {name: field.get_attribute("type") for name, field in fields.items()}
    assert kinds["age (years)"] == "text" and kinds["admitted"] == "date"
    choices = {name: [o.text for o in Select(fields[name]).options] for name in ("stage", "grade", "smoker", "code")}
    assert choices == {
        "stage": ["unknown", "I", "II", "III"],
        "grade": ["unknown", "low", "mid", "high"],
        "smoker": ["unknown", "yes", "no"],
        "code": ["unknown", "1", "2", "3", "rare (17, 18)"],
    }
    assert "40 to 90 in the training data" in clinic_page.text("#covariate-0-hint")
    assert "unknown is taken as 'm', the most common" in clinic_page.text("#person-form")


def test_a_person_outside_the_range(clinic_page):
    _, _, model = encoded("linear")
    fill_in(clinic_page, age="107,5", sex="f", stage="III", grade="mid", smoker="yes", admitted="2023-01-01",
            code="rare (17, 18)", arm="5")  # fmt: skip
    told = clinic_page.text("#person-notes")
    assert "age 107.5 years is 17.5 years above the range of the training data, 40 to 90" in told
    assert "admitted 2023-01-01 is" in told and "days above the range" in told and "Unknown" not in told
    assert "above the range" in clinic_page.text("#covariate-0-hint")
    leaf = person(model, age=107.5, sex="f", stage="III", grade="mid", smoker=True,
                  admitted=np.datetime64("2023-01-01"), code="17", arm=5.0)  # fmt: skip
    assert clinic_page.text("#person-leaf") == f"Leaf {leaf}"
    fill_in(clinic_page, age="60", arm="4")
    assert "arm was 3 or 5 in the training data, never 4" in clinic_page.text("#person-notes")


def test_a_gap(clinic_page):
    _, _, model = encoded("linear")
    fill_in(clinic_page, sex="f", stage="II")
    told = clinic_page.text("#person-notes")
    assert "Unknown: age (taken as" in told and "the median" in told and "stage" not in told
    assert clinic_page.text("#person-leaf") == f"Leaf {person(model, sex='f', stage='II')}"


def test_an_unknown_category(clinic_page):
    ask = "const p = dipolarReport.predictPerson(arguments[0]); return [p.leaf, p.odd, p.unknown]"
    leaf, odd, unknown = clinic_page.run(ask, {"age": 60, "sex": "f", "stage": "IV", "smoker": True})
    assert odd == ["stage"] and set(unknown) == {"stage", "grade", "admitted", "code", "arm"}
    assert leaf == clinic_page.run(ask, {"age": 60, "sex": "f", "smoker": True})[0]


def test_the_answer(page, tmp_path):
    X, y, model = encoded("univariate")
    tree = model[-1]
    page.open(model.to_html(tmp_path / "tree.html", X=X, y=y, time_unit="days", scores="training"))
    fill_in(page, age="75", arm="5", admitted="2020-05-06")
    leaf = person(model, age=75.0, arm=5.0, admitted=np.datetime64("2020-05-06"))
    assert page.text("#person-leaf") == f"Leaf {leaf}"
    n, events = tree.tree_.n_samples[leaf], tree.tree_.n_events[leaf]
    assert page.text("#person-like") == f"{n:g} of {len(X)} rows ({100 * n / len(X):.0f} %), {events:g} events"
    way = way_to(tree.tree_, leaf, describe(model).names)
    assert page.text("#person-way") == " and ".join(way).replace("<=", "≤")
    assert "arm is 5 (here 5)" in page.text("#person-result .path")
    field = page.find("#person-times")
    field.clear()
    field.send_keys("100 7,5 0")
    field.send_keys("\t")
    rows = [
        [cell.text for cell in row.find_elements("css selector", "th, td")]
        for row in page.all("#person-survival tbody tr")
    ]
    assert [row[0] for row in rows] == ["0", "7.5", "100"]
    table = tree.tree_.tables[int(np.searchsorted(tree.tree_.leaves, leaf))]
    assert rows[1][1] == f"{100 * table.survival_function()(7.5):.0f} %"
    assert rows[0][1:] == ["100 %", "100 % to 100 %", f"{n:g}"]


def test_a_model_that_cannot_take_gaps_asks_for_everything(page, tmp_path):
    X, y = clinic()
    X = X[["sex", "stage"]].dropna()
    pipeline = make_pipeline(CovariateEncoder(missing="keep"), encoded("linear")[2][-1].__class__(max_depth=2))
    model = pipeline.fit(X, y[X.index])
    page.open(model.to_html(tmp_path / "tree.html"))
    assert Select(page.find("#person-form select")).first_selected_option.text == "choose"
    page.find("#person-form .primary").click()
    assert "is empty" in page.text("#person-error")


def test_what_was_done_to_the_columns(page, tmp_path):
    X, y, model = encoded("univariate")
    X = X.assign(patient_id=[f"ZH-{number:04d}" for number in range(len(X))])
    model = make_pipeline(CovariateEncoder(), LogRankSurvivalTree(max_depth=2)).fit(X, y)
    page.open(model.to_html(tmp_path / "tree.html", X=X, y=y, scores="training"))
    rows = {row.find_element("tag name", "th").text: row.text for row in page.all("#preparation-table tbody tr")}
    assert set(rows) == set(X)
    assert "left out: an identifier" in rows["patient_id"] and "left out: a date" in rows["admitted"]
    assert "missing values set to" in rows["age"] and "I and" in rows["stage"]
    page.open(model[-1].to_html(tmp_path / "plain.html"))
    assert not page.find("#preparation").is_displayed()


def test_cross_validated_scores_stand_first(page, tmp_path):
    X, y, model = encoded("univariate")
    page.open(model.to_html(tmp_path / "tree.html", X=X, y=y))
    heads = [head.text for head in page.all("#scores-table thead th")]
    assert heads[1].startswith("On held-out rows (5 folds)") and heads[2].startswith("On the training data")
    assert "of 100 pairs" in page.text("#scores-table") and "One curve for everybody" in page.text("#scores-table")
    assert "Harrell’s C, cross-validated" in page.text("#key-figures")


def test_all_leaves_are_on_one_picture(page, tmp_path):
    _, _, model = encoded("univariate")
    page.open(model.to_html(tmp_path / "tree.html"))
    assert len(page.all("#leaves-chart .curve")) == model[-1].n_leaves_
    names = {text.get_attribute("textContent") for text in page.all("#leaves-chart .curve-name")}
    assert names == {f"Leaf {leaf}" for leaf in model[-1].tree_.leaves}


def test_a_median_that_rests_on_one_row_is_marked(page, tmp_path):
    X = np.repeat([[0.0], [1.0]], 10, axis=0)
    time = np.concatenate([np.arange(1, 11), np.arange(11, 21)])
    event = np.r_[np.ones(10), np.zeros(9), 1].astype(bool)
    tree = LogRankSurvivalTree(min_samples_leaf=5).fit(X, survival_outcome(time, event))
    page.open(tree.to_html(tmp_path / "tree.html"))
    assert "rests on the one row" in page.text("#leaves-table")
    assert "median 20*" in page.text("#canvas") and "A median with *" in page.text("#tree-lead")
