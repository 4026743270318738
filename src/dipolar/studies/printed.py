"""The printed tables, as bundled copies, and known reasons why a row of them cannot come out."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from importlib import resources

__all__ = [
    "MEASURES",
    "Printed",
    "Reason",
    "printed_medians",
    "printed_real",
    "printed_remission_scores",
    "printed_simulations",
    "reasons",
]

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


@dataclass(frozen=True)
class Reason:
    """Why printed rows cannot, or need not, come out; an empty field stands for any value."""

    table: str
    source: str
    model: str
    measure: str
    always: bool  # told whether or not the row comes out
    text: str

    def applies(self, row: Printed) -> bool:
        pairs = (
            (self.table, row.table),
            (self.source, row.source),
            (self.model, row.model),
            (self.measure, row.measure),
        )
        return all(mine in ("", theirs) for mine, theirs in pairs)


@cache
def printed_simulations(p: int) -> tuple[Printed, ...]:
    """Return the rows of the simulation table with p covariates."""
    rows = [row for row in _read("simulation_tables.csv") if row["p"] == str(p)]
    return tuple(entry for row in rows for entry in _entries(f"sim-p{p}", row["hazard"], row))


@cache
def printed_real() -> tuple[Printed, ...]:
    """Return the rows of the table of the five larger data sets."""
    return tuple(entry for row in _read("real_data_table.csv") for entry in _entries("real", row["data"], row))


@cache
def printed_remission_scores() -> tuple[Printed, ...]:
    """Return the five-fold scores of the Remission data, which are printed without standard deviations."""
    names = {"cv_ci": "ci", "cv_ibs": "ibs", "cv_pruned_nodes": "pruned_nodes"}
    return tuple(
        Printed(
            "remission", "folds", row["model"], names[row["table"]], float(row["value"]), None, _digits(row["value"])
        )
        for row in _read("remission_tables.csv")
        if row["table"] in names
    )


def printed_medians(model: str) -> dict[str, float]:
    """Return the medians of the leaves of a tree on the Remission data, by the way to the leaf."""
    rows = _read("remission_tables.csv")
    return {row["node"]: float(row["value"]) for row in rows if row["table"] == "median" and row["model"] == model}


@cache
def reasons() -> tuple[Reason, ...]:
    """Return what is known about rows that do not come out."""
    return tuple(
        Reason(row["table"], row["source"], row["model"], row["measure"], row["always"] == "yes", row["reason"])
        for row in _read("reasons.csv")
    )


def _entries(table: str, source: str, row: dict[str, str]) -> list[Printed]:
    return [
        Printed(
            table,
            source,
            MODELS[row["model"]],
            measure,
            float(row[f"{measure}_mean"]),
            float(row[f"{measure}_sd"]),
            _digits(row[f"{measure}_mean"]),
        )
        for measure in MEASURES
    ]


def _digits(text: str) -> int:
    return len(text.partition(".")[2])


def _read(name: str) -> list[dict[str, str]]:
    text = (resources.files("dipolar.studies") / "printed" / name).read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines()))
