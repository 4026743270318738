"""The five larger data sets: `real`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import StratifiedKFold

from dipolar.datasets import load_dataset
from dipolar.studies.comparison import Comparison, compare, comparison_table, long_frame, reading_table
from dipolar.studies.models import TREES, Model, paper_models
from dipolar.studies.printed import printed_real
from dipolar.studies.score_tables import all_scores_table, threshold_table
from dipolar.studies.scores import Rows
from dipolar.studies.study import Study
from dipolar.studies.summary import Results, summarise, trial_frame, value_columns
from dipolar.studies.table import Table
from dipolar.studies.trial import INNER_FOLDS, run_trial
from dipolar.studies.unit import Unit, seed_of

__all__ = ["MAX_RANK", "RealStudy", "complete_rows"]

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

    @property
    def sources(self) -> tuple[str, ...]:
        return tuple(name for names in DATA.values() for name in names)

    def models_of(self, source: str) -> tuple[str, ...]:
        return TREES

    def replicates(self, source: str, runs: int | None) -> int:
        return MANY_FOLDS if len(complete_rows(source).y) >= MANY_ROWS else FEW_FOLDS

    def settings(self) -> dict[str, Any]:
        models = {name: model.settings() for name, model in _models().items()}
        return {"folds": [FEW_FOLDS, MANY_FOLDS, MANY_ROWS], "inner_folds": INNER_FOLDS, "models": models}

    def run(self, unit: Unit, seed: int) -> dict[str, Any]:
        """Fit a model to all folds but one and score it there; all models meet the same folds."""
        rows, own_seed = complete_rows(unit.source), seed_of(unit.source, 0, seed)
        splitter = StratifiedKFold(self.replicates(unit.source, None), shuffle=True, random_state=own_seed % 2**31)
        train, test = list(splitter.split(rows.X, rows.y["event"]))[unit.replicate]
        trial = run_trial(
            _models()[unit.model],
            Rows(rows.X[train], rows.y[train]),
            Rows(rows.X[test], rows.y[test]),
            seed_of(unit.source, unit.replicate, seed),
        )
        return {"seed": own_seed, **trial}

    def comparisons(self, results: Results) -> list[Comparison]:
        """Return the printed numbers with ours."""
        return compare(summarise(trial_frame(results), value_columns()), printed_real(), DATA)

    def tables(self, results: Results) -> list[Table]:
        return [
            comparison_table(self.comparisons(results), "Printed and reproduced", "data", remark=REMARK),
            reading_table(self.comparisons(results)),
            all_scores_table(results, "data"),
            threshold_table(results, "data"),
        ]

    def frame(self, results: Results) -> pd.DataFrame:
        return long_frame(self.comparisons(results))


def _models() -> dict[str, Model]:
    return paper_models(max_rank=MAX_RANK)


def complete_rows(name: str) -> Rows:
    """Return the rows of a data set without missing covariates, with the covariates of the paper."""
    X, y = load_dataset(name, return_X_y=True, as_frame=False)
    complete = ~np.isnan(X).any(axis=1)
    return Rows(X[complete], y[complete])
