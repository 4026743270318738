"""Everything that commands need of their DATA argument: rows with outcomes, and what was decided about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd

from dipolar.cli.choices import ModelKind
from dipolar.cli.messages import UserError, counted, quoted, refusals_as_user_errors
from dipolar.cli.outcome import Outcome, find_outcome
from dipolar.cli.preparation import ColumnChoice
from dipolar.cli.table import Table, read_table
from dipolar.preparation import CovariateEncoder, find_disguises

__all__ = ["Data", "DataChoice", "read_data"]


@dataclass(frozen=True)
class DataChoice:
    """What the user says about the data."""

    time: str | None = None
    event: str | None = None
    event_values: Sequence[str] = ()
    time_unit: str | None = None
    covariates: str | None = None
    columns: ColumnChoice = field(default_factory=ColumnChoice)
    sheet: str | None = None
    encoding: str | None = None
    start: str | None = None
    stop: str | None = None


@dataclass(frozen=True)
class Data:
    """A table of which every row has an outcome."""

    table: Table
    y: np.ndarray
    outcome: Outcome
    columns: ColumnChoice
    notes: list[str]

    @property
    def covariates(self) -> pd.DataFrame:
        """The columns that may become covariates."""
        return self.columns.covariates(self.table, self.outcome.columns.names)

    def take(self, rows: np.ndarray) -> Data:
        """Return some rows."""
        return replace(self, table=self.table.take(rows), y=self.y[rows])

    def encoder(self, kind: ModelKind) -> CovariateEncoder:
        """Return what makes covariates of them for a kind of model, fitted to all rows."""
        with refusals_as_user_errors():
            return self.columns.encoder(self.covariates, kind.reference).fit(self.covariates)

    def disguises(self, encoder: CovariateEncoder, X: pd.DataFrame) -> list[str]:
        """Return warnings about covariates that are the outcome under another name."""
        columns = [feature.column for feature in encoder.features_]
        found = find_disguises(X.to_numpy(), columns, self.y["time"], self.y["event"])
        return [f"{disguise.words()} Leave it out: --drop {quoted(disguise.column)}." for disguise in found]

    def describe(self) -> str:
        """Say how much there is, and which columns are the outcome."""
        n, events, unit = len(self.y), int(self.y["event"].sum()), self.outcome.time_unit
        time = self.outcome.columns.time_name
        in_unit = f" in {unit}" if unit and unit not in time.lower() else ""
        return (
            f"{self.table.name}: {counted(n, 'row')}, {counted(events, 'event')} ({100 * events / n:.0f} %). "
            f"Time is {time!r}{in_unit}, {self.y['time'].min():g} to "
            f"{self.y['time'].max():g}; event is {self.outcome.columns.event!r} ({self.outcome.coding})."
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.table.name,
            "rows": len(self.y),
            "events": int(self.y["event"].sum()),
            "time": self.outcome.columns.time_name,
            "time_unit": self.outcome.time_unit,
            "event": self.outcome.columns.event,
            "event_codes": list(self.outcome.event_codes),
        }


def read_data(data: str, choice: DataChoice) -> Data:
    """Read a table and its outcomes; rows without an outcome are left out."""
    table = read_table(data, choice.covariates or "paper", choice.sheet, choice.encoding)
    if choice.covariates and not table.bundled:
        raise UserError("--covariates chooses among the columns of bundled sets. For a file, use --only and --drop.")
    choice.columns.check(table)
    outcome = find_outcome(
        table,
        choice.time,
        choice.event,
        choice.event_values,
        choice.time_unit,
        start=choice.start,
        stop=choice.stop,
    )
    y, rows, notes = outcome.read(table)
    return Data(table.take(rows), y, outcome, choice.columns, [*table.notes, *notes])
