"""The encoder: what becomes of columns, by hand, by a slow twin, for pandas and polars, in pipelines and in files."""

import datetime
import json
import zipfile
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import pipeline as sklearn_pipeline
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import StandardScaler

import dipolar
from dipolar import (
    CovariateEncoder,
    DipoleSurvivalForest,
    LogRankSurvivalForest,
    LogRankSurvivalTree,
    SurvivalTreeCV,
    make_pipeline,
)
from dipolar.model_file import ModelFileError
from dipolar.preparation import Feature, find_disguises
from tests.reference import preparation as slow

LEVELS = ("I", "II", "III", "IV")


def patients(n=80, seed=0):
    """Rows with every kind of column, and their outcome."""
    rng = np.random.default_rng(seed)
    age = rng.integers(40, 90, n).astype(float)
    X = pd.DataFrame(
        {
            "age": np.where(rng.random(n) < 0.2, np.nan, age),
            "sex": rng.choice(["m", "f"], n, p=[0.6, 0.4]),
            "stage": rng.choice(LEVELS, n, p=[0.1, 0.4, 0.3, 0.2]),
            "grade": pd.Categorical(rng.choice(["low", "mid", "high"], n), ["low", "mid", "high"], ordered=True),
            "smoker": rng.random(n) < 0.3,
            "lab": [f"{value:.1f}" for value in rng.normal(5, 2, n)],
            "seen": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.permutation(n) * 7, "D"),
            "site": "A",
            "patient_id": [f"P{i:03d}" for i in range(n)],
        }
    )
    X.loc[3, "lab"] = "<1"
    X.loc[5, ["sex", "stage"]] = None
    time = np.ceil(rng.exponential(np.exp(9 - age / 12)))
    return X, dipolar.survival_outcome(time, rng.random(n) < 0.7)


def encoded(X, **parameters):
    return CovariateEncoder(**parameters).fit_transform(X)


# What becomes of the columns.


def test_every_kind_of_column():
    X, _ = patients()
    encoder = CovariateEncoder().fit(X)
    assert encoder.get_feature_names_out().tolist() == [
        *("age", "age=missing", "sex=f", "stage=I", "stage=III", "stage=IV", "grade", "smoker", "lab")
    ]
    lines = dict(line.split(": ", 1) for line in encoder.describe().splitlines())
    assert lines["sex"] == "categories; f against m, the most common; 1 missing value set to 'm', the most common"
    assert lines["grade"] == "ordered categories; 0 to 2 for low < mid < high"
    assert lines["smoker"] == "booleans; 1 for true, 0 for false"
    assert lines["lab"].startswith("numbers; 1 cell read as missing, not a number: '<1'; 1 missing value set to ")
    assert lines["seen"] == 'left out, a date: it may tell the outcome (dates="days" counts it)'
    assert lines["site"] == "left out, always A"
    assert lines["patient_id"].startswith("left out, an identifier")
    frame = encoder.decision_frame().set_index("column")
    assert frame.loc["stage", "kind"] == "category" and frame.loc["site", "kind"] == "left out"
    assert encoder.columns_used_ == ["age", "sex", "stage", "grade", "smoker", "lab"]


def test_the_frame_that_comes_out():
    X, _ = patients()
    X.index = X.index * 3
    out = CovariateEncoder(handle_unknown="ignore").fit(X).transform(X)
    assert isinstance(out, pd.DataFrame) and out.index.equals(X.index)
    assert set(out.dtypes) == {np.dtype(np.float64)} and not out.isna().any().any()
    assert out["grade"].tolist() == X["grade"].cat.codes.tolist()
    assert out["age=missing"].tolist() == X["age"].isna().astype(float).tolist()
    array = CovariateEncoder().fit_transform(X.to_numpy(dtype=object))
    assert isinstance(array, np.ndarray) and array.dtype == np.float64


