"""A fitted tree with the preparation of its data, in one file.

The file is the one that `tree.save` writes, with one more entry, `preparation.json`. It holds numbers and text, nothing
in it is executed, and the tree's own class loads it as well:

    DipoleSurvivalTree.load("model.dipolar")
"""

from __future__ import annotations

import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dipolar import DipoleSurvivalTree, LogRankSurvivalTree, SurvivalTreeCV
from dipolar.cli.destination import whole_file
from dipolar.cli.messages import UserError, listed, reason_of, refusals_as_user_errors
from dipolar.cli.preparation import Preparation, Prepared
from dipolar.cli.table import Table
from dipolar.model_file import add_note, read_model, read_note
from dipolar.preparation.cells import as_numbers

__all__ = ["Model", "SurvivalTree", "load_model", "save_model"]

SurvivalTree = LogRankSurvivalTree | DipoleSurvivalTree

NOTE = "preparation"

ESTIMATORS: dict[str, Any] = {cls.__name__: cls for cls in (LogRankSurvivalTree, DipoleSurvivalTree, SurvivalTreeCV)}


@dataclass(frozen=True)
class Model:
    """A tree, and what its data went through; trees that Python code saved have no preparation."""

    tree: SurvivalTree
    preparation: Preparation | None

    @property
    def time_unit(self) -> str | None:
        return None if self.preparation is None else self.preparation.time_unit

    def covariates(self, table: Table, *, fill_columns: bool = False) -> Prepared:
        """Return the covariates that the tree wants, from a table as it comes."""
        if self.preparation is not None:
            return self.preparation.apply(table, fill_columns=fill_columns)
        return Prepared(_plain_numbers(self.tree, table), ["the model holds no preparation: columns taken as numbers"])


def save_model(model: Model, path: Path) -> None:
    """Write a model to one file, which appears whole or not at all."""
    with whole_file(path) as stream:
        model.tree.save(stream)
        if model.preparation is not None:
            add_note(stream, NOTE, model.preparation.to_json())


def load_model(path: Path) -> Model:
    """Read what `save_model`, or the `save` of a tree, wrote; of a tuned tree the chosen one is taken."""
    try:
        _require_file(path)
        with refusals_as_user_errors():
            header, _ = read_model(path)
            if header.get("estimator") not in ESTIMATORS:
                raise UserError(f"{path} holds a {header.get('estimator')}, not one of {listed(ESTIMATORS)}.")
            loaded = ESTIMATORS[header["estimator"]].load(path)
            tree = loaded.best_estimator_ if isinstance(loaded, SurvivalTreeCV) else loaded
    except OSError as error:
        raise UserError(f"{path} cannot be read: {reason_of(error)}.") from error
    return Model(tree, _load_preparation(path, tree))


def _require_file(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise UserError(f"there is no model {path}. Make one: dipolar fit DATA --output {path}.") from error
    if not stat.S_ISREG(mode):
        what = "a folder" if stat.S_ISDIR(mode) else "no regular file"
        raise UserError(f"{path} is {what}. Give the file that dipolar fit --output wrote.")


def _load_preparation(path: Path, tree: SurvivalTree) -> Preparation | None:
    with refusals_as_user_errors():
        note = read_note(path, NOTE)
    if note is None:
        return None
    try:
        preparation = Preparation.from_json(note)
        if preparation.features != list(getattr(tree, "feature_names_in_", [])):
            raise ValueError("its preparation belongs to another tree")
    except ValueError as error:
        raise UserError(f"{path} is not a complete model: {error}. Fit it again with dipolar fit --output.") from error
    return preparation


def _plain_numbers(tree: SurvivalTree, table: Table) -> pd.DataFrame:
    names = [str(name) for name in getattr(tree, "feature_names_in_", [])]
    if not names:
        raise UserError("the model knows its covariates by number only. Fit it to a DataFrame, or with dipolar fit.")
    absent = [name for name in names if name not in table.columns]
    if absent:
        raise UserError(f"{table.name} has no column {listed(map(repr, absent))}, which the model was fitted with.")
    return pd.DataFrame(np.column_stack([as_numbers(table.columns[name]) for name in names]), columns=names)
