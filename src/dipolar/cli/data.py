"""Everything that commands need of their DATA argument: rows with outcomes, and what was decided about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dipolar.cli.messages import UserError, counted
from dipolar.cli.outcome import Outcome, find_outcome
from dipolar.cli.preparation import ColumnChoice
from dipolar.cli.table import Table, read_table

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


@dataclass(frozen=True)
class Data:
    """A table of which every row has an outcome."""

    table: Table
    y: np.ndarray
    outcome: Outcome
    columns: ColumnChoice
    notes: list[str]

    def describe(self) -> str:
        """Say how much there is, and which columns are the outcome."""
        n, events, unit = len(self.y), int(self.y["event"].sum()), self.outcome.time_unit
        in_unit = f" in {unit}" if unit and unit not in self.outcome.time.lower() else ""
        return (
            f"{self.table.name}: {counted(n, 'row')}, {counted(events, 'event')} ({100 * events / n:.0f} %). "
            f"Time is {self.outcome.time!r}{in_unit}, {self.y['time'].min():g} to "
            f"{self.y['time'].max():g}; event is {self.outcome.event!r} ({self.outcome.coding})."
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.table.name,
            "rows": len(self.y),
            "events": int(self.y["event"].sum()),
            "time": self.outcome.time,
            "time_unit": self.outcome.time_unit,
            "event": self.outcome.event,
            "event_codes": list(self.outcome.event_codes),
        }


def read_data(data: str, choice: DataChoice) -> Data:
    """Read a table and its outcomes; rows without an outcome are left out."""
    table = read_table(data, choice.covariates or "paper", choice.sheet)
    if choice.covariates and not table.bundled:
        raise UserError("--covariates chooses among the columns of bundled sets. For a file, use --only and --drop.")
    choice.columns.check(table)
    outcome = find_outcome(table, choice.time, choice.event, choice.event_values, choice.time_unit)
    y, rows, notes = outcome.read(table)
    return Data(table.take(rows), y, outcome, choice.columns, [*table.notes, *notes])