def test_dates_are_days_since_the_first():
    day = datetime.date(2020, 1, 1)
    X = pd.DataFrame(
        {"seen": [day, None, day + datetime.timedelta(10), day], "text": ["3.1.2020", "", "5.1.2020", "-"]}
    )
    encoder = CovariateEncoder(dates="days").fit(X)
    assert encoder.transform(X)["seen [days]"].tolist() == [0, 0, 10, 0]
    assert encoder.transform(X)["text [days]"].tolist() == [0, 1, 2, 1]
    assert encoder.say(("seen [days]", 3.5, True)) == "seen after 2020-01-04"
    aware = pd.DataFrame({"a": pd.to_datetime(["2020-01-01 01:00", "2020-01-02 01:00"]).tz_localize("Europe/Zurich")})
    assert encoded(aware, dates="days")["a [days]"].tolist() == [0, 1]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, 2, None, 4], [1, 2, 2, 4]),
        ([Decimal("1.5"), Decimal("2"), Decimal("NaN"), None], [1.5, 2, 1.75, 1.75]),
        (pd.array([1, 2, None, 4], dtype="Int64"), [1, 2, 2, 4]),
        ([10**400, 1, 2, pd.NA], [1.5, 1, 2, 1.5]),
        (["1", "2.0", "", "4e0"], [1, 2, 2, 4]),
        (["1", "2", "NA", "N/A"], [1, 2, 1.5, 1.5]),
        (pd.array([True, None, False, True], dtype="boolean"), [1, 1, 0, 1]),
        ([True, None, False, np.nan], [1, 0, 0, 0]),
        (pd.to_timedelta(["1D", None, "3D", "36h"]), [1, 1.5, 3, 1.5]),
    ],
)
def test_numbers_and_booleans_in_all_their_types(cells, expected):
    frame = pd.DataFrame({"x": cells if hasattr(cells, "dtype") else pd.Series(cells, dtype=object)})
    assert encoded(frame)["x"].tolist() == expected


def test_columns_may_be_chosen():
    X, _ = patients()

    def columns(**parameters):
        return CovariateEncoder(**parameters).fit(X).columns_used_

    assert columns(only=["age", "smoker"]) == ["age", "smoker"]
    assert "age" not in columns(drop=["age"])
    assert "patient_id" in columns(categorical=["patient_id"])
    assert "seen" in columns(dates="days")
    assert CovariateEncoder(drop={"age": "not known at entry"}).fit(X).decisions_[0].done == "not known at entry"
    codes = pd.DataFrame({"code": [1.0, 2.0, 3.0, 3.0]})
    assert list(encoded(codes, categorical=["code"])) == ["code=1", "code=2"]
    assert encoded(codes, ordinal={"code": [3, 2, 1]})["code"].tolist() == [2, 1, 0, 0]
    assert encoded(pd.DataFrame({"g": ["10", "9", "9", "x"]}), ordinal={"g": ["x", "9", "10"]})["g"].tolist() == [
        2,
        1,
        1,
        0,
    ]
    assert encoded(pd.DataFrame({"g": ["b", "a", "c", "a"]}), ordinal=["g"])["g"].tolist() == [1, 0, 2, 0]
    assert encoded(codes.astype("category"), ordinal=["code"])["code"].tolist() == [0, 1, 2, 2]


def test_the_reference_and_rare_levels():
    X = pd.DataFrame({"stage": ["I"] * 2 + ["II"] * 5 + ["III"] + ["IV"]})
    assert list(encoded(X)) == ["stage=I", "stage=III", "stage=IV"]
    assert list(encoded(X, reference="first")) == ["stage=II", "stage=III", "stage=IV"]
    assert list(encoded(X, reference=None)) == ["stage=I", "stage=II", "stage=III", "stage=IV"]
    assert list(encoded(X[:7], reference=None)) == ["stage=I"]
    for least in (2, 0.2):
        rare = CovariateEncoder(min_frequency=least).fit(X)
        assert rare.get_feature_names_out().tolist() == ["stage=I", "stage=rare"]
        assert rare.transform(X)["stage=rare"].tolist() == [0] * 7 + [1, 1]
        assert "rare are III, IV" in rare.describe()
    declared = X.astype(pd.CategoricalDtype(["IV", "III", "II", "I", "0"]))
    assert list(encoded(declared, reference="first")) == ["stage=III", "stage=II", "stage=I"]


