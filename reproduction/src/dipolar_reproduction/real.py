"""The five larger data sets: `real`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from dipolar.datasets import load_dataset
from dipolar_reproduction.comparison import Comparison, compare, comparison_frame, comparison_table, reading_table
from dipolar_reproduction.models import INNER_FOLDS, TREES, Model, model_settings, paper_models
from dipolar_reproduction.printed import printed_real
from dipolar_reproduction.score_tables import all_scores_table, threshold_table
from dipolar_reproduction.scores import Rows
from dipolar_reproduction.study import Results, Study, Unit, seed_of
from dipolar_reproduction.table import Table
from dipolar_reproduction.trial import run_trial

# As printed, and as the data sets are called here.
DATA = {
    "Addicts": ("addicts",),
    "Cost": ("cost",),
    "LeukSurv": ("leuksurv",),
    "MGUS": ("mgus",),
    "WHAS500": ("whas500",),
}

# The paper's folds: ten, or twenty from so many rows on.
FEW_FOLDS, MANY_FOLDS, MANY_ROWS = 10, 20, 500

# Gaussian kernels on a thousand rows have full rank when covariates are in unequal units; the factor is cut off here.
MAX_RANK = 64

REMARK = (
    "The settings of the printed table are not published; those of the simulations are used. Rows with a missing "
    f"covariate are left out (one, of MGUS), and Gaussian kernels are cut off at rank {MAX_RANK}."
)


class RealStudy(Study):
    """Four trees on five data sets, tuned inside each of ten or twenty folds."""

    name = "real"
    title = "Larger data sets"
    sources = tuple(name for names in DATA.values() for name in names)
    models = TREES

    def replicates(self, source: str, runs: int | None) -> int:
        return MANY_FOLDS if len(complete_rows(source).y) >= MANY_ROWS else FEW_FOLDS

    def settings(self) -> dict[str, Any]:
        folds = {"folds": [FEW_FOLDS, MANY_FOLDS, MANY_ROWS], "inner_folds": INNER_FOLDS}
        return {**folds, "models": model_settings(real_models())}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        """Fit a model to all folds but one and score it there; all models meet the same folds."""
        rows, own_seed = complete_rows(unit.source), seed_of(unit.source, 0, seed)
        splitter = StratifiedKFold(self.replicates(unit.source, None), shuffle=True, random_state=own_seed % 2**31)
        fold = list(splitter.split(rows.X, rows.y["event"]))[unit.replicate]
        train, test = (Rows(rows.X[part], rows.y[part]) for part in fold)
        trial = run_trial(real_models()[unit.model], train, test, seed_of(unit.source, unit.replicate, seed))
        return {"seed": own_seed, **trial}

    def comparisons(self, results: Results) -> list[Comparison]:
        return compare(results, printed_real(), DATA)

    def tables(self, results: Results) -> list[Table]:
        comparisons = self.comparisons(results)
        return [
            comparison_table(comparisons, "Printed and reproduced", "data", remark=REMARK),
            reading_table(comparisons),
            all_scores_table(results, "data"),
            threshold_table(results, "data"),
        ]

    def frame(self, results: Results) -> pd.DataFrame:
        return comparison_frame(self.comparisons(results))


def real_models() -> dict[str, Model]:
    """Return the four trees for rows in unequal units."""
    return paper_models(max_rank=MAX_RANK)


def complete_rows(name: str) -> Rows:
    """Return the rows of a data set without missing covariates, with the covariates of the paper."""
    X, y = load_dataset(name, return_X_y=True, as_frame=False)
    complete = ~np.isnan(X).any(axis=1)
    return Rows(X[complete], y[complete])
