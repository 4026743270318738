"""The bundled data: counts, columns, missing values, and what the loaders hand out."""

import doctest
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dipolar import datasets
from dipolar.datasets import loaders
from dipolar.datasets.loaders import OUTCOME_COLUMNS, SOURCES, _read_table
from dipolar.survival import OUTCOME_DTYPE, check_outcome

# name: rows, events, covariates of the paper, number of covariates known at entry
EXPECTED = {
    "remission": (42, 30, ["TR", "logWBC"], 3),
    "addicts": (238, 150, ["clinic", "prison", "dose"], 3),
    "cost": (518, 404, ["age", "strokeScore", "diabetes", "atrialFib", "smoke"], 13),
    "leuksurv": (1043, 879, ["age", "wbc", "tpi", "xcoord", "ycoord"], 7),
    "mgus": (241, 225, ["age", "sex", "hgb", "mspike"], 7),
    "whas500": (461, 176, ["hr", "diasbp", "bmi", "gender", "chf"], 14),
    "whas500_full": (500, 215, ["hr", "diasbp", "bmi", "gender", "chf"], 14),
}

LOADERS = {
    "remission": datasets.load_remission,
    "addicts": datasets.load_addicts,
    "cost": datasets.load_cost,
    "leuksurv": datasets.load_leuksurv,
    "mgus": datasets.load_mgus,
    "whas500": datasets.load_whas500,
}

every_dataset = pytest.mark.parametrize("name", EXPECTED)
every_loader = pytest.mark.parametrize("name", LOADERS)


@every_dataset
def test_rows_events_and_paper_covariates(name):
    n, events, covariates, _ = EXPECTED[name]
    bunch = datasets.load_dataset(name)
    assert bunch.data.shape == (n, len(covariates))
    assert list(bunch.data.columns) == bunch.feature_names == covariates
    assert bunch.target.dtype == OUTCOME_DTYPE
    assert len(bunch.target) == n
    assert bunch.target["event"].sum() == events
    assert bunch.target["time"].min() > 0


@every_dataset
def test_target_is_the_first_two_columns_of_the_file(name):
    table = _read_table(SOURCES[name])
    assert tuple(table.columns[:2]) == OUTCOME_COLUMNS
    outcome = check_outcome(datasets.load_dataset(name).target)
    np.testing.assert_array_equal(outcome.time, table["time"])
    np.testing.assert_array_equal(outcome.event, table["event"] == 1)


@every_dataset
def test_all_covariates_are_numbers_known_at_entry(name):
    bunch = datasets.load_dataset(name, covariates="all")
    recorded_later = {"pcdx", "pctime", "los", "dstat", "disdate", "fdate"}
    assert bunch.data.shape[1] == EXPECTED[name][3]
    assert set(EXPECTED[name][2]) <= set(bunch.feature_names)
    assert not recorded_later & set(bunch.feature_names)
    assert not {"time", "event"} & set(bunch.feature_names)
    assert all(pd.api.types.is_numeric_dtype(dtype) for dtype in bunch.data.dtypes)


@every_loader
def test_named_loader_passes_every_choice_on(name):
    load = LOADERS[name]
    X, y = load(return_X_y=True, as_frame=False, covariates="all")
    expected = datasets.load_dataset(name, covariates="all")
    assert isinstance(X, np.ndarray) and X.dtype == np.float64
    np.testing.assert_array_equal(X, expected.data.to_numpy(dtype=float))
    np.testing.assert_array_equal(y, expected.target)
    assert load().name == name
    assert load().feature_names == EXPECTED[name][2]


@every_dataset
def test_frame_puts_outcome_and_covariates_side_by_side(name):
    bunch = datasets.load_dataset(name)
    assert list(bunch.frame.columns) == ["time", "event", *bunch.feature_names]
    pd.testing.assert_frame_equal(bunch.frame[bunch.feature_names], bunch.data)
    assert datasets.load_dataset(name, as_frame=False).frame is None


@every_dataset
def test_description_names_source_licence_and_columns(name):
    bunch = datasets.load_dataset(name, covariates="all")
    heading = "whas500" if name == "whas500_full" else name
    assert bunch.DESCR.startswith(f"## {heading}\n")
    assert bunch.DESCR.count("\n## ") == 0
    assert "Source:" in bunch.DESCR and "licence" in bunch.DESCR
    assert all(f"`{column}`" in bunch.DESCR for column in bunch.feature_names)
    assert f"{EXPECTED[name][0]} " in bunch.DESCR
    assert bunch.filename == f"{name}.csv"