def test_gaps_are_marked_where_there_are_many():
    def names(n_gaps, n=200, **parameters):
        values = np.arange(n) % 7.0
        values[:n_gaps] = np.nan
        return list(encoded(pd.DataFrame({"x": values}), **parameters))

    assert names(9) == ["x"] and names(10) == ["x", "x=missing"]
    assert names(10, 201) == ["x"] and names(11, 201) == ["x", "x=missing"]
    assert names(1, add_indicator=True) == ["x", "x=missing"] and names(0, add_indicator=True) == ["x"]
    assert names(50, add_indicator=False) == ["x"] and names(50, missing="keep") == ["x"]


def test_gaps_may_be_kept():
    X, _ = patients()
    out = encoded(X, missing="keep")
    assert out["age"].isna().tolist() == X["age"].isna().tolist()
    assert out.loc[5, ["sex=f", "stage=I", "stage=III", "stage=IV"]].isna().all()
    assert "1 missing value left as it is" in CovariateEncoder(missing="keep").fit(X).describe()


def test_cells_that_the_training_rows_do_not_explain():
    X = pd.DataFrame({"stage": ["I", "II", "II", "III"], "x": [1.0, 2.0, 3.0, 3.0]})
    new = pd.DataFrame({"stage": ["V", "VI", None], "x": ["7", "?!", None]})
    encoder = CovariateEncoder().fit(X)
    with pytest.warns(UserWarning, match=r"stage: 2 cells read as missing, .*'V', 'VI'; x: 1 cell .*'\?!'") as caught:
        out = encoder.transform(new)
    assert len(caught) == 1
    assert out.to_dict("list") == {"stage=I": [0, 0, 0], "stage=III": [0, 0, 0], "x": [7, 2.5, 2.5]}
    assert clone(encoder).set_params(handle_unknown="ignore").fit(X).transform(new).equals(out)
    with pytest.raises(ValueError, match=r"stage: 2 cells .*handle_unknown='warn'"):
        clone(encoder).set_params(handle_unknown="error").fit(X).transform(new)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"missing": "drop"}, "missing must be one of"),
        ({"dates": "years"}, "dates must be one of"),
        ({"add_indicator": "yes"}, "add_indicator must be"),
        ({"min_frequency": 0}, "min_frequency must be a number > 0"),
        ({"max_levels": 1}, "max_levels must be an integer >= 2"),
        ({"only": "age"}, r"only must be a list of names of columns, got 'age'. Give \['age'\]"),
        ({"drop": ["aeg"]}, "drop names a column that X does not have: 'aeg'. Did you mean 'age'"),
        ({"ordinal": {"stage": ["I", "II"]}}, r"ordinal\['stage'\] has no place for 'III', 'IV', which occur"),
        ({"ordinal": {"stage": "I"}}, r"ordinal\['stage'\] must list at least two levels"),
        ({"ordinal": ["stage"], "categorical": ["stage"]}, "categorical and ordinal both name stage"),
        ({"only": ["site"]}, r"no covariate is left: .*site \(always A\)"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        CovariateEncoder(**parameters).fit(patients()[0])


def test_tables_that_are_refused():
    with pytest.raises(ValueError, match="several columns called 'a'"):
        CovariateEncoder().fit(pd.DataFrame([[1, 2], [3, 4]], columns=["a", "a"]))
    with pytest.raises(ValueError, match="Complex data not supported"):
        CovariateEncoder().fit(pd.DataFrame({"a": [1j, 2j]}))
    with pytest.raises(ValueError, match="X should have at least 2 rows and a column, got 0 x 1"):
        CovariateEncoder().fit(pl.DataFrame({"a": []}))
    with pytest.raises(NotFittedError):
        CovariateEncoder().transform([[1]])
    with pytest.raises(ValueError, match="weight is zero"):
        CovariateEncoder().fit([[1], [2]], sample_weight=[0, 0])


def test_two_covariates_of_one_name_are_told_apart():
    X = pd.DataFrame({"a=b": [1.0, 2.0, 2.0], "a": ["b", "c", "c"]})
    assert list(encoded(X)) == ["a=b", "a=b #2"]


# Against the slow twin.

NUMBERS = st.lists(st.one_of(st.none(), st.integers(-3, 9)), min_size=2, max_size=60)
TEXTS = st.lists(st.sampled_from([*LEVELS, None]), min_size=2, max_size=60)


@given(NUMBERS)
def test_numbers_agree_with_the_twin(cells):
    if len({cell for cell in cells if cell is not None}) < 2 or len(cells) >= 10 == len(set(cells)):
        return
    frame = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    expected = np.hstack([slow.encode_numbers(cells, cells), slow.mark_gaps(cells, cells)])
    # Numbers that follow each other are no covariate; naming the column says that they are.
    assert np.array_equal(encoded(frame, only=["x"]), expected)


@given(TEXTS, TEXTS, st.sampled_from(["most_common", "first"]))
def test_levels_agree_with_the_twin(training, cells, reference):
    if len({cell for cell in training if cell is not None}) < 2:
        return
    encoder = CovariateEncoder(reference=reference, handle_unknown="ignore").fit(pd.DataFrame({"x": training}))
    levels = slow.encode_levels(training, cells, reference)
    marks = [1.0 - (cell in set(training) - {None}) for cell in cells]
    marks = np.array(marks)[:, None] if len(slow.mark_gaps(training, training)[0]) else np.empty((len(cells), 0))
    out = encoder.transform(pd.DataFrame({"x": pd.Series(cells, dtype=object)}))
    assert np.array_equal(out, np.hstack([levels, marks]))


@given(TEXTS, st.permutations(LEVELS))
def test_orders_agree_with_the_twin(cells, order):
    if len({cell for cell in cells if cell is not None}) < 2:
        return
    expected = np.hstack([slow.encode_order(cells, cells, order), slow.mark_gaps(cells, cells)])
    assert np.array_equal(encoded(pd.DataFrame({"x": cells}), ordinal={"x": order}), expected)


# Tables of any columns.

CELLS = {
    "numbers": st.one_of(st.none(), st.floats(-1e6, 1e6).map(lambda value: round(value, 2))),
    "wholes": st.one_of(st.none(), st.integers(-5, 5)),
    "booleans": st.one_of(st.none(), st.booleans()),
    "texts": st.one_of(st.none(), st.sampled_from(["a", "b", "c", "", "NA", " a ", "İ", "1"])),
    "written numbers": st.sampled_from(["1", "2.5", "", "-3"]),
    "dates": st.one_of(st.none(), st.dates(datetime.date(1950, 1, 1), datetime.date(2050, 1, 1))),
    "constant": st.just("x"),
    "gaps": st.none(),
}


@st.composite
def tables(draw):
    """Columns of any kinds, as lists."""
    n = draw(st.integers(2, 40))
    kinds = draw(st.lists(st.sampled_from(list(CELLS)), min_size=1, max_size=4))
    return {f"c{i} {kind}": draw(st.lists(CELLS[kind], min_size=n, max_size=n)) for i, kind in enumerate(kinds)}


@st.composite
def parameters(draw):
    return {
        "dates": draw(st.sampled_from(["drop", "days"])),
        "missing": draw(st.sampled_from(["fill", "keep"])),
        "add_indicator": draw(st.sampled_from(["auto", True, False])),
        "reference": draw(st.sampled_from(["most_common", "first", None])),
        "min_frequency": draw(st.sampled_from([None, 2, 0.3])),
        "handle_unknown": "ignore",
    }


def fitted_or_refused(X, chosen, weight=None):
    """An encoder and its covariates; None where there is none to be had."""
    encoder = CovariateEncoder(**chosen)
    try:
        encoder.fit(X, sample_weight=weight)
    except ValueError as error:
        assert "no covariate is left" in str(error)
        return None, None
    return encoder, np.asarray(encoder.transform(X))


def frame_of(table):
    return pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in table.items()})


