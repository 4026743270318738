"""Rows that a saved model is shown with: their outcome columns are the model's unless named."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from dipolar.cli.data import DataChoice, read_data
from dipolar.cli.messages import UserError
from dipolar.cli.model import Model

__all__ = ["scored_rows"]


def scored_rows(model: Model, data: str | None, choice: DataChoice) -> tuple[Any, Any]:
    """Return covariates and outcomes of the given rows; the outcome columns are the model's unless named."""
    if data is None:
        if choice != DataChoice():
            raise UserError(
                "--sheet, --encoding, --time, --start, --stop, --event and --event-value are about rows. Give them "
                "with --data DATA."
            )
        return None, None
    if model.outcome is not None:
        choice = replace(choice, event=choice.event or model.outcome.event)
        if choice.time is choice.start is choice.stop is None:
            choice = replace(choice, time=model.outcome.time, start=model.outcome.start, stop=model.outcome.stop)
    rows = read_data(data, choice)
    return model.covariates(rows.table).X, rows.y
