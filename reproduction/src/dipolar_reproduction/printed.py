"""The printed tables, as bundled copies, and known reasons why a row of them cannot come out."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

# What the tables call the trees.
MODELS = {
    "Univar": "univariate",
    "Univ": "univariate",
    "Linear": "linear",
    "Lin": "linear",
    "Quad": "quadratic",
    "Gauss": "gaussian",
}
MEASURES = ("ci", "ibs", "nodes", "pruned_nodes")


@dataclass(frozen=True)
class Printed:
    """A printed mean with its standard deviation, and the digits that it is printed with."""

    table: str
    source: str  # the hazard or the data set, as printed
    model: str
    measure: str  # one of MEASURES
    mean: float
    sd: float | None
    digits: int

    @property
    def rounding(self) -> float:
        """How far the printed mean may be from the one that was computed."""
        return 0.5 * 10.0**-self.digits

    @property
    def text(self) -> str:
        mean = f"{self.mean:.{self.digits}f}"
        return mean if self.sd is None else f"{mean} ({self.sd:.{self.digits}f})"


@cache
def printed_simulations(p: int) -> tuple[Printed, ...]:
    """Return the rows of the simulation table with p covariates."""
    return _entries(f"sim-p{p}", "hazard", [row for row in _read("simulation_tables.csv") if row["p"] == str(p)])


@cache
def printed_real() -> tuple[Printed, ...]:
    """Return the rows of the table of the five larger data sets."""
    return _entries("real", "data", _read("real_data_table.csv"))


@cache
def printed_remission_scores() -> tuple[Printed, ...]:
    """Return the five-fold scores of the Remission data, which are printed without standard deviations."""
    names = {"cv_ci": "ci", "cv_ibs": "ibs", "cv_pruned_nodes": "pruned_nodes"}
    rows = [row for row in _read("remission_tables.csv") if row["table"] in names]
    return tuple(
        _entry("remission", "folds", row["model"], names[row["table"]], row["value"]) for row in rows
    )  # fmt: skip


def printed_medians(model: str) -> dict[str, float]:
    """Return the medians of the leaves of a tree on the Remission data, by the way to the leaf."""
    rows = _read("remission_tables.csv")
    return {row["node"]: float(row["value"]) for row in rows if row["table"] == "median" and row["model"] == model}


def reasons(row: Printed, *, missed: bool) -> list[str]:
    """Return what is known about a row: why it cannot come out if it was missed, and what is to be said anyway."""
    names = ("table", "source", "model", "measure")
    return [
        reason["reason"]
        for reason in _read("reasons.csv")
        if all(reason[name] in ("", getattr(row, name)) for name in names) and (missed or reason["always"] == "yes")
    ]


def _entries(table: str, source: str, rows: list[dict[str, str]]) -> tuple[Printed, ...]:
    return tuple(
        _entry(table, row[source], MODELS[row["model"]], measure, row[f"{measure}_mean"], row[f"{measure}_sd"])
        for row in rows
        for measure in MEASURES
    )


def _entry(table: str, source: str, model: str, measure: str, mean: str, sd: str | None = None) -> Printed:
    digits = len(mean.partition(".")[2])
    return Printed(table, source, model, measure, float(mean), None if sd is None else float(sd), digits)


@cache
def _read(name: str) -> list[dict[str, str]]:
    text = (resources.files("dipolar_reproduction") / "printed" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