@given(tables(), parameters(), st.randoms())
@settings(max_examples=60)
def test_relations_that_hold_for_any_table(table, chosen, random):
    X = frame_of(table)
    encoder, values = fitted_or_refused(X, chosen)
    if encoder is None:
        return
    assert values.dtype == np.float64 and values.shape == (len(X), len(encoder.get_feature_names_out()))
    assert chosen["missing"] == "keep" or np.isfinite(values).all()
    order = random.sample(range(len(X)), len(X))
    again, shuffled = fitted_or_refused(X.iloc[order], chosen)
    assert again.describe() == encoder.describe() and np.array_equal(shuffled, values[order], equal_nan=True)
    restored = CovariateEncoder.from_json(json.loads(json.dumps(encoder.to_json())))
    assert np.array_equal(restored.transform(X), values, equal_nan=True)
    assert restored.describe() == encoder.describe() and restored.features_ == encoder.features_
    assert restored.get_params() == encoder.get_params()
    one_by_one = np.vstack([encoder.transform(X.iloc[[row]]) for row in range(min(5, len(X)))])
    assert np.array_equal(one_by_one, values[:5], equal_nan=True)


@given(tables(), parameters(), st.data())
@settings(max_examples=60)
def test_a_row_twice_is_weight_two(table, chosen, data):
    X = frame_of(table)
    weight = np.array(data.draw(st.lists(st.integers(0, 3), min_size=len(X), max_size=len(X))))
    if weight.sum() < 2:
        return
    encoder, _ = fitted_or_refused(X, chosen, weight)
    repeated, _ = fitted_or_refused(X.loc[np.repeat(X.index, weight)], chosen)
    assert (encoder is None) == (repeated is None)
    if encoder is not None:
        assert encoder.features_ == repeated.features_
        assert np.array_equal(encoder.transform(X), repeated.transform(X), equal_nan=True)


