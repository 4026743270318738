"""A fitted tree or forest with the encoder of its covariates, in one file.

The file is the one that `dipolar.save` writes of a pipeline, with one more entry, `outcome.json`. It holds numbers and
text, nothing in it is executed, and Python loads it as well:

    dipolar.load("model.dipolar")
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.pipeline import Pipeline

from dipolar import SurvivalTreeCV
from dipolar.cli.destination import whole_file
from dipolar.cli.estimators import FOREST_TYPES, TREE_TYPES, Forest, SurvivalTree
from dipolar.cli.messages import UserError, listed, reason_of, refusals_as_user_errors
from dipolar.cli.outcome import OutcomeColumns
from dipolar.cli.preparation import apply_encoder
from dipolar.cli.table import Table
from dipolar.cli.times import usual_times
from dipolar.model_file import add_note, read_note
from dipolar.pipeline import make_pipeline
from dipolar.preparation import CovariateEncoder, Feature, Prepared
from dipolar.preparation.cells import as_numbers
from dipolar.saving import load, save

__all__ = ["Model", "load_model", "save_model"]

# The entry of a file that says which columns the outcome was in.
NOTE = "outcome"


@dataclass(frozen=True)
class Model:
    """A tree or forest, what its data went through, and where its outcome was; what Python saved has neither."""

    fitted: SurvivalTree | Forest
    encoder: CovariateEncoder | None = None
    outcome: OutcomeColumns | None = None
    time_unit: str | None = None

    @property
    def is_forest(self) -> bool:
        return isinstance(self.fitted, FOREST_TYPES)

    @property
    def tree(self) -> SurvivalTree:
        """The tree of a model that is one."""
        assert isinstance(self.fitted, TREE_TYPES)
        return self.fitted

    @property
    def times(self) -> list[float]:
        """The times at which survival is told where nobody asks for others."""
        record = self.fitted.forest_ if isinstance(self.fitted, FOREST_TYPES) else self.fitted.tree_
        survival, weight, _ = record.tables.rows()
        return usual_times(survival.time, survival.event, self.time_unit, weight)

    @property
    def features(self) -> tuple[Feature, ...]:
        """The covariates of the model, and the columns that they were made from."""
        if self.encoder is not None:
            return self.encoder.features_
        default = [f"x{number}" for number in range(self.fitted.n_features_in_)]
        names = map(str, getattr(self.fitted, "feature_names_in_", default))
        return tuple(Feature(name, name, "number") for name in names)

    def covariates(self, table: Table, *, fill_columns: bool = False) -> Prepared:
        """Return the covariates that the model wants, from a table as it comes."""
        if self.encoder is not None:
            return apply_encoder(self.encoder, table, fill_columns=fill_columns)
        note = "the model holds no preparation: columns taken as numbers"
        return Prepared(_plain_numbers(self.fitted, table), [], [note])

    def unused(self, table: Table) -> list[str]:
        """Return the columns of a table that mean nothing to the model."""
        if self.encoder is None:
            return []
        known = {*getattr(self.encoder, "feature_names_in_", ()), *(self.outcome.names if self.outcome else ())}
        return [name for name in table.columns if name not in known]


def save_model(model: Model, path: Path) -> None:
    """Write a model to one file, which appears whole or not at all."""
    with whole_file(path) as stream:
        save(model.fitted if model.encoder is None else make_pipeline(model.encoder, model.fitted), stream)
        if model.outcome is not None:
            add_note(stream, NOTE, model.outcome.to_json() | {"time_unit": model.time_unit})


def load_model(path: Path) -> Model:
    """Read what `save_model`, or `dipolar.save`, wrote; of a tuned tree the chosen one is taken."""
    try:
        _require_file(path)
        with refusals_as_user_errors():
            loaded = load(path)
            note = read_note(path, NOTE)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {reason_of(error)}.") from error
    encoder, fitted = loaded if isinstance(loaded, Pipeline) else (None, loaded)
    fitted = fitted.best_estimator_ if isinstance(fitted, SurvivalTreeCV) else fitted
    return Model(fitted, encoder, *_outcome_in(note, path))


def _outcome_in(note: Any, path: Path) -> tuple[OutcomeColumns | None, str | None]:
    """Return the outcome columns and the unit of time that a note tells."""
    if note is None:
        return None, None
    names = {"time", "event", "start", "stop", "time_unit"}
    is_sound = isinstance(note, dict) and note.keys() == names and isinstance(note["event"], str)
    if not is_sound or not all(value is None or isinstance(value, str) for value in note.values()):
        raise UserError(
            f"{path} is not a complete model: its outcome is damaged. Fit it again with dipolar fit --output."
        )
    unit = note.pop("time_unit")
    return OutcomeColumns(**note), unit


def _require_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise UserError(f"there is no model {path}. Make one: dipolar fit DATA --output {path}.") from error
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise UserError(f"{path} is {what}. Give the file that dipolar fit --output wrote.")


def _plain_numbers(fitted: SurvivalTree | Forest, table: Table) -> pd.DataFrame:
    names = [str(name) for name in getattr(fitted, "feature_names_in_", [])]
    if not names:
        raise UserError("the model knows its covariates by number only. Fit it to a DataFrame, or with dipolar fit.")
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise UserError(f"{table.name} has no column {listed(map(repr, absent))}, which the model was fitted with.")
    return pd.DataFrame(np.column_stack([as_numbers(table.cells(name)) for name in names]), columns=names)