def test_missing_values_stay_missing():
    paper = datasets.load_mgus().data.isna().sum()
    assert paper[paper > 0].to_dict() == {"hgb": 1}
    assert np.isnan(datasets.load_mgus().data["hgb"].iloc[1])
    everything = datasets.load_mgus(covariates="all").data.isna().sum()
    assert everything[everything > 0].to_dict() == {"hgb": 1, "creat": 43, "alb": 31}
    assert np.isnan(datasets.load_mgus(as_frame=False).data).sum() == 1


@pytest.mark.parametrize("name", [name for name in EXPECTED if name != "mgus"])
def test_nothing_else_is_missing(name):
    assert not datasets.load_dataset(name, covariates="all").data.isna().any(axis=None)


def test_whas500_leaves_out_the_deaths_in_hospital():
    full = _read_table(SOURCES["whas500_full"])
    in_hospital = full["dstat"] == 1
    assert full.loc[in_hospital, "event"].eq(1).all()
    pd.testing.assert_frame_equal(full[~in_hospital].reset_index(drop=True), _read_table(SOURCES["whas500"]))
    assert len(datasets.load_whas500(complete=True).data) == 500
    assert len(datasets.load_whas500().data) == 461


def test_whas500_agrees_with_scikit_survival():
    sksurv_datasets = pytest.importorskip("sksurv.datasets")
    theirs, outcome = sksurv_datasets.load_whas500()
    X, y = datasets.load_whas500(complete=True, return_X_y=True)
    np.testing.assert_array_equal(y["time"], outcome["lenfol"])
    np.testing.assert_array_equal(y["event"], outcome["fstat"])
    for column in X.columns:
        np.testing.assert_allclose(X[column], theirs[column].astype(float), rtol=1e-6)


def test_remission_agrees_with_lifelines():
    lifelines_datasets = pytest.importorskip("lifelines.datasets")
    theirs = lifelines_datasets.load_leukemia()
    X, y = datasets.load_remission(return_X_y=True, covariates="all")
    ours = pd.DataFrame({"t": y["time"], "status": y["event"], **X.rename(columns={"TR": "Rx"})})
    for column in theirs.columns:
        np.testing.assert_allclose(ours[column].astype(float), theirs[column].astype(float))


def test_remission_arms_are_balanced():
    assert datasets.load_remission().data["TR"].value_counts().to_dict() == {0: 21, 1: 21}


def test_loading_twice_gives_independent_copies():
    first = datasets.load_addicts().data
    first.loc[0, "dose"] = -1
    assert datasets.load_addicts().data.loc[0, "dose"] == 50


def test_list_has_the_counts_of_every_data_set():
    listed = datasets.list_datasets()
    assert list(listed.columns) == ["name", "n", "events", "covariates", "time_unit", "description"]
    assert list(listed["name"]) == list(EXPECTED)
    for row in listed.itertuples():
        n, events, covariates, _ = EXPECTED[row.name]
        assert (row.n, row.events, row.covariates.split(", ")) == (n, events, covariates)
        assert row.description
        assert (
            row.time_unit
            == datasets.load_dataset(row.name).time_unit
            == ("weeks" if row.name == "remission" else "days")
        )


def test_unknown_name_lists_the_known_ones():
    with pytest.raises(ValueError, match=r"name must be one of \['remission'.*'whas500_full'\], got 'veteran'"):
        datasets.load_dataset("veteran")


def test_unknown_choice_of_covariates_says_the_way_out():
    with pytest.raises(ValueError, match=r"covariates must be 'paper' or 'all', got 'some'.*load 'all'"):
        datasets.load_cost(covariates="some")


def test_import_adds_nothing_heavy():
    """What `import dipolar` itself loads is not this module's matter; what it adds is."""
    script = (
        "import sys, dipolar, pandas, sklearn.utils\n"
        "before = set(sys.modules)\n"
        "import dipolar.datasets\n"
        "print(*sorted({name.split('.')[0] for name in set(sys.modules) - before}))"
    )
    printed = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert "dipolar" in printed.split()
    assert not {"numba", "matplotlib", "joblib", "polars", "sksurv"} & set(printed.split())


def test_examples_print_what_they_say():
    page = Path(__file__).parents[1] / "docs" / "datasets.md"
    for result in (doctest.testmod(loaders), doctest.testfile(str(page), module_relative=False)):
        assert result.attempted > 0
        assert result.failed == 0