@given(tables(), parameters())
@settings(max_examples=60)
def test_pandas_and_polars_give_the_same(table, chosen):
    X = pl.DataFrame({name: pl.Series(name, cells, strict=False) for name, cells in table.items()})
    encoder, values = fitted_or_refused(X, chosen)
    other, expected = fitted_or_refused(frame_of(table), chosen)
    assert (encoder is None) == (other is None)
    if encoder is not None:
        assert encoder.describe() == other.describe() and np.array_equal(values, expected, equal_nan=True)
        out = encoder.transform(X)
        assert isinstance(out, pl.DataFrame) and out.columns == encoder.get_feature_names_out().tolist()


def test_typed_columns_of_polars():
    X, _ = patients()
    order = pl.Enum(["low", "mid", "high"])
    other = pl.from_pandas(X.assign(grade=X["grade"].astype(str))).with_columns(
        pl.col("grade").cast(order), pl.col("stage").cast(pl.Categorical), pl.col("age").cast(pl.Float32)
    )
    chosen = {"dates": "days", "ordinal": ["grade"], "handle_unknown": "ignore"}
    mine, theirs = CovariateEncoder(**chosen).fit(X), CovariateEncoder(**chosen).fit(other)
    assert mine.describe() == theirs.describe()
    assert np.array_equal(mine.transform(X), theirs.transform(other))
    assert np.array_equal(mine.transform(other), theirs.transform(X))


