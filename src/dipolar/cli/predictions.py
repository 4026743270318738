"""Predictions for new rows, as a table."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from rich.table import Table as Grid

from dipolar.cli.messages import UserError, listed, refusals_as_user_errors, suggestion
from dipolar.cli.model import Model
from dipolar.cli.table import Table
from dipolar.cli.times import time_words
from dipolar.preparation.cells import as_text

__all__ = ["ROWS_SHOWN", "checked_times", "document", "grid", "kept_columns", "predictions", "unused"]

# Rows that are printed where no file is asked for.
ROWS_SHOWN = 20

OWN_COLUMN = re.compile(r"row|leaf|risk|median|survival_at_.*")


def checked_times(times: list[float]) -> list[float]:
    """Refuse what is no time."""
    wrong = [time for time in times if not (np.isfinite(time) and time >= 0)]
    if wrong:
        raise UserError(f"--at {wrong[0]:g} is not a time. Give one from 0 on.")
    return list(dict.fromkeys(times))


def kept_columns(table: Table, names: list[str]) -> pd.DataFrame:
    """Return numbers of rows, and the columns that are to be copied."""
    frame = pd.DataFrame({"row": np.arange(1, len(table) + 1)})
    for name in names:
        if name not in table.columns:
            hint = suggestion(name, table.columns) or f" It has {listed(table.columns)}."
            raise UserError(f"--keep: {table.name} has no column {name!r}.{hint}")
        if OWN_COLUMN.fullmatch(name):
            raise UserError(f"--keep: the answer has a column {name!r} of its own. Rename the one of {table.name}.")
        frame[name] = as_text(table.cells(name))
    return frame


def predictions(model: Model, X: pd.DataFrame, times: list[float]) -> pd.DataFrame:
    """Return risk, median and survival of every row; of a tree its leaf too."""
    fitted = model.fitted
    with refusals_as_user_errors():
        frame = pd.DataFrame({} if model.is_forest else {"leaf": fitted.apply(X)})
        frame["risk"] = fitted.predict(X)
        frame["median"] = fitted.predict_median(X, unreached="nan")
        survival = fitted.predict_survival_function(X, times) if times else np.empty((len(frame), 0))
    for time, share in zip(times, survival.T):
        frame[f"survival_at_{time_words(time)}"] = share
    return frame


def unused(model: Model, table: Table) -> list[str]:
    """Say which columns are not read."""
    names = [] if table.bundled else model.unused(table)
    return [f"not read, because the model does not know them: {listed(names)}"] if names else []


def document(frame: pd.DataFrame, notes: list[str], output: Path | None) -> dict[str, Any]:
    """Return the predictions for machines."""
    rows = [
        {name: None if pd.isna(value) else value for name, value in row.items()} for row in frame.to_dict("records")
    ]
    return {
        "command": "predict",
        "notes": notes,
        "output": None if output is None else str(output),
        "predictions": rows,
    }


def grid(frame: pd.DataFrame, time_unit: str | None) -> Grid:
    """Return the predictions for people."""
    grid = Grid()
    for name in frame.columns:
        heading = f"median {time_unit}" if name == "median" and time_unit else str(name).replace("_", " ")
        grid.add_column(heading, justify="right")
    for row in frame.head(ROWS_SHOWN).to_dict("records"):
        grid.add_row(*(_cell(str(name), value) for name, value in row.items()))
    return grid


def _cell(name: str, value: Any) -> str:
    if pd.isna(value):
        return "not reached" if name == "median" else "-"
    if name.startswith("survival_at_"):
        return f"{100 * value:.0f} %"
    return f"{value:.5g}" if isinstance(value, float) else str(value)
