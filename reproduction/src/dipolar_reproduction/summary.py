"""Results as one row per unit, and their means and standard deviations."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from dipolar_reproduction.models import TRUTH
from dipolar_reproduction.scores import SCORES, TEST_SCORES
from dipolar_reproduction.study import Results, Unit
from dipolar_reproduction.trial import RULES, THRESHOLDS

KEYS = ["source", "model"]

# The columns of the frame of trials that have means: `rule.score` for each rule of pruning and each score.
VALUES = (
    *(f"{rule}.nodes" for rule in RULES),
    *(f"{rule}.{score}" for rule in RULES for score in SCORES),
    *(f"nodes_at_{price:g}" for price in THRESHOLDS),
)


def trial_frame(results: Results) -> pd.DataFrame:
    """Return one row per tree, with its eta and `VALUES`."""
    rows = [_trial_row(unit, record) for unit, record in results.items() if unit.model != TRUTH]
    return pd.DataFrame(rows, columns=[*KEYS, "replicate", "eta", *VALUES])


def truth_frame(results: Results) -> pd.DataFrame:
    """Return one row per sample with the scores of its true model."""
    truths = [(unit, record["truth"]) for unit, record in results.items() if unit.model == TRUTH]
    rows = [[unit.source, unit.model, unit.replicate, *scores] for unit, scores in truths]
    return pd.DataFrame(rows, columns=[*KEYS, "replicate", *TEST_SCORES])


def summarise(frame: pd.DataFrame, columns: Iterable[str] = VALUES) -> pd.DataFrame:
    """Return mean, sample standard deviation and number of known values, by source and model.

    The columns of the result are pairs (column, "mean" | "std" | "count"). A score that is not defined in a unit is
    missing there, and does not count.
    """
    values = frame[list(columns)].astype(float)
    return values.groupby([frame[key] for key in KEYS], sort=False).agg(["mean", "std", "count"])


def means(frame: pd.DataFrame, columns: Iterable[str]) -> pd.DataFrame:
    """Return the means alone."""
    return summarise(frame, columns).xs("mean", axis=1, level=1)


def _trial_row(unit: Unit, record: Mapping[str, Any]) -> dict[str, Any]:
    row = {"source": unit.source, "model": unit.model, "replicate": unit.replicate, "eta": record["eta"]}
    for rule in RULES:
        row[f"{rule}.nodes"] = record["nodes"][rule]
        row |= {f"{rule}.{score}": value for score, value in zip(SCORES, record["scores"][rule])}
    return row | {f"nodes_at_{price:g}": size for price, size in zip(THRESHOLDS, record["nodes_at"])}