def test_set_output():
    X, _ = patients()
    encoder = CovariateEncoder(handle_unknown="ignore").fit(X)
    expected = encoder.transform(X)
    assert encoder.set_output(transform="polars").transform(X).to_numpy().tolist() == expected.to_numpy().tolist()
    assert encoder.set_output(transform="pandas").transform(pl.from_pandas(X)).equals(expected)


# Names for rules.


@pytest.mark.parametrize(
    ("conditions", "words"),
    [
        ([("sex=f", 0.5, True)], "sex is f"),
        ([("sex=f", 0.5, False)], "sex is m"),
        ([("stage=I", 0.5, True)], "stage is I"),
        ([("stage=I", 0.5, False)], "stage is not I"),
        ([("stage=I", 0.5, False), ("stage=IV", 0.5, False)], "stage is II or III"),
        ([("stage=I", 0.5, False), ("stage=III", 0.5, False), ("stage=IV", 0.5, False)], "stage is II"),
        ([("stage=I", 0.5, True), ("stage=IV", 0.5, True)], "stage is none of I, II, III or IV"),
        ([("smoker", 0.5, True)], "smoker is true"),
        ([("smoker", 0.5, False)], "smoker is false"),
        ([("age=missing", 0.5, True)], "age is missing"),
        ([("age=missing", 0.5, False)], "age is known"),
        ([("grade", 0.5, False)], "grade is low"),
        ([("grade", 1.5, False)], "grade is mid or lower"),
        ([("grade", 0.5, True)], "grade is mid or higher"),
        ([("grade", 0.5, True), ("grade", 1.5, False)], "grade is mid"),
        ([("age", 75.35, False), ("age", 64.4, False)], "age <= 64.4"),
        ([("age", 60, True), ("sex=f", 0.5, True), ("age", 70, False)], "60 < age <= 70 and sex is f"),
        ([(0, 60, True)], "age > 60"),
    ],
)
def test_conditions_are_said_of_the_columns(conditions, words):
    encoder = CovariateEncoder().fit(patients()[0])
    assert encoder.say(*conditions) == words


def test_features_say_themselves():
    encoder = CovariateEncoder().fit(patients()[0])
    feature = encoder.features_[2]
    assert feature == Feature("sex=f", "sex", "level", "f", ("f", "m"), values=(0.0, 1.0))
    assert feature.say(0.5, True) == "sex is f"
    pair = CovariateEncoder().fit(pd.DataFrame({"ill": [3, 5, 5]})).features_[0]
    assert pair.say(4, False) == "ill is 3" and pair.say(4, True) == "ill is 5" and pair.say(5, False) == "ill <= 5"
    with pytest.raises(ValueError, match=r"no covariate 'sex=m'\. Did you mean 'sex=f'"):
        encoder.say(("sex=m", 0.5, True))


def test_of_many_levels_the_first_are_listed():
    X = pd.DataFrame({"ward": [f"W{number:02d}" for number in range(20)] * 2})
    encoder = CovariateEncoder(reference="first").fit(X)
    assert "W01, W02, W03, W04, W05, W06, W07, W08 and 11 more against W00" in encoder.describe()


def test_importances_are_summed_by_column():
    encoder = CovariateEncoder().fit(patients()[0])
    total = encoder.aggregate(np.arange(9.0))
    assert total.to_dict() == {"age": 1, "sex": 2, "stage": 12, "grade": 6, "smoker": 7, "lab": 8}
    with pytest.raises(ValueError, match=r"shape \(9,\), got \(2,\)"):
        encoder.aggregate([1, 2])


# Models.


