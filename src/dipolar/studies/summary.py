"""Results as one row per unit, and their means and standard deviations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from dipolar.studies.models import TRUTH
from dipolar.studies.scores import SCORES
from dipolar.studies.trial import RULES, THRESHOLDS
from dipolar.studies.unit import Unit

__all__ = ["Results", "summarise", "trial_frame", "truth_frame", "value_columns"]

# Results of the units of a plan, in the order of the plan.
Results = Mapping[Unit, Mapping[str, Any]]

KEYS = ["source", "model"]


def trial_frame(results: Results) -> pd.DataFrame:
    """Return one row per tree: the sizes, and `rule.score` for each rule of pruning and each score."""
    rows = [_trial_row(unit, record) for unit, record in results.items() if unit.model != TRUTH]
    return pd.DataFrame(rows, columns=[*_unit_row(Unit("", 0, "")), "eta", *value_columns()])


def truth_frame(results: Results) -> pd.DataFrame:
    """Return one row per sample with the scores of its true model."""
    scores = SCORES[:5]
    rows = [
        _unit_row(unit) | dict(zip(scores, record["truth"]))
        for unit, record in results.items()
        if unit.model == TRUTH
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=[*_unit_row(Unit("", 0, "")), *scores])


def summarise(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Return mean, sample standard deviation and number of known values, by source and model.

    The columns of the result are pairs (column, "mean" | "std" | "count"). A score that is not defined in a unit is
    missing there, and does not count.
    """
    values = frame[list(columns)].astype(float)
    return values.groupby([frame[key] for key in KEYS], sort=False).agg(["mean", "std", "count"])


def _unit_row(unit: Unit) -> dict[str, Any]:
    return {"source": unit.source, "replicate": unit.replicate, "model": unit.model}


def value_columns() -> list[str]:
    """Return the columns of the frame of trials that have means."""
    scores = [f"{rule}.{score}" for rule in RULES for score in SCORES]
    return [*(f"{rule}.nodes" for rule in RULES), *scores, *(f"nodes_at_{price:g}" for price in THRESHOLDS)]


def _trial_row(unit: Unit, record: Mapping[str, Any]) -> dict[str, Any]:
    row = _unit_row(unit) | {"eta": record["eta"]}
    for rule in RULES:
        row[f"{rule}.nodes"] = record["nodes"][rule]
        row |= {f"{rule}.{score}": value for score, value in zip(SCORES, record["scores"][rule])}
    return row | {f"nodes_at_{price:g}": size for price, size in zip(THRESHOLDS, record["nodes_at"])}
