"""Accuracy against size: how good the members of the pruning paths are, at each number of leaves."""

from __future__ import annotations

from typing import Any

import pandas as pd

from dipolar.studies.models import TRUTH
from dipolar.studies.summary import Results
from dipolar.studies.table import Table, number
from dipolar.studies.trial import PATH_SIZES

__all__ = ["PATH_SCORES", "size_frame", "size_table"]

PATH_SCORES = ("c_paper", "c_harrell", "ibs_graf")
TABLE_SIZES = (2, 3, 4, 8, 16, 32)


def size_frame(results: Results) -> pd.DataFrame:
    """Return means of the scores and of the leaves, by source, model and largest number of leaves allowed.

    A path does not have a member of every size; the largest with at most so many leaves stands in, and the mean of its
    leaves says how large it is. Sizes that no tree of a model reaches are absent.
    """
    rows = []
    for unit, record in results.items():
        if unit.model != TRUTH:
            rows += [
                [unit.source, unit.model, size, *max((p for p in record["path"] if p[0] <= size), key=lambda p: p[0])]
                for size in PATH_SIZES
            ]
    frame = pd.DataFrame(rows, columns=["source", "model", "size", "leaves", *PATH_SCORES])
    groups = frame.astype(dict.fromkeys(PATH_SCORES, float)).groupby(["source", "model", "size"], sort=False)
    means = groups.mean().reset_index()
    # Beyond the largest tree of all nothing changes any more.
    before = means.groupby(["source", "model"], sort=False)["leaves"].shift(fill_value=0.0)
    return means[means["leaves"] > before].reset_index(drop=True)


def size_table(results: Results, source_name: str) -> Table:
    """Return C and IBS of the four trees at a few sizes."""
    frame = size_frame(results)
    cells = {(row.source, row.model, row.size_): row for row in frame.rename(columns={"size": "size_"}).itertuples()}
    rows = [
        [source, model, *(_cell(cells.get((source, model, size))) for size in TABLE_SIZES)]
        for source, model in dict.fromkeys(zip(frame["source"], frame["model"]))
    ]
    notes = [
        "The paper's C / Harrell's C / IBS by Graf of the test rows: means over all replicates of the largest subtree "
        "on the pruning path with at most so many leaves. A dash: no tree is larger than in the column before.",
    ]
    columns = [source_name, "tree", *(f"{size} leaves" for size in TABLE_SIZES)]
    return Table("accuracy", "Accuracy against size", columns, rows, notes, in_terminal=False)


def _cell(row: Any) -> str:
    return "-" if row is None else " / ".join(number(getattr(row, score), 3) for score in PATH_SCORES)