def test_pipelines_work_from_end_to_end():
    X, y = patients()
    encoder = CovariateEncoder(handle_unknown="ignore")
    pipeline = make_pipeline(encoder, DipoleSurvivalForest(n_estimators=3, random_state=0)).fit(X, y)
    assert pipeline[-1].feature_names_in_.tolist() == pipeline[0].get_feature_names_out().tolist()
    assert pipeline.predict_survival_function(X, times=[10, 20]).shape == (len(X), 2)
    inner = pipeline[-1]
    for name in ("predict_median", "predict_rmst", "predict_quantile", "apply"):
        assert np.array_equal(getattr(pipeline, name)(X), getattr(inner, name)(pipeline[:-1].transform(X)))
    assert not hasattr(make_pipeline(encoder, StandardScaler()), "predict_median")
    assert 0.5 < pipeline.score(X, y) <= 1
    plain = sklearn_pipeline.make_pipeline(encoder, DipoleSurvivalForest(n_estimators=3, random_state=0)).fit(X, y)
    assert plain.predict(X).tolist() == pipeline.predict(X).tolist()
    assert clone(pipeline).fit(X, y).predict(X).tolist() == pipeline.predict(X).tolist()
    trees = make_pipeline(encoder, LogRankSurvivalForest(n_estimators=3, random_state=0))
    assert np.isfinite(cross_val_score(trees, X, y, cv=2)).all()
    search = GridSearchCV(trees, {"covariateencoder__missing": ["fill", "keep"]}, cv=2).fit(X, y)
    assert search.best_params_["covariateencoder__missing"] in ("fill", "keep")
    assert trees.fit(pl.from_pandas(X.assign(grade=X["grade"].cat.codes)), y).score(
        pl.from_pandas(X.assign(grade=X["grade"].cat.codes)), y
    )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_models_name_columns_that_are_no_numbers_and_the_encoder(make):
    y = ([1, 2, 3, 4], [True] * 4)
    day = datetime.datetime(2020, 1, 1)
    table = {"age": [1.0, 2.0, 3.0, 4.0], "sex": ["m", "f", "f", "1"], "seen": [day] * 4}
    with pytest.raises(ValueError, match=r"numbers: sex \('m'\), seen \(2020-01-01.*CovariateEncoder\(\), estimator\)"):
        LogRankSurvivalTree().fit(make(table), y)
    with pytest.raises(ValueError, match=r"seen \(2020-01-01"):
        LogRankSurvivalTree().fit(make({"seen": [day] * 4}), y)
    with pytest.raises(ValueError, match=r"age <NA>|X has columns that are not numbers: age \(<NA>\)"):
        LogRankSurvivalTree().fit(pd.DataFrame({"age": [1, 2, pd.NA, 3]}, dtype=object), y)


def models():
    small = {"max_depth": 2, "random_state": 0}
    return [
        LogRankSurvivalTree(**small),
        LogRankSurvivalForest(n_estimators=2, **small),
        DipoleSurvivalForest(n_estimators=2, random_state=0),
        SurvivalTreeCV(LogRankSurvivalTree(**small), max_depth=[1, 2], cv=2, random_state=0),
    ]


@pytest.mark.parametrize("model", models(), ids=lambda model: type(model).__name__)
def test_models_and_pipelines_are_saved_in_one_file(model, tmp_path):
    X, y = patients()
    make = sklearn_pipeline.make_pipeline if isinstance(model, SurvivalTreeCV) else make_pipeline
    pipeline = make(CovariateEncoder(handle_unknown="ignore"), model).fit(X, y)
    dipolar.save(pipeline, tmp_path / "p")
    loaded = dipolar.load(tmp_path / "p")
    assert [name for name, _ in loaded.steps] == [name for name, _ in pipeline.steps]
    assert loaded.predict(X).tolist() == pipeline.predict(X).tolist()
    assert loaded[0].describe() == pipeline[0].describe()
    Z = pipeline[0].transform(X)
    assert type(model).load(tmp_path / "p").predict(Z).tolist() == pipeline.predict(X).tolist()
    dipolar.save(pipeline[1], tmp_path / "m")
    assert dipolar.load(tmp_path / "m").predict(Z).tolist() == pipeline.predict(X).tolist()


