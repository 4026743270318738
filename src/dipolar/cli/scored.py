"""Rows that a saved model is shown with: their outcome columns are the model's unless named."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from dipolar.cli.data import DataChoice, read_data
from dipolar.cli.messages import UserError
from dipolar.cli.model import Model
from dipolar.cli.table import Table

__all__ = ["ScoredRows", "scored_rows"]


@dataclass(frozen=True)
class ScoredRows:
    """Rows with outcomes: as columns of the encoder, if the model has one, and as the covariates of the model."""

    columns: Any
    X: Any
    y: Any

    @classmethod
    def of(cls, model: Model, table: Table, X: Any, y: Any) -> ScoredRows:
        """Take the columns that the encoder of a model knows from a table."""
        encoder = model.encoder
        return cls(X if encoder is None else table.frame.reindex(columns=list(encoder.feature_names_in_)), X, y)


def scored_rows(model: Model, data: str | None, choice: DataChoice) -> ScoredRows | None:
    """Return the given rows, if there are some; the outcome columns are the model's unless named."""
    if data is None:
        if choice != DataChoice():
            raise UserError(
                "--sheet, --encoding, --time, --start, --stop, --event and --event-value are about rows. Give them "
                "with --data DATA."
            )
        return None
    if model.outcome is not None:
        choice = replace(choice, event=choice.event or model.outcome.event)
        if choice.time is choice.start is choice.stop is None:
            choice = replace(choice, time=model.outcome.time, start=model.outcome.start, stop=model.outcome.stop)
    rows = read_data(data, choice)
    return ScoredRows.of(model, rows.table, model.covariates(rows.table).X, rows.y)