def test_what_cannot_be_saved_says_so(tmp_path):
    for other in (CovariateEncoder(), make_pipeline(StandardScaler(), LogRankSurvivalTree()), 3):
        with pytest.raises(ValueError, match="cannot be saved without pickle"):
            dipolar.save(other, tmp_path / "p")
    with pytest.raises(NotFittedError):
        dipolar.save(make_pipeline(CovariateEncoder(), LogRankSurvivalTree()), tmp_path / "p")
    assert list(tmp_path.iterdir()) == []


CHANGES = [
    {"format": "other"},
    {"version": 1},
    {"version": 99},
    {"n_columns": 0},
    {"n_columns": 1},
    {"columns": ["a"]},
    {"columns": 3},
    {"parameters": {"missing": "x"}},
    {"parameters": {"script": 1}},
    {"recipes": []},
    {"recipes": 3},
    {"recipes": [{"kind": "script", "name": "x"}]},
    {"recipes": [{"kind": "number", "name": "x", "place": 0, "marks_gaps": False}]},
    {"recipes": [{"kind": "number", "name": "x", "place": -1, "marks_gaps": False, "fill": 0.0}]},
    {"recipes": [{"kind": "number", "name": "x", "place": 0, "marks_gaps": False, "fill": 10**400}]},
    {"recipes": [{"kind": "number", "name": "x", "place": 0, "marks_gaps": False, "fill": "1"}]},
    {"recipes": [{"kind": "boolean", "name": "x", "place": 0, "marks_gaps": False, "fill": 1}]},
    {"recipes": [{"kind": "ordered", "name": "x", "place": 0, "marks_gaps": False, "fill": 2, "levels": ["a", "b"]}]},
    {"recipes": [{"kind": "category", "name": "x", "place": 0, "marks_gaps": False, "levels": ["a", "a"]}]},
    {
        "recipes": [
            {"kind": "date", "name": "x", "place": 0, "marks_gaps": 0, "form": None, "origin": "soon", "fill": 0.0}
        ]
    },
    {"decisions": [{"column": 1, "kind": "x", "done": "y"}]},
    {"decisions": [3]},
    {"steps": ["a"]},
    {"steps": ["a", "a"]},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: str(change)[:60])
def test_damaged_files_are_refused_in_one_way(change, tmp_path):
    X, y = patients()
    pipeline = make_pipeline(CovariateEncoder(handle_unknown="ignore"), LogRankSurvivalTree(max_depth=1)).fit(X, y)
    dipolar.save(pipeline, tmp_path / "p")
    with zipfile.ZipFile(tmp_path / "p") as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    entries["preparation.json"] = json.dumps(json.loads(entries["preparation.json"]) | change).encode()
    with zipfile.ZipFile(tmp_path / "p", "w") as archive:
        for name, content in entries.items():
            archive.writestr(name, content)
    with pytest.raises(ModelFileError):
        dipolar.load(tmp_path / "p")


def test_a_preparation_of_another_model_is_refused(tmp_path):
    X, y = patients()
    model = LogRankSurvivalTree(max_depth=1).fit(X[["smoker"]].astype(float), y)
    pipeline = make_pipeline(CovariateEncoder(only=["age"]).fit(X), model)
    dipolar.save(pipeline, tmp_path / "p")
    with pytest.raises(ModelFileError, match="belongs to another model"):
        dipolar.load(tmp_path / "p")


# The outcome in disguise.


def test_covariates_that_are_the_outcome_are_found():
    rng = np.random.default_rng(0)
    time, event = rng.exponential(1, 50), rng.random(50) < 0.6
    X = np.column_stack([-np.log(time), rng.normal(size=50), event, np.where(rng.random(50) < 0.1, np.nan, time)])
    found = find_disguises(X, ["a", "b", "c", "d"], time, event)
    assert [(disguise.column, disguise.what) for disguise in found] == [("a", "time"), ("c", "event"), ("d", "time")]
    assert found[0].correlation == pytest.approx(-1) and "in disguise" in found[0].words()
    assert find_disguises(X[:19], ["a", "b", "c", "d"], time[:19], event[:19]) == []
